//! What stands in the braces of an encoding: names with numbers, lists, bases, and encodings.

use std::ops::Range;

use super::encoding::read;
use super::linear::{Bases, MAX_BITS};
use super::read::{MAX_ITEMS, Names};
use super::value::{Blocks, Encoding};
use crate::dialect::mlir::Reader;
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// A value in the braces.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(u64),
    Flag(bool),
    List(Vec<u64>),
    Bases(Bases),
    Encoding(Encoding),
}

/// What stands in the braces of an encoding.
pub(super) struct Fields<'a> {
    pub(super) of: &'static str,
    /// All of the braces.
    pub(super) at: Range<usize>,
    pub(super) items: Vec<(&'a str, Value, Range<usize>)>,
}

/// A word where a number is wanted.
pub(super) fn symbol(word: &str) -> Error {
    Error::new(format!("{} is a symbol", quoted(word)))
        .of_kind(ErrorKind::Unsupported)
        .rule("a layout over symbols has no places until they are numbers")
        .accepts("a number")
}

pub(super) fn value(reader: &mut Reader, names: &Names) -> Result<Value> {
    match reader.peek() {
        b'#' => reader.nested(|reader| read(reader, names)).map(Value::Encoding),
        b'[' => list(reader),
        b'0'..=b'9' => {
            let number = reader.number("a number")?;
            if reader.eat(":") {
                reader.word(); // its type
            }
            Ok(Value::Number(number))
        }
        _ => match reader.peek_word() {
            "" => Err(reader.unexpected("a number, true or false, a list, or an encoding")),
            word @ ("true" | "false") => {
                reader.word();
                Ok(Value::Flag(word == "true"))
            }
            word => Err(symbol(word).at(reader.token())),
        },
    }
}

/// `[1, 8]` or `[[0, 1], [1, 0]]`
pub(super) fn list(reader: &mut Reader) -> Result<Value> {
    let mut bases = Bases::new();
    let mut numbers = Vec::new();
    reader.eat("[");
    reader.items("]", |reader| {
        let at = reader.token();
        if reader.eat("[") {
            let mut base = Vec::new();
            reader.items("]", |reader| {
                base.push(number(reader)?);
                Ok(())
            })?;
            let rank = bases.first().map_or(base.len(), Vec::len);
            if base.is_empty() || base.len() != rank || rank > MAX_ITEMS {
                return Err(Error::new(format!("a basis of {}", counted(base.len() as u64, "number")))
                    .at(reader.since(at.start))
                    .rule("a basis has one number for each dimension")
                    .accepts(counted(rank.max(1) as u64, "number")));
            }
            bases.push(base);
        } else {
            numbers.push(number(reader)?);
        }
        if numbers.len().max(bases.len()) > MAX_ITEMS || (!numbers.is_empty() && !bases.is_empty()) {
            return Err(Error::new("a list that is too long, or of numbers and lists")
                .at(at)
                .accepts(format!("up to {MAX_ITEMS} items of one kind")));
        }
        Ok(())
    })?;
    Ok(if bases.is_empty() { Value::List(numbers) } else { Value::Bases(bases) })
}

pub(super) fn number(reader: &mut Reader) -> Result<u64> {
    match reader.peek_word() {
        "" => {
            let at = reader.token();
            let number = reader.number("a number")?;
            match number < 1 << MAX_BITS {
                true => Ok(number),
                false => Err(Error::new(format!("number {number}"))
                    .of_kind(ErrorKind::Overflow)
                    .at(at)
                    .accepts(format!("numbers below 2^{MAX_BITS}"))),
            }
        }
        word => Err(symbol(word).at(reader.token())),
    }
}

impl<'a> Fields<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, names: &Names, of: &'static str) -> Result<Fields<'a>> {
        let start = reader.here();
        let mut items: Vec<(&str, Value, Range<usize>)> = Vec::new();
        reader.expect("{", "`{` and what the encoding says")?;
        reader.items("}", |reader| {
            let at = reader.token();
            let name = reader.word();
            if name.is_empty() || items.iter().any(|item| item.0 == name) || items.len() == MAX_ITEMS {
                return Err(reader.back_to(at.start).unexpected("a further parameter of the encoding"));
            }
            reader.expect("=", "`=` and a value")?;
            let value_at = reader.here();
            let value = value(reader, names)?;
            items.push((name, value, reader.since(value_at)));
            Ok(())
        })?;
        Ok(Fields { of, at: reader.since(start), items })
    }

    pub(super) fn take(&mut self, name: &str) -> Option<(Value, Range<usize>)> {
        let place = self.items.iter().position(|item| item.0 == name)?;
        let (_, value, at) = self.items.remove(place);
        Some((value, at))
    }

    pub(super) fn need<T>(&self, name: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| {
            Error::new(format!("{} without {name}", self.of))
                .at(self.at.clone())
                .accepts(format!("{name} = …"))
        })
    }

    pub(super) fn wrong(name: &str, at: Range<usize>, wanted: &str) -> Error {
        Error::new(format!("{name} is {wanted}")).at(at).accepts(wanted)
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::Number(number), at)) if number >= 1 << MAX_BITS => {
                Err(Fields::wrong(name, at, &format!("a number below 2^{MAX_BITS}")))
            }
            Some((Value::Number(number), _)) => Ok(Some(number)),
            Some((_, at)) => Err(Fields::wrong(name, at, "a number")),
        }
    }

    /// A number that is a power of two.
    pub(super) fn power(&mut self, name: &str) -> Result<u64> {
        let at = self.place(name);
        let number = self.number(name)?;
        let number = self.need(name, number)?;
        match number.is_power_of_two() {
            true => Ok(number),
            false => Err(not_power(name, number, at)),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::Flag(flag), _)) => Ok(Some(flag)),
            Some((_, at)) => Err(Fields::wrong(name, at, "true or false")),
        }
    }

    pub(super) fn place(&self, name: &str) -> Range<usize> {
        self.items.iter().find(|item| item.0 == name).map_or(self.at.clone(), |item| item.2.clone())
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Vec<u64>> {
        let found = self.take(name);
        match self.need(name, found)? {
            (Value::List(list), _) => Ok(list),
            (_, at) => Err(Fields::wrong(name, at, "a list of numbers")),
        }
    }

    /// Numbers, one for each dimension, each a power of two.
    pub(super) fn powers(&mut self, name: &str, rank: usize) -> Result<Vec<u64>> {
        let at = self.place(name);
        let list = self.list(name)?;
        if list.len() != rank {
            return Err(Error::new(format!("{name} has {}", counted(list.len() as u64, "number")))
                .at(at)
                .rule("every list of an encoding has one number for each dimension")
                .accepts(counted(rank as u64, "number")));
        }
        match list.iter().find(|number| !number.is_power_of_two()) {
            Some(&number) => Err(not_power(name, number, at)),
            None => Ok(list),
        }
    }

    /// An order of dimensions, the fastest first.
    pub(super) fn order(&mut self, name: &str) -> Result<Vec<usize>> {
        let at = self.place(name);
        let list = self.list(name)?;
        let mut seen = vec![false; list.len()];
        let mut order = Vec::with_capacity(list.len());
        for &dim in &list {
            match usize::try_from(dim).ok().and_then(|dim| seen.get_mut(dim)) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(Error::new(format!("{name} = {list:?}"))
                        .at(at)
                        .rule("an order names every dimension once")
                        .accepts(format!("a permutation of {:?}", Vec::from_iter(0..list.len()))));
                }
            }
            order.push(dim as usize);
        }
        match order.is_empty() {
            true => Err(Fields::wrong(name, at, "an order of at least one dimension")),
            false => Ok(order),
        }
    }

    pub(super) fn bases(&mut self, name: &str) -> Result<Option<Bases>> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::Bases(bases), _)) => Ok(Some(bases)),
            Some((Value::List(list), _)) if list.is_empty() => Ok(Some(Bases::new())),
            Some((_, at)) => Err(Fields::wrong(name, at, "a list of bases such as [[0, 1], [0, 2]]")),
        }
    }

    pub(super) fn parent(&mut self) -> Result<Box<Encoding>> {
        let found = self.take("parent");
        match self.need("parent", found)? {
            (Value::Encoding(encoding), _) => Ok(Box::new(encoding)),
            (_, at) => Err(Fields::wrong("parent", at, "an encoding")),
        }
    }

    /// What the blocks hold, older or newer.
    pub(super) fn blocks(&mut self, rank: usize) -> Result<Blocks> {
        let at = self.place("CGALayout");
        if let Some(bases) = self.bases("CGALayout")? {
            same_rank(&bases, rank, at)?;
            return Ok(if bases.is_empty() { Blocks::One } else { Blocks::Bases(bases) });
        }
        if self.items.iter().all(|item| item.0 != "CTAsPerCGA") {
            return Ok(Blocks::One);
        }
        let per_cga = self.powers("CTAsPerCGA", rank)?;
        let at = self.place("CTASplitNum");
        let split = self.powers("CTASplitNum", rank)?;
        if let Some((per_cga, split)) = per_cga.iter().zip(&split).find(|(per_cga, split)| split > per_cga) {
            return Err(Error::new(format!(
                "{} for {}",
                counted(*split, "piece"),
                counted(*per_cga, "block")
            ))
            .at(at)
            .rule("the blocks are a multiple of the pieces")
            .accepts(format!("up to {per_cga}")));
        }
        let at = self.place("CTAOrder");
        let order = self.order("CTAOrder")?;
        if order.len() != rank {
            return Err(Fields::wrong(
                "CTAOrder",
                at,
                &format!("an order of {}", counted(rank as u64, "dimension")),
            ));
        }
        Ok(Blocks::Split { per_cga, split, order })
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Result<()> {
        let Some((name, _, at)) = self.items.first() else { return Ok(()) };
        Err(Error::new(format!("{} is no parameter of {}, or not beside its others", quoted(name), self.of))
            .at(at.clone())
            .accepts("the parameters that Triton writes"))
    }
}

pub(super) fn not_power(name: &str, number: u64, at: Range<usize>) -> Error {
    Error::new(format!("{number} in {name} is not a power of two"))
        .at(at)
        .rule("everything that an encoding counts is a power of two")
        .accepts(number.max(1).checked_next_power_of_two().unwrap_or(1).to_string())
}

pub(super) fn same_rank(bases: &Bases, rank: usize, at: Range<usize>) -> Result<()> {
    match bases.first().filter(|base| base.len() != rank) {
        None => Ok(()),
        Some(base) => Err(Error::new(format!("bases of {}", counted(base.len() as u64, "number")))
            .at(at)
            .rule("a basis has one number for each dimension")
            .accepts(counted(rank as u64, "number"))),
    }
}
