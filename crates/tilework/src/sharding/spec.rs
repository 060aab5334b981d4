//! `PartitionSpec` and `NamedSharding`, as JAX prints them and people write them.

use std::fmt;

use super::{Mesh, Sharding};
use crate::dialect::python::{self, Item, Kind, Value, attribute};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::MAX_RANK;

const EXAMPLE: &str = "P('x', None, ('y', 'z')), or XLA's {devices=[2,4]<=[8]}";

/// Which arguments are read.
fn looks(key: &str) -> bool {
    key.len() == 1 || !["memory_kind", "axis_types", "device_ids", "logical_device_ids"].contains(&key)
}

pub(super) fn read(text: &str, mesh: Option<&Mesh>) -> Result<Sharding> {
    Ok(match value(text, mesh)? {
        Some(named) => named.sharding,
        None => Sharding::replicated(mesh.map(Mesh::devices)),
    })
}

/// What a text says of axes; nothing where it is `replicated`.
fn value(text: &str, mesh: Option<&Mesh>) -> Result<Option<Named>> {
    let items = python::values(text, looks)?;
    let [Item { key: None, value }] = &items[..] else {
        let at = items.get(1).map_or(0..text.len(), |item| item.value.span.clone());
        return Err(Error::new("this is no sharding").of_kind(ErrorKind::Syntax).at(at).accepts(EXAMPLE));
    };
    match &value.kind {
        Kind::Call(name, items) if attribute(name) == "NamedSharding" => named(value, items).map(Some),
        Kind::Call(name, items) if matches!(attribute(name), "P" | "PartitionSpec") => {
            of(value, items, mesh).map(Some)
        }
        Kind::Name("replicated") => Ok(None),
        _ => Err(value.error("this is no sharding").of_kind(ErrorKind::Syntax).accepts(EXAMPLE)),
    }
}

/// `NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x'))`
fn named(whole: &Value, items: &[Item]) -> Result<Named> {
    let argument = |name: &str, place: usize| {
        let named = items.iter().find(|item| item.key.as_ref().and_then(Value::word) == Some(name));
        named.or_else(|| items.get(place).filter(|item| item.key.is_none())).map(|item| &item.value)
    };
    let missing = |what: &str| whole.error(format!("no {what} is said")).accepts(NAMED);
    let at = argument("mesh", 0).ok_or_else(|| missing("mesh"))?;
    let spec = argument("spec", 1).ok_or_else(|| missing("spec"))?;
    let mesh = mesh_of(at)?;
    match &spec.kind {
        Kind::Call(name, items) if matches!(attribute(name), "P" | "PartitionSpec") => {
            of(spec, items, Some(&mesh))
        }
        _ => Err(spec.error("this is no PartitionSpec").accepts("P('x', None)")),
    }
}

const NAMED: &str = "NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x', 'y'))";

/// `Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))`
fn mesh_of(value: &Value) -> Result<Mesh> {
    let fail = || value.error("this is no mesh of names and sizes").accepts("Mesh('x': 2, 'y': 4)");
    let Kind::Call(_, items) = &value.kind else { return Err(fail()) };
    let mut axes = Vec::new();
    for item in items {
        let name = match item.key.as_ref().map(|key| &key.kind) {
            Some(Kind::Text(name)) => *name,
            Some(Kind::Name("axis_types")) => continue,
            _ => return Err(fail()),
        };
        match item.value.kind {
            Kind::Number(size) if (1..=i64::MAX.into()).contains(&size) => {
                axes.push((name.to_owned(), size as u64))
            }
            _ => return Err(item.value.error("this is no size of an axis").accepts("1 or more")),
        }
    }
    Mesh::new(axes).map_err(|error| error.at(value.span.clone()))
}

/// The entries of a spec over a mesh.
fn of(whole: &Value, items: &[Item], mesh: Option<&Mesh>) -> Result<Named> {
    let Some(mesh) = mesh else {
        return Err(whole
            .error("a PartitionSpec without a mesh")
            .rule("it names axes of a mesh, whose sizes say how many parts there are")
            .accepts("a mesh beside it, such as x=2,y=4"));
    };
    let axes = mesh.axes();
    let (mut used, mut dims): (Vec<&str>, Vec<Vec<String>>) = Default::default();
    let mut take = |value: &Value<'_>| {
        let (Kind::Text(name) | Kind::Name(name)) = value.kind else {
            return Err(value.error("this is no axis").accepts("None, 'x', or ('x', 'y')"));
        };
        let Some((axis, _)) = axes.iter().find(|(axis, _)| axis == name) else {
            let names: Vec<String> = axes.iter().map(|(name, _)| quoted(name)).collect();
            return Err(value
                .error(format!("there is no axis {} in the mesh {mesh}", quoted(name)))
                .accepts(format!("{}, or None", names.join(", "))));
        };
        if used.contains(&axis.as_str()) {
            return Err(value
                .error(format!("axis {} a second time", quoted(name)))
                .rule("an axis cuts one dimension, once"));
        }
        used.push(axis);
        Ok(axis.clone())
    };
    for item in items {
        if item.key.is_some() {
            return Err(item
                .value
                .error("an argument that is no dimension")
                .of_kind(ErrorKind::Unsupported)
                .rule("sums that are not made yet (unreduced, reduced) are no parts of an array")
                .accepts("axes for the dimensions alone"));
        }
        let value = &item.value;
        dims.push(match &value.kind {
            Kind::Name("None") => Vec::new(),
            Kind::Name(name) if name.ends_with("UNCONSTRAINED") => {
                return Err(value
                    .error("a dimension that the compiler may cut as it likes")
                    .of_kind(ErrorKind::Unsupported)
                    .accepts("None, 'x', or ('x', 'y')"));
            }
            Kind::List(several) => several.iter().map(|item| take(&item.value)).collect::<Result<_>>()?,
            _ => vec![take(value)?],
        });
    }
    Named::new(mesh.clone(), dims).map_err(|error| error.at(whole.span.clone()))
}

/// The sharding over a mesh that cuts dimensions into these parts by its axes in this order.
fn over(mesh: &Mesh, parts: Vec<u64>, mut order: Vec<usize>) -> Result<Sharding> {
    let axes = mesh.axes();
    if parts.iter().all(|&parts| parts == 1) {
        return Ok(Sharding::replicated(Some(mesh.devices())));
    }
    let rest: Vec<usize> = (0..axes.len()).filter(|axis| !order.contains(axis)).collect();
    let copies = rest.iter().map(|&axis| axes[axis].1).product();
    order.extend(rest);
    let sizes: Vec<u64> = axes.iter().map(|(_, size)| *size).collect();
    Sharding::counted(parts, copies, &sizes, &order)
}

/// A `NamedSharding` of JAX: a mesh, and which of its axes cut each dimension.
///
/// ```
/// use tilework::sharding::{Mesh, Named};
/// let named = Named::new(Mesh::parse("x=2,y=4")?, vec![vec![], vec!["y".to_owned(), "x".to_owned()]])?;
/// assert_eq!(named.to_string(), "P(None, ('y', 'x'))");
/// assert_eq!(named.sharding().to_string(), "{devices=[1,8]<=[2,4]T(1,0)}");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    mesh: Mesh,
    axes: Vec<Vec<String>>,
    sharding: Sharding,
}

impl Named {
    /// Dimensions that are cut by these axes of a mesh, each by none, one, or several.
    ///
    /// # Errors
    /// Axes that the mesh has not, or that are used twice, and more dimensions than an array has.
    pub fn new(mesh: Mesh, axes: Vec<Vec<String>>) -> Result<Named> {
        if axes.len() >= MAX_RANK {
            return Err(Error::new("more dimensions than an array has").of_kind(ErrorKind::Limit));
        }
        let mut order: Vec<usize> = Vec::new();
        for name in axes.iter().flatten() {
            match mesh.axes().iter().position(|(axis, _)| axis == name) {
                None => {
                    return Err(Error::new(format!("there is no axis {} in the mesh {mesh}", quoted(name))));
                }
                Some(axis) if order.contains(&axis) => {
                    return Err(Error::new(format!("axis {} a second time", quoted(name)))
                        .rule("an axis cuts one dimension, once"));
                }
                Some(axis) => order.push(axis),
            }
        }
        let mut used = order.iter();
        // Each axis once, so there are no more parts than devices.
        let parts = axes
            .iter()
            .map(|names| used.by_ref().take(names.len()).map(|&axis| mesh.axes()[axis].1).product());
        let sharding = over(&mesh, parts.collect(), order.clone())?;
        Ok(Named { mesh, axes, sharding })
    }

    /// Reads a spec of a mesh, which it has itself or is given: `P('x', None)`.
    ///
    /// # Errors
    /// Those of [`Sharding::parse`], and what names no axes: `replicated`, and what XLA writes.
    pub fn parse(text: &str, mesh: Option<&Mesh>) -> Result<Named> {
        value(text, mesh)?.ok_or_else(|| Error::new("no axes of a mesh").accepts("P(None, 'x')"))
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The axes that cut each dimension.
    pub fn axes(&self) -> &[Vec<String>] {
        &self.axes
    }

    /// Which device has which part, where devices are counted along the mesh.
    pub fn sharding(&self) -> &Sharding {
        &self.sharding
    }
}

/// The spec as JAX prints it; the mesh is beside it.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = (self.axes.iter())
            .map(|names| match &names[..] {
                [] => "None".to_owned(),
                [name] => format!("'{name}'"),
                several => {
                    let names: Vec<String> = several.iter().map(|name| format!("'{name}'")).collect();
                    format!("({})", names.join(", "))
                }
            })
            .collect();
        write!(f, "P({})", dims.join(", "))
    }
}
