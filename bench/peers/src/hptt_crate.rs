//! `hptt`: the C++ library of that name, with the plan that it estimates.

use hptt::{Complex64, MemoryOrder};

use crate::{Element, Job, Nest};

/// A dense, row-major source and which of its dimensions each dimension of the destination is.
pub struct Permutation {
    shape: Vec<usize>,
    order: Vec<usize>,
}

impl Permutation {
    /// None if one side is not dense.
    fn of(nest: &Nest) -> Option<Permutation> {
        let rank = nest.extents.len();
        let mut source: Vec<usize> = (0..rank).collect();
        source.sort_by_key(|&dimension| std::cmp::Reverse(nest.from[dimension]));
        let dense = |dimensions: &[usize], strides: &[isize]| {
            let mut stride = 1;
            dimensions.iter().rev().all(|&dimension| {
                let fits = strides[dimension] == stride;
                stride *= nest.extents[dimension] as isize;
                fits
            })
        };
        let destination: Vec<usize> = (0..rank).collect();
        if !dense(&source, &nest.from) || !dense(&destination, &nest.to) {
            return None;
        }
        let shape = source.iter().map(|&dimension| nest.extents[dimension]).collect();
        let place = |dimension: &usize| source.iter().position(|other| other == dimension);
        let order = destination.iter().map(place).collect::<Option<_>>()?;
        Some(Permutation { shape, order })
    }
}

pub fn run<T: Element>(job: Job<T>) -> bool {
    Permutation::of(job.nest).is_some_and(|plan| T::hptt(job, &plan))
}

pub fn single(job: Job<f32>, plan: &Permutation) -> bool {
    let order = MemoryOrder::RowMajor;
    hptt::transpose_f32(&plan.order, 1.0, job.from, &plan.shape, 0.0, job.to, job.threads, order).is_ok()
}

pub fn double(job: Job<f64>, plan: &Permutation) -> bool {
    let order = MemoryOrder::RowMajor;
    hptt::transpose_f64(&plan.order, 1.0, job.from, &plan.shape, 0.0, job.to, job.threads, order).is_ok()
}

pub fn complex(job: Job<[f64; 2]>, plan: &Permutation) -> bool {
    let elements = job.nest.elements();
    // SAFETY: both slices hold so many pairs of f64 (a dense side spans its elements), and `Complex64` is such a pair in
    // the order of C.
    let (from, to) = unsafe {
        let from = std::slice::from_raw_parts(job.from.as_ptr().cast::<Complex64>(), elements);
        (from, std::slice::from_raw_parts_mut(job.to.as_mut_ptr().cast::<Complex64>(), elements))
    };
    let (one, zero) = (Complex64::new(1.0, 0.0), Complex64::new(0.0, 0.0));
    let order = MemoryOrder::RowMajor;
    hptt::transpose_c64(&plan.order, one, from, &plan.shape, zero, to, job.threads, false, order).is_ok()
}
