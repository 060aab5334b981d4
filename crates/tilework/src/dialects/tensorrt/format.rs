//! Formats and the layouts that they mean.

use crate::dialect::blocked::{Block, Blocked};
use crate::dialect::named::packed_bits;
use crate::dialect::words;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// How the elements are arranged. Channels are the third dimension from the last, or the fourth with depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Row-major.
    Linear,
    /// `[N][⌈C/V⌉][H][W][V]`
    VectorMajor { depth: bool, vector: u64 },
    /// `[N][H][W][C rounded up]`
    VectorMinor { depth: bool, multiple: u64 },
    /// Row-major, with rows of a multiple of 64 bytes.
    DlaLinear,
    /// `[N][H][W rounded up][1 or 4]`, with rows of a multiple of the chip's bytes.
    DlaImage(Chip),
    /// Strides in vectors, as build logs have them.
    Strides {
        strides: Vec<u64>,
        /// The dimension of the vectors, and their elements.
        vector: Option<(usize, u64)>,
    },
}

/// A chip with a DLA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chip {
    Orin,
    Xavier,
}

impl Chip {
    pub(super) fn name(self) -> &'static str {
        match self {
            Chip::Orin => "Orin",
            Chip::Xavier => "Xavier",
        }
    }

    /// Bytes that the length of a row of an image is a multiple of.
    fn row(self) -> u64 {
        match self {
            Chip::Orin => 64,
            Chip::Xavier => 32,
        }
    }
}

/// The formats of the enum, with their names.
pub(super) const NAMES: [(&str, Format); 14] = [
    ("kLINEAR", Format::Linear),
    ("kCHW2", Format::VectorMajor { depth: false, vector: 2 }),
    ("kHWC8", Format::VectorMinor { depth: false, multiple: 8 }),
    ("kCHW4", Format::VectorMajor { depth: false, vector: 4 }),
    ("kCHW16", Format::VectorMajor { depth: false, vector: 16 }),
    ("kCHW32", Format::VectorMajor { depth: false, vector: 32 }),
    ("kDHWC8", Format::VectorMinor { depth: true, multiple: 8 }),
    ("kCDHW32", Format::VectorMajor { depth: true, vector: 32 }),
    ("kHWC", Format::VectorMinor { depth: false, multiple: 1 }),
    ("kDLA_LINEAR", Format::DlaLinear),
    ("kDLA_HWC4", Format::DlaImage(Chip::Orin)),
    ("kDLA_HWC4 on Xavier", Format::DlaImage(Chip::Xavier)),
    ("kHWC16", Format::VectorMinor { depth: false, multiple: 16 }),
    ("kDHWC", Format::VectorMinor { depth: true, multiple: 1 }),
];

/// TensorRT's element types, with the words of its logs.
pub(super) const TYPES: [(&str, Element); 11] = [
    ("Float", Element::F32),
    ("Half", Element::F16),
    ("Int8", Element::S8),
    ("Int32", Element::S32),
    ("Bool", Element::Pred),
    ("UInt8", Element::U8),
    ("FP8", Element::F8e4m3fn),
    ("BFloat16", Element::Bf16),
    ("Int64", Element::S64),
    ("Int4", Element::S4),
    ("FP4", Element::F4e2m1fn),
];

/// What TensorRT's logs call an element.
pub(super) fn type_name(element: Element) -> Option<&'static str> {
    TYPES.iter().find(|(_, other)| *other == element).map(|(name, _)| *name)
}

impl Format {
    /// The text that this format is printed as; `element` is what strides are of.
    pub(super) fn text(&self, element: Element) -> String {
        if let Some((name, _)) = NAMES.iter().find(|(_, format)| format == self) {
            return match self {
                Format::DlaImage(Chip::Orin) => "kDLA_HWC4 on Orin".to_owned(),
                _ => (*name).to_owned(),
            };
        }
        let name = type_name(element).unwrap_or(element.name());
        match self {
            Format::Strides { strides, vector } => {
                let each = strides.iter().enumerate().map(|(dim, stride)| match vector {
                    Some((of, size)) if *of == dim => format!("{stride}:{size}"),
                    _ => stride.to_string(),
                });
                format!("{name}({})", each.collect::<Vec<_>>().join(","))
            }
            _ => super::phrase::text(self, element),
        }
    }

    /// How many dimensions the format speaks of.
    pub(super) fn least_rank(&self) -> usize {
        match self {
            Format::VectorMajor { depth: true, .. } | Format::VectorMinor { depth: true, .. } => 4,
            Format::Linear | Format::Strides { .. } => 0,
            _ => 3,
        }
    }

    /// The dimension of the channels.
    fn channels(&self, rank: usize) -> usize {
        rank - self.least_rank()
    }

    /// The outer digits and inner blocks of an array.
    ///
    /// # Errors
    /// Too few dimensions, another number of strides, types and channels that the DLA does not have, and sizes above 63
    /// bits.
    pub(super) fn blocked(&self, dims: &[u64], element: Element) -> Result<Blocked> {
        let rank = dims.len();
        if rank < self.least_rank() {
            let what = self.text(element);
            return Err(Error::new(format!("{what} of {}", counted(rank as u64, "dimension")))
                .of_kind(ErrorKind::Mismatch)
                .field("format")
                .rule(format!("{what} needs at least {}", counted(self.least_rank() as u64, "dimension")))
                .accepts("kLINEAR, or more dimensions"));
        }
        let bits = packed_bits(element);
        let rows: Vec<usize> = (0..rank).collect();
        let mut padded = dims.to_vec();
        let up =
            |size: u64, to: u64| size.checked_next_multiple_of(to).ok_or_else(crate::dialect::blocked::large);
        match self {
            Format::Linear => Blocked::packed(dims, bits, &rows, &[], None),
            Format::VectorMajor { vector, .. } => {
                let blocks = [Block { dim: self.channels(rank), size: *vector }];
                Blocked::packed(dims, bits, &rows, &blocks, None)
            }
            Format::VectorMinor { multiple, .. } => {
                let channels = self.channels(rank);
                padded[channels] = up(dims[channels], *multiple)?;
                Blocked::packed(dims, bits, &last(rank, channels), &[], Some(&padded))
            }
            Format::DlaLinear => {
                padded[rank - 1] = up(dims[rank - 1], 64 / dla_bytes(element)?)?;
                Blocked::packed(dims, bits, &rows, &[], Some(&padded))
            }
            Format::DlaImage(chip) => {
                let channels = self.channels(rank);
                let kept = match dims[channels] {
                    1 => 1,
                    3 | 4 => 4,
                    other => {
                        return Err(Error::new(counted(other, "channel"))
                            .field("format")
                            .rule("an image of the DLA has 1 channel (grey), or 3 or 4 (color)")
                            .accepts("1, 3 or 4 channels, or kCHW16 and kCHW32 for features"));
                    }
                };
                padded[channels] = kept;
                padded[rank - 1] = up(dims[rank - 1], chip.row() / kept / dla_bytes(element)?)?;
                Blocked::packed(dims, bits, &last(rank, channels), &[], Some(&padded))
            }
            Format::Strides { strides, vector } => {
                if strides.len() != rank {
                    let found = format!(
                        "{} for {}",
                        counted(strides.len() as u64, "stride"),
                        counted(rank as u64, "dimension")
                    );
                    return Err(Error::new(found)
                        .of_kind(ErrorKind::Mismatch)
                        .field("strides")
                        .accepts(format!("{rank} of them")));
                }
                let inner = vector.map(|(dim, size)| Block { dim, size });
                let mut blocked = Blocked::packed(dims, bits, &rows, inner.as_slice(), None)?;
                let unit = vector.map_or(1, |(_, size)| size);
                for (own, stride) in blocked.strides.iter_mut().zip(strides) {
                    *own = stride.checked_mul(unit).ok_or_else(crate::dialect::blocked::large)?;
                }
                check_order(&blocked, strides)?;
                Ok(blocked)
            }
        }
    }

    /// The layout of an array.
    ///
    /// # Errors
    /// Those of [`Format::blocked`].
    pub(super) fn lower(&self, dims: &[u64], element: Element) -> Result<Layout> {
        let blocked = self.blocked(dims, element)?;
        blocked.lower_to(blocked.size()?)
    }

    /// What the format says.
    pub(super) fn meaning(&self, rank: usize) -> String {
        let named = |depth: bool| if depth { "[D][H][W]" } else { "[H][W]" };
        match self {
            Format::Linear => "row-major".to_owned(),
            Format::VectorMajor { depth, vector } => format!(
                "channels (dimension {}) in vectors of {vector}: [N][⌈C/{vector}⌉]{}[{vector}]",
                self.channels(rank),
                named(*depth)
            ),
            Format::VectorMinor { depth, multiple: 1 } => {
                format!("channels (dimension {}) last: [N]{}[C]", self.channels(rank), named(*depth))
            }
            Format::VectorMinor { depth, multiple } => format!(
                "channels (dimension {}) last, up to a multiple of {multiple}: [N]{}[⌈C/{multiple}⌉·{multiple}]",
                self.channels(rank),
                named(*depth)
            ),
            Format::DlaLinear => "for the DLA: row-major, with rows of a multiple of 64 bytes".to_owned(),
            Format::DlaImage(chip) => format!(
                "an image for the DLA of {}: channels last, 3 of them as 4, with rows of a multiple of {} bytes",
                chip.name(),
                chip.row()
            ),
            Format::Strides { strides, vector } => {
                let steps: Vec<i64> =
                    strides.iter().map(|&stride| i64::try_from(stride).unwrap_or(i64::MAX)).collect();
                match vector {
                    None => words::steps(&steps),
                    Some((dim, size)) => {
                        let steps = words::steps_in(&steps, "vector");
                        format!(
                            "vectors of {size} along dimension {dim}; {steps}, which there is from vector to vector"
                        )
                    }
                }
            }
        }
    }

    /// The types that TensorRT has a format for, where not all.
    pub(super) fn types(&self) -> Option<&'static [Element]> {
        Some(match self {
            Format::VectorMajor { depth: false, vector: 2 } | Format::VectorMinor { multiple: 8, .. } => {
                &[Element::F16, Element::Bf16]
            }
            Format::VectorMajor { depth: false, vector: 4 | 16 }
            | Format::VectorMajor { depth: true, .. } => &[Element::S8, Element::F16],
            Format::VectorMinor { depth: false, multiple: 1 } => &[Element::F32, Element::U8],
            Format::VectorMinor { depth: true, multiple: 1 } => &[Element::F32],
            Format::VectorMinor { multiple: 16, .. } => &[Element::F16],
            _ => return None,
        })
    }
}

/// All dimensions in their order, but this one last.
fn last(rank: usize, dim: usize) -> Vec<usize> {
    (0..rank).filter(|&other| other != dim).chain([dim]).collect()
}

/// Bytes of an element that the DLA has.
fn dla_bytes(element: Element) -> Result<u64> {
    match element {
        Element::F16 => Ok(2),
        Element::S8 => Ok(1),
        _ => Err(Error::new(format!("elements of {element}"))
            .of_kind(ErrorKind::Unsupported)
            .field("format")
            .rule("the DLA has FP16 and INT8")
            .accepts("f16 or s8")),
    }
}

/// Logs before TensorRT 8 have the strides of the last dimension first.
fn check_order(blocked: &Blocked, strides: &[u64]) -> Result<()> {
    let dense = |strides: &[u64]| {
        let rank = strides.len();
        let order: Vec<usize> = (0..rank).collect();
        Blocked::packed(&blocked.dims, blocked.bits, &order, &[], None)
            .is_ok_and(|plain| plain.strides == strides)
    };
    let reversed: Vec<u64> = strides.iter().rev().copied().collect();
    if blocked.inner.is_empty() && !dense(strides) && dense(&reversed) {
        let reversed: Vec<String> = reversed.iter().map(u64::to_string).collect();
        return Err(Error::new("strides from the last dimension to the first")
            .field("strides")
            .rule("strides are in the order of the dimensions; logs before TensorRT 8 have them in the other")
            .accepts(format!("({})", reversed.join(","))));
    }
    Ok(())
}
