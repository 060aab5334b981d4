//! The threads of a runtime, through a function pointer.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::border::{self, Result};
use crate::error::Message;

/// The threads of a runtime, on which relayouts run their tasks.
///
/// `run` calls `task(context, number)` once with each number below `tasks`, in any order and on any threads, and returns
/// when all of these calls have returned. It gets `user` as it stands here, and is called on the thread that asked for the
/// relayout: not at all for little data, several times for some layouts. It must not throw or jump out.
#[repr(C)]
pub struct Pool {
    /// Whatever `run` wants to have; the library does not look at it.
    pub user: *mut c_void,
    /// How many tasks can run at the same time, at least 1.
    pub width: usize,
    /// Runs the tasks.
    pub run: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            tasks: usize,
            task: unsafe extern "C" fn(context: *mut c_void, number: usize),
            context: *mut c_void,
        ),
    >,
}

/// A pool of C's while a relayout uses it.
pub(crate) struct Foreign {
    user: *mut c_void,
    width: usize,
    run: unsafe extern "C" fn(*mut c_void, usize, unsafe extern "C" fn(*mut c_void, usize), *mut c_void),
    failure: Arc<Failure>,
}

// SAFETY: the pointer is only handed to `run`, by the thread that runs the relayout; nothing else of it is used by others.
unsafe impl Sync for Foreign {}

/// The first thing that went wrong.
#[derive(Default)]
struct Failure(Mutex<Option<String>>);

impl Failure {
    fn report(&self, what: impl FnOnce() -> String) {
        lock(&self.0).get_or_insert_with(what);
    }
}

impl Foreign {
    /// # Safety
    /// The pointer is null or points to a pool that does what [`Pool`] says.
    pub(crate) unsafe fn new(pool: *const Pool) -> Result<Foreign> {
        // SAFETY: the caller's promise.
        let pool = unsafe { border::object("pool", pool)? };
        let run = pool.run.ok_or_else(|| {
            Message::from(tilework::Error::new("a null pointer").field("run").rule("a pool runs tasks"))
        })?;
        if pool.width == 0 {
            let error = tilework::Error::new("a pool of 0 threads").field("width").accepts("1 or more");
            return Err(error.into());
        }
        Ok(Foreign { user: pool.user, width: pool.width, run, failure: Arc::default() })
    }

    /// What went wrong on the way.
    pub(crate) fn outcome(self) -> Result<()> {
        match lock(&self.failure.0).take() {
            None => Ok(()),
            Some(what) => Err(Message(what)),
        }
    }
}

/// Tasks that are being run.
///
/// A pool may be wrong, and call a task when the run is over. So what C gets as its context is no address but a number,
/// by which a call finds its batch in [`BATCHES`] for as long as it is there.
struct Batch {
    /// Not beyond the call of [`Foreign::run`] that made the batch.
    task: &'static (dyn Fn(usize) + Sync),
    taken: Box<[AtomicBool]>,
    calls: Mutex<Calls>,
    /// A call ended.
    ended: Condvar,
    failure: Arc<Failure>,
}

/// Calls of tasks that have begun and not ended, and those that did their task.
#[derive(Default)]
struct Calls {
    running: usize,
    done: usize,
}

/// The batches that can be called.
static BATCHES: Mutex<BTreeMap<usize, Arc<Batch>>> = Mutex::new(BTreeMap::new());

impl Batch {
    /// Runs one task, unless it was run before: two threads that wrote the same bytes would race.
    fn run(&self, number: usize) -> bool {
        let fresh = self.taken.get(number).is_some_and(|taken| !taken.swap(true, Ordering::Relaxed));
        if !fresh {
            self.failure.report(|| wrong(format!("task {number}, which does not exist or ran before")));
            return false;
        }
        // The data that a panic leaves half-written is the destination, which nobody reads after an error.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.task)(number))) {
            self.failure.report(|| border::panicked(payload));
        }
        true
    }
}

impl tilework_copy::Pool for Foreign {
    fn width(&self) -> usize {
        self.width
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // SAFETY: only the lifetime changes. The task is called by calls that found the batch. No call finds it after it is
        // removed below, and those that had found it are waited for.
        let task =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        let batch = Arc::new(Batch {
            task,
            taken: (0..tasks).map(|_| AtomicBool::new(false)).collect(),
            calls: Mutex::default(),
            ended: Condvar::new(),
            failure: Arc::clone(&self.failure),
        });
        lock(&BATCHES).insert(number, Arc::clone(&batch));
        // SAFETY: the function is C's and does what `Pool` says. The context is no address, and is never read.
        unsafe { (self.run)(self.user, tasks, run_task, ptr::without_provenance_mut(number)) };
        lock(&BATCHES).remove(&number);
        let mut calls = lock(&batch.calls);
        if calls.running > 0 {
            let running = calls.running;
            self.failure.report(|| wrong(format!("a return while {running} tasks still ran")));
        }
        while calls.running > 0 {
            calls = batch.ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
        }
        let done = calls.done;
        if done < tasks {
            self.failure.report(|| wrong(format!("{done} of {tasks} tasks")));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wrong(found: String) -> String {
    let error = tilework::Error::new(found)
        .field("run")
        .rule("a pool calls the task once with each number, and returns when all calls have");
    Message::from(error).0
}

/// What C's threads call: a task of the batch of this number. A call when that is over does nothing.
///
/// # Safety
/// None: the context is a number, and any is fine.
unsafe extern "C" fn run_task(context: *mut c_void, number: usize) {
    let batch = {
        let batches = lock(&BATCHES);
        let Some(batch) = batches.get(&context.addr()) else { return };
        // Counted before the batch can be removed.
        lock(&batch.calls).running += 1;
        Arc::clone(batch)
    };
    let done = batch.run(number);
    let mut calls = lock(&batch.calls);
    calls.running -= 1;
    calls.done += usize::from(done);
    batch.ended.notify_all();
}

#[cfg(test)]
mod tests {
    use std::thread::{self, JoinHandle};

    use tilework_copy::Pool as _;

    use super::*;

    /// What a pool keeps that returns while its tasks run.
    #[derive(Default)]
    struct Hasty {
        begun: AtomicUsize,
        returns: AtomicBool,
        threads: Mutex<Vec<JoinHandle<()>>>,
    }

    /// Starts a thread for each task, and returns when all of them have begun.
    unsafe extern "C" fn hasty(
        user: *mut c_void,
        tasks: usize,
        task: unsafe extern "C" fn(*mut c_void, usize),
        context: *mut c_void,
    ) {
        // SAFETY: the test hands in what it keeps.
        let kept = unsafe { &*user.cast_const().cast::<Hasty>() };
        let context = context.addr();
        for number in 0..tasks {
            // SAFETY: as a pool calls tasks.
            let call = move || unsafe { task(ptr::without_provenance_mut(context), number) };
            lock(&kept.threads).push(thread::spawn(call));
        }
        while kept.begun.load(Ordering::Acquire) < tasks {
            thread::yield_now();
        }
        kept.returns.store(true, Ordering::Release);
    }

    #[test]
    fn tasks_that_still_run_when_a_pool_returns_are_waited_for() -> Result<()> {
        let kept = Hasty::default();
        let user = ptr::from_ref(&kept).cast_mut().cast();
        let pool = Pool { user, width: 3, run: Some(hasty) };
        // SAFETY: the pool lives; it is wrong on purpose.
        let foreign = unsafe { Foreign::new(&raw const pool)? };
        let ended = AtomicUsize::new(0);
        foreign.run(3, &|_| {
            kept.begun.fetch_add(1, Ordering::Release);
            while !kept.returns.load(Ordering::Acquire) {
                thread::yield_now();
            }
            (0..1000).for_each(|_| thread::yield_now());
            ended.fetch_add(1, Ordering::Release);
        });
        assert_eq!(ended.load(Ordering::Acquire), 3);
        lock(&kept.threads).drain(..).for_each(|thread| assert!(thread.join().is_ok()));
        Ok(())
    }
}
