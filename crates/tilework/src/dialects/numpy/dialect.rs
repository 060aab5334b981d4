//! Arrays of NumPy and PyTorch among the notations.

use super::array::{Array, Order};
use super::read::{is_device, is_format, is_known, is_read, is_wrapper, read};
use super::{recipe, say, words};
use crate::dialect::python::{self, Item, Kind, Value, attribute};
use crate::dialect::{Confidence, Described, Dialect, Example, Facts, Form, Found, Part};
use crate::element::Element;
use crate::error::{ErrorKind, Result};
use crate::layout::Layout;

/// Arrays described by type, sizes and strides, as Python's libraries print them.
pub static DIALECT: Dialect = Dialect {
    name: "numpy",
    title: "an array of NumPy or PyTorch",
    recognise,
    read: |text, known| match recipe::is_code(text) {
        true => recipe::read(text, known).map(|found| vec![found]),
        false => read(text, known).map(|array| vec![Found::unnamed(array)]),
    },
    say: Some(say::numpy),
    forms: &[
        Form { name: "torch", title: "a tensor of PyTorch", say: say::torch },
        Form { name: "einops", title: "code of einops that makes the buffer", say: recipe::einops },
        Form { name: "recipe", title: "code of NumPy that makes or sees the buffer", say: recipe::numpy },
    ],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example { text: "float32[3,5]", shows: "as JAX prints it", offsets: &[(&[2, 3], 13)], size: 15 },
    Example { text: "bfloat16 (3, 5)", shows: "as NumPy prints it", offsets: &[(&[2, 3], 13)], size: 15 },
    Example { text: "float32 ()", shows: "a scalar", offsets: &[(&[], 0)], size: 1 },
    Example {
        text: "torch.float16 torch.Size([2, 3])",
        shows: "as PyTorch prints it",
        offsets: &[(&[1, 2], 5)],
        size: 6,
    },
    Example {
        text: "torch.Size([2, 3]) torch.float16",
        shows: "in the other order",
        offsets: &[(&[1, 0], 3)],
        size: 6,
    },
    Example { text: "dtype('int8') (3,)", shows: "a dtype in quotes", offsets: &[(&[2], 2)], size: 3 },
    Example {
        text: "float32 (10, 20, 30) strides (2400, 120, 4)",
        shows: "NumPy's strides, in bytes",
        offsets: &[(&[1, 1, 1], 600 + 30 + 1), (&[9, 19, 29], 5999)],
        size: 6000,
    },
    Example {
        text: "torch.float32 [2, 3, 4, 5] strides [60, 1, 15, 3]",
        shows: "PyTorch's strides, in elements",
        offsets: &[(&[1, 2, 3, 4], 60 + 2 + 45 + 12)],
        size: 120,
    },
    Example {
        text: "torch.float32 [2, 3, 4, 5] torch.channels_last",
        shows: "a memory format",
        offsets: &[(&[1, 2, 3, 4], 119), (&[0, 1, 0, 0], 1), (&[0, 0, 0, 1], 3), (&[0, 0, 1, 0], 15)],
        size: 120,
    },
    Example {
        text: "torch.int8 [1, 2, 2, 2, 3] torch.channels_last_3d",
        shows: "a memory format of images in 3-D",
        offsets: &[
            (&[0, 1, 0, 0, 0], 1),
            (&[0, 0, 0, 0, 1], 2),
            (&[0, 0, 0, 1, 0], 6),
            (&[0, 0, 1, 0, 0], 12),
        ],
        size: 24,
    },
    Example {
        text: "shape=(10, 20), dtype=float32, order='F'",
        shows: "column-major",
        offsets: &[(&[1, 0], 1), (&[0, 1], 10)],
        size: 200,
    },
    Example {
        text: "int16 (2, 3) strides (6, -2) offset 4",
        shows: "a reversed dimension",
        offsets: &[(&[0, 0], 2), (&[0, 2], 0), (&[1, 1], 4)],
        size: 6,
    },
    Example {
        text: "float32 (1, 3) strides (7, 4)",
        shows: "an arbitrary stride of a dimension of one element",
        offsets: &[(&[0, 2], 2)],
        size: 3,
    },
    Example {
        text: "size=(2, 3), stride=(1, 2), dtype=torch.float32, storage_offset=4",
        shows: "part of a storage",
        offsets: &[(&[0, 0], 4), (&[1, 2], 4 + 1 + 4)],
        size: 10,
    },
    Example {
        text: "f32[8, 128][128, 1]cuda:0",
        shows: "as graphs of PyTorch have it",
        offsets: &[(&[7, 127], 1023)],
        size: 1024,
    },
    Example {
        text: "ShapeDtypeStruct(shape=(3, 5), dtype=float32)",
        shows: "JAX's shape without data",
        offsets: &[(&[2, 3], 13)],
        size: 15,
    },
    Example {
        text: "np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).ravel()  # x: float32 (3, 5)",
        shows: "code that makes tiles",
        offsets: &[(&[0, 2], 4), (&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "float32 (3, 5) np.pad(x.reshape(3, 5), ((0, 0), (0, 3))).T.reshape(-1)",
        shows: "with sizes before it",
        offsets: &[(&[2, 3], 11)],
        size: 24,
    },
    Example {
        text: "torch.nn.functional.pad(x, (0, 1, 0, 1)).permute(1, 0).contiguous()  # x: torch.int8 [3, 5]",
        shows: "code of PyTorch, column-major with padding",
        offsets: &[(&[2, 3], 14)],
        size: 24,
    },
    Example {
        text: "rearrange(x, \"(i0 i1) (j0 j1) -> i0 j0 i1 j1\", i1=8, j1=128)  # x: float32 (64, 256)",
        shows: "a pattern of einops",
        offsets: &[(&[9, 130], (2 + 1) * 1024 + 128 + 2)],
        size: 16384,
    },
    Example {
        text: "np.lib.stride_tricks.as_strided(buffer[2:], (2, 3), (0, -2))  # buffer: int16 (4,)",
        shows: "an array seen in a buffer",
        offsets: &[(&[0, 0], 2), (&[1, 2], 0)],
        size: 4,
    },
    Example {
        text: "torch.as_strided(buffer, (2, 3), (4, 1), 1)  # buffer: torch.float32 [9]",
        shows: "the same of PyTorch",
        offsets: &[(&[0, 0], 1), (&[1, 2], 7)],
        size: 9,
    },
    Example {
        text: "ShapedArray(float32[3,5])",
        shows: "JAX's abstract value",
        offsets: &[(&[2, 3], 13)],
        size: 15,
    },
    Example {
        text: "{'data': (8, False), 'strides': (4, 12), 'descr': [('', '<f4')], 'typestr': '<f4', 'shape': (3, 5), \
               'version': 3}",
        shows: "__array_interface__",
        offsets: &[(&[2, 3], 11)],
        size: 15,
    },
];

/// A text is an array's if each of its parts is something that Python's libraries print of arrays. Brackets after one
/// of XLA's names, and nothing else, are XLA's.
fn recognise(text: &str) -> Option<Confidence> {
    if recipe::is_code(text) {
        return Some(Confidence::Certain);
    }
    let items = match python::values(text, is_read) {
        Ok(items) => items,
        // Whose text it is does not depend on how large a number is.
        Err(error) if error.kind() == ErrorKind::Overflow => {
            return recognise(&shortened(text)?);
        }
        Err(_) => return None,
    };
    let is_array = match &items[..] {
        [Item { key: None, value: Value { kind: Kind::Index(name, _) | Kind::Name(name), .. } }]
            if Element::from_name(name).is_some() =>
        {
            false
        }
        items => items.iter().all(is_part) && items.iter().any(says_something),
    };
    is_array.then_some(Confidence::Certain)
}

/// The text with a digit in place of each number too long for 64 bits; None if there is none.
fn shortened(text: &str) -> Option<String> {
    let mut shorter = String::with_capacity(text.len());
    for run in text.split_inclusive(|c: char| !c.is_ascii_digit()) {
        match run.bytes().take_while(u8::is_ascii_digit).count() {
            digits @ 20.. => shorter.extend(["1", &run[digits..]]),
            _ => shorter.push_str(run),
        }
    }
    (shorter.len() < text.len()).then_some(shorter)
}

/// Whether this may be part of a text.
fn is_part(item: &Item) -> bool {
    match (&item.key, &item.value.kind) {
        (Some(key), _) => is_known(key),
        (None, Kind::Name(name)) => {
            is_read(attribute(name)) || is_format(name) || is_device(name) || python::is_type(name)
        }
        (None, Kind::Text(name)) => python::element(name).is_some(),
        (None, Kind::Number(_)) => true,
        (None, Kind::List(items)) => {
            items.iter().all(|item| item.key.is_none() && matches!(item.value.kind, Kind::Number(_)))
        }
        (None, Kind::Dict(items)) => {
            let has =
                |looks: fn(&python::Value) -> bool| move |item: &Item| item.key.as_ref().is_some_and(looks);
            let is_looked_at: fn(&python::Value) -> bool = |key| key.word().is_some_and(is_read);
            items.iter().all(has(is_known)) && items.iter().any(has(is_looked_at))
        }
        // With a format, JAX says the layout too.
        (None, Kind::Call(name, items)) if is_wrapper(name) => {
            !items.iter().any(|item| item.key.as_ref().is_some_and(|key| key.word() == Some("format")))
        }
        (None, Kind::Call(name, _)) => {
            is_read(attribute(name))
                || matches!(attribute(name), "Size" | "dtype")
                || python::element(name).is_some()
        }
        (None, Kind::Index(name, _)) => python::element(name).is_some(),
        (None, Kind::Kept(_)) => false,
    }
}

/// Whether this is more than numbers.
fn says_something(item: &Item) -> bool {
    item.key.is_some() || !matches!(item.value.kind, Kind::Number(_) | Kind::List(_))
}

impl Described for Array {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        words::parts(self)
    }

    fn facts(&self) -> Facts {
        words::facts(self)
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        let order = self.order.unwrap_or(Order::C);
        self.strides.is_none().then(|| order.minor_to_major(self.dims.len()).ok())?
    }
}
