//! The pattern of einops: `"(i0 i1) j -> i0 j i1", i1=8`.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use super::MOST;
use super::lower::product;
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// Groups of axes on both sides of an arrow, with the size of each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Pattern {
    pub(super) axes: Vec<Named>,
    /// The axes that make each dimension, the most significant first.
    pub(super) left: Vec<Vec<usize>>,
    /// The same of the result.
    pub(super) right: Vec<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Named {
    pub(super) name: String,
    pub(super) size: u64,
}

impl Pattern {
    /// The sizes of the axes as they stand on the left.
    pub(super) fn digits(&self) -> Vec<u64> {
        self.left.iter().flatten().map(|&axis| self.axes[axis].size).collect()
    }

    /// The places on the left of the axes as they stand on the right.
    pub(super) fn order(&self) -> Vec<usize> {
        let left: Vec<usize> = self.left.iter().flatten().copied().collect();
        let place = |axis: &usize| left.iter().position(|other| other == axis);
        self.right.iter().flatten().filter_map(place).collect()
    }

    /// The sizes of the result.
    pub(super) fn sizes(&self) -> Vec<u64> {
        // Each divides the number of elements.
        let size = |group: &Vec<usize>| group.iter().map(|&axis| self.axes[axis].size).product();
        self.right.iter().map(size).collect()
    }

    /// Reads a pattern for an array of these sizes. `given` are the sizes of axes by their names.
    ///
    /// # Errors
    /// What einops refuses, and sizes that do not multiply to those of the array.
    pub(super) fn read(
        text: &str,
        at: Range<usize>,
        given: &[(String, u64)],
        dims: &[u64],
    ) -> Result<Pattern> {
        let wrong = |found: String| Error::new(found).of_kind(ErrorKind::Syntax).at(at.clone());
        let Some((left, right)) = text.split_once("->") else {
            return Err(wrong("a pattern without ->".to_owned()).accepts("axes -> axes"));
        };
        let [left, right] = named(left, right, given, dims.len()).map_err(|error| error.at(at.clone()))?;
        let mut names: Vec<String> = Vec::new();
        let left = groups(&left, &mut names, true).map_err(|error| error.at(at.clone()))?;
        let known = names.len();
        let right = groups(&right, &mut names, false).map_err(|error| error.at(at.clone()))?;
        if let Some(new) = names.get(known) {
            return Err(wrong(format!("{} stands on the right alone", quoted(new)))
                .rule("rearrange has the same axes on both sides"));
        }
        let kept: HashSet<usize> = right.iter().flatten().copied().collect();
        if let Some(lost) = (0..known).find(|axis| !kept.contains(axis) && names[*axis] != "1") {
            return Err(wrong(format!("{} stands on the left alone", quoted(&names[lost])))
                .rule("rearrange has the same axes on both sides"));
        }
        if left.len() != dims.len() {
            return Err(wrong(format!(
                "{} on the left, and the array has {}",
                counted(left.len() as u64, "dimension"),
                dims.len()
            ))
            .of_kind(ErrorKind::Mismatch));
        }
        let mut sizes: Vec<Option<u64>> =
            names.iter().map(|name| if name == "1" { Some(1) } else { None }).collect();
        for (name, size) in given {
            let Some(axis) = names.iter().position(|own| own == name) else {
                return Err(wrong(format!("a size of {}, which is in no pattern", quoted(name))));
            };
            sizes[axis] = Some(*size);
        }
        for (dim, group) in left.iter().enumerate() {
            let known = product(group.iter().filter_map(|&axis| sizes[axis]))?;
            let open: Vec<usize> = group.iter().copied().filter(|&axis| sizes[axis].is_none()).collect();
            match open[..] {
                [] if known == dims[dim] => {}
                [axis] if known > 0 && dims[dim].is_multiple_of(known) => {
                    sizes[axis] = Some(dims[dim] / known)
                }
                [] | [_] => {
                    return Err(wrong(format!(
                        "axes of {} for dimension {dim}, which is {}",
                        counted(known, "element"),
                        dims[dim]
                    ))
                    .of_kind(ErrorKind::Mismatch)
                    .rule("the axes in brackets multiply to the dimension")
                    .accepts("sizes that divide it, or an array that is padded before"));
                }
                [axis, ..] => {
                    return Err(wrong(format!("the size of {} is not said", quoted(&names[axis])))
                        .rule("of the axes in brackets all sizes but one are said")
                        .accepts(format!("{}=2, or another size, behind the pattern", names[axis])));
                }
            }
        }
        let axes = names.into_iter().zip(sizes);
        let axes = axes.map(|(name, size)| Named { name, size: size.unwrap_or(1) }).collect();
        Ok(Pattern { axes, left, right })
    }
}

/// Both sides with names in place of `...`, which stands for all dimensions that have none: e0, e1, …
fn named(left: &str, right: &str, given: &[(String, u64)], rank: usize) -> Result<[String; 2]> {
    let counts = [left, right].map(|side| side.replace('…', "...").matches("...").count());
    let wrong = |found: &str| Error::new(found.to_owned()).of_kind(ErrorKind::Syntax);
    match counts {
        [0, 0] => return Ok([left, right].map(str::to_owned)),
        [1, 1] => {}
        [0, _] => {
            return Err(wrong("`...` on the right alone").rule("rearrange has the same axes on both sides"));
        }
        [_, 0] => {
            return Err(wrong("`...` on the left alone").rule("rearrange has the same axes on both sides"));
        }
        _ => return Err(wrong("`...` a second time").rule("each axis stands once on each side")),
    }
    let [left, right] = [left, right].map(|side| side.replace('…', "..."));
    // How many dimensions have names: groups in brackets, and words outside.
    let (mut depth, mut own, mut is_grouped) = (0_usize, 0_usize, false);
    for word in left.replace('(', " ( ").replace(')', " ) ").replace("...", " ... ").split_whitespace() {
        match word {
            "(" => (depth, own) = (depth + 1, own + 1),
            ")" => depth = depth.saturating_sub(1),
            "..." => is_grouped = depth > 0,
            _ => own += usize::from(depth == 0),
        }
    }
    if is_grouped {
        return Err(wrong("`...` within brackets on the left")
            .of_kind(ErrorKind::Unsupported)
            .rule("einops splits no dimension into axes without names")
            .accepts("a name for each axis"));
    }
    let Some(count) = rank.checked_sub(own).filter(|&count| count <= MOST) else {
        return Err(wrong(&format!(
            "{} on the left, and the array has {rank}",
            counted(own as u64, "dimension")
        ))
        .of_kind(ErrorKind::Mismatch));
    };
    let is_taken = |word: &str| {
        let given = given.iter().map(|axis| axis.0.as_str());
        [&*left, &*right].into_iter().chain(given).any(|text| text.contains(word))
    };
    // A word that is in no name: it ends, because the names do.
    let mut prefix = "e".to_owned();
    while is_taken(&prefix) {
        prefix.push('e');
    }
    let names: Vec<String> = (0..count).map(|number| format!("{prefix}{number}")).collect();
    Ok([left, right].map(|side| side.replace("...", &format!(" {} ", names.join(" ")))))
}

/// The groups of one side. Names are found again, or added to the list; on the left none stands twice.
fn groups(text: &str, names: &mut Vec<String>, is_left: bool) -> Result<Vec<Vec<usize>>> {
    let wrong = |found: String| Error::new(found).of_kind(ErrorKind::Syntax);
    let (mut groups, mut open): (Vec<Vec<usize>>, Option<Vec<usize>>) = (Vec::new(), None);
    let mut seen = HashSet::new();
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    for word in spaced.split_whitespace() {
        match word {
            "(" if open.is_some() => {
                return Err(wrong("brackets within brackets".to_owned()).accepts("one level of brackets"));
            }
            "(" => open = Some(Vec::new()),
            ")" => match open.take() {
                Some(group) => groups.push(group),
                None => return Err(wrong("a closing bracket without an opening one".to_owned())),
            },
            word => {
                if word != "1" && !is_name(word) {
                    let numbers = word.bytes().all(|byte| byte.is_ascii_digit());
                    let rule = if numbers {
                        "rearrange has no axes without a name"
                    } else {
                        "axes are names as in Python"
                    };
                    return Err(wrong(format!("{} is no axis", quoted(word)))
                        .rule(rule)
                        .accepts("a name such as i0, whose size stands behind the pattern: i0=2"));
                }
                let known = names.iter().position(|name| name == word);
                let axis = match known.filter(|_| word != "1") {
                    Some(axis) if seen.contains(&axis) => {
                        return Err(wrong(format!("{} a second time", quoted(word)))
                            .rule("each axis stands once on each side"));
                    }
                    Some(axis) => axis,
                    None if word == "1" && !is_left => {
                        if open.is_none() {
                            groups.push(Vec::new());
                        }
                        continue;
                    }
                    None => {
                        names.push(word.to_owned());
                        names.len() - 1
                    }
                };
                seen.insert(axis);
                match &mut open {
                    Some(group) => group.push(axis),
                    None => groups.push(vec![axis]),
                }
            }
        }
        if names.len() > MOST || groups.len() > MOST {
            return Err(wrong(format!("over {MOST} axes")).of_kind(ErrorKind::Limit));
        }
    }
    match open {
        None => Ok(groups),
        Some(_) => Err(wrong("an opening bracket without a closing one".to_owned())),
    }
}

/// A name as einops takes it: of Python, and without an underscore at either end.
fn is_name(word: &str) -> bool {
    let is_start = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    word.bytes().next().as_ref().is_some_and(is_start)
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !word.starts_with('_')
        && !word.ends_with('_')
}

/// `"(i0 i1) j -> i0 j i1", i1=8`
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |groups: &[Vec<usize>]| {
            let group = |group: &Vec<usize>| {
                let names: Vec<&str> = group.iter().map(|&axis| self.axes[axis].name.as_str()).collect();
                match names[..] {
                    [only] => only.to_owned(),
                    // einops writes an axis of one element so.
                    [] => "1".to_owned(),
                    _ => format!("({})", names.join(" ")),
                }
            };
            groups.iter().map(group).collect::<Vec<String>>().join(" ")
        };
        write!(f, "\"{} -> {}\"", side(&self.left), side(&self.right))?;
        for group in &self.left {
            let mut named = group.iter().filter(|&&axis| self.axes[axis].name != "1");
            // einops finds the first by itself. Where there are no elements it cannot divide.
            let is_found = group.iter().all(|&axis| self.axes[axis].size > 0);
            named.by_ref().take(usize::from(is_found)).for_each(drop);
            for &axis in named {
                write!(f, ", {}={}", self.axes[axis].name, self.axes[axis].size)?;
            }
        }
        Ok(())
    }
}
