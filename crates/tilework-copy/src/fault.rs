//! Mapped files that are cut short while they are read: zeros and a mark, instead of the end of the process.
//!
//! The system answers a read of a page that a file no longer has, or that its disk does not give, with the signal SIGBUS.
//! From the first mapping on this process has a handler for it. A fault within a mapping that is registered here puts zeros
//! in the place of all of it and marks it as missing; the instruction is then repeated and reads zeros. Whoever reads asks for
//! the mark at the end. Every other fault goes to the handler that was there before, or ends the process as without us.
//!
//! The alternative is to read files into memory, and not map them. That takes memory for the whole source, as most
//! relayouts want all of it at once, and the time of one more copy.
//!
//! # Why the handler may do what it does
//!
//! It interrupts a thread at a read of mapped memory, in the middle of our own code or of a caller's, never within the
//! allocator or under a lock of ours. Still it takes no lock, allocates nothing and calls nothing that might:
//!
//! 1. The registry is a list of places that are never freed, with atomic fields; places are added in front and used again.
//! 2. A place is read as end, start, end. An empty place has the end 0, and a new mapping stores its start before its end, so
//!    two equal ends with a start below them are a mapping that was registered meanwhile. It stays so: a mapping is
//!    unregistered before it is unmapped, and nobody reads it then.
//! 3. `mmap` over a mapping of our own replaces it in one step; two threads that do it both succeed. In Linux's C libraries
//!    it is the system call and nothing else. So are `sigaction` and `raise`, which POSIX lists as safe.
//! 4. The handler before ours is in a cell that was filled before ours was installed; to read it is one atomic load.
//! 5. `errno` is put back. The handler runs on the alternative stack if the thread has one.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// A mapping that is registered, for as long as the value lives.
#[derive(Debug)]
pub(crate) struct Watched(&'static Place);

/// Where a mapping can be registered.
#[derive(Debug)]
struct Place {
    start: AtomicUsize,
    /// 0 while there is no mapping.
    end: AtomicUsize,
    /// Whether the bytes were replaced by zeros.
    missing: AtomicBool,
    /// Whether somebody uses the place.
    taken: AtomicBool,
    next: *const Place,
}

// SAFETY: `next` is written before the place is published, and points to a place that lives forever.
unsafe impl Send for Place {}
// SAFETY: as above; all other fields are atomic.
unsafe impl Sync for Place {}

static FIRST: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

/// All places.
fn places() -> impl Iterator<Item = &'static Place> {
    let mut next: *const Place = FIRST.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: a place that is in the list is complete and never freed.
        let place = unsafe { next.as_ref() }?;
        next = place.next;
        Some(place)
    })
}

impl Watched {
    /// Registers a mapping of whole pages that begins here and is to be read only.
    ///
    /// # Safety
    /// The value is dropped before the memory is unmapped, and nothing but the mapping is in its pages.
    pub(crate) unsafe fn new(start: *const u8, len: usize) -> Watched {
        install();
        let place = places().find(|place| !place.taken.swap(true, Ordering::AcqRel)).unwrap_or_else(added);
        place.missing.store(false, Ordering::Relaxed);
        place.start.store(start.addr(), Ordering::SeqCst);
        place.end.store(start.addr() + len, Ordering::SeqCst);
        Watched(place)
    }

    /// Whether bytes of the mapping were missing, and it is all zeros now.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.missing.load(Ordering::Acquire)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.end.store(0, Ordering::SeqCst);
        self.0.taken.store(false, Ordering::Release);
    }
}

/// One more place, taken already.
fn added() -> &'static Place {
    let place = Box::leak(Box::new(Place {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        missing: AtomicBool::new(false),
        taken: AtomicBool::new(true),
        next: ptr::null(),
    }));
    let mut first = FIRST.load(Ordering::Acquire);
    loop {
        place.next = first;
        match FIRST.compare_exchange_weak(first, place, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return place,
            Err(now) => first = now,
        }
    }
}

/// What was done with the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all zeros is a valid `sigaction`, and both pointers are to one; the handler has the signature that
        // SA_SIGINFO asks for, and does only what may be done at any moment (see the head of this file).
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) != 0 {
                return;
            }
            let _ = BEFORE.set(before);
            let mut ours: libc::sigaction = std::mem::zeroed();
            let function: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
            ours.sa_sigaction = function as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut());
        }
    });
}

/// The handler.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system calls this with a complete `info`; a SIGBUS of its own (a positive code) has an address.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr().addr()) };
    if !(is_fault && put_zeros(address)) {
        // SAFETY: these are the arguments that this handler got.
        unsafe { pass_on(signal, is_fault, info, context) };
    }
}

/// Puts zeros in the place of the mapping that has this address, if it is one of ours.
fn put_zeros(address: usize) -> bool {
    let found = places().find_map(|place| {
        let end = place.end.load(Ordering::SeqCst);
        let start = place.start.load(Ordering::SeqCst);
        let is_whole = place.end.load(Ordering::SeqCst) == end;
        (is_whole && (start..end).contains(&address)).then_some((place, start, end))
    });
    let Some((place, start, end)) = found else { return false };
    place.missing.store(true, Ordering::Release);
    let (readable, fresh) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: `errno` of this thread is valid memory. The range is a mapping of our own to be read only, which somebody reads at
    // this moment and therefore nobody unmaps; it stays a mapping of the same length to be read only. Its bytes change,
    // as those of a mapped file may at any time.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let at = ptr::with_exposed_provenance_mut(start);
        let mapped = libc::mmap(at, end - start, readable, fresh | libc::MAP_FIXED, -1, 0);
        *errno = kept;
        mapped != libc::MAP_FAILED
    }
}

/// Does with a signal what would be done without us.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn pass_on(signal: c_int, is_fault: bool, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get();
    let (function, flags) =
        before.map_or((libc::SIG_DFL, 0), |before| (before.sa_sigaction, before.sa_flags));
    match function {
        libc::SIG_IGN if !is_fault => {}
        // A fault that is ignored ends the process all the same.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros is a valid `sigaction`, with SIG_DFL as its action.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, ptr::null_mut());
                // A fault is repeated when the handler returns, a signal that somebody sent is not.
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        _ if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag the function is one of three arguments, and these are a handler's.
            unsafe {
                let function: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(function);
                function(signal, info, context);
            }
        }
        _ => {
            // SAFETY: without the flag it is a function of one argument.
            unsafe {
                let function: extern "C" fn(c_int) = std::mem::transmute(function);
                function(signal);
            }
        }
    }
}
