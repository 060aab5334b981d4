//! A plan as steps.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tilework_core::{Nest, Plan};

use crate::convert::Converter;
use crate::cost::cost;
use crate::elements::{self, ElementStep};
use crate::exec::{self, Buffers, Scratch};
use crate::kernels::InstructionSet;
use crate::kernels::vector::fence;
use crate::nest::ByteNest;
use crate::pool::Pool;
use crate::setting::Setting;
use crate::step::Step;
use crate::wide::{Wide, converted, wide};
use crate::{subbyte, ways};

/// Bytes that are worth moving as bytes, in each run of elements below a byte.
const LEAST_RUN: u64 = 8;

/// What is done, phase by phase; what one phase holds can be done in any order and at the same time.
///
/// Elements of whole bytes need one phase, or two if padding is filled before elements are written over it. Elements
/// below a byte share bytes, so that most of their steps are phases of their own.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    set: InstructionSet,
    phases: Vec<Vec<Piece>>,
    /// Whether stores may go past the cache.
    streams: bool,
    /// The element that padding is filled with.
    fill: Box<[u8]>,
    /// What the steps that move bytes are thought to cost, in lines that are touched.
    cost: f64,
}

/// One nest with what moves it, and how much that is: found once, as small arrays take no longer than such a count.
#[derive(Clone, Debug)]
struct Piece {
    mover: Mover,
    units: usize,
    /// Bytes that a unit writes, about.
    weight: usize,
}

#[derive(Clone, Debug)]
enum Mover {
    /// As bytes.
    Bytes(Step),
    /// As elements below a byte, or converted.
    Elements(ElementStep),
    /// As elements below a byte, in blocks that are bytes for a while.
    Wide(Arc<Wide>),
}

impl From<Mover> for Piece {
    fn from(mover: Mover) -> Piece {
        let (units, weight) = match &mover {
            Mover::Bytes(step) => (step.units(), step.weight),
            Mover::Elements(step) => (step.units(), step.weight()),
            Mover::Wide(wide) => (wide.units(), wide.weight()),
        };
        Piece { mover, units, weight }
    }
}

impl Piece {
    fn total(&self) -> usize {
        self.units * self.weight
    }
}

impl Program {
    /// Chooses the kernels for the nests of a plan.
    pub(crate) fn with(plan: &Plan, converter: Option<Converter>, setting: Setting) -> Program {
        Program::candidates(plan, converter, setting).swap_remove(0)
    }

    /// The same, followed by programs that may turn out faster.
    pub(crate) fn candidates(plan: &Plan, converter: Option<Converter>, setting: Setting) -> Vec<Program> {
        let fill = plan.options().fill.unwrap_or(0);
        let fills = (plan.fills(), plan.fills_first(), fill);
        Program::all(plan.copies(), fills, plan.to().bits(), converter, setting)
    }

    /// The same for nests that were taken from a plan: what is copied, and what is filled, whether before the rest, and
    /// with what.
    pub(crate) fn of(
        copies: &[Nest],
        fills: (&[Nest], bool, u128),
        bits: u32,
        converter: Option<Converter>,
        setting: Setting,
    ) -> Program {
        Program::all(copies, fills, bits, converter, setting).swap_remove(0)
    }

    fn all(
        copies: &[Nest],
        (fills, fills_first, fill): (&[Nest], bool, u128),
        bits: u32,
        converter: Option<Converter>,
        setting: Setting,
    ) -> Vec<Program> {
        let empty = Program {
            set: setting.set,
            phases: vec![Vec::new()],
            streams: setting.streams,
            fill: element(fill, bits),
            cost: 0.0,
        };
        let mut programs = vec![empty];
        if fills_first {
            add(&mut programs, fills, bits, None, true, setting);
            programs.iter_mut().for_each(|program| program.phases.push(Vec::new()));
        }
        add(&mut programs, copies, bits, converter, false, setting);
        if !fills_first {
            add(&mut programs, fills, bits, None, true, setting);
        }
        for program in &mut programs {
            program.phases.retain(|phase| !phase.is_empty());
            program.cost = program.cost_with(setting);
        }
        programs
    }

    fn last(&mut self) -> &mut Vec<Piece> {
        if self.phases.is_empty() {
            self.phases.push(Vec::new());
        }
        let last = self.phases.len() - 1;
        &mut self.phases[last]
    }

    /// What is done, step by step, in words.
    pub(crate) fn explained(&self) -> Vec<String> {
        let explained = |piece: &Piece| match &piece.mover {
            Mover::Bytes(step) if step.fills => format!("padding: {step}"),
            Mover::Bytes(step) => step.to_string(),
            Mover::Elements(_) => format!("elements by themselves; {} units", piece.units),
            Mover::Wide(wide) => wide.to_string(),
        };
        self.phases.iter().flatten().map(explained).collect()
    }

    /// What the steps that move bytes are thought to cost, in lines that are touched.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    fn cost_with(&self, setting: Setting) -> f64 {
        let cost = |piece: &Piece| match &piece.mover {
            Mover::Bytes(step) => cost(step, setting),
            Mover::Elements(_) => 0.0,
            Mover::Wide(wide) => wide.cost(),
        };
        self.phases.iter().flatten().map(cost).sum()
    }

    /// The work as a number: bytes that are written, about. Any range of it can be done by itself, in ascending order.
    pub(crate) fn total(&self) -> usize {
        self.phases.iter().flatten().map(Piece::total).sum()
    }

    /// Does a part of the work.
    ///
    /// # Safety
    /// The buffers hold the layouts of the plan and do not overlap; nobody else writes the source or touches the
    /// destination meanwhile.
    pub(crate) unsafe fn run(&self, pool: &dyn Pool, buffers: Buffers, part: Range<usize>) {
        let mut begin = 0;
        for phase in &self.phases {
            let total: usize = phase.iter().map(Piece::total).sum();
            let of_phase = |place: usize| place.saturating_sub(begin).min(total);
            let part = of_phase(part.start)..of_phase(part.end);
            begin += total;
            if part.is_empty() {
                continue;
            }
            let tasks = match pool.width() {
                0 | 1 => 1,
                width => (part.len() / pool.least_share().max(1)).clamp(1, width),
            };
            if tasks == 1 {
                // SAFETY: the caller's promise; one thread does all of the part.
                unsafe { self.run_share(phase, part, buffers) };
                continue;
            }
            // A pool is safe code, and may be wrong: a task that is called twice is done once, and one that is not called
            // at all is done here.
            let done: Vec<AtomicBool> = (0..tasks).map(|_| AtomicBool::new(false)).collect();
            let run = |task: usize| {
                if done.get(task).is_none_or(|done| done.swap(true, Ordering::Relaxed)) {
                    return;
                }
                let share =
                    |task: usize| part.start + (part.len() as u128 * task as u128 / tasks as u128) as usize;
                // SAFETY: the caller's promise; shares hold different units, which write different bytes.
                unsafe { self.run_share(phase, share(task)..share(task + 1), buffers) };
            };
            pool.run(tasks, &run);
            (0..tasks).for_each(run);
        }
    }

    /// Runs the units of a phase that begin within the share.
    ///
    /// # Safety
    /// As for [`Program::run`]; nobody else runs a unit of this share.
    unsafe fn run_share(&self, phase: &[Piece], share: Range<usize>, buffers: Buffers) {
        let mut scratch = Scratch::default();
        let mut begin = 0;
        for piece in phase {
            let (units, weight) = (piece.units, piece.weight);
            let end = begin + units * weight;
            // A division takes longer than small arrays do.
            let unit_at = |place: usize| match place {
                _ if place <= begin => 0,
                _ if place >= end => units,
                _ => (place - begin).div_ceil(weight).min(units),
            };
            let range = unit_at(share.start)..unit_at(share.end);
            begin = end;
            if range.is_empty() {
                continue;
            }
            let of_fill = Buffers { source: self.fill.as_ptr(), source_bytes: self.fill.len(), ..buffers };
            // SAFETY: the caller's promise; a fill reads its one element, all its source steps being 0.
            unsafe {
                match &piece.mover {
                    Mover::Bytes(step) => {
                        let buffers = if step.fills { of_fill } else { buffers };
                        exec::run(self.set, step, range, buffers, &mut scratch);
                    }
                    Mover::Elements(step) => {
                        let buffers = if step.fills() { of_fill } else { buffers };
                        step.run(range, buffers, &mut scratch);
                    }
                    Mover::Wide(wide) => wide.run(range, buffers, &mut scratch),
                }
            }
        }
        if self.streams {
            fence();
        }
    }
}

/// Adds nests to the last phase of each program, or as phases behind it. Where a nest has more candidates than there are programs,
/// there are more programs from then on; where it has fewer, further programs take its best.
fn add(
    programs: &mut Vec<Program>,
    nests: &[Nest],
    bits: u32,
    converter: Option<Converter>,
    fills: bool,
    setting: Setting,
) {
    let kernels = || subbyte::Kernels::new(setting.set);
    let mut shared: Vec<Piece> = Vec::new();
    for nest in nests.iter().filter(|nest| nest.elements() > 0) {
        let mut as_bytes = |nest: &Nest, bytes: usize| {
            let candidates = ways::candidates(&ByteNest::new(nest, bytes), setting);
            while programs.len() < candidates.len() {
                programs.push(programs[0].clone());
            }
            for (number, program) in programs.iter_mut().enumerate() {
                let steps = candidates.get(number).unwrap_or(&candidates[0]).iter().cloned();
                program.last().extend(steps.map(|step| Mover::Bytes(Step { fills, ..step }).into()));
            }
        };
        let converted = converter.and_then(|converter| converted(nest, converter.conversion(), setting));
        if let Some(blocks) = converted {
            in_blocks(blocks, programs, &mut shared);
        } else if let Some(converter) = converter {
            let by = elements::Mover::Convert(converter.streaming(setting.streams));
            shared.push(Mover::Elements(ElementStep::new(nest, bits, by, fills)).into());
        } else if bits.is_multiple_of(8) {
            as_bytes(nest, bits as usize / 8);
        } else if let Some(split) = subbyte::split(nest, bits, 1, fills).filter(|split| split.rest.is_empty())
        {
            as_bytes(&split.bytes, 1);
        } else if let Some(blocks) = (!fills).then(|| wide(nest, bits, setting)).flatten() {
            in_blocks(blocks, programs, &mut shared);
        } else if let Some(split) = subbyte::split(nest, bits, if fills { 1 } else { LEAST_RUN }, fills) {
            as_bytes(&split.bytes, 1);
            shared.extend(split.rest.iter().filter_map(|rest| {
                let by = elements::Mover::Bits(bits, kernels()?);
                Some(Mover::Elements(ElementStep::new(rest, bits, by, fills)).into())
            }));
        } else if let Some(kernels) = kernels() {
            let by = elements::Mover::Bits(bits, kernels);
            shared.push(Mover::Elements(ElementStep::new(nest, bits, by, fills)).into());
        }
    }
    for program in programs {
        let shared = shared.iter().cloned();
        if bits.is_multiple_of(8) {
            program.last().extend(shared);
        } else {
            program.phases.extend(shared.map(|step| vec![step]));
        }
    }
}

/// Adds blocks to the last phase of each program, or to the pieces that share bytes.
fn in_blocks(blocks: Vec<Wide>, programs: &mut [Program], shared: &mut Vec<Piece>) {
    for blocks in blocks {
        let is_whole = blocks.is_whole();
        let piece = Piece::from(Mover::Wide(Arc::new(blocks)));
        if is_whole {
            programs.iter_mut().for_each(|program| program.last().push(piece.clone()));
        } else {
            shared.push(piece);
        }
    }
}

/// The bytes of an element with these bits, at least as many as there are bits in any fill; of one below a byte, all of which are full of it.
fn element(fill: u128, bits: u32) -> Box<[u8]> {
    let mut element = vec![0; (bits as usize).div_ceil(8).max(16)];
    let repeats = if bits < 8 && 8 % bits == 0 { 128 / bits } else { 1 };
    let fill = if repeats > 1 { fill & ((1 << bits) - 1) } else { fill };
    let fill = (1..repeats).fold(fill, |all, k| all | fill << (k * bits));
    element[..16].copy_from_slice(&fill.to_le_bytes());
    element.into()
}
