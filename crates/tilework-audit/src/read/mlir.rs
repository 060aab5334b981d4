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

use tilework::InOrder;
use tilework::Result;
use tilework::dialect::Dim;
use tilework::mlir::{Arrangement, Kind, Type};
use tilework::xla::{ArrayShape, Layout, Shape, Tile};

/// XLA's shape of a type; none if that is no memory with a size of its own.
///
/// # Errors
/// What is no shape, such as one with more bytes than can be counted.
pub(crate) fn shape(text: &[u8]) -> Option<Result<Shape>> {
    let found = Type::parse(std::str::from_utf8(text).ok()?).ok()?;
    let sizes: Vec<Option<u64>> = found.dims().iter().map(size).collect();
    let layout = match found.kind() {
        Kind::Memref => Some(layout(&found, &sizes)?),
        Kind::Tensor => is_dense(&found).then_some(None)?,
    };
    // Of vectors in memory, the elements of each are neighbours.
    let vector = found.element().vector().iter().map(|&size| Dim::Static(size));
    let array = ArrayShape::new(found.element().stored(), found.dims().iter().copied().chain(vector));
    let laid_out = |array: ArrayShape| match layout {
        Some(layout) => array.with_layout(layout?),
        None => Ok(array),
    };
    Some(array.and_then(laid_out).map(Shape::Array))
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
fn layout(found: &Type, sizes: &[Option<u64>]) -> Option<Result<Layout>> {
    let rank = sizes.len() + found.element().vector().len();
    let (mut order, mut cut): (Vec<usize>, &[Vec<u64>]) = ((0..rank).rev().collect(), &[]);
    match found.arrangement() {
        Arrangement::Strided { strides, offset: Some(0) } if rank == sizes.len() => {
            order = packed_order(sizes, strides)?;
        }
        Arrangement::Tiled { tiles, strides, .. } => {
            if !is_whole(sizes, tiles.first()?, strides) {
                return None;
            }
            cut = tiles;
        }
        Arrangement::Strided { .. } | Arrangement::Map(_) => return None,
        _ => {}
    }
    // `#tpu.memory_space<vmem>`, or `vmem, tc`: that of a kind of core.
    let space = found.memory_space().and_then(|space| space.split_once(".memory_space<"));
    let space = match space.map_or("", |(_, space)| space.split(['>', ',']).next().unwrap_or("")) {
        "vmem" => 1,
        "smem" => 2,
        name if name.starts_with("semaphore") => return None,
        _ => 0,
    };
    let tiles: Result<Vec<Tile>> = cut.iter().map(|tile| Tile::new(tile.iter().copied())).collect();
    let layout = Layout::new(order);
    Some(tiles.and_then(|tiles| layout?.with_tiles(tiles)?.with_memory_space(space)))
}

/// The dimensions from the most minor to the most major, if these strides leave no place out.
fn packed_order(sizes: &[Option<u64>], strides: &[Option<i64>]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    // The stride of a dimension of one element says nothing: among equal ones, it comes first.
    order.order_by_key(|&dim| (strides[dim], sizes[dim] != Some(1)));
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
