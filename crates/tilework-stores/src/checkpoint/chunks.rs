//! Writing checkpoints for JAX: an array of Zarr for each tensor, and a chunk for each part.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tilework::sharding::{Mesh, Named};
use tilework::{Error, Result};
use tilework_copy::Pool;

use super::write::{Cut, Open};
use crate::gather::Gather;
use crate::job::missing;
use crate::orbax;
use crate::region::Region;
use crate::stage::Stage;
use crate::store::Write;
use crate::transfer::Transfers;
use crate::zarr::{Compression, NewArray};

impl Open<'_> {
    /// The arrays of a checkpoint for JAX.
    pub(super) fn arrays(&self) -> Result<Vec<orbax::New<'_>>> {
        let mut arrays = Vec::with_capacity(self.tensors.len());
        let mesh = match &self.job.mesh {
            Some(mesh) => Mesh::parse(mesh)?,
            None => Mesh::new(vec![("devices".to_owned(), self.devices)])?,
        };
        let compression = self.job.compression.as_deref().map_or(Ok(Compression::None), Compression::read)?;
        for Cut { number, sharding, named } in &self.tensors {
            let tensor = &self.from.tensors()[*number];
            let sizes = tensor.shards.grid().sizes();
            arrays.push(orbax::New {
                name: &tensor.name,
                leaf: tensor.leaf.as_ref(),
                element: tensor.shards.element(),
                bits: tensor.shards.largest()?.bits(),
                compression,
                part: sharding.part_sizes(&sizes)?,
                // JAX places no array that its parts do not divide, and Orbax wants a sharding of each.
                saved: match named {
                    Some(named) if sharding.uneven(&sizes)?.is_none() => named.clone(),
                    _ => Named::new(mesh.clone(), Vec::new())?,
                },
                sizes,
            });
        }
        Ok(arrays)
    }

    /// Writes the chunks that a device has first, of a checkpoint for JAX. Returns whether one was written.
    pub(super) fn chunks(
        &self,
        device: u64,
        stage: &Arc<Stage>,
        pool: &dyn Pool,
        window: u64,
    ) -> Result<bool> {
        let touched = AtomicU64::new(0);
        let mut has_written = false;
        let arrays = self.arrays()?;
        for (Cut { number, sharding, .. }, new) in self.tensors.iter().zip(&arrays) {
            let named = |error: Error| Error::new(format!("tensor {:?}: {error}", new.name));
            let part = match sharding.part(&new.sizes, device)? {
                Some(part) if part.copy == 0 && !part.size.contains(&0) => part,
                _ => continue,
            };
            let to = NewArray::at(Arc::clone(stage), new.name, &new.spec()?).map_err(named)?;
            let at: Vec<u64> = part.start.iter().zip(&new.part).map(|(start, part)| start / part).collect();
            let piece = to.shards().grid().number(&at)?;
            if to.has(piece)? {
                continue;
            }
            let parts = self.from.parts(&self.from.tensors()[*number]);
            let transfers = Transfers::new(new.element, new.element)?;
            let gather = Gather { from: &parts, transfers: &transfers, pool, window, touched: &touched };
            let region = Region { start: part.start, size: part.size };
            let layout = to.shards().layout_of(&region)?;
            to.put_space(piece, &mut |space| {
                gather.run((&region, &layout), space, &mut HashMap::new(), &|_| false)
            })
            .map_err(named)?;
            has_written = true;
        }
        Ok(has_written)
    }

    /// Writes the metadata, when all chunks are there.
    ///
    /// # Errors
    /// The first chunk that is missing, and what the system refuses.
    pub(super) fn finish_arrays(&self, stage: &Arc<Stage>) -> Result<()> {
        let arrays = self.arrays()?;
        for new in &arrays {
            let array = NewArray::at(Arc::clone(stage), new.name, &new.spec()?)?;
            let count = array.shards().grid().count();
            for piece in 0..count {
                if !array.has(piece)? {
                    return Err(missing(
                        &format!("chunk {piece} of {:?}", new.name),
                        "the job",
                        piece,
                        count,
                    ));
                }
            }
            array.put_metadata()?;
        }
        orbax::finish(&arrays, &self.from.others, self.from.metadata(), stage)
    }
}
