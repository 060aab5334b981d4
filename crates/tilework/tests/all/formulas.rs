//! Formulas as people read them: worked out, they say the offset of every element.

use proptest::prelude::*;
use tilework::{Layout, Result};

use crate::common::indices;
use crate::measures::layout;

/// Reads a formula and works it out: sums of products, `⌊a/b⌋`, `(a mod b)`, letters, names of quotients and numbers.
struct Reader<'a> {
    rest: &'a str,
    names: Vec<(String, i128)>,
}

impl Reader<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest.strip_prefix(word);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn sum(&mut self) -> i128 {
        let first = if self.eat("−") { -1 } else { 1 };
        let mut sum = first * self.product();
        loop {
            sum += match (self.eat(" + "), self.eat(" − ")) {
                (true, _) => self.product(),
                (_, true) => -self.product(),
                _ => return sum,
            };
        }
    }

    fn product(&mut self) -> i128 {
        let factor = self.factor();
        if self.eat("·") { factor * self.factor() } else { factor }
    }

    fn factor(&mut self) -> i128 {
        if self.eat("⌊") {
            // Without parentheses the line of the fraction is over one factor or product, as everywhere.
            let sign = if self.eat("−") { -1 } else { 1 };
            let above = sign * self.product();
            assert!(self.eat("/"), "{}", self.rest);
            let below = self.factor();
            assert!(self.eat("⌋"), "{}", self.rest);
            return above.div_euclid(below);
        }
        if self.eat("(") {
            let mut inner = self.sum();
            if self.eat(" mod ") {
                inner = inner.rem_euclid(self.factor());
            }
            assert!(self.eat(")"), "{}", self.rest);
            return inner;
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match self.names.iter().find(|(name, _)| name == word) {
            Some((_, value)) => *value,
            None => word.parse().unwrap_or_else(|_| panic!("{word:?} before {rest:?}")),
        }
    }
}

/// The value of a formula at an index; without one it has no letters.
fn value(formula: &str, index: &[u64]) -> i128 {
    let (sum, quotients) = formula.split_once(", where ").unwrap_or((formula, ""));
    let letters = match index.len() {
        0..=6 => ["i", "j", "k", "l", "m", "n"].map(str::to_owned).to_vec(),
        rank => (0..rank).map(|dim| format!("x{dim}")).collect(),
    };
    let names = letters.into_iter().zip(index.iter().map(|&at| i128::from(at))).collect();
    let mut reader = Reader { rest: "", names };
    for quotient in quotients.split(", ").filter(|quotient| !quotient.is_empty()) {
        let (name, of) = quotient.split_once(" = ").unwrap();
        reader.rest = of;
        let found = reader.sum();
        reader.names.push((name.to_owned(), found));
    }
    reader.rest = sum;
    let found = reader.sum();
    assert_eq!(reader.rest, "", "{formula}");
    found
}

/// The formula says the offset, and so does every step of working it out.
fn check(layout: &Layout, index: &[u64]) {
    let offset = i128::from(layout.offset(index).unwrap());
    let (formula, worked) = (layout.formula(), layout.formula_at(index).unwrap());
    assert_eq!(value(&formula, index), offset, "{formula} at {index:?}");
    for step in worked.split(" = ") {
        assert_eq!(value(step, &[]), offset, "{formula} at {index:?}: {worked}");
    }
    assert!(worked.ends_with(&offset.to_string()), "{worked}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_formula_says_the_offset_of_every_element(layout in layout()) {
        for index in indices(layout.dims()).take(300) {
            check(&layout, &index);
        }
    }
}

#[test]
fn quotients_with_names_are_worked_out_as_well() -> Result<()> {
    let mut builder = Layout::builder(&[20_000], 32)?;
    for tile in [100, 99, 98, 97, 96, 95, 94, 93, 92] {
        builder = builder.tile(&[Some(tile)])?;
    }
    let layout = builder.build()?;
    assert!(layout.formula().contains(", where q"), "{}", layout.formula());
    for at in [0, 1, 91, 92, 95, 99, 100, 9_899, 12_345, 19_999] {
        check(&layout, &[at]);
        let worked = layout.formula_at(&[at])?;
        assert!(!worked.contains('q') && worked.len() < layout.formula().len() / 2, "{worked}");
    }
    Ok(())
}

#[test]
fn formulas_are_written_as_people_write_them() -> Result<()> {
    let rows = |dims: &[u64]| Layout::builder(dims, 32);
    let tiles = || rows(&[9, 4])?.tile(&[Some(3), Some(2)])?.build();
    let cases = [
        (rows(&[])?.build()?, "0"),
        (rows(&[3, 5])?.build()?, "5·i + j"),
        (rows(&[2, 2, 2, 2, 2, 2, 2])?.build()?, "64·x0 + 32·x1 + 16·x2 + 8·x3 + 4·x4 + 2·x5 + x6"),
        (Layout::strided(&[3, 4], 8, &[-4, 1], None, None)?, "8 − 4·i + j"),
        (Layout::strided(&[3, 4], 8, &[-1, -3], None, None)?, "11 − i − 3·j"),
        (rows(&[9])?.tile(&[Some(3)])?.build()?.slice(0, 0..9, 2)?, "2·i"),
        // One term above the line needs no parentheses, and more do.
        (tiles()?.slice(0, 0..9, 2)?, "4·i + 6·⌊j/2⌋ + (j mod 2) + 6·⌊2·i/3⌋"),
        (tiles()?.slice(0, 1..9, 2)?, "2 + 4·i + 6·⌊j/2⌋ + (j mod 2) + 6·⌊(1 + 2·i)/3⌋"),
        // A tile of the whole dimension cuts nothing, also where the dimension is counted from its end.
        (rows(&[2, 4])?.tile(&[Some(4)])?.build()?.flip(1)?.merge_dims(0)?, "3 + 4·⌊i/4⌋ − (i mod 4)"),
    ];
    for (layout, formula) in cases {
        assert_eq!(layout.formula(), formula);
    }
    Ok(())
}

#[test]
fn what_strides_cannot_say_is_named_by_its_cut_or_shown() -> Result<()> {
    let tiles = |columns| Layout::builder(&[9, 4], 32)?.tile(&[Some(3), Some(columns)])?.build();
    let why = |layout: &Layout| layout.to_strides().unwrap_err().to_string();
    let cut = why(&tiles(2)?);
    assert!(cut.contains("dimension 1 changes its stride at every multiple of 2"), "{cut}");
    let shown = why(&tiles(1)?.slice(0, 0..9, 2)?);
    assert!(shown.contains("quotients in it: ") && shown.contains("⌊2·i/3⌋"), "{shown}");
    Ok(())
}
