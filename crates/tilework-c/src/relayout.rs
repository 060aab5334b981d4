//! Relayouts: planned once, run as often as there is data.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use tilework_copy::Threads;

use crate::border::{self, Result, guarded};
use crate::error::{Error, Message};
use crate::layout::Layout;
use crate::options;
use crate::pool::{Foreign, Pool};

/// A move from one layout to another, made ready to run. It never changes, so any number of threads may run it at once.
pub struct Relayout {
    relayout: tilework_copy::Relayout,
    description: OnceLock<CString>,
}

/// Handles are used by any thread.
const fn can_be_shared<T: Send + Sync>() {}
const _: () = can_be_shared::<Layout>();
const _: () = can_be_shared::<Relayout>();
const _: () = can_be_shared::<Error>();

/// Plans the move of every element from its place in `from` to its place in `to`. Both layouts have the same dimensions.
///
/// `options` are words with blanks between them, or null for none:
///
/// * `fill=` says what padding of the destination is filled with, as a value of its element type (`zero`, `one`, `lowest`,
///   `highest`, a number such as `-1.5`, `nan`) or as the bits of an element (`0x7fc0`); `fill=none` leaves padding as it is.
///   Without this word, padding is filled only if the text of `to` names a value itself, as `f32[2,3]{0,1:pad(3,5)=zero}`
///   does.
/// * `convert` turns elements into those of the destination's type, such as f32 into bf16, rounded to nearest. Without it,
///   both have elements of the same number of bits, which are moved as they are.
///
/// The new relayout is written to `*relayout` and belongs to the caller, who frees it with tilework_relayout_free; after an
/// error `*relayout` is null. The layouts are not needed afterwards.
///
/// # Safety
/// `from` and `to` are null or layouts that are not freed. `options` is null or ends with a byte of 0. `relayout` is null or
/// may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_relayout_new(
    from: *const Layout,
    to: *const Layout,
    options: *const c_char,
    relayout: *mut *mut Relayout,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (from, to, words) = unsafe {
            border::put("relayout", relayout, ptr::null_mut())?;
            let words = if options.is_null() { "" } else { border::text("options", options)? };
            (border::object("from", from)?, border::object("to", to)?, words)
        };
        let options = options::read(words, from, to).map_err(|error| Message::about(&error, words))?;
        let (source, destination) = (&from.layout, &to.layout);
        let planned = match options.conversion {
            Some(how) => tilework_copy::Relayout::converting(source, destination, how, &options.plan)?,
            None => tilework_copy::Relayout::new(source, destination, &options.plan).map_err(unconverted)?,
        };
        let planned = Box::new(Relayout { relayout: planned, description: OnceLock::new() });
        // SAFETY: the caller's promise.
        unsafe { border::put("relayout", relayout, Box::into_raw(planned)) }
    })
}

/// The error with the word that would make one of elements of another width right.
fn unconverted(error: tilework::Error) -> tilework::Error {
    match (error.field_name(), error.accepted()) {
        (Some("element bits"), Some(accepted)) => {
            let accepts = format!("the option convert, or {accepted}");
            error.accepts(accepts)
        }
        _ => error,
    }
}

/// Frees a relayout. A null pointer is fine.
///
/// # Safety
/// `relayout` is null, or came from tilework_relayout_new and was not freed since. Nobody uses it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_relayout_free(relayout: *mut Relayout) {
    // SAFETY: the caller's promise; the pointer came from `Box::into_raw`.
    unsafe { border::free(relayout) }
}

/// Tells what a relayout does, as a text for people: how much it moves and fills, and in which loops.
///
/// The text belongs to the relayout and lives as long as that does.
///
/// # Safety
/// `relayout` is null or a relayout that is not freed. `text` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_relayout_describe(
    relayout: *const Relayout,
    text: *mut *const c_char,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        let relayout = unsafe { border::object("relayout", relayout)? };
        let describe = || border::c_string(&relayout.relayout.plan().to_string());
        let description = relayout.description.get_or_init(describe);
        // SAFETY: the caller's promise.
        unsafe { border::put("text", text, description.as_ptr()) }
    })
}

/// Moves the data, on threads that are started for this and end with it: at most `threads` of them, the calling one counted;
/// 1 is the calling thread alone, 0 stands for as many as there are processors for this process.
///
/// A buffer that is shorter than its layout and buffers that overlap are errors, and nothing is written then. The buffers
/// need no alignment.
///
/// # Safety
/// `relayout` is null or a relayout that is not freed. `from_bytes` bytes can be read at `from`, and `to_bytes` bytes
/// can be written at `to`; until the function returns nobody else writes the one or touches the other.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_relayout_run(
    relayout: *const Relayout,
    from: *const c_void,
    from_bytes: usize,
    to: *mut c_void,
    to_bytes: usize,
    threads: usize,
) -> *mut Error {
    guarded(|| {
        let threads = if threads == 0 { Threads::all() } else { Threads::new(threads) };
        // SAFETY: the caller's promise.
        unsafe { run(relayout, &threads, (from.cast(), from_bytes), (to.cast(), to_bytes)) }
    })
}

/// Moves the data as tilework_relayout_run does, on the threads of a pool.
///
/// If the pool does not run its tasks as it should, that is an error, and the destination is then written in part.
///
/// # Safety
/// As for tilework_relayout_run, and `pool` is null or a pool that does what tilework_pool says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_relayout_run_on(
    relayout: *const Relayout,
    pool: *const Pool,
    from: *const c_void,
    from_bytes: usize,
    to: *mut c_void,
    to_bytes: usize,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let pool = Foreign::new(pool)?;
            run(relayout, &pool, (from.cast(), from_bytes), (to.cast(), to_bytes))?;
            pool.outcome()
        }
    })
}

/// # Safety
/// As for [`tilework_relayout_run`].
unsafe fn run(
    relayout: *const Relayout,
    pool: &dyn tilework_copy::Pool,
    (from, from_bytes): (*const u8, usize),
    (to, to_bytes): (*mut u8, usize),
) -> Result<()> {
    // SAFETY: the caller's promise.
    let relayout = unsafe { border::object("relayout", relayout)? };
    border::check_memory("source", from, from_bytes)?;
    border::check_memory("destination", to, to_bytes)?;
    // Rust wants a pointer that is not null even to nothing.
    let from = if from.is_null() { NonNull::<u8>::dangling().as_ptr().cast_const() } else { from };
    let to = if to.is_null() { NonNull::dangling().as_ptr() } else { to };
    // SAFETY: the caller's promise.
    unsafe { relayout.relayout.run_raw(pool, (from, from_bytes), (to, to_bytes))? };
    Ok(())
}
