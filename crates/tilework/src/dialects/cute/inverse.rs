//! Inverses of a layout.
//!
//! Both sort the modes by stride. Each mode of coordinates that scaled bases name has an inverse of its own.

use super::count::{either, nearest, times};
use super::layout::{Layout, Mode, Step};
use super::tuple::IntTuple;
use crate::error::{Error, ErrorKind, Result};
use tilework_core::InOrder;

impl Layout {
    /// The longest layout R for which this one gives back the index: L(R(i)) = i for every i below the size of R.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let transposed = Layout::parse("(4,8):(8,1)")?;
    /// assert_eq!(transposed.right_inverse()?.to_string(), "(8,4):(4,1)");
    /// assert_eq!(Layout::parse("(4,2):(1,16)")?.right_inverse()?.to_string(), "4:1"); // then there is a gap
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something that is known at run time only.
    pub fn right_inverse(&self) -> Result<Layout> {
        let sorted = self.sorted()?;
        let profile = self.coprofile()?;
        let inverse = each(&profile, &mut Vec::new(), &mut |path| {
            let (mut found, mut next) = (Vec::new(), 1);
            for (mode, index) in sorted.iter().filter(|(mode, _)| mode.step.path == path) {
                if mode.step.value == next {
                    found.push(Mode { size: mode.size, step: number(*index) });
                    next = times(mode.size, mode.step.value)?;
                }
            }
            if found.is_empty() {
                found.push(Mode { size: 1, step: number(0) });
            }
            Ok(found)
        })?;
        inverse.coalesce_by(&profile)
    }

    /// The layout R that gives back every index: R(L(i)) = i for every i below the size of this one, if it has an offset for
    /// each. Modes of stride 0 give back 0; of modes that overlap otherwise, CuTe's answer is nothing to rely on.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(4,2):(1,16)")?.left_inverse()?.to_string(), "(16,2):(1,4)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Modes that overlap or do not divide each other, and something that is known at run time only.
    pub fn left_inverse(&self) -> Result<Layout> {
        let sorted = self.sorted()?;
        let profile = self.coprofile()?;
        let inverse = each(&profile, &mut Vec::new(), &mut |path| {
            let (mut found, mut reached, mut end) = (vec![Mode { size: 1, step: number(0) }], 1, 1);
            for (mode, index) in sorted.iter().filter(|(mode, _)| mode.step.path == path) {
                let stride = mode.step.value;
                if stride < 0 || stride % reached != 0 {
                    return Err(Error::new(format!(
                        "expects an injective layout in left_inverse, but got {self}"
                    ))
                    .of_kind(ErrorKind::Unsupported)
                    .field("layout")
                    .rule(format!(
                        "sorted, each stride is a multiple of the one before: {stride} of {reached}"
                    ))
                    .accepts(
                        match nearest(stride, 1 << 14, |near| near >= end && near % reached == 0) {
                            near if near.is_empty() => "strides that divide one another".to_owned(),
                            near => format!("a stride of {} in place of {stride}", either(&near)),
                        },
                    ));
                }
                // What is between the last mode and this one is stepped over.
                if let Some(last) = found.last_mut() {
                    last.size = stride / reached;
                }
                (reached, end) = (stride, stride.saturating_mul(mode.size));
                found.push(Mode { size: mode.size, step: number(*index) });
            }
            Ok(found)
        })?;
        inverse.coalesce_beyond(&profile)
    }

    /// The modes that move, sorted by stride, each with the index of its first step.
    fn sorted(&self) -> Result<Vec<(Mode, i64)>> {
        let mut next = 1;
        let modes = super::coalesce::join(self.flat_modes()?)?;
        let mut sorted = modes
            .into_iter()
            .map(|mode| {
                let index = next;
                next = times(next, mode.size)?;
                Ok((mode, index))
            })
            .collect::<Result<Vec<_>>>()?;
        sorted.retain(|(mode, _)| mode.size > 1 && !mode.step.is_zero());
        sorted.order_by(|(a, _), (b, _)| a.step.cmp(&b.step));
        Ok(sorted)
    }
}

fn number(value: i64) -> Step {
    Step { path: Vec::new(), value }
}

/// A layout that nests as the profile does, with what is found for each of its values.
fn each(
    profile: &IntTuple,
    path: &mut Vec<u32>,
    find: &mut impl FnMut(&[u32]) -> Result<Vec<Mode>>,
) -> Result<Layout> {
    let IntTuple::Tuple(profiles) = profile else {
        return Layout::of_modes(&find(path)?);
    };
    let mut layouts = Vec::new();
    for (number, profile) in (0..).zip(profiles) {
        path.push(number);
        layouts.push(each(profile, path, find)?);
        path.pop();
    }
    let shape = layouts.iter().map(|layout| layout.shape().clone()).collect();
    Layout::new(shape, layouts.iter().map(|layout| layout.stride().clone()).collect())
}
