//! Pictures of layouts as files: `--svg` and `--png`.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use tilework::Error;
use tilework_files::Destination;

use crate::args::PictureArgs;
use crate::output::{Output, Stop};

/// The pixels of a PNG for each of the SVG, where nothing else is asked for.
const SCALE: f32 = 2.0;

/// Writes a picture to where it was asked for, whole or not at all. Of several, only the first can have the name.
pub fn write(svg: &str, asked: &PictureArgs, output: &mut Output) -> Result<(), Stop> {
    let is_stream = |file: &Option<_>| file.as_ref().is_some_and(|file| file == "-");
    if is_stream(&asked.svg) && is_stream(&asked.png) {
        let error =
            Error::new("--svg and --png, both on standard output").accepts("the name of a file for one");
        return output.bad(&error, "", None);
    }
    if !output.is_first() {
        let error = Error::new("more than one picture for one file")
            .accepts("one layout, where a picture is asked for");
        return output.bad(&error, "", None);
    }
    // What cannot be drawn leaves no file at all.
    let png = match asked.png.as_ref().map(|_| png(svg, asked)).transpose() {
        Ok(png) => png,
        Err(error) => return output.bad(&error, "", None),
    };
    for (name, bytes) in [(&asked.svg, Some(svg.as_bytes())), (&asked.png, png.as_deref())] {
        let (Some(name), Some(bytes)) = (name, bytes) else { continue };
        if name == "-" {
            output.bytes(bytes)?;
        } else if let Err(error) = to_file(name, bytes) {
            return output.bad(&error, "", None);
        }
    }
    Ok(())
}

fn to_file(name: &OsStr, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::new(format!("{}: {error}", name.to_string_lossy()));
    match Destination::create(Path::new(name))? {
        Destination::File(file) => {
            file.file().write_all(bytes).map_err(failed)?;
            file.commit()
        }
        Destination::Stream(mut stream) => {
            stream.write_all(bytes).and_then(|()| stream.flush()).map_err(failed)
        }
    }
}

fn png(svg: &str, asked: &PictureArgs) -> Result<Vec<u8>, Error> {
    tilework_picture::png(svg, asked.scale.unwrap_or(SCALE))
        .map_err(|error| Error::new(error.to_string()).accepts("a smaller --scale or --width"))
}
