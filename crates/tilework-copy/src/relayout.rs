//! A plan made ready to run.

use std::sync::Arc;

use tilework_core::{Error, Layout, Nest, Plan, PlanOptions, Result};

use crate::buffer::Buffer;
use crate::clip::clip;
use crate::convert::{Conversion, Converter, held_bits};
use crate::exec::Buffers;
use crate::kernels::vector::LINE;
use crate::kernels::{self, InstructionSet};
use crate::pool::{Inline, Pool};
use crate::program::Program;
use crate::setting::Setting;
use crate::trial::{OTHERS, Trial};
use crate::ways::Way;

/// A plan with the kernels chosen for it: made once, run as often as there is data.
///
/// Buffers are bytes at any address. Places count from the beginning of a buffer; what it holds beyond its layout is left
/// alone.
///
/// Where it depends on the state of the caches how data are stored fastest, the first runs try both ways and later ones
/// take the better: a relayout that is kept gets faster. What is written is the same.
#[derive(Clone, Debug)]
pub struct Relayout {
    plan: Plan,
    /// Bytes of the source's layout and of the destination's.
    bytes: (u64, u64),
    converter: Option<Converter>,
    program: Program,
    /// Others that may be faster: with the other kind of stores, or by other kernels.
    trial: Option<Arc<Trial>>,
}

impl Relayout {
    /// Plans the move from one layout to another and chooses the kernels for it.
    ///
    /// # Errors
    /// Those of [`Plan::new`].
    pub fn new(from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Relayout> {
        Relayout::of(Plan::new(from, to, options)?)
    }

    /// Chooses the kernels for a plan.
    ///
    /// # Errors
    /// A plan between elements of different widths: it needs a [conversion](Relayout::converting).
    pub fn of(plan: Plan) -> Result<Relayout> {
        let (from, to) = (plan.from().bits(), plan.to().bits());
        if from != to {
            return Err(Error::new(format!(
                "elements of {from} bits in the source, {to} in the destination"
            ))
            .field("conversion")
            .rule("elements of another width are converted")
            .accepts("Relayout::converting"));
        }
        Ok(Relayout::with(plan, None))
    }

    /// Plans the move from one layout to another of elements that become others on the way. A fill is an element of the
    /// destination.
    ///
    /// ```
    /// use tilework::{Element, Layout, PlanOptions};
    /// use tilework_copy::{Conversion, Relayout};
    ///
    /// let from = Layout::row_major(&[2], 32)?;
    /// let to = Layout::row_major(&[2], 16)?.flip(0)?;
    /// let conversion = Conversion::new(Element::F32, Element::Bf16).unwrap();
    /// let relayout = Relayout::converting(&from, &to, conversion, &PlanOptions::default())?;
    /// let mut out = [0; 4];
    /// relayout.run(&[1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat(), &mut out)?;
    /// assert_eq!(out, [0x00, 0x40, 0x80, 0x3f]); // 2 and 1 as bf16
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Plan::new`], and layouts whose elements are not as wide as the conversion's.
    pub fn converting(
        from: &Layout,
        to: &Layout,
        conversion: Conversion,
        options: &PlanOptions,
    ) -> Result<Relayout> {
        let wanted = [("source", conversion.from(), from), ("destination", conversion.to(), to)];
        if let Some((side, kind, layout)) =
            wanted.iter().find(|(_, kind, layout)| held_bits(*kind) != layout.bits())
        {
            return Err(Error::new(format!("elements of {} bits in the {side}", layout.bits()))
                .field("element bits")
                .rule(format!("the conversion has elements of {} bits there", held_bits(*kind)))
                .accepts(format!("a layout with elements of {} bits", held_bits(*kind))));
        }
        let plan = Plan::new(from, to, &PlanOptions { converts: true, ..options.clone() })?;
        let converter = Converter::new(conversion, InstructionSet::detect());
        Ok(Relayout::with(plan, converter))
    }

    fn with(plan: Plan, converter: Option<Converter>) -> Relayout {
        let bytes = bytes_written(&plan);
        let setting = Setting::new(InstructionSet::detect(), bytes);
        let mut programs = Program::candidates(&plan, converter, setting);
        let program = programs.swap_remove(0);
        if let Some(other) = setting.other(bytes) {
            programs.extend(Program::candidates(&plan, converter, other).into_iter().take(OTHERS));
        }
        // The last cache does not hold both sides.
        let is_long = 2 * bytes >= kernels::caches().1;
        let trial = (!programs.is_empty()).then(|| Arc::new(Trial::new(programs, is_long)));
        Relayout { bytes: both(&plan), plan, converter, program, trial }
    }

    /// Every way in which a plan can be moved, for those who measure whether the right one is chosen. The first is what is chosen.
    #[doc(hidden)]
    pub fn ways(plan: &Plan) -> Vec<(Tried, Relayout)> {
        let setting = Setting::new(InstructionSet::detect(), bytes_written(plan));
        let all = [None].into_iter().chain(Way::ALL.map(Some));
        let made = all.map(|only| {
            let program = Program::with(plan, None, Setting { only, ..setting });
            let relayout =
                Relayout { plan: plan.clone(), bytes: both(plan), converter: None, program, trial: None };
            (relayout.tried(&relayout.program, 0), relayout)
        });
        made.collect()
    }

    /// What this relayout does, step by step; and what else it tries, where that may be faster. What is thought to be the best
    /// comes first. The times are those of runs on one thread, or on several.
    pub fn explain(&self, threads: usize) -> Vec<Tried> {
        match &self.trial {
            None => vec![self.tried(&self.program, 0)],
            Some(trial) => {
                let all = trial.all(&self.program, threads);
                all.map(|(program, time)| self.tried(program, time)).collect()
            }
        }
    }

    fn tried(&self, program: &Program, nanoseconds: u64) -> Tried {
        let lines = 2.0 * bytes_written(&self.plan) as f64 / LINE as f64;
        Tried {
            steps: program.explained(),
            estimate: program.cost() / lines.max(1.0),
            seconds: (nanoseconds > 0).then_some(nanoseconds as f64 * 1e-9),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How elements change on the way, if they do.
    pub fn conversion(&self) -> Option<Conversion> {
        self.converter.map(|converter| converter.conversion())
    }

    /// Moves the data, on the calling thread.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout; nothing is written then.
    pub fn run(&self, from: &[u8], to: &mut [u8]) -> Result<()> {
        self.run_on(&Inline, from, to)
    }

    /// Moves the data, on the threads of a pool.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout; nothing is written then.
    pub fn run_on(&self, pool: &dyn Pool, from: &[u8], to: &mut [u8]) -> Result<()> {
        self.run_step(pool, 0, 1, from, to)
    }

    /// Does one of `steps` steps of about the same size, which must be done in ascending order: for those who want to
    /// show progress, or do other things in between. All steps get the same buffers, at the same addresses: where one step
    /// ends and the next begins depends on where the destination's cache lines do.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout; nothing is written then.
    pub fn run_step(
        &self,
        pool: &dyn Pool,
        step: usize,
        steps: usize,
        from: &[u8],
        to: &mut [u8],
    ) -> Result<()> {
        let source = (from.as_ptr(), from.len());
        // SAFETY: a shared and an exclusive borrow.
        unsafe { self.run_part(pool, (step, steps), source, (to.as_mut_ptr(), to.len())) }
    }

    /// Moves the data in memory that is not Rust's.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout, and buffers that overlap; nothing is written then.
    ///
    /// # Safety
    /// 1. `from` is an address and a number of bytes that can be read there.
    /// 2. `to` is an address and a number of bytes that can be written there.
    /// 3. Until this returns, nobody else writes those of `from` or touches those of `to`.
    pub unsafe fn run_raw(
        &self,
        pool: &dyn Pool,
        from: (*const u8, usize),
        to: (*mut u8, usize),
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.run_part(pool, (0, 1), from, to) }
    }

    /// One of `steps` steps.
    ///
    /// # Safety
    /// As for [`Relayout::run_raw`].
    unsafe fn run_part(
        &self,
        pool: &dyn Pool,
        (step, steps): (usize, usize),
        (from, from_length): (*const u8, usize),
        (to, to_length): (*mut u8, usize),
    ) -> Result<()> {
        check_length("source", from_length, self.bytes.0)?;
        check_length("destination", to_length, self.bytes.1)?;
        check_overlap(from.addr(), self.bytes.0, to.addr(), self.bytes.1)?;
        let buffers = Buffers {
            source: from,
            source_bytes: from_length,
            destination: to,
            destination_bytes: to_length,
        };
        if let (Some(trial), 0 | 1) = (&self.trial, steps) {
            if step == 0 {
                // SAFETY: the caller's promise, and what was checked.
                let all = |program: &Program| unsafe { program.run(pool, buffers, 0..program.total()) };
                trial.run(&self.program, pool.width(), all);
            }
            return Ok(());
        }
        let (steps, total) = (steps.max(1), self.program.total());
        let at = |step: usize| match step {
            0 => 0,
            _ if step >= steps => total,
            _ => (total as u128 * step as u128 / steps as u128) as usize,
        };
        // SAFETY: the caller's promise, and what was checked.
        unsafe { self.program.run(pool, buffers, at(step)..at(step.saturating_add(1))) };
        Ok(())
    }

    /// Moves slices of elements: the same as [`Relayout::run`] without counting bytes.
    ///
    /// ```
    /// use tilework::{Layout, PlanOptions};
    /// let rows = Layout::row_major(&[2, 3], 32)?;
    /// let columns = Layout::builder(&[2, 3], 32)?.minor_to_major(&[0, 1])?.build()?;
    /// let relayout = tilework_copy::Relayout::new(&rows, &columns, &PlanOptions::default())?;
    /// let mut out = [0.0_f32; 6];
    /// relayout.run_elements(&[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0], &mut out)?;
    /// assert_eq!(out, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Elements of another width than the layouts', and a slice that is shorter than its layout; nothing is written
    /// then.
    pub fn run_elements<T: Plain, U: Plain>(&self, from: &[T], to: &mut [U]) -> Result<()> {
        check_width("source", size_of::<T>(), self.plan.from())?;
        check_width("destination", size_of::<U>(), self.plan.to())?;
        let source = (from.as_ptr().cast(), size_of_val(from));
        let length = size_of_val(to);
        // SAFETY: a shared and an exclusive borrow; an element has no bytes that are not its own, and any bits are one.
        unsafe { self.run_raw(&Inline, source, (to.as_mut_ptr().cast(), length)) }
    }

    /// Produces the destination in order: calls `write` with the offset in bytes and the bytes of one chunk after the
    /// other, each of about `chunk` bytes, so that a file or a device can be fed without holding the whole. Padding that
    /// no fill was asked for is zero.
    ///
    /// # Errors
    /// A source that is shorter than its layout; a chunk for which there is no memory; and what `write` returns, which
    /// ends it.
    pub fn stream<E: From<Error>>(
        &self,
        from: &[u8],
        chunk: usize,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        check_length("source", from.len(), self.bytes.0)?;
        let to = self.plan.to();
        let bits = u64::from(to.bits());
        // Whole bytes and whole elements: eight times as many elements are `bits` times as many bytes.
        let elements =
            ((chunk as u64).saturating_mul(8) / bits / 8 * 8).min(to.size().next_multiple_of(8)).max(8);
        let mut buffer = Buffer::new((elements * bits / 8) as usize)?;
        for low in (0..to.size()).step_by(elements as usize) {
            let high = (low + elements).min(to.size());
            let buffer = &mut buffer[..((high - low) * bits).div_ceil(8) as usize];
            buffer.fill(0);
            let copies = clip(self.plan.copies(), low, high);
            let fills = clip(self.plan.fills(), low, high);
            let fill = self.plan.options().fill.unwrap_or(0);
            let fills = (&fills[..], self.plan.fills_first(), fill);
            let setting = Setting { once: true, ..Setting::new(InstructionSet::detect(), 0) };
            let program = Program::of(&copies, fills, to.bits(), self.converter, setting);
            let buffers = Buffers::of(from, buffer);
            // SAFETY: the source holds its layout, and what was clipped has its places within the chunk.
            unsafe { program.run(&Inline, buffers, 0..program.total()) };
            write(low * bits / 8, buffer)?;
        }
        Ok(())
    }
}

/// One way to move a plan's data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// What is done, step by step.
    pub steps: Vec<String>,
    /// What it is thought to cost, as lines of memory that are touched for each line that is read or written: 1 is a copy. Steps
    /// that convert, or move single bits, are not counted.
    pub estimate: f64,
    /// What a run took, if there was one that was measured.
    pub seconds: Option<f64>,
}

/// Bytes that a plan writes, about.
fn bytes_written(plan: &Plan) -> usize {
    let elements: u64 = plan.copies().iter().chain(plan.fills()).map(Nest::elements).sum();
    (u128::from(elements) * u128::from(plan.to().bits())).div_ceil(8) as usize
}

/// Numbers whose bytes may be moved about.
///
/// # Safety
/// A type without padding bytes for which every combination of bits is a value.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($number:ty)*) => { $(
        // SAFETY: a number is its bits.
        unsafe impl Plain for $number {}
    )* };
}
plain! { u8 i8 u16 i16 u32 i32 f32 u64 i64 f64 u128 i128 }

/// Bytes of both layouts.
fn both(plan: &Plan) -> (u64, u64) {
    (plan.from().bytes(), plan.to().bytes())
}

fn check_length(name: &str, found: usize, need: u64) -> Result<()> {
    if (found as u64) < need {
        return Err(Error::new(format!("a {name} of {found} bytes"))
            .field(name)
            .rule("a buffer holds all places of its layout")
            .accepts(format!("{need} bytes or more")));
    }
    Ok(())
}

fn check_width(name: &str, found: usize, layout: &Layout) -> Result<()> {
    if found * 8 != layout.bits() as usize {
        return Err(Error::new(format!("elements of {} bits in the {name}", found * 8))
            .field(name)
            .rule("elements are as wide as the layout says")
            .accepts(format!("elements of {} bits", layout.bits())));
    }
    Ok(())
}

fn check_overlap(from: usize, from_bytes: u64, to: usize, to_bytes: u64) -> Result<()> {
    let end = |start: usize, bytes: u64| start as u64 + bytes; // no buffer ends beyond the address space
    if end(from, from_bytes) <= to as u64
        || end(to, to_bytes) <= from as u64
        || from_bytes == 0
        || to_bytes == 0
    {
        return Ok(());
    }
    Err(Error::new(format!("a destination of {to_bytes} bytes that overlaps the source of {from_bytes}"))
        .field("destination")
        .rule(
            "source and destination are different memory: elements would be overwritten before they are read",
        )
        .accepts("a buffer of its own"))
}
