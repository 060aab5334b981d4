//! `cargo xtask page`: the page in the browser, in `target/page`: `tilework.html` alone, and `site/` for a server.
//!
//! The library is compiled to WebAssembly and cut into parts, and `web/` puts it into a file together with its script. Nothing else
//! in the project needs any of the tools for that. A compiler for WebAssembly is the toolchain's own where rustup has that target, and
//! else the one that Debian keeps for browsers.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use crate::{Outcome, shell};

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler for browsers, and the source of the standard library that goes with it.
const COMPILER: [&str; 2] = ["rustc-web", "rust-web-src"];
const RUSTC: &str = "/usr/bin/rustc";

/// What cuts the library into parts, and the package of Debian's that has it.
const CUTTER: &str = "wasm-split";

/// Where Debian puts the browser that tests use.
const CHROMIUM: &str = "/usr/bin/chromium";

/// `[--serve | --test | --figures]`.
pub fn run(words: &[&str]) -> Outcome {
    match words {
        [] => build().map(|_| ()),
        ["--serve"] => serve(&build()?),
        ["--test", rest @ ..] => test(&build()?, rest),
        ["--figures"] => figures(&build()?),
        _ => Err(format!("cargo xtask page takes --serve, --test or --figures, not `{}`", words.join(" "))),
    }
}

/// The folder of the page.
fn folder() -> PathBuf {
    shell::target().join("page")
}

/// Makes the page and returns its file.
fn build() -> Result<PathBuf, String> {
    let library = compile()?;
    if !shell::succeeds(shell::command(CUTTER).arg("--version")) {
        install("wasm-split of Binaryen", Path::new("/usr/bin"), CUTTER, &["binaryen"])?;
    }
    packages()?;
    shell::run(node().arg("build.mjs").arg(folder()).arg(&library))?;
    Ok(folder().join("tilework.html"))
}

/// Compiles the library.
fn compile() -> Result<PathBuf, String> {
    let mut cargo = shell::cargo();
    let target = folder();
    cargo.args(["rustc", "--quiet", "--package", "tilework-web", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--profile", "page", "--target", TARGET]).env("CARGO_TARGET_DIR", &target);
    // Every browser of the last years has it, and dumps are searched with it. Names say where a function is from, whatever its
    // type arguments are, so that it comes into the right part.
    let mut flags =
        "-Ctarget-feature=+simd128 -Csymbol-mangling-version=v0 -Clink-arg=--no-demangle".to_owned();
    let sysroot = shell::quietly(shell::command("rustc").args(["--print", "sysroot"]))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
    if !libraries.join(TARGET).is_dir() {
        install("a compiler for WebAssembly", Path::new("/usr/src"), "rustc-", &COMPILER)?;
        let linker = libraries.join(shell::host()?).join("bin/rust-lld");
        // The standard library is compiled too, so it can be small as well.
        cargo.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
        cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", RUSTC);
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        flags.push_str(" -Zlocation-detail=none -Zunstable-options -Cpanic=immediate-abort");
    }
    cargo.env("RUSTFLAGS", flags);
    shell::run(&mut cargo)?;
    Ok(target.join(TARGET).join("page/tilework_web.wasm"))
}

/// Installs packages of Debian's unless something that begins so is in a folder: only for root, and only what is missing.
fn install(what: &str, folder: &Path, begins: &str, packages: &[&str]) -> Outcome {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_there = |name: &str| name.starts_with(begins);
    if entries.into_iter().any(|entry| is_there(&entry.file_name().to_string_lossy())) {
        return Ok(());
    }
    let all = packages.join(" ");
    let is_root = shell::quietly(shell::command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !Path::new("/usr/bin/apt-get").exists() {
        let rustup =
            if packages == COMPILER { format!("`rustup target add {TARGET}`, or ") } else { String::new() };
        return Err(format!("there is no {what}: {rustup}`apt-get install {all}` as root, installs it"));
    }
    println!("installing {all}");
    let apt = || {
        let mut apt = shell::command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    shell::quietly(apt().arg("update"))?;
    shell::quietly(apt().args(["install", "--yes", "--no-install-recommends"]).args(packages)).map(|_| ())
}

/// The packages that build and test the page, as its lock file has them.
fn packages() -> Outcome {
    let web = shell::root().join("web");
    let (wanted, installed) = (web.join("package-lock.json"), web.join("node_modules/.package-lock.json"));
    let time = |file: &Path| fs::metadata(file).and_then(|about| about.modified()).ok();
    if time(&installed).zip(time(&wanted)).is_some_and(|(installed, wanted)| installed >= wanted) {
        return Ok(());
    }
    let said = shell::quietly(shell::command("npm").current_dir(&web).args(["ci", "--ignore-scripts"]));
    said.map(|_| ()).map_err(|why| format!("{why}; the page needs Node.js 20 or newer with npm"))
}

/// Node in the folder of the page.
fn node() -> Command {
    let mut node = shell::command("node");
    node.current_dir(shell::root().join("web"));
    node
}

/// Types, what is pure, and everything in a browser.
fn test(page: &Path, words: &[&str]) -> Outcome {
    shell::run(node().args(["node_modules/typescript/bin/tsc", "--noEmit"]))?;
    let browser = browser()?;
    let mut node = node();
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=1"]);
    node.args(words).args(["tests/pure.test.mjs", "tests/page.test.mjs"]);
    shell::run(node.env("TILEWORK_PAGE_FILE", page).env("CHROMIUM", browser))
}

/// What the page takes, measured in a browser.
fn figures(page: &Path) -> Outcome {
    shell::run(node().arg("tests/figures.mjs").env("TILEWORK_PAGE_FILE", page).env("CHROMIUM", browser()?))
}

/// The browser: `CHROMIUM`, or Debian's.
fn browser() -> Result<PathBuf, String> {
    if let Some(browser) = env::var_os("CHROMIUM") {
        return Ok(browser.into());
    }
    install("browser to test with", Path::new("/usr/bin"), "chromium", &["chromium"])?;
    Ok(CHROMIUM.into())
}

/// Serves the page on this machine alone, until it is stopped.
fn serve(page: &Path) -> Outcome {
    let content: &'static [u8] = fs::read(page).map_err(|error| error.to_string())?.leak();
    let listener = TcpListener::bind(("127.0.0.1", 8765)).or_else(|_| TcpListener::bind(("127.0.0.1", 0)));
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("the page is at http://{address}/ until this is stopped; it is the file {}", page.display());
    for stream in listener.incoming().flatten() {
        // A browser that asks for nothing keeps nobody waiting.
        thread::spawn(move || answer(stream, content));
    }
    Ok(())
}

/// One request, whatever it is for but an icon: there is one file.
fn answer(mut stream: TcpStream, page: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, content): (&str, &[u8]) = match path.split('?').next().unwrap_or_default() {
        "/" | "/tilework.html" => ("200 OK", page),
        _ => ("404 Not Found", b"there is one page: /"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        content.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(content)
}
