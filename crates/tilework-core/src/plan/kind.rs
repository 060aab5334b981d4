//! What kind of movement a nest is.

use std::fmt;

use super::nest::{Loop, Nest};

/// The kind of movement that a nest is, told by its loops of stride 1.
///
/// It is a hint for whoever runs the nest and a word for whoever reads it; the loops say everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One element from each start.
    Single,
    /// Neighbours stay neighbours: the innermost loop moves by 1 on both sides.
    Rows,
    /// Neighbours stay neighbours in the opposite order: −1 in the source, 1 in the destination.
    Reversed,
    /// The innermost loop writes neighbours, another one reads them.
    Transpose,
    /// A transpose that takes one element of each of `k` runs in turn: a₀ b₀ a₁ b₁ … from a₀ a₁ … and b₀ b₁ ….
    Interleave {
        /// Number of runs, at most [`Kind::MOST_INTERLEAVED`].
        k: u64,
    },
    /// A transpose that takes every `k`-th element in turn: the inverse of [`Kind::Interleave`].
    Deinterleave {
        /// Number of runs, at most [`Kind::MOST_INTERLEAVED`].
        k: u64,
    },
    /// The innermost loop writes the same element again and again.
    Broadcast,
    /// Neighbours are written, and read from apart.
    Gather,
    /// Neighbours are read, and written apart.
    Scatter,
    /// Elements are read apart and written apart.
    Apart,
}

impl Kind {
    /// The most runs that are called interleaved; beyond that it is a transpose.
    pub const MOST_INTERLEAVED: u64 = 8;
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Single => f.write_str("single"),
            Kind::Rows => f.write_str("rows"),
            Kind::Reversed => f.write_str("reversed"),
            Kind::Transpose => f.write_str("transpose"),
            Kind::Interleave { k } => write!(f, "interleave {k}"),
            Kind::Deinterleave { k } => write!(f, "deinterleave {k}"),
            Kind::Broadcast => f.write_str("broadcast"),
            Kind::Gather => f.write_str("gather"),
            Kind::Scatter => f.write_str("scatter"),
            Kind::Apart => f.write_str("apart"),
        }
    }
}

impl Nest {
    /// What kind of movement this is.
    ///
    /// ```
    /// use tilework::{Kind, Plan, PlanOptions, xla::Shape};
    /// let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
    /// let kind = |from, to| Ok(Plan::new(&layout(from)?, &layout(to)?, &PlanOptions::default())?.copies()[0].kind());
    /// assert_eq!(kind("f32[32,9]{1,0}", "f32[32,9]{0,1}")?, Kind::Transpose);
    /// assert_eq!(kind("f32[8,256]{1,0:T(8,128)}", "f32[8,256]{1,0}")?, Kind::Rows);
    /// assert_eq!(kind("bf16[8,128]{1,0:T(8,128)(2,1)}", "bf16[8,128]{1,0}")?, Kind::Deinterleave { k: 2 });
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn kind(&self) -> Kind {
        let Some((&inner, outer)) = self.loops.split_last() else { return Kind::Single };
        let reading = outer.iter().find(|each| each.from.unsigned_abs() == 1);
        match (inner.from, inner.to, reading) {
            (1, 1, _) => Kind::Rows,
            (-1, 1, _) => Kind::Reversed,
            (0, ..) => Kind::Broadcast,
            (_, 1, Some(&reading)) => transposed(reading, inner),
            (_, 1, None) => Kind::Gather,
            (-1 | 1, ..) => Kind::Scatter,
            (.., Some(_)) => Kind::Scatter,
            _ => Kind::Apart,
        }
    }

    /// The longest run of elements that are neighbours, in the same order, on both sides.
    pub fn run(&self) -> u64 {
        match self.loops.last() {
            Some(&Loop { extent, from: 1, to: 1 }) => extent,
            _ => 1,
        }
    }
}

/// A loop that reads neighbours around one that writes them.
fn transposed(reading: Loop, writing: Loop) -> Kind {
    let few = |k: u64| k <= Kind::MOST_INTERLEAVED;
    if few(reading.extent) && writing.from == reading.extent as i64 {
        return Kind::Deinterleave { k: reading.extent };
    }
    if few(writing.extent) && reading.to == writing.extent as i64 {
        return Kind::Interleave { k: writing.extent };
    }
    Kind::Transpose
}
