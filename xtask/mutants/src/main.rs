//! The work of `cargo xtask mutants`: changes one thing after the other in the code, and sees whether a test notices.
//!
//! Compiling takes longer than testing, so all changes are compiled at once, in a copy of the project: each is an `if` that a
//! variable of the environment switches on. Then every test runs by itself and says which changes it comes to, and for each
//! change only those tests run, until one fails.
#![forbid(unsafe_code)]

mod change;
mod same;
mod suite;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use change::Mutant;
use suite::Suite;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mutants: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let (mut paths, mut only_missed, mut every, mut offset) = (Vec::new(), false, 1, 0);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = |least| {
            let number =
                words.next().and_then(|number| number.parse().ok()).filter(|&number| number >= least);
            number.ok_or(format!("{word} wants a number, as in `{word} 10`"))
        };
        match word.as_str() {
            "--missed" => only_missed = true,
            "--every" => every = number(1)?,
            "--offset" => offset = number(0)?,
            word if word.starts_with('-') => {
                return Err(format!("no option {word}; there are --missed, --every and --offset"));
            }
            word => paths.push(word),
        }
    }
    let mut files = Vec::new();
    for path in paths {
        collect(Path::new(path), &mut files)?;
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        return Err("which files or folders? `cargo xtask mutants crates/tilework-core/src/plan`".to_owned());
    }
    let scratch =
        PathBuf::from(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())).join("mutants");
    let (copy, target) = (scratch.join("tree"), scratch.join("target"));
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;

    let (texts, mut mutants) = find(&files)?;
    let all = mutants.len();
    let same = same::listed(&mutants, &files)?;
    let rooms: HashSet<String> = files.iter().filter_map(|file| room(file)).map(str::to_owned).collect();
    let mut without = HashSet::new();
    loop {
        let places = write(&copy, &texts, &mutants, &rooms, &without)?;
        let refused = suite::refused(&copy, &target, &command(&["check", "--lib"], rooms.iter()), &places)?;
        if refused.is_empty() {
            break;
        }
        without.extend(refused);
    }
    mutants.retain(|mutant| !without.contains(&mutant.number));
    println!("{all} mutants in {} files, and {} of them compile", files.len(), mutants.len());
    mutants.retain(|mutant| !same.contains(&mutant.number));
    println!("{} of them are listed as ones that change nothing", same.len());

    let tested: BTreeSet<String> = rooms.iter().flat_map(|room| tested_by(room)).collect();
    let tested: Vec<String> = tested.into_iter().collect();
    let words = |words: &[&str], packages: &[String]| command(words, packages.iter());
    let mut suite = Suite::new(&copy, &target, &tested, words, &scratch)?;
    println!("{} tests pass with none of them, in {:.0} s", suite.tests.len(), suite.seconds());

    let list = scratch.join("missed.txt");
    if only_missed {
        let missed = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        let missed: HashSet<&str> = missed.lines().collect();
        mutants.retain(|mutant| missed.contains(mutant.line().as_str()));
    }
    let mutants: Vec<Mutant> = mutants.into_iter().skip(offset % every).step_by(every).collect();
    let (mut missed, mut sums) = (Vec::new(), BTreeMap::<&str, (usize, usize)>::new());
    for of_file in mutants.chunk_by(|a, b| a.file == b.file) {
        let before = missed.len();
        for mutant in of_file {
            match suite.notices(mutant.number)? {
                Some(true) => continue,
                Some(false) => println!("{}", mutant.line()),
                None => println!("{} (no test comes here)", mutant.line()),
            }
            missed.push(mutant.line());
        }
        let caught = of_file.len() - (missed.len() - before);
        let folder = of_file[0].file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for of in [folder, "all"] {
            let sum = sums.entry(of).or_default();
            *sum = (sum.0 + caught, sum.1 + of_file.len());
        }
        println!("{}: {}", of_file[0].file, share(caught, of_file.len()));
    }
    fs::write(&list, missed.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    for (folder, (caught, all)) in &sums {
        println!("{folder}: {}", share(*caught, *all));
    }
    println!("those that no test noticed: {}; --missed tries them again", list.display());
    Ok(())
}

fn share(caught: usize, all: usize) -> String {
    format!("{caught} of {all} noticed, {:.1} %", 100.0 * caught as f64 / all.max(1) as f64)
}

/// The file, or all Rust files of the folder but tests and generated ones.
fn collect(path: &Path, files: &mut Vec<String>) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_file() {
        let path = path.to_str().ok_or(format!("{}: a name that is no text", path.display()))?;
        match room(path) {
            Some(room) if Path::new(&library(room)).is_file() => files.push(path.to_owned()),
            _ => return Err(format!("{path} is no part of a library in crates/")),
        }
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .map_err(|error| format!("{}, seen from the root of the project: {error}", path.display()))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for entry in entries.iter().filter(|_| name != "generated") {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if entry.is_dir() || name.ends_with(".rs") && !name.ends_with("tests.rs") {
            collect(entry, files)?;
        }
    }
    Ok(())
}

/// The texts of the files, and all mutants in them.
fn find(files: &[String]) -> Result<(BTreeMap<String, String>, Vec<Mutant>), String> {
    let (mut texts, mut mutants) = (BTreeMap::new(), Vec::new());
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let next = mutants.len() as u32 + 1;
        mutants.extend(change::mutants(file, &text, next).map_err(|error| format!("{file}: {error}"))?);
        texts.insert(file.clone(), text);
    }
    Ok((texts, mutants))
}

/// Where each mutant lies in its file of the copy.
type Places = BTreeMap<String, Vec<(u32, std::ops::Range<usize>)>>;

/// Writes the copy.
fn write(
    copy: &Path,
    texts: &BTreeMap<String, String>,
    mutants: &[Mutant],
    rooms: &HashSet<String>,
    without: &HashSet<u32>,
) -> Result<Places, String> {
    let (mut changed, mut places) = (BTreeMap::new(), Places::new());
    for (file, text) in texts {
        let start = mutants.partition_point(|mutant| mutant.file < *file);
        let of_file: &[Mutant] =
            mutants[start..].split(|mutant| mutant.file != *file).next().unwrap_or_default();
        let (text, found) = change::apply(text, of_file, without);
        changed.insert(file.clone(), text);
        places.insert(file.clone(), found);
    }
    let module = change::MODULE.replace("{COUNT}", &(mutants.len() + 1).to_string());
    for file in rooms.iter().map(|room| library(room)) {
        let text = match changed.remove(&file) {
            Some(text) => text,
            None => fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?,
        };
        changed.insert(file, text + &module);
    }
    tree::write(copy, &changed)?;
    Ok(places)
}

/// The package that a file belongs to.
fn room(file: &str) -> Option<&str> {
    file.strip_prefix("crates/")?.split_once("/src/").map(|(room, _)| room)
}

fn library(room: &str) -> String {
    format!("crates/{room}/src/lib.rs")
}

/// The packages whose tests are about a package. The core is tested by the library that is built on it.
fn tested_by(room: &str) -> Vec<String> {
    let others: &[&str] = match room {
        "tilework-core" => &["tilework"],
        "tilework-files" => &["tilework-cli"],
        _ => &[],
    };
    [room].iter().chain(others).map(|&name| name.to_owned()).collect()
}

/// The words for cargo, with the features that the tests of these packages use.
fn command<'a>(words: &[&str], packages: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    for package in packages {
        words.extend(["--package".to_owned(), package.clone()]);
        words.extend(match package.as_str() {
            "tilework" => vec!["--features=tilework/proto".to_owned()],
            "tilework-cli" => vec!["--features=tilework-cli/full".to_owned()],
            _ => Vec::new(),
        });
    }
    words
}
