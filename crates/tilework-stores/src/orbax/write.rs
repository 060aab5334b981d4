//! Writing a checkpoint that Orbax restores: a folder for each array, and the tree.
//!
//! Each array is one of Zarr 3 whose chunks are the parts of devices, so that a device reads what it has and nothing else. The
//! metadata are written last, when every chunk is there.

use serde_json::{Map, Value, json};
use tilework::sharding::Named;
use tilework::zarr::Array as Grid3;
use tilework::{Element, Error, Result};

use super::tree::Key;
use super::{SAVED, SHARDINGS, TREE};
use crate::stage::Stage;
use crate::zarr::{Compression, Spec};

/// An array of a new checkpoint.
pub(crate) struct New<'a> {
    /// Its keys with a dot between, which is also its folder.
    pub(crate) name: &'a str,
    /// Its keys and what it was, where the source has them.
    pub(crate) leaf: Option<&'a super::Leaf>,
    pub(crate) element: Element,
    /// How wide its elements are where they are read.
    pub(crate) bits: u32,
    /// What compresses its chunks.
    pub(crate) compression: Compression,
    pub(crate) sizes: Vec<u64>,
    /// The sizes of the parts of devices.
    pub(crate) part: Vec<u64>,
    /// How JAX is to hold it.
    pub(crate) saved: Named,
}

/// What stands at the top of a checkpoint, where no array may.
const OWN: [&str; 9] = [
    TREE,
    SHARDINGS,
    SAVED,
    super::TEXTS,
    "array_metadatas",
    "commit_success.txt",
    "manifest.ocdbt",
    "d",
    "checkpoint",
];

impl New<'_> {
    /// How its array is stored.
    ///
    /// # Errors
    /// Elements that Zarr has no type for.
    pub(crate) fn spec(&self) -> Result<Spec> {
        if u64::from(self.bits) != 8 * u64::from(self.element.bytes()) {
            return Err(Error::new(format!(
                "tensor {:?} of {} with {} bits each",
                self.name, self.element, self.bits
            ))
            .rule("each element of a checkpoint of Orbax has bytes of its own")
            .accepts("--only with a pattern of other names"));
        }
        let chunks = Grid3::new(self.element, &self.sizes, &self.part, None, None)?;
        Ok(Spec { compression: self.compression, ..Spec::new(chunks, self.element, &self.sizes) })
    }

    /// The keys of the tree: those of the source, or the parts of the name between dots.
    fn keys(&self) -> Vec<Key> {
        let of_name =
            || self.name.split('.').map(|key| Key { key: key.to_owned(), kind: Key::OF_DICT }).collect();
        self.leaf.map_or_else(of_name, |leaf| leaf.keys.clone())
    }
}

/// Whether arrays of these names can stand side by side in a checkpoint, and their keys in a tree.
///
/// # Errors
/// A name that is no folder of its own; one that is another's with more keys behind.
pub(crate) fn check(arrays: &[New]) -> Result<()> {
    let mut names: Vec<&str> = arrays.iter().map(|array| array.name).collect();
    names.sort_unstable();
    for name in &names {
        super::tree::check(name)?;
        let first = name.split('/').next().unwrap_or_default();
        if OWN.contains(&first) || first.starts_with('.') || first.starts_with("ocdbt.process_") {
            return Err(Error::new(format!("tensor {name:?}"))
                .rule("a file of the checkpoint itself is called so")
                .accepts("other names"));
        }
    }
    let is_below = |name: &str, other: &str, with: char| {
        name.strip_prefix(other).is_some_and(|rest| rest.starts_with(with))
    };
    let mut keys: Vec<String> = arrays
        .iter()
        .map(|array| array.keys().iter().map(|key| format!("{}\0", key.key)).collect())
        .collect();
    keys.sort_unstable();
    let inner = keys.windows(2).find(|pair| pair[1].starts_with(&pair[0]));
    let folder = names.windows(2).find(|pair| is_below(pair[1], pair[0], '/'));
    match (inner, folder) {
        (None, None) => Ok(()),
        (Some(pair), _) => {
            let shown = |keys: &str| keys.trim_end_matches('\0').replace('\0', ".");
            Err(Error::new(format!("tensors {:?} and {:?}", shown(&pair[0]), shown(&pair[1])))
                .rule("in a tree a name has a value or further names, and dots are between names")
                .accepts("--only with a pattern of one of them"))
        }
        (None, Some(pair)) => Err(Error::new(format!("tensors {:?} and {:?}", pair[0], pair[1]))
            .rule("each array is a folder, and none is within another")
            .accepts("--only with a pattern of one of them")),
    }
}

/// Writes what stands beside the arrays; `others` are the entries of the tree that are no arrays, and `texts` the values of some.
pub(crate) fn finish(
    arrays: &[New],
    others: &Map<String, Value>,
    texts: &[(String, String)],
    stage: &Stage,
) -> Result<()> {
    let write = |name: &str, value: &Value| stage.put_last(name, format!("{value}\n").into_bytes());
    let (mut tree, mut shardings, mut chunks) = (others.clone(), Map::new(), Vec::new());
    for array in arrays {
        let keys = array.keys();
        let list: Vec<Value> = keys.iter().map(|key| json!({"key": key.key, "key_type": key.kind})).collect();
        let kind = array.leaf.map_or("jax.Array", |leaf| &leaf.kind);
        let mut value = json!({"value_type": kind, "skip_deserialize": false});
        if kind == "jax.Array" {
            value["write_shape"] = json!(array.part);
            chunks.push(json!({"array_metadata": {
                "param_name": array.name, "write_shape": array.part, "chunk_shape": array.part, "ext_metadata": null,
            }}));
        }
        tree.insert(tuple(&keys), json!({"key_metadata": list, "value_metadata": value}));
        let said = json!(sharding(&array.saved).to_string());
        shardings.insert(super::tree::to_base64(array.name.as_bytes()), said);
    }
    if !others.is_empty() {
        let texts: Map<String, Value> =
            texts.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        write(super::TEXTS, &json!(texts))?;
    }
    write(
        TREE,
        &json!({
            "tree_metadata": tree, "use_ocdbt": false, "use_zarr3": true,
            "store_array_data_equal_to_fill_value": true, "custom_metadata": null,
        }),
    )?;
    write(SHARDINGS, &json!(shardings))?;
    write("array_metadatas/process_0", &json!({"array_metadatas": chunks}))?;
    write(
        SAVED,
        &json!({
            "item_handlers": "orbax.checkpoint._src.handlers.pytree_checkpoint_handler.PyTreeCheckpointHandler",
            "metrics": {}, "performance_metrics": {}, "custom_metadata": {},
        }),
    )
}

/// How Orbax writes a sharding: devices are counted along the mesh.
fn sharding(named: &Named) -> Value {
    let axes = named.mesh().axes();
    let spec: Vec<Value> = (named.axes().iter())
        .map(|names| match &names[..] {
            [] => Value::Null,
            [name] => json!(name),
            several => json!(several),
        })
        .collect();
    let devices = (0..named.mesh().devices()).map(|id| json!({"id": id})).collect();
    // Rows of rows: the last axis is taken together first.
    let mesh = axes.iter().skip(1).rev().fold(devices, |devices: Vec<Value>, (_, size)| {
        let rows = devices.chunks(usize::try_from(*size).unwrap_or(usize::MAX)); // no axis is 0
        rows.map(|row| json!(row)).collect()
    });
    json!({
        "sharding_type": "NamedSharding",
        "shape": axes.iter().map(|(_, size)| *size).collect::<Vec<u64>>(),
        "axis_names": axes.iter().map(|(name, _)| name.as_str()).collect::<Vec<&str>>(),
        "axis_types": vec!["AxisType.Auto"; axes.len()],
        "partition_spec": spec,
        "device_mesh": {"mesh": mesh},
    })
}

/// Keys as Python prints a tuple of texts.
fn tuple(keys: &[Key]) -> String {
    let quoted = |key: &Key| {
        let quote = if key.key.contains('\'') && !key.key.contains('"') { '"' } else { '\'' };
        let mut text = String::from(quote);
        for c in key.key.chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                c if c == quote => text.extend(['\\', c]),
                c if c.is_control() && (c as u32) < 256 => text.push_str(&format!("\\x{:02x}", c as u32)),
                c => text.push(c),
            }
        }
        text.push(quote);
        text
    };
    let list = keys.iter().map(quoted).collect::<Vec<String>>().join(", ");
    if keys.len() == 1 { format!("({list},)") } else { format!("({list})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_a_tuple_of_python() {
        let of = |keys: &[&str]| {
            let key = |key: &&str| Key { key: (*key).to_owned(), kind: Key::OF_DICT };
            tuple(&keys.iter().map(key).collect::<Vec<Key>>())
        };
        assert_eq!(of(&["a"]), "('a',)");
        assert_eq!(of(&["it's", "a\"'b", "back\\slash\n"]), r#"("it's", 'a"\'b', 'back\\slash\n')"#);
    }
}
