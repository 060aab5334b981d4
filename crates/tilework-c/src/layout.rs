//! Layouts: read from a text, asked about, freed.

use std::ffi::{CString, c_char};
use std::ptr;

use tilework::Element;
use tilework::dialect;

use crate::border::{self, Result, guarded};
use crate::error::{Error, Message};

/// How an array lies in memory. It never changes, so any number of threads may use it at once.
pub struct Layout {
    pub(crate) layout: tilework::Layout,
    /// The type of the elements.
    pub(crate) element: Element,
    /// The padding value that the text names itself, as the bits of an element.
    pub(crate) fill: Option<u128>,
    text: CString,
}

impl Layout {
    /// Reads one array in any notation.
    pub(crate) fn parse(text: &str) -> tilework::Result<Layout> {
        let said = dialect::read_one(text)?;
        let layout = said.layout().map_err(|error| error.or_at(0..text.len()))?;
        let element = said.element().ok_or_else(|| tilework::Error::new("elements without a type"))?;
        Ok(Layout { layout, element, fill: said.fill(), text: border::c_string(&said.to_string()) })
    }
}

/// Reads a layout in any notation that Tilework knows: a shape as XLA writes it, such as
/// `bf16[64,300]{1,0:T(8,128)(2,1)}`, with Tilework's own words for what XLA cannot say (`pad`, `strides`, `base`,
/// `size`), a tensor as DirectML describes it, such as `FLOAT32 [2,3] strides [5,1]`, and the others that
/// `tilework show --help` lists.
///
/// The new layout is written to `*layout` and belongs to the caller, who frees it with tilework_layout_free; after an
/// error `*layout` is null. The text is not needed afterwards.
///
/// # Safety
/// `text` is null or ends with a byte of 0. `layout` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_parse(text: *const c_char, layout: *mut *mut Layout) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        let text = unsafe {
            border::put("layout", layout, ptr::null_mut())?;
            border::text("text", text)?
        };
        let parsed = Layout::parse(text).map_err(|error| Message::about(&error, text))?;
        // SAFETY: the caller's promise.
        unsafe { border::put("layout", layout, Box::into_raw(Box::new(parsed))) }
    })
}

/// Frees a layout. A null pointer is fine. Relayouts that were made from the layout do not need it.
///
/// # Safety
/// `layout` is null, or came from tilework_layout_parse and was not freed since. Nobody uses it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_free(layout: *mut Layout) {
    // SAFETY: the caller's promise; the pointer came from `Box::into_raw`.
    unsafe { border::free(layout) }
}

/// Tells the text of a layout in its one canonical form, which tilework_layout_parse reads back.
///
/// The text belongs to the layout and lives as long as that does.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `text` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_text(layout: *const Layout, text: *mut *const c_char) -> *mut Error {
    // SAFETY: the caller's promise.
    unsafe { answer(layout, "text", text, |layout| layout.text.as_ptr()) }
}

/// Says the sizes of the dimensions: `*rank` is how many there are, and `*dims` points to as many numbers.
///
/// The numbers belong to the layout and live as long as that does. Whoever wants the rank alone passes null for `dims`.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `dims` and `rank` are null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_dims(
    layout: *const Layout,
    dims: *mut *const u64,
    rank: *mut usize,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let layout = &border::object("layout", layout)?.layout;
            border::put("rank", rank, layout.rank())?;
            if dims.is_null() { Ok(()) } else { border::put("dims", dims, layout.dims().as_ptr()) }
        }
    })
}

/// Tells how many bits an element has.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `bits` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_element_bits(layout: *const Layout, bits: *mut u32) -> *mut Error {
    // SAFETY: the caller's promise.
    unsafe { answer(layout, "bits", bits, |layout| layout.layout.bits()) }
}

/// Tells how many elements the array has, padding not counted.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `elements` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_elements(layout: *const Layout, elements: *mut u64) -> *mut Error {
    // SAFETY: the caller's promise.
    unsafe { answer(layout, "elements", elements, |layout| layout.layout.len()) }
}

/// Tells how many places are allocated, in elements: those of the array and the padding.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `size` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_size(layout: *const Layout, size: *mut u64) -> *mut Error {
    // SAFETY: the caller's promise.
    unsafe { answer(layout, "size", size, |layout| layout.layout.size()) }
}

/// Tells how many bytes a buffer needs to hold all places, padding included.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `bytes` is null or may be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_bytes(layout: *const Layout, bytes: *mut u64) -> *mut Error {
    // SAFETY: the caller's promise.
    unsafe { answer(layout, "bytes", bytes, |layout| layout.layout.bytes()) }
}

/// Tells the place of an element, counted in elements from the start of the buffer. The index has `rank` numbers.
///
/// # Safety
/// `layout` is null or a layout that is not freed. `index` is null or points to `rank` numbers. `offset` is null or may
/// be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilework_layout_offset(
    layout: *const Layout,
    index: *const u64,
    rank: usize,
    offset: *mut u64,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let layout = border::object("layout", layout)?;
            let index = border::numbers("index", index, rank)?;
            border::put("offset", offset, layout.layout.offset(index)?)
        }
    })
}

/// One number or text of a layout.
///
/// # Safety
/// `layout` is null or a layout that is not freed; `out` is null or may be written.
unsafe fn answer<T>(
    layout: *const Layout,
    name: &str,
    out: *mut T,
    ask: impl FnOnce(&Layout) -> T,
) -> *mut Error {
    guarded(|| {
        // SAFETY: the caller's promise.
        let layout: Result<&Layout> = unsafe { border::object("layout", layout) };
        // SAFETY: the caller's promise.
        unsafe { border::put(name, out, ask(layout?)) }
    })
}
