//! The shape of a program: what it takes and what it gives.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::xla::text::lex::Reader;
use crate::xla::value::shape::Shape;

/// XLA's `ProgramShape`: named parameters and a result.
///
/// `Display` is XLA's form, which has no layouts; a parameter without a name prints as `(unknown)`.
///
/// ```
/// use tilework::xla::ProgramShape;
/// let program = ProgramShape::parse("(a: f32[2], b: s32[]) -> f32[2]")?;
/// assert_eq!(program.parameters[1].0, "b");
/// assert_eq!(program.to_string(), "(a: f32[2], b: s32[]) -> f32[2]");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramShape {
    /// Each parameter's name, which may be empty, and its shape.
    pub parameters: Vec<(String, Shape)>,
    /// The shape of what the program gives.
    pub result: Shape,
}

/// How XLA prints a parameter without a name.
const UNKNOWN: &str = "(unknown)";

impl ProgramShape {
    /// Reads the printed form. Shapes may have layouts; those that have none get the default one.
    ///
    /// # Errors
    /// Says where in the text, which rule is broken, and what is accepted there.
    pub fn parse(text: &str) -> Result<ProgramShape> {
        let mut reader = Reader::new(text, false);
        let mut parameters = Vec::new();
        reader.expect(b'(', "( and the parameters, as in (a: f32[2]) -> f32[2]")?;
        reader.items(
            |mark| mark == b')',
            |reader| {
                let name = reader.parameter_name()?;
                let mut shape = Shape::Token;
                reader.shape(&mut shape)?;
                parameters.push((name, shape));
                Ok(())
            },
        )?;
        reader.expect(b')', ", and one parameter more, or )")?;
        if !reader.eat_mark("->") {
            return Err(reader.unexpected("-> and the result"));
        }
        let mut result = Shape::Token;
        reader.shape(&mut result)?;
        match reader.is_at_end() {
            true => Ok(ProgramShape { parameters, result }),
            false => Err(reader.unexpected("the end of the text, since the program shape is complete")),
        }
    }
}

impl Reader<'_> {
    /// `name:`, with any name that holds none of the marks around it.
    fn parameter_name(&mut self) -> Result<String> {
        const NAME: &str = "a parameter's name and a colon, as in a: f32[2]";
        let name = if self.eat_mark(UNKNOWN) {
            ""
        } else {
            let marks = |byte: u8| b":,()[]{}".contains(&byte) || byte.is_ascii_whitespace();
            match self.until(marks) {
                "" => return Err(self.unexpected(NAME)),
                name => name,
            }
        };
        self.expect(b':', NAME)?;
        Ok(name.to_owned())
    }
}

impl fmt::Display for ProgramShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (number, (name, shape)) in self.parameters.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            let name = if name.is_empty() { UNKNOWN } else { name };
            write!(f, "{comma}{name}: {}", shape.human_string())?;
        }
        write!(f, ") -> {}", self.result.human_string())
    }
}

impl FromStr for ProgramShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<ProgramShape> {
        ProgramShape::parse(text)
    }
}
