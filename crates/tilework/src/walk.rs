//! Walking a layout: its elements in index order, its places in memory order, and its runs.

use smallvec::SmallVec;

use crate::canon::Term;
use crate::expr::{Expr, Id};
use crate::layout::Layout;

/// A maximal stretch of places, one after the other, that all hold elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The offset of the first place.
    pub offset: u64,
    /// Number of places.
    pub len: u64,
}

impl Layout {
    /// Every element with its offset, in row-major index order: the last dimension moves fastest.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[2, 2], 32)?.minor_to_major(&[0, 1])?.build()?;
    /// let offsets: Vec<u64> = layout.elements().map(|(_, offset)| offset).collect();
    /// assert_eq!(offsets, [0, 2, 1, 3]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn elements(&self) -> impl Iterator<Item = (Index, u64)> + '_ {
        Elements::new(self)
    }

    /// Calls `visit` with every element in memory order: its index and its offset, the offset ascending.
    ///
    /// The index is carried along from place to place instead of being computed from the offset. A place shared by
    /// several elements (a broadcast) is visited once.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let mut seen = Vec::new();
    /// layout.for_each_in_memory(|index, offset| seen.push((index.to_vec(), offset)));
    /// assert_eq!(seen[4], (vec![0, 2], 4));
    /// assert_eq!(seen[9], (vec![1, 4], 10)); // 9 is padding
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn for_each_in_memory(&self, mut visit: impl FnMut(&[u64], u64)) {
        if self.is_empty() {
            return;
        }
        match Odometer::new(self) {
            Some(odometer) => odometer.run(&mut visit),
            None => self.for_each_located(&mut visit),
        }
    }

    /// The same by asking every place. For merged expressions and overlapping strides.
    fn for_each_located(&self, visit: &mut impl FnMut(&[u64], u64)) {
        let mut index = SmallVec::new();
        for offset in 0..self.size() {
            if let Ok(None) = self.locate_into(offset, &mut index) {
                visit(&index, offset);
            }
        }
    }

    /// The maximal runs of places that hold elements, in memory order.
    ///
    /// ```
    /// use tilework::{Layout, Run};
    /// let rows = Layout::strided(&[3, 3], 32, &[5, 1], None, None)?;
    /// assert_eq!(rows.runs(), [Run { offset: 0, len: 3 }, Run { offset: 5, len: 3 }, Run { offset: 10, len: 3 }]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn runs(&self) -> Vec<Run> {
        if self.places() == Some(self.size()) && self.size() > 0 {
            return vec![Run { offset: 0, len: self.size() }];
        }
        let mut runs: Vec<Run> = Vec::new();
        self.for_each_in_memory(|_, offset| match runs.last_mut() {
            Some(run) if run.offset + run.len == offset => run.len += 1,
            _ => runs.push(Run { offset, len: 1 }),
        });
        runs
    }
}

/// An index: one number for each dimension.
pub type Index = SmallVec<[u64; 6]>;

/// Steps through the indices, carrying the offset along the last dimension.
///
/// Along a row the offset moves by the stride of the last dimension, and at every multiple of a cut by what stands
/// there; only a new row is computed from its index.
struct Elements<'a> {
    layout: &'a Layout,
    next: Option<(Index, u64)>,
    stride: u64,
    cuts: SmallVec<[Countdown; 4]>,
    /// Whether the offset along a row can be carried.
    plain: bool,
}

/// `coefficient` is added after every `period` steps; `left` steps are to go.
struct Countdown {
    period: u64,
    left: u64,
    coefficient: u64,
}

impl Elements<'_> {
    fn new(layout: &Layout) -> Elements<'_> {
        let canon = layout.canon();
        let first = (!layout.is_empty()).then(|| {
            let index: Index = SmallVec::from_elem(0, layout.rank());
            let offset = canon.eval(&index);
            (index, offset)
        });
        let mut elements =
            Elements { layout, next: first, stride: 0, cuts: SmallVec::new(), plain: canon.is_plain() };
        let Some(last) = layout.rank().checked_sub(1) else { return elements };
        for &(term, coefficient) in canon.form().terms.iter().filter(|_| canon.is_plain()) {
            match term {
                Term::Dim(dim) if dim as usize == last => elements.stride = coefficient as u64,
                Term::Quotient(place) => {
                    let quotient = &canon.quotients()[place as usize];
                    if quotient.of.terms[0].0 == Term::Dim(last as u32) {
                        let (period, coefficient) = (quotient.by, coefficient as u64);
                        elements.cuts.push(Countdown { period, left: period, coefficient });
                    }
                }
                Term::Dim(_) => {}
            }
        }
        elements
    }
}

impl Iterator for Elements<'_> {
    type Item = (Index, u64);

    #[inline]
    fn next(&mut self) -> Option<(Index, u64)> {
        let (index, offset) = self.next.take()?;
        let mut after = index.clone();
        let dims = self.layout.dims();
        for dim in (0..dims.len()).rev() {
            after[dim] += 1;
            if after[dim] < dims[dim] {
                let moved = match self.plain && dim + 1 == dims.len() {
                    true => self.cuts.iter_mut().fold(offset.wrapping_add(self.stride), |offset, cut| {
                        cut.left -= 1;
                        if cut.left > 0 {
                            return offset;
                        }
                        cut.left = cut.period;
                        offset.wrapping_add(cut.coefficient)
                    }),
                    false => {
                        self.cuts.iter_mut().for_each(|cut| cut.left = cut.period);
                        self.layout.canon().eval(&after)
                    }
                };
                self.next = Some((after, moved));
                break;
            }
            after[dim] = 0;
        }
        Some((index, offset))
    }
}

/// Steps through the values of the axes, the axis with the smallest stride fastest, carrying the index along.
///
/// This works where the index is a sum over the axes: everything made by splitting alone. An expression with padding
/// is a *gauge*: its value is carried along as well, and while any gauge stands at or above its limit, the place is
/// padding.
struct Odometer {
    wheels: SmallVec<[Wheel; 10]>,
    index: Index,
    base: u64,
    gauges: SmallVec<[Gauge; 8]>,
}

struct Wheel {
    extent: u64,
    stride: u64,
    /// What one step adds to the index; none where the axis belongs to no dimension.
    dim: Option<(usize, u64)>,
    /// Gauges that it moves, and by how much.
    gauges: SmallVec<[(usize, u64); 2]>,
}

struct Gauge {
    value: u64,
    limit: u64,
}

impl Odometer {
    fn new(layout: &Layout) -> Option<Odometer> {
        let nodes = layout.nodes();
        let axes = layout.raw_axes();
        let mut above = 0_u64;
        for axis in axes.iter().rev() {
            let stride = u64::try_from(axis.stride).ok().filter(|&stride| stride > above)?;
            above += stride * (axis.extent - 1);
        }
        let mut odometer = Odometer {
            wheels: SmallVec::new(),
            index: SmallVec::from_elem(0, layout.rank()),
            base: layout.base(),
            gauges: SmallVec::new(),
        };
        // The gauge of an expression, made when first moved.
        let mut gauge_of: SmallVec<[Option<usize>; 16]> = SmallVec::from_elem(None, nodes.len());
        for axis in axes {
            let mut wheel =
                Wheel { extent: axis.extent, stride: axis.stride as u64, dim: None, gauges: SmallVec::new() };
            let (mut id, mut weight): (Id, u64) = (axis.node, 1);
            loop {
                let node = nodes[id as usize];
                let limit = match node.expr {
                    Expr::Dim(_) | Expr::Unit => node.reach,
                    _ if node.tile == 0 => node.reach,
                    _ => node.extent,
                };
                // An axis cannot pass the limit of its own extent; only sums and padded sizes can.
                if limit < axis.extent || id != axis.node {
                    let gauge = *gauge_of[id as usize].get_or_insert_with(|| {
                        odometer.gauges.push(Gauge { value: 0, limit });
                        odometer.gauges.len() - 1
                    });
                    wheel.gauges.push((gauge, weight));
                }
                match node.expr {
                    Expr::Dim(dim) => {
                        wheel.dim = Some((dim as usize, weight));
                        break;
                    }
                    Expr::Unit => break,
                    Expr::Div { of, by } => (id, weight) = (of, weight.checked_mul(by)?),
                    Expr::Mod { of, .. } => id = of,
                    Expr::Merge { .. } | Expr::Shift { .. } => return None,
                }
            }
            odometer.wheels.push(wheel);
        }
        odometer.drop_idle_gauges();
        Some(odometer)
    }

    /// A gauge that cannot reach its limit watches nothing.
    fn drop_idle_gauges(&mut self) {
        let mut most: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.gauges.len());
        for wheel in &self.wheels {
            for &(gauge, weight) in &wheel.gauges {
                most[gauge] = most[gauge].saturating_add(weight.saturating_mul(wheel.extent - 1));
            }
        }
        let gauges = &self.gauges;
        for wheel in &mut self.wheels {
            wheel.gauges.retain(|&mut (gauge, _)| most[gauge] >= gauges[gauge].limit);
        }
    }

    fn run(mut self, visit: &mut impl FnMut(&[u64], u64)) {
        let Some(mut inner) = self.wheels.pop() else { return visit(&self.index, self.base) };
        let mut counts: SmallVec<[u64; 10]> = SmallVec::from_elem(0, self.wheels.len());
        let mut offset = self.base;
        loop {
            self.run_inner(&mut inner, offset, visit);
            let mut wheel = self.wheels.len();
            loop {
                if wheel == 0 {
                    return;
                }
                wheel -= 1;
                counts[wheel] += 1;
                let moved = &self.wheels[wheel];
                if counts[wheel] < moved.extent {
                    offset += moved.stride;
                    turn(&mut self.index, &mut self.gauges, moved, 1);
                    break;
                }
                offset -= moved.stride * (moved.extent - 1);
                turn(&mut self.index, &mut self.gauges, moved, 1_u64.wrapping_sub(moved.extent));
                counts[wheel] = 0;
            }
        }
    }

    /// All values of the fastest wheel.
    #[inline]
    fn run_inner(&mut self, inner: &mut Wheel, offset: u64, visit: &mut impl FnMut(&[u64], u64)) {
        // Moving forward only raises gauges, so the elements come first and the padding after them.
        let mut steps = inner.extent;
        for (place, gauge) in self.gauges.iter().enumerate() {
            match inner.gauges.iter().find(|moved| moved.0 == place) {
                Some(&(_, weight)) => {
                    let room = gauge.limit.saturating_sub(gauge.value);
                    steps = steps.min(room.div_ceil(weight));
                }
                None if gauge.value >= gauge.limit => return,
                None => {}
            }
        }
        match inner.dim {
            Some((dim, weight)) => {
                let start = self.index[dim];
                for step in 0..steps {
                    self.index[dim] = start + step * weight;
                    visit(&self.index, offset + step * inner.stride);
                }
                self.index[dim] = start;
            }
            None => (0..steps).for_each(|step| visit(&self.index, offset + step * inner.stride)),
        }
    }
}

/// Moves the index and the gauges of a wheel by a number of steps, which may be negative modulo 2^64.
fn turn(index: &mut Index, gauges: &mut [Gauge], wheel: &Wheel, steps: u64) {
    if let Some((dim, weight)) = wheel.dim {
        index[dim] = index[dim].wrapping_add(weight.wrapping_mul(steps));
    }
    for &(gauge, weight) in &wheel.gauges {
        gauges[gauge].value = gauges[gauge].value.wrapping_add(weight.wrapping_mul(steps));
    }
}
