//! How far it is, for people who wait.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tilework::words::short_bytes;

/// What takes no longer than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two states of the bar.
const PAUSE: Duration = Duration::from_millis(100);
/// The columns of the bar itself.
const WIDTH: u64 = 30;

/// A bar on standard error, if that is a terminal and it takes long enough. Every thread may say how far it is.
pub struct Progress {
    start: Instant,
    total: u64,
    is_terminal: bool,
    ascii: bool,
    drawn: Mutex<Drawn>,
}

/// What is on the terminal.
struct Drawn {
    next: Instant,
    columns: usize,
}

impl Progress {
    pub fn new(total: u64, ascii: bool) -> Progress {
        let (start, is_terminal) = (Instant::now(), io::stderr().is_terminal());
        let drawn = Mutex::new(Drawn { next: start + PATIENCE, columns: 0 });
        Progress { start, total, is_terminal, ascii, drawn }
    }

    /// This many bytes are done.
    pub fn update(&self, done: u64) {
        if !self.is_terminal {
            return;
        }
        // Another thread that draws at this moment says about the same.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        if Instant::now() >= drawn.next {
            drawn.draw(&line(done, self.total, self.start.elapsed(), self.ascii));
            drawn.next = Instant::now() + PAUSE;
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Ok(mut drawn) = self.drawn.lock()
            && drawn.columns > 0
        {
            drawn.draw("");
            drawn.draw("");
        }
    }
}

impl Drawn {
    /// Puts a line in the place of the last one, all of which disappears. A terminal that is gone is no error.
    fn draw(&mut self, line: &str) {
        let columns = line.chars().count();
        let blank = " ".repeat(self.columns.saturating_sub(columns));
        let _ = write!(io::stderr(), "\r{line}{blank}");
        self.columns = columns;
    }
}

/// The bar, how much is done, and how long the rest takes if it goes on like this.
fn line(done: u64, total: u64, elapsed: Duration, ascii: bool) -> String {
    let (done, total) = (done.min(total), total.max(1));
    // Eighths of a column, or whole ones.
    let parts = if ascii { 1 } else { 8 };
    let filled = (u128::from(done) * u128::from(WIDTH * parts) / u128::from(total)) as u64;
    let (whole, part) = ((filled / parts) as usize, (filled % parts) as usize);
    let full = if ascii { "#" } else { "█" };
    let last = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][part];
    let blank = " ".repeat(WIDTH as usize - whole - usize::from(part > 0));
    let bytes = |bytes: u64| short_bytes(u128::from(bytes));
    let line = format!("{}{last}{blank} {} of {}", full.repeat(whole), bytes(done), bytes(total));
    match done {
        0 => line,
        _ => {
            let left = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
            format!("{line}, {} left", time(left.ceil() as u64))
        }
    }
}

/// `42 s`, `3 min 20 s` or `2 h 5 min`.
fn time(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_how_much_is_done_and_how_long_the_rest_takes() {
        let after = Duration::from_secs(10);
        let expected = format!("{} 256 MiB of 1 GiB, 30 s left", "███████▌".to_owned() + &" ".repeat(22));
        assert_eq!(line(256 << 20, 1 << 30, after, false), expected);
        let expected = format!("{} 256 MiB of 1 GiB, 30 s left", "#######".to_owned() + &" ".repeat(23));
        assert_eq!(line(256 << 20, 1 << 30, after, true), expected);
    }

    #[test]
    fn no_state_is_wider_or_narrower_than_the_bar() {
        for total in [0, 1, 7, 1 << 30, u64::MAX] {
            for done in [0, 1, total / 3, total / 2, total.saturating_sub(1), total, u64::MAX] {
                for ascii in [false, true] {
                    let line = line(done, total, Duration::from_secs(1), ascii);
                    let bar: String = line.chars().take(WIDTH as usize).collect();
                    assert!(!bar.contains(|letter: char| letter.is_ascii_digit()), "{line}");
                    assert_eq!(line.chars().nth(WIDTH as usize), Some(' '), "{line}");
                }
            }
        }
    }

    #[test]
    fn times_have_two_units_at_most() {
        assert_eq!([59, 200, 7500].map(time), ["59 s", "3 min 20 s", "2 h 5 min"]);
    }
}
