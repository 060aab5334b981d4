//! `cargo xtask fuzz`, and the short run of each target that belongs to the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::{Outcome, shell};

/// The targets, by the names of their files in `fuzz/fuzz_targets`, each with the inputs that a short run tries: as many as
/// take twenty seconds of a slow processor, and at most 30000. They are counted, not timed, so that every machine tries the
/// same ones.
const TARGETS: [(&str, u32); 17] = [
    ("anything", 30_000),
    ("files", 30_000),
    ("stores", 10_000),
    ("jobs", 2_500),
    ("checkpoints", 3_000),
    ("find", 20_000),
    ("translate", 8_000),
    ("parse", 30_000),
    ("layout", 2_000),
    ("directml", 30_000),
    ("protos", 30_000),
    ("audit", 25_000),
    ("suggest", 30_000),
    ("relayout", 18_000),
    ("pages", 12_000),
    ("web", 8_000),
    ("words", 30_000),
];

/// Those that run unsafe code, and so with the address sanitizer; the others are twice as fast without. The short run does
/// without, as building the kernels with it takes minutes, and the engine's own tests have it.
const SANITIZED: [&str; 1] = ["relayout"];

/// Those whose inputs reach so much code that libFuzzer's favourite way to choose among its inputs, which looks at each place
/// that an input reaches, takes longer than the inputs do.
const BROAD: [&str; 5] = ["audit", "checkpoints", "find", "pages", "web"];

/// What libFuzzer wants of the compiler, besides a sanitizer: that code tells where it runs.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "--cfg=fuzzing",
];

/// Code tells as well what it compares where that may be a word of a notation or a number of a format, so that the word is
/// tried. The layouts themselves compare nothing but sizes, and would spend two thirds of the time on telling so.
const COMPARES: &str = "-Cllvm-args=-sanitizer-coverage-trace-compares";

/// The packages that read texts and files.
const READERS: [&str; 7] = [
    "serde_json",
    "tilework",
    "tilework-audit",
    "tilework-explain",
    "tilework-files",
    "tilework-fuzz",
    "tilework-stores",
];

/// Packages that the short run leaves unoptimised: optimising them takes longer than running their targets slowly. For the
/// others it is the other way round.
const UNOPTIMISED: [&str; 2] = ["tilework-files", "tilework-stores"];

/// The longest input in bytes. A zip file of one small array has more than texts need, and so have metadata.
fn longest(target: &str) -> u32 {
    match target {
        "files" | "stores" => 1024,
        _ => 256,
    }
}

/// The seconds after which an input hangs. A million loops of a plan take a second where the build is not optimised, and
/// more on a machine that has other work, which is no failure: so this is far above what any input takes.
const HANGS: &str = "-timeout=300";

/// Has libFuzzer say at the end how many inputs it tried.
const STATISTICS: &str = "-print_final_stats=1";

/// `[TARGET ...] [--seconds N]`
pub fn run(words: &[&str]) -> Outcome {
    let (mut seconds, mut targets) = (60, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--seconds" => {
                let number = words.next().and_then(|number| number.parse().ok());
                seconds = number.ok_or("--seconds wants a number, as in `cargo xtask fuzz --seconds 60`")?;
            }
            word => targets.push(names().find(|name| *name == word).ok_or_else(|| {
                let all: Vec<&str> = names().collect();
                format!("no fuzz target `{word}`; there are {}", all.join(", "))
            })?),
        }
    }
    if targets.is_empty() {
        targets.extend(names());
    }
    let mut programs = Vec::new();
    for (kind, is_sanitized) in [(Kind::Long, false), (Kind::Sanitized, true)] {
        let own = targets.iter().copied().filter(|target| SANITIZED.contains(target) == is_sanitized);
        let own: Vec<&str> = own.collect();
        if !own.is_empty() {
            let folder = build(&own, kind)?;
            programs.extend(own.into_iter().map(|target| (target, folder.join(target))));
        }
    }
    let (mut all, mut failed) = (0, Vec::new());
    let mut said = Vec::new();
    for (target, program) in programs {
        // New inputs stay here, out of git's sight, and the next run goes on from them.
        let corpus = shell::root().join("fuzz/corpus").join(target);
        let mut run = fuzz(&program, target, &corpus)?;
        let bounds = [format!("-max_total_time={seconds}"), STATISTICS.to_owned()];
        let (mut inputs, mut places) = (None, None);
        let ended = shell::watch(run.args(bounds), |line| {
            inputs = inputs.or(executions(line));
            places = covered(line).or(places);
        });
        sweep();
        // The others go on: what one of them finds is no reason not to look for more.
        failed.extend(ended.and(inputs.map(|_| ()).ok_or_else(|| uncounted(target))).err());
        let inputs = inputs.unwrap_or(0);
        all += inputs;
        said.push(format!("{target}: {inputs} inputs, {} edges of code reached", places.unwrap_or(0)));
    }
    said.iter().for_each(|line| println!("{line}"));
    println!("all: {all} inputs");
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// A bounded run of every target, from the seeds and with the same random numbers each time; as many at once as there are
/// processors.
pub fn smoke() -> Outcome {
    let programs = build(&names().collect::<Vec<_>>(), Kind::Short)?;
    let left = Mutex::new(TARGETS.iter());
    let next = || left.lock().ok()?.next();
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(target, inputs)) = next() {
                    match try_out(&programs.join(target), target, inputs) {
                        Ok(inputs) => println!("{target}: {inputs} inputs"),
                        Err(why) => failed.lock().into_iter().for_each(|mut failed| failed.push(why.clone())),
                    }
                }
            });
        }
    });
    sweep();
    let failed = failed.into_inner().unwrap_or_default();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Removes the folders in memory of targets that have ended, which cannot do it themselves.
fn sweep() {
    for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix("tilework-fuzz-").and_then(|name| name.rsplit('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir_all(entry.path()); // somebody else may be faster
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|target| target.0)
}

/// The number of inputs that a short run tried.
fn try_out(program: &Path, target: &str, inputs: u32) -> Result<u64, String> {
    let corpus = shell::target().join("fuzz-smoke").join(target);
    let _ = fs::remove_dir_all(&corpus); // it need not exist
    let runs = format!("-runs={inputs}");
    let bounds = [&runs, "-seed=1", STATISTICS];
    let output = shell::quietly(fuzz(program, target, &corpus)?.args(bounds))?;
    output.lines().find_map(executions).ok_or_else(|| uncounted(target))
}

/// How many inputs a run tried, if this line of what it prints says that.
fn executions(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

/// How many edges of code all inputs together have reached, if this line says that.
fn covered(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix('#')?.split_once("cov: ")?;
    rest.split(' ').next()?.parse().ok()
}

fn uncounted(target: &str) -> String {
    format!("{target}: libFuzzer did not say how many inputs it tried")
}

/// The run of a target; new inputs go to `corpus`, and what it fails on to a folder beside the targets.
fn fuzz(program: &Path, target: &str, corpus: &Path) -> Result<Command, String> {
    let failing = shell::root().join("fuzz/artifacts").join(target);
    for folder in [corpus, &failing] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = shell::command(program);
    command.arg(corpus).arg(format!("fuzz/seeds/{target}"));
    command.arg(format!("-artifact_prefix={}/", failing.display()));
    command.arg(format!("-max_len={}", longest(target)));
    command.args(["-dict=fuzz/words.dict", HANGS]);
    if BROAD.contains(&target) {
        command.arg("-entropic=0");
    }
    Ok(command)
}

/// What a build is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Hours, with every access to memory checked, or not.
    Sanitized,
    Long,
    /// The tests.
    Short,
}

/// Builds targets with what libFuzzer wants, and returns the folder that they are in. The compiler's unstable flags are
/// allowed, as the address sanitizer is one.
fn build(targets: &[&str], kind: Kind) -> Result<PathBuf, String> {
    let triple = shell::host()?;
    let (sanitizer, folder) = match kind {
        Kind::Sanitized => (&["-Zsanitizer=address"][..], "fuzz-address"),
        Kind::Long => (&[][..], "fuzz"),
        Kind::Short => (&[][..], "fuzz-short"),
    };
    let folder = shell::target().join(folder);
    let mut cargo = shell::cargo();
    if kind == Kind::Short {
        // Most of a short run is the build.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_LTO", "off");
        UNOPTIMISED.iter().for_each(|package| {
            cargo.args(["--config", &format!("profile.release.package.{package}.opt-level=0")]);
        });
    }
    READERS.iter().for_each(|package| {
        cargo.args(["--config", &format!("profile.release.package.{package}.rustflags=[{COMPARES:?}]")]);
    });
    cargo.args([
        "-Zprofile-rustflags",
        "build",
        "--quiet",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        &triple,
    ]);
    targets.iter().for_each(|target| {
        cargo.args(["--bin", target]);
    });
    if kind == Kind::Sanitized {
        cargo.arg("--no-default-features");
    }
    cargo.arg("--target-dir").arg(&folder);
    let flags = [&COVERAGE, sanitizer].concat().join(" ");
    shell::run(cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags))?;
    Ok(folder.join(triple).join("release"))
}
