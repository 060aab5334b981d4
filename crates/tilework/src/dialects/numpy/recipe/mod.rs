//! Layouts as code: what makes the buffer from the array, or what sees the array in a buffer.
//!
//! ```text
//! np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).ravel()  # x: float32 (3, 5)
//! torch.nn.functional.pad(x, (0, 1, 0, 1)).reshape(2, 2, 3, 2).permute(0, 2, 1, 3).ravel()  # x: torch.float32 [3, 5]
//! rearrange(x, "(i0 i1) (j0 j1) -> i0 j0 i1 j1", i1=8, j1=128)  # x: float32 (64, 256)
//! np.lib.stride_tricks.as_strided(buffer[2:], (2, 3), (0, -2))  # buffer: int16 (3,)
//! ```
//!
//! The text runs as it is where `x`, or `buffer`, is there. The remark behind it says what that is. The elements of the result
//! in row-major order are the buffer.

mod arguments;
mod lower;
mod make;
mod parse;
mod pattern;
mod read;
mod read_view;
mod view;
mod words;

use std::fmt;

use super::array::{Array, Library};
use crate::element::Element;

pub(super) use make::{code, einops, numpy};
pub(super) use parse::is_code;
pub(super) use read::read;

use pattern::Pattern;
use view::View;

/// The most axes and steps of a recipe.
const MOST: usize = 64;

/// Whose functions are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Numpy,
    Torch,
    /// `rearrange`, after NumPy's padding.
    Einops,
}

/// What makes the buffer from the array, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) style: Style,
    pub(super) element: Element,
    pub(super) dims: Vec<u64>,
    pub(super) steps: Vec<Step>,
}

/// A step: from an array to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Places before and behind each axis.
    Pad(Vec<(u64, u64)>),
    /// Other axes for the same elements in row-major order.
    Reshape(Vec<u64>),
    /// The axes in another order.
    Transpose(Vec<usize>),
    /// Both, in einops' words.
    Rearrange(Pattern),
    /// One axis.
    Ravel,
    /// The first places of one axis.
    Take(u64),
    /// The first places of the last of several axes.
    Crop(u64),
}

impl Style {
    pub(super) fn library(self) -> Library {
        match self {
            Style::Torch => Library::Torch,
            Style::Numpy | Style::Einops => Library::Numpy,
        }
    }
}

/// What a name in the code is: `float32 (3, 5)`, `torch.float32 [3, 5]`.
pub(super) fn plain(library: Library, element: Element, dims: &[u64]) -> Array {
    Array { printer: library, element, dims: dims.to_vec(), strides: None, order: None, offset: None }
}

impl Recipe {
    /// The code without the remark.
    pub(super) fn code(&self) -> String {
        self.steps.iter().fold("x".to_owned(), |code, step| self.step(code, step))
    }

    /// A step behind or around the code of those before it.
    pub(super) fn step(&self, code: String, step: &Step) -> String {
        let is_torch = self.style == Style::Torch;
        match step {
            Step::Pad(pairs) if is_torch => {
                // The last axis comes first, and what is behind the last pair is not padded.
                let first = pairs.iter().position(|pair| *pair != (0, 0)).unwrap_or(0);
                let sizes = pairs[first..].iter().rev().flat_map(|&(before, behind)| [before, behind]);
                format!("torch.nn.functional.pad({code}, {})", tuple(sizes))
            }
            Step::Pad(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|&(before, behind)| tuple([before, behind])).collect();
                match &pairs[..] {
                    [only] => format!("np.pad({code}, {only})"),
                    _ => format!("np.pad({code}, {})", tuple(pairs)),
                }
            }
            Step::Reshape(sizes) if sizes.is_empty() => format!("{code}.reshape(())"),
            Step::Reshape(sizes) => format!("{code}.reshape({})", list(sizes)),
            Step::Transpose(order) if is_torch => format!("{code}.permute({})", list(order)),
            Step::Transpose(order) => format!("{code}.transpose({})", list(order)),
            Step::Rearrange(pattern) => format!("rearrange({code}, {pattern})"),
            Step::Ravel => format!("{code}.ravel()"),
            Step::Take(places) => format!("{code}[:{places}]"),
            Step::Crop(places) => format!("{code}[..., :{places}]"),
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  # x: {}", self.code(), plain(self.style.library(), self.element, &self.dims))
    }
}

/// `0, 2, 1, 3`
pub(super) fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
}

/// `(0, 1)`, `(0,)`
pub(super) fn tuple(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let comma = if items.len() == 1 { "," } else { "" };
    format!("({}{comma})", items.join(", "))
}
