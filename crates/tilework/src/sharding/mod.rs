//! Shardings: which device has which part of an array, as XLA and JAX write it.
//!
//! ```text
//! {devices=[2,4]<=[8]}                                  XLA: 2 parts of the rows by 4 of the columns
//! {devices=[4,2]<=[2,4]T(1,0)}                          the same devices in another order
//! {devices=[4,1,2]<=[8] last_tile_dim_replicate}        4 parts, each on 2 devices
//! {replicated}   {maximal device=3}
//! P('x', None, ('y', 'z'))                              JAX: with a mesh, such as x=2,y=4,z=2
//! NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x', 'y'))
//! ```
//!
//! Which device has a part is a layout: devices are counted off in a grid, its dimensions are put in another order, and what
//! comes out is reshaped to the parts. So [`Layout::offset`] of a part's place is its device.
//!
//! ```
//! use tilework::sharding::{Mesh, Sharding};
//! let mesh = Mesh::parse("x=2,y=4")?;
//! let sharding = Sharding::parse("P(None, 'y')", Some(&mesh))?;
//! assert_eq!(sharding.to_string(), "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
//! let part = sharding.part(&[6, 100], 5)?.unwrap();
//! assert_eq!((part.start, part.size), (vec![0, 25], vec![6, 25]));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # Sizes that do not divide
//!
//! XLA rounds a part up: of 10 rows in 4 parts each has 3, and the last has 1; of 5 in 4, each has 2, and the last has none.
//! Here it is the same. JAX refuses to place such arrays (`implies that array axis 0 is partitioned 4 times, but the dimension
//! size is 10`), although arrays within a compiled function may be cut so; [`Sharding::uneven`] says which dimension it is.

mod hlo;
mod mesh;
mod spec;

use std::fmt;

pub use mesh::Mesh;
pub use spec::Named;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// Which device has which part of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharding(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// All of the array on each device, and how many devices there are.
    Replicated(Option<u64>),
    /// All of it on one.
    Maximal(u64),
    Tiled(Tiled),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tiled {
    /// How many parts there are along each dimension.
    parts: Vec<u64>,
    /// How many devices have the same part.
    copies: u64,
    devices: Devices,
}

/// The device of each part and copy, in row-major order of the parts, copies last.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Devices {
    /// All devices, counted off in a grid of these sizes whose dimensions are then put in this order.
    Counted {
        sizes: Vec<u64>,
        order: Vec<usize>,
        layout: Layout,
    },
    Listed(Vec<u64>),
}

/// A part of an array on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The index of its first element.
    pub start: Vec<u64>,
    /// Its sizes. A device that has nothing has a size of 0.
    pub size: Vec<u64>,
    /// Its number among the copies of the part, from 0.
    pub copy: u64,
}

impl Sharding {
    /// Reads a sharding. One of JAX names axes of a mesh, which it has itself or is given.
    ///
    /// # Errors
    /// The first thing that is wrong; axes that the mesh has not, or that are used twice; and what says no parts, such as
    /// `{manual}`.
    pub fn parse(text: &str, mesh: Option<&Mesh>) -> Result<Sharding> {
        match text.trim_start().strip_prefix("sharding=").unwrap_or(text.trim_start()).starts_with('{') {
            true => hlo::read(text),
            false => spec::read(text, mesh),
        }
    }

    /// All of an array on each of `devices` devices.
    pub fn replicated(devices: Option<u64>) -> Sharding {
        Sharding(Kind::Replicated(devices))
    }

    /// All of an array on one device.
    pub fn maximal(device: u64) -> Sharding {
        Sharding(Kind::Maximal(device))
    }

    /// Devices counted off in a grid of these sizes, whose dimensions are put in `order` and reshaped to the parts.
    fn counted(parts: Vec<u64>, copies: u64, sizes: &[u64], order: &[usize]) -> Result<Sharding> {
        let all: Vec<u64> = parts.iter().copied().chain([copies]).collect();
        let layout = Layout::row_major(sizes, 32)?.permute(order)?.reshape(&all)?;
        let (sizes, order) = simple(sizes, order);
        Ok(Sharding(Kind::Tiled(Tiled { parts, copies, devices: Devices::Counted { sizes, order, layout } })))
    }

    /// The devices in the order of the parts.
    fn listed(parts: Vec<u64>, copies: u64, devices: Vec<u64>) -> Sharding {
        Sharding(Kind::Tiled(Tiled { parts, copies, devices: Devices::Listed(devices) }))
    }

    /// Whether each device has all of an array.
    pub fn is_replicated(&self) -> bool {
        matches!(self.0, Kind::Replicated(_))
    }

    /// How many dimensions an array has that is cut so; none if any may be.
    pub fn rank(&self) -> Option<usize> {
        match &self.0 {
            Kind::Replicated(_) | Kind::Maximal(_) => None,
            Kind::Tiled(tiled) => Some(tiled.parts.len()),
        }
    }

    /// How many devices there are, as far as is known: of `{replicated}` nothing is, and of `{maximal device=3}` one more than
    /// the number of the device.
    pub fn devices(&self) -> Option<u64> {
        match &self.0 {
            Kind::Replicated(devices) => *devices,
            Kind::Maximal(device) => device.checked_add(1),
            Kind::Tiled(Tiled { devices: Devices::Listed(list), .. }) => {
                list.iter().max().and_then(|last| last.checked_add(1))
            }
            Kind::Tiled(tiled) => Some(tiled.parts.iter().product::<u64>() * tiled.copies), // a layout has as many
        }
    }

    /// How many parts there are along each dimension of an array of this rank.
    ///
    /// # Errors
    /// Another rank than that of the sharding.
    pub fn parts(&self, rank: usize) -> Result<Vec<u64>> {
        match &self.0 {
            Kind::Replicated(_) | Kind::Maximal(_) => Ok(vec![1; rank]),
            Kind::Tiled(tiled) if tiled.parts.len() == rank => Ok(tiled.parts.clone()),
            Kind::Tiled(tiled) => Err(Error::new(format!("{self} for an array of {}", dimensions(rank)))
                .of_kind(ErrorKind::Mismatch)
                .field("sharding")
                .rule(format!("it cuts {}", dimensions(tiled.parts.len())))
                .accepts("a sharding with a number for each dimension of the array")),
        }
    }

    /// The same sharding for arrays of this rank: of JAX's, dimensions that are not said are not cut.
    ///
    /// # Errors
    /// Fewer dimensions than are cut.
    pub fn widened(&self, rank: usize) -> Result<Sharding> {
        let Kind::Tiled(tiled) = &self.0 else { return Ok(self.clone()) };
        let mut tiled = tiled.clone();
        if tiled.parts.len() < rank {
            tiled.parts.resize(rank, 1);
            if let Devices::Counted { layout, .. } = &mut tiled.devices {
                let all: Vec<u64> = tiled.parts.iter().copied().chain([tiled.copies]).collect();
                *layout = layout.reshape(&all)?;
            }
        }
        let widened = Sharding(Kind::Tiled(tiled));
        widened.parts(rank)?;
        Ok(widened)
    }

    /// The sizes of a part of an array, rounded up. No size is 0.
    ///
    /// # Errors
    /// Another rank than that of the sharding.
    pub fn part_sizes(&self, sizes: &[u64]) -> Result<Vec<u64>> {
        let parts = self.parts(sizes.len())?;
        Ok(sizes.iter().zip(parts).map(|(size, parts)| size.div_ceil(parts.max(1)).max(1)).collect())
    }

    /// The first dimension that its parts do not divide: its number, its size, and how many parts there are.
    ///
    /// # Errors
    /// Another rank than that of the sharding.
    pub fn uneven(&self, sizes: &[u64]) -> Result<Option<(usize, u64, u64)>> {
        let parts = self.parts(sizes.len())?;
        let mut dims = sizes.iter().zip(parts).enumerate();
        Ok(dims
            .find(|(_, (size, parts))| !size.is_multiple_of(*parts))
            .map(|(dim, (&size, parts))| (dim, size, parts)))
    }

    /// The part of an array of these sizes that a device has; none if it is not one of those that the sharding names.
    ///
    /// # Errors
    /// Another rank than that of the sharding.
    pub fn part(&self, sizes: &[u64], device: u64) -> Result<Option<Part>> {
        let each = self.part_sizes(sizes)?;
        let place = match &self.0 {
            Kind::Replicated(devices) if devices.is_some_and(|devices| device >= devices) => None,
            Kind::Replicated(_) => Some((vec![0; sizes.len()], device)),
            Kind::Maximal(only) => (device == *only).then(|| (vec![0; sizes.len()], 0)),
            Kind::Tiled(tiled) => tiled.place(device)?,
        };
        Ok(place.map(|(place, copy)| {
            let start: Vec<u64> = (place.iter().zip(&each).zip(sizes))
                .map(|((place, each), &size)| place.saturating_mul(*each).min(size))
                .collect();
            let size =
                start.iter().zip(&each).zip(sizes).map(|((start, each), size)| (*each).min(size - start));
            Part { size: size.collect(), start, copy }
        }))
    }

    /// The devices that have a part, by its place among the parts.
    ///
    /// # Errors
    /// A place that is none of a part; `{replicated}` without a number of devices; and more devices than are listed.
    pub fn holders(&self, place: &[u64]) -> Result<Vec<u64>> {
        let parts = self.parts(place.len())?;
        if place.iter().zip(&parts).any(|(place, parts)| place >= parts) {
            return Err(Error::new(format!("the part at {place:?} of {parts:?}"))
                .of_kind(ErrorKind::Range)
                .field("part")
                .rule("parts are counted from 0"));
        }
        let copies = match &self.0 {
            Kind::Replicated(devices) => devices.unwrap_or(0),
            Kind::Maximal(_) => 1,
            Kind::Tiled(tiled) => tiled.copies,
        };
        if copies > hlo::MOST_LISTED {
            return Err(Error::new(format!("a part on {copies} devices"))
                .of_kind(ErrorKind::Limit)
                .field("sharding")
                .rule(format!("at most {} devices are listed", hlo::MOST_LISTED)));
        }
        match &self.0 {
            Kind::Replicated(Some(devices)) => Ok((0..*devices).collect()),
            Kind::Replicated(None) => Err(Error::new("{replicated} without a number of devices")
                .field("sharding")
                .accepts("a mesh, such as x=8")),
            Kind::Maximal(device) => Ok(vec![*device]),
            Kind::Tiled(tiled) => (0..tiled.copies).map(|copy| tiled.device(place, copy)).collect(),
        }
    }
}

impl Tiled {
    fn device(&self, place: &[u64], copy: u64) -> Result<u64> {
        let place: Vec<u64> = place.iter().copied().chain([copy]).collect();
        match &self.devices {
            Devices::Counted { layout, .. } => layout.offset(&place),
            Devices::Listed(list) => {
                let sizes = self.parts.iter().copied().chain([self.copies]);
                let number = sizes.zip(place).fold(0, |number, (size, at)| number * size + at);
                Ok(list[number as usize]) // there is one for each
            }
        }
    }

    /// The place of the part that a device has, and which copy it is.
    fn place(&self, device: u64) -> Result<Option<(Vec<u64>, u64)>> {
        let mut place = match &self.devices {
            Devices::Counted { layout, .. } if device >= layout.size() => return Ok(None),
            Devices::Counted { layout, .. } => match layout.locate(device)? {
                crate::Place::Element(index) => index,
                _ => return Ok(None), // never: every device has a part
            },
            Devices::Listed(list) => {
                let Some(found) = list.iter().position(|&listed| listed == device) else { return Ok(None) };
                let mut number = found as u64;
                let mut place = vec![0; self.parts.len() + 1];
                for (at, size) in
                    place.iter_mut().rev().zip([self.copies].iter().chain(self.parts.iter().rev()))
                {
                    *at = number % size;
                    number /= size;
                }
                place
            }
        };
        let copy = place.pop().unwrap_or(0);
        Ok(Some((place, copy)))
    }
}

fn dimensions(rank: usize) -> String {
    counted(rank as u64, "dimension")
}

/// The sizes of a grid and the order of its dimensions, without those of size 1, and those that stay side by side as one.
fn simple(sizes: &[u64], order: &[usize]) -> (Vec<u64>, Vec<usize>) {
    let real: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
    let places = order.iter().filter_map(|dim| real.iter().position(|real| real == dim));
    // Runs of dimensions that follow each other before and after: the first of each, and how many there are.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in places {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == place => *count += 1,
            _ => runs.push((place, 1)),
        }
    }
    let mut sorted = runs.clone();
    sorted.sort_unstable();
    let size =
        |(first, count): &(usize, usize)| real[*first..first + count].iter().map(|&dim| sizes[dim]).product();
    let merged: Vec<u64> = sorted.iter().map(size).collect();
    let order = runs.iter().filter_map(|run| sorted.iter().position(|other| other == run)).collect();
    match merged.is_empty() {
        true => (vec![1], vec![0]),
        false => (merged, order),
    }
}

/// As XLA prints it.
impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
        let tiled = match &self.0 {
            Kind::Replicated(_) => return f.write_str("{replicated}"),
            Kind::Maximal(device) => return write!(f, "{{maximal device={device}}}"),
            Kind::Tiled(tiled) => tiled,
        };
        write!(f, "{{devices=[{}", list(&tiled.parts))?;
        if tiled.copies > 1 {
            write!(f, ",{}", tiled.copies)?;
        }
        match &tiled.devices {
            Devices::Counted { sizes, order, .. } => {
                write!(f, "]<=[{}]", list(sizes))?;
                if order.len() > 1 {
                    let order: Vec<u64> = order.iter().map(|&dim| dim as u64).collect();
                    write!(f, "T({})", list(&order))?;
                }
            }
            Devices::Listed(devices) => write!(f, "]{}", list(devices))?,
        }
        f.write_str(if tiled.copies > 1 { " last_tile_dim_replicate}" } else { "}" })
    }
}
