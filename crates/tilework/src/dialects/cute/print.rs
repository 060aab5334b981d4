//! How the values are written: as CuTe IR and the Python DSL do, or as C++ prints them.

use std::fmt;

use super::composed::{Composed, Function};
use super::layout::Layout;
use super::swizzle::Swizzle;
use super::tiler::Tiler;
use super::tuple::{Basis, Dynamic, IntTuple, Leaf};

/// Whose spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// CuTe IR's and the Python DSL's: `S<3,4,3> o 0 o (8,64):(64,1)`. What is canonical here.
    Ir,
    /// `cute::print` of C++: `Sw<3,4,3> o _0 o (_8,_64):(_64,_1)`.
    Cpp,
}

/// What can be written in both spellings.
pub(super) trait Spell {
    fn spell(&self, spelling: Spelling, out: &mut String);
}

/// The text in a spelling.
pub(super) fn spelled(value: &impl Spell, spelling: Spelling) -> String {
    let mut out = String::new();
    value.spell(spelling, &mut out);
    out
}

fn int(value: i64, spelling: Spelling, out: &mut String) {
    if spelling == Spelling::Cpp {
        out.push('_');
    }
    out.push_str(&value.to_string());
}

impl Spell for Leaf {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        match self {
            Leaf::Int(value) => int(*value, spelling, out),
            Leaf::Dynamic(dynamic) => dynamic.spell(spelling, out),
            Leaf::Any => out.push('_'),
            Leaf::Basis(Basis { value, modes }) => {
                match value {
                    Some(value) => int(*value, spelling, out),
                    None => out.push('?'),
                }
                for mode in modes.iter().rev() {
                    out.push_str(&format!("@{mode}"));
                }
            }
        }
    }
}

impl Spell for Dynamic {
    fn spell(&self, _: Spelling, out: &mut String) {
        out.push('?');
        let bits = (self.bits != 32).then(|| format!("i{}", self.bits));
        let divisor = (self.divisor != 1).then(|| format!("div={}", self.divisor));
        let said: Vec<String> = bits.into_iter().chain(divisor).collect();
        if !said.is_empty() {
            out.push_str(&format!("{{{}}}", said.join(" ")));
        }
    }
}

impl Spell for IntTuple {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        match self {
            IntTuple::Leaf(leaf) => leaf.spell(spelling, out),
            IntTuple::Tuple(modes) => list(modes, ['(', ',', ')'], spelling, out),
        }
    }
}

fn list(items: &[impl Spell], [open, comma, close]: [char; 3], spelling: Spelling, out: &mut String) {
    out.push(open);
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.push(comma);
        }
        item.spell(spelling, out);
    }
    out.push(close);
}

impl Spell for Layout {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        self.shape().spell(spelling, out);
        out.push(':');
        self.stride().spell(spelling, out);
    }
}

impl Spell for Swizzle {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        let name = if spelling == Spelling::Cpp { "Sw" } else { "S" };
        out.push_str(&format!("{name}<{},{},{}>", self.bits(), self.base(), self.shift()));
    }
}

impl Spell for Composed {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        if self.is_plain() {
            return self.layout().spell(spelling, out);
        }
        match self.function() {
            Function::Swizzle(swizzle) => swizzle.spell(spelling, out),
            Function::Layout(layout) => layout.spell(spelling, out),
        }
        out.push_str(" o ");
        self.offset().spell(spelling, out);
        out.push_str(" o ");
        self.layout().spell(spelling, out);
    }
}

impl Spell for Tiler {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        match self {
            Tiler::Any => out.push('_'),
            Tiler::Layout(layout) => layout.spell(spelling, out),
            Tiler::Tuple(modes) => list(modes, ['[', ';', ']'], spelling, out),
        }
    }
}

macro_rules! display {
    ($($kind:ty),*) => { $(
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&spelled(self, Spelling::Ir))
            }
        }

        impl $kind {
            /// The text in a spelling. `Display` has that of CuTe IR.
            pub fn spelled(&self, spelling: Spelling) -> String {
                spelled(self, spelling)
            }
        }
    )* };
}

display!(Leaf, IntTuple, Layout, Swizzle, Composed, Tiler);
