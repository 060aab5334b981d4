//! The process that runs the cases of one attack, and says on standard output which one it is at: `case 7`, then
//! `done 7 MICROSECONDS refused` or `fail 7 MICROSECONDS why`. So whoever started it knows which case ended it.

use std::any::Any;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::attack::{Attack, Log};
use crate::dice::Dice;
use crate::{ATTACKS, kept};

thread_local! {
    /// Where the last panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a worker has to do.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The first case.
    pub first: u64,
    /// How many, or until the time is over; 0 for as many as a short run has.
    pub cases: Option<u64>,
    /// Whether texts that were kept come before the first case.
    pub kept: bool,
}

/// Cases one after the other, as many as asked for, or until the time is over.
pub fn work(name: &str, seed: u64, asked: Work, time: Duration) -> Result<(), String> {
    let Work { first, cases, kept } = asked;
    let start = Instant::now();
    let mut attack = begin(name)?;
    let cases = cases.map(|cases| if cases == 0 { attack.short() } else { cases });
    let mut out = std::io::stdout();
    // Whoever reads this may be gone, and then there is nobody to work for.
    let mut say = |line: String| out.write_all(line.as_bytes()).is_ok();
    if kept {
        for (file, text) in kept::all(name) {
            if start.elapsed() > time / 2 {
                break;
            }
            let (_, result, took) = timed(|log| attack.text(&text, log), false);
            let line = match result {
                Ok(()) => format!("done 0 {took} kept\n"),
                Err(why) => format!("kept {file} {took} {}\n", flat(&why)),
            };
            if !say(format!("text {file}\n")) || !say(line) {
                return Ok(());
            }
        }
    }
    let mut slowest = 0;
    for case in first.. {
        let is_over = match cases {
            Some(cases) => case - first >= cases,
            None => start.elapsed() >= time,
        };
        if is_over || !say(format!("case {case}\n")) {
            break;
        }
        let mut dice = Dice::of_case(seed, name, case);
        let (log, result, took) = timed(|log| attack.case(&mut dice, log), false);
        if let Some(text) = &log.text {
            let is_slow = took > slowest.max(kept::SLOW);
            slowest = slowest.max(took);
            if is_slow || result.is_err() {
                kept::keep(name, text, if is_slow { "slow" } else { "failed" });
            }
        }
        let line = match result {
            Ok(()) => format!("done {case} {took} {}\n", log.words.join(" ")),
            Err(why) => format!("fail {case} {took} {}\n", flat(&why)),
        };
        if !say(line) {
            break;
        }
    }
    Ok(())
}

/// One case again, with all that it says of itself.
pub fn repeat(name: &str, seed: u64, case: u64) -> Result<bool, String> {
    let mut attack = begin(name)?;
    let mut dice = Dice::of_case(seed, name, case);
    Ok(tell(timed(|log| attack.case(&mut dice, log), true)))
}

/// A text that was kept again.
pub fn repeat_text(name: &str, file: &str) -> Result<bool, String> {
    let text = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let mut attack = begin(name)?;
    Ok(tell(timed(|log| attack.text(&text, log), true)))
}

fn tell((log, result, took): (Log, Result<(), String>, u64)) -> bool {
    log.notes.iter().for_each(|note| println!("{note}"));
    if let Some(text) = &log.text {
        println!("text: {}", text.escape_ascii());
    }
    match &result {
        Ok(()) => println!("held in {took} µs: {}", log.words.join(" ")),
        Err(why) => println!("failed in {took} µs: {why}"),
    }
    result.is_ok()
}

fn begin(name: &str) -> Result<Box<dyn Attack>, String> {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|last| *last.borrow_mut() = place);
    }));
    let found = ATTACKS.iter().find(|attack| attack.0 == name).ok_or("no such attack")?;
    (found.2)()
}

fn timed(case: impl FnOnce(&mut Log) -> Result<(), String>, verbose: bool) -> (Log, Result<(), String>, u64) {
    let mut log = Log { verbose, ..Log::default() };
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| case(&mut log)));
    let took = start.elapsed().as_micros() as u64;
    let result = result.unwrap_or_else(|panic| {
        let place = PLACE.with(|place| place.borrow().clone());
        Err(format!("a panic at {place}: {}", said(&*panic)))
    });
    (log, result, took)
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("something that is no text")
}

/// In one line that a terminal shows as it is.
fn flat(text: &str) -> String {
    let text: String = text.escape_debug().take(2000).collect();
    text.replace("\\\"", "\"").replace("\\'", "'")
}
