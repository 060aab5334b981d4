//! How far it is, for people who wait.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes no longer than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal and it takes long enough.
pub struct Progress {
    start: Instant,
    total: u64,
    is_terminal: bool,
    ascii: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(total: u64, ascii: bool) -> Progress {
        let is_terminal = io::stderr().is_terminal();
        Progress { start: Instant::now(), total, is_terminal, ascii, bar: None }
    }

    /// So many bytes are done.
    pub fn update(&mut self, done: u64) {
        if !self.is_terminal || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left");
            let bar = bar.with_elapsed(self.start.elapsed());
            match style {
                Ok(style) if self.ascii => bar.set_style(style.progress_chars("#>-")),
                Ok(style) => bar.set_style(style),
                Err(_) => {}
            }
            bar
        });
        bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
