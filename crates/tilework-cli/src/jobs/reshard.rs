//! `reshard`: a checkpoint for other devices.

use tilework::sharding::{Mesh, Sharding};
use tilework_files::is_in_memory;
use tilework_stores::checkpoint::{Reshard, Rule, Written};
use tilework_stores::job::Job;
use tilework_stores::run::Bounds;
use tilework_stores::{is_address, scratch_of};

use super::cluster::Cluster;
use super::said::Said;
use super::{bounds, far_bounds, go};
use crate::args::ReshardArgs;
use crate::fetch::note_memory;
use crate::output::{Output, Stop};

pub fn reshard(asked: &ReshardArgs, output: &mut Output) -> Result<(), Stop> {
    let job = Reshard {
        from: asked.from.clone(),
        to: asked.to.clone(),
        mesh: asked.mesh.clone(),
        rules: asked.specs.iter().map(|spec| rule(spec)).collect(),
        only: asked.only.clone(),
        once: asked.once,
        orbax: asked.orbax,
        compression: asked.compress.clone(),
    };
    // Texts are read here first, so that errors have a caret.
    let mesh = match asked.mesh.as_deref().map(Mesh::parse).transpose() {
        Ok(mesh) => mesh,
        Err(error) => return output.bad(&error, asked.mesh.as_deref().unwrap_or_default(), None),
    };
    for rule in &job.rules {
        if let Err(error) = Sharding::parse(&rule.sharding, mesh.as_ref()) {
            return output.bad(&error, &rule.sharding, None);
        }
    }
    let is_sent = is_address(&job.to) && !job.orbax;
    let planned = || -> tilework::Result<(Written, Bounds, Option<Cluster>)> {
        let open = job.open()?;
        let (how, cluster) = Cluster::of(&asked.how)?;
        let fit = |bounds: Bounds| open.at_a_time(&bounds).map(|_| bounds);
        let fit_far = |bounds| fit(bounds).map(|bounds| (bounds, 0.0)); // whatever there are, each reads the same
        // A file that is sent stands here before, so no more of them at a time than there are threads.
        let waits = !is_sent && (is_address(&job.to) || open.from().is_far());
        let bounds = if waits { far_bounds(&how, fit_far)? } else { bounds(&how).and_then(fit)? };
        Ok((open.written().clone(), bounds, cluster))
    };
    match planned() {
        Ok((written, bounds, cluster)) => {
            let scratch = scratch_of(&job.to);
            let is_only = asked.plan.dry_run || asked.plan.save_plan.is_some();
            if is_sent && cluster.is_none() && !is_only && is_in_memory(&scratch) {
                let at_a_time = written.files.min(bounds.threads as u64);
                let bytes = written.largest.saturating_mul(at_a_time);
                note_memory(bytes, "are written in", &scratch, output);
            }
            let said = Said::Reshard { job: &job, written };
            go(&Job::Reshard(job.clone()), &asked.plan, (&bounds, cluster), said, output)
        }
        Err(error) => output.bad(&error, "", None),
    }
}

/// `PATTERN=SPEC` or `SPEC`. A spec of its own has = only within brackets or braces.
fn rule(text: &str) -> Rule {
    let is_name = |name: &str| !name.contains(['(', '{', '[']);
    match text.split_once('=').filter(|(name, _)| is_name(name)) {
        Some((names, sharding)) => Rule { names: Some(names.to_owned()), sharding: sharding.to_owned() },
        None => Rule { names: None, sharding: text.to_owned() },
    }
}
