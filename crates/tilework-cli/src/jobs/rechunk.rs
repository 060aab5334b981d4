//! `rechunk`: an array in other chunks.

use tilework::dialect::Known;
use tilework::zarr;
use tilework::{Element, Error};
use tilework_stores::job::{Job, Rechunk};
use tilework_stores::plan::Assumed;
use tilework_stores::run::Bounds;

use super::cluster::Cluster;
use super::said::Said;
use super::{bounds, far_bounds, go};
use crate::args::{Args, RechunkArgs};
use crate::output::{Output, Stop};
use crate::subject;

pub fn rechunk(asked: &RechunkArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let lie = match &asked.order {
        None => Lie::default(),
        Some(text) => match lie(text, asked, args) {
            Ok(lie) => lie,
            Err(error) => return output.bad(&error, text, None),
        },
    };
    let planned = || -> tilework::Result<(Rechunk, Bounds, Option<Cluster>)> {
        let (how, cluster) = Cluster::of(&asked.how)?;
        let workers = asked.workers.or(cluster.as_ref().map(Cluster::threads));
        let job = Rechunk {
            from: asked.from.clone(),
            only: asked.only.clone(),
            to: asked.to.clone(),
            shards: lie.tiles.as_ref().map(|_| asked.chunks.clone()).or_else(|| asked.shards.clone()),
            chunks: lie.tiles.unwrap_or_else(|| asked.chunks.clone()),
            order: lie.order,
            compression: asked.compress.clone(),
            plan: None,
        };
        if !job.is_far() {
            let bounds = bounds(&how)?;
            let assumed = Assumed::files(workers.unwrap_or(bounds.threads as u64), &job.from, &job.to);
            return Ok((job.planned(bounds.memory, assumed)?, bounds, cluster));
        }
        let (job, bounds) = far_bounds(&how, |bounds| {
            let under_way = bounds.threads as f64;
            let assumed = Assumed { under_way, ..Assumed::objects(workers.unwrap_or(1)) };
            let job = job.planned(bounds.memory, assumed)?;
            let seconds =
                job.plan.as_ref().map_or(Ok(0.0), |plan| plan.price().map(|price| price.seconds))?;
            Ok(((job, bounds), seconds))
        })?;
        Ok((job, bounds, cluster))
    };
    match planned() {
        Ok((job, bounds, cluster)) => {
            let Some(plan) = &job.plan else { return Ok(()) }; // just made
            let price = match plan.price() {
                Ok(price) => price,
                Err(error) => return output.bad(&error, "", None),
            };
            go(
                &Job::Rechunk(job.clone()),
                &asked.plan,
                (&bounds, cluster),
                Said::Rechunk { job: &job, plan, price },
                output,
            )
        }
        Err(error) => output.bad(&error, "", None),
    }
}

/// How the elements of a chunk lie.
#[derive(Default)]
struct Lie {
    /// The sizes of a tile: a chunk of tiles is a shard of chunks, and its places are the same.
    tiles: Option<Vec<u64>>,
    /// The dimensions from major to minor, in a tile if there are some.
    order: Option<Vec<usize>>,
}

/// Reads a layout for the sizes of a chunk: an order of dimensions, or tiles that Zarr has a word for.
fn lie(text: &str, asked: &RechunkArgs, args: &Args) -> tilework::Result<Lie> {
    let chunks = &asked.chunks;
    if chunks.contains(&Rechunk::WHOLE) {
        return Err(Error::new("--to, and -1 in --chunks")
            .rule("--to is a layout of a chunk, whose sizes are known")
            .accepts("the size of the dimension, which tilework ls says"));
    }
    let known = Known::array(chunks, Element::U8);
    let said = subject::read_one(text, None, known, args).map_err(|bad| bad.error)?;
    let layout = said.layout()?;
    let fail = |rule: &str| {
        Error::new(format!("chunks that lie as {said}"))
            .rule(rule)
            .accepts("an order such as '{0,1}', or whole tiles such as '{1,0:T(8,128)}'")
    };
    if layout.dims() != chunks {
        return Err(fail(&format!("--to is a layout of a chunk, which --chunks says is {chunks:?}")));
    }
    if let Some(strides) = layout.to_strides().ok().filter(|_| layout.is_packed() == Some(true)) {
        let found = said.minor_to_major();
        let order = found.map(|minor| minor.iter().rev().copied().collect::<Vec<usize>>());
        let order = order.filter(|order| order.len() == chunks.len()).unwrap_or_else(|| {
            let mut order: Vec<usize> = (0..chunks.len()).collect();
            order.sort_by_key(|&dim| std::cmp::Reverse(strides.strides[dim]));
            order
        });
        return Ok(Lie { tiles: None, order: Some(order) });
    }
    let tiled = zarr::DIALECT.say.and_then(|say| say(&layout, Element::U8).ok());
    let tiled = tiled.as_ref().and_then(|tiled| tiled.get::<zarr::Array>());
    let tiled = tiled.filter(|tiled| tiled.shards().is_none()).ok_or_else(|| {
        fail("tiles of a chunk are chunks of a shard, which lie one behind the other, the last dimension first")
    })?;
    if asked.shards.is_some() {
        return Err(fail("a chunk of tiles is a shard of chunks, and there are no shards of shards"));
    }
    let order = tiled.order().map_or_else(|| (0..chunks.len()).collect(), <[usize]>::to_vec);
    Ok(Lie { tiles: Some(tiled.chunks().to_vec()), order: Some(order) })
}
