//! Sizes of arrays from the problem of a line: what `src/common/verbose.cpp` prints of each kind of primitive.

use super::array::Known;
use super::read::numbers;
use crate::dialect::Dim;

/// What the sizes of a line's arrays follow from.
pub(super) struct Line<'a> {
    pub(super) primitive: &'a str,
    pub(super) attributes: &'a str,
    pub(super) auxiliary: &'a str,
    pub(super) problem: &'a str,
    /// Name and extra of each array.
    pub(super) arrays: &'a [(String, String)],
}

type Sizes = Known<Vec<Dim>>;

/// The line ends before the problem, or has another form than this one.
const UNREAD: &str = "the problem of the line has another form than the one that is known for this primitive";
const NOT_SAID: &str = "the line does not say them";

impl Line<'_> {
    /// The sizes of each array.
    pub(super) fn sizes(&self) -> Vec<Sizes> {
        if self.problem.is_empty() {
            return self.arrays.iter().map(|_| Err("the line ends before its problem")).collect();
        }
        let mut inputs = 0;
        let size = |(name, extra): &(String, String)| {
            let role = role(name);
            let input = inputs;
            inputs += usize::from(role == "src");
            self.one(role, name, extra, input)
        };
        self.arrays.iter().map(size).collect()
    }

    /// The sizes of the array with this role, which is input `input`.
    fn one(&self, role: &str, name: &str, extra: &str, input: usize) -> Sizes {
        match self.primitive {
            "reorder" | "eltwise" | "softmax" | "logsoftmax" | "softmax_v2" | "shuffle" | "sum" => {
                self.dims(0)
            }
            "layer_normalization" | "layer_normalization_v2" => match role {
                "src" | "dst" | "data" => self.dims(0),
                "stats" => self.dims(0).map(|dims| dims[..dims.len() - 1].to_vec()),
                "scale" | "shift" => self.dims(0).map(|dims| dims[dims.len() - 1..].to_vec()),
                _ => Err(NOT_SAID),
            },
            "binary" => match role {
                "src" => self.dims(input),
                "dst" => self.dims(0).and_then(|a| broadcast(&a, &self.dims(1)?)),
                _ => Err(NOT_SAID),
            },
            "concat" => match role {
                "src" => self.dims(input),
                "dst" => self.concatenated(),
                _ => Err(NOT_SAID),
            },
            "matmul" => match role {
                "src" => self.dims(0),
                "wei" => self.dims(1),
                "dst" => self.product(),
                "bia" => self.product().and_then(|dims| masked(dims, extra)),
                _ => Err(NOT_SAID),
            },
            "reduction" => match role {
                "src" => self.dims(0),
                "dst" => self.dims(1),
                _ => Err(NOT_SAID),
            },
            "prelu" => match role {
                "data" | "src" => self.dims(0),
                "wei" => self.dims(1),
                _ => Err(NOT_SAID),
            },
            "sdpa" => match name {
                "query" => self.dims(0),
                "key" => self.dims(1),
                "val" => self.dims(2),
                _ => Err(NOT_SAID),
            },
            "convolution" | "deconvolution" => self.convolution(role, name),
            "pooling" | "pooling_v2" => match role {
                "src" => self.image("ic", "i"),
                "dst" | "ws" => self.image("ic", "o"),
                _ => Err(NOT_SAID),
            },
            "resampling" => match role {
                "src" => self.image("ic", "i"),
                "dst" => self.image("ic", "o"),
                _ => Err(NOT_SAID),
            },
            "inner_product" => match role {
                "src" => self.image("ic", "i"),
                "wei" => {
                    let mut dims = self.image("ic", "i")?;
                    dims[0] = self.number("oc")?;
                    Ok(dims)
                }
                "bia" => Ok(vec![self.number("oc")?]),
                "dst" => Ok(vec![self.number("mb")?, self.number("oc")?]),
                _ => Err(NOT_SAID),
            },
            "batch_normalization" | "batch_normalization_v2" | "group_normalization" | "lrn" => match role {
                "src" | "dst" | "data" => self.described(),
                _ => Err(NOT_SAID),
            },
            "rnn" => Err("the arrays of recurrent networks have sizes that depend on the kind of cell"),
            _ => Err("the problem of this primitive is not known here"),
        }
    }

    /// `16x16:16x8`, the part of this number.
    fn dims(&self, number: usize) -> Sizes {
        let part = self.problem.split(':').nth(number).ok_or(UNREAD)?;
        numbers(part).ok_or(UNREAD)
    }

    /// The product of two matrices, or of many.
    fn product(&self) -> Sizes {
        let (a, b) = (self.dims(0)?, self.dims(1)?);
        let [batch @ .., m, _] = &a[..] else { return Err(UNREAD) };
        let [other @ .., _, n] = &b[..] else { return Err(UNREAD) };
        let mut dims = broadcast(batch, other)?;
        dims.extend([*m, *n]);
        Ok(dims)
    }

    /// All inputs behind each other along `axis:N`.
    fn concatenated(&self) -> Sizes {
        let axis = self.auxiliary.split(' ').find_map(|word| word.strip_prefix("axis:")).ok_or(UNREAD)?;
        let axis: usize = axis.parse().map_err(|_| UNREAD)?;
        let parts = self.problem.split(':').map(|part| numbers(part).ok_or(UNREAD));
        let parts: Vec<Vec<Dim>> = parts.collect::<Result<_, _>>()?;
        let mut dims = parts.first().cloned().ok_or(UNREAD)?;
        let size = |dims: &Vec<Dim>| match dims.get(axis) {
            Some(Dim::Static(size)) => Ok(*size),
            Some(_) => Err("a size along the axis is known at run time only"),
            None => Err(UNREAD),
        };
        let sum = parts.iter().try_fold(0_u64, |sum, part| {
            sum.checked_add(size(part)?).filter(|&sum| sum <= i64::MAX as u64).ok_or(UNREAD)
        })?;
        dims[axis] = Dim::Static(sum);
        Ok(dims)
    }

    fn convolution(&self, role: &str, name: &str) -> Sizes {
        let fused =
            self.attributes.contains("dw") || self.arrays.iter().any(|(name, _)| name.ends_with("_fused"));
        if name.ends_with("_fused") || fused && role == "dst" {
            return Err("a convolution is fused behind this one, and the line does not say its sizes");
        }
        let of = |channels: u64, groups: u64| match groups {
            0 => Err(UNREAD),
            groups if channels.is_multiple_of(groups) => Ok(Dim::Static(channels / groups)),
            _ => Err(UNREAD),
        };
        match role {
            "src" => self.image("ic", "i"),
            "dst" => self.image("oc", "o"),
            "bia" => Ok(vec![self.number("oc")?]),
            "wei" => {
                let spatial = self.spatial("k")?;
                let (oc, ic) = (self.value("oc").ok_or(UNREAD)?, self.value("ic").ok_or(UNREAD)?);
                let mut dims = match self.value("g") {
                    Some(groups) => vec![Dim::Static(groups), of(oc, groups)?, of(ic, groups)?],
                    None => vec![Dim::Static(oc), Dim::Static(ic)],
                };
                dims.extend(spatial);
                Ok(dims)
            }
            _ => Err(NOT_SAID),
        }
    }

    /// `mb1ic3ih7iw7`, or all sizes: `x5`, `1x2x3x4x5x6`.
    fn described(&self) -> Sizes {
        match self.value("mb") {
            Some(_) => self.image("ic", "i"),
            None => {
                let text = self.problem.strip_prefix('x').unwrap_or(self.problem);
                numbers(text).ok_or(UNREAD)
            }
        }
    }

    /// Batch, channels, and the sizes of an image with this letter before `d`, `h` and `w`.
    fn image(&self, channels: &str, letter: &str) -> Sizes {
        let mut dims = vec![self.number("mb")?, self.number(channels)?];
        dims.extend(self.spatial(letter)?);
        Ok(dims)
    }

    /// The sizes of `d`, `h` and `w`; the first ones may be missing.
    fn spatial(&self, letter: &str) -> Sizes {
        let all: Vec<Option<u64>> =
            ["d", "h", "w"].iter().map(|dim| self.value(&format!("{letter}{dim}"))).collect();
        let first = all.iter().position(Option::is_some).unwrap_or(all.len());
        all[first..].iter().map(|size| size.map(Dim::Static).ok_or(UNREAD)).collect()
    }

    fn number(&self, key: &str) -> Known<Dim> {
        self.value(key).map(Dim::Static).ok_or(UNREAD)
    }

    /// The number behind a key of the problem: `mb1_ic3oc64_ih224oh112`.
    fn value(&self, key: &str) -> Option<u64> {
        let mut rest = self.problem;
        while !rest.is_empty() {
            rest = rest.trim_start_matches('_');
            let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            let digits = rest[letters..].bytes().take_while(u8::is_ascii_digit).count();
            if letters == 0 || digits == 0 {
                return None;
            }
            let (name, number) = (&rest[..letters], &rest[letters..letters + digits]);
            if name == key {
                return number.parse().ok().filter(|&size: &u64| size <= i64::MAX as u64);
            }
            rest = &rest[letters + digits..];
        }
        None
    }
}

/// What an array is to its primitive, whatever the log calls it.
fn role(name: &str) -> &str {
    let name = name.strip_prefix("diff_").unwrap_or(name);
    match name {
        "src" | "diff_src" | "fsrc" | "in" | "src_a" => "src",
        "dst" | "fdst" | "out" => "dst",
        "data" | "diff" | "fdata" | "fdiff" => "data",
        "wei" | "fwei" | "src_b" => "wei",
        "bia" | "fbia" | "bias" => "bia",
        other => other,
    }
}

/// Sizes of 1 are those of the other.
fn broadcast(a: &[Dim], b: &[Dim]) -> Sizes {
    if a.len() != b.len() {
        return Err(UNREAD);
    }
    Ok(a.iter().zip(b).map(|(&a, &b)| if a == Dim::Static(1) { b } else { a }).collect())
}

/// A bias has the sizes of the dimensions in `_maskN`, and 1 in the others.
fn masked(dims: Vec<Dim>, extra: &str) -> Sizes {
    let mask = extra.split("_mask").nth(1).and_then(|mask| mask.parse::<u64>().ok()).ok_or(NOT_SAID)?;
    let size = |(dim, size): (usize, Dim)| if mask >> dim.min(63) & 1 == 1 { size } else { Dim::Static(1) };
    Ok(dims.into_iter().enumerate().map(size).collect())
}
