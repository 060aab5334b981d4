//! What the metadata of a checkpoint say: the tree of names, and shardings.

use std::collections::HashMap;

use serde_json::Value;
use tilework::sharding::{Mesh, Named};
use tilework::{Error, Result};

use crate::zarr::json::{self, Object, wrong};

/// The names of the arrays in a tree, in its order.
pub(super) fn names(tree: &Value) -> Result<Vec<String>> {
    let all = Object::new(tree, "metadata")?;
    let tree = Object::new(all.need("tree_metadata", "the values by their keys")?, "tree_metadata")?;
    let mut names = Vec::new();
    for (key, value) in tree.map() {
        let value = Object::new(value, "tree_metadata")?;
        let of =
            Object::new(value.need("value_metadata", "{\"value_type\": \"jax.Array\"}")?, "value_metadata")?;
        let is_empty = of.get("skip_deserialize").and_then(Value::as_bool) == Some(true);
        if is_empty || of.get("value_type").and_then(Value::as_str) == Some("string") {
            continue;
        }
        let keys = value.need("key_metadata", "[{\"key\": \"params\", \"key_type\": 2}]")?;
        let keys = keys.as_array().ok_or_else(|| wrong("key_metadata", keys, "a list of keys"))?;
        let mut parts = Vec::with_capacity(keys.len());
        for key in keys {
            parts.push(Object::new(key, "key_metadata")?.text("key", "a text")?);
        }
        let name = parts.join(".");
        check(&name).map_err(|error| error.field(format!("tree_metadata: {key}")))?;
        names.push(name);
    }
    Ok(names)
}

/// A name of an array stays within the checkpoint.
fn check(name: &str) -> Result<()> {
    match name.split('/').any(|part| matches!(part, "" | "." | "..") || part.contains(['\\', '\0'])) {
        false => Ok(()),
        true => Err(Error::new(format!("an array called {name:?}"))
            .rule("each array is a folder within the checkpoint")
            .accepts("names such as params.w or params/w")),
    }
}

/// How devices held the arrays, by name, as far as it is said by axes of a mesh: others are on one device.
pub(super) fn shardings(value: &Value) -> Result<HashMap<String, Named>> {
    let mut found = HashMap::new();
    for (name, value) in Object::new(value, "sharding")?.map() {
        let text = value.as_str().ok_or_else(|| wrong("sharding", value, "a text of JSON"))?;
        let value = json::read(text.as_bytes())?;
        let all = Object::new(&value, "sharding")?;
        if all.get("sharding_type").and_then(Value::as_str) != Some("NamedSharding") {
            continue;
        }
        let name = base64(name).and_then(|bytes| String::from_utf8(bytes).ok());
        let name = name.ok_or_else(|| Error::new("a name that is no text in base64").field("sharding"))?;
        found.insert(
            name.clone(),
            named(all).map_err(|error| crate::zarr::open::within(&format!("{name:?}"), &error))?,
        );
    }
    Ok(found)
}

fn named(all: Object) -> Result<Named> {
    let names = all.need("axis_names", "[\"x\", \"y\"]")?;
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned())).collect()
    };
    let axes = texts(names).ok_or_else(|| wrong("axis_names", names, "a list of names"))?;
    let sizes = all.sizes("shape")?;
    if sizes.len() != axes.len() {
        return Err(Error::new(format!("{} names of {} axes", axes.len(), sizes.len())).field("axis_names"));
    }
    let spec = all.need("partition_spec", "[\"x\", null]")?;
    let dim = |value: &Value| match value {
        Value::Null => Some(Vec::new()),
        Value::String(axis) => Some(vec![axis.clone()]),
        several => texts(several),
    };
    let dims = spec.as_array().and_then(|dims| dims.iter().map(dim).collect::<Option<Vec<_>>>());
    let dims = dims.ok_or_else(|| wrong("partition_spec", spec, "[\"x\", null, [\"y\", \"z\"]]"))?;
    Named::new(Mesh::new(axes.into_iter().zip(sizes).collect())?, dims)
}

/// The values that are texts.
pub(super) fn texts(value: &Value) -> Result<Vec<(String, String)>> {
    let text = |(name, value): (&String, &Value)| {
        let text = value.as_str().ok_or_else(|| wrong("strings", value, "a text"))?;
        Ok((name.clone(), text.to_owned()))
    };
    Object::new(value, "strings")?.map().iter().map(text).collect()
}

/// The bytes of a text in base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let digits = text.trim_end_matches('=').bytes().map(digit).collect::<Option<Vec<u8>>>()?;
    let bytes = |four: &[u8]| {
        let all = four.iter().fold(0_u32, |all, digit| all << 6 | u32::from(*digit));
        let all = (all << (6 * (4 - four.len()))).to_be_bytes();
        all[1..four.len()].to_vec()
    };
    Some(digits.chunks(4).flat_map(bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("cGFyYW1zLncx"), Some(b"params.w1".to_vec()));
        assert_eq!(base64("YQ=="), Some(b"a".to_vec()));
        assert_eq!(base64("YWI="), Some(b"ab".to_vec()));
        assert_eq!((base64(""), base64("a b=")), (Some(Vec::new()), None));
        assert_eq!(base64("A"), Some(Vec::new())); // a digit alone is no byte
    }
}
