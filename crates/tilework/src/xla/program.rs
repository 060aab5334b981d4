//! The shape of a program: its parameters and its result.

use std::fmt;

use super::shape::Shape;

/// XLA's `ProgramShape`.
///
/// ```
/// use tilework::xla::ProgramShape;
/// let program = ProgramShape::parse("(x: f32[2], y: s32[]) -> f32[2]")?;
/// assert_eq!(program.parameters[1].0, "y");
/// assert_eq!(program.to_string(), "(x: f32[2], y: s32[]) -> f32[2]");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramShape {
    /// Name and shape of each parameter.
    pub parameters: Vec<(String, Shape)>,
    /// The shape of the result.
    pub result: Shape,
}

/// As XLA prints it: without layouts, and `(unknown)` for an empty name.
impl fmt::Display for ProgramShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (place, (name, shape)) in self.parameters.iter().enumerate() {
            let separator = if place > 0 { ", " } else { "" };
            let name = if name.is_empty() { "(unknown)" } else { name };
            write!(f, "{separator}{name}: {}", shape.human_string())?;
        }
        write!(f, ") -> {}", self.result.human_string())
    }
}
