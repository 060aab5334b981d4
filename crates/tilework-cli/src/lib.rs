//! The command `tilework`: explains how an array lies in memory.
//!
//! This room reads arguments, asks the libraries, and says the answers in words or JSON. It computes nothing itself. It is a
//! library so that `python -m tilework` is the same command, and so that its help can be made into pages of a manual.
#![forbid(unsafe_code)]

mod args;
mod audit;
mod becomes;
mod bench;
mod block;
mod check;
mod compare;
mod convert;
mod diff;
mod fetch;
mod file;
mod find;
mod given;
mod input;
#[cfg(feature = "stores")]
mod jobs;
#[cfg(not(feature = "stores"))]
#[path = "no_jobs.rs"]
mod jobs;
mod json;
mod link;
mod ls;
mod many;
#[cfg(feature = "proto")]
mod message;
#[cfg(not(feature = "proto"))]
#[path = "no_message.rs"]
mod message;
mod npy;
mod output;
mod picture;
mod plan;
mod points;
mod progress;
mod show;
mod side;
#[cfg(feature = "stores")]
mod stores;
#[cfg(not(feature = "stores"))]
#[path = "no_stores.rs"]
mod stores;
mod subject;
mod suggest;
mod translate;
mod usage;
mod view;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use crate::args::{Args, Command};
use crate::output::{Output, Stop};

/// Yes, or done.
const YES: u8 = 0;
/// A check said no.
const NO: u8 = 1;
/// Something in the input is wrong.
const BAD: u8 = 2;

/// Does what the arguments say, of which the first is the name of the program, and returns the exit code.
///
/// Reads standard input, and writes to standard output and standard error.
pub fn run(arguments: Vec<OsString>) -> u8 {
    let args = match Args::try_parse_from(given::arguments(arguments)) {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; they are printed like them. A closed pipe is nobody's fault.
            let error = usage::harmless(error);
            let _ = error.print();
            return if error.use_stderr() { BAD } else { YES };
        }
    };
    let mut output = Output::new(&args.look);
    let outcome = answer(&args, &mut output).and_then(|()| output.finish());
    match outcome {
        Ok(()) | Err(Stop::ClosedPipe) => output.code(),
        Err(Stop::Io(error)) => {
            eprintln!("error: {}", tilework::printable(&error.to_string()));
            BAD
        }
    }
}

/// What the command answers to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub code: u8,
    /// One JSON object a line, as docs/json.md has it.
    pub json: String,
    /// The errors in words, as people read them.
    pub errors: String,
}

/// Does what the arguments say, as [`run`] does, and keeps the answer in JSON.
pub fn ask(arguments: Vec<OsString>) -> Answer {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            let errors = usage::harmless(error).to_string();
            return Answer { code: BAD, json: String::new(), errors };
        }
    };
    let (mut output, [json, errors]) = Output::kept(&args.look);
    let outcome = answer(&args, &mut output).and_then(|()| output.finish());
    let (mut code, mut errors) = (output.code(), errors.text());
    if let Err(Stop::Io(error)) = outcome {
        (code, errors) = (BAD, format!("{errors}{error}\n"));
    }
    Answer { code, json: json.text(), errors }
}

/// What the command takes, for pages of a manual and completions.
pub fn command() -> clap::Command {
    Args::command()
}

fn answer(args: &Args, output: &mut Output) -> Result<(), Stop> {
    match &args.command {
        Command::Show { shapes, axes, message, picture } => {
            input::subjects(shapes, (Some(message), args), output, |given, output| {
                show::show(given, axes.as_ref(), (picture, args), output)
            })?;
            match picture.wanted() {
                true => Ok(()),
                false => output.hint("tilework translate says this in other notations"),
            }
        }
        Command::Parse { shapes, format, message } => {
            input::subjects(shapes, (Some(message), args), output, |given, output| {
                match format.of_message() {
                    None => show::parse(given, output),
                    Some(format) => message::write(given, message.message, format, output),
                }
            })
        }
        Command::Find { files } => find::find(files, output),
        Command::Index { shape, indices } => points::index(shape, indices, args, output),
        Command::Locate { shape, offsets } => points::locate(shape, offsets, args, output),
        Command::Translate(translate) => translate::translate(translate, args, output),
        Command::Compare { a, b, sense, axes, picture } => {
            compare::compare([a, b], *sense, (axes, picture), args, output)
        }
        Command::Plan(plan) => plan::plan(plan, args, output),
        Command::Check(check) => check::check(check, output),
        Command::View { descriptor, step } => view::view(descriptor, step, args, output),
        Command::Suggest(suggest) => suggest::suggest(suggest, args, output),
        Command::Block(block) => block::block(block, args, output),
        Command::Ls(ls) => ls::ls(ls, output),
        Command::Diff(diff) => diff::diff(diff, output),
        Command::Convert(convert) => convert::convert(convert, args, output),
        Command::Reshard(reshard) => jobs::reshard(reshard, output),
        Command::Rechunk(rechunk) => jobs::rechunk(rechunk, args, output),
        Command::RunTasks(tasks) => jobs::run_tasks(tasks, output),
        Command::Audit(audit) => audit::audit(audit, output),
        Command::Bench(bench) => bench::bench(bench, args, output),
        Command::Link(asked) => link::write(asked, args, output),
        Command::Completions { shell } => completions(*shell, output),
    }
}

#[cfg(feature = "completions")]
fn completions(shell: args::Shell, output: &mut Output) -> Result<(), Stop> {
    let mut script = Vec::new();
    shell.write(&mut Args::command(), &mut script);
    output.bytes(&script)
}

#[cfg(not(feature = "completions"))]
fn completions(_: args::Shell, output: &mut Output) -> Result<(), Stop> {
    output.bad(&lacks("scripts for shells", "completions"), "completions", None)
}

/// The error where a feature is asked for that this build was compiled without.
#[cfg(not(all(feature = "completions", feature = "proto", feature = "stores")))]
fn lacks(what: &str, feature: &str) -> tilework::Error {
    tilework::Error::new(format!("{what} are not in this build"))
        .rule(format!("it was compiled without the feature `{feature}`, for a shorter first build"))
        .accepts(format!(
            "`cargo run --release --features full{}`, or a program from `cargo xtask dist`",
            if feature == "objects" { ",objects" } else { "" }
        ))
}
