//! Which bits of an index lie within a line, and the passes that bring them from one side's to the other's.

use smallvec::SmallVec;

use crate::kernels::net::{Bytes, Pass, SLOTS, STAGES, Slots, slot};
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn};

/// Bits of a place in the longest line.
const BITS: usize = LINE.trailing_zeros() as usize;

/// Bits of a place in a slot of lines with so many bits.
fn within(bits: usize) -> usize {
    slot(1 << bits).trailing_zeros() as usize
}

/// Stages of the first pass of two.
const FIRST: usize = STAGES - 1;

/// One bit of an index: how far it moves on either side.
#[derive(Clone, Copy, Debug)]
struct Bit {
    from: isize,
    to: isize,
    /// Within a line of both sides, but backward in the destination.
    back: bool,
}

/// Bits of a line by their place, as numbers in a list of [`Bit`].
type Places = SmallVec<[usize; BITS]>;

/// The network of a nest.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// One pass or two.
    pub(crate) passes: SmallVec<[Pass; 1]>,
    /// Where the source lines of a call begin.
    pub(crate) from: Vec<isize>,
    /// Where its destination lines go.
    pub(crate) to: Vec<isize>,
    /// The steps between them, from the line with the number 0 to those with the numbers 1, 2, 4 and so on.
    pub(crate) steps: [Vec<isize>; 2],
    /// The size of the elements, if it is a square of a line by a line.
    pub(crate) square: Option<usize>,
}

/// Why there is no network: the loop whose turns cannot be halved, if there is one, and what is too much: that many turns.
pub(super) type Odd = Option<(usize, usize)>;

/// The network of a nest, and the loops that are left around it.
///
/// # Errors
/// Loops that do not make up whole lines.
pub(super) fn network(nest: &ByteNest, width: usize) -> Result<(Network, ByteNest), Odd> {
    let mut nest = nest.clone();
    let mut bits: Vec<Bit> = Vec::with_capacity(2 * BITS);
    let mut size = 1;
    while size < nest.size as isize {
        bits.push(Bit { from: size, to: size, back: false });
        size *= 2;
    }
    let source = take(&mut nest, &mut bits, width, Side::Source)?;
    let destination = take(&mut nest, &mut bits, width, Side::Destination)?;
    nest.turns.retain(|turn| turn.extent > 1);
    let only = |these: &Places, those: &Places| -> Places {
        these.iter().copied().filter(|bit| !those.contains(bit)).collect()
    };
    let (entering, leaving) = (only(&destination, &source), only(&source, &destination));
    let offsets = |these: &Places, step: fn(&Bit) -> isize| -> Vec<isize> {
        let sum = |line: usize| {
            (0..these.len()).filter(|j| line >> j & 1 == 1).map(|j| step(&bits[these[j]])).sum()
        };
        (0..1 << these.len()).map(sum).collect()
    };
    let steps = |these: &Places, step: fn(&Bit) -> isize| these.iter().map(|&bit| step(&bits[bit])).collect();
    let network = Network {
        square: square_of([&source, &destination], [&entering, &leaving], &bits),
        steps: [steps(&entering, |bit| bit.from), steps(&leaving, |bit| bit.to)],
        from: offsets(&entering, |bit| bit.from),
        to: offsets(&leaving, |bit| bit.to),
        passes: passes(source, &destination, &entering, &leaving, &bits),
    };
    Ok((network, nest))
}

/// The size of the elements of a square: it stays in the lowest bits of lines, and all others leave in their order, and enter in it.
fn square_of(lines: [&Places; 2], [entering, leaving]: [&Places; 2], bits: &[Bit]) -> Option<usize> {
    let stays = lines[0].len() - entering.len();
    let is_square = lines[0][..stays] == lines[1][..stays]
        && lines[0][stays..] == leaving[..]
        && lines[1][stays..] == entering[..]
        && !bits.iter().any(|bit| bit.back);
    is_square.then_some(1 << stays)
}

/// The part of a nest that has a network, as far as loops have turns that do not divide, and what is left of it; none if
/// that were much.
pub(super) fn divisible(nest: &ByteNest, width: usize) -> Option<(ByteNest, Vec<ByteNest>)> {
    let mut part = nest.clone();
    while let Err(odd) = network(&part, width) {
        let (place, halved) = odd?;
        // So many of the whole loop's turns are one of those that the loop has after it was halved.
        part.turns[place].extent -= part.turns[place].extent / halved;
        if part.turns[place].extent * 4 < nest.turns[place].extent * 3 {
            return None;
        }
    }
    let (mut before, mut rest) = (nest.clone(), Vec::new());
    for (place, turn) in part.turns.iter().enumerate() {
        let more = nest.turns[place].extent - turn.extent;
        if more > 0 {
            let mut left = before.clone();
            left.turns[place].extent = more;
            let steps = turn.extent as isize;
            left.starts.iter_mut().for_each(|at| *at = (at.0 + steps * turn.from, at.1 + steps * turn.to));
            left.turns.retain(|turn| turn.extent > 1);
            rest.push(left);
            before.turns[place].extent = turn.extent;
        }
    }
    part.turns.retain(|turn| turn.extent > 1);
    Some((part, rest))
}

/// The passes that transpose squares of elements of so many bytes, a line of so many by a line.
pub(super) fn square(size: usize, width: usize) -> Option<SmallVec<[Pass; 1]>> {
    let (extent, near, far) = (width / size, size as isize, (LINE * LINE) as isize);
    let turns = [Turn { extent, from: near, to: far }, Turn { extent, from: far, to: near }];
    let nest = ByteNest { starts: SmallVec::from_buf([(0, 0)]), size, turns: turns.into_iter().collect() };
    Some(network(&nest, width).ok()?.0.passes)
}

/// One of the sides of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Source,
    Destination,
}

impl Side {
    pub(super) fn step(self, turn: &Turn) -> isize {
        if self == Side::Source { turn.from } else { turn.to }
    }
}

/// Makes one of a nest's loops run forward on a side.
pub(super) fn forward(nest: &mut ByteNest, place: usize, side: Side) {
    let turn = &mut nest.turns[place];
    if side.step(turn) < 0 {
        let last = turn.extent as isize - 1;
        let (from, to) = (turn.from.wrapping_mul(last), turn.to.wrapping_mul(last));
        (turn.from, turn.to) = (turn.from.wrapping_neg(), turn.to.wrapping_neg());
        nest.starts
            .iter_mut()
            .for_each(|start| *start = (start.0.wrapping_add(from), start.1.wrapping_add(to)));
    }
}

/// Takes the bits of a line out of the loops. The bits of the element are in the list already, and so are those of the
/// other side's lines, which may be some of these.
fn take(nest: &mut ByteNest, bits: &mut Vec<Bit>, width: usize, side: Side) -> Result<Places, Odd> {
    let mut places = Places::new();
    while 1 << places.len() < width {
        let step = 1_isize << places.len();
        let known = bits.iter().position(|bit| match side {
            Side::Source => bit.from == step,
            Side::Destination => bit.to.unsigned_abs() == step.unsigned_abs(),
        });
        if let Some(known) = known {
            let bit = &mut bits[known];
            if bit.to < 0 && side == Side::Destination {
                // Counted from its other end, in the destination.
                nest.starts.iter_mut().for_each(|start| start.1 += bit.to);
                (bit.to, bit.back) = (-bit.to, true);
            }
            places.push(known);
            continue;
        }
        let goes_on = |turn: &Turn| side.step(turn).unsigned_abs() == step.unsigned_abs() && turn.extent > 1;
        let place = nest.turns.iter().position(goes_on).ok_or(None)?;
        if !nest.turns[place].extent.is_multiple_of(2) {
            return Err(Some((place, nest.turns[place].extent)));
        }
        forward(nest, place, side);
        let turn = &mut nest.turns[place];
        places.push(bits.len());
        bits.push(Bit { from: turn.from, to: turn.to, back: false });
        *turn =
            Turn { extent: turn.extent / 2, from: turn.from.wrapping_mul(2), to: turn.to.wrapping_mul(2) };
    }
    Ok(places)
}

/// The passes that bring lines with bits at these places of the source to those of the destination.
fn passes(
    source: Places,
    destination: &Places,
    entering: &Places,
    leaving: &Places,
    bits: &[Bit],
) -> SmallVec<[Pass; 1]> {
    let (all, within) = (entering.len(), within(source.len()));
    // As many bits can change places as slots have in their numbers.
    let first = if all > STAGES.min(source.len() - within) { FIRST } else { all };
    let mut lines = Arrangement { places: source, turned: SmallVec::new() };
    let back = |bit: usize| bits[bit].back;
    let mut passes = SmallVec::new();
    for part in [0..first, first..all] {
        let last = part.end == all;
        if part.is_empty() && !passes.is_empty() {
            continue;
        }
        let (entering, leaving) = (&entering[part.clone()], &leaving[part]);
        // What must not be split up by a stage has to be in the slots' numbers when it leaves. Where the last stage can finish
        // the order, nothing is left to do behind it.
        let wanted = &destination[..within];
        let finishes =
            last && !entering.is_empty() && wanted.iter().all(|&bit| !entering.contains(&bit) && !back(bit));
        let mut places = lines.places.clone();
        for place in 0..within {
            let wanted = if finishes { Some(destination[place]) } else { None };
            let stays = |bit: &usize| !leaving.contains(bit);
            let bit = wanted.or_else(|| Some(places[place]).filter(stays));
            let bit = bit.or_else(|| places[within..].iter().copied().find(stays));
            if let Some(now) = bit.and_then(|bit| places.iter().position(|&other| other == bit)) {
                places.swap(place, now);
            }
        }
        let before = lines.bytes(places, &back, false);
        let mut stages = [[Slots::new(|slot| slot); 2]; STAGES];
        for (stage, (&enters, &leaves)) in entering.iter().zip(leaving).enumerate() {
            let mut places = lines.places.clone();
            places.iter_mut().filter(|place| **place == leaves).for_each(|place| *place = enters);
            let is_end = finishes && stage + 1 == entering.len();
            if is_end {
                places = destination.clone();
            }
            stages[stage] = lines.slots(places, (enters, leaves), &back, is_end);
        }
        let after = if last { lines.bytes(destination.clone(), &back, true) } else { None };
        passes.push(Pass { before, stages, count: entering.len(), after });
    }
    passes
}

/// How bits lie in lines on their way.
struct Arrangement {
    places: Places,
    /// Bits that are counted from their other end already.
    turned: SmallVec<[usize; BITS]>,
}

impl Arrangement {
    /// Where a byte of the new arrangement stands in this one.
    fn old(&self, places: &[usize], turned: &[usize], new: usize, from: usize) -> usize {
        let mut old = 0;
        for (place, bit) in self.places[from..].iter().enumerate() {
            let Some(at) = places[from..].iter().position(|other| other == bit) else { continue };
            old |= (new >> at & 1 ^ usize::from(turned.contains(bit))) << place;
        }
        old
    }

    /// What is still to be turned, if the destination's order is to be reached.
    fn to_turn(&self, back: &dyn Fn(usize) -> bool, finishes: bool) -> SmallVec<[usize; BITS]> {
        let open = |bit: &usize| finishes && back(*bit) && !self.turned.contains(bit);
        self.places.iter().copied().filter(open).collect()
    }

    /// Goes over to another arrangement of the same bits; nothing to be done where it is the same.
    fn bytes(&mut self, places: Places, back: &dyn Fn(usize) -> bool, finishes: bool) -> Option<Bytes> {
        let turned = self.to_turn(back, finishes);
        if places == self.places && turned.is_empty() {
            return None;
        }
        let bytes = std::array::from_fn(|new| self.old(&places, &turned, new, 0) as u8);
        self.places = places;
        self.turned.extend(turned);
        Some(Bytes(bytes))
    }

    /// Goes over to an arrangement into which one bit enters and which another leaves.
    fn slots(
        &mut self,
        places: Places,
        (enters, leaves): (usize, usize),
        back: &dyn Fn(usize) -> bool,
        finishes: bool,
    ) -> [Slots; 2] {
        let turned = self.to_turn(back, finishes);
        let within = within(places.len());
        let find =
            |places: &[usize], bit| places[within..].iter().position(|&other| other == bit).unwrap_or(0);
        let (entry, exit) = (find(&places, enters), find(&self.places, leaves));
        let slots = [0, 1].map(|line| {
            Slots::new(|new| {
                let old = self.old(&places, &turned, new, within);
                old | line << exit | ((new >> entry & 1) * SLOTS)
            })
        });
        self.places = places;
        self.turned.extend(turned);
        slots
    }
}
