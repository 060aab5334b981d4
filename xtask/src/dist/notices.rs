//! The licences: ours, and those of what is compiled into a program, which want to be handed on with it.

use std::path::Path;

use super::files;
use super::maker::Maker;
use crate::{Outcome, shell};

/// What the licence files are called in every archive.
pub const NAMES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"];

/// Puts the licences of a package of this workspace, and of all that it is made of, into a folder.
pub fn add(maker: &Maker, package: &str, folder: &Path) -> Outcome {
    let [ours @ .., others] = NAMES;
    for name in ours {
        files::copy(&shell::root().join(name), &folder.join(name))?;
    }
    let mut notices = shell::command(&maker.python);
    notices.arg(shell::root().join("xtask/src/dist/notices.py")).args([package, &maker.target]);
    files::write(&folder.join(others), &shell::quietly(&mut notices)?)
}
