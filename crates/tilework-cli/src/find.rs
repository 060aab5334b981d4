//! `find`: the layouts that stand in any text.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tilework::Error;
use tilework::dialect;
use tilework::directml::is_code;
use tilework_explain::{Sighted, explain, explain_sightings};

use crate::file;
use crate::output::{Output, Stop};
use crate::subject::{LONGEST, text_of};

/// Looks through files, or standard input.
pub fn find(files: &[OsString], output: &mut Output) -> Result<(), Stop> {
    let stdin = [OsString::from("-")];
    for file in if files.is_empty() { &stdin } else { files } {
        let is_stdin = file == "-";
        let bytes = match is_stdin {
            true => file::all(&mut io::stdin().lock(), LONGEST),
            false => file::read(Path::new(file), LONGEST),
        };
        let name = if is_stdin { "standard input".into() } else { file.to_string_lossy() };
        match bytes.and_then(text_of) {
            Ok(text) => one(&name, &text, output)?,
            Err(error) => output.bad_in(&name, &error, "")?,
        }
    }
    Ok(())
}

fn one(name: &str, text: &str, output: &mut Output) -> Result<(), Stop> {
    let found = dialect::find(text);
    if found.all.is_empty() {
        // A line that somebody typed says what is wrong with it.
        let line = text.trim();
        if let Some(error) = dialect::read(line).err().filter(|_| !line.is_empty() && !line.contains('\n')) {
            return output.bad(&error, line, None);
        }
        if is_code(text) {
            return output.bad_in(
                name,
                &Error::new("code of DirectML, whose descriptors cannot be read or break a rule")
                    .accepts(format!("tilework check {name}, which says what is wrong with each")),
                "",
            );
        }
        let error = Error::new("no layout stands in this text").accepts(
            "a text with a layout in it somewhere, such as f32[3,5]{1,0} or memref<3x5xf32>; --as in tilework --help \
             lists the notations",
        );
        return output.bad_in(name, &error, "");
    }
    if output.json {
        return Sighted::all(&found).iter().try_for_each(|one| output.object(one));
    }
    if found.all.len() > 1 || found.all[0].found.is_err() || !found.is_complete {
        output.lines(&explain_sightings(&found, output.width, output.look))?;
    }
    // The first that says all there is to know is explained, or else the first.
    let mut said = found.all.iter().filter_map(|one| one.found.as_ref().ok()).flatten().map(|one| &one.said);
    let first = said.clone().find(|said| said.layout().is_ok()).or_else(|| said.next());
    match first.map(|said| explain(&**said, output.width, output.look)) {
        Some(Ok(lines)) => output.lines(&lines),
        Some(Err(error)) => output.bad_in(name, &error, ""),
        None => Ok(()),
    }
}
