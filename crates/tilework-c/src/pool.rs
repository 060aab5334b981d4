//! The threads of a runtime, through a function pointer.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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
    failure: Failure,
}

// SAFETY: the pointer is only handed to `run`, by the thread that runs the relayout; nothing else of it is used by others.
unsafe impl Sync for Foreign {}

/// The first thing that went wrong.
#[derive(Default)]
struct Failure(Mutex<Option<String>>);

impl Failure {
    fn report(&self, what: impl FnOnce() -> String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(what);
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
        Ok(Foreign { user: pool.user, width: pool.width, run, failure: Failure::default() })
    }

    /// What went wrong on the way.
    pub(crate) fn outcome(self) -> Result<()> {
        match self.failure.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(what) => Err(Message(what)),
        }
    }
}

/// Tasks that are being run.
struct Batch<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    taken: Box<[AtomicBool]>,
    done: AtomicUsize,
    failure: &'a Failure,
}

impl Batch<'_> {
    /// Runs one task, unless it was run before: two threads that wrote the same bytes would race.
    fn run(&self, number: usize) {
        let fresh = self.taken.get(number).is_some_and(|taken| !taken.swap(true, Ordering::Relaxed));
        if !fresh {
            return self
                .failure
                .report(|| wrong(format!("task {number}, which does not exist or ran before")));
        }
        // The data that a panic leaves half-written is the destination, which nobody reads after an error.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.task)(number))) {
            self.failure.report(|| border::panicked(payload));
        }
        self.done.fetch_add(1, Ordering::Release);
    }
}

impl tilework_copy::Pool for Foreign {
    fn width(&self) -> usize {
        self.width
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let taken = (0..tasks).map(|_| AtomicBool::new(false)).collect();
        let batch = Batch { task, taken, done: AtomicUsize::new(0), failure: &self.failure };
        let context = std::ptr::from_ref(&batch).cast_mut().cast();
        // SAFETY: the function is C's and does what `Pool` says; the batch lives until it returns.
        unsafe { (self.run)(self.user, tasks, run_task, context) };
        let done = batch.done.load(Ordering::Acquire);
        if done < tasks {
            self.failure.report(|| wrong(format!("{done} of {tasks} tasks")));
        }
    }
}

fn wrong(found: String) -> String {
    let error = tilework::Error::new(found)
        .field("run")
        .rule("a pool calls the task once with each number, and returns when all calls have");
    Message::from(error).0
}

/// What C's threads call.
///
/// # Safety
/// `context` points to a batch that lives.
unsafe extern "C" fn run_task(context: *mut c_void, number: usize) {
    // SAFETY: the pool hands on the context that it got, while the batch lives.
    let batch = unsafe { &*context.cast_const().cast::<Batch<'_>>() };
    batch.run(number);
}
