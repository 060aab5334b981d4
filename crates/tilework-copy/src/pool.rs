//! Whose threads do the work: the caller's.

use std::num::NonZeroUsize;

/// Threads that can run tasks.
///
/// A runtime implements this for its own pool; [`Threads`] starts threads for one run, [`Inline`] uses none.
pub trait Pool: Sync {
    /// How many tasks may run at the same time.
    fn width(&self) -> usize;

    /// Calls `task` once with each number below `tasks`, in any order and on any thread, and returns when all are done.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));

    /// The least work that is worth a task of its own, in bytes written.
    fn least_share(&self) -> usize {
        512 << 10
    }
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl Pool for Inline {
    fn width(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}

/// A number of threads, started for each run; the calling thread is one of them. If the system gives fewer, those do the work.
#[derive(Clone, Copy, Debug)]
pub struct Threads(NonZeroUsize);

impl Threads {
    /// As many as asked for, at least one.
    pub fn new(threads: usize) -> Threads {
        Threads(NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN))
    }

    /// As many as the machine has processors for this process.
    pub fn all() -> Threads {
        Threads(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Pool for Threads {
    fn width(&self) -> usize {
        self.0.get()
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let helpers = self.width().min(tasks).saturating_sub(1);
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || {
            loop {
                let task_number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if task_number >= tasks {
                    return;
                }
                task(task_number);
            }
        };
        std::thread::scope(|scope| {
            let start = || std::thread::Builder::new().spawn_scoped(scope, work).is_ok();
            let _ = (0..helpers).all(|_| start());
            work();
        });
    }
}
