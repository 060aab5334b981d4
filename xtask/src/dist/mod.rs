//! `cargo xtask dist`: what is given to those who have no Rust, made in `target/dist` and then used once.
//!
//! Each part is an archive or a wheel for one target: the command, the package for Python, the libraries for C. They are
//! made for this machine's processor, and for ARM where the compiler has its standard library.

mod check;
mod command;
mod files;
mod libraries;
mod maker;
mod notices;
mod wheel;

use std::path::PathBuf;

use crate::{Outcome, shell};
use maker::Maker;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `[--check]`: with it nothing is made, and what is there is used.
pub fn run(words: &[&str]) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("dist makes archives for Linux, on Linux".to_owned());
    }
    match words {
        [] => make().and_then(|()| check::run()),
        ["--check"] => check::run(),
        _ => Err(format!("cargo xtask dist takes --check or nothing, not `{}`", words.join(" "))),
    }
}

/// The folder of what is given away. `cargo build --profile dist` builds there too, so only our files are looked at.
fn folder() -> PathBuf {
    shell::target().join("dist")
}

/// The names of the archives and wheels in it.
fn parts() -> Result<Vec<String>, String> {
    let ours = |name: &String| name.ends_with(".tar.gz") || name.ends_with(".whl");
    Ok(files::names(&folder())?.into_iter().filter(ours).collect())
}

/// A folder for what goes into one archive, or for where it is unpacked.
fn stage(name: &str) -> PathBuf {
    shell::target().join("dist-stage").join(name)
}

fn make() -> Outcome {
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| files::because(&folder, &error))?;
    for old in parts()? {
        std::fs::remove_file(folder.join(&old))
            .map_err(|error| files::because(&folder.join(&old), &error))?;
    }
    let makers = maker::all()?;
    let [host, ..] = makers.as_slice() else { return Err("there is nothing to compile with".to_owned()) };
    // They are the same for every target, and made by a program that runs here.
    let texts = command::texts(host)?;
    for maker in &makers {
        command::make(maker, &texts)?;
        wheel::make(maker)?;
        libraries::make(maker)?;
    }
    sums()
}

/// The file that says whether a download is whole.
fn sums() -> Outcome {
    let names = parts()?;
    let sums = shell::quietly(shell::command("sha256sum").current_dir(folder()).args(&names))?;
    files::write(&folder().join("SHA256SUMS"), &sums)?;
    for name in names {
        let path = folder().join(name);
        let bytes = std::fs::metadata(&path).map_err(|error| files::because(&path, &error))?.len();
        println!("{:7.1} MB  {}", bytes as f64 / 1e6, path.display());
    }
    Ok(())
}

/// The name of an archive without its ending, which is also the one folder in it.
fn name(what: &str, maker: &Maker) -> String {
    format!("{what}-{VERSION}-{}", maker.target)
}

/// Packs a folder of the stage into an archive of its name. The same files make the same archive.
fn pack(name: &str) -> Outcome {
    let archive = folder().join(format!("{name}.tar.gz"));
    let mut tar = shell::command("tar");
    tar.args(["--sort=name", "--mtime=2000-01-01 00:00Z", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go+r,go-w", "--use-compress-program=gzip -9n", "--create", "--file"]).arg(archive);
    shell::run(tar.arg("--directory").arg(stage("")).arg(name))
}
