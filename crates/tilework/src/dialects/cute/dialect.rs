//! CuTe among the notations.

use std::fmt;
use std::sync::Arc;

use super::code;
use super::print::Spelling;
use super::read;
use super::tensor::Tensor;
use super::words;
use crate::dialect::{Confidence, Described, Dialect, Example, Facts, Form, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Layouts `shape:stride`, as CuTe IR, CUTLASS's C++ and the CuTe DSL write them.
pub static DIALECT: Dialect = Dialect {
    name: "cute",
    title: "a layout of CuTe",
    recognise,
    read,
    say: Some(say),
    forms: &[Form { name: "cute-cpp", title: "a layout of CuTe as C++ prints it", say: say_cpp }],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example { text: "f32 (4,8):(8,1)", shows: "shape and strides", offsets: &[(&[2, 3], 19)], size: 32 },
    Example {
        text: "f16 ((2,2),(2,3)):((2,12),(1,4))",
        shows: "nested modes: tiles of 2 × 2",
        offsets: &[(&[2, 3], 17), (&[3, 5], 23)],
        size: 24,
    },
    Example {
        text: "f16[3,5] ((2,2),(2,3)):((2,12),(1,4))",
        shows: "the sizes of the array, with padding in the shape",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "f32[6,4] ((2,3),4):((1,8),2)",
        shows: "the sizes of the array",
        offsets: &[(&[3, 2], 1 + 8 + 4), (&[5, 3], 1 + 16 + 6)],
        size: 24,
    },
    Example {
        text: "bf16 (_4,(_2,_3)):(_3,(_12,_1))",
        shows: "as C++ prints it",
        offsets: &[(&[1, 3], 3 + 12 + 1)],
        size: 24,
    },
    Example { text: "s8 6:2", shows: "one mode", offsets: &[(&[5], 10)], size: 11 },
    Example {
        text: "f32 !cute.layout<\"(4,(2,3))\">",
        shows: "an attribute of CuTe IR, compact",
        offsets: &[(&[1, 2], 1 + 8)],
        size: 24,
    },
    Example {
        text: "tensor(raw_ptr(0x000000000a5f1d50: f32, generic, align<4>) o (4,5):(5,1), data=",
        shows: "as the Python DSL prints a tensor",
        offsets: &[(&[1, 2], 7)],
        size: 20,
    },
    Example {
        text: "!cute.memref<f16, smem, align<16>, \"((8,2),(64,1)):((64,512),(1,0))\">",
        shows: "a memory of CuTe IR",
        offsets: &[(&[9, 3], 64 + 512 + 3)],
        size: 1024,
    },
    Example {
        text: "f16 smem_ptr[16b](0x7f8800000400) o (_8,_64):(_64,_1)",
        shows: "a tensor as C++ prints it",
        offsets: &[(&[1, 2], 66)],
        size: 512,
    },
    Example {
        text: "f16[128,64] S<3,4,3> o 0 o (128,64):(64,1)",
        shows: "a swizzle of offsets",
        // 131 has bit 7, which flips bit 4; 593 has bit 9, which flips bit 6
        offsets: &[(&[2, 3], 131 + 16), (&[9, 17], 593 - 64)],
        size: 8192,
    },
    Example {
        text: "f16 Sw<3,4,3>_smem_ptr[16b](0x7f8800000400) o (_8,_64):(_64,_1)",
        shows: "a swizzle of addresses, in bytes",
        offsets: &[(&[1, 2], 66 + 8), (&[7, 63], 511 - 56)],
        size: 512,
    },
    Example {
        text: "f32 S<0,4,3> o 6 o (4,2):(-2,8)",
        shows: "an offset to the first element",
        offsets: &[(&[0, 0], 6), (&[3, 1], 8)],
        size: 15,
    },
    Example {
        text: "f32 (4,8):(1,4) o 0 o (4,8):(1@0,1@1)",
        shows: "a layout of coordinates, and one that takes them",
        offsets: &[(&[2, 3], 14)],
        size: 32,
    },
];

fn recognise(text: &str) -> Option<Confidence> {
    if code::written(text).is_some() {
        return Some(Confidence::Certain);
    }
    match read::text(text) {
        Ok(read) if read.is_shape => None,
        // Two numbers and a colon may be anything.
        Ok(_) if !text.contains(['(', '<']) => Some(Confidence::Likely),
        Ok(_) => Some(Confidence::Certain),
        Err(_) => looks_like_it(text).then_some(Confidence::Likely),
    }
}

/// Whether a text that cannot be read is meant as a layout of CuTe.
fn looks_like_it(text: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["!cute.", "S<", "Sw<", "raw_ptr(", "ptr<", "ArithTuple("];
    let is_letter = |c: char| c.is_ascii_digit() || "(),_?@/<>{}= -Eidv".contains(c);
    let shape = text.len() - text.trim_start_matches(is_letter).len();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || text.contains("_ptr[")
        || (shape > 0 && text[shape..].starts_with(':'))
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    let code = code::written(text);
    let read = match &code {
        Some(written) => read::text(written).map_err(|error| error.at(0..text.len()))?,
        None => read::text(text)?,
    };
    let mut tensor = Tensor::from(read.layout).with_engine(read.engine);
    let element = known.element.or(known.dims.and_then(|_| tensor.element()));
    if let Some(element) = element {
        tensor = tensor.with_element(element).map_err(|error| error.at(0..text.len()))?;
    }
    if let (Some(dims), Some(_)) = (known.dims, element) {
        tensor = tensor.with_sizes(dims).map_err(|error| error.at(0..text.len()))?;
    }
    Ok(vec![Found { name: read.name.map(str::to_owned), said: Arc::new(tensor) }])
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    Ok(Arc::new(Tensor::of_layout(layout, element)?))
}

fn say_cpp(layout: &Layout, element: Element) -> Result<Said> {
    Ok(Arc::new(Printed(Tensor::of_layout(layout, element)?)))
}

/// A layout that prints as C++ prints it, and is read as any other.
#[derive(Debug)]
struct Printed(Tensor);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.spelled(Spelling::Cpp))
    }
}

impl Described for Printed {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        self.0.element()
    }

    fn layout(&self) -> Result<Layout> {
        self.0.lower()
    }

    fn parts(&self, layout: Option<&Layout>) -> Vec<Part> {
        self.0.parts(layout)
    }

    fn facts(&self) -> Facts {
        self.0.facts()
    }

    fn notes(&self, layout: &Layout) -> Vec<String> {
        self.0.notes(layout)
    }

    fn counts_first_fastest(&self) -> bool {
        true
    }
}

impl Described for Tensor {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        self.element()
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn open(&self) -> Option<String> {
        if let Some(why) = self.at_run_time() {
            return Some(format!("{why}, so there is no layout"));
        }
        if self.makes_coordinates() {
            return Some(
                "the layout makes coordinates, not offsets, so its elements have no places in memory"
                    .to_owned(),
            );
        }
        None
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        words::parts(self)
    }

    fn facts(&self) -> Facts {
        words::facts(self)
    }

    fn notes(&self, _: &Layout) -> Vec<String> {
        words::notes(self)
    }

    fn counts_first_fastest(&self) -> bool {
        true
    }
}
