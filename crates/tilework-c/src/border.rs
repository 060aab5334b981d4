//! What every function of the border does: nothing that C hands over is trusted where it can be checked, and no panic leaves.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{self, Error, Message};

pub(crate) type Result<T> = std::result::Result<T, Message>;

/// Does the work of a function; whatever goes wrong, a panic too, becomes the error that C receives.
pub(crate) fn guarded(work: impl FnOnce() -> Result<()>) -> *mut Error {
    // What a panic leaves behind is either dropped with the closure or an object that is only read.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => error::NONE,
        Ok(Err(message)) => Error::boxed(message),
        Err(payload) => Error::boxed(Message(panicked(payload))),
    }
}

/// What a panic said.
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> String {
    let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(said), _) => said,
        (_, Some(said)) => said.as_str(),
        _ => "something that is no text",
    };
    let message = format!("an internal error, which is a fault of Tilework: {said}");
    // A payload of another type could panic again while it is dropped.
    std::mem::forget(payload);
    message
}

/// The text as C has it. A byte of 0, which no text of ours holds, would end it.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// An object that C handed over.
///
/// # Safety
/// The pointer is null, or points to a value that lives and is not written for as long as the reference is used.
pub(crate) unsafe fn object<'a, T>(name: &str, pointer: *const T) -> Result<&'a T> {
    check_pointer(name, pointer)?;
    // SAFETY: the pointer is not null and aligned; the rest is the caller's promise.
    Ok(unsafe { &*pointer })
}

/// Writes a result where C wants it.
///
/// # Safety
/// The pointer is null, or may be written.
pub(crate) unsafe fn put<T>(name: &str, pointer: *mut T, value: T) -> Result<()> {
    check_pointer(name, pointer)?;
    // SAFETY: the pointer is not null and aligned; the rest is the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// A text that C handed over.
///
/// # Safety
/// The pointer is null, or points to a text that ends with a byte of 0 and lives and is not written for as long as the
/// reference is used.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    check_pointer(name, pointer)?;
    // SAFETY: the pointer is not null; the rest is the caller's promise.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let error = tilework::Error::new(format!("byte 0x{:02x} is not UTF-8", bytes.get(at).unwrap_or(&0)))
            .at(at..at + 1)
            .rule("texts are written in UTF-8")
            .accepts("ASCII characters");
        Message::about(&error, &String::from_utf8_lossy(bytes))
    })
}

/// Numbers that C handed over. No numbers need no pointer.
///
/// # Safety
/// The pointer is null, or points to `count` numbers that live and are not written for as long as the reference is used.
pub(crate) unsafe fn numbers<'a>(name: &str, pointer: *const u64, count: usize) -> Result<&'a [u64]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_pointer(name, pointer)?;
    check_length(name, pointer.addr(), count.checked_mul(size_of::<u64>()))?;
    // SAFETY: the pointer is not null and aligned, and the bytes are no more than an object can have; the rest is the
    // caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Memory that data is read from or written to, as its address and length: no memory needs no pointer.
pub(crate) fn check_memory(name: &str, pointer: *const u8, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    check_pointer(name, pointer)?;
    check_length(name, pointer.addr(), Some(bytes))
}

/// An object that C gives back.
///
/// # Safety
/// The pointer is null, or came from `Box::into_raw`, and nobody uses it afterwards.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

fn check_pointer<T>(name: &str, pointer: *const T) -> Result<()> {
    if !pointer.is_null() && pointer.is_aligned() {
        return Ok(());
    }
    let found = if pointer.is_null() { "a null pointer" } else { "a pointer that is not aligned" };
    let error =
        tilework::Error::new(found).field(name).rule("it is needed and points to a value of its type");
    Err(error.into())
}

/// No object is larger than half of all addresses, nor does one reach beyond them.
fn check_length(name: &str, address: usize, bytes: Option<usize>) -> Result<()> {
    let fits =
        bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok() && address.checked_add(bytes).is_some());
    if fits {
        return Ok(());
    }
    let error = tilework::Error::new("a length that no memory has")
        .field(name)
        .rule("memory ends before the last address")
        .accepts(format!("up to {} bytes", isize::MAX));
    Err(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_what_it_said() {
        let said = |work: fn() -> Result<()>| {
            let error = guarded(work);
            // SAFETY: the error is fresh and freed once.
            unsafe {
                let said =
                    CStr::from_ptr(crate::tilework_error_message(error)).to_string_lossy().into_owned();
                crate::tilework_error_free(error);
                said
            }
        };
        assert!(said(|| panic!("number {}", 7)).ends_with("fault of Tilework: number 7"));
        assert!(said(|| std::panic::panic_any(7)).ends_with("no text"));
        assert_eq!(said(|| Err(Message("a\0b".to_owned()))), "a b");
        assert_eq!(said(|| Ok(())), "");
    }

    #[test]
    fn lengths_beyond_all_memory_are_refused() {
        let here = &0_u64 as *const u64;
        assert!(check_memory("source", here.cast(), usize::MAX).is_err());
        assert!(check_memory("source", here.cast(), 8).is_ok());
        assert!(check_memory("source", std::ptr::null(), 0).is_ok());
        assert!(check_memory("source", std::ptr::null(), 1).is_err());
        // SAFETY: the lengths and the alignment are refused before anything is read.
        unsafe {
            assert!(numbers("index", here, usize::MAX / 4).is_err());
            assert!(numbers("index", here.wrapping_byte_add(1), 1).is_err());
            assert_eq!(numbers("index", std::ptr::null(), 0).map(<[u64]>::len).ok(), Some(0));
        }
    }
}
