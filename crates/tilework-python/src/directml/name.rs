//! DirectML's names as plain strings: types, flags, feature levels, and which end of a tensor is meant.

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use tilework::directml::{Align, DataType, FeatureLevel, Fold, TensorFlags, TypeField};
use tilework::{Element, Error};

use crate::element;
use crate::error::Result;
use crate::plain;

/// The type of an argument as it stands in a description, known or not: a name in any system, a
/// number of DirectML's, a dtype.
pub fn type_field(said: &Bound<'_, PyAny>) -> Result<TypeField> {
    if said.is_instance_of::<PyInt>() {
        return Ok(TypeField::from_number(plain::narrow(said, "DataType")?));
    }
    let element = match said.cast::<PyString>() {
        Ok(name) => {
            let name = name.to_str()?;
            let field = TypeField::from_name(name);
            if field.known().is_some() {
                return Ok(field);
            }
            let other = Element::from_any_name(name).and_then(DataType::of);
            return Ok(other.map_or(field, TypeField::Known));
        }
        Err(_) => element::of_any(said)?,
    };
    match DataType::of(element) {
        Some(found) => Ok(TypeField::Known(found)),
        None => Err(unknown_type(element.name()).into()),
    }
}

/// The type of an argument.
pub fn data_type(said: &Bound<'_, PyAny>) -> Result<DataType> {
    let field = type_field(said)?;
    let unknown = || match &field {
        TypeField::Name(name) => unknown_type(name),
        TypeField::Number(number) => unknown_type(&number.to_string()),
        TypeField::Known(known) => unknown_type(known.name()),
    };
    Ok(field.known().ok_or_else(unknown)?)
}

fn unknown_type(name: &str) -> Error {
    let names: Vec<&str> = DataType::all().map(DataType::name).collect();
    plain::unknown(name, "DataType", &names)
}

/// Flags of an argument, all bits: a name or a number.
pub fn flag_bits(said: &Bound<'_, PyAny>) -> Result<u32> {
    let Ok(name) = said.cast::<PyString>() else { return plain::narrow(said, "Flags") };
    let name = name.to_str()?;
    match name.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(name) {
        "NONE" => Ok(TensorFlags::NONE.bits()),
        "OWNED_BY_DML" => Ok(TensorFlags::OWNED_BY_DML.bits()),
        _ => Err(plain::unknown(name, "Flags", &["NONE", "OWNED_BY_DML"]).into()),
    }
}

/// Flags of an argument, of which DirectML knows all.
pub fn flags(said: Option<&Bound<'_, PyAny>>) -> Result<TensorFlags> {
    let bits = said.map(flag_bits).transpose()?.unwrap_or(0);
    let flags = TensorFlags::from_bits(bits);
    match flags.bits() == bits {
        true => Ok(flags),
        false => Err(plain::unknown(&bits.to_string(), "Flags", &["NONE", "OWNED_BY_DML"]).into()),
    }
}

/// The feature level of an argument, by name or number; the newest if there is none.
pub fn level(said: Option<&Bound<'_, PyAny>>) -> Result<FeatureLevel> {
    let Some(said) = said else { return Ok(FeatureLevel::LATEST) };
    let (found, shown) = match said.cast::<PyString>() {
        Ok(name) => {
            let name = name.to_str()?;
            (FeatureLevel::from_name(name), name.to_owned())
        }
        Err(_) => {
            let number = plain::narrow(said, "feature_level")?;
            (FeatureLevel::all().find(|level| level.number() == number), number.to_string())
        }
    };
    let names: Vec<&str> = FeatureLevel::all().map(FeatureLevel::name).collect();
    Ok(found.ok_or_else(|| plain::unknown(&shown, "feature_level", &names))?)
}

/// At which end of a tensor its own dimensions stand.
pub fn align(word: &str) -> Result<Align> {
    match word {
        "leading" => Ok(Align::Leading),
        "trailing" => Ok(Align::Trailing),
        _ => Err(plain::unknown(word, "align", &["leading", "trailing"]).into()),
    }
}

/// Which dimensions fold into one.
pub fn fold(word: &str) -> Result<Fold> {
    match word {
        "leading" => Ok(Fold::Leading),
        "trailing" => Ok(Fold::Trailing),
        _ => Err(plain::unknown(word, "fold", &["leading", "trailing"]).into()),
    }
}
