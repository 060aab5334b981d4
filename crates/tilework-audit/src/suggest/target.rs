//! Machines, by the tiles that their compilers usually give to an array.

use tilework::{
    Element,
    xla::{ArrayShape, Layout, Tile},
};
use tilework::{Error, Result, nearest};

use crate::suggest::footprint::Footprint;
use crate::suggest::reach::reach;

/// A machine, by the tiles that its compiler usually gives to an array.
///
/// The tiles of a TPU are those that XLA gives to the parameters and results of a program: the public rule for them is
/// `getTilingFactor` in JAX, `jaxlib/mosaic/dialect/tpu/transforms/infer_memref_layout.cc`, which tells generations
/// before 4 from the later ones. What the compiler itself wrote (libtpu 0.0.52, for the topologies of TPU v2, v3, v4,
/// v5e, v5p, v6e and TPU7x) agrees with it in every one of some 2000 shapes; `tests/target.rs` holds a part of them.
///
/// | elements | rows of a tile, when the second most minor dimension is *n* |
/// |---|---|
/// | 32 bits and more | `T(8,128)`; 1, 2 or 4 rows if n fits: `T(4,128)` |
/// | 16 bits | `T(8,128)(2,1)`; 2 or 4 rows if n fits |
/// | 8 bits | `T(32,128)(4,1)` if 32 divides n, else `T(8,128)(4,1)`; 4 rows if n fits |
/// | 4 bits, with `E(4)` | `T(64,128)(8,1)` if 64 divides n, else `T(8,128)(8,1)` |
/// | 2 bits, with `E(2)` | `T(128,128)(16,1)` if 128 divides n, else `T(16,128)(16,1)` |
///
/// On TPU v2 and v3 the fewest rows are twice as many and the most are 8, and elements of 4 bits are kept in bytes. One dimension is
/// tiled as the rows of 128 that it fills, such as `T(1024)` or `T(512)(128)(2,1)`; a scalar takes the smallest of these.
///
/// Tenstorrent's tiles are 32 × 32, stored as four faces of 16 × 16: <https://docs.tenstorrent.com/tt-metal/latest/tt-metalium/tt_metal/advanced_topics/tiles.html>.
///
/// ```
/// use tilework_audit::Target;
/// assert_eq!(Target::from_name("TPU v5 lite")?.name(), "tpu-v5e");
/// let error = Target::from_name("tenstorent").unwrap_err();
/// assert_eq!(error.broken_rule(), Some("did you mean tenstorrent?"));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    name: String,
    family: Family,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Family {
    /// TPU v2 and v3.
    OldTpu,
    /// TPU v4 and later.
    Tpu,
    Tenstorrent,
    /// What somebody asked for: any of these lists of tiles.
    Tiles(Vec<Vec<Tile>>),
}

/// What a device of a machine has of memory, where that is public.
///
/// A device is what a program is compiled for: a chip, or of a TPU v2, v3 and 7x half of one. The figures are Google's, of
/// each chip: <https://docs.cloud.google.com/tpu/docs/system-architecture-tpu-vm>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Bytes of the main memory.
    pub memory: u64,
    /// Bytes a second that are read from it and written to it at most.
    pub bandwidth: u64,
}

impl Device {
    /// The least nanoseconds in which as many bytes are read or written.
    pub fn least_nanoseconds(&self, bytes: u64) -> u64 {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.bandwidth.max(1));
        u64::try_from(nanoseconds).unwrap_or(u64::MAX)
    }
}

/// GiB of the main memory of a device and GB/s of it.
const DEVICES: [(&str, u64, u64); 7] = [
    ("tpu-v2", 8, 350),
    ("tpu-v3", 16, 450),
    ("tpu-v4", 32, 1200),
    ("tpu-v5e", 16, 819),
    ("tpu-v5p", 95, 2765),
    ("tpu-v6e", 32, 1600),
    ("tpu7x", 96, 3690),
];

/// A target with a name: the name, other names of it, what it is.
struct Named(&'static str, &'static [&'static str], &'static str, fn() -> Family);

#[rustfmt::skip]
const NAMED: [Named; 9] = [
    Named("tpu", &["tpu-v4+", "tpus"], "any TPU from v4 on: they all have the same tiles", || Family::Tpu),
    Named("tpu-v2", &["v2"], "TPU v2", || Family::OldTpu),
    Named("tpu-v3", &["v3"], "TPU v3", || Family::OldTpu),
    Named("tpu-v4", &["v4"], "TPU v4", || Family::Tpu),
    Named("tpu-v5e", &["v5e", "tpu-v5-lite", "v5-lite", "v5lite"], "TPU v5e", || Family::Tpu),
    Named("tpu-v5p", &["v5p", "tpu-v5"], "TPU v5p", || Family::Tpu),
    Named("tpu-v6e", &["v6e", "tpu-v6", "v6", "tpu-v6-lite", "trillium"], "TPU v6e, Trillium", || Family::Tpu),
    Named("tpu7x", &["tpu-7x", "tpu-v7x", "v7x", "7x", "tpu7", "tpu-v7", "ironwood"], "TPU7x, Ironwood", || Family::Tpu),
    Named("tenstorrent", &["tt", "tensix"], "Tenstorrent: tiles of 32 × 32", || Family::Tenstorrent),
];

impl Default for Target {
    /// `tpu`: any TPU from v4 on.
    fn default() -> Target {
        Target { name: NAMED[0].0.to_owned(), family: Family::Tpu }
    }
}

/// Whether nothing but the order of the dimensions says where the elements are.
pub(crate) fn has_no_tiles(array: &ArrayShape) -> bool {
    array.layout().is_none_or(|layout| {
        layout.tiles().is_empty() && layout.strides().is_none() && layout.padding().is_none()
    })
}

impl Target {
    /// The names of the targets that have one, each with what it is.
    pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
        NAMED.iter().map(|named| (named.0, named.2))
    }

    /// The target of this name, in any case and with spaces, `-` or `_` between its words.
    ///
    /// # Errors
    /// A name that no target has; the error tells the name that was probably meant.
    pub fn from_name(name: &str) -> Result<Target> {
        let word = name.trim().to_lowercase().replace([' ', '_'], "-");
        if let Some(named) = NAMED.iter().find(|named| named.0 == word || named.1.contains(&word.as_str())) {
            return Ok(Target { name: named.0.to_owned(), family: named.3() });
        }
        let meant = nearest(&word, NAMED.iter().map(|named| named.0));
        let all: Vec<&str> = NAMED.iter().map(|named| named.0).collect();
        let shown: String = name.chars().take(40).collect();
        let error = Error::new(format!("no target {shown}"));
        let error = match meant {
            Some(meant) => error.rule(format!("did you mean {meant}?")),
            None => error,
        };
        Err(error.accepts(format!("{}, or tiles", all.join(", "))))
    }

    /// A target that gives any array one of these lists of tiles, each as [`tiles_from_text`] reads it.
    ///
    /// # Errors
    /// No list, or an empty one.
    pub fn of_tiles(lists: impl IntoIterator<Item = Vec<Tile>>) -> Result<Target> {
        let given = lists.into_iter();
        let mut lists: Vec<Vec<Tile>> = Vec::new();
        for list in given {
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        if lists.is_empty() || lists.iter().any(Vec::is_empty) {
            return Err(Error::new("a target without tiles").field("tiles").accepts("such as T(8,128)(2,1)"));
        }
        let text = |list: &Vec<Tile>| format!("T{}", list.iter().map(Tile::to_string).collect::<String>());
        let name = lists.iter().map(text).collect::<Vec<String>>().join(" or ");
        Ok(Target { name, family: Family::Tiles(lists) })
    }

    /// The name, or the tiles.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a device of it has of memory; none if that depends on the machine, or is not known.
    ///
    /// ```
    /// use tilework_audit::Target;
    /// let device = Target::from_name("v5e")?.device().unwrap();
    /// assert_eq!((device.memory, device.bandwidth), (16 << 30, 819_000_000_000));
    /// assert_eq!(Target::from_name("tpu")?.device(), None);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn device(&self) -> Option<Device> {
        let found = DEVICES.iter().find(|(name, ..)| *name == self.name)?;
        Some(Device { memory: found.1 << 30, bandwidth: found.2 * 1_000_000_000 })
    }

    /// Whether the target is a machine, and not only tiles.
    pub fn is_machine(&self) -> bool {
        !matches!(self.family, Family::Tiles(_))
    }

    /// `E(bits)` of an array for which no layout says it: 0 where the element type decides.
    fn element_size_in_bits(&self, element: Element) -> Result<u32> {
        let bits = Some(element.bits()).filter(|&bits| bits < 8 && element != Element::Pred);
        // Only what was seen of a compiler; elements of 1 and 6 bits have not been.
        let seen: &[u32] = match self.family {
            Family::OldTpu => &[4],
            Family::Tpu => &[2, 4],
            Family::Tenstorrent | Family::Tiles(_) => return Ok(0),
        };
        match bits {
            None => Ok(0),
            Some(bits) if seen.contains(&bits) => Ok(if self.family == Family::Tpu { bits } else { 0 }),
            Some(bits) => Err(Error::new(format!("{bits}-bit elements, {element}"))
                .field("element type")
                .rule(format!("how {} usually packs them is not known", self.name))
                .accepts("a layout with E(bits) and tiles, or tiles of your own")),
        }
    }

    /// How many of the most minor dimensions decide the size of an array, with the number of its other elements.
    pub(crate) fn reach(&self, rank: usize) -> usize {
        match &self.family {
            Family::OldTpu | Family::Tpu | Family::Tenstorrent => rank.min(2),
            Family::Tiles(lists) => lists.iter().map(|tiles| reach(tiles, rank)).max().unwrap_or(0),
        }
    }

    /// The lists of tiles that an array may have: one, unless the target is made of several.
    ///
    /// `minor` are the sizes of the most minor dimensions, the most minor first; all of them, or at least two.
    ///
    /// # Errors
    /// Elements of `bits` bits have no usual tile.
    pub(crate) fn tiles(&self, bits: u32, minor: &[u64]) -> Result<Vec<Vec<Tile>>> {
        match &self.family {
            Family::OldTpu => tpu_tiles(true, bits, minor).map(|tiles| vec![tiles]),
            Family::Tpu => tpu_tiles(false, bits, minor).map(|tiles| vec![tiles]),
            Family::Tenstorrent => Ok(vec![vec![Tile::new([32, 32])?, Tile::new([16, 16])?]]),
            Family::Tiles(lists) => Ok(lists.clone()),
        }
    }

    /// An array in its own order with the target's tiles, whatever tiles it has: the smallest, where the target is made
    /// of several lists of them.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let tpu = tilework_audit::Target::from_name("tpu")?;
    /// let placed = tpu.place(Shape::parse("f32[3,5]")?.as_array().unwrap())?;
    /// assert_eq!(placed.shape.to_string(), "f32[3,5]{1,0:T(4,128)}");
    /// assert_eq!(placed.bytes, 2048);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unbounded dimension, more bytes than 63 bits can count, free strides, or elements that the target has no
    /// usual tiles for.
    pub fn place(&self, array: &ArrayShape) -> Result<Footprint> {
        let plain = Layout::descending(array.rank());
        let written = array.layout().unwrap_or(&plain).clone().without_tiles();
        let bits = match written.element_size_in_bits() {
            0 => self.element_size_in_bits(array.element_type())?,
            bits => bits,
        };
        let written = written.with_element_size_in_bits(bits);
        let bare = array.clone().with_layout(written.clone())?;
        let lowered = bare.lower()?;
        let minor: Vec<u64> = written.minor_to_major().iter().map(|&dim| lowered.dims()[dim]).collect();
        let mut smallest: Option<Footprint> = None;
        for tiles in self.tiles(bare.element_size_in_bits(), &minor)? {
            let found = Footprint::new(array.clone().with_layout(written.clone().with_tiles(tiles)?)?)?;
            if smallest.as_ref().is_none_or(|smallest| found.bytes < smallest.bytes) {
                smallest = Some(found);
            }
        }
        smallest.ok_or_else(|| Error::new("a target without tiles"))
    }
}

/// The tiles of a TPU: see [`Target`].
fn tpu_tiles(is_old: bool, bits: u32, minor: &[u64]) -> Result<Vec<Tile>> {
    let known: &[u32] = if is_old { &[8, 16, 32, 64, 128] } else { &[2, 4, 8, 16, 32, 64, 128] };
    if !known.contains(&bits) {
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        return Err(Error::new(format!("{bits}-bit elements"))
            .field("element_size_in_bits")
            .rule("no usual tile is known of them")
            .accepts(format!("elements of {} bits, or tiles of your own", known.join(", "))));
    }
    // As many elements as one word of 32 bits holds lie side by side: rows come in groups of as many.
    let packed = u64::from(32 / bits).max(1);
    let least = if is_old { 2 * packed } else { packed };
    let most = packed.max(8);
    let tall = match bits {
        2 | 4 => 8 * packed,
        8 if !is_old => 8 * packed,
        _ => 8,
    };
    let rows = |needed: u64| {
        let mut rows = least;
        while rows < needed.min(most) {
            rows *= 2;
        }
        rows
    };
    let mut tiles = match *minor {
        [] => return Ok(vec![Tile::new([128 * least])?]),
        [size] => vec![Tile::new([128 * rows(size.div_ceil(128))])?],
        [_, second, ..] if second.is_multiple_of(tall) => vec![Tile::new([tall, 128])?],
        [_, second, ..] => vec![Tile::new([rows(second), 128])?],
    };
    if packed > 1 {
        if minor.len() == 1 {
            tiles.push(Tile::new([128])?);
        }
        tiles.push(Tile::new([packed, 1])?);
    }
    Ok(tiles)
}

/// Reads a list of tiles as layouts have them, such as `T(8,128)(2,1)`; the `T` may be left out.
///
/// ```
/// assert_eq!(tilework_audit::tiles_from_text("T(8,128)(2,1)")?.len(), 2);
/// let error = tilework_audit::tiles_from_text("T(8,0)").unwrap_err();
/// assert_eq!(error.span(), Some(4..5));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A text that is no list of tiles, or a tile that no layout has.
pub fn tiles_from_text(text: &str) -> Result<Vec<Tile>> {
    let accepts = "such as T(8,128)(2,1)";
    let inner = text.trim_start();
    let cut = text.len() - inner.len();
    // Anything else within braces would be another qualifier.
    if !inner.starts_with(['T', '(']) || inner.contains(['{', '}', ':']) {
        let found = if inner.is_empty() { "nothing" } else { "something else" };
        return Err(Error::new(format!("{found} where tiles are wanted"))
            .at(cut..text.len())
            .accepts(accepts));
    }
    let layout = Layout::parse(&format!("{{:{inner}}}")).map_err(|error| {
        // Two characters stand before the tiles, and one behind them, which nobody wrote.
        let within = |at: usize| (at + cut).saturating_sub(2).min(text.len());
        match error.span() {
            Some(span) if within(span.start) == text.len() => {
                let end = Error::new("the end of the text").at(text.len()..text.len());
                end.accepts(error.accepted().unwrap_or(accepts))
            }
            Some(span) => error.at(within(span.start)..within(span.end)),
            None => error.at(cut..text.len()),
        }
    })?;
    if layout.tiles().is_empty() || !layout.clone().without_tiles().is_plain() {
        let error = Error::new("more than tiles").at(cut..text.len());
        return Err(error.rule("only tiles are wanted here").accepts(accepts));
    }
    Ok(layout.tiles().to_vec())
}
