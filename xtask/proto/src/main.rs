//! The work of `cargo xtask proto`: the Rust code of the messages in the folders `proto` of the crates.
//!
//! A program of its own, so that no other chore compiles a protobuf compiler. It is started in the root of the workspace,
//! with `--check` to compare instead of writing.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use buffa_build::Config;

/// The small messages: shapes, layouts, program shapes.
const LIBRARY: [&str; 2] = ["crates/tilework/proto", "crates/tilework/src/dialects/xla/proto/generated"];
/// Compiled modules.
const AUDIT: [&str; 2] = ["crates/tilework-audit/proto", "crates/tilework-audit/src/schema/generated"];

/// One schema, and what its code can do.
struct Schema {
    /// The folder of the schema, and that of its code.
    folders: [&'static str; 2],
    file: &'static str,
    /// The file of the code, named by the package.
    code: &'static str,
    /// Text and JSON besides bytes, and fields that nobody knows are kept.
    notations: bool,
}

const SCHEMAS_AND_CODE: [Schema; 3] = [
    Schema { folders: LIBRARY, file: "xla_data.proto", code: "xla.rs", notations: true },
    Schema { folders: LIBRARY, file: "xla_data_2018.proto", code: "xla_2018.rs", notations: true },
    Schema { folders: AUDIT, file: "hlo.proto", code: "xla_hlo.rs", notations: false },
];

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let check = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("--check or nothing, not `{}`", words.join(" "));
            return ExitCode::FAILURE;
        }
    };
    match make(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn make(check: bool) -> Result<(), Box<dyn Error>> {
    let work =
        PathBuf::from(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())).join("proto");
    fs::create_dir_all(&work)?;
    for schema in &SCHEMAS_AND_CODE {
        let made = generate(schema, &work)?;
        let folder = Path::new(schema.folders[1]);
        let code = folder.join(schema.code);
        if !check {
            fs::create_dir_all(folder)?;
            fs::write(&code, made)?;
            println!("{} is written", code.display());
        } else if fs::read_to_string(&code).unwrap_or_default() == made {
            println!("{} is as {} says", code.display(), schema.file);
        } else {
            let why = format!("{} is not what {} says", code.display(), schema.file);
            return Err(format!("{why}; `cargo xtask proto` writes it anew").into());
        }
    }
    Ok(())
}

/// The code of a schema.
fn generate(schema: &Schema, work: &Path) -> Result<String, Box<dyn Error>> {
    let descriptors = work.join(schema.code).with_extension("binpb");
    let compiled = protox::Compiler::new([schema.folders[0]])?
        .include_imports(true)
        .include_source_info(true)
        .open_file(schema.file)?
        .encode_file_descriptor_set();
    fs::write(&descriptors, compiled)?;
    let mut config = Config::new()
        .files(&[schema.file])
        .descriptor_set(&descriptors)
        .out_dir(work)
        .file_per_package(true)
        .generate_json(schema.notations)
        .generate_text(schema.notations)
        .preserve_unknown_fields(schema.notations)
        .generate_views(false);
    if schema.notations {
        // A misspelt name in JSON is an error, as it is in text format.
        config = config.message_attribute(".", "#[serde(deny_unknown_fields)]");
    }
    config.compile()?;
    strict(&fs::read_to_string(work.join(schema.code))?, schema)
}

/// The generator's text format passes over names that it does not know; ours refuses them, so that a misspelt one is found.
fn strict(code: &str, schema: &Schema) -> Result<String, Box<dyn Error>> {
    let (lenient, strict) =
        ("_ => dec.skip_value()?,", "_ => return ::core::result::Result::Err(dec.unknown_field()),");
    if code.contains(lenient) != schema.notations {
        return Err(format!("{}: text format is no longer written as it was", schema.code).into());
    }
    Ok(code.replace(lenient, strict))
}
