//! The interface as C and C++ programs use it: compiled against the header, linked with both libraries, and run.
//!
//! What holds is checked in `tests/c`; here it is built in every way. Where there is no compiler this is skipped, and said.
#![cfg(unix)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Cpp,
    /// The classes of `tilework.hpp` want it.
    Cpp17,
}

#[derive(Clone, Copy, PartialEq)]
enum Library {
    Static,
    Shared,
}

/// What the library itself links, which a program that links it statically has to name.
const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

#[test]
fn a_c_program_with_the_static_library() {
    passes(Language::C, Library::Static);
}

#[test]
fn a_c_program_with_the_shared_library() {
    passes(Language::C, Library::Shared);
}

#[test]
fn a_cpp_program_with_the_static_library() {
    passes(Language::Cpp, Library::Static);
}

#[test]
fn a_cpp_program_with_the_shared_library() {
    passes(Language::Cpp, Library::Shared);
}

#[test]
fn the_classes_for_cpp_with_the_static_library() {
    passes(Language::Cpp17, Library::Static);
}

#[test]
fn the_classes_for_cpp_with_the_shared_library() {
    passes(Language::Cpp17, Library::Shared);
}

#[test]
fn the_examples_pack_and_unpack() {
    for (language, file) in [(Language::C, "pack.c"), (Language::Cpp17, "pack.cpp")] {
        let Some(mut compiler) = compiler(language) else { continue };
        let program = output(&file.replace('.', "-"));
        sources(&mut compiler, language, &[&format!("examples/{file}")]);
        link(compiler.arg("-o").arg(&program), Library::Static);
        run(&mut compiler);
        let said = run(&mut Command::new(program));
        assert!(said.starts_with("moves 19200 elements, 37.50 KiB\n"), "{said}");
        assert!(said.ends_with("\n38400 bytes became 49152, and came back the same\n"), "{said}");
    }
}

#[test]
fn the_examples_at_the_top_of_the_headers_are_programs() {
    for (header, languages) in
        [("tilework.h", &[Language::C, Language::Cpp][..]), ("tilework.hpp", &[Language::Cpp17])]
    {
        let text = std::fs::read_to_string(here("include").join(header)).expect("the header is there");
        let top = text.lines().take_while(|line| *line != " */");
        // Lines that are empty in the example have nothing behind the star.
        let example: Vec<&str> =
            top.filter_map(|line| line.strip_prefix(" *     ").or((line == " *").then_some(""))).collect();
        let first = example.iter().position(|line| line.starts_with("#include")).expect("it has an include");
        let last = example.iter().rposition(|&line| line == "}").expect("it ends");
        let source = output(&header.replace('.', "_")).with_extension("c");
        std::fs::write(&source, example[first..=last].join("\n") + "\n").expect("the folder can be written");
        for &language in languages {
            let Some(mut compiler) = compiler(language) else { continue };
            run(compiler.arg("-c").arg(&source).arg("-o").arg(output(&format!("{}.o", name(language)))));
        }
    }
}

/// Compiles the test program, links it and runs it.
fn passes(language: Language, library: Library) {
    let Some(mut compiler) = compiler(language) else { return };
    let kind = if library == Library::Static { "static" } else { "shared" };
    let program = output(&format!("{}-{kind}", name(language)));
    let parts: &[&str] = match language {
        Language::C | Language::Cpp => {
            &["tests/c/main.c", "tests/c/story.c", "tests/c/errors.c", "tests/c/pools.c"]
        }
        Language::Cpp17 => &["tests/c/classes.cpp"],
    };
    sources(&mut compiler, language, parts);
    link(compiler.arg("-o").arg(&program), library);
    run(&mut compiler);
    // Cargo's own folders come first there, in which an older library may be.
    assert_eq!(run(Command::new(program).env_remove("LD_LIBRARY_PATH")), "ok\n");
}

/// Names files of this package to the compiler.
fn sources(compiler: &mut Command, language: Language, files: &[&str]) {
    compiler.args(files.iter().map(|file| here(file)));
    // The sources are told apart from the libraries by the words before them.
    if language != Language::C {
        compiler.args(["-x", "none"]);
    }
}

/// The compiler with strict words and the folder of the header, if there is one on this machine.
fn compiler(language: Language) -> Option<Command> {
    let (variable, usual, standard) = match language {
        Language::C => ("CC", "cc", "-std=c99"),
        Language::Cpp => ("CXX", "c++", "-std=c++11"),
        Language::Cpp17 => ("CXX", "c++", "-std=c++17"),
    };
    let program = env::var_os(variable).unwrap_or_else(|| usual.into());
    if Command::new(&program).arg("--version").output().is_err() {
        eprintln!("skipped: there is no {} compiler `{}`", name(language), program.display());
        return None;
    }
    let mut compiler = Command::new(program);
    compiler.args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-g", "-I"]).arg(here("include"));
    if language != Language::C {
        compiler.args(["-x", "c++"]);
    }
    Some(compiler)
}

fn name(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Cpp => "C++",
        Language::Cpp17 => "C++17",
    }
}

/// Cargo builds the libraries with this very test, into the folder that the test runs from.
fn link(compiler: &mut Command, library: Library) {
    let program = env::current_exe().expect("a test knows where it is");
    let folder = program.parent().expect("a program is in a folder");
    let file = match library {
        Library::Static => folder.join("libtilework_c.a"),
        Library::Shared => folder.join(format!("libtilework_c{}", env::consts::DLL_SUFFIX)),
    };
    assert!(file.exists(), "cargo built no {}", file.display());
    if library == Library::Shared {
        compiler.arg("-L").arg(folder).arg("-ltilework_c");
        compiler.arg(format!("-Wl,-rpath,{}", folder.display()));
    } else {
        compiler.arg(file);
    }
    compiler.args(SYSTEM);
}

/// A file of this package.
fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A file that a test makes.
fn output(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs a program that has to succeed, and returns what it prints.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
