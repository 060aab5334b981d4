//! The answer to a comparison, and what differs where it is no.

use std::fmt;

/// The answer to a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It holds.
    Yes,
    /// It does not hold, and what differs.
    No(Difference),
    /// Deciding would take tables larger than [`TABLE_LIMIT`](crate::TABLE_LIMIT), or many of them.
    NotDecided(String),
}

impl Verdict {
    /// Whether the answer is yes.
    pub fn is_yes(&self) -> bool {
        *self == Verdict::Yes
    }

    /// Whether the answer is no.
    pub fn is_no(&self) -> bool {
        matches!(self, Verdict::No(_))
    }

    /// What differs, if the answer is no.
    pub fn difference(&self) -> Option<&Difference> {
        match self {
            Verdict::No(difference) => Some(difference),
            _ => None,
        }
    }

    /// Why the answer is not yes, in words.
    pub fn reason(&self) -> Option<String> {
        match self {
            Verdict::Yes => None,
            Verdict::No(difference) => Some(difference.to_string()),
            Verdict::NotDecided(why) => Some(why.clone()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Yes => f.write_str("yes"),
            Verdict::No(difference) => write!(f, "no: {difference}"),
            Verdict::NotDecided(why) => write!(f, "not decided: {why}"),
        }
    }
}

/// What makes two layouts different, the first before the second.
///
/// ```
/// use tilework::{Difference, Layout, Verdict};
/// let rows = Layout::row_major(&[2, 3], 32)?;
/// let columns = Layout::builder(&[2, 3], 32)?.minor_to_major(&[0, 1])?.build()?;
/// let Verdict::No(difference) = rows.same_function(&columns) else { panic!() };
/// assert_eq!(difference, Difference::Element { index: vec![1, 0], offsets: [3, 1] });
/// assert_eq!(difference.to_string(), "element (1, 0) is at 3 and 1");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The sizes of the dimensions.
    Dims([Vec<u64>; 2]),
    /// The bits of an element.
    Bits([u32; 2]),
    /// The types of the elements, by name.
    ElementType([String; 2]),
    /// The number of elements of the arrays.
    Len([u64; 2]),
    /// The number of elements that are allocated.
    Size([u64; 2]),
    /// An element is at one offset in one and at another in the other.
    Element {
        /// The index of the element.
        index: Vec<u64>,
        /// Its offsets.
        offsets: [u64; 2],
    },
    /// A place that does not hold as many elements in one as in the other.
    Place(u64),
    /// The independent pieces that the layouts can be cut into, as `extent:stride`.
    Pieces([String; 2]),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Dims([a, b]) => write!(f, "the dimensions differ: {a:?} and {b:?}"),
            Difference::Bits([a, b]) => write!(f, "elements of {a} and {b} bits"),
            Difference::ElementType([a, b]) => write!(f, "element types {a} and {b}"),
            Difference::Len([a, b]) => write!(f, "{a} elements and {b}"),
            Difference::Size([a, b]) => write!(f, "{a} and {b} elements are allocated"),
            Difference::Element { index, offsets: [a, b] } => {
                let index: Vec<String> = index.iter().map(u64::to_string).collect();
                write!(f, "element ({}) is at {a} and {b}", index.join(", "))
            }
            Difference::Place(place) => {
                write!(f, "place {place} does not hold as many elements in one as in the other")
            }
            Difference::Pieces([a, b]) => {
                write!(f, "cut into independent pieces, as extent:stride, they are {a} and {b}")
            }
        }
    }
}
