//! Types of MLIR, in XLA's words.
//!
//! ```text
//! tensor<300000x8xf32>                                                             f32[300000,8]
//! tensor<2x4x!quant.uniform<i8:f32, 0.5:-1>>                                       s8[2,4]
//! tensor<2x?xf32, #stablehlo.bounds<?, 4>>                                         f32[2,<=4]
//! memref<1024x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>>   bf16[1024,256]{1,0:T(8,128)(2,1)S(1)}
//! memref<32x24xf32, strided<[1, 32]>>                                              f32[32,24]{0,1}
//! ```
//!
//! Kernels of Mosaic say `#tpu` or, today, `#xir`.
//!
//! Tensors are row-major. A `memref` whose strides skip places, or begin somewhere, is a part of another one and no memory
//! of its own; and a `vector` is in registers. Neither is read.

use std::fmt::Write;

use tilework::{Element, System};

use crate::read::bytes::{after, split};

/// The most dimensions that are looked at.
const RANK: usize = 64;

/// XLA's text of what stands behind `tensor<` or `memref<`; none if that has no size of its own.
pub(crate) fn shape(text: &[u8], is_memory: bool) -> Option<String> {
    let (mut sizes, element, rest) = sizes_and_element(text)?;
    // What follows a comma, up to the end of the type.
    let attributes = rest.strip_prefix(b",").map_or(&b""[..], |rest| &rest[..end_of_type(rest)]);
    let layout = if is_memory { layout(attributes, &sizes)? } else { String::new() };
    if !is_memory {
        bound(&mut sizes, attributes);
    }
    Some(format!("{element}[{}]{layout}", sizes.join(",")))
}

/// `300000x8xf32`, and what stands behind it.
fn sizes_and_element(text: &[u8]) -> Option<(Vec<String>, Element, &[u8])> {
    let mut sizes = Vec::new();
    let mut text = text;
    loop {
        let size = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'?').count();
        if size == 0 || text.get(size) != Some(&b'x') {
            break;
        }
        if sizes.len() >= RANK {
            return None;
        }
        sizes.push(std::str::from_utf8(&text[..size]).ok()?.to_owned());
        text = &text[size + 1..];
    }
    if let Some(inner) = text.strip_prefix(b"vector<") {
        // Of vectors in memory, the elements of each are neighbours.
        let end = memchr::memchr(b'>', inner)?;
        let (more, element, rest) = sizes_and_element(&inner[..end])?;
        sizes.extend(more);
        return (rest.is_empty() && sizes.len() <= RANK).then(|| (sizes, element, &inner[end + 1..]));
    }
    let (name, rest) = match text.strip_prefix(b"!quant.") {
        // What is stored: `uniform<i8<-127:127>:f32:0, …>`.
        Some(quantised) => {
            let (_, stored) = split(quantised, b"<")?;
            let end = stored.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
            let rest = &stored[end_of_type(stored)..];
            (&stored[..end], rest.strip_prefix(b">").unwrap_or(rest))
        }
        None => {
            let is_name = |&byte: &u8| byte.is_ascii_alphanumeric();
            let complex = text.starts_with(b"complex<").then(|| memchr::memchr(b'>', text)).flatten();
            let end = complex.map(|close| close + 1).or_else(|| text.iter().position(|byte| !is_name(byte)));
            text.split_at(end.unwrap_or(text.len()))
        }
    };
    // Here a type ends, or a vector's whole text did.
    let ends = rest.first().is_none_or(|byte| matches!(byte, b'>' | b','));
    Some((sizes, element(std::str::from_utf8(name).ok()?)?, rest)).filter(|_| ends)
}

/// The element of a name. What is stored of quantised numbers is called `i8` or, as in XLA, `u8`.
fn element(name: &str) -> Option<Element> {
    match name {
        "index" => Some(Element::S64),
        _ => Element::from_name_in(System::Mlir, name).or_else(|| Element::from_name(name)),
    }
}

/// Gives sizes that are not known the bounds that `#stablehlo.bounds<?, 4>` or `<bounds = [?, 4]>` says.
fn bound(sizes: &mut [String], attributes: &[u8]) {
    let bounds = after(attributes, b"bounds = [").or_else(|| after(attributes, b".bounds<"));
    let Some(bounds) = bounds.and_then(numbers) else { return };
    if bounds.len() == sizes.len() {
        for (size, bound) in sizes.iter_mut().zip(bounds) {
            if let (Some(bound), "?") = (bound, size.as_str()) {
                *size = format!("<={bound}");
            }
        }
    }
}

/// The layout and the memory space of a `memref`; none if it is a part of another one.
fn layout(attributes: &[u8], sizes: &[String]) -> Option<String> {
    let sizes: Vec<Option<u64>> = sizes.iter().map(|size| size.parse().ok()).collect();
    let (mut order, mut tail): (Vec<usize>, String) = ((0..sizes.len()).rev().collect(), String::new());
    if let Some(strided) = after(attributes, b"strided<") {
        let strided = &strided[..end_of_type(strided)];
        if after(strided, b"offset: ").is_some_and(|offset| !is_zero(offset)) {
            return None;
        }
        order = packed_order(&sizes, &numbers(strided.strip_prefix(b"[")?)?)?;
    } else if let Some(tiled) = after(attributes, b".tiled<") {
        let (tiles, strides) = split(tiled, b",[")?;
        if !tiles.starts_with(b"(") || !is_whole(&sizes, tiles, &numbers(strides)?)? {
            return None;
        }
        write!(tail, "T{}", std::str::from_utf8(tiles).ok()?).ok()?;
    } else if after(attributes, b"affine_map<").is_some() {
        return None;
    }
    // `vmem`, or `vmem, tc`: that of a kind of core.
    if let Some(space) = after(attributes, b".memory_space<") {
        match &space[..memchr::memchr2(b'>', b',', space)?] {
            b"vmem" => tail.push_str("S(1)"),
            b"smem" => tail.push_str("S(2)"),
            name if name.starts_with(b"semaphore") => return None,
            _ => {}
        }
    }
    let order: Vec<String> = order.iter().map(usize::to_string).collect();
    let colon = if tail.is_empty() { "" } else { ":" };
    Some(format!("{{{}{colon}{tail}}}", order.join(",")))
}

/// The dimensions from the most minor to the most major, if these strides leave no place out.
fn packed_order(sizes: &[Option<u64>], strides: &[Option<u64>]) -> Option<Vec<usize>> {
    if sizes.len() != strides.len() {
        return None;
    }
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    // The stride of a dimension of one element says nothing: among equal ones, it comes first.
    order.sort_by_key(|&dim| (strides[dim], sizes[dim] != Some(1)));
    let mut packed = 1_u64;
    for &dim in &order {
        let size = sizes[dim]?;
        if strides[dim]? != packed && size != 1 {
            return None;
        }
        packed = packed.checked_mul(size)?;
    }
    Some(order)
}

/// Whether the strides between the tiles, counted in tiles, are those of an array that is not part of a larger one.
fn is_whole(sizes: &[Option<u64>], tiles: &[u8], strides: &[Option<u64>]) -> Option<bool> {
    let first = numbers(tiles.strip_prefix(b"(")?)?;
    if strides.len() != sizes.len() || first.len() > sizes.len() {
        return Some(false);
    }
    let mut packed = Some(1_u64);
    for dim in (0..sizes.len()).rev() {
        let tile = (dim + first.len()).checked_sub(sizes.len()).map_or(Some(1), |place| first[place])?;
        let count = sizes[dim].and_then(|size| Some(size.div_ceil(Some(tile).filter(|&tile| tile > 0)?)));
        if count != Some(1)
            && let (Some(packed), Some(stride)) = (packed, strides[dim])
            && packed != stride
        {
            return Some(false);
        }
        packed = packed.zip(count).and_then(|(packed, count)| packed.checked_mul(count));
    }
    Some(true)
}

/// `?, 4]`: numbers, or none where something else stands, up to a bracket.
fn numbers(text: &[u8]) -> Option<Vec<Option<u64>>> {
    let end = text.iter().position(|byte| matches!(byte, b']' | b')' | b'>'))?;
    let text = std::str::from_utf8(&text[..end]).ok()?;
    let numbers: Vec<Option<u64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    (numbers.len() <= RANK).then_some(numbers)
}

fn is_zero(offset: &[u8]) -> bool {
    offset.starts_with(b"0") && offset.get(1).is_none_or(|byte| !byte.is_ascii_digit())
}

/// Where the type ends within which a text begins.
pub(crate) fn end_of_type(text: &[u8]) -> usize {
    let mut depth = 0_u32;
    let ends = |&byte: &u8| {
        match byte {
            b'<' | b'[' | b'(' | b'{' => depth += 1,
            b'>' | b']' | b')' | b'}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            _ => {}
        }
        false
    };
    text.iter().position(ends).unwrap_or(text.len())
}
