//! The rivals of Tilework that are crates, behind one C function.
//!
//! Each moves one nest of strided loops; what it cannot do it refuses.

#[cfg(feature = "hptt")]
mod hptt_crate;
mod ndarray_crate;
mod strided_perm_crate;
mod transpose_crate;

use std::ffi::{c_char, c_int};

/// Loops, outermost first, with strides in elements on both sides.
struct Nest {
    extents: Vec<usize>,
    from: Vec<isize>,
    to: Vec<isize>,
}

impl Nest {
    /// How many elements one side spans, from the first to the last.
    fn span(&self, strides: &[isize]) -> usize {
        let steps =
            self.extents.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride.unsigned_abs());
        1 + steps.sum::<usize>()
    }

    #[cfg(feature = "hptt")]
    fn elements(&self) -> usize {
        self.extents.iter().product()
    }
}

/// Two buffers and what to do with them.
struct Job<'a, T> {
    nest: &'a Nest,
    from: &'a [T],
    to: &'a mut [T],
    threads: usize,
}

/// An element that is only moved. The widths are those of f32 and f64 where a rival knows nothing else.
trait Element: Copy + Send + Sync + 'static {
    #[cfg(feature = "hptt")]
    fn hptt(job: Job<Self>, plan: &hptt_crate::Permutation) -> bool;
}

/// Runs the rival of this number so many times. Returns 0 when that is done, 1 when it cannot do this.
///
/// # Safety
/// The three arrays hold `rank` numbers; `from` and `to` hold what the loops reach, aligned for the element, do not
/// overlap, and nobody else writes them meanwhile.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn peer_run(
    peer: c_int,
    element_bytes: c_int,
    rank: usize,
    extents: *const i64,
    from_strides: *const i64,
    to_strides: *const i64,
    from: *const u8,
    to: *mut u8,
    threads: usize,
    times: usize,
) -> c_int {
    // SAFETY: each array holds `rank` numbers, as this function asks of its caller.
    let numbers = |array: *const i64| unsafe { std::slice::from_raw_parts(array, rank) }.iter();
    let nest = Nest {
        extents: numbers(extents).map(|&extent| extent as usize).collect(),
        from: numbers(from_strides).map(|&stride| stride as isize).collect(),
        to: numbers(to_strides).map(|&stride| stride as isize).collect(),
    };
    let done = (0..times).all(|_| {
        // SAFETY: the caller says that the buffers hold what the nest reaches, are aligned and apart.
        unsafe {
            match element_bytes {
                1 => run::<u8>(peer, &nest, from, to, threads),
                2 => run::<u16>(peer, &nest, from, to, threads),
                4 => run::<f32>(peer, &nest, from, to, threads),
                8 => run::<f64>(peer, &nest, from, to, threads),
                16 => run::<[f64; 2]>(peer, &nest, from, to, threads),
                _ => false,
            }
        }
    });
    c_int::from(!done)
}

/// The name and version of a rival, or null after the last.
#[unsafe(no_mangle)]
pub extern "C" fn peer_name(peer: c_int) -> *const c_char {
    let names = [
        c"ndarray 0.17.2 assign",
        c"strided-perm 0.10.0",
        c"transpose 0.2.3",
        #[cfg(feature = "hptt")]
        c"hptt 0.4.1",
    ];
    usize::try_from(peer)
        .ok()
        .and_then(|place| names.get(place))
        .map_or(std::ptr::null(), |name| name.as_ptr())
}

/// # Safety
/// As of [`peer_run`].
unsafe fn run<T: Element>(peer: c_int, nest: &Nest, from: *const u8, to: *mut u8, threads: usize) -> bool {
    // SAFETY: both buffers hold what the nest reaches, which is its span, and are apart.
    let (from, to) = unsafe {
        let from = std::slice::from_raw_parts(from.cast::<T>(), nest.span(&nest.from));
        (from, std::slice::from_raw_parts_mut(to.cast::<T>(), nest.span(&nest.to)))
    };
    let job = Job { nest, from, to, threads };
    match peer {
        0 => ndarray_crate::run(job),
        1 => strided_perm_crate::run(job),
        2 => transpose_crate::run(job),
        #[cfg(feature = "hptt")]
        3 => hptt_crate::run(job),
        _ => false,
    }
}

impl Element for u8 {
    #[cfg(feature = "hptt")]
    fn hptt(_: Job<Self>, _: &hptt_crate::Permutation) -> bool {
        false
    }
}

impl Element for u16 {
    #[cfg(feature = "hptt")]
    fn hptt(_: Job<Self>, _: &hptt_crate::Permutation) -> bool {
        false
    }
}

impl Element for f32 {
    #[cfg(feature = "hptt")]
    fn hptt(job: Job<Self>, plan: &hptt_crate::Permutation) -> bool {
        hptt_crate::single(job, plan)
    }
}

impl Element for f64 {
    #[cfg(feature = "hptt")]
    fn hptt(job: Job<Self>, plan: &hptt_crate::Permutation) -> bool {
        hptt_crate::double(job, plan)
    }
}

impl Element for [f64; 2] {
    #[cfg(feature = "hptt")]
    fn hptt(job: Job<Self>, plan: &hptt_crate::Permutation) -> bool {
        hptt_crate::complex(job, plan)
    }
}
