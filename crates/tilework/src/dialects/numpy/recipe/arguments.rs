//! The arguments of a call, as numbers.

use std::ops::Range;

use super::MOST;
use super::parse::Call;
use crate::dialect::python::{Kind, Value};
use crate::error::{Error, ErrorKind, Result, quoted};

/// The argument with one of these keys.
pub(super) fn argument<'v, 'a>(call: &'v Call<'a>, keys: &[&str]) -> Option<&'v Value<'a>> {
    call.keyed.iter().find(|(key, _)| keys.contains(key)).map(|(_, value)| value)
}

/// Refuses other keys than these.
pub(super) fn check_keys(call: &Call, keys: &[&str]) -> Result<()> {
    match call.keyed.iter().find(|(key, _)| !keys.contains(key)) {
        None => Ok(()),
        Some((key, value)) => Err(Error::new(format!("{} of {}", quoted(key), call.name))
            .of_kind(ErrorKind::Unsupported)
            .at(value.span.clone())
            .rule("what it changes is not read")
            .accepts(format!("{} without it", call.name))),
    }
}

pub(super) fn number(value: &Value) -> Result<i128> {
    match value.kind {
        Kind::Number(number) => fits(number, &value.span),
        _ => Err(value.error("this is no whole number").accepts("a number such as 3")),
    }
}

pub(super) fn whole(value: &Value) -> Result<u64> {
    size(number(value)?, &value.span)
}

/// Numbers in brackets; one number alone is a list of one.
pub(super) fn numbers(value: &Value) -> Result<Vec<i128>> {
    let numbers = value.numbers("numbers such as (0, 1)")?;
    numbers.into_iter().map(|(number, at)| fits(number, &at)).collect()
}

pub(super) fn sizes(value: &Value) -> Result<Vec<u64>> {
    let numbers = value.numbers("numbers such as (0, 1)")?;
    match numbers.len() > 2 * MOST {
        true => Err(value.error("too many sizes").of_kind(ErrorKind::Limit)),
        false => numbers.into_iter().map(|(number, at)| size(fits(number, &at)?, &at)).collect(),
    }
}

fn fits(number: i128, at: &Range<usize>) -> Result<i128> {
    match i64::try_from(number) {
        Ok(_) => Ok(number),
        Err(_) => Err(Error::new(format!("{number} does not fit 63 bits"))
            .of_kind(ErrorKind::Overflow)
            .at(at.clone())),
    }
}

fn size(number: i128, at: &Range<usize>) -> Result<u64> {
    u64::try_from(number)
        .map_err(|_| Error::new(format!("{number}")).at(at.clone()).accepts("a whole number, 0 or more"))
}
