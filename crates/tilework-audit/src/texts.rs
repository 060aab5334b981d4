//! Names and other texts, each held once.

use std::fmt::{self, Display, Write};
use std::sync::Arc;

use crate::budget::{Budget, PIECE};
use crate::hash::Map;

/// The number of a text.
pub(crate) type Text = u32;

/// The empty text: what is not known.
pub(crate) const NONE: Text = 0;

/// The most bytes of texts that are held. Beyond it, new texts are not known.
const LIMIT: usize = 256 << 20;

/// How many bytes something has as a text, which is not made.
pub(crate) fn printed(what: &impl Display) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A counter refuses nothing.
    let _ = write!(counter, "{what}");
    counter.0
}

/// Texts by number and numbers by text.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    numbers: Map<Arc<str>, Text>,
    texts: Vec<Arc<str>>,
    bytes: usize,
    budget: Budget,
}

#[cfg(test)]
impl Default for Texts {
    fn default() -> Texts {
        Texts::within(&Budget::default())
    }
}

impl Texts {
    /// Those that are held within a budget; none so far.
    pub(crate) fn within(budget: &Budget) -> Texts {
        let none: Arc<str> = Arc::from("");
        let numbers = Map::from_iter([(none.clone(), NONE)]);
        Texts { numbers, texts: vec![none], bytes: 0, budget: budget.clone() }
    }

    /// The number of this text; bytes that are no UTF-8 become U+FFFD.
    #[inline]
    pub(crate) fn number(&mut self, text: &[u8]) -> Text {
        match std::str::from_utf8(text) {
            Ok(text) => match self.numbers.get(text) {
                Some(&number) => number,
                None => self.add(text),
            },
            Err(_) => self.number(String::from_utf8_lossy(text).as_bytes()),
        }
    }

    fn add(&mut self, text: &str) -> Text {
        let Ok(number) = Text::try_from(self.texts.len()) else { return NONE };
        if self.bytes + text.len() > LIMIT {
            return NONE;
        }
        let Texts { numbers, texts, budget, .. } = self;
        // Each is counted: how often it is held, and the allocator's own.
        let bytes = text.len() + 2 * size_of::<usize>() + PIECE;
        if !(budget.for_one(texts) && budget.for_entry(numbers) && budget.take(bytes)) {
            return NONE;
        }
        self.bytes += text.len();
        let text: Arc<str> = Arc::from(text);
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text with this number.
    pub(crate) fn text(&self, number: Text) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// The same, for as long as one likes.
    #[cfg(feature = "proto")]
    pub(crate) fn shared(&self, number: Text) -> Arc<str> {
        self.texts.get(number as usize).or(self.texts.first()).cloned().unwrap_or_default()
    }
}
