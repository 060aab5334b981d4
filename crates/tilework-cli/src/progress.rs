//! How far it is, for people who wait.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes no longer than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal and it takes long enough. Every thread may say how far it is.
pub struct Progress {
    start: Instant,
    total: u64,
    is_terminal: bool,
    ascii: bool,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub fn new(total: u64, ascii: bool) -> Progress {
        let is_terminal = io::stderr().is_terminal();
        Progress { start: Instant::now(), total, is_terminal, ascii, bar: OnceLock::new() }
    }

    /// So many bytes are done.
    pub fn update(&self, done: u64) {
        if self.is_terminal && self.start.elapsed() >= PATIENCE {
            self.bar.get_or_init(|| self.bar()).set_position(done);
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar.into_inner() {
            bar.finish_and_clear();
        }
    }

    fn bar(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
        let characters = if self.ascii { "#>-" } else { "█▉▊▋▌▍▎▏ " };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left") {
            bar.set_style(style.progress_chars(characters));
        }
        bar.with_elapsed(self.start.elapsed())
    }
}
