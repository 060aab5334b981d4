//! Whose turn it is: starts a worker for one attack after the other until the time is over, and adds up what they say.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::ATTACKS;
use crate::program::{Program, emulator};

/// A case that takes longer does not end.
const PATIENCE: Duration = Duration::from_secs(900);

/// Failures of one attack that are shown; the others are counted.
const SHOWN: usize = 20;

/// Where a worker is before its first case.
const BEGINNING: &str = "its beginning";

/// What an attack has come to.
#[derive(Default)]
struct Score {
    cases: u64,
    words: BTreeMap<String, u64>,
    failures: Vec<String>,
    /// In microseconds, and which case it was.
    slowest: (u64, String),
    time: Duration,
}

/// Runs these attacks, or all; whether everything held.
pub fn run(
    attacks: &[&'static str],
    seed: u64,
    short: bool,
    time: Duration,
    turn: Duration,
) -> Result<bool, String> {
    let all: Vec<&'static str> = ATTACKS.iter().map(|attack| attack.0).collect();
    let attacks = if attacks.is_empty() { &all[..] } else { attacks };
    let seed = if short { 1 } else { seed };
    println!("seed {seed}");
    let start = Instant::now();
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    'time: loop {
        for &name in attacks {
            let left = time.saturating_sub(start.elapsed());
            if !short && left.is_zero() {
                break 'time;
            }
            // Every attack gets a turn, however little time there is.
            let is_first = !scores.contains_key(name);
            let share = turn.min(time / attacks.len() as u32).min(left).max(Duration::from_millis(500));
            let score = scores.entry(name).or_default();
            one_turn(name, seed, (short, is_first), share, score)?;
        }
        if short {
            break;
        }
    }
    Ok(summary(attacks, &scores, seed, start.elapsed()))
}

fn summary(attacks: &[&str], scores: &BTreeMap<&str, Score>, seed: u64, time: Duration) -> bool {
    println!("\nseed {seed}, {:.0} s, {}", time.as_secs_f64(), machine());
    let mut failed = 0;
    for name in attacks {
        let Some(score) = scores.get(name) else { continue };
        let words: Vec<String> = score.words.iter().map(|(word, times)| format!("{times} {word}")).collect();
        let (slowest, case) = (score.slowest.0 as f64 / 1000.0, &score.slowest.1);
        println!(
            "{name:8} {:8} cases in {:5.1} s, {} failed; slowest {slowest:.1} ms ({case}); {}",
            score.cases,
            score.time.as_secs_f64(),
            score.failures.len(),
            words.join(", ")
        );
        failed += score.failures.len();
    }
    for (name, score) in scores {
        score.failures.iter().take(SHOWN).for_each(|failure| println!("\n{name}: {failure}"));
        if let Some(more) = score.failures.len().checked_sub(SHOWN + 1) {
            println!("\n{name}: and {} more", more + 1);
        }
    }
    println!("\n{}", if failed == 0 { "all held".to_owned() } else { format!("{failed} failed") });
    failed == 0
}

/// What the attacked programs are for, and what runs them.
fn machine() -> String {
    let own = std::env::consts::ARCH;
    emulator().map_or(own.to_owned(), |emulator| format!("{own} in {}", emulator.display()))
}

/// One worker. If a case ends it, another goes on with the next case in the next turn.
fn one_turn(
    name: &str,
    seed: u64,
    (short, is_first): (bool, bool),
    time: Duration,
    score: &mut Score,
) -> Result<(), String> {
    let start = Instant::now();
    let mut command = Program::own()?.command();
    command.args(["--attack", name, "--seed", &seed.to_string(), "--worker", &score.cases.to_string()]);
    command.args(["--seconds", &time.as_secs_f64().to_string()]);
    if short {
        command.args(["--cases", "0"]);
    }
    if is_first && !short {
        command.arg("--kept");
    }
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("a worker: {error}"))?;
    let out = child.stdout.take().ok_or("no pipe")?;
    let (sender, lines) = channel();
    let reader = thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
    });
    let mut at = BEGINNING.to_owned();
    let again = |at: &str| match at.split_once(' ') {
        Some(("case", case)) => format!("  cargo xtask soak --attack {name} --case {case} --seed {seed}"),
        Some(("text", file)) => format!("  cargo xtask soak --attack {name} --text {file}"),
        _ => String::new(),
    };
    let ended = loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => match line.split_once(' ') {
                Some(("case" | "text", _)) => at = line,
                Some((what, rest)) => score.add(what, rest, &at, &again(&at)),
                None => {}
            },
            Err(RecvTimeoutError::Disconnected) => break child.wait().map_err(|error| error.to_string())?,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                let why = format!("{at} did not end within {} s\n{}", PATIENCE.as_secs(), again(&at));
                score.fail(why, &at);
                break Default::default();
            }
        }
    };
    let _ = reader.join();
    if !ended.success() && at == BEGINNING {
        return Err(format!("{name} cannot begin"));
    }
    if !ended.success() {
        score.fail(format!("{at} ended the process: {ended}\n{}", again(&at)), &at);
    }
    score.time += start.elapsed();
    Ok(())
}

impl Score {
    /// `done 7 MICROSECONDS refused`, and so on.
    fn add(&mut self, what: &str, rest: &str, at: &str, again: &str) {
        let mut words = rest.splitn(3, ' ');
        words.next(); // the number, which `at` has too
        let took = words.next().and_then(|took| took.parse().ok()).unwrap_or(0);
        let rest = words.next().unwrap_or_default();
        if took > self.slowest.0 {
            self.slowest = (took, at.to_owned());
        }
        match what {
            "done" => {
                for word in rest.split_ascii_whitespace() {
                    *self.words.entry(word.to_owned()).or_default() += 1;
                }
                self.cases += u64::from(at.starts_with("case"));
            }
            _ => self.fail(format!("{at}: {rest}\n{again}"), at),
        }
    }

    fn fail(&mut self, why: String, at: &str) {
        println!("FAILED {why}");
        self.failures.push(why);
        self.cases += u64::from(at.starts_with("case"));
    }
}
