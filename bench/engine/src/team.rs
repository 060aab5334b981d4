//! Threads that stay: a start of a thread for each run would be most of what a small relayout costs.
//!
//! This is what a runtime with threads of its own would hand to the engine, and the rivals keep theirs, too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tilework_copy::Pool;

/// How long a helper looks for new work before it sleeps: about what waking it up costs.
const LOOK: Duration = Duration::from_micros(50);

/// Helpers of the calling thread.
pub struct Team {
    threads: usize,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The number of the newest work, so that a helper can look without the lock.
    newest: AtomicUsize,
    /// Helpers that have not yet finished the newest work.
    busy: AtomicUsize,
    next: AtomicUsize,
    work: Mutex<Option<Work>>,
    arrived: Condvar,
}

#[derive(Clone, Copy)]
struct Work {
    number: usize,
    tasks: usize,
    /// Borrowed from the caller of [`Team::run`], which does not return before all helpers are done with it.
    task: &'static (dyn Fn(usize) + Sync),
}

impl Team {
    /// The team of so many threads; the calling thread is one of them. Teams live as long as the process.
    pub fn of(threads: usize) -> Arc<Team> {
        static TEAMS: Mutex<Vec<Arc<Team>>> = Mutex::new(Vec::new());
        let mut teams = TEAMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(team) = teams.iter().find(|team| team.threads == threads) {
            return team.clone();
        }
        let team = Arc::new(Team { threads, shared: Arc::default() });
        for _ in 1..threads {
            let shared = team.shared.clone();
            std::thread::spawn(move || shared.help());
        }
        teams.push(team.clone());
        team
    }
}

impl Pool for Team {
    fn width(&self) -> usize {
        self.threads
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes, and no helper touches `task` after this function returns: it waits until
        // each of them has counted itself out of `busy`, and they do that after their last call.
        let task =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        let mut place = shared.lock();
        let number = shared.newest.load(Ordering::Relaxed) + 1;
        let work = Work { number, tasks, task };
        shared.next.store(0, Ordering::Relaxed);
        shared.busy.store(self.threads - 1, Ordering::Relaxed);
        *place = Some(work);
        shared.newest.store(number, Ordering::Release);
        drop(place);
        shared.arrived.notify_all();
        shared.take(work);
        let mut turns = 0_u32;
        while shared.busy.load(Ordering::Acquire) > 0 {
            turns += 1;
            // On a crowded machine a helper needs this processor to finish.
            if turns.is_multiple_of(1000) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does tasks until none is left.
    fn take(&self, work: Work) {
        let _guard = NoPanic;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= work.tasks {
                return;
            }
            (work.task)(number);
        }
    }

    /// The life of a helper.
    fn help(&self) {
        let mut done = 0;
        loop {
            let start = Instant::now();
            while self.newest.load(Ordering::Acquire) == done && start.elapsed() < LOOK {
                std::hint::spin_loop();
            }
            let mut place = self.lock();
            let work = loop {
                match *place {
                    Some(work) if work.number != done => break work,
                    _ => place = self.arrived.wait(place).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(place);
            done = work.number;
            self.take(work);
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Ends the process when a task panics: the other threads would wait for this one for ever.
struct NoPanic;

impl Drop for NoPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
