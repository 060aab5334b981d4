//! Attacks on Tilework that go on for as long as there is time: `cargo xtask soak`.
//!
//! Each attack draws one case after the other from a seed and compares what Tilework does with a model of its own, written
//! as plainly as possible. A case depends on the seed, the attack and its number alone, so these three repeat it. Attacks run
//! in processes of their own (`worker.rs`): a case that ends its process, or does not end, is a finding like any other.
#![deny(unsafe_code)]

mod attack;
mod boss;
#[cfg(unix)]
mod convert;
mod dice;
#[cfg(unix)]
mod headers;
mod kept;
mod layouts;
mod library;
mod lines;
mod model;
mod moves;
mod program;
mod random;
mod texts;
mod threads;
mod views;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use attack::Attack;

const HELP: &str = "\
Attacks Tilework until the time is over, and says what it found.

  cargo xtask soak [--hours H] [--minutes M] [--seed S] [ATTACK ...]     default: all attacks, one minute, a new seed
  cargo xtask soak --attack NAME --case N --seed S                       repeats one case
  cargo xtask soak --attack NAME --text FILE                             repeats a text of soak/corpus
  cargo xtask soak --arm ...                                             the same with programs for ARM, in an emulator
  cargo xtask soak --short                                               some cases of each attack, the same every time

--release attacks what is built with optimisations and without checks for overflow. --turn SECONDS is how long an attack goes on
before it is the next one's turn. The exit code is 1 if anything failed.

The attacks:
";

/// An attack's name, what it is about, and how it begins.
type Entry = (&'static str, &'static str, fn() -> Result<Box<dyn Attack>, String>);

/// All attacks.
const ATTACKS: &[Entry] = &[
    ("layouts", "sizes, offsets, places, comparisons and views against big integers", layouts::new),
    ("moves", "relayouts against a copy bit by bit", moves::new),
    ("texts", "mutated texts of all notations: read, found, translated, explained", texts::new),
    ("lines", "the command with mutated arguments and standard input", lines::new),
    #[cfg(unix)]
    ("convert", "conversions that are killed, limited, crowded or robbed of their source", convert::new),
    #[cfg(unix)]
    ("headers", "hostile headers, messages and modules within little memory", headers::new),
    ("library", "the C interface, misused as far as it says that it checks", library::new),
    ("threads", "relayouts and layouts shared by several threads", threads::new),
];

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    time: Duration,
    turn: Duration,
    seed: Option<u64>,
    attacks: Vec<&'static str>,
    short: bool,
    case: Option<u64>,
    text: Option<String>,
    /// This process is the worker of one attack.
    worker: Option<worker::Work>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| matches!(word.as_str(), "help" | "--help" | "-h")) {
        print!("{HELP}");
        ATTACKS.iter().for_each(|(name, about, _)| println!("  {name:8}  {about}"));
        return ExitCode::SUCCESS;
    }
    match read(&words).and_then(run) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("soak: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: Asked) -> Result<bool, String> {
    let new_seed =
        || std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64 % 1_000_000_007);
    let seed = asked.seed.unwrap_or_else(new_seed);
    if let (Some(work), [name]) = (asked.worker, &asked.attacks[..]) {
        return worker::work(name, seed, work, asked.time).map(|()| true);
    }
    match (&asked.attacks[..], asked.case, asked.text) {
        ([name], Some(case), _) => worker::repeat(name, seed, case),
        ([name], None, Some(file)) => worker::repeat_text(name, &file),
        (_, None, None) => boss::run(&asked.attacks, seed, asked.short, asked.time, asked.turn),
        _ => Err("--case and --text want one --attack NAME".to_owned()),
    }
}

fn read(words: &[String]) -> Result<Asked, String> {
    let mut asked = Asked { turn: Duration::from_secs(10), ..Asked::default() };
    let mut words = words.iter();
    let (mut first, mut cases, mut kept) = (None, None, false);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("{word} {text}: no number"));
        let seconds = |text: &String, unit: f64| {
            let number =
                text.parse::<f64>().ok().map(|number| number * unit).filter(|n| *n >= 0.0 && *n < 1e9);
            number.map(Duration::from_secs_f64).ok_or(format!("{word} {text}: no time"))
        };
        match word.as_str() {
            "--hours" => asked.time += seconds(value()?, 3600.0)?,
            "--minutes" => asked.time += seconds(value()?, 60.0)?,
            "--seconds" => asked.time += seconds(value()?, 1.0)?,
            "--turn" => asked.turn = seconds(value()?, 1.0)?,
            "--seed" => asked.seed = Some(number(value()?)?),
            "--case" => asked.case = Some(number(value()?)?),
            "--text" => asked.text = Some(value()?.clone()),
            "--worker" => first = Some(number(value()?)?),
            "--cases" => cases = Some(number(value()?)?),
            "--kept" => kept = true,
            "--short" => asked.short = true,
            "--attack" => asked.attacks.push(named(value()?)?),
            option if option.starts_with('-') => {
                return Err(format!("no option `{option}`; --help lists them"));
            }
            name => asked.attacks.push(named(name)?),
        }
    }
    asked.worker = first.map(|first| worker::Work { first, cases, kept });
    if asked.time.is_zero() {
        asked.time = Duration::from_secs(60);
    }
    Ok(asked)
}

fn named(name: &str) -> Result<&'static str, String> {
    let known: Vec<&'static str> = ATTACKS.iter().map(|attack| attack.0).collect();
    let found = known.iter().copied().find(|known| *known == name);
    found.ok_or_else(|| format!("no attack `{name}`; there are {}", known.join(", ")))
}
