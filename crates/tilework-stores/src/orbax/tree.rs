//! What the metadata of a checkpoint say: the tree of names, and shardings.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tilework::sharding::{Mesh, Named};
use tilework::{Error, Result};

use crate::zarr::json::{self, Object, wrong};

/// A key of a tree, and what it is a key of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) key: String,
    pub(crate) kind: u64,
}

impl Key {
    /// A key of a dict; 1 is a place in a list.
    pub(crate) const OF_DICT: u64 = 2;
}

/// A value of a tree that is an array: its keys, and what it was in Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) keys: Vec<Key>,
    pub(crate) kind: String,
}

/// What a tree has.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The arrays by their names, in the order of the tree.
    pub(super) arrays: Vec<(String, Leaf)>,
    /// The entries of values that are no arrays: texts, None, and dicts without keys.
    pub(super) others: Map<String, Value>,
}

/// Reads a tree.
pub(super) fn read(tree: &Value) -> Result<Tree> {
    let all = Object::new(tree, "metadata")?;
    let tree = Object::new(all.need("tree_metadata", "the values by their keys")?, "tree_metadata")?;
    let mut found = Tree::default();
    for (key, value) in tree.map() {
        let entry = value;
        let value = Object::new(value, "tree_metadata")?;
        let of = value.need("value_metadata", "{\"value_type\": \"jax.Array\"}")?;
        let of = Object::new(of, "value_metadata")?;
        let is_empty = of.get("skip_deserialize").and_then(Value::as_bool) == Some(true);
        let kind = of.get("value_type").and_then(Value::as_str).unwrap_or("jax.Array");
        if is_empty || kind == "string" {
            found.others.insert(key.clone(), entry.clone());
            continue;
        }
        let keys = value.need("key_metadata", "[{\"key\": \"params\", \"key_type\": 2}]")?;
        let keys = keys.as_array().ok_or_else(|| wrong("key_metadata", keys, "a list of keys"))?;
        let of_key = |key: &Value| {
            let all = Object::new(key, "key_metadata")?;
            let kind = all.get("key_type").and_then(Value::as_u64).unwrap_or(Key::OF_DICT);
            Ok(Key { key: all.text("key", "a text")?.to_owned(), kind })
        };
        let keys = keys.iter().map(of_key).collect::<Result<Vec<Key>>>()?;
        let name = keys.iter().map(|key| key.key.as_str()).collect::<Vec<&str>>().join(".");
        check(&name).map_err(|error| error.field(format!("tree_metadata: {key}")))?;
        found.arrays.push((name, Leaf { keys, kind: kind.to_owned() }));
    }
    let mut sorted: Vec<&str> = found.arrays.iter().map(|(name, _)| name.as_str()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(found),
        Some(pair) => Err(Error::new(format!("two arrays called {:?}", pair[0]))
            .field("tree_metadata")
            .rule("an array is called by its keys with a dot between, and each by a name of its own")),
    }
}

/// A name of an array stays within the checkpoint.
pub(super) fn check(name: &str) -> Result<()> {
    match name.split('/').any(|part| matches!(part, "" | "." | "..") || part.contains(['\\', '\0'])) {
        false => Ok(()),
        true => Err(Error::new(format!("an array called {name:?}"))
            .rule("each array is a folder within the checkpoint")
            .accepts("names such as params.w or params/w")),
    }
}

/// How devices held the arrays, by name, as far as it is said by axes of a mesh. It is shown and not used, so what is said in
/// another way keeps nobody from reading the arrays.
pub(super) fn shardings(value: &Value) -> Result<HashMap<String, Named>> {
    let mut found = HashMap::new();
    for (name, value) in Object::new(value, "sharding")?.map() {
        let text = value.as_str().ok_or_else(|| wrong("sharding", value, "a text of JSON"))?;
        let name = base64(name).and_then(|bytes| String::from_utf8(bytes).ok());
        let name = name.ok_or_else(|| Error::new("a name that is no text in base64").field("sharding"))?;
        let value = json::read(text.as_bytes())?;
        let all = Object::new(&value, "sharding")?;
        if all.get("sharding_type").and_then(Value::as_str) == Some("NamedSharding") {
            found.extend(named(all).ok().map(|named| (name, named)));
        }
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
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
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

/// Bytes in base64.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let all = (0..3).fold(0_u32, |all, at| all << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        let digit = move |at: usize| char::from(DIGITS[(all >> (18 - 6 * at) & 63) as usize]);
        let count = three.len() + 1;
        (0..4).map(move |at| if at < count { digit(at) } else { '=' })
    };
    bytes.chunks(3).flat_map(four).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_and_written() {
        assert_eq!(base64("cGFyYW1zLncx"), Some(b"params.w1".to_vec()));
        assert_eq!(base64("YQ=="), Some(b"a".to_vec()));
        assert_eq!(base64("YWI="), Some(b"ab".to_vec()));
        assert_eq!((base64(""), base64("a b=")), (Some(Vec::new()), None));
        assert_eq!(base64("A"), Some(Vec::new())); // a digit alone is no byte
        for text in ["", "a", "ab", "abc", "params.w1", "\u{ff}\u{3fb}"] {
            assert_eq!(base64(&to_base64(text.as_bytes())), Some(text.as_bytes().to_vec()), "{text}");
        }
        assert_eq!(to_base64(b"params.w1a"), "cGFyYW1zLncxYQ==");
    }
}
