//! The command with mutated arguments and lines of standard input: it ends with 0, 1 or 2, never by a signal or a panic, and
//! what it prints commands no terminal.

use crate::attack::{Attack, Log};
use crate::dice::Dice;
use crate::program::{Folder, Program, clean, run};
use crate::texts::Texts;

/// Commands that neither write files nor measure for seconds, with what each wants: `S` a shape, `N` a number, `I` an index, `W`
/// any word.
const COMMANDS: [(&str, &str); 17] = [
    ("show", "S"),
    ("index", "S I"),
    ("locate", "S N"),
    ("parse", "S"),
    ("translate", "S"),
    ("find", "S"),
    ("compare", "S S"),
    ("plan", "S S"),
    ("view", "S"),
    ("suggest", "S"),
    ("block", "S"),
    ("check", "S"),
    ("link", "S"),
    ("ls", "W"),
    ("diff", "W W"),
    ("audit", "-"),
    ("completions", "W"),
];

/// Options of some command, with what may stand behind them: `S` a shape, `N` a number, `W` any word.
const OPTIONS: [&str; 26] = [
    "--json",
    "--ascii",
    "--color always",
    "--width N",
    "--strict-xla",
    "--as W",
    "--to W",
    "--to S",
    "--fill W",
    "--tile S",
    "--target W",
    "--top N",
    "--instead S",
    "--nhwc",
    "--feature-level W",
    "--from-format text",
    "--from-format binary",
    "--message layout",
    "--message program",
    "--message W",
    "--what-if S",
    "-h",
    "--help",
    "--version",
    "--",
    "--W",
];

const WORDS: [&str; 24] = [
    "xla",
    "cute",
    "numpy",
    "onednn",
    "triton",
    "tpu",
    "zero",
    "lowest",
    "nan",
    "0x7fc0",
    "-1.5",
    "bash",
    "nushell",
    "fish",
    "-",
    "",
    "T(8,128)",
    "8,128",
    "1,2",
    "\u{1b}[31m",
    "\u{202e}x",
    "@nothing",
    "@.",
    "é",
];

struct Lines {
    texts: Texts,
    program: Program,
    folder: Folder,
}

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Lines { texts: Texts::all()?, program: Program::tilework()?, folder: Folder::new("lines")? }))
}

impl Attack for Lines {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let (name, wants) = dice.of(&COMMANDS);
        let mut words = vec![name.to_owned()];
        // Half of them are what somebody might mean, so that not all are refused.
        let is_meant = dice.once_in(2);
        match is_meant {
            true => words.extend(wants.split(' ').map(|word| self.word(dice, word))),
            false => (0..dice.of(&[0, 1, 1, 1, 2, 2, 3])).for_each(|_| words.push(self.shape(dice))),
        }
        for _ in 0..dice.of(if is_meant { &[0, 0, 0, 1] } else { &[0, 1, 2, 4] }) {
            let option = dice.of(&OPTIONS);
            words.extend(option.split(' ').map(|word| match word {
                "S" => self.shape(dice),
                word => self.word(dice, word),
            }));
        }
        if dice.once_in(20) {
            words.remove(0);
        }
        if !is_meant && dice.once_in(3) {
            let (a, b) = (dice.index(words.len().max(1)), dice.index(words.len().max(1)));
            if b < words.len() && a < words.len() {
                words.swap(a, b);
            }
        }
        // The system takes no argument with a byte of 0, nor one of more than 128 KiB.
        words.iter_mut().for_each(|word| *word = word.replace('\0', "\u{1}"));
        let input = self.input(dice);
        log.note(|| format!("{words:?} with {:?}", String::from_utf8_lossy(&input)));
        let mut command = clean(self.program.command(), self.folder.path());
        command.args(&words);
        let ran = run(command, &input)?;
        log.count(match ran.status.code() {
            Some(0) => "answered",
            Some(1) => "said-no",
            _ => "refused",
        });
        // Colours are ours, and so are the characters of completion scripts.
        if words.iter().any(|word| word == "always") || words.iter().any(|word| word == "completions") {
            return match ran.status.code() {
                Some(0..=2) => Ok(()),
                _ => Err(format!("{words:?}: ended with {}: {}", ran.status, ran.last_words())),
            };
        }
        match ran.is_orderly() {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("{words:?} with {} bytes of input: {why}", input.len())),
        }
    }

    fn short(&self) -> u64 {
        60
    }
}

impl Lines {
    /// A word as it is, or what stands for it.
    fn word(&self, dice: &mut Dice, word: &str) -> String {
        match word {
            "S" => self.texts.pick(dice).to_owned(),
            "N" if dice.once_in(2) => dice.below(40).to_string(),
            "N" => dice.number().to_string(),
            "I" => (0..1 + dice.below(4)).map(|_| dice.below(4).to_string()).collect::<Vec<_>>().join(","),
            "W" => dice.of(&WORDS).to_owned(),
            "--W" => format!("--{}", dice.of(&WORDS)),
            word => word.to_owned(),
        }
    }

    fn shape(&self, dice: &mut Dice) -> String {
        match dice.below(8) {
            0 => dice.of(&WORDS).to_owned(),
            1 => dice.number().to_string(),
            2 => (0..1 + dice.below(4)).map(|_| dice.number().to_string()).collect::<Vec<_>>().join(","),
            3 | 4 => self.texts.pick(dice).to_owned(),
            _ => self.texts.mutated(dice),
        }
    }

    /// Lines, some of them no text at all.
    fn input(&self, dice: &mut Dice) -> Vec<u8> {
        let mut input = Vec::new();
        for _ in 0..dice.of(&[0, 0, 1, 1, 2, 9, 40]) {
            match dice.below(8) {
                0 => {
                    let mut noise = vec![0; dice.index(300)];
                    dice.fill(&mut noise);
                    input.extend_from_slice(&noise);
                }
                1 => input.extend_from_slice(b"@/dev/zero"),
                _ => input.extend_from_slice(self.shape(dice).as_bytes()),
            }
            input.extend_from_slice(if dice.once_in(9) { b"\r\n" } else { b"\n" });
        }
        input
    }
}
