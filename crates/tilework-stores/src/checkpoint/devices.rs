//! Running the tasks of a checkpoint: devices, as many at a time as there are threads and as memory allows.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tilework::words::short_bytes;
use tilework::{Error, ErrorKind, Result};
use tilework_copy::{Inline, Pool, Threads};

use super::write::Open;
use crate::orbax;
use crate::run::{Bounds, Done};
use crate::stage::Stage;
use crate::store::Read;
use crate::zarr;

impl Open<'_> {
    /// The bytes that a task holds at most, and the tensor that needs them: a chunk that has to be unpacked is held as a whole, with the
    /// bytes that are stored, which are hardly ever more; and so is a new one that is not written through a mapping.
    fn needs(&self) -> Result<(u64, &str)> {
        let mut most = (0, "");
        let written: Vec<u64> = match self.job.orbax {
            false => vec![0; self.tensors.len()],
            true => {
                let cost = |new: &orbax::New| Ok(zarr::written(&new.spec()?, &self.job.to)?.1.memory);
                self.arrays()?.iter().map(cost).collect::<Result<_>>()?
            }
        };
        for (cut, written) in self.tensors.iter().zip(written) {
            let tensor = &self.from.tensors()[cut.number];
            let cost = self.from.parts(tensor).cost()?;
            let stored = if cost.coding > 0 { cost.bytes } else { 0 };
            let needed = cost.memory.saturating_add(stored).saturating_add(written);
            if needed > most.0 {
                most = (needed, &tensor.name);
            }
        }
        Ok(most)
    }

    /// How many devices are written at a time.
    ///
    /// # Errors
    /// Less memory than one needs.
    pub fn at_a_time(&self, bounds: &Bounds) -> Result<usize> {
        let (needed, name) = self.needs()?;
        let have = bounds.for_chunks();
        match have / needed.max(1) {
            0 => Err(Error::new(format!(
                "tensor {name:?} has chunks that take {} of memory",
                short_bytes(needed.into())
            ))
            .of_kind(ErrorKind::Limit)
            .field("--memory")
            .rule(format!(
                "a chunk is read and written as a whole, and {} are left for that",
                short_bytes(have.into())
            ))
            .accepts(format!(
                "{}MiB or more; or smaller chunks, which tilework rechunk makes",
                Bounds::enough(needed).div_ceil(1 << 20)
            ))),
            count => Ok(usize::try_from(count).unwrap_or(usize::MAX).min(bounds.threads).max(1)),
        }
    }

    /// Writes what these devices have, each by one thread; those that are left help within a device.
    ///
    /// # Errors
    /// The first that a store has.
    pub(crate) fn run(
        &self,
        stage: &Arc<Stage>,
        tasks: Range<u64>,
        bounds: &Bounds,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Done> {
        let count = usize::try_from(tasks.end.saturating_sub(tasks.start)).unwrap_or(usize::MAX);
        let at_a_time = count.min(self.at_a_time(bounds)?).max(1);
        let within: &dyn Pool = match bounds.threads / at_a_time {
            0 | 1 => &Inline,
            several => &Threads::new(several),
        };
        let (next, stop) = (AtomicU64::new(tasks.start), AtomicBool::new(false));
        let all = Mutex::new((Done::default(), None));
        Threads::new(at_a_time).run(at_a_time, &|_| {
            while !stop.load(Ordering::Relaxed) {
                let device = next.fetch_add(1, Ordering::Relaxed);
                if device >= tasks.end {
                    return;
                }
                let outcome = self.task(device, stage, within, bounds.window);
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Ok(true) => all.0.written += 1,
                    Ok(false) => all.0.kept += 1,
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        all.1.get_or_insert(error);
                    }
                }
                progress(all.0.written + all.0.kept);
            }
        });
        match all.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (done, None) => Ok(done),
            (_, Some(error)) => Err(error),
        }
    }
}
