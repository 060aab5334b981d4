//! What an attack is.

use std::fmt::Display;

use crate::dice::Dice;

/// Something that Tilework has to stand, over and over, a little different each time.
pub trait Attack {
    /// One case. The error says what went wrong; a panic says it too.
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String>;

    /// The same with a text that was kept, for attacks that keep texts.
    fn text(&mut self, text: &[u8], log: &mut Log) -> Result<(), String> {
        let _ = (text, log);
        Err("this attack keeps no texts".to_owned())
    }

    /// How many cases a short run has.
    fn short(&self) -> u64;
}

/// What a case says of itself.
#[derive(Default)]
pub struct Log {
    /// Words to be counted, such as `refused`.
    pub words: Vec<&'static str>,
    /// The text that was tried, where it is worth keeping if the case fails or is slow.
    pub text: Option<Vec<u8>>,
    /// What is said when a case is repeated.
    pub notes: Vec<String>,
    /// Whether anybody reads the notes.
    pub verbose: bool,
}

impl Log {
    pub fn count(&mut self, word: &'static str) {
        self.words.push(word);
    }

    pub fn note(&mut self, note: impl FnOnce() -> String) {
        if self.verbose {
            self.notes.push(note());
        }
    }
}

/// The error of a case in which two answers differ.
pub fn same<T: PartialEq + std::fmt::Debug>(what: impl Display, found: T, wanted: T) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, the model says {wanted:?}")),
    }
}

/// The error of a case in which something does not hold.
pub fn holds(is_so: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what()) }
}
