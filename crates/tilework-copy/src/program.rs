//! A plan as steps.

use tilework::{Nest, Plan};

use crate::choose::{self, Setting};
use crate::exec::{self, Buffers, Stage};
use crate::kernels::InstructionSet;
use crate::kernels::vector::fence;
use crate::nest::ByteNest;
use crate::pool::Pool;
use crate::step::Step;

/// Steps, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    set: InstructionSet,
    steps: Vec<Step>,
    /// The element that padding is filled with.
    fill: Box<[u8]>,
    /// How many of the first steps must be done before the others.
    first: usize,
    /// Bytes that are written.
    bytes: usize,
}

impl Program {
    /// Chooses the kernels for the nests of a plan whose elements are whole bytes.
    pub(crate) fn new(plan: &Plan) -> Program {
        let bytes = plan.to().bits() as usize / 8;
        let total = plan.copies().iter().chain(plan.fills()).map(Nest::elements).sum::<u64>() as usize * bytes;
        Program::with(plan, Setting::new(InstructionSet::detect(), total))
    }

    /// The same with a setting of the caller's.
    pub(crate) fn with(plan: &Plan, setting: Setting) -> Program {
        let fill = plan.options().fill.unwrap_or(0);
        let bytes = plan.to().bits() as usize / 8;
        Program::of(plan.copies(), plan.fills(), plan.fills_first(), fill, bytes, setting)
    }

    pub(crate) fn of(
        copies: &[Nest],
        fills: &[Nest],
        fills_first: bool,
        fill: u128,
        bytes: usize,
        setting: Setting,
    ) -> Program {
        let nests = |nests: &[Nest]| nests.iter().map(|nest| ByteNest::new(nest, bytes)).collect::<Vec<_>>();
        let (copies, fills) = (nests(copies), nests(fills));
        let total = copies.iter().chain(&fills).map(ByteNest::bytes).sum();
        let copies = copies.into_iter().map(|nest| choose::choose(nest, setting));
        let fills = fills.into_iter().map(|nest| Step { fills: true, ..choose::choose(nest, setting) });
        let mut steps: Vec<Step> = Vec::new();
        let mut first = 0;
        if fills_first {
            steps.extend(fills);
            first = steps.len();
            steps.extend(copies);
        } else {
            steps.extend(copies);
            steps.extend(fills);
        }
        steps.retain(|step| step.units() > 0);
        let mut element = vec![0; bytes.max(16)];
        element[..16].copy_from_slice(&fill.to_le_bytes());
        Program { set: setting.set, steps, fill: element.into(), first: first.min(usize::MAX), bytes: total }
    }

    /// Runs all steps.
    ///
    /// # Safety
    /// The buffers hold the layouts of the plan, and do not overlap.
    pub(crate) unsafe fn run(&self, pool: &dyn Pool, buffers: Buffers) {
        let (first, rest) = self.steps.split_at(self.first.min(self.steps.len()));
        for steps in [first, rest] {
            // SAFETY: the caller's promise.
            unsafe { self.run_steps(steps, pool, buffers) };
        }
    }

    unsafe fn run_steps(&self, steps: &[Step], pool: &dyn Pool, buffers: Buffers) {
        let total: usize = steps.iter().map(|step| step.units() * step.weight).sum();
        let tasks = (self.bytes / pool.least_share().max(1)).clamp(1, pool.width().max(1));
        if tasks == 1 {
            // SAFETY: the caller's promise; one thread does all units.
            unsafe { self.run_share(steps, 0..total, buffers) };
            return;
        }
        pool.run(tasks, &|task| {
            let share = |task: usize| (total as u128 * task as u128 / tasks as u128) as usize;
            // SAFETY: the caller's promise; shares do not overlap.
            unsafe { self.run_share(steps, share(task)..share(task + 1), buffers) };
        });
    }

    /// Runs the units whose weight, counted through all steps, begins within the share.
    unsafe fn run_share(&self, steps: &[Step], share: std::ops::Range<usize>, buffers: Buffers) {
        let mut stage = Stage::new();
        let mut begin = 0;
        for step in steps {
            let (units, weight) = (step.units(), step.weight);
            let unit_at = |place: usize| place.saturating_sub(begin).div_ceil(weight).min(units);
            let range = unit_at(share.start)..unit_at(share.end);
            begin += units * weight;
            if range.is_empty() {
                continue;
            }
            let buffers = match step.fills {
                true => Buffers { source: self.fill.as_ptr(), ..buffers },
                false => buffers,
            };
            // SAFETY: the caller's promise; a fill reads its one element, all its source steps being 0.
            unsafe { exec::run(self.set, step, range, buffers, &mut stage) };
        }
        fence();
    }
}
