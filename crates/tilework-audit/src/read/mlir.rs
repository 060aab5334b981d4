//! Types of MLIR in loose text, in XLA's words.
//!
//! ```text
//! tensor<300000x8xf32>                                                             f32[300000,8]
//! tensor<2x?xf32, #stablehlo.bounds<?, 4>>                                         f32[2,<=4]
//! memref<1024x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>>   bf16[1024,256]{1,0:T(8,128)(2,1)S(1)}
//! memref<32x24xf32, strided<[1, 32]>>                                              f32[32,24]{0,1}
//! ```
//!
//! A `memref` whose strides skip places, or begin somewhere, is a part of another one and no memory of its own. It is not
//! counted, nor is one in an order that an affine map says.

use std::fmt::Write;

use tilework::dialect::Dim;
use tilework::mlir::{Arrangement, Kind, Type};

/// XLA's text of a type; none if that is no memory with a size of its own.
pub(crate) fn shape(text: &[u8]) -> Option<String> {
    let found = Type::parse(std::str::from_utf8(text).ok()?).ok()?;
    let sizes: Vec<Option<u64>> = found.dims().iter().map(size).collect();
    let layout = match found.kind() {
        Kind::Memref => layout(&found, &sizes)?,
        Kind::Tensor => is_dense(&found).then(String::new)?,
    };
    let dims = found.dims().iter().map(Dim::to_string);
    // Of vectors in memory, the elements of each are neighbours.
    let vector = found.element().vector().iter().map(u64::to_string);
    let sizes: Vec<String> = dims.chain(vector).collect();
    Some(format!("{}[{}]{layout}", found.element().stored(), sizes.join(",")))
}

fn size(dim: &Dim) -> Option<u64> {
    match dim {
        Dim::Static(size) => Some(*size),
        _ => None,
    }
}

/// Whether a tensor is one that becomes an array: not spread over threads, nor sparse.
fn is_dense(found: &Type) -> bool {
    const OTHERS: [&str; 5] = ["#ttg.", "#triton_gpu.", "#ttng.", "#triton_nvidia_gpu.", "#sparse_tensor."];
    match found.arrangement() {
        Arrangement::Unknown(text) => !OTHERS.iter().any(|other| text.starts_with(other)),
        _ => true,
    }
}

/// The layout and the memory space of a `memref`; none if it is a part of another one.
fn layout(found: &Type, sizes: &[Option<u64>]) -> Option<String> {
    let rank = sizes.len() + found.element().vector().len();
    let (mut order, mut tail): (Vec<usize>, String) = ((0..rank).rev().collect(), String::new());
    match found.arrangement() {
        Arrangement::Strided { strides, offset: Some(0) } if rank == sizes.len() => {
            order = packed_order(sizes, strides)?;
        }
        Arrangement::Tiled { tiles, strides, .. } => {
            if !is_whole(sizes, tiles.first()?, strides) {
                return None;
            }
            tail.push('T');
            for tile in tiles {
                let tile: Vec<String> = tile.iter().map(u64::to_string).collect();
                write!(tail, "({})", tile.join(",")).ok()?;
            }
        }
        Arrangement::Strided { .. } | Arrangement::Map(_) => return None,
        _ => {}
    }
    // `#tpu.memory_space<vmem>`, or `vmem, tc`: that of a kind of core.
    let space = found.memory_space().and_then(|space| space.split_once(".memory_space<"));
    match space.map_or("", |(_, space)| space.split(['>', ',']).next().unwrap_or("")) {
        "vmem" => tail.push_str("S(1)"),
        "smem" => tail.push_str("S(2)"),
        name if name.starts_with("semaphore") => return None,
        _ => {}
    }
    let order: Vec<String> = order.iter().map(usize::to_string).collect();
    let colon = if tail.is_empty() { "" } else { ":" };
    Some(format!("{{{}{colon}{tail}}}", order.join(",")))
}

/// The dimensions from the most minor to the most major, if these strides leave no place out.
fn packed_order(sizes: &[Option<u64>], strides: &[Option<i64>]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    // The stride of a dimension of one element says nothing: among equal ones, it comes first.
    order.sort_by_key(|&dim| (strides[dim], sizes[dim] != Some(1)));
    let mut packed = 1_i64;
    for &dim in &order {
        let size = sizes[dim]?;
        if strides[dim]? != packed && size != 1 {
            return None;
        }
        packed = packed.checked_mul(i64::try_from(size).ok()?)?;
    }
    Some(order)
}

/// Whether the strides between the tiles, counted in tiles, are those of an array that is not part of a larger one.
fn is_whole(sizes: &[Option<u64>], tile: &[u64], strides: &[Option<i64>]) -> bool {
    if tile.len() > sizes.len() {
        return false;
    }
    let mut packed = Some(1_u64);
    for dim in (0..sizes.len()).rev() {
        let tile = (dim + tile.len()).checked_sub(sizes.len()).map_or(1, |place| tile[place]);
        let count = sizes[dim].map(|size| size.div_ceil(tile));
        if count != Some(1)
            && let (Some(packed), Some(stride)) = (packed, strides[dim])
            && i64::try_from(packed) != Ok(stride)
        {
            return false;
        }
        packed = packed.zip(count).and_then(|(packed, count)| packed.checked_mul(count));
    }
    true
}

/// Where the type ends within which a text begins.
pub(crate) fn end_of_type(text: &[u8]) -> usize {
    let mut depth = 0_u32;
    let mut before = 0;
    let ends = |&byte: &u8| {
        match byte {
            b'<' | b'[' | b'(' | b'{' => depth += 1,
            b'>' if before == b'-' => {} // the arrow of a map
            b'>' | b']' | b')' | b'}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            _ => {}
        }
        before = byte;
        false
    };
    text.iter().position(ends).unwrap_or(text.len())
}
