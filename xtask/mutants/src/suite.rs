//! The tests: built once, run one by one to see which mutants each comes to, and run again for each mutant.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

/// Of addresses, in KiB: a mutant may want memory without end.
const MEMORY: u64 = 16 << 20;

/// How many times the seconds that tests take with no mutant a run may take, and how many more. They are seconds of a processor.
const PATIENCE: (f64, f64) = (5.0, 5.0);

/// The seconds on the wall after which tests are taken to wait for each other.
const WALL: Duration = Duration::from_secs(900);

/// How many tests are run first.
const FIRST: usize = 4;

/// One test.
pub struct Test {
    program: usize,
    name: String,
    seconds: f64,
    reached: HashSet<u32>,
}

/// The programs with tests, and the tests.
pub struct Suite {
    /// Each with the folder that it runs in.
    programs: Vec<(PathBuf, PathBuf)>,
    /// Those to try first stand first.
    pub tests: Vec<Test>,
    /// The file for what they print.
    said: PathBuf,
}

/// Cargo in the copy, with these words.
fn command(copy: &Path, target: &Path, words: &[String]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).arg("--quiet").current_dir(copy).stdin(Stdio::null()).stderr(Stdio::null());
    // What mutants make superfluous is no matter, nor is a number that overflows while compiling: a test will see it.
    command.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "--cap-lints=allow");
    // Tests run for hours and are compiled once. What the next run has in common with this one are the dependencies alone.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
    command.env("CARGO_INCREMENTAL", "0");
    // Keeping the program of the examples is not stable yet, and saying so there alone would compile everything anew.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

/// What cargo says in JSON, whether it succeeds or not.
fn cargo(copy: &Path, target: &Path, words: &[String]) -> Result<(Vec<Value>, bool), String> {
    let mut command = command(copy, target, words);
    let output = command.arg("--message-format=json").output().map_err(|error| format!("cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), output.status.success()))
}

/// The mutants that do not compile: those in whose text the compiler finds errors.
pub fn refused(
    copy: &Path,
    target: &Path,
    words: &[String],
    places: &BTreeMap<String, Vec<(u32, Range<usize>)>>,
) -> Result<HashSet<u32>, String> {
    let (said, is_fine) = cargo(copy, target, words)?;
    let (mut numbers, mut others) = (HashSet::new(), Vec::new());
    for message in said.iter().map(|line| &line["message"]).filter(|message| message["level"] == "error") {
        let spans = message["spans"].as_array().into_iter().flatten();
        let (primary, secondary): (Vec<_>, Vec<_>) = spans.partition(|span| span["is_primary"] == true);
        let innermost = |span: &&Value| {
            let start = span["byte_start"].as_u64()? as usize;
            let places = places.get(span["file_name"].as_str()?)?;
            let around = places.iter().filter(|(_, place)| place.contains(&start));
            around.min_by_key(|(_, place)| place.len()).map(|(number, _)| *number)
        };
        match primary.iter().find_map(innermost).or_else(|| secondary.iter().find_map(innermost)) {
            Some(number) => _ = numbers.insert(number),
            None => others.push(message["rendered"].as_str().unwrap_or_default()),
        }
    }
    match is_fine || !numbers.is_empty() {
        true => Ok(numbers),
        false => Err(format!("the copy does not compile:\n{}", others.join("\n"))),
    }
}

/// The program with the examples of a package's documentation. It runs them all in one go, whatever it is asked.
fn examples(copy: &Path, target: &Path, words: &[String], kept: &Path) -> Result<Option<PathBuf>, String> {
    let _ = fs::remove_dir_all(kept); // it need not exist
    let flags = format!("--cap-lints=allow -Zunstable-options --persist-doctests={}", kept.display());
    let mut command = command(copy, target, words);
    command.env("RUSTDOCFLAGS", flags).stdout(Stdio::null());
    if !command.status().map_err(|error| format!("cargo: {error}"))?.success() {
        return Err("an example of the documentation fails with no mutant switched on".to_owned());
    }
    let mut folders = fs::read_dir(kept).into_iter().flatten().flatten();
    let merged = folders.find(|folder| folder.file_name().to_string_lossy().starts_with("merged_doctest"));
    Ok(merged.map(|folder| folder.path().join("rust_out")))
}

impl Suite {
    /// Builds the tests of these packages and runs each by itself.
    ///
    /// `words` says to cargo what to do with packages.
    pub fn new(
        copy: &Path,
        target: &Path,
        packages: &[String],
        words: impl Fn(&[&str], &[String]) -> Vec<String>,
        scratch: &Path,
    ) -> Result<Suite, String> {
        let (said, is_fine) =
            cargo(copy, target, &words(&["test", "--no-run", "--lib", "--tests"], packages))?;
        if !is_fine {
            let errors = said.iter().filter_map(|line| line["message"]["rendered"].as_str());
            return Err(format!("the tests do not compile:\n{}", errors.collect::<String>()));
        }
        let programs = said.iter().filter(|line| line["profile"]["test"] == true).filter_map(|line| {
            let folder = Path::new(line["manifest_path"].as_str()?).parent()?.to_path_buf();
            Some((PathBuf::from(line["executable"].as_str()?), folder))
        });
        let mut suite = Suite { programs: programs.collect(), tests: Vec::new(), said: scratch.join("said") };
        let file = scratch.join("reached");
        for program in 0..suite.programs.len() {
            let listed = suite.command(program, None).args(["--list", "--format=terse"]).output();
            let listed =
                listed.map_err(|error| format!("{}: {error}", suite.programs[program].0.display()))?;
            for name in String::from_utf8_lossy(&listed.stdout).lines() {
                if let Some(name) = name.strip_suffix(": test") {
                    suite.add(program, name, &file)?;
                }
            }
        }
        for package in packages {
            let words = words(&["test", "--doc"], std::slice::from_ref(package));
            let kept = scratch.join("examples").join(package);
            if let Some(program) = examples(copy, target, &words, &kept)? {
                suite.programs.push((program, copy.join("crates").join(package)));
                suite.add(suite.programs.len() - 1, &format!("the examples of {package}"), &file)?;
            }
        }
        suite.tests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(suite)
    }

    /// How long all tests take, one after the other.
    pub fn seconds(&self) -> f64 {
        self.tests.iter().map(|test| test.seconds).sum()
    }

    /// Runs a test, and sees which mutants it comes to.
    fn add(&mut self, program: usize, name: &str, file: &Path) -> Result<(), String> {
        let _ = fs::remove_file(file); // the first has none
        let start = Instant::now();
        let mut command = self.command(program, None);
        command.args(["--exact", name]).env("TILEWORK_MUTANT", file);
        if !passes(command.stdout(Stdio::null()))? {
            return Err(format!("{name} fails with no mutant switched on"));
        }
        let seconds = start.elapsed().as_secs_f64();
        let reached = fs::read_to_string(file).unwrap_or_default();
        let reached = reached.lines().filter_map(|number| number.parse().ok()).collect();
        self.tests.push(Test { program, name: name.to_owned(), seconds, reached });
        Ok(())
    }

    /// Whether a test fails with this mutant; nothing if no test comes to it.
    ///
    /// A test that has noticed one is tried first for the next, as neighbours are noticed by the same tests; the others come
    /// in the order of their times, in larger and larger parts.
    pub fn notices(&mut self, mutant: u32) -> Result<Option<bool>, String> {
        let reaching: Vec<&Test> = self.tests.iter().filter(|test| test.reached.contains(&mutant)).collect();
        let (mut left, mut part) = (&reaching[..], FIRST);
        while !left.is_empty() {
            let (now, later) = left.split_at(part.min(left.len()));
            (left, part) = (later, part * 8);
            for program in 0..self.programs.len() {
                let tests: Vec<&&Test> = now.iter().filter(|test| test.program == program).collect();
                if tests.is_empty() {
                    continue;
                }
                let seconds: f64 = tests.iter().map(|test| test.seconds).sum();
                let mut command = self.command(program, Some(seconds * PATIENCE.0 + PATIENCE.1));
                command.args(["-Zunstable-options", "--fail-fast", "--exact"]);
                command.args(tests.iter().map(|test| &test.name)).env("TILEWORK_MUTANT", mutant.to_string());
                let said =
                    File::create(&self.said).map_err(|error| format!("{}: {error}", self.said.display()))?;
                if !passes(command.stdout(said))? {
                    self.move_to_front(program);
                    return Ok(Some(true));
                }
            }
        }
        Ok((!reaching.is_empty()).then_some(false))
    }

    /// Moves the test that has failed, if it could still say so.
    fn move_to_front(&mut self, program: usize) {
        let said = fs::read_to_string(&self.said).unwrap_or_default();
        let failed = said.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let is_it = |test: &Test| test.program == program && Some(test.name.as_str()) == failed;
        if let Some(at) = self.tests.iter().position(is_it) {
            self.tests[..=at].rotate_right(1);
        }
    }

    /// A program in its folder, with limits on processor time and memory.
    fn command(&self, program: usize, seconds: Option<f64>) -> Command {
        let (program, folder) = &self.programs[program];
        let time = seconds.map_or(String::new(), |seconds| format!("ulimit -t {}; ", seconds.ceil()));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{time}ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"")]);
        command.arg(program).current_dir(folder).env("CARGO_MANIFEST_DIR", folder).stdin(Stdio::null());
        // The same cases each time, and no search for a smaller one that fails.
        command.env("PROPTEST_RNG_SEED", "20251122").env("PROPTEST_MAX_SHRINK_ITERS", "0");
        // Stopping at the first failure is not stable yet.
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

fn passes(command: &mut Command) -> Result<bool, String> {
    let child = command.stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("sh: {error}"))?;
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(status.success()),
            None if start.elapsed() > WALL => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(false);
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}
