//! The archive for C and C++: a prefix with headers, both libraries, and what pkg-config and CMake want.

use std::path::Path;

use super::maker::Maker;
use super::{VERSION, files, name, notices, pack, stage};
use crate::{Outcome, shell};

const ROOM: &str = "crates/tilework-c";
const MAJOR: &str = env!("CARGO_PKG_VERSION_MAJOR");
const MINOR: &str = env!("CARGO_PKG_VERSION_MINOR");

/// The shared library, by the name that a linker looks for.
const SHARED: &str = "libtilework_c.so";

/// What is written for this version, and where in the prefix.
const TEMPLATES: [(&str, &str); 4] = [
    ("lib/pkgconfig", "tilework.pc"),
    ("lib/pkgconfig", "tilework-static.pc"),
    ("lib/cmake/tilework", "tilework-config.cmake"),
    ("lib/cmake/tilework", "tilework-config-version.cmake"),
];

/// Where the prefix has texts and examples.
pub const TEXTS: &str = "share/doc/tilework-c";

pub fn make(maker: &Maker) -> Outcome {
    println!("-- the libraries for C for {}", maker.target);
    let soname = soname();
    // Without the library for Rust, which is in the way of optimising across crates.
    let words = ["--package", "tilework-c", "--lib", "--crate-type", "cdylib,staticlib", "--"];
    maker.cargo("rustc", &[&words[..], &["-C", &format!("link-arg=-Wl,-soname,{soname}")]].concat())?;

    let name = name("tilework-c", maker);
    let prefix = stage(&name);
    files::empty(&prefix)?;
    let room = shell::root().join(ROOM);
    let lib = prefix.join("lib");
    files::copy_folder(&room.join("include"), &prefix.join("include"))?;
    files::copy(&maker.built("libtilework_c.a"), &lib.join("libtilework_c.a"))?;
    let versioned = format!("{SHARED}.{VERSION}");
    files::copy(&maker.built(SHARED), &lib.join(&versioned))?;
    for (link, file) in [(soname.as_str(), versioned.as_str()), (SHARED, &soname)] {
        shell::run(shell::command("ln").args(["-s", file]).arg(lib.join(link)))?;
    }
    for (folder, file) in TEMPLATES {
        fill(&room.join("package").join(format!("{file}.in")), &prefix.join(folder).join(file))?;
    }
    let texts = prefix.join(TEXTS);
    files::copy(&room.join("README.md"), &texts.join("README.md"))?;
    files::copy_folder(&room.join("examples"), &texts.join("examples"))?;
    notices::add(maker, "tilework-c", &texts)?;
    pack(&name)
}

/// The name by which a program that was linked with the shared library asks for it.
pub fn soname() -> String {
    format!("{SHARED}.{MAJOR}")
}

/// Writes a file that names the version.
fn fill(template: &Path, to: &Path) -> Outcome {
    let text = files::read(template)?;
    let text = text.replace("@VERSION@", VERSION).replace("@MAJOR@", MAJOR).replace("@MINOR@", MINOR);
    files::write(to, &text)
}
