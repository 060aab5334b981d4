//! What a notation says, as values for programs.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// Nothing is said.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Number(i128),
    /// A word, or a few.
    Text(String),
    /// Several values.
    List(Vec<Fact>),
}

impl From<bool> for Fact {
    fn from(value: bool) -> Fact {
        Fact::Bool(value)
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Fact {
        Fact::Text(text.to_owned())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Fact {
        Fact::Text(text)
    }
}

macro_rules! from_number {
    ($($number:ty),*) => { $(
        impl From<$number> for Fact {
            fn from(value: $number) -> Fact {
                Fact::Number(i128::from(value))
            }
        }
    )* };
}

from_number!(i32, i64, u8, u32, u64);

impl From<usize> for Fact {
    fn from(value: usize) -> Fact {
        Fact::Number(value as i128)
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(value: Option<T>) -> Fact {
        value.map_or(Fact::Null, Into::into)
    }
}

impl<T: Into<Fact>> FromIterator<T> for Fact {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Fact {
        Fact::List(values.into_iter().map(Into::into).collect())
    }
}

/// Values with their names, in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What they are about: `array`, or the notation's own word.
    pub about: &'static str,
    /// Names and values.
    pub fields: Vec<(&'static str, Fact)>,
    /// Those that are about the layout, and are told with it.
    pub of_layout: Vec<(&'static str, Fact)>,
}

impl Facts {
    /// No values yet.
    pub fn about(about: &'static str) -> Facts {
        Facts { about, fields: Vec::new(), of_layout: Vec::new() }
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Fact>) -> Facts {
        self.fields.push((name, value.into()));
        self
    }

    /// With one more about the layout.
    #[must_use]
    pub fn with_of_layout(mut self, name: &'static str, value: impl Into<Fact>) -> Facts {
        self.of_layout.push((name, value.into()));
        self
    }
}
