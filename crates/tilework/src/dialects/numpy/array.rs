//! What a text of NumPy or PyTorch says, and the layout that it means.

use std::fmt;

use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// Whose words are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// Strides in bytes.
    Numpy,
    /// Strides in elements.
    Torch,
}

/// An order of the dimensions that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Row-major: `order='C'`, `torch.contiguous_format`.
    C,
    /// Column-major: `order='F'`.
    F,
    /// `torch.channels_last`
    ChannelsLast,
    /// `torch.channels_last_3d`
    ChannelsLast3d,
}

/// An array with strides or in an order; row-major where nothing is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) printer: Library,
    pub(super) element: Element,
    pub(super) dims: Vec<u64>,
    /// As they are written: NumPy's in bytes.
    pub(super) strides: Option<Vec<i64>>,
    pub(super) order: Option<Order>,
    /// Where element (0, …, 0) is: NumPy's in bytes.
    pub(super) offset: Option<u64>,
}

impl Library {
    /// What people call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Library::Numpy => "NumPy",
            Library::Torch => "PyTorch",
        }
    }

    /// What one step of a stride is.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Library::Numpy => "byte",
            Library::Torch => "element",
        }
    }

    /// What an offset is called.
    pub(super) fn offset_word(self) -> &'static str {
        match self {
            Library::Numpy => "offset",
            Library::Torch => "storage_offset",
        }
    }

    /// The name that the library has for an element.
    pub(super) fn name(self, element: Element) -> Option<&'static str> {
        match self {
            Library::Numpy => element.name_in(System::Numpy),
            Library::Torch => element.name_in(System::Torch),
        }
    }
}

impl Order {
    /// The word of the library.
    pub(super) fn word(self, library: Library) -> &'static str {
        match (self, library) {
            (Order::C, Library::Numpy) => "order='C'",
            (Order::C, Library::Torch) => "torch.contiguous_format",
            (Order::F, _) => "order='F'",
            (Order::ChannelsLast, _) => "torch.channels_last",
            (Order::ChannelsLast3d, _) => "torch.channels_last_3d",
        }
    }

    /// The dimensions of an array of this rank, the most minor first.
    ///
    /// # Errors
    /// `channels_last` of another rank than the one that it is for.
    pub(super) fn minor_to_major(self, rank: usize) -> Result<Vec<usize>> {
        let wanted = match self {
            Order::C => return Ok((0..rank).rev().collect()),
            Order::F => return Ok((0..rank).collect()),
            Order::ChannelsLast => 4,
            Order::ChannelsLast3d => 5,
        };
        match rank == wanted {
            // N is the most major, and C comes after the last of the others.
            true => Ok(std::iter::once(1).chain((2..rank).rev()).chain([0]).collect()),
            false => Err(Error::new(format!(
                "{} for {}",
                self.word(Library::Torch),
                counted(rank as u64, "dimension")
            ))
            .field("memory_format")
            .of_kind(ErrorKind::Mismatch)
            .rule(format!("it is an order of {}", counted(wanted as u64, "dimension")))
            .accepts(match rank {
                4 => "torch.channels_last",
                5 => "torch.channels_last_3d",
                _ => "torch.contiguous_format, or strides",
            })),
        }
    }
}

impl Array {
    /// Bytes of one element. Both libraries give every element bytes of its own.
    pub(super) fn itemsize(&self) -> u32 {
        self.element.bytes()
    }

    /// Whether the stride of a dimension moves anything. NumPy and PyTorch put anything where it does not.
    fn is_used(&self, dim: usize) -> bool {
        self.dims[dim] > 1 && !self.dims.contains(&0)
    }

    /// The written strides in elements, 0 where they are not used.
    ///
    /// # Errors
    /// Another number than dimensions, parts of elements, and backward strides where the library has none. The error's
    /// number is that of the stride.
    pub(super) fn element_strides(&self, strides: &[i64]) -> Result<Vec<i64>, (Option<usize>, Error)> {
        if strides.len() != self.dims.len() {
            let [found, wanted] = [strides.len(), self.dims.len()].map(|count| count as u64);
            let found = format!("{} for {}", counted(found, "stride"), counted(wanted, "dimension"));
            let error = Error::new(found)
                .of_kind(ErrorKind::Mismatch)
                .field("strides")
                .rule("every dimension has one stride");
            return Err((None, error.accepts(counted(wanted, "stride"))));
        }
        let itemsize = i64::from(self.itemsize());
        let each = strides.iter().enumerate().map(|(dim, &stride)| match self.printer {
            _ if !self.is_used(dim) => Ok(0),
            Library::Numpy if stride % itemsize == 0 => Ok(stride / itemsize),
            Library::Numpy => Err((
                Some(dim),
                Error::new(format!("a stride of {stride} for elements of {itemsize} bytes"))
                    .field("strides")
                    .rule("strides of NumPy count bytes, and elements lie whole elements apart")
                    .accepts(match Library::Torch.name(self.element) {
                        Some(name) => {
                            format!("a multiple of {itemsize}; strides of torch.{name} count elements")
                        }
                        None => format!("a multiple of {itemsize}"),
                    }),
            )),
            Library::Torch if stride < 0 => Err((
                Some(dim),
                Error::new(format!("a stride of {stride}"))
                    .field("strides")
                    .rule("PyTorch has no negative strides")
                    .accepts("0 or more; in bytes and without torch it is an array of NumPy"),
            )),
            Library::Torch => Ok(stride),
        });
        each.collect()
    }

    /// The written offset in elements.
    ///
    /// # Errors
    /// Part of an element.
    pub(super) fn element_offset(&self) -> Result<Option<u64>> {
        let itemsize = u64::from(self.itemsize());
        match (self.printer, self.offset) {
            (Library::Numpy, Some(offset)) if offset % itemsize != 0 => {
                Err(Error::new(format!("an offset of {offset} for elements of {itemsize} bytes"))
                    .field("offset")
                    .rule("an offset of NumPy counts bytes, and places are whole elements")
                    .accepts(format!("a multiple of {itemsize}")))
            }
            (Library::Numpy, Some(offset)) => Ok(Some(offset / itemsize)),
            (_, offset) => Ok(offset),
        }
    }

    /// The layout in this order, packed.
    pub(super) fn ordered(&self, order: Order) -> Result<Layout> {
        let bits = 8 * self.itemsize();
        let order = order.minor_to_major(self.dims.len())?;
        let layout = Layout::builder(&self.dims, bits)?.minor_to_major(&order)?.build()?;
        match self.element_offset()? {
            None => Ok(layout),
            offset => Layout::strided(&self.dims, bits, &layout.to_strides()?.strides, offset, None),
        }
    }

    /// The layout: by strides if there are some, and otherwise in the order.
    ///
    /// # Errors
    /// What is wrong with the strides, the order or the offset, and more bytes than 63 bits can count.
    pub(super) fn lower(&self) -> Result<Layout> {
        let Some(strides) = &self.strides else { return self.ordered(self.order.unwrap_or(Order::C)) };
        let strides = self.element_strides(strides).map_err(|(_, error)| error)?;
        Layout::strided(&self.dims, 8 * self.itemsize(), &strides, self.element_offset()?, None)
    }
}

/// `float32 (3, 5) strides (20, 4)`, `torch.float32 [3, 5] strides [5, 1]`
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.printer.name(self.element).unwrap_or(self.element.name());
        match self.printer {
            Library::Numpy => write!(f, "{name} {}", self.list(&self.dims))?,
            Library::Torch => write!(f, "torch.{name} {}", self.list(&self.dims))?,
        }
        if let Some(strides) = &self.strides {
            write!(f, " strides {}", self.list(strides))?;
        }
        if let Some(order) = self.order {
            write!(f, " {}", order.word(self.printer))?;
        }
        match self.offset {
            None => Ok(()),
            Some(offset) => write!(f, " {} {offset}", self.printer.offset_word()),
        }
    }
}

impl Array {
    /// Numbers as the library prints them: `(3, 5)` and `(3,)`, or `[3, 5]` and `[3]`.
    pub(super) fn list(&self, numbers: &[impl ToString]) -> String {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let inner = numbers.join(", ");
        match (self.printer, numbers.len()) {
            (Library::Torch, _) => format!("[{inner}]"),
            (Library::Numpy, 1) => format!("({inner},)"),
            (Library::Numpy, _) => format!("({inner})"),
        }
    }
}
