//! The tests: built once, run one by one to see which mutants each comes to, and run again for each mutant.

use std::collections::{BTreeMap, HashSet};
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

/// Tests that take longer are run if no quick one has failed.
const QUICK: f64 = 0.1;

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
    pub tests: Vec<Test>,
}

/// What cargo says in JSON, whether it succeeds or not.
fn cargo(copy: &Path, target: &Path, words: &[String]) -> Result<(Vec<Value>, bool), String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).args(["--quiet", "--message-format=json"]).current_dir(copy).stdin(Stdio::null());
    // What mutants make superfluous is no matter.
    command.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "-Awarnings").stderr(Stdio::null());
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
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

impl Suite {
    /// Builds the tests and runs each by itself.
    pub fn new(copy: &Path, target: &Path, words: &[String], scratch: &Path) -> Result<Suite, String> {
        let (said, is_fine) = cargo(copy, target, words)?;
        if !is_fine {
            let errors = said.iter().filter_map(|line| line["message"]["rendered"].as_str());
            return Err(format!("the tests do not compile:\n{}", errors.collect::<String>()));
        }
        let programs = said.iter().filter(|line| line["profile"]["test"] == true).filter_map(|line| {
            let folder = Path::new(line["manifest_path"].as_str()?).parent()?.to_path_buf();
            Some((PathBuf::from(line["executable"].as_str()?), folder))
        });
        let mut suite = Suite { programs: programs.collect(), tests: Vec::new() };
        let file = scratch.join("reached");
        for program in 0..suite.programs.len() {
            let listed = suite.command(program, None).args(["--list", "--format=terse"]).output();
            let listed =
                listed.map_err(|error| format!("{}: {error}", suite.programs[program].0.display()))?;
            for name in String::from_utf8_lossy(&listed.stdout).lines() {
                let Some(name) = name.strip_suffix(": test") else { continue };
                let _ = fs::remove_file(&file); // the first has none
                let start = Instant::now();
                let mut command = suite.command(program, None);
                command.args(["--exact", name]).env("TILEWORK_MUTANT", &file);
                if !passes(&mut command)? {
                    return Err(format!("{name} fails with no mutant switched on"));
                }
                let seconds = start.elapsed().as_secs_f64();
                let reached = fs::read_to_string(&file).unwrap_or_default();
                let reached = reached.lines().filter_map(|number| number.parse().ok()).collect();
                suite.tests.push(Test { program, name: name.to_owned(), seconds, reached });
            }
        }
        Ok(suite)
    }

    /// Whether a test fails with this mutant; nothing if no test comes to it.
    pub fn notices(&self, mutant: u32) -> Result<Option<bool>, String> {
        let mut reaching: Vec<&Test> =
            self.tests.iter().filter(|test| test.reached.contains(&mutant)).collect();
        if reaching.is_empty() {
            return Ok(None);
        }
        // By program, the quick ones of all programs first.
        reaching.sort_by_key(|test| (test.seconds >= QUICK, test.program));
        for tests in
            reaching.chunk_by(|a, b| (a.seconds < QUICK, a.program) == (b.seconds < QUICK, b.program))
        {
            let seconds: f64 = tests.iter().map(|test| test.seconds).sum();
            let mut command = self.command(tests[0].program, Some(seconds * PATIENCE.0 + PATIENCE.1));
            command.args(["-Zunstable-options", "--fail-fast", "--exact"]);
            command.args(tests.iter().map(|test| &test.name)).env("TILEWORK_MUTANT", mutant.to_string());
            if !passes(&mut command)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
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
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
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
