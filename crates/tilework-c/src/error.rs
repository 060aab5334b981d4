//! What went wrong, as an object of its own.

use std::ffi::{CString, c_char};
use std::ptr;

use crate::border;

/// What went wrong. It belongs to whoever received it, who frees it with tilework_error_free.
pub struct Error {
    message: CString,
}

/// What went wrong, while still within Rust: the text that C will read.
#[derive(Debug)]
pub(crate) struct Message(pub(crate) String);

impl Message {
    /// An error about a text: with a caret under the place.
    pub(crate) fn about(error: &tilework::Error, text: &str) -> Message {
        Message(error.report(text).to_string())
    }
}

impl From<tilework::Error> for Message {
    fn from(error: tilework::Error) -> Message {
        match error.span() {
            // Without the text there is nothing to draw a caret under.
            Some(_) => Message(error.to_string()),
            None => Message::about(&error, ""),
        }
    }
}

impl Error {
    pub(crate) fn boxed(Message(message): Message) -> *mut Error {
        Box::into_raw(Box::new(Error { message: border::c_string(&message) }))
    }
}

/// Says what went wrong: where, what was found, which rule that breaks and what would be accepted, over several lines of
/// UTF-8 without a newline at the end. Errors about a text show it, with a caret under the place.
///
/// The text belongs to the error and lives as long as that does. A null pointer, which is success, gives an empty text.
///
/// # Safety
/// `error` is null, or was returned by a function of this library and not freed since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_error_message(error: *const Error) -> *const c_char {
    // SAFETY: the caller's promise.
    match unsafe { error.as_ref() } {
        Some(error) => error.message.as_ptr(),
        None => c"".as_ptr(),
    }
}

/// Frees an error. A null pointer is fine.
///
/// # Safety
/// `error` is null, or was returned by a function of this library and not freed since. Nobody uses it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_error_free(error: *mut Error) {
    // SAFETY: the caller's promise; the pointer came from `Box::into_raw`.
    unsafe { border::free(error) }
}

/// Success.
pub(crate) const NONE: *mut Error = ptr::null_mut();
