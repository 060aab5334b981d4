//! Which command is meant where none is named.
//!
//! `tilework 'f32[3]'` shows the shape, and `… | tilework` reads whatever comes: shapes, a descriptor in JSON, a dump, or
//! any text that layouts stand in.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, IsTerminal};

use clap::CommandFactory;
use tilework::dialect;
use tilework::directml::{BufferTensorDesc, is_code};

use crate::args::Args;

/// The arguments, with the command that is meant if none is named.
pub fn arguments(given: Vec<OsString>) -> Vec<OsString> {
    let Some(place) = first_word(&given) else {
        let asks = io::stdin().is_terminal() || asks_for_help(&given);
        let meant = if asks { None } else { meant_by_input() };
        return meant.map_or(given.clone(), |command| with(given, None, command));
    };
    let is_command = |word: &OsStr| {
        let all = Args::command();
        word == "help" || all.get_subcommands().any(|command| word == command.get_name())
    };
    // No command has such characters, and nobody who mistypes one does.
    let is_layout = |word: &OsStr| {
        let bytes = word.as_encoded_bytes();
        bytes.starts_with(b"@") || bytes.iter().any(|byte| b"[]{}()<>, ".contains(byte))
    };
    match is_command(&given[place]) || !is_layout(&given[place]) {
        true if given[place] == "index" || given[place] == "locate" => options_first(given, place),
        true => given,
        false => with(given, Some(place), "show"),
    }
}

/// The place of the first argument that is no option and no option's value.
fn first_word(given: &[OsString]) -> Option<usize> {
    let mut words = given.iter().enumerate().skip(1);
    while let Some((place, word)) = words.next() {
        match word.to_str() {
            Some(option) if takes_a_value(option) => drop(words.next()),
            Some("--") => return None,
            Some(option) if option.starts_with('-') => {}
            _ => return Some(place),
        }
    }
    None
}

/// Whether the next argument belongs to an option of every command.
fn takes_a_value(option: &str) -> bool {
    ["--color", "--width", "--as"].contains(&option)
}

/// Moves options before the values of the command at a place. Numbers may be negative, so the list of values would take
/// options that follow it for numbers, too.
fn options_first(mut given: Vec<OsString>, place: usize) -> Vec<OsString> {
    let mut words = given.split_off(place + 1).into_iter();
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        let is_option =
            |rest: &str| rest.starts_with(|first: char| first == '-' || first.is_ascii_alphabetic());
        match word.to_str() {
            Some("--") => {
                values.push(word);
                values.extend(words);
                break;
            }
            Some(option) if option.strip_prefix('-').is_some_and(is_option) => {
                let value = takes_a_value(option).then(|| words.next());
                given.push(word);
                given.extend(value.flatten());
            }
            _ => values.push(word),
        }
    }
    given.extend(values);
    given
}

fn asks_for_help(given: &[OsString]) -> bool {
    given.iter().any(|word| ["-h", "--help", "-V", "--version", "--"].iter().any(|asked| word == asked))
}

/// The arguments with a command at a place, or behind them.
fn with(mut given: Vec<OsString>, place: Option<usize>, command: &str) -> Vec<OsString> {
    given.insert(place.unwrap_or(given.len()), command.into());
    if command == "check" {
        given.push("-".into());
    }
    given
}

/// The command for what comes on standard input, by its beginning, which is looked at and left there; none if nothing comes.
fn meant_by_input() -> Option<&'static str> {
    let mut input = io::stdin().lock();
    let Ok(start) = input.fill_buf() else { return Some("find") }; // which says why it cannot be read
    let text = String::from_utf8_lossy(start);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines().next() else { return (!text.is_empty()).then_some("find") };
    // Descriptors of DirectML, unless another notation knows the text.
    let is_json = first.starts_with(['{', '[']) && text.contains('"');
    let is_read = || dialect::read(&text).is_ok_and(|found| found.iter().all(|one| !is_desc(one)));
    Some(match first {
        _ if is_json && !is_read() => "check",
        _ if !is_json && is_code(&text) && dialect::read_one(first).is_err() => "check",
        _ if DUMPS.iter().any(|mark| text.contains(mark)) => "audit",
        line if !is_json && dialect::read_one(line).is_ok() => "show",
        _ => "find",
    })
}

fn is_desc(found: &dialect::Found) -> bool {
    found.said.get::<BufferTensorDesc>().is_some()
}

/// What stands in the dumps and messages of compilers, which `audit` reads as such.
const DUMPS: [&str; 8] = [
    "HloModule",
    "BufferAssignment",
    "RESOURCE_EXHAUSTED",
    "Ran out of memory",
    "out of memory",
    "Out of memory",
    "stablehlo.",
    "Total bytes used:",
];
