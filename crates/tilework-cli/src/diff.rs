//! `diff`: the contents of two files of named arrays, by name.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use tilework::Error;
use tilework_files::container::{
    Compared, Container, Different, Format, Place, Rename, Tensor, Tolerance, compare,
};

use crate::NO;
use crate::args::DiffArgs;
use crate::fetch::fetch;
use crate::ls::{self, Chosen};
use crate::output::{Output, Stop};

/// Compares two files and says what differs.
pub fn diff(diff: &DiffArgs, output: &mut Output) -> Result<(), Stop> {
    match run(diff, output) {
        Ok(found) => found.say(output),
        Err(error) => output.bad(&error, "", None),
    }
}

/// The most names of arrays that only one side has.
const NAMES: usize = 8;

/// The most arrays whose differences are shown.
const SHOWN: usize = 20;

/// What was found out.
#[derive(Serialize)]
struct Found {
    a: String,
    b: String,
    /// Whether both have the same arrays with the same elements.
    same: bool,
    equal: usize,
    different: Vec<Differs>,
    only_in_a: Vec<String>,
    only_in_b: Vec<String>,
}

#[derive(Serialize)]
struct Differs {
    name: String,
    /// Why the elements are not compared; null where they are.
    incomparable: Option<String>,
    /// How many elements differ.
    elements: u64,
    /// The largest difference of two numbers.
    most: Option<f64>,
    first: Vec<First>,
}

#[derive(Serialize)]
struct First {
    index: Vec<u64>,
    values: [String; 2],
}

impl Differs {
    fn new(name: &str, incomparable: Option<String>, found: Different) -> Differs {
        let first = found.first.into_iter().map(|Place { index, values }| First { index, values });
        Differs {
            name: name.to_owned(),
            incomparable,
            elements: found.count,
            most: found.most,
            first: first.collect(),
        }
    }
}

fn run(diff: &DiffArgs, output: &mut Output) -> tilework::Result<Found> {
    let scratch = std::env::temp_dir();
    let tolerance = Tolerance { absolute: diff.tolerance, relative: diff.relative };
    let (a, b) = (ls::open(&diff.a, &scratch)?, ls::open(&diff.b, &scratch)?);
    let renames =
        diff.rename.iter().map(|text| Rename::new(text)).collect::<tilework::Result<Vec<Rename>>>()?;
    let renamed =
        |name: &str| renames.iter().find_map(|rename| rename.apply(name)).unwrap_or_else(|| name.to_owned());
    let mut names: Vec<String> = a.tensors().iter().map(|tensor| renamed(&tensor.name)).collect();
    let of_b = || b.tensors().iter().map(|tensor| tensor.name.as_str());
    let all = names.iter().map(String::as_str).chain(of_b());
    let chosen = Chosen::new(all, &diff.only, &format!("{} and {}", a.name(), b.name()))?;
    // An npy file or an array of Zarr says no name, and goes by its own: it is compared with the one that is wanted of the other
    // side, which is called as that is in B.
    let is_alone =
        |side: &Container| side.tensors().len() == 1 && matches!(side.format(), Format::Npy | Format::Zarr);
    let wanted = |side: &Container, names: &[&str]| -> Vec<usize> {
        let numbers = 0..names.len();
        if is_alone(side) { numbers.collect() } else { numbers.filter(|&at| chosen.has(names[at])).collect() }
    };
    let in_a = wanted(&a, &names.iter().map(String::as_str).collect::<Vec<&str>>());
    let in_b = wanted(&b, &of_b().collect::<Vec<&str>>());
    let pair = match (&in_a[..], &in_b[..]) {
        (&[at], &[other]) if is_alone(&a) || is_alone(&b) => Some((at, b.tensors()[other].name.as_str())),
        _ => None,
    };
    if let Some((at, other)) = pair {
        other.clone_into(&mut names[at]);
    }
    let is_wanted = |name: &str| pair.map_or_else(|| chosen.has(name), |(_, other)| name == other);
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().filter(|name| is_wanted(name)).find(|name| !seen.insert(name.as_str()))
    {
        return Err(
            Error::new(format!("two arrays called {twice:?}, as --rename has it")).rule("names differ")
        );
    }
    let others: HashMap<&str, &Tensor> =
        b.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let mut found = Found {
        a: a.name().to_owned(),
        b: b.name().to_owned(),
        same: true,
        equal: 0,
        different: Vec::new(),
        only_in_a: Vec::new(),
        only_in_b: Vec::new(),
    };
    let pairs = || {
        let pairs = a.tensors().iter().zip(&names).filter(|(_, name)| is_wanted(name));
        pairs.filter_map(|(tensor, name)| Some((tensor, *others.get(name.as_str())?)))
    };
    fetch(&a, pairs().map(|(tensor, _)| tensor), &scratch, output)?;
    fetch(&b, pairs().map(|(_, other)| other), &scratch, output)?;
    for (tensor, name) in a.tensors().iter().zip(&names).filter(|(_, name)| is_wanted(name)) {
        let Some(other) = others.get(name.as_str()) else {
            found.only_in_a.push(name.clone());
            continue;
        };
        match compare((&a, tensor), (&b, other), tolerance, &scratch)? {
            Compared::Equal => found.equal += 1,
            Compared::Different(how) => found.different.push(Differs::new(name, None, how)),
            Compared::Incomparable(why) => {
                let none = Different { most: None, ..Different::default() };
                found.different.push(Differs::new(name, Some(why), none));
            }
        }
    }
    let is_missing = |tensor: &&Tensor| !seen.contains(tensor.name.as_str()) && is_wanted(&tensor.name);
    found.only_in_b.extend(b.tensors().iter().filter(is_missing).map(|tensor| tensor.name.clone()));
    found.same = found.different.is_empty() && found.only_in_a.is_empty() && found.only_in_b.is_empty();
    Ok(found)
}

impl Found {
    fn say(&self, output: &mut Output) -> Result<(), Stop> {
        if !self.same {
            output.exit_with(NO);
        }
        if output.json {
            return output.object(self);
        }
        let count = |count: usize| format!("{count} array{}", if count == 1 { "" } else { "s" });
        let mut page = output.new_page();
        let mut rows = vec![("equal".to_owned(), count(self.equal))];
        for (file, names) in [(&self.a, &self.only_in_a), (&self.b, &self.only_in_b)] {
            if !names.is_empty() {
                let some = names[..names.len().min(NAMES)].join(", ");
                let more = names.len().saturating_sub(NAMES);
                let more =
                    if more > 0 { format!(" and {more} more, which --json names") } else { String::new() };
                rows.push((format!("only in {file}"), format!("{}: {some}{more}", count(names.len()))));
            }
        }
        if !self.different.is_empty() {
            let more = self.different.len().saturating_sub(SHOWN);
            let shown =
                if more > 0 { format!(", of them {SHOWN} here and all with --json") } else { String::new() };
            rows.push(("different".to_owned(), format!("{}{shown}", count(self.different.len()))));
        }
        page.rows(&rows);
        for one in self.different.iter().take(SHOWN) {
            page.heading(&one.name);
            page.rows(&one.rows());
        }
        output.page(&page)
    }
}

impl Differs {
    fn rows(&self) -> Vec<(String, String)> {
        if let Some(why) = &self.incomparable {
            return vec![("differs".to_owned(), why.clone())];
        }
        let most = self.most.map(|most| format!(", the largest difference is {most:?}")).unwrap_or_default();
        let elements = if self.elements == 1 { "element" } else { "elements" };
        let mut rows = vec![("differs".to_owned(), format!("{} {elements}{most}", self.elements))];
        for First { index, values: [a, b] } in &self.first {
            let index: Vec<String> = index.iter().map(u64::to_string).collect();
            rows.push((format!("at {}", index.join(",")), format!("{a} and {b}")));
        }
        rows
    }
}
