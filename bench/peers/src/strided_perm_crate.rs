//! `strided-perm`: a copy of HPTT's method in Rust.

use std::sync::OnceLock;

use strided_view::{StridedView, StridedViewMut};
use threadteam::{Exec, Pool};

use crate::{Element, Job};

pub fn run<T: Element>(job: Job<T>) -> bool {
    static POOL: OnceLock<Option<Pool>> = OnceLock::new();
    let extents = &job.nest.extents;
    // The slices begin at the lowest place, where a loop that goes back ends.
    let first = |strides: &[isize]| -> isize {
        extents.iter().zip(strides).map(|(extent, stride)| (*extent as isize - 1) * -(*stride).min(0)).sum()
    };
    let Ok(from) = StridedView::<T>::new(job.from, extents, &job.nest.from, first(&job.nest.from)) else {
        return false;
    };
    let Ok(mut to) = StridedViewMut::<T>::new(job.to, extents, &job.nest.to, first(&job.nest.to)) else {
        return false;
    };
    if job.threads <= 1 {
        return strided_perm::copy_into(&mut to, &from, Exec::serial()).is_ok();
    }
    let Some(pool) = POOL.get_or_init(|| Pool::builder().threads(job.threads).build().ok()) else {
        return false;
    };
    Exec::new(pool, job.threads).is_ok_and(|exec| strided_perm::copy_into(&mut to, &from, exec).is_ok())
}
