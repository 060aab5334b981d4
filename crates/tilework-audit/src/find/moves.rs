//! Instructions that change a layout or make a second copy of the same: which do, and what moves.

use std::cmp::Reverse;
use tilework::InOrder;

use tilework::{Layout, Plan, PlanOptions};

use crate::audit::Audit;
use crate::find::findings::{How, Move, Moved};
use crate::find::judged::Advice;
use crate::find::listing::Listing;
use crate::hash::Map;
use crate::lists::List;
use crate::program::{MoveKey, Operation, Program, Tally};
use crate::shapes::ShapeId;
use crate::texts::{NONE, Text};

/// What an instruction does to the places of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Elements move to other places.
    Changes,
    /// Every element finds its place by itself.
    Nothing,
    /// The same layout in another memory.
    Space,
    /// The same layout in the same memory once more.
    Again,
}

/// Instructions that change a layout in the same way at the same place.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) key: &'a MoveKey,
    tally: &'a Tally,
    /// The program's argument that is moved.
    pub(crate) argument: Option<Text>,
    effect: Effect,
    runs: u64,
    pub(crate) bytes: u64,
    /// Bytes that are read and written, with padding, and the cycles that the compiler estimates, of all runs.
    touched: u64,
    touched_main: u64,
    cycles: Option<u64>,
    fused: bool,
    certain: bool,
}

impl Found<'_> {
    /// Whether it changes a layout by itself, and not on the way of something else.
    pub(crate) fn is_real(&self) -> bool {
        self.effect == Effect::Changes && !self.fused
    }
}

impl Audit {
    /// The instructions that move the most bytes to change a layout, those that move the most bytes of arguments, and
    /// what all come to.
    pub(crate) fn moves(
        &self,
        program: &Program,
        top: usize,
        listing: &Listing,
    ) -> (Vec<Move>, Vec<Move>, Vec<Advice>, Moved) {
        let calls = program.calls();
        let hashes = program.computation_hashes();
        let mut effects: Map<(Operation, ShapeId, ShapeId, List), Effect> = Map::default();
        let mut moved = Moved { unknown_loops: calls.unknown, ..Moved::default() };
        let mut found: Vec<Found<'_>> = Vec::new();
        for (key, tally) in &program.moves {
            let pair = (key.operation, key.from, key.to, key.order);
            let effect = match effects.get(&pair) {
                Some(&effect) => effect,
                None if effects.len() >= DECIDED => Effect::Changes,
                None => *effects.entry(pair).or_insert(self.effect(key)),
            };
            let each = self.store.shapes.known(key.from).leaves.map_or(0, |cost| cost.data);
            let runs = calls.runs(key.computation);
            let bytes = each.saturating_mul(tally.count).saturating_mul(runs);
            let fused = calls.is_fused(key.computation);
            let sums = match effect {
                // What is read and written on the way of something else is not there twice.
                Effect::Again if fused => continue,
                Effect::Again => (&mut moved.again, &mut moved.again_bytes),
                Effect::Nothing => {
                    moved.free += tally.count;
                    continue;
                }
                Effect::Space => (&mut moved.between_spaces, &mut moved.between_spaces_bytes),
                Effect::Changes if fused => (&mut moved.fused, &mut moved.fused_bytes),
                Effect::Changes => (&mut moved.changes, &mut moved.bytes),
            };
            *sums.0 += tally.count;
            *sums.1 = sums.1.saturating_add(bytes);
            if matches!(effect, Effect::Changes | Effect::Again) {
                let given =
                    || program.given.get(&(*hashes.get(&key.computation)?, key.operand.checked_sub(1)?));
                let argument = Some(key.parameter).filter(|&own| own != NONE).or_else(|| given().copied());
                if argument.is_some() && effect == Effect::Changes {
                    moved.arguments += tally.count;
                    moved.arguments_bytes = moved.arguments_bytes.saturating_add(bytes);
                }
                let certain = calls.is_certain(key.computation);
                let allocated =
                    |shape| self.store.shapes.known(shape).leaves.map_or(0, |cost| cost.allocated);
                let all = tally.count.saturating_mul(runs);
                let touched = allocated(key.from).saturating_add(allocated(key.to)).saturating_mul(all);
                let is_main = |shape| self.store.shapes.known(shape).cost.is_some_and(|cost| cost.space == 0);
                let main = |shape| if is_main(shape) { allocated(shape) } else { 0 };
                let touched_main = main(key.from).saturating_add(main(key.to)).saturating_mul(all);
                // Alike ones are taken to take as long.
                let name = self.store.texts.text(tally.name);
                let cycles = program.cycles.get(&self.store.seed.of(name.as_bytes()));
                let cycles = cycles.map(|cycles| cycles.saturating_mul(all));
                found.push(Found {
                    key,
                    tally,
                    argument,
                    effect,
                    runs,
                    bytes,
                    touched,
                    touched_main,
                    cycles,
                    fused,
                    certain,
                });
            }
        }
        // Where some say their cycles, the others take as many for their bytes.
        let mut rate = (0_u128, 0_u128);
        for one in &found {
            if let Some(cycles) = one.cycles.filter(|_| !one.fused) {
                rate = (rate.0 + u128::from(cycles), rate.1 + u128::from(one.touched));
            }
        }
        moved.timed = found.iter().filter(|one| one.cycles.is_some()).map(|one| one.tally.count).sum();
        moved.cycles = found.iter().filter_map(|one| one.cycles).fold(0, u64::saturating_add);
        let time = |one: &Found<'_>| match (one.cycles, rate) {
            (Some(cycles), _) => u128::from(cycles),
            (None, (_, 0)) => u128::from(one.touched),
            (None, (cycles, touched)) => u128::from(one.touched).saturating_mul(cycles) / touched,
        };
        found.order_by_key(|found| (found.fused, Reverse(time(found)), found.tally.line));
        let told = |(place, found): (usize, &Found<'_>)| self.told(program, found, place < PLANNED);
        let moves = listing.of(found.iter().take(top).enumerate().map(told));
        let advice = listing.of(self.advice(program, &found).into_iter().take(top));
        // Whether within a fusion or not, an argument is not as it is needed.
        found.retain(|found| found.argument.is_some() && found.effect == Effect::Changes);
        found.order_by_key(|found| (Reverse(time(found)), found.tally.line));
        let arguments = listing.of(found.iter().take(top).enumerate().map(told));
        (moves, arguments, advice, moved)
    }

    fn told(&self, program: &Program, found: &Found<'_>, planned: bool) -> Move {
        let Found {
            key,
            tally,
            argument,
            effect,
            runs,
            bytes,
            touched,
            touched_main,
            cycles,
            fused,
            certain,
        } = *found;
        let device = self.assumed.as_ref().and_then(|assumed| assumed.target.device());
        let is_again = effect == Effect::Again;
        Move {
            operation: key.operation,
            name: self.store.texts.text(tally.name).to_owned(),
            count: tally.count,
            runs,
            runs_known: certain,
            from: self.shape(key.from),
            to: self.shape(key.to),
            bytes,
            touched,
            touched_main,
            least_nanoseconds: device.map(|device| device.least_nanoseconds(touched_main)),
            cycles,
            changes_layout: !is_again,
            how: planned.then(|| self.how(key)).flatten(),
            argument: argument.and_then(|argument| self.argument_name(program, argument)),
            donation: argument
                .filter(|_| is_again)
                .and_then(|argument| self.donation(program, key, tally, argument)),
            fused,
            computation: self.computation(program, key.computation),
            place: self.place(key.source),
            near: key.near,
            near_place: self.place(key.near_source),
            line: program.line(tally.line),
        }
    }

    fn layouts(&self, key: &MoveKey) -> Option<(Layout, Layout)> {
        Some((self.store.shapes.layout(key.from)?, self.store.shapes.layout(key.to)?))
    }

    /// Canonical forms decide, so this is quick whatever the layouts are. Where they cannot, the instruction is taken at
    /// its word.
    fn effect(&self, key: &MoveKey) -> Effect {
        let Some((from, to)) = self.layouts(key) else {
            return if key.operation == Operation::Bitcast { Effect::Nothing } else { Effect::Changes };
        };
        match key.operation {
            Operation::Bitcast => Effect::Nothing,
            Operation::Copy | Operation::CopyStart if from == to => {
                let space = |shape| self.store.shapes.known(shape).cost.map(|cost| cost.space);
                if space(key.from) == space(key.to) { Effect::Again } else { Effect::Space }
            }
            Operation::Copy | Operation::CopyStart => Effect::Changes,
            Operation::Transpose | Operation::Reshape => match self.same_index(key, from, &to) {
                Some(from) if from == to => Effect::Nothing,
                _ => Effect::Changes,
            },
        }
    }

    /// The layout that is read, under the dimensions of the one that is written.
    fn same_index(&self, key: &MoveKey, from: Layout, to: &Layout) -> Option<Layout> {
        match key.operation {
            Operation::Transpose => {
                let order: Vec<usize> =
                    self.store.orders.list(key.order).iter().map(|&dim| dim as usize).collect();
                from.permute(&order).ok()
            }
            Operation::Reshape => from.reshape(to.dims()).ok(),
            _ => Some(from),
        }
    }

    fn how(&self, key: &MoveKey) -> Option<How> {
        let (from, to) = self.layouts(key)?;
        let from = self.same_index(key, from, &to)?;
        let plan = Plan::new(&from, &to, &PlanOptions::default()).ok()?;
        let figures = plan.figures();
        let run_bits = u128::from(figures.longest_run) * u128::from(to.bits());
        Some(How {
            kind: plan.main_kind()?,
            run_bytes: u64::try_from(run_bits / 8).ok()?,
            nests: figures.nests,
        })
    }
}

/// The most pairs of layouts that are compared; all others are taken to differ, as their texts do.
const DECIDED: usize = 1 << 16;

/// The most moves that are planned in full: planning the hardest takes a moment.
const PLANNED: usize = 20;
