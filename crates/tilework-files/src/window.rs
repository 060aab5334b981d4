//! A large destination as windows, written one after the other.
//!
//! In memory a relayout is fastest in the order of the source. In a file that is larger than what the system likes to keep
//! unwritten, that order is ruinous: each page gets a little, is written to the disk, and gets a little more. So the
//! dimension that is the most major in the destination is cut, and each part is a relayout of its own, which stays within
//! a window of the file.

use tilework::arithmetic::lcm;
use tilework::{Layout, PartKind, PlanOptions, Result};
use tilework_copy::Relayout;

/// Relayouts that together are the one without its fills, each within about `bytes` bytes of the destination, in the order
/// of the destination. Cuts go along tiles, so no part is harder to plan than the whole.
pub(crate) fn windows(relayout: &Relayout, bytes: u64) -> Result<Vec<Relayout>> {
    let plan = relayout.plan();
    let mut found = Vec::new();
    cut(plan.from(), plan.to(), 0, plan.to().bytes(), bytes, &mut |from, to| {
        found.push(part(relayout, from, to)?);
        Ok(())
    })?;
    Ok(found)
}

/// Calls `visit` with relayouts that together are the one without its fills, each within about `bytes` bytes of the destination
/// and as many of the source. A large transposition reads all of the source for each window of the destination, so the windows
/// are cut once more, along the source.
pub(crate) fn pieces(
    relayout: &Relayout,
    bytes: u64,
    visit: &mut dyn FnMut(&Relayout) -> Result<()>,
) -> Result<()> {
    let plan = relayout.plan();
    parts(plan.from(), plan.to(), bytes, &mut |from, to| visit(&part(relayout, from, to)?))
}

/// Calls `visit` with parts of two layouts of one array, each within about as many bytes of both, in the order of the second.
/// Whoever moves an array that is larger than memory moves it so.
///
/// # Errors
/// What `visit` returns.
pub fn parts(
    a: &Layout,
    b: &Layout,
    bytes: u64,
    visit: &mut dyn FnMut(&Layout, &Layout) -> Result<()>,
) -> Result<()> {
    cut(a, b, 0, b.bytes(), bytes, &mut |a, b| {
        let read = span(a)?.saturating_mul(a.bits().into()) / 8;
        // The same cuts with the sides changed.
        cut(b, a, 0, read, bytes, &mut |b, a| visit(a, b))
    })
}

/// The relayout of a part of both arrays, without fills.
fn part(relayout: &Relayout, from: &Layout, to: &Layout) -> Result<Relayout> {
    let options = PlanOptions { fill: None, ..relayout.plan().options().clone() };
    match relayout.conversion() {
        Some(conversion) => Relayout::converting(from, to, conversion, &options),
        None => Relayout::new(from, to, &options),
    }
}

/// How many places lie between the first and the last of an array, about: each dimension for itself.
fn span(layout: &Layout) -> Result<u64> {
    if layout.is_empty() {
        return Ok(0);
    }
    let mut index = vec![0; layout.rank()];
    let first = layout.offset(&index)?;
    let mut span = 1_u64;
    for dim in 0..layout.rank() {
        index[dim] = layout.dims()[dim] - 1;
        span = span.saturating_add(layout.offset(&index)?.abs_diff(first));
        index[dim] = 0;
    }
    Ok(span)
}

/// Calls `visit` with parts of two layouts, cutting the dimensions of `to` from the axis of this number on. The part takes
/// `bytes` now, and is to take no more than `limit`.
fn cut(
    from: &Layout,
    to: &Layout,
    axis: usize,
    bytes: u64,
    limit: u64,
    visit: &mut dyn FnMut(&Layout, &Layout) -> Result<()>,
) -> Result<()> {
    let axes = to.axes();
    let Some(next) = axes.get(axis).filter(|_| bytes > limit) else { return visit(from, to) };
    let dim = dimension(to, next.part);
    let align = dim.and_then(|dim| Some(lcm(alignment(from, dim)?, alignment(to, dim)?)));
    let (Some(dim), Some(align)) = (dim, align) else { return cut(from, to, axis + 1, bytes, limit, visit) };
    let size = to.dims()[dim];
    let each = bytes.div_ceil(size.max(1)).max(1);
    let step = (limit / each / align).max(1).saturating_mul(align);
    if step >= size {
        return cut(from, to, axis + 1, bytes, limit, visit);
    }
    let mut parts: Vec<u64> = (0..size.div_ceil(step)).map(|part| part * step).collect();
    if next.stride < 0 {
        parts.reverse();
    }
    for start in parts {
        let range = start..size.min(start + step);
        let part = (range.end - range.start) * each;
        let (from, to) = (from.slice(dim, range.clone(), 1)?, to.slice(dim, range, 1)?);
        cut(&from, &to, axis + 1, part, limit, visit)?;
    }
    Ok(())
}

/// The dimension that a part of the index is made of, if it is one.
fn dimension(layout: &Layout, part: usize) -> Option<usize> {
    let parts = layout.index_parts();
    let mut at = part;
    loop {
        at = match parts.get(at)?.kind {
            PartKind::Dim(dim) => return Some(dim),
            PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => of,
            PartKind::Unit | PartKind::Combined { .. } => return None,
        };
    }
}

/// What the cuts of a dimension must be multiples of, so that none goes through a tile; none if it is combined with another.
fn alignment(layout: &Layout, dim: usize) -> Option<u64> {
    let parts = layout.index_parts();
    // For each part, how much of the dimension one step along it is; 0 for parts of other dimensions.
    let mut units: Vec<u64> = Vec::with_capacity(parts.len());
    let mut align = 1;
    for part in parts {
        let unit = match part.kind {
            PartKind::Dim(found) => u64::from(found == dim),
            PartKind::Unit => 0,
            PartKind::Moved { of, .. } => units[of],
            PartKind::Within { of, by, .. } | PartKind::Tiles { of, by, .. } => {
                let whole = units[of].checked_mul(by)?;
                if whole > 0 {
                    align = lcm(align, whole);
                }
                if matches!(part.kind, PartKind::Tiles { .. }) { whole } else { units[of] }
            }
            PartKind::Combined { major, minor, .. } if units[major] > 0 || units[minor] > 0 => return None,
            PartKind::Combined { .. } => 0,
        };
        units.push(unit);
    }
    Some(align)
}

#[cfg(test)]
mod tests {
    use tilework::Element;
    use tilework::xla::Shape;
    use tilework_copy::Conversion;

    use super::*;

    fn layout(text: &str) -> Layout {
        let shape = Shape::parse(text).expect(text);
        shape.as_array().expect("an array").lower().expect(text)
    }

    #[test]
    fn windows_together_are_the_whole_and_each_is_small() -> Result<()> {
        for (from, to) in [
            ("u8[64,48]", "u8[64,48]{0,1}"),
            ("u8[64,48]{0,1}", "u8[64,48]{1,0:T(8,4)}"),
            ("u8[64,48]{1,0:T(8,4)(2,1)}", "u8[64,48]{0,1:T(6,5)}"),
            ("u8[2,3,4,50]", "u8[2,3,4,50]{1,2,3,0}"),
            ("u8[61,47]{1,0:T(3,5)}", "u8[61,47]{strides(-1,64)}"),
            ("u8[16,16,16]", "u8[16,16,16]{2,1,0:T(*,8)}"),
            ("u8[16,16,16]{2,1,0:T(4,*,8)}", "u8[16,16,16]{0,1,2}"),
            ("u8[3000]", "u8[3000]{0:T(128)}"),
            ("s4[64,48]{1,0:E(4)}", "s4[64,48]{0,1:E(4)}"),
        ] {
            let (from, to) = (layout(from), layout(to));
            let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
            let source: Vec<u8> = (0..from.bytes()).map(|at| (at * 31 % 251) as u8 + 1).collect();
            let mut whole = vec![0; to.bytes() as usize];
            relayout.run(&source, &mut whole)?;
            for limit in [1, 100, 500, 1 << 20] {
                let mut parts = vec![0; whole.len()];
                let windows = windows(&relayout, limit)?;
                windows.iter().try_for_each(|window| window.run(&source, &mut parts))?;
                assert!(parts == whole, "{to:?} in {} windows", windows.len());
                assert!(limit > 500 || windows.len() > 1 || to.rank() == 3, "{to:?}: one window");
                assert!(limit < 1 << 20 || windows.len() == 1);
                parts.fill(0);
                let mut count = 0;
                pieces(&relayout, limit, &mut |piece| {
                    count += 1;
                    let read = span(piece.plan().from())?;
                    assert!(limit != 500 || from.rank() != 2 || read <= 4 * limit, "{from:?}: {read} places");
                    piece.run(&source, &mut parts)
                })?;
                assert!(parts == whole && count >= windows.len(), "{to:?} in {count} pieces");
            }
        }
        Ok(())
    }

    #[test]
    fn windows_convert_as_the_whole_does() -> Result<()> {
        for (from, to, kinds) in [
            ("f32[64,48]{0,1}", "bf16[64,48]{1,0:T(8,4)(2,1)}", (Element::F32, Element::Bf16)),
            ("s8[64,48]", "s4[64,48]{0,1:E(4)}", (Element::S8, Element::S4)),
            ("f16[61,47]{1,0:T(3,5)}", "f32[61,47]{strides(-1,64)}", (Element::F16, Element::F32)),
        ] {
            let (from, to) = (layout(from), layout(to));
            let conversion = Conversion::new(kinds.0, kinds.1).expect("a conversion");
            let relayout = Relayout::converting(&from, &to, conversion, &PlanOptions::default())?;
            let source: Vec<u8> = (0..from.bytes()).map(|at| (at * 31 % 251) as u8 + 1).collect();
            let (mut whole, mut parts) = (vec![0; to.bytes() as usize], vec![0; to.bytes() as usize]);
            relayout.run(&source, &mut whole)?;
            let windows = windows(&relayout, 700)?;
            windows.iter().try_for_each(|window| window.run(&source, &mut parts))?;
            assert!(windows.len() > 1 && parts == whole, "{to:?} in {} windows", windows.len());
        }
        Ok(())
    }

    #[test]
    fn windows_come_in_the_order_of_the_destination() -> Result<()> {
        let (from, to) = (layout("u8[64,48]"), layout("u8[64,48]{0,1:T(8,4)}"));
        let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
        let mut end = 0;
        for window in windows(&relayout, 700)? {
            let mut places = Vec::new();
            window.plan().to().for_each_in_index_order(|_, place| places.push(place));
            let (first, last) = (places.iter().min().copied(), places.iter().max().copied());
            assert!(first >= Some(end) && last < Some(end + 700), "{first:?} to {last:?} after {end}");
            end = last.unwrap_or(end) + 1;
        }
        assert_eq!(end, to.size());
        Ok(())
    }
}
