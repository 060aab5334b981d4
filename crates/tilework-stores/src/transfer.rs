//! Moving the region that a piece of one array shares with a piece of another.
//!
//! A region of a piece is a view of its layout, and what moves it is a relayout between two views. Most regions of an array differ
//! only in where they start: where a view is one stride for each dimension, the start is taken out of the layout and into the
//! bytes, so one relayout serves all regions of one size.

use std::ops::Range;
use std::sync::Arc;

use tilework::{Element, Error, ErrorKind, Kept, Layout, PlanOptions, Result};
use tilework_copy::{Conversion, Pool, Relayout};

/// Relayouts of regions, each made once.
pub struct Transfers {
    kept: Kept<(Layout, Layout), Arc<Relayout>>,
    conversion: Option<Conversion>,
}

/// How many are kept. A grid that is cut at odds with another has 3 sizes for each dimension: few but for many dimensions.
const ROOM: usize = 256;

/// A piece: its layout, and where the region begins in it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The layout of all of the piece.
    pub layout: &'a Layout,
    /// The first element of the region, counted within the piece.
    pub start: &'a [u64],
}

impl Transfers {
    /// Moves between arrays of these elements.
    ///
    /// # Errors
    /// Elements that are not converted into each other.
    pub fn new(from: Element, to: Element) -> Result<Transfers> {
        Ok(Transfers::of(if from == to { None } else { Some(Conversion::between(from, to)?) }))
    }

    /// Moves that convert so, or not.
    pub(crate) fn of(conversion: Option<Conversion>) -> Transfers {
        Transfers { kept: Kept::new(ROOM), conversion }
    }

    /// Moves a region of this size from one piece to another.
    ///
    /// # Errors
    /// A region that is not within its pieces, and bytes that are fewer than those of the layouts.
    pub fn run(
        &self,
        pool: &dyn Pool,
        size: &[u64],
        (from, source): (Side, &[u8]),
        (to, destination): (Side, &mut [u8]),
    ) -> Result<()> {
        self.run_views(pool, (&from.view(size)?, source), (&to.view(size)?, destination))
    }

    /// The same for views of the layouts of two pieces, with the bytes of these.
    ///
    /// # Errors
    /// Bytes that are fewer than those of the layouts.
    pub fn run_views(
        &self,
        pool: &dyn Pool,
        (from, source): (&Layout, &[u8]),
        (to, destination): (&Layout, &mut [u8]),
    ) -> Result<()> {
        let ((from, read), (to, written)) = (settled(from)?, settled(to)?);
        let relayout = self.relayout(from, to)?;
        let (all, len) = (source.len(), destination.len());
        let source = source.get(read.clone()).ok_or_else(|| short("source", all, &read))?;
        let destination =
            destination.get_mut(written.clone()).ok_or_else(|| short("destination", len, &written))?;
        relayout.run_on(pool, source, destination)
    }

    /// Writes one element, given as bits as wide as those of the source, to all of a region of this size.
    ///
    /// # Errors
    /// Those of [`Transfers::run`].
    pub fn fill(
        &self,
        pool: &dyn Pool,
        size: &[u64],
        (fill, bits): (u128, u32),
        to: (Side, &mut [u8]),
    ) -> Result<()> {
        // One element that is read for every other: all strides are 0.
        let layout = Layout::strided(size, bits, &vec![0; size.len()], None, None)?;
        let from = Side { layout: &layout, start: &vec![0; size.len()] };
        self.run(pool, size, (from, &fill.to_le_bytes()), to)
    }

    fn relayout(&self, from: Layout, to: Layout) -> Result<Arc<Relayout>> {
        let key = (from, to);
        if let Some(found) = self.kept.find(&key, Arc::clone) {
            return Ok(found);
        }
        let options = PlanOptions::default();
        let made = match self.conversion {
            Some(conversion) => Relayout::converting(&key.0, &key.1, conversion, &options),
            None => Relayout::new(&key.0, &key.1, &options),
        };
        let made = Arc::new(made?);
        self.kept.keep(key, Arc::clone(&made));
        Ok(made)
    }
}

/// A view as a layout of its own places as far as strides say it, and which bytes of the piece these are.
fn settled(view: &Layout) -> Result<(Layout, Range<usize>)> {
    let all = usize::try_from(view.bytes()).map_err(|_| {
        Error::new("a piece larger than the memory of this machine counts").of_kind(ErrorKind::Limit)
    })?;
    let whole = || Ok((view.clone(), 0..all));
    let Ok(strided) = view.to_strides() else { return whole() };
    if view.is_empty() {
        return whole();
    }
    let size = view.dims();
    // None wraps around: every place is one of the layout's.
    let reach = |pick: fn(i64) -> bool| {
        let steps = strided.strides.iter().zip(size).filter(|(stride, _)| pick(**stride));
        steps.map(|(&stride, &size)| u128::from(stride.unsigned_abs()) * u128::from(size - 1)).sum::<u128>()
    };
    let (below, above) = (reach(|stride| stride < 0) as u64, reach(|stride| stride > 0) as u64);
    let bits = u128::from(view.bits());
    let first = u128::from(strided.first - below) * bits;
    if !first.is_multiple_of(8) {
        return whole(); // a region that begins within a byte
    }
    let end = (u128::from(strided.first + above + 1) * bits).div_ceil(8);
    // Of a dimension of one element the stride is never taken, and would only tell equal regions apart.
    let strides: Vec<i64> =
        strided.strides.iter().zip(size).map(|(&stride, &size)| if size == 1 { 0 } else { stride }).collect();
    let view = Layout::strided(size, view.bits(), &strides, Some(below), None)?;
    Ok((view, (first / 8) as usize..end as usize))
}

impl Side<'_> {
    /// A region of this size as a view of the piece's layout.
    ///
    /// # Errors
    /// A region that is not within the piece.
    pub fn view(&self, size: &[u64]) -> Result<Layout> {
        let (start, dims) = (self.start, self.layout.dims());
        if start.len() != dims.len() || size.len() != dims.len() {
            return Err(Error::new(format!(
                "a region of {} dimensions in a piece of {}",
                start.len(),
                dims.len()
            ))
            .of_kind(ErrorKind::Mismatch));
        }
        let mut view = self.layout.clone();
        for (dim, (&start, &size)) in start.iter().zip(size).enumerate() {
            if start > 0 || size != dims[dim] {
                view = view.slice(dim, start..start.saturating_add(size), 1)?;
            }
        }
        Ok(view)
    }
}

fn short(name: &str, found: usize, range: &Range<usize>) -> Error {
    Error::new(format!("a {name} of {found} bytes"))
        .field(name)
        .rule("the bytes of a piece are all places of its layout")
        .accepts(format!("{} bytes or more", range.end))
}

#[cfg(test)]
mod tests {
    use tilework::xla::Shape;
    use tilework_copy::Inline;

    use super::*;

    fn layout(text: &str) -> Layout {
        let shape = Shape::parse(text).expect(text);
        shape.as_array().expect("an array").lower().expect(text)
    }

    /// Each element of a region, one by one.
    fn naive(size: &[u64], from: (Side, &[u8]), to: (Side, &mut [u8])) {
        let place = |side: Side, index: &[u64]| {
            let index: Vec<u64> = index.iter().zip(side.start).map(|(at, start)| at + start).collect();
            side.layout.offset(&index).expect("within") as usize
        };
        Layout::row_major(size, 8).expect("small").for_each_in_index_order(|index, _| {
            to.1[place(to.0, index)] = from.1[place(from.0, index)];
        });
    }

    #[test]
    fn a_region_moves_as_its_elements_do() -> Result<()> {
        let forms = ["", "{0,1}", "{1,0:T(4,3)}", "{0,1:T(2,5)}", "{strides(-1,16)}", "{strides(24,-2)}"];
        let transfers = Transfers::new(Element::U8, Element::U8)?;
        for from in forms {
            for to in forms {
                let (a, b) = (layout(&format!("u8[9,10]{from}")), layout(&format!("u8[11,7]{to}")));
                let source: Vec<u8> = (0..a.bytes()).map(|at| at as u8 + 1).collect();
                for (size, start, end) in [
                    ([4, 3], [2, 3], [5, 1]),
                    ([9, 7], [0, 0], [0, 0]),
                    ([1, 1], [8, 9], [10, 6]),
                    ([4, 3], [4, 3], [6, 3]),
                    ([0, 3], [9, 3], [6, 3]),
                ] {
                    let (from, to) = (Side { layout: &a, start: &start }, Side { layout: &b, start: &end });
                    let (mut moved, mut wanted) = (vec![0; b.bytes() as usize], vec![0; b.bytes() as usize]);
                    naive(&size, (from, &source), (to, &mut wanted));
                    transfers.run(&Inline, &size, (from, &source), (to, &mut moved))?;
                    assert_eq!(moved, wanted, "{a:?} to {b:?}: {size:?} from {start:?} to {end:?}");
                    wanted.iter_mut().filter(|byte| **byte > 0).for_each(|byte| *byte = 77);
                    moved.fill(0);
                    transfers.fill(&Inline, &size, (77, 8), (to, &mut moved))?;
                    assert_eq!(moved, wanted);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn one_relayout_serves_all_regions_of_a_size() -> Result<()> {
        let (a, b) = (layout("u8[9,10]"), layout("u8[9,10]{0,1}"));
        let transfers = Transfers::new(Element::U8, Element::U8)?;
        let source: Vec<u8> = (0..90).collect();
        for start in 0..6 {
            let from = Side { layout: &a, start: &[start, start] };
            transfers.run(
                &Inline,
                &[3, 4],
                (from, &source),
                (Side { layout: &b, start: &[0, start] }, &mut [0; 90]),
            )?;
        }
        assert_eq!(transfers.kept.len(), 1);
        Ok(())
    }

    #[test]
    fn pieces_that_are_too_short_and_regions_outside_are_refused() -> Result<()> {
        let a = layout("u8[9,10]");
        let transfers = Transfers::new(Element::U8, Element::U8)?;
        let side = |start| Side { layout: &a, start };
        let run = |start, from: usize, to: usize| {
            transfers.run(&Inline, &[3, 4], (side(start), &vec![0; from]), (side(&[0, 0]), &mut vec![0; to]))
        };
        assert!(run(&[6, 6], 90, 24).is_ok());
        assert!(run(&[6, 6], 89, 24).is_err() && run(&[6, 6], 90, 23).is_err());
        assert!(run(&[7, 6], 90, 90).is_err() && run(&[u64::MAX, 0], 90, 90).is_err());
        // Also one that is as large as the piece, and would hang over.
        assert!(side(&[1, 0]).view(&[9, 4]).is_err() && side(&[0, 1]).view(&[3, 10]).is_err());
        for (start, size) in [(&[0][..], &[3, 4][..]), (&[0, 0], &[3]), (&[0], &[3])] {
            let error = side(start).view(size).expect_err("of fewer dimensions").to_string();
            assert!(error.contains("dimensions in a piece of 2"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn a_region_that_ends_within_a_byte_needs_that_byte() -> Result<()> {
        // Three bytes a row. What begins within a byte is a view of all of them.
        let layout = Layout::row_major(&[3, 6], 4)?;
        for (start, size, bytes) in
            [([1, 0], [1, 3], 3..5), ([1, 0], [1, 4], 3..5), ([1, 0], [2, 3], 3..8), ([0, 1], [1, 3], 0..9)]
        {
            let view = Side { layout: &layout, start: &start }.view(&size)?;
            assert_eq!(settled(&view)?.1, bytes, "{size:?} from {start:?}");
        }
        Ok(())
    }
}
