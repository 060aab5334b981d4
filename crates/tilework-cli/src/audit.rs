//! `tilework audit`: what a compiler's layouts cost.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::Path;

use tilework::{Error, printable};
use tilework_audit::{Audit, Findings, is_same_program};
use tilework_explain::{
    AuditPage, ChangeObject, FindingsObject, Line, audit_html, audit_table, explain_audit,
    explain_audit_change, explain_what_if, have_logs_to_compare, log_table, size,
};

use crate::args::AuditArgs;
use crate::output::{Output, Stop};
use crate::{BAD, NO, link};

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
    if let Some(error) = misplaced(paths, args) {
        return output.bad(&error, "", None);
    }
    let read = |paths: &[&OsString], output: &mut Output| {
        let Some(mut audit) = read(paths, args.memory, output)? else { return Ok(None) };
        if let Some(target) = &target {
            audit.suppose_target(target.clone());
        }
        Ok::<Option<Audit>, Stop>(Some(audit))
    };
    let findings = match paths {
        _ if !args.what_if.is_empty() => {
            let Some(audit) = read(&paths.iter().collect::<Vec<_>>(), output)? else { return Ok(()) };
            let Some(after) = what_if(audit, args, top, output)? else { return Ok(()) };
            after
        }
        [before, after] if !args.csv && are_two_dumps(before, after) => {
            // All shapes are compared, and few are told.
            let mut both = Vec::new();
            for path in [before, after] {
                let Some(audit) = read(&[path], output)? else { return Ok(()) };
                let Some(findings) = conclude(&audit, usize::MAX, output)? else { return Ok(()) };
                both.push(findings);
            }
            let Ok([before, after]) = <[Findings; 2]>::try_from(both) else { return Ok(()) };
            // An engine and its profile are two parts of one thing.
            let is_of_logs = before.programs.is_empty() && after.programs.is_empty();
            if is_of_logs && !have_logs_to_compare(&before, &after) && !before.logs.is_empty() {
                let Some(audit) = read(&paths.iter().collect::<Vec<_>>(), output)? else { return Ok(()) };
                let Some(findings) = conclude(&audit, top.max(1), output)? else { return Ok(()) };
                tell(&findings, top, args, output)?;
                return ended(&findings, args, output);
            }
            match output.json {
                true => output.object(&ChangeObject::new(&before, &after))?,
                false => {
                    let lines = explain_audit_change(&before, &after, top, output.width, output.look);
                    changed(&lines, &after, top, args, output)?;
                }
            }
            after
        }
        paths => {
            // A picture shows every buffer, however few are told.
            let kept = if args.html { usize::MAX } else { top.max(1) };
            let Some(audit) = read(&paths.iter().collect::<Vec<_>>(), output)? else { return Ok(()) };
            let Some(findings) = conclude(&audit, kept, output)? else { return Ok(()) };
            drop(audit);
            tell(&findings, top, args, output)?;
            findings
        }
    };
    ended(&findings, args, output)
}

/// The name of a new file, where all paths are read: `--html report.html`.
fn misplaced(paths: &[OsString], args: &AuditArgs) -> Option<Error> {
    let option = [("html", args.html), ("csv", args.csv)].into_iter().find(|option| option.1)?.0;
    let is_new = |path: &&OsString| {
        let path = Path::new(path);
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(option)) && !path.exists()
    };
    let name = paths.iter().find(is_new)?.to_string_lossy();
    let error = Error::new(format!("--{option} and {name}, which is not there"));
    Some(
        error
            .rule(format!("--{option} writes to standard output, and paths are what is read"))
            .accepts(format!("--{option} > {name}")),
    )
}

/// What of a program was given without what says how its arrays lie.
fn is_a_part(path: &OsString) -> bool {
    let name = path.to_string_lossy();
    name.contains("-live-range") || name.contains("-memory-usage-report")
}

/// Says what the exit code is, when all else is said.
fn ended(findings: &Findings, args: &AuditArgs, output: &mut Output) -> Result<(), Stop> {
    if let Some(limit) = args.fail_over {
        over(findings, limit, output);
    }
    if findings.programs.is_empty() && findings.logs.is_empty() && output.code() < BAD {
        let what = match &args.paths[..] {
            [one] if one != "-" => format!("nothing in {} says", one.to_string_lossy()),
            _ => "nothing that was read says".to_owned(),
        };
        let error = Error::new(format!("{what} how arrays lie in memory"));
        let is_part = !args.paths.is_empty() && args.paths.iter().all(is_a_part);
        let error = match is_part {
            true => error
                .rule("live ranges and reports of usage name buffers, and have no layouts")
                .accepts("the folder that it is in, where the text of the module stands beside it"),
            false => error.accepts(READ),
        };
        output.bad(&error, "", None)?;
    }
    Ok(())
}

/// What an audit reads.
#[cfg(feature = "proto")]
const READ: &str = "a folder that XLA dumped to, one of its text or .hlo.pb files, an out-of-memory message, a log of oneDNN, TensorRT, \
                    PyTorch or Triton, a model of ONNX, a program of TTNN, or shapes in any text";
#[cfg(not(feature = "proto"))]
const READ: &str = "a folder that XLA dumped to, one of its text files, an out-of-memory message, a log of oneDNN, TensorRT, PyTorch \
                    or Triton, a model of ONNX, a program of TTNN, or shapes in any text; and .hlo.pb files in a build with `--features full`";

/// Tells which programs have more padding than a limit allows, beside the report, and what the exit code is then.
fn over(findings: &Findings, limit: f64, output: &mut Output) {
    if !findings.logs.is_empty() {
        eprintln!(
            "--fail-over is about the memory of programs: what a log says of moves changes no exit code"
        );
    }
    for program in findings.programs.iter().filter(|program| program.main().share() > limit) {
        let (name, share) = (printable(&program.name), program.main().share() * 100.0);
        eprintln!("{name}: {share:.1} % of the memory is padding; --fail-over allows {:.1} %", limit * 100.0);
        output.exit_with(NO);
    }
}

/// Tells what would be if some arrays lay otherwise.
fn what_if(
    mut audit: Audit,
    args: &AuditArgs,
    top: usize,
    output: &mut Output,
) -> Result<Option<Findings>, Stop> {
    let Some(before) = conclude(&audit, usize::MAX, output)? else { return Ok(None) };
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
    let Some(after) = conclude(&audit, usize::MAX, output)? else { return Ok(None) };
    if !instead.is_empty() {
        match output.json {
            true => output.object(&ChangeObject::what_if(&instead, &before, &after))?,
            false => {
                let lines = explain_what_if(&instead, &before, &after, top, output.width, output.look);
                changed(&lines, &after, top, args, output)?;
            }
        }
    }
    Ok(Some(after))
}

/// What comes of what was read; none, which is told, if there is no memory for all of it.
fn conclude(audit: &Audit, top: usize, output: &mut Output) -> Result<Option<Findings>, Stop> {
    let findings = audit.findings(top);
    if findings.cut {
        output.bad_in("what was read", &lack(audit), "")?;
        return Ok(None);
    }
    Ok(Some(findings))
}

/// What there is no memory for.
fn lack(audit: &Audit) -> Error {
    let limit = u128::from(audit.memory());
    Error::new(format!("it would take more memory than {}", size::bytes(limit)))
        .rule("what is held of a dump is limited, whatever the dump says")
        .accepts(format!(
            "--memory with more than {limit} bytes, such as --memory {}MiB",
            (limit * 2).div_ceil(1 << 20)
        ))
}

/// Whether two paths are a dump before a change and one after it, and not two files of one.
fn are_two_dumps(before: &OsString, after: &OsString) -> bool {
    let [a, b] = [before, after].map(Path::new);
    let both = |is: fn(&Path) -> bool| is(a) && is(b);
    let same = is_same_program(&a.to_string_lossy(), &b.to_string_lossy());
    both(Path::is_dir) || (both(Path::is_file) && !same)
}

/// How findings differ from others: in words, or above the page of what is found now.
fn changed(
    change: &[Line],
    after: &Findings,
    top: usize,
    args: &AuditArgs,
    output: &mut Output,
) -> Result<(), Stop> {
    match args.html {
        true => html(after, top, change, output),
        false => output.lines(change),
    }
}

/// The page of an audit. Its arrays lead to the page in the browser where the environment says where that is.
fn html(findings: &Findings, top: usize, change: &[Line], output: &mut Output) -> Result<(), Stop> {
    let base = link::page();
    output.bytes(audit_html(findings, &AuditPage { top, base: base.as_deref(), change }).as_bytes())
}

fn tell(findings: &Findings, top: usize, args: &AuditArgs, output: &mut Output) -> Result<(), Stop> {
    if args.csv && findings.programs.is_empty() && !findings.logs.is_empty() {
        return log_table(findings).iter().try_for_each(|line| output.text(line));
    }
    if args.csv {
        if !findings.logs.is_empty() {
            eprintln!("the table is of the buffers of programs: logs alone have a table of their moves");
        }
        return audit_table(findings).iter().try_for_each(|line| output.text(line));
    }
    if args.html {
        return html(findings, top, &[], output);
    }
    if output.json {
        return output.object(&FindingsObject::new(findings));
    }
    if findings.programs.is_empty() && findings.logs.is_empty() && findings.unread.is_empty() {
        return Ok(());
    }
    let lines = explain_audit(findings, top, output.width, output.look);
    output.lines(&lines)
}

/// Reads folders, files and standard input. What cannot be read is told, and the rest is read. None if there is no memory
/// for it: of a part of a program nothing is concluded.
fn read(paths: &[&OsString], memory: Option<u64>, output: &mut Output) -> Result<Option<Audit>, Stop> {
    let mut audit = memory.map_or_else(Audit::new, Audit::with_memory);
    let (stdin, paths): (Vec<&OsString>, Vec<&OsString>) = paths.iter().partition(|path| **path == "-");
    if !stdin.is_empty() {
        let input = BufReader::with_capacity(BUFFER, io::stdin().lock());
        let outcome = audit.read("standard input", input);
        if audit.lacks_memory() {
            output.bad_in("standard input", &lack(&audit), "")?;
            return Ok(None);
        }
        if let Err(error) = outcome {
            output.bad_in("standard input", &Error::new(error.to_string()), "")?;
        }
    }
    let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
    for refused in audit.read_paths(&paths) {
        let error = if refused.lacks_memory { lack(&audit) } else { refused.error };
        output.bad_in(&refused.path.to_string_lossy(), &error, "")?;
    }
    Ok(Some(audit).filter(|audit| !audit.lacks_memory()))
}
