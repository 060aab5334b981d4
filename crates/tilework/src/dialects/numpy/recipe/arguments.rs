//! The arguments of a call, as numbers.

use super::MOST;
use super::parse::{Call, Kind, Value};
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
        Kind::Number(number) => Ok(number),
        _ => Err(Error::new("this is no whole number").at(value.span.clone()).accepts("a number such as 3")),
    }
}

pub(super) fn whole(value: &Value) -> Result<u64> {
    let number = number(value)?;
    u64::try_from(number).map_err(|_| {
        Error::new(format!("{number}")).at(value.span.clone()).accepts("a whole number, 0 or more")
    })
}

/// Numbers in brackets; one number alone is a list of one.
pub(super) fn numbers(value: &Value) -> Result<Vec<i128>> {
    match &value.kind {
        Kind::List(items) => items.iter().map(number).collect(),
        _ => Ok(vec![number(value)?]),
    }
}

pub(super) fn sizes(value: &Value) -> Result<Vec<u64>> {
    match &value.kind {
        Kind::List(items) if items.len() > 2 * MOST => {
            Err(Error::new("too many sizes").at(value.span.clone()))
        }
        Kind::List(items) => items.iter().map(whole).collect(),
        _ => Ok(vec![whole(value)?]),
    }
}
