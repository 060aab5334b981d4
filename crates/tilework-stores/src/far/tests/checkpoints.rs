//! Checkpoints of JAX that a server has.

use tilework_files::container::Container;

use super::files::{are_same, put_files};
use super::*;
use crate::checkpoint::{Checkpoint, Reshard, Rule};
use crate::orbax::base64;

/// The checkpoints of the samples by their names: the bytes of their files by their keys.
fn samples() -> Vec<(String, BTreeMap<String, Vec<u8>>)> {
    let all: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/orbax/samples.json")).expect("samples");
    let sample = |sample: &serde_json::Value| {
        let files = sample["files"].as_object().expect("files").iter();
        let files =
            files.map(|(key, text)| (key.clone(), base64(text.as_str().expect("text")).expect("base64")));
        (sample["name"].as_str().expect("a name").to_owned(), files.collect())
    };
    all.as_array().or_else(|| all["stores"].as_array()).expect("a list").iter().map(sample).collect()
}

/// Each sample in the folder and under an address.
fn put_samples(shelf: &Shelf, folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (number, (_, files)) in samples().into_iter().enumerate() {
        let name = format!("sample{number}");
        for (key, bytes) in files {
            let path = folder.join(&name).join(&key);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, &bytes).expect("written");
            lock(&shelf.objects).insert(format!("folder/{name}/{key}"), (1, Arc::new(bytes)));
        }
        names.push(name);
    }
    names
}

fn scratch(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tilework-far-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_checkpoint_of_jax_is_read_as_one_of_this_machine() -> Result<()> {
    let (shelf, at) = shelf("orbax");
    let folder = scratch("orbax");
    let names = put_samples(&shelf, &folder);
    assert!(names.len() > 3);
    shelf.set(Faults { now_and_then: Some(3), ..Faults::default() });
    for name in &names {
        let (here, far) = (zarr::open(&folder.join(name))?, crate::open(&at(name), None, &folder)?);
        assert_eq!((far.kind(), far.metadata()), (here.kind(), here.metadata()), "{name}");
        let of = |container: &Container| -> Vec<(String, Option<String>)> {
            let saved = |tensor| container.saved(tensor).map(ToString::to_string);
            container.tensors().iter().map(|tensor| (tensor.name.clone(), saved(tensor))).collect()
        };
        // A database is called by the name of its folder.
        assert_eq!(of(&far), of(&here), "{name}");
        assert!(are_same(&far, &here)?, "{name}");
        let tensors = Checkpoint::open(&at(name))?;
        assert!(tensors.is_far() && tensors.tensors().len() == here.tensors().len(), "{name}");
    }
    // One array of a checkpoint, chunk by chunk.
    let name = &names[0];
    let array = zarr::open(&folder.join(name))?.tensors()[0].name.clone();
    let job = |from: PathBuf, to: &str| -> Result<()> {
        let found = zarr::open_one(&from, Some(&array))?;
        let chunks = crate::store::Read::shards(&found).grid().sizes();
        let job = Rechunk {
            only: Some(array.clone()),
            from,
            to: folder.join(to),
            chunks: chunks.iter().map(|size| size.div_ceil(2)).collect(),
            shards: None,
            order: None,
            compression: None,
            plan: None,
        };
        run(&Job::Rechunk(job.planned(1 << 26, Assumed::objects(2))?), 2).map(drop)
    };
    job(at(name), "a.zarr")?;
    job(folder.join(name), "b.zarr")?;
    let (a, b) = (zarr::open(&folder.join("a.zarr"))?, zarr::open(&folder.join("b.zarr"))?);
    let same =
        tilework_files::container::compare((&a, &a.tensors()[0]), (&b, &b.tensors()[0]), 0.0, &folder)?;
    assert!(matches!(same, tilework_files::container::Compared::Equal));
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn a_folder_of_checkpoints_says_which_there_are() {
    let (shelf, at) = shelf("orbax-steps");
    let put = |key: &str, bytes: &[u8]| {
        lock(&shelf.objects).insert(format!("folder/{key}"), (1, Arc::new(bytes.to_vec())));
    };
    for step in ["9", "10"] {
        put(&format!("run/{step}/_CHECKPOINT_METADATA"), b"{}");
        put(&format!("run/{step}/default/_METADATA"), b"{}");
    }
    let error = |name: &str| {
        crate::open(&at(name), None, &std::env::temp_dir()).map(drop).expect_err("none is named").to_string()
    };
    let said = error("run");
    assert!(said.contains("a folder of 2 checkpoints") && said.contains("run/10"), "{said}");
    put("models/a/x.txt", b"");
    put("models/b.txt", b"");
    let said = error("models");
    assert!(said.contains("it has a, b.txt") && said.contains("models/a"), "{said}");
    // A step whose tree says nothing, one of several items, and one that was cut off.
    assert!(error("run/9").contains("default/_METADATA"), "{}", error("run/9"));
    put("run/9/state/manifest.ocdbt", b"");
    assert!(error("run/9").contains("several items") && error("run/9").contains("run/9/state"));
    assert!(error("run/9/state").contains("manifest.ocdbt"), "{}", error("run/9/state"));
    shelf.set(Faults { is_secret: true, ..Faults::default() });
    assert!(error("run/9").contains("run/9/default"), "{}", error("run/9"));
}

#[test]
fn a_checkpoint_for_jax_is_there_when_all_is_and_not_before() -> Result<()> {
    let (shelf, at) = shelf("orbax-written");
    let (folder, whole) = put_files(&shelf, "orbax-written")?;
    let job = |to: PathBuf| {
        Job::Reshard(Reshard {
            from: at("model.safetensors.index.json"),
            to,
            mesh: Some("x=4".to_owned()),
            rules: vec![
                Rule { names: None, sharding: "P('x')".to_owned() },
                Rule { names: Some("small".to_owned()), sharding: "P()".to_owned() },
            ],
            only: Vec::new(),
            once: false,
            orbax: true,
            compression: None,
        })
    };
    let far = job(at("jax"));
    shelf.set(Faults { puts: Some(3), ..Faults::default() });
    assert!(run(&far, 1).expect_err("the server is gone").to_string().contains("the server is gone"));
    shelf.set(Faults::default());
    let open = || crate::open(&at("jax"), None, &folder);
    assert!(open().map(drop).expect_err("not yet").to_string().contains("is not there yet"));
    shelf.forget_log();
    run(&far, 1)?;
    let puts: Vec<String> = lock(&shelf.log).iter().filter(|line| line.starts_with("put")).cloned().collect();
    assert_eq!(puts.iter().filter(|line| line.contains("/c/")).count(), 2, "{puts:?}"); // of 5
    let first = puts.iter().position(|line| !line.contains("/c/")).expect("metadata");
    assert!(puts[first..].iter().all(|line| !line.contains("/c/")), "{puts:?}");
    assert_eq!(lock(&shelf.log).last().map(String::as_str), Some(&*format!("remove {MARK}")));
    assert!(are_same(&open()?, &whole)?);
    assert_eq!(open()?.kind(), "Orbax checkpoint");
    // Byte for byte what is written here, and nothing besides.
    run(&job(folder.join("jax")), 1)?;
    let keys: Vec<String> = shelf
        .keys()
        .into_iter()
        .filter_map(|key| key.strip_prefix("folder/jax/").map(str::to_owned))
        .collect();
    assert!(keys.len() > 10);
    for key in keys {
        let here = std::fs::read(folder.join("jax").join(&key)).expect(&key);
        assert!(*lock(&shelf.objects)[&format!("folder/jax/{key}")].1 == here, "{key}");
    }
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}
