//! Tilework's relayout engine behind three C functions, and plain copies to compare it with.
//!
//! `cargo xtask bench relayout` loads this beside its rivals, so that all of them run in one process. Work is repeated in
//! here, because a call from Python costs as much as a small relayout.

mod copy;
mod team;

use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use tilework::{Layout, PlanOptions, dialect};
use tilework_copy::{Inline, Pool, Relayout};

use team::Team;

/// Plans the move between two layouts, in any notation that Tilework reads.
///
/// Returns null, and a sentence that says why in `why`, if there is no such plan.
///
/// # Safety
/// `from` and `to` end with a zero byte, and `why` has room for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_plan(
    from: *const c_char,
    to: *const c_char,
    why: *mut c_char,
    room: usize,
) -> *mut Relayout {
    // SAFETY: both texts end with a zero byte, as this function asks of its caller.
    let (from, to) = unsafe { (CStr::from_ptr(from), CStr::from_ptr(to)) };
    let planned = catch_unwind(|| {
        let layouts = (lower(from)?, lower(to)?);
        let planned = Relayout::new(&layouts.0, &layouts.1, &PlanOptions::default());
        planned.map_err(|error| error.to_string())
    });
    match planned.unwrap_or_else(|_| Err("the planner panicked".to_owned())) {
        Ok(relayout) => Box::into_raw(Box::new(relayout)),
        Err(sentence) => {
            if room > 0 {
                let length = sentence.len().min(room - 1);
                // SAFETY: `why` has room for `room` bytes, and `length` and the zero after it are fewer.
                unsafe {
                    why.cast::<u8>().copy_from_nonoverlapping(sentence.as_ptr(), length);
                    why.add(length).write(0);
                }
            }
            std::ptr::null_mut()
        }
    }
}

/// Moves the data so many times, on so many threads. Returns 0 when it is done.
///
/// # Safety
/// `plan` came from [`tilework_plan`] and was not freed; `from` and `to` hold the places of its layouts, do not overlap,
/// and nobody else writes them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_run(
    plan: *const Relayout,
    from: *const u8,
    to: *mut u8,
    threads: usize,
    times: usize,
) -> c_int {
    // SAFETY: the caller says that the plan lives and that the buffers are as large as its layouts and apart.
    let (relayout, from, to) = unsafe {
        let relayout = &*plan;
        let from = std::slice::from_raw_parts(from, relayout.plan().from().bytes() as usize);
        let to = std::slice::from_raw_parts_mut(to, relayout.plan().to().bytes() as usize);
        (relayout, from, to)
    };
    // The buffer is only bytes, so what a panic leaves in it breaks no invariant.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let team = Team::of(threads);
        let pool: &dyn Pool = if threads > 1 { &*team } else { &Inline };
        (0..times).try_for_each(|_| relayout.run_on(pool, from, to))
    }));
    c_int::from(!matches!(done, Ok(Ok(()))))
}

/// Drops a plan.
///
/// # Safety
/// `plan` came from [`tilework_plan`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_free(plan: *mut Relayout) {
    // SAFETY: the pointer came from `Box::into_raw` and is dropped once, as this function asks of its caller.
    drop(unsafe { Box::from_raw(plan) });
}

/// Copies bytes so many times, on so many threads: the yardstick of every ratio.
///
/// With `streaming`, whole lines are written past the cache, which is the limit for arrays larger than it; without, it is
/// the system's `memcpy`.
///
/// # Safety
/// `from` and `to` hold so many bytes, do not overlap, and nobody else writes them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plain_copy(
    from: *const u8,
    to: *mut u8,
    bytes: usize,
    threads: usize,
    streaming: bool,
    times: usize,
) {
    // SAFETY: the caller says that both buffers hold so many bytes and are apart.
    let (from, to) =
        unsafe { (std::slice::from_raw_parts(from, bytes), std::slice::from_raw_parts_mut(to, bytes)) };
    for _ in 0..times {
        copy::copy(from, to, threads, streaming);
    }
}

fn lower(text: &CStr) -> Result<Layout, String> {
    let text = text.to_str().map_err(|error| error.to_string())?;
    let said = dialect::read_one(text).map_err(|error| error.report(text).to_string())?;
    said.layout().map_err(|error| error.to_string())
}
