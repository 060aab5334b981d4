//! Uses what is in `target/dist` as those do who get it: unpacked into an empty folder, or installed into an empty
//! environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::maker::{self, GLIBC};
use super::{VERSION, files, folder, libraries, parts, stage};
use crate::{Outcome, python, shell};

const CMAKE: &str = "cmake==4.4.4";

/// What every example prints at its end.
const MOVED: &str = "38400 bytes became 49152, and came back the same";

pub fn run() -> Outcome {
    println!("-- the sums");
    shell::run(shell::command("sha256sum").current_dir(folder()).args(["--check", "--quiet", "SHA256SUMS"]))?;
    let target = shell::host()?;
    let wheel = wheel(&target)?;
    println!("-- the command, unpacked");
    let room = unpack(&format!("tilework-{VERSION}-{target}"))?;
    command(&room)?;
    println!("-- the package for Python, installed");
    python(&wheel)?;
    println!("-- the libraries for C, unpacked");
    let prefix = unpack(&format!("tilework-c-{VERSION}-{target}"))?;
    // The wheel's name says whether zig was there.
    if wheel.contains("manylinux") {
        is_old_enough(&room.join("tilework"))?;
        is_old_enough(&prefix.join("lib").join(format!("libtilework_c.so.{VERSION}")))?;
    }
    with_pkg_config(&prefix)?;
    with_cmake(&prefix)?;
    let parts = parts()?;
    let others = for_others(&parts, &target);
    let all = if others.is_empty() { "everything" } else { "everything for this machine" };
    println!("{all} in {} works", folder().display());
    if !others.is_empty() {
        println!(
            "not tried, as this machine cannot run it: {}; `cargo xtask arm` runs the engine's tests in an emulator",
            others.join(", ")
        );
    }
    Ok(())
}

/// The parts for machines of another kind.
fn for_others<'a>(parts: &'a [String], target: &str) -> Vec<&'a str> {
    let processor = target.split('-').next().unwrap_or(target);
    parts.iter().map(String::as_str).filter(|part| !part.contains(processor)).collect()
}

/// Unpacks an archive into an empty folder, and returns the one folder in it.
fn unpack(name: &str) -> Result<PathBuf, String> {
    let empty = stage(&format!("unpacked/{name}"));
    files::empty(&empty)?;
    let archive = folder().join(format!("{name}.tar.gz"));
    shell::run(shell::command("tar").args(["--extract", "--file"]).arg(archive).arg("-C").arg(&empty))?;
    Ok(empty.join(name))
}

fn command(prefix: &Path) -> Outcome {
    let program = prefix.join("tilework");
    says(shell::command(&program).arg("--version").env_clear(), VERSION)?;
    says(shell::command(&program).args(["show", "f32[3,5]{1,0:T(2,2)}"]), "12·⌊i/2⌋")?;
    for (kind, word) in [("completions", "tilework"), ("man", ".TH tilework")] {
        let folder = prefix.join(kind);
        for name in files::names(&folder)? {
            let file = folder.join(name);
            holds(&file, &files::read(&file)?, word)?;
        }
    }
    Ok(())
}

/// Fails if a program wants a newer C library than we promise, by the names of versions that it has in it.
fn is_old_enough(program: &Path) -> Outcome {
    let bytes = std::fs::read(program).map_err(|error| files::because(program, &error))?;
    match newest_glibc(&bytes) {
        None => Err(format!("{} names no version of the C library", program.display())),
        Some(newest) if newest > GLIBC => {
            Err(format!("{} wants glibc {}.{}", program.display(), newest.0, newest.1))
        }
        Some(newest) => {
            println!("{} wants glibc {}.{} or newer", program.display(), newest.0, newest.1);
            Ok(())
        }
    }
}

/// The newest version of the C library that is named in a program.
fn newest_glibc(program: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"\0GLIBC_";
    let named = program.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    named.filter_map(|(at, _)| version(&program[at + NAME.len()..])).max()
}

/// A version at the start of a text that ends with a byte of 0: its first two numbers.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let text = text.split(|&byte| byte == 0).next()?;
    let mut numbers = std::str::from_utf8(text).ok()?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The name of the wheel for this machine.
fn wheel(target: &str) -> Result<String, String> {
    let processor = target.split('-').next().unwrap_or(target);
    let mine = |name: &String| name.ends_with(&format!("_{processor}.whl"));
    let found = parts()?.into_iter().find(mine);
    found.ok_or_else(|| "there is no wheel for this machine".to_owned())
}

fn python(wheel: &str) -> Outcome {
    let python = python::fresh("dist-stage/venv")?;
    python::pip_install(&python, &[&folder().join(wheel).to_string_lossy()])?;
    // Not in the root, whose folders Python would take for modules.
    let mut program = shell::command(&python);
    program.current_dir(stage("venv")).env_remove("PYTHONPATH");
    says(program.args(["-c", include_str!("use_wheel.py")]), "a wheel that works")
}

/// Builds the examples by the words that pkg-config says, and runs them.
fn with_pkg_config(prefix: &Path) -> Outcome {
    let examples = prefix.join(libraries::TEXTS).join("examples");
    for (compiler, words, source) in
        [("cc", &["-std=c99"][..], "pack.c"), ("c++", &["-std=c++17", "-Wall", "-Werror"], "pack.cpp")]
    {
        for package in ["tilework", "tilework-static"] {
            let mut asked = shell::command("pkg-config");
            asked.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(["--cflags", "--libs", package]);
            let flags = shell::quietly(&mut asked)?;
            let program = prefix.join(format!("{package}-{compiler}"));
            let mut compile = shell::command(compiler);
            compile.args(words).arg(examples.join(source)).args(flags.split_whitespace());
            shell::run(compile.arg("-o").arg(&program))?;
            if package == "tilework" {
                // It is linked with the shared library if it does not start without.
                let alone = shell::command(&program).env_remove("LD_LIBRARY_PATH").output();
                let said = alone.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
                holds(&program, &said.unwrap_or_default(), &libraries::soname())?;
            }
            says(shell::command(&program).env("LD_LIBRARY_PATH", prefix.join("lib")), MOVED)?;
        }
    }
    Ok(())
}

/// Builds the examples with CMake, and runs them.
fn with_cmake(prefix: &Path) -> Outcome {
    let python = python::environment(maker::ENVIRONMENT, &[CMAKE])?;
    let cmake = || shell::command(python.with_file_name("cmake"));
    let build = prefix.join("build");
    let mut configure = cmake();
    configure.arg("-S").arg(prefix.join(libraries::TEXTS).join("examples")).arg("-B").arg(&build);
    shell::quietly(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())))?;
    shell::quietly(cmake().arg("--build").arg(&build))?;
    for language in ["c", "cpp"] {
        for library in ["static", "shared"] {
            says(&mut shell::command(build.join(format!("pack-{language}-{library}"))), MOVED)?;
        }
    }
    Ok(())
}

/// Runs a program that has to succeed and to print this.
fn says(command: &mut Command, text: &str) -> Outcome {
    let said = shell::quietly(command)?;
    holds(Path::new(command.get_program()), &said, text)
}

fn holds(what: &Path, said: &str, text: &str) -> Outcome {
    if said.contains(text) {
        return Ok(());
    }
    Err(format!("{} does not say `{text}`, but\n{said}", what.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_for_another_processor_are_not_for_this_machine() {
        let parts =
            ["t-0.1.0-aarch64-unknown-linux-gnu.tar.gz", "t-0.1.0-cp310-abi3-manylinux2014_x86_64.whl"];
        let parts = parts.map(str::to_owned);
        assert_eq!(for_others(&parts, "x86_64-unknown-linux-gnu"), [parts[0].as_str()]);
        assert_eq!(for_others(&parts, "aarch64-unknown-linux-gnu"), [parts[1].as_str()]);
    }

    #[test]
    fn the_newest_c_library_is_that_of_the_highest_number() {
        let program = b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.9\0GLIBC_PRIVATE\0not GLIBC_2.99\0";
        assert_eq!(newest_glibc(program), Some((2, 17)));
        assert_eq!(newest_glibc(b"\0GLIBC_2.x\0"), None);
    }
}
