//! Folders of files that are written to a server.

use tilework_copy::Threads;
use tilework_files::container::{self, Container, Written};

use super::files::{are_same, put_files};
use super::*;
use crate::checkpoint::{Checkpoint, Reshard, Rule};

/// The files of a folder here, and of one of the server: the same, byte for byte.
fn are_files(shelf: &Shelf, name: &str, folder: &Path) {
    let prefix = format!("folder/{name}/");
    let keys: Vec<String> =
        shelf.keys().iter().filter_map(|key| key.strip_prefix(&prefix).map(str::to_owned)).collect();
    let mut here: Vec<String> = (std::fs::read_dir(folder).expect("a folder").flatten())
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    here.sort();
    assert_eq!(keys, here);
    for key in keys {
        let bytes = std::fs::read(folder.join(&key)).expect("read");
        assert!(*lock(&shelf.objects)[&format!("{prefix}{key}")].1 == bytes, "{key}");
    }
}

#[test]
fn shards_are_sent_one_by_one_and_their_index_last() -> Result<()> {
    let (shelf, at) = shelf("shards");
    let (folder, whole) = put_files(&shelf, "shards")?;
    let jobs: Vec<container::Job> = (whole.tensors().iter())
        .map(|tensor| container::Job { name: tensor.name.clone(), tensor, change: container::Change::Keep })
        .collect();
    let how = container::How { pool: &Threads::all(), memory: None, check: true, progress: &|_| {} };
    let target =
        container::Target { format: container::Format::Safetensors, folder: Some(1), transposed: false };
    let write = |limit: u64| -> std::result::Result<Written, String> {
        let out = at("out");
        let begin = |job: &str| crate::new_folder(&out, job);
        container::write_elsewhere(&whole, &jobs, (&target, limit), (&out, &folder, &begin), &how)
            .map_err(|error| format!("{error:?}"))
    };
    shelf.set(Faults { puts: Some(1), ..Faults::default() });
    assert!(write(1).expect_err("the server is gone").contains("the server is gone"));
    shelf.set(Faults::default());
    let open = || crate::open(&at("out"), None, &folder);
    assert!(open().map(drop).expect_err("not yet").to_string().contains("is not there yet"));
    shelf.forget_log();
    let written = write(1).expect("the rest");
    assert_eq!((written.files, written.resumed), (3, 1));
    let log = lock(&shelf.log).clone();
    let puts: Vec<&str> = log.iter().filter_map(|line| line.strip_prefix("put ")).collect();
    assert_eq!(puts, ["model-00002-of-00002.safetensors", "model.safetensors.index.json"]);
    assert_eq!(log.last(), Some(&format!("remove {MARK}")));
    assert!(are_same(&open()?, &whole)?);
    let here = folder.join("here");
    let target = container::Target { folder: Some(1), ..target };
    container::write(&whole, &jobs, &target, &here, &how).expect("a folder");
    are_files(&shelf, "out", &here);
    assert_eq!(
        written.bytes,
        lock(&shelf.objects)
            .iter()
            .filter(|(key, _)| key.starts_with("folder/out/"))
            .map(|(_, put)| put.1.len() as u64)
            .sum::<u64>()
    );
    // What is there is not replaced; what another job has begun is.
    assert!(write(1).expect_err("there").contains("exists"));
    remove_all(&super::super::open(&Address::of(&at("out"))?.expect("an address"))?)?;
    shelf.set(Faults { puts: Some(1), ..Faults::default() });
    write(1).expect_err("the server is gone");
    shelf.set(Faults::default());
    assert_eq!(write(1 << 30).map(|written| (written.files, written.resumed)), Ok((1, 0)));
    assert!(shelf.keys().contains(&"folder/out/model.safetensors".to_owned()));
    assert!(!shelf.keys().iter().any(|key| key.starts_with("folder/out/model-")));
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn parts_for_devices_are_sent_and_gone_on_with() -> Result<()> {
    let (shelf, at) = shelf("parts");
    let (folder, whole) = put_files(&shelf, "parts")?;
    let job = |to: PathBuf| {
        Job::Reshard(Reshard {
            from: at("model.safetensors.index.json"),
            to,
            mesh: Some("x=4".to_owned()),
            rules: vec![Rule { names: None, sharding: "P('x')".to_owned() }],
            only: Vec::new(),
            once: false,
            orbax: false,
            compression: None,
        })
    };
    let far = job(at("out"));
    shelf.set(Faults { puts: Some(2), ..Faults::default() });
    assert!(run(&far, 1).expect_err("the server is gone").to_string().contains("the server is gone"));
    shelf.set(Faults::default());
    assert!(
        Checkpoint::open(&at("out")).map(drop).expect_err("not yet").to_string().contains("not there yet")
    );
    assert_eq!(run(&far, 2)?, (2, 2));
    run(&job(folder.join("out")), 1)?;
    are_files(&shelf, "out", &folder.join("out"));
    assert!(run(&far, 1).expect_err("there").to_string().contains("exists"));
    // And read again, whole.
    let back = Job::Reshard(Reshard {
        from: at("out"),
        to: folder.join("back"),
        mesh: None,
        rules: vec![Rule { names: None, sharding: "{maximal device=0}".to_owned() }],
        only: Vec::new(),
        once: false,
        orbax: false,
        compression: None,
    });
    run(&back, 1)?;
    assert!(are_same(&Container::open(&folder.join("back"))?, &whole)?);
    for to in ["https://host/out", "s3://memory-parts"] {
        assert!(run(&job(PathBuf::from(to)), 1).expect_err("no place").to_string().contains(to), "{to}");
    }
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}
