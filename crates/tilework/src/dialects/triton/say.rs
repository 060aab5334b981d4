//! Layouts as types: a tensor in shared memory, in the fewest words.
//!
//! ```text
//! tensor<64x64xf16, #ttg.swizzled_shared<{vec = 8, …}>>      one exchange of columns by rows, or none
//! tensor<64x64xf16, #ttg.shared_linear<{offset = […]}, …>>   any other that is linear over bits
//! tensor<64x64xf16, #ttg.padded_shared<[64:+8] {…}>>         bits with places further apart
//! ```
//!
//! Where bits of the index go tells which it would be. What is made is lowered again and compared.

use super::columns;
use super::linear::{Bases, check_sizes, unit};
use super::read::MAX_ITEMS;
use super::value::{Blocks, ElementType, Encoding, Places, Swizzled, Type};
use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;
use tilework_core::InOrder;

/// A bit of an index.
#[derive(Clone, Copy, Debug)]
struct Bit {
    dim: usize,
    step: u64,
    /// Where the element with this bit alone is.
    place: u64,
}

impl Type {
    /// The tensor in shared memory that has this layout.
    ///
    /// ```
    /// use tilework::{Element, Layout, triton::Type};
    /// let layout = Layout::strided(&[64, 32], 16, &[40, 1], None, None)?; // rows of 32, and 8 places between them
    /// let padded = "tensor<64x32xf16, #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [64, 32]}>>";
    /// assert_eq!(Type::of_layout(&layout, Element::F16)?.to_string(), padded);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Sizes that are no powers of two, elements that do not have bytes of their own, and places that are neither linear
    /// over bits nor those with padding after intervals.
    pub fn of_layout(layout: &Layout, element: Element) -> Result<Type> {
        let name = element
            .name_in(System::Mlir)
            .ok_or_else(|| Error::new(format!("MLIR has no element type {element}")).field("element type"))?;
        let bits = 8 * element.bytes();
        if layout.bits() != bits {
            return Err(Error::new(format!(
                "elements of {} bits, and Triton's memory gives each {element} {bits}",
                layout.bits()
            ))
            .of_kind(ErrorKind::Unsupported)
            .field("element bits")
            .accepts(format!("{bits} bits")));
        }
        if layout.rank() == 0 || layout.rank() > MAX_ITEMS {
            return Err(Error::new(counted(layout.rank() as u64, "dimension"))
                .of_kind(ErrorKind::Unsupported)
                .field("dimensions")
                .rule("a tensor with an encoding has at least one dimension")
                .accepts(format!("1 to {MAX_ITEMS}")));
        }
        check_sizes(layout.dims())?;
        let bits = bits_of(layout)?;
        if bits.iter().any(|bit| bit.place == 0) {
            return Err(no("several elements share a place"));
        }
        let mut why = None;
        for encoding in candidates(layout, &bits) {
            let element = ElementType { text: name.to_owned(), stored: element };
            let found = Type { dims: layout.dims().to_vec(), element, encoding, memory: None };
            match found.lower() {
                Ok(own) if own.same_buffer(layout).is_yes() => return Ok(found),
                Ok(own) if own.size() != layout.size() => {
                    why = Some(format!(
                        "{} places are allocated, and #ttg.{} has {}",
                        layout.size(),
                        found.encoding_name(),
                        own.size()
                    ));
                }
                Ok(_) => {}
                Err(error) => why = why.or(Some(error.found().to_owned())),
            }
        }
        Err(no(why.unwrap_or_else(|| APART.to_owned())))
    }
}

/// Why neither steps of bits nor padding say a layout.
const APART: &str =
    "a step of the index moves by another number of places from one element to the next, and not by a xor";

fn no(found: impl Into<String>) -> Error {
    Error::new(found)
        .of_kind(ErrorKind::Unsupported)
        .field("layout")
        .rule("an encoding of shared memory is linear over bits, or has padding of powers of two after intervals of powers of two")
}

/// The bits of the index, those of the last dimension first.
fn bits_of(layout: &Layout) -> Result<Vec<Bit>> {
    let mut index = vec![0; layout.rank()];
    let first = layout.offset(&index)?;
    if first > 0 {
        return Err(no(format!("the first element is at offset {first}")).accepts("0"));
    }
    let mut bits = Vec::new();
    for (dim, &size) in layout.dims().iter().enumerate().rev() {
        for step in (0..size.trailing_zeros()).map(|bit| 1_u64 << bit) {
            index[dim] = step;
            bits.push(Bit { dim, step, place: layout.offset(&index)? });
        }
        index[dim] = 0;
    }
    Ok(bits)
}

/// What could say a layout, the plainest first.
fn candidates(layout: &Layout, bits: &[Bit]) -> Vec<Encoding> {
    let all = bits.iter().fold(0, |all, bit| all | bit.place);
    let mut candidates = Vec::new();
    if all < layout.size() && layout.size().is_power_of_two() {
        candidates.extend(swizzled(layout, bits));
        candidates.extend(linear(layout, bits));
    }
    candidates.extend(padded(layout, bits));
    candidates
}

/// The highest bit of each place tells the order, and the others how columns are exchanged.
fn swizzled(layout: &Layout, bits: &[Bit]) -> Option<Encoding> {
    let rank = layout.rank();
    let mut order: Vec<usize> = Vec::with_capacity(rank);
    let mut sorted = bits.to_vec();
    sorted.order_by_key(|bit| bit.place.checked_ilog2());
    for dim in sorted.iter().map(|bit| bit.dim).chain((0..rank).rev()) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    let (mut vec, mut per_phase, mut max_phase) = (1, 1, 1);
    if let [col, row, ..] = order[..] {
        let columns = layout.dims()[col];
        let mut rows = bits.iter().filter(|bit| bit.dim == row && bit.place % columns > 0);
        if let Some(first) = rows.next() {
            vec = first.place % columns;
            per_phase = first.step;
            max_phase = rows.next_back().map_or(2, |last| 2 * last.step / per_phase);
        }
    }
    let blocks = Blocks::One;
    Some(Encoding::Swizzled { form: Swizzled::Plain, vec, per_phase, max_phase, order, blocks })
}

/// The way back from places to elements, with a basis for each bit of an offset.
fn linear(layout: &Layout, bits: &[Bit]) -> Option<Encoding> {
    let rank = layout.rank();
    let count = layout.size().trailing_zeros() as usize;
    // Bits that no place has hold what is without them.
    let used = bits.iter().fold(0, |all, bit| all | bit.place);
    let gaps = (0..count).filter(|bit| used >> bit & 1 == 0).map(|bit| 1_u64 << bit);
    let columns: Vec<u64> = bits.iter().map(|bit| bit.place).chain(gaps).collect();
    let combinations = columns::inverse(&columns, count).ok()?;
    let basis = |combination: u64| {
        let mut base = vec![0; rank];
        let own = bits.iter().enumerate().filter(|(number, _)| combination >> number & 1 == 1);
        own.for_each(|(_, bit)| base[bit.dim] |= bit.step);
        base
    };
    let offset: Bases = combinations.into_iter().map(basis).collect();
    Some(Encoding::SharedLinear { offset, block: None, alignment: 16 })
}

/// Places further apart than bits: each bit adds to twice the padding below it what its own interval has.
fn padded(layout: &Layout, bits: &[Bit]) -> Option<Encoding> {
    let mut sorted = bits.to_vec();
    sorted.order_by_key(|bit| bit.place);
    let mut pads = Vec::new();
    let mut below = 0_u64;
    for (number, bit) in sorted.iter().enumerate() {
        let interval = 1_u64 << number;
        let padding = bit.place.checked_sub(interval)?;
        let own = padding.checked_sub(below.checked_mul(2)?)?;
        if own > 0 {
            if !own.is_power_of_two() {
                return None;
            }
            pads.push((interval, own));
        }
        below = padding;
    }
    if pads.is_empty() {
        return None;
    }
    let rank = layout.rank();
    let mut order: Vec<usize> = Vec::new();
    for dim in sorted.iter().map(|bit| bit.dim).chain((0..rank).rev()) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    // In this order, are they the bits of whole dimensions?
    let whole = order.iter().flat_map(|&dim| bits.iter().filter(move |bit| bit.dim == dim));
    let is_whole = whole.zip(&sorted).all(|(a, b)| (a.dim, a.step) == (b.dim, b.step));
    let places = match is_whole {
        true => Places::Order { order, shape: layout.dims().to_vec() },
        false => Places::Bases {
            offset: sorted.iter().map(|bit| unit(rank, bit.dim, bit.step)).collect(),
            block: Bases::new(),
        },
    };
    Some(Encoding::Padded { pads, places })
}
