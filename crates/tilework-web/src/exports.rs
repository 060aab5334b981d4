//! The door between a page and this library: one text and some bytes in, one text out.
//!
//! The page asks for room, writes the request and the bytes of a file into it, asks, and reads the answer. Three functions
//! with numbers need no generated code on the other side. What the page writes is read here as ordinary bytes: they are
//! a vector's own, and nothing else runs while the page writes.

use std::cell::RefCell;

use crate::Session;

/// What is handed over.
#[derive(Default)]
struct Door {
    session: Session,
    given: Vec<u8>,
    answer: String,
}

thread_local! {
    static DOOR: RefCell<Door> = RefCell::default();
}

/// Room for as many bytes; the page writes into it what it asks.
#[unsafe(no_mangle)]
extern "C" fn tilework_room(bytes: usize) -> *mut u8 {
    DOOR.with_borrow_mut(|door| {
        door.given.clear();
        door.given.resize(bytes, 0);
        door.given.as_mut_ptr()
    })
}

/// Answers the request that is in the room: JSON in its first bytes, and then those of a file. Returns how long the answer is.
#[unsafe(no_mangle)]
extern "C" fn tilework_ask(request_bytes: usize) -> usize {
    DOOR.with_borrow_mut(|door| {
        let Door { session, given, answer } = door;
        let (request, bytes) = given.split_at(request_bytes.min(given.len()));
        *answer = session.answer(&String::from_utf8_lossy(request), bytes);
        // A file was large once; the next request is small.
        given.clear();
        given.shrink_to(1 << 20);
        answer.len()
    })
}

/// Where the answer is, until the next request.
#[unsafe(no_mangle)]
extern "C" fn tilework_answer() -> *const u8 {
    DOOR.with_borrow(|door| door.answer.as_ptr())
}
