//! Layouts with fewer modes that are the same function of an index.

use super::layout::{Layout, Mode};
use super::tuple::{IntTuple, Leaf};
use crate::error::{Error, ErrorKind, Result};

/// Joins neighbours, from the left:
///
/// ```text
/// R1   1:d, m            →  m                  a mode of 1 never moves
/// R2   s:d, t:(s · d)    →  (s · t):d          the second goes on where the first ends
/// ```
///
/// A mode of 1 at the end stays: beyond the size, it is what goes on.
pub(super) fn join(modes: Vec<Mode>) -> Result<Vec<Mode>> {
    let mut joined: Vec<Mode> = Vec::new();
    for mode in modes {
        while joined.last().is_some_and(|last| last.size == 1) {
            joined.pop(); // R1
        }
        match joined.last_mut() {
            Some(last) if last.step.times(last.size).is_ok_and(|next| next == mode.step) => {
                last.size = super::count::times(last.size, mode.size)?; // R2
            }
            _ => joined.push(mode),
        }
    }
    Ok(joined)
}

impl Layout {
    /// The layout with the fewest modes that is the same function of an index below the size.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("((2,2),(2,2)):((1,4),(8,32))")?.coalesce()?.to_string(), "(2,4,2):(1,4,32)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something that is known at run time only.
    pub fn coalesce(&self) -> Result<Layout> {
        let mut modes = join(self.flat_modes()?)?;
        if modes.len() > 1 && modes.last().is_some_and(|last| last.size == 1) {
            modes.pop();
        }
        Layout::of_modes(&modes)
    }

    /// The same for every mode alone, where the profile has values: modes stay apart where it has tuples.
    ///
    /// ```
    /// use tilework::cute::{IntTuple, Layout};
    /// let layout = Layout::parse("((2,2),(2,2)):((1,2),(16,32))")?;
    /// assert_eq!(layout.coalesce_by(&IntTuple::parse("(1,1)")?)?.to_string(), "(4,4):(1,16)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A profile with more modes than the layout, and something that is known at run time only.
    pub fn coalesce_by(&self, profile: &IntTuple) -> Result<Layout> {
        self.by_profile(profile, &Layout::coalesce)
    }

    /// The same, but valid beyond the size too: a mode of 1 at the end stays.
    pub(super) fn coalesce_beyond(&self, profile: &IntTuple) -> Result<Layout> {
        self.by_profile(profile, &|layout: &Layout| Layout::of_modes(&join(layout.flat_modes()?)?))
    }

    fn by_profile(&self, profile: &IntTuple, change: &dyn Fn(&Layout) -> Result<Layout>) -> Result<Layout> {
        let IntTuple::Tuple(profiles) = profile else { return change(self) };
        if profiles.len() > self.rank() {
            return Err(Error::new(format!("the profile {profile} for {self}"))
                .of_kind(ErrorKind::Mismatch)
                .field("profile")
                .rule("a profile has at most as many modes as the layout")
                .accepts(format!("up to {}", self.rank())));
        }
        let each = self.top_modes().enumerate().map(|(number, mode)| match profiles.get(number) {
            Some(profile) => mode.by_profile(profile, change),
            None => Ok(mode),
        });
        let modes = each.collect::<Result<Vec<Layout>>>()?;
        let shape = modes.iter().map(|mode| mode.shape().clone()).collect();
        Layout::new(shape, modes.iter().map(|mode| mode.stride().clone()).collect())
    }

    /// The same layout with all modes on one level.
    ///
    /// # Errors
    /// None but those of [`Layout::new`].
    pub fn flatten(&self) -> Result<Layout> {
        Layout::new(self.shape().flatten(), self.stride().flatten())
    }

    /// The layout with a size of 1 wherever the stride is 0.
    ///
    /// # Errors
    /// None but those of [`Layout::new`].
    pub fn filter_zeros(&self) -> Result<Layout> {
        let shape = self.shape().zip_map(self.stride(), &mut |size, stride| {
            Ok(if *stride == Leaf::Int(0) { 1.into() } else { IntTuple::Leaf(size.clone()) })
        })?;
        Layout::new(shape, self.stride().clone())
    }

    /// The layout without the modes of stride 0 or of size 1, and coalesced: the same offsets, each as often as it must be.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(4,3,2):(2,0,8)")?.filter()?.to_string(), "8:2");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something that is known at run time only.
    pub fn filter(&self) -> Result<Layout> {
        self.filter_zeros()?.coalesce()
    }
}
