//! Layouts as descriptors.
//!
//! ```text
//! f32[3,5] ab                          a tag of oneDNN's enum
//! f32[3,5] AB2a2b                      a tag that the enum does not have
//! f32[3,5] ab strides 8x1              strides of the outer digits
//! f32[3,5] ab strides 8x1 padded 4x5   places behind the last row
//! f32[3,5] ab size 20                  places behind the last element
//! ```
//!
//! The plainest of these is taken that lowers to the layout.

use std::sync::{Arc, OnceLock};

use super::MAX_DIMS;
use super::array::{Array, Descriptor};
use super::names::{tags, type_name, type_names};
use super::tag::Tag;
use crate::dialect::Said;
use crate::dialect::blocked::{Blocked, rounded, ways};
use crate::dialect::named::packed_bits;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// The descriptor that has this layout.
///
/// # Errors
/// Why there is none.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    if type_name(element).is_none() {
        let names: Vec<&str> = type_names().collect();
        return Err(no(format!("elements of {element}"), "oneDNN has no such type").accepts(names.join(", ")));
    }
    if layout.bits() != packed_bits(element) {
        let rule = "oneDNN packs elements of 4 bits, and gives all others whole bytes";
        return Err(no(format!("{} bits for each {element}", layout.bits()), rule)
            .accepts(format!("{} bits", packed_bits(element))));
    }
    if layout.rank() == 0 || layout.rank() > MAX_DIMS {
        let found = counted(layout.rank() as u64, "dimension");
        return Err(no(found, "arrays of oneDNN have 1 to 12 dimensions"));
    }
    let mut best: Option<(u32, Array)> = None;
    let mut why = None;
    for way in ways(layout)? {
        for (cost, descriptor) in descriptors(&way, layout.size()) {
            if best.as_ref().is_some_and(|(least, _)| *least <= cost) {
                continue;
            }
            let array = Array::of(element, layout.dims(), descriptor);
            match array.lower() {
                Ok(own) if own.same_buffer(layout).is_yes() => best = Some((cost, array)),
                Ok(_) => {}
                Err(error) => why = why.or(Some(error)),
            }
        }
    }
    match best {
        Some((_, array)) => Ok(Arc::new(array)),
        None => Err(why.or(layout.to_digits().err()).unwrap_or_else(|| {
            no(
                "places of no blocks".to_owned(),
                "strides of outer digits and dense inner blocks say a layout",
            )
        })),
    }
}

/// What could say this, with what it costs the reader. Names of oneDNN are free. Strides alone make a descriptor in a
/// program; tags without a name do not.
fn descriptors(way: &Blocked, size: u64) -> Vec<(u32, Descriptor)> {
    let tag = named(way).unwrap_or_else(|| Tag::new(&way.order(), &way.inner));
    let blocks = 10 * way.inner.len() as u32;
    // A block that holds the whole array is what strides say too, and those do not ask why it is so large.
    let is_one_block = blocks > 0 && (0..way.dims.len()).all(|dim| way.count(dim) <= 1);
    let by_tag = match (tag.is_named(), way.inner.is_empty()) {
        (true, _) if is_one_block => 150 + blocks,
        (true, _) => blocks,
        (false, true) => 50,
        (false, false) => 200 + blocks,
    };
    let by_strides = if way.inner.is_empty() { 100 } else { 300 + blocks };
    let whole = rounded(&way.dims, &way.inner).ok();
    let padded = whole.filter(|whole| *whole != way.padded).map(|_| way.padded.clone());
    let tagged = Descriptor { padded, offset: way.offset, ..Descriptor::of_tag(tag) };
    let strided = Descriptor { strides: Some(way.strides.clone()), ..tagged.clone() };
    let more = match (&tagged.padded, way.inner.is_empty()) {
        (None, _) => 0,
        (Some(_), true) => 150,
        (Some(_), false) => 1000,
    };
    let sized = |descriptor: &Descriptor| Descriptor { size: Some(size), ..descriptor.clone() };
    let mut all = vec![
        (by_strides + more, strided.clone()),
        (by_tag + more + 2000, sized(&tagged)),
        (by_strides + more + 2000, sized(&strided)),
    ];
    // Where every dimension is cut, other systems have such words too, and mean another order of the sizes by them.
    let is_cut = |dim: usize| way.inner.iter().any(|block| block.dim == dim);
    let is_elsewhere = (0..way.dims.len()).all(is_cut) && !tagged.tag.order.is_sorted();
    if tagged.tag.is_named() || !is_elsewhere || tagged.padded.is_some() || tagged.offset > 0 {
        all.push((by_tag + more, tagged));
    }
    all
}

/// The first tag of oneDNN's enum that says this, if it is dense: dimensions of one block may stand anywhere.
fn named(way: &Blocked) -> Option<Tag> {
    let counts =
        |order: &[usize]| -> Vec<usize> { order.iter().copied().filter(|&dim| way.count(dim) > 1).collect() };
    let wanted = counts(&way.order());
    let is_it =
        |tag: &Tag| tag.rank() == way.dims.len() && tag.inner == way.inner && counts(&tag.order) == wanted;
    static TAGS: OnceLock<Vec<Tag>> = OnceLock::new();
    let tags = TAGS.get_or_init(|| tags().filter_map(|tag| Tag::read(tag).ok()).collect());
    tags.iter().find(|tag| is_it(tag)).cloned()
}
