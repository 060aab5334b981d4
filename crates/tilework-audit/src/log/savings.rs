//! What would save moves, and how much.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use tilework::InOrder;

use super::logged::{Cycle, LogKind, Remedy, Role, Way, Work};
use super::{ArrayId, Log, Runs, StepId};

/// What a remedy would save, and the arrays of the dearest part of it.
pub(crate) type Saved = (Remedy, Work, Vec<ArrayId>);

impl Log {
    /// What could be done about the moves of this log, what would save the most first.
    pub(super) fn savings(&self, cycle: Option<Cycle>) -> Vec<Saved> {
        if self.kind == LogKind::Onnx {
            return self.found.clone();
        }
        let mut savings: BTreeMap<Remedy, (Work, Work, Vec<ArrayId>)> = BTreeMap::new();
        let mut add = |remedy, work: Work, arrays: &[ArrayId]| {
            let (sum, dearest, of) = savings.entry(remedy).or_default();
            sum.add(&work);
            // Of equal ones, the same is chosen in whatever order they come.
            if of.is_empty() || (work.cost(), Reverse(arrays)) > (dearest.cost(), Reverse(&of[..])) {
                (*dearest, *of) = (work, arrays.to_vec());
            }
        };
        for (key, runs) in &self.moves {
            let Some((from, to)) = self.steps[key.step as usize].moves else { continue };
            let work = self.work(key.step, runs);
            if matches!(self.steps[key.step as usize].way, Some(Way::Registers | Way::Shuffles)) {
                continue;
            }
            // Between the operations of a kernel, there is nothing that goes in or comes out.
            let is_kernel = self.kind == LogKind::Triton;
            match (key.role, cycle) {
                _ if is_kernel => add(Remedy::OneFormat, work, &[from, to]),
                (Role::Weights, Some(cycle)) if runs.count >= cycle.times => {
                    add(Remedy::KeepWeights, work.but_one_of(cycle.times), &[from, to]);
                }
                (Role::Between, _) if self.is_of_layout(from, to) => {
                    add(Remedy::OneFormat, work, &[from, to]);
                }
                (Role::Input | Role::Output, _) if self.is_of_layout(from, to) => {
                    add(Remedy::Ends, work, &[from, to]);
                }
                _ => {}
            }
        }
        for (&(first, second), runs) in &self.chains {
            let both = (self.steps[first as usize].moves, self.steps[second as usize].moves);
            let (Some((from, between)), Some((then, to))) = both else { continue };
            if !self.is_of_layout(from, between) || !self.is_of_layout(then, to) {
                continue;
            }
            let mut work = self.work(second, runs);
            // What comes back to where it was need not leave.
            if self.array_of(from).may_be(self.array_of(to)) {
                let all = &self.runs[first as usize];
                let share = |sum: u64| {
                    (u128::from(sum) * u128::from(runs.count.min(all.count)) / u128::from(all.count.max(1)))
                        as u64
                };
                let (timed, nanoseconds) = (share(all.timed), share(all.nanoseconds));
                work.add(&self.work(first, &Runs { timed, nanoseconds, ..*runs }));
            }
            add(Remedy::JoinMoves, work, &[from, between, to]);
        }
        let mut list: Vec<Saved> =
            savings.into_iter().map(|(remedy, (work, _, arrays))| (remedy, work, arrays)).collect();
        list.order_by_key(|(remedy, work, _)| (Reverse(work.cost()), *remedy));
        list
    }

    /// Whether elements change their places, and not only their type.
    pub(super) fn is_of_layout(&self, from: ArrayId, to: ArrayId) -> bool {
        self.array_of(from).format != self.array_of(to).format
    }

    /// What it costs to move an array as often as this.
    pub(super) fn work(&self, step: StepId, runs: &Runs) -> Work {
        let step = &self.steps[step as usize];
        let Some((from, to)) = step.moves else { return runs.work() };
        let (from, to) = (self.array_of(from), self.array_of(to));
        // Of a kernel, it is not known what moves where it is not known how.
        let has_way = step.way.is_some() || self.kind != LogKind::Triton;
        let sized = has_way && from.bytes.is_some() && to.bytes.is_some();
        let ((read, wasted), (written, waste)) = (from.data_and_waste(), to.data_and_waste());
        let touched = read.saturating_add(wasted).saturating_add(written).saturating_add(waste);
        let times = |bytes: u64| if sized { bytes.saturating_mul(runs.count) } else { 0 };
        Work {
            data: times(read),
            // What stays in registers touches no memory.
            touched: if matches!(step.way, Some(Way::Registers | Way::Shuffles)) {
                0
            } else {
                times(touched)
            },
            waste: times(waste),
            unsized_count: if sized { 0 } else { runs.count },
            ..runs.work()
        }
    }
}
