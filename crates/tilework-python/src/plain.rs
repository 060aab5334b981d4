//! Plain values of Python as numbers: whole numbers and lists of them.

use pyo3::prelude::*;
use pyo3::types::PyString;
use tilework::Error;

use crate::error::Result;

/// A whole number of Python's or NumPy's.
///
/// # Errors
/// What is no whole number, or one beyond 64 bits with a sign.
pub fn whole(said: &Bound<'_, PyAny>, field: &str) -> Result<i64> {
    if let Ok(number) = said.extract::<i64>() {
        return Ok(number);
    }
    let index = said.py().import("operator")?.call_method1("index", (said,))?;
    index.extract::<i64>().map_err(|_| {
        // A number may have more digits than Python is willing to write.
        let written = index.str().map(|text| text.to_string()).ok().filter(|text| text.len() < 60);
        Error::new(written.unwrap_or_else(|| "a number of very many digits".to_owned()))
            .field(field)
            .accepts(format!("{} to {}", i64::MIN, i64::MAX))
            .into()
    })
}

/// A whole number that is not negative.
pub fn count(said: &Bound<'_, PyAny>, field: &str) -> Result<u64> {
    let number = whole(said, field)?;
    Ok(u64::try_from(number).map_err(|_| outside(number, field, &format!("0 to {}", i64::MAX)))?)
}

/// A whole number of 32 bits that is not negative.
pub fn narrow(said: &Bound<'_, PyAny>, field: &str) -> Result<u32> {
    let number = whole(said, field)?;
    Ok(u32::try_from(number).map_err(|_| outside(number, field, &format!("0 to {}", u32::MAX)))?)
}

/// A number of something in memory.
pub fn place(said: &Bound<'_, PyAny>, field: &str) -> Result<usize> {
    let number = whole(said, field)?;
    Ok(usize::try_from(number).map_err(|_| outside(number, field, "0 or more"))?)
}

fn outside(number: i64, field: &str, accepts: &str) -> Error {
    Error::new(number.to_string()).field(field).accepts(accepts)
}

/// The items of whatever has a length; a text is none of the lists that are meant.
pub fn items<'py>(said: &Bound<'py, PyAny>) -> Result<Vec<Bound<'py, PyAny>>> {
    said.len()?;
    Ok(said.try_iter()?.collect::<PyResult<_>>()?)
}

/// Several whole numbers.
pub fn wholes(said: &Bound<'_, PyAny>, field: &str) -> Result<Vec<i64>> {
    items(said)?.iter().map(|item| whole(item, field)).collect()
}

/// Several whole numbers that are not negative.
pub fn counts(said: &Bound<'_, PyAny>, field: &str) -> Result<Vec<u64>> {
    items(said)?.iter().map(|item| count(item, field)).collect()
}

/// Several whole numbers of 32 bits that are not negative.
pub fn narrows(said: &Bound<'_, PyAny>, field: &str) -> Result<Vec<u32>> {
    items(said)?.iter().map(|item| narrow(item, field)).collect()
}

/// Several numbers of things in memory.
pub fn places(said: &Bound<'_, PyAny>, field: &str) -> Result<Vec<usize>> {
    items(said)?.iter().map(|item| place(item, field)).collect()
}

/// One word, or several.
pub fn words(said: &Bound<'_, PyAny>) -> Result<Vec<String>> {
    match said.cast::<PyString>() {
        Ok(word) => Ok(vec![word.to_str()?.to_owned()]),
        Err(_) => Ok(items(said)?.iter().map(|word| word.extract()).collect::<PyResult<_>>()?),
    }
}

/// An error about a word that is none of those known.
pub fn unknown(word: &str, field: &str, known: &[&str]) -> Error {
    Error::new(format!("{word:?}")).field(field).accepts(known.join(", "))
}
