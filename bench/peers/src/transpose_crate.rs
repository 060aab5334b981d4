//! `transpose`: dense matrices, one after the other.

use crate::{Element, Job};

pub fn run<T: Element>(job: Job<T>) -> bool {
    let nest = job.nest;
    let Some(outer) = nest.extents.len().checked_sub(2) else { return false };
    let (rows, columns) = (nest.extents[outer], nest.extents[outer + 1]);
    let matrix = rows * columns;
    let inner = nest.from[outer..] == [1, rows as isize] && nest.to[outer..] == [columns as isize, 1];
    let dense = |strides: &[isize]| outer == 0 || outer == 1 && strides[0] == matrix as isize;
    if job.threads > 1 || !inner || !dense(&nest.from) || !dense(&nest.to) {
        return false;
    }
    for (from, to) in job.from.chunks_exact(matrix).zip(job.to.chunks_exact_mut(matrix)) {
        transpose::transpose(from, to, rows, columns);
    }
    true
}
