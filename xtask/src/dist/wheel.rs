//! The wheel: the package for Python, for every version from 3.10 on.

use std::fs;

use super::maker::Maker;
use super::{files, folder, notices, stage};
use crate::{Outcome, python, shell};

pub fn make(maker: &Maker) -> Outcome {
    println!("-- the package for Python for {}", maker.target);
    // maturin takes the licences that are beside the package's manifest, and knows no other place.
    let room = shell::root().join("crates/tilework-python");
    let stage = stage(&format!("wheel-{}", maker.target));
    let built = notices::add(maker, "tilework-python", &room)
        .and_then(|()| python::wheel(&mut maker.maturin(), &stage));
    for name in notices::NAMES {
        let _ = fs::remove_file(room.join(name)); // git ignores them
    }
    let wheel = built?;
    let name = wheel.file_name().ok_or("maturin made a wheel without a name")?;
    files::copy(&wheel, &folder().join(name))
}
