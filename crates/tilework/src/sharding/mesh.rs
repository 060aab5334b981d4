//! Meshes: devices in a grid whose dimensions have names.

use std::fmt;

use crate::dialect::cursor::{Cursor, Tokens};
use crate::error::{Error, ErrorKind, Result, quoted};

/// Devices in a grid whose dimensions (axes) have names: `x=2,y=4`. They are counted in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh(Vec<(String, u64)>);

const TOKENS: Tokens = Tokens {
    noun: "mesh",
    begins_word: |byte| byte.is_ascii_alphabetic() || byte == b'_',
    in_word: |byte| byte.is_ascii_alphanumeric() || byte == b'_',
    digits_end: true,
    trim: str::trim_start,
    most_deep: 1,
};

const EXAMPLE: &str = "axes with their sizes, such as x=2,y=4";

impl Mesh {
    /// Reads `x=2,y=4`.
    ///
    /// # Errors
    /// The first thing that is wrong, and those of [`Mesh::new`].
    pub fn parse(text: &str) -> Result<Mesh> {
        let mut cursor = Cursor::new(text, &TOKENS);
        let mut axes = Vec::new();
        loop {
            let start = cursor.here();
            let name = cursor.word();
            if name.is_empty() {
                return Err(cursor.unexpected(EXAMPLE));
            }
            if !cursor.eat("=") {
                cursor.expect(":", EXAMPLE)?;
            }
            let size = cursor.number("the size of the axis")?;
            axes.push((name.to_owned(), size));
            check(&axes).map_err(|error| error.at(cursor.since(start)))?;
            if !cursor.eat(",") {
                break;
            }
        }
        cursor.finish("a comma and another axis, or the end")?;
        Ok(Mesh(axes))
    }

    /// A mesh of these axes.
    ///
    /// # Errors
    /// No axes, two of one name, sizes of 0, and more devices than 63 bits count.
    pub fn new(axes: Vec<(String, u64)>) -> Result<Mesh> {
        for count in 0..=axes.len() {
            check(&axes[..count])?;
        }
        match axes.is_empty() {
            true => Err(Error::new("a mesh without axes").accepts(EXAMPLE)),
            false => Ok(Mesh(axes)),
        }
    }

    /// The axes and their sizes.
    pub fn axes(&self) -> &[(String, u64)] {
        &self.0
    }

    /// How many devices there are.
    pub fn devices(&self) -> u64 {
        self.0.iter().map(|(_, size)| size).product()
    }
}

/// Whether the last axis may follow the others.
fn check(axes: &[(String, u64)]) -> Result<()> {
    let Some(((name, size), before)) = axes.split_last() else { return Ok(()) };
    if *size == 0 {
        return Err(Error::new(format!("axis {} of size 0", quoted(name))).rule("an axis has devices"));
    }
    if before.iter().any(|(other, _)| other == name) {
        return Err(
            Error::new(format!("a second axis {}", quoted(name))).rule("axes have names of their own")
        );
    }
    let devices = axes.iter().try_fold(1_u64, |all, (_, size)| all.checked_mul(*size));
    match devices.filter(|&devices| devices <= i64::MAX as u64) {
        Some(_) => Ok(()),
        None => Err(Error::new("more devices than 63 bits count").of_kind(ErrorKind::Overflow)),
    }
}

impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.0.iter().map(|(name, size)| format!("{name}={size}")).collect();
        f.write_str(&axes.join(","))
    }
}
