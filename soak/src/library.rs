//! The interface for C, called as a program in C might: null and misaligned pointers, lengths that are too short or that no
//! memory has, texts that are no text, results that are dropped, and several threads at once. Only what `tilework.h` says is
//! checked is done wrong; what it says cannot be checked stays right.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{self, null, null_mut};
use std::thread;

use tilework_c::{
    Error, Layout, Relayout, tilework_error_free, tilework_error_message, tilework_layout_bytes,
    tilework_layout_dims, tilework_layout_element_bits, tilework_layout_elements, tilework_layout_free,
    tilework_layout_offset, tilework_layout_parse, tilework_layout_size, tilework_layout_text,
    tilework_relayout_describe, tilework_relayout_free, tilework_relayout_new, tilework_relayout_run,
    tilework_relayout_run_on,
};

use crate::attack::{Attack, Log, holds, same};
use crate::dice::Dice;
use crate::texts::Texts;

struct Library(Texts);

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Library(Texts::all()?)))
}

/// A layout that is freed once.
struct Held(*mut Layout);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: it came from tilework_layout_parse and is freed here alone.
        unsafe { tilework_layout_free(self.0) }
    }
}

/// A relayout that is freed once.
struct Moving(*mut Relayout);

impl Drop for Moving {
    fn drop(&mut self) {
        // SAFETY: it came from tilework_relayout_new and is freed here alone.
        unsafe { tilework_relayout_free(self.0) }
    }
}

/// By the header any number of threads may use them at once.
struct Shared<T>(*mut T);
// SAFETY: the objects never change, says the header.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// The message of an error, which is freed; nothing if there was none.
fn message(error: *mut Error) -> Option<String> {
    if error.is_null() {
        return None;
    }
    // SAFETY: the error is fresh, and freed once.
    unsafe {
        let text = CStr::from_ptr(tilework_error_message(error)).to_string_lossy().into_owned();
        tilework_error_free(error);
        Some(text)
    }
}

/// What was done wrong is refused in words, and not by a panic that was caught at the border.
fn refused(what: &str, error: *mut Error) -> Result<(), String> {
    match message(error) {
        None => Err(format!("{what} was taken")),
        Some(text) if text.contains("fault of Tilework") || text.is_empty() => {
            Err(format!("{what}: {text:?}"))
        }
        Some(_) => Ok(()),
    }
}

fn fine(what: &str, error: *mut Error) -> Result<(), String> {
    message(error).map_or(Ok(()), |text| Err(format!("{what}: {text}")))
}

fn parse(text: &str) -> Result<(Held, Option<String>), String> {
    let text = CString::new(text.replace('\0', " ")).map_err(|error| error.to_string())?;
    let mut layout = ptr::dangling_mut::<Layout>(); // what an error has to overwrite
    // SAFETY: the text ends with 0, and the pointer can be written.
    let said = message(unsafe { tilework_layout_parse(text.as_ptr(), &mut layout) });
    holds(said.is_some() == layout.is_null(), || format!("{said:?} with a layout at {layout:?}"))?;
    if let Some(said) = &said {
        holds(!said.contains("fault of Tilework"), || format!("{text:?}: {said}"))?;
    }
    Ok((Held(layout), said))
}

impl Attack for Library {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let text = if dice.once_in(2) { self.0.mutated(dice) } else { self.0.pick(dice).to_owned() };
        log.note(|| format!("{text:?}"));
        let (layout, said) = parse(&text)?;
        no_text(dice)?;
        if said.is_some() {
            log.count("refused");
            return null_layout();
        }
        log.count("answered");
        null_results(&layout)?;
        answers(dice, &layout)?;
        let other = if dice.once_in(3) { self.0.pick(dice).to_owned() } else { text };
        let (other, said) = parse(&other)?;
        if said.is_none() {
            moves(dice, &layout, &other, log)?;
        }
        Ok(())
    }

    fn short(&self) -> u64 {
        1500
    }
}

/// Texts that are none.
fn no_text(dice: &mut Dice) -> Result<(), String> {
    let mut layout = null_mut();
    let mut noise = [0; 20];
    dice.fill(&mut noise);
    noise[0] = 0xff;
    noise[19] = 0;
    // SAFETY: null, or a text that ends with 0; the result can be written or is null.
    unsafe {
        refused("no text", tilework_layout_parse(null(), &mut layout))?;
        refused("no UTF-8", tilework_layout_parse(noise.as_ptr().cast::<c_char>(), &mut layout))?;
        refused("no result", tilework_layout_parse(c"f32[2]".as_ptr(), null_mut()))?;
        tilework_layout_free(null_mut());
        tilework_relayout_free(null_mut());
        tilework_error_free(null_mut());
    }
    holds(layout.is_null(), || "an error left a layout".to_owned())
}

fn null_layout() -> Result<(), String> {
    let (mut number, mut bits) = (7, 7);
    // SAFETY: null, or places that can be written.
    unsafe {
        refused("no layout", tilework_layout_size(null(), &mut number))?;
        refused("no layout", tilework_layout_bytes(null(), &mut number))?;
        refused("no layout", tilework_layout_elements(null(), &mut number))?;
        refused("no layout", tilework_layout_element_bits(null(), &mut bits))?;
        refused("no layout", tilework_layout_offset(null(), &0, 1, &mut number))?;
        refused("no layout", tilework_layout_text(null(), &mut null()))?;
        refused("no layout", tilework_relayout_new(null(), null(), null(), &mut null_mut()))?;
        refused("no relayout", tilework_relayout_describe(null(), &mut null()))?;
        refused("no relayout", tilework_relayout_run(null(), null(), 0, null_mut(), 0, 1))?;
    }
    same("untouched", (number, bits), (7, 7))
}

fn null_results(layout: &Held) -> Result<(), String> {
    let layout = layout.0;
    let mut room = [0_u64; 2];
    let odd: *mut u64 = room.as_mut_ptr().wrapping_byte_add(1);
    // SAFETY: the layout lives; results are null or not aligned, which is checked.
    unsafe {
        for place in [null_mut(), odd] {
            refused("no size", tilework_layout_size(layout, place))?;
            refused("no bytes", tilework_layout_bytes(layout, place))?;
            refused("no elements", tilework_layout_elements(layout, place))?;
            refused("no offset", tilework_layout_offset(layout, null(), 0, place))?;
        }
        refused("no bits", tilework_layout_element_bits(layout, null_mut()))?;
        refused("no text", tilework_layout_text(layout, null_mut()))?;
        refused("no rank", tilework_layout_dims(layout, null_mut(), null_mut()))?;
        refused("an odd layout", tilework_layout_size(layout.wrapping_byte_add(1), room.as_mut_ptr()))?;
    }
    same("untouched", room, [0, 0])
}

fn answers(dice: &mut Dice, layout: &Held) -> Result<(), String> {
    let layout = layout.0;
    let (mut size, mut bytes, mut elements, mut bits) = (0, 0, 0, 0);
    let (mut dims, mut rank, mut text, mut offset) = (null(), 0, null(), 0);
    // SAFETY: the layout lives, the results can be written, and what they point to lives as long as the layout.
    let (dims, text) = unsafe {
        fine("size", tilework_layout_size(layout, &mut size))?;
        fine("bytes", tilework_layout_bytes(layout, &mut bytes))?;
        fine("elements", tilework_layout_elements(layout, &mut elements))?;
        fine("bits", tilework_layout_element_bits(layout, &mut bits))?;
        fine("dims", tilework_layout_dims(layout, &mut dims, &mut rank))?;
        fine("text", tilework_layout_text(layout, &mut text))?;
        let dims = if rank == 0 { &[] } else { std::slice::from_raw_parts(dims, rank) };
        (dims.to_vec(), CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    same("bytes", u128::from(bytes), (u128::from(size) * u128::from(bits)).div_ceil(8))?;
    let count = dims.iter().try_fold(1_u128, |all, &size| all.checked_mul(size.into()));
    same("elements", Some(u128::from(elements)), if dims.contains(&0) { Some(0) } else { count })?;
    holds(parse(&text)?.1.is_none(), || format!("{text:?} does not read back"))?;
    let index: Vec<u64> = dims.iter().map(|&size| dice.below(size)).collect();
    let short = index.len().saturating_sub(1);
    // SAFETY: the index has as many numbers as are said, or a length that no memory has, which is checked first.
    unsafe {
        if elements > 0 {
            fine("offset", tilework_layout_offset(layout, index.as_ptr(), rank, &mut offset))?;
            holds(offset < size, || format!("{index:?} of {text:?} is at {offset} of {size}"))?;
        }
        if rank > 0 {
            let mut beyond = index.clone();
            let at = dice.index(rank);
            beyond[at] = dims[at];
            refused("a wide index", tilework_layout_offset(layout, beyond.as_ptr(), rank, &mut offset))?;
            refused("a short index", tilework_layout_offset(layout, index.as_ptr(), short, &mut offset))?;
            refused("no index", tilework_layout_offset(layout, null(), rank, &mut offset))?;
        }
        let (endless, here) = (usize::MAX / dice.of(&[1, 2, 4, 8]), [0_u64; 2]);
        refused("an endless index", tilework_layout_offset(layout, here.as_ptr(), endless, &mut offset))?;
    }
    Ok(())
}

/// A relayout between the two, where there is one: buffers too short, overlapping, null, and then right ones, by several
/// threads at once.
fn moves(dice: &mut Dice, from: &Held, to: &Held, log: &mut Log) -> Result<(), String> {
    let words = dice.of(&[
        None,
        None,
        Some(c"fill=zero"),
        Some(c"convert"),
        Some(c"fill=nan convert"),
        Some(c"fill"),
        Some(c"x"),
    ]);
    let options = words.map_or(null(), CStr::as_ptr);
    let mut relayout = ptr::dangling_mut::<Relayout>();
    let mut bytes = [0; 2];
    // SAFETY: the layouts live, the options end with 0 or are null, and the results can be written.
    let said = unsafe {
        fine("bytes", tilework_layout_bytes(from.0, &mut bytes[0]))?;
        fine("bytes", tilework_layout_bytes(to.0, &mut bytes[1]))?;
        message(tilework_relayout_new(from.0, to.0, options, &mut relayout))
    };
    holds(said.is_some() == relayout.is_null(), || format!("{said:?} with a relayout at {relayout:?}"))?;
    if let Some(said) = said {
        log.count("no-relayout");
        return holds(!said.contains("fault of Tilework"), || said);
    }
    let moving = Moving(relayout);
    if bytes.iter().any(|&bytes| bytes > 1 << 20) {
        return Ok(());
    }
    log.count("moved");
    let [from_bytes, to_bytes] = bytes.map(|bytes| bytes as usize);
    let mut source = vec![0; from_bytes + 8];
    dice.fill(&mut source);
    let untouched = vec![0xa5; to_bytes + 16];
    let mut target = untouched.clone();
    let (read, write) = (source.as_ptr().cast::<c_void>(), target.as_mut_ptr().cast::<c_void>());
    let run =
        |read: *const c_void, from_bytes: usize, write: *mut c_void, to_bytes: usize, threads: usize| {
            // SAFETY: the relayout lives; the buffers hold what is said, or are wrong in a way that is checked.
            unsafe { tilework_relayout_run(relayout, read, from_bytes, write, to_bytes, threads) }
        };
    if from_bytes > 0 {
        refused("a short source", run(read, from_bytes - 1, write, to_bytes, 1))?;
        refused("no source", run(null(), from_bytes, write, to_bytes, 2))?;
        refused("an endless source", run(read, usize::MAX, write, to_bytes, 1))?;
    }
    if to_bytes > 0 {
        refused("a short destination", run(read, from_bytes, write, to_bytes - 1, 1))?;
        refused("no destination", run(read, from_bytes, null_mut(), to_bytes, 1))?;
    }
    if from_bytes > 0 && to_bytes > 0 && from_bytes <= to_bytes {
        refused("one buffer for both", run(write.cast_const(), to_bytes, write, to_bytes, 1))?;
    }
    // SAFETY: the relayout lives, and no pool is checked.
    unsafe {
        refused("no pool", tilework_relayout_run_on(relayout, null(), read, from_bytes, write, to_bytes))?;
    }
    holds(target == untouched, || "a run that was refused wrote something".to_owned())?;
    fine("a run", run(read, from_bytes, target.as_mut_ptr().cast(), to_bytes, dice.index(4)))?;
    holds(target[to_bytes..] == untouched[to_bytes..], || "written behind the destination".to_owned())?;
    let shared = Shared(moving.0);
    let one = &|| {
        let mut own = untouched.clone();
        let write = own.as_mut_ptr().cast();
        let mut text = null();
        // SAFETY: the relayout lives longer than the threads, and each has a destination of its own.
        let errors = unsafe {
            let read = source.as_ptr().cast();
            let ran = tilework_relayout_run(shared.get(), read, from_bytes, write, to_bytes, 1);
            [message(ran), message(tilework_relayout_describe(shared.get(), &mut text))]
        };
        errors == [None, None] && own == target && !text.is_null()
    };
    let alike = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        threads.into_iter().all(|thread| thread.join().unwrap_or(false))
    });
    holds(alike, || "several threads at once wrote something else".to_owned())
}
