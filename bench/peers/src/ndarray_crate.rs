//! `ndarray`: `assign` between views, and its parallel `Zip` for more threads.

use ndarray::{
    ArrayView, ArrayViewMut, Axis, Dimension, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, ShapeBuilder, Zip,
};

use crate::{Element, Job};

pub fn run<T: Element>(job: Job<T>) -> bool {
    let strides =
        |strides: &[isize]| IxDyn(&strides.iter().map(|stride| stride.unsigned_abs()).collect::<Vec<_>>());
    let shape = || IxDyn(&job.nest.extents);
    let Ok(mut from) = ArrayView::from_shape(shape().strides(strides(&job.nest.from)), job.from) else {
        return false;
    };
    let Ok(mut to) = ArrayViewMut::from_shape(shape().strides(strides(&job.nest.to)), job.to) else {
        return false;
    };
    for (axis, (from_stride, to_stride)) in job.nest.from.iter().zip(&job.nest.to).enumerate() {
        if *from_stride < 0 {
            from.invert_axis(Axis(axis));
        }
        if *to_stride < 0 {
            to.invert_axis(Axis(axis));
        }
    }
    // Its quick loops want the rank to be known when compiling.
    match job.nest.extents.len() {
        1 => copy::<T, Ix1>(from, to, job.threads),
        2 => copy::<T, Ix2>(from, to, job.threads),
        3 => copy::<T, Ix3>(from, to, job.threads),
        4 => copy::<T, Ix4>(from, to, job.threads),
        5 => copy::<T, Ix5>(from, to, job.threads),
        6 => copy::<T, Ix6>(from, to, job.threads),
        _ => false,
    }
}

fn copy<T: Element, D: Dimension>(
    from: ArrayView<T, IxDyn>,
    to: ArrayViewMut<T, IxDyn>,
    threads: usize,
) -> bool {
    let (Ok(from), Ok(mut to)) = (from.into_dimensionality::<D>(), to.into_dimensionality::<D>()) else {
        return false;
    };
    if threads > 1 {
        Zip::from(&mut to).and(&from).par_for_each(|to, from| *to = *from);
    } else {
        to.assign(&from);
    }
    true
}
