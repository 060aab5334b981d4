//! `tilework audit`: what a compiler's layouts cost.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::Path;

use tilework::Error;
use tilework_audit::{Audit, Findings, is_same_program};
use tilework_explain::{
    ChangeObject, FindingsObject, audit_html, audit_table, explain_audit, explain_audit_change,
    explain_what_if,
};

use crate::args::AuditArgs;
use crate::output::{Output, Stop};
use crate::{BAD, NO};

/// How much of standard input is in memory at a time.
const BUFFER: usize = 1 << 18;

/// How many of each kind a person is told.
const TOP: usize = 5;

pub fn audit(args: &AuditArgs, output: &mut Output) -> Result<(), Stop> {
    let stdin = [OsString::from("-")];
    let paths = if args.paths.is_empty() { &stdin } else { &args.paths[..] };
    let top = args.top.unwrap_or(if args.csv { usize::MAX } else { TOP });
    let target = match args.target.chosen() {
        Ok(target) => target,
        Err(error) => return output.bad(&error, "", None),
    };
    let read = |paths: &[&OsString], output: &mut Output| {
        let mut audit = read(paths, output)?;
        if let Some(target) = &target {
            audit.suppose_target(target.clone());
        }
        Ok::<Audit, Stop>(audit)
    };
    let findings = match paths {
        _ if !args.what_if.is_empty() => {
            let audit = read(&paths.iter().collect::<Vec<_>>(), output)?;
            what_if(audit, args, top, output)?
        }
        [before, after] if !args.csv && !args.html && are_two_dumps(before, after) => {
            // All shapes are compared, and few are told.
            let before = read(&[before], output)?.findings(usize::MAX);
            let after = read(&[after], output)?.findings(usize::MAX);
            match output.json {
                true => output.object(&ChangeObject::new(&before, &after))?,
                false => {
                    let lines = explain_audit_change(&before, &after, top, output.width, output.look);
                    output.lines(&lines)?;
                }
            }
            after
        }
        paths => {
            // A picture shows every buffer, however few are told.
            let kept = if args.html { usize::MAX } else { top.max(1) };
            let findings = read(&paths.iter().collect::<Vec<_>>(), output)?.findings(kept);
            tell(&findings, top, args, output)?;
            findings
        }
    };
    let share = findings.programs.iter().map(|program| program.main().share()).fold(0.0, f64::max);
    if args.fail_over.is_some_and(|limit| share > limit) {
        output.exit_with(NO);
    }
    if findings.programs.is_empty() && output.code() < BAD {
        let error = Error::new("nothing that was read says how arrays lie in memory")
            .accepts("a folder that XLA dumped to, one of its text or .hlo.pb files, an out-of-memory message, or shapes in any text");
        output.bad(&error, "", None)?;
    }
    Ok(())
}

/// Tells what would be if some arrays lay otherwise.
fn what_if(mut audit: Audit, args: &AuditArgs, top: usize, output: &mut Output) -> Result<Findings, Stop> {
    let before = audit.findings(usize::MAX);
    let mut instead = Vec::new();
    for asked in &args.what_if {
        let array = asked.array(&before);
        match array.and_then(|array| audit.suppose_layout(&array).map(|_| array)) {
            Ok(array) => instead.push(array),
            // Without programs, that is what is told.
            Err(_) if before.programs.is_empty() => {}
            Err(error) => output.bad_in("--what-if", &error, "")?,
        }
    }
    let after = audit.findings(usize::MAX);
    if !instead.is_empty() {
        match output.json {
            true => output.object(&ChangeObject::what_if(&instead, &before, &after))?,
            false => {
                output.lines(&explain_what_if(&instead, &before, &after, top, output.width, output.look))?;
            }
        }
    }
    Ok(after)
}

/// Whether two paths are a dump before a change and one after it, and not two files of one.
fn are_two_dumps(before: &OsString, after: &OsString) -> bool {
    let [a, b] = [before, after].map(Path::new);
    let both = |is: fn(&Path) -> bool| is(a) && is(b);
    let same = is_same_program(&a.to_string_lossy(), &b.to_string_lossy());
    both(Path::is_dir) || (both(Path::is_file) && !same)
}

fn tell(findings: &Findings, top: usize, args: &AuditArgs, output: &mut Output) -> Result<(), Stop> {
    if args.csv {
        return audit_table(findings).iter().try_for_each(|line| output.text(line));
    }
    if args.html {
        return output.text(audit_html(findings, top).trim_end());
    }
    if output.json {
        return output.object(&FindingsObject::new(findings));
    }
    if findings.programs.is_empty() && findings.unread.is_empty() {
        return Ok(());
    }
    let lines = explain_audit(findings, top, output.width, output.look);
    output.lines(&lines)
}

/// Reads folders, files and standard input. What cannot be read is told, and the rest is read.
fn read(paths: &[&OsString], output: &mut Output) -> Result<Audit, Stop> {
    let mut audit = Audit::new();
    let (stdin, paths): (Vec<&OsString>, Vec<&OsString>) = paths.iter().partition(|path| **path == "-");
    if !stdin.is_empty() {
        let input = BufReader::with_capacity(BUFFER, io::stdin().lock());
        if let Err(error) = audit.read("standard input", input) {
            output.bad_in("standard input", &Error::new(error.to_string()), "")?;
        }
    }
    let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
    for refused in audit.read_paths(&paths) {
        output.bad_in(&refused.path.to_string_lossy(), &refused.error, "")?;
    }
    Ok(audit)
}
