//! The project's own chores: `cargo xtask help`.
//!
//! A chore sets up what it needs itself, inside the target folder, and nothing on the machine changes.
#![forbid(unsafe_code)]

mod arm;
mod bench;
mod clock;
mod corpus;
mod dependencies;
mod dist;
mod fuzz;
mod header;
mod house;
mod mutants;
mod objects;
mod oracles;
mod page;
mod proto;
mod python;
mod relayout;
mod shell;
mod soak;
mod stamp;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
The project's own chores.

  cargo xtask test [STEP ...]                everything that has to hold before a change goes in, or some of it
  cargo xtask ci                             the same
  cargo xtask fuzz [TARGET ...] [--seconds N]
                                             fuzz some targets or all of them, N seconds each (default 60), and count the
                                             inputs tried and the edges of code that they reached
  cargo xtask soak [--arm] [--hours H] [--minutes M] [--seed S] [ATTACK ...]
                                             attack Tilework for so long (default: one minute) and say what was found;
                                             --arm attacks programs for ARM in an emulator; soak --help lists the attacks
  cargo xtask mutants PATH ... [--missed] [--every N [--offset K]]
                                             change one thing after the other in files or folders of crates, and see whether
                                             a test fails: some minutes for hundreds of changes; --missed tries
                                             only those that no test noticed the last time, --every a sample
  cargo xtask bench [PART ...]               measure, and print the tables of COMPARE.md
  cargo xtask bench relayout [OPTION ...]    measure relayouts against other libraries: about ten minutes
  cargo xtask bench python [OPTION ...]      measure the package for Python against NumPy, JAX and PyTorch: some minutes
  cargo xtask bench files [OPTION ...]       measure stores and files of weights against TensorStore, Cubed, dask and others:
                                             some minutes for --mib 512
  cargo xtask python [--with-torch] [OPTION ...]
                                             build, check and test the package for Python; with options of pytest, such
                                             as -k WORD, pytest alone
  cargo xtask objects [OPTION ...]           stores in a server of S3 on this machine, with the command and the package for
                                             Python: some minutes; options of pytest, such as -k WORD, may follow
  cargo xtask oracles [NAME ...] [--seed N] [--cases N]
                                             compare Tilework with the real systems, and print the matrix of COMPARE.md:
                                             some minutes
  cargo xtask corpus [--with-oracles]        make the files of corpus/, and check them; --with-oracles asks the real systems
                                             again, as oracles does and with its options
  cargo xtask arm [TEST]                     the copy engine's tests for ARM, in an emulator: some minutes
  cargo xtask header [--check]               make include/tilework.h of tilework-c, or see whether it is current
  cargo xtask proto [--check]                make the code of the protobuf messages, or see whether it is current
  cargo xtask dist [--check]                 what is given to those without Rust, in target/dist, and a check that uses it:
                                             some minutes; --check uses what is there
  cargo xtask page [--serve | --test | --figures]
                                             make the page in the browser, in target/page: some minutes; serve it on this
                                             machine, test it in Chromium, or measure it there
  cargo xtask house                          the house rules alone: rooms, leftovers, long files
  cargo xtask help                           this text

The parts of bench are reading, offset, walk, size and show. bench relayout --help lists its options; with
--peers none it measures Tilework and memcpy alone, --only WORDS chooses workloads, and --random SEED draws others. bench
python takes --rounds N, and installs PyTorch with --with-torch; so does bench files, which with --with-zarrs compiles
zarrs_reencode into target/zarrs-tools, and whose other options stand at the top of bench/files/bench.py.
test and ci need cargo, rustfmt, clippy, a C++ compiler and Python 3.11 or newer (PYTHON names another than python3);
cbindgen is installed into target/tools when the interface for C has changed, and packages for Python into target/python-venv.
python tests with PyTorch only where it is in that environment: --with-torch puts it there.
Of soak, test has a short run of each attack. mutants is no part of test.
bench needs Python 3 as well, for the rivals, which go into target/bench-venv, target/bench-relayout-venv,
target/bench-python-venv and target/bench-files-venv; without jaxlib the other parts are measured alone.
objects is no part of test, which compiles nothing that reaches servers: it installs moto, a server of S3, into
target/objects-venv.
oracles is no part of test: it installs the real systems, 3 GB, into target/oracle-venv. --write puts the matrix into
COMPARE.md, --broken shifts an offset in each check to see that all notice, and --with-torch and --with-onednn install
PyTorch and the newest oneDNN too, gigabytes each.
dist is no part of test. It needs Linux, Python, pkg-config and compilers for C and C++; zig, cargo-zigbuild, maturin and
CMake are installed into target/dist-venv.
page is no part of test. It needs Node.js 20 or newer, and a compiler for wasm32-unknown-unknown: that of rustup, or else Debian's
packages rustc-web and rust-web-src, which it installs if it may. CHROMIUM names another browser than Debian's.
arm and soak --arm are no part of test. They need qemu-aarch64, aarch64-linux-gnu-gcc, and a compiler with the standard library of
aarch64-unknown-linux-gnu or its source; RUSTC names another compiler.
";

/// What a chore returns: nothing, or the sentence that says why it failed.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test" | "ci", steps @ ..] => test::run(steps),
        ["step", word] => test::step(word),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["mutants", words @ ..] => mutants::run(words),
        ["soak", words @ ..] => soak::run(words),
        ["bench", parts @ ..] => bench::run(parts),
        ["python", words @ ..] => python::run(words),
        ["objects", words @ ..] => objects::run(words),
        ["oracles", words @ ..] => oracles::run(words),
        ["corpus", words @ ..] => corpus::run(words),
        ["arm", words @ ..] => arm::run(words),
        ["dist", options @ ..] => dist::run(options),
        ["page", words @ ..] => page::run(words),
        ["header", options @ ..] => header::run(options),
        ["proto", options @ ..] => proto::run(options),
        ["house"] => house::check(),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        [] => Err(format!("which chore?\n\n{HELP}")),
        _ => Err(format!("no chore `{}`\n\n{HELP}", words.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
