//! `convert` of files that hold many arrays by name.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tilework::words::short_bytes;
use tilework::{Element, Error, System};
use tilework_copy::Threads;
use tilework_files::container::{
    Change, Container, Content, Format, How, Job, Rename, Target, Written, write, write_elsewhere,
    write_unnamed,
};
use tilework_files::is_in_memory;

use crate::args::{Args, ConvertArgs, FileFormat};
use crate::becomes::{Becomes, Wish};
use crate::convert::{Failure, WORTH_TELLING, ends_in_npy};
use crate::fetch::{fetch, note_memory};
use crate::ls;
use crate::output::{Output, Stop};
use crate::progress::Progress;
use crate::stores;

/// The bytes of arrays in a shard where nobody says another number, as in the libraries that write shards.
const SHARD: u64 = 5_000_000_000;

/// Whether IN or OUT holds arrays by name, or an option is given that only such files know.
pub fn is_many(convert: &ConvertArgs) -> bool {
    let is_asked = !convert.only.is_empty()
        || !convert.rename.is_empty()
        || !convert.pad.is_empty()
        || convert.transposed
        || convert.format.is_some()
        || convert.shard_size.is_some()
        || convert.compress.is_some()
        || convert.memory.is_some();
    let is_far =
        [&convert.input, &convert.output].into_iter().any(|path| stores::is_address(Path::new(path)));
    if is_asked || is_far || is_zarr(convert) {
        return true;
    }
    // How the bytes of IN lie was said, so they are taken as they are.
    if convert.input == "-" || convert.output == "-" || convert.skip.is_some() || convert.from.is_some() {
        return false;
    }
    let is_single =
        || matches!(target(convert), Err(_) | Ok(Target { format: Format::Npy, folder: None, .. }));
    match Container::format_of(Path::new(&convert.input)) {
        None => false,
        // One array to another, or to a raw file.
        Some(found) if found == Format::Npy || ends_in_npy(&convert.input) => !is_single(),
        Some(_) => true,
    }
}

/// Whether OUT is a store by its name.
fn is_zarr(convert: &ConvertArgs) -> bool {
    let ending = Path::new(&convert.output).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("zarr"))
}

/// What OUT is, by its name and the options.
fn target(convert: &ConvertArgs) -> tilework::Result<Target> {
    let path = Path::new(&convert.output);
    let name = convert.output.to_string_lossy();
    let given = convert.format.map(|format| match format {
        FileFormat::Safetensors => Format::Safetensors,
        FileFormat::Npz => Format::Npz,
        FileFormat::Gguf => Format::Gguf,
        FileFormat::Npy => Format::Npy,
        FileFormat::Zarr => Format::Zarr,
    });
    let transposed = convert.transposed;
    if given == Some(Format::Zarr) || given.is_none() && is_zarr(convert) {
        if convert.shard_size.is_some() {
            return Err(Error::new("--shard-size of a Zarr store")
                .rule("how large its chunks and shards are is part of the layout")
                .accepts("--to 'shards (1024, 1024) chunks (256, 256)'"));
        }
        return Ok(Target { format: Format::Zarr, folder: None, transposed });
    }
    if convert.compress.is_some() {
        return Err(Error::new(format!("--compress, and {name} is no Zarr store"))
            .rule("chunks of a store are compressed, and nothing else that is written")
            .accepts("a name that ends in .zarr, or --format zarr"));
    }
    let is_folder = name.ends_with(std::path::is_separator) || convert.shard_size.is_some();
    if is_folder || path.is_dir() {
        let format = given.unwrap_or(Format::Safetensors);
        return Ok(Target { format, folder: Some(convert.shard_size.unwrap_or(SHARD)), transposed });
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let named = match ending.as_deref() {
        Some("safetensors") => Some(Format::Safetensors),
        Some("npz") => Some(Format::Npz),
        Some("gguf") => Some(Format::Gguf),
        Some("npy") => Some(Format::Npy),
        _ => None,
    };
    let format = given.or(named).ok_or_else(|| {
        Error::new(format!("{name} as the file for arrays with names"))
            .rule("its name says what it is written in")
            .accepts(
                "a name that ends in .safetensors, .npz, .gguf, .zarr or .npy, a folder such as OUT/, or --format",
            )
    })?;
    Ok(Target { format, folder: None, transposed })
}

/// What only files with one array know.
fn refuse_single(convert: &ConvertArgs) -> tilework::Result<()> {
    let fail = |what: &str| {
        Err(Error::new(format!("{what}, of files that hold many arrays"))
            .rule("these say themselves how their arrays lie and where they are")
            .accepts("files by their names, without --from, --skip and --trailing"))
    };
    match convert {
        _ if convert.input == "-" || convert.output == "-" => fail("standard input or output"),
        _ if convert.from.is_some() => fail("--from"),
        _ if convert.skip.is_some() => fail("--skip"),
        _ if convert.trailing => fail("--trailing"),
        _ => Ok(()),
    }
}

pub fn run(convert: &ConvertArgs, args: &Args, output: &mut Output) -> Result<Done, Failure> {
    refuse_single(convert)?;
    let target = target(convert)?;
    let out = Path::new(&convert.output);
    let scratch = stores::scratch_of(out);
    let container = stores::open(Path::new(&convert.input), convert.dtype, &scratch)?;
    let chosen = ls::only(&container, &convert.only)?;
    let renames =
        convert.rename.iter().map(|text| Rename::new(text)).collect::<tilework::Result<Vec<Rename>>>()?;
    let wish = Wish::new(convert, target.format)?;
    let (mut jobs, mut kept) = (Vec::with_capacity(chosen.len()), Vec::new());
    for at in chosen {
        let tensor = &container.tensors()[at];
        let Becomes { change, why } = wish.of(tensor, args)?;
        let name = renames.iter().find_map(|rename| rename.apply(&tensor.name));
        let name = name.unwrap_or_else(|| tensor.name.clone());
        kept.extend(why.map(|(what, why)| Kept { name: name.clone(), what, why: why.found().to_owned() }));
        jobs.push(Job { name, tensor, change });
    }
    wish.was_of_use(kept.len() < jobs.len() || jobs.is_empty(), &kept)?;
    refuse_unfit(&jobs, &target)?;
    // A file in a store would be a part of it.
    if container.format() == Format::Zarr {
        stores::apart(Path::new(&convert.input), out)?;
    }
    // Before anything is fetched.
    let is_sent = target.format != Format::Zarr && stores::is_address(out);
    let object = if is_sent { stores::NewObject::of(out)? } else { None };
    if let Some(lists) = without_a_type(&jobs, target.format) {
        output.note(&lists).map_err(Failure::Stop)?;
    }
    fetch(&container, jobs.iter().map(|job| job.tensor), &scratch, output)?;
    let pool = convert.threads.map_or_else(Threads::all, |threads| Threads::new(threads.into()));
    let bytes = |content: &Content| content.stored_bytes(target.format, "").unwrap_or(0);
    let total = jobs.iter().map(|job| bytes(&job.content())).fold(0, u64::saturating_add);
    if is_sent && is_in_memory(&scratch) {
        let at_a_time = target.folder.map_or(total, |limit| total.min(limit));
        note_memory(at_a_time, "are written in", &scratch, output);
    }
    let progress = Progress::new(total, output.look.ascii);
    let how = How {
        pool: &pool,
        memory: convert.memory,
        check: convert.check,
        progress: &|done| progress.update(done),
    };
    let written = match (target.format, &object, target.folder) {
        (Format::Zarr, ..) => stores::write(&container, &jobs, convert.compress.as_deref(), out, &how),
        (_, None, _) => write(&container, &jobs, &target, out, &how),
        (_, Some(_), Some(limit)) => {
            let begin = |job: &str| stores::new_folder(out, job);
            write_elsewhere(&container, &jobs, (&target, limit), (out, &scratch, &begin), &how)
        }
        (_, Some(object), None) => {
            write_unnamed(&container, &jobs, &target, (out, &scratch), &how).and_then(|(file, written)| {
                progress.finish();
                send(object, &file, written.bytes, output.look.ascii)?;
                Ok(written)
            })
        }
    };
    progress.finish();
    let written = written?;
    let moved = jobs.iter().filter(|job| matches!(job.change, Change::Move(_))).count();
    let contents: Vec<Content> = jobs.iter().map(Job::content).collect();
    let is_list = |content: &&Content| stores::is_stored_as_list(content, target.format, target.transposed);
    let lists: Vec<&Content> = contents.iter().filter(is_list).collect();
    let has_order = |content: &&&Content| !stores::is_stored_as_list(content, target.format, true);
    let is_numpy = matches!(target.format, Format::Npy | Format::Npz);
    let mut no_words: Vec<Element> = contents
        .iter()
        .filter_map(|content| match content {
            Content::Array(array) if is_numpy && numpy_lacks(array.element) => Some(array.element),
            _ => None,
        })
        .collect();
    no_words.dedup();
    // One npy file has no room for a note on its layout.
    let says = match (&target, jobs.first().map(Job::content)) {
        (Target { format: Format::Npy, folder: None, .. }, Some(Content::Array(array))) => {
            let is_columns =
                || array.fortran().is_ok_and(|columns| columns.layout.same_buffer(&array.layout).is_yes());
            let is_lost = numpy_lacks(array.element) || array.order().is_some() && !is_columns();
            is_lost.then(|| array.said.to_string())
        }
        _ => None,
    };
    Ok(Done {
        says,
        input: container.name().to_owned(),
        from: container.kind(),
        output: convert.output.to_string_lossy().into_owned(),
        to: target.format,
        read: jobs.iter().map(|job| job.tensor.bytes()).fold(0, u64::saturating_add),
        arrays: jobs.len(),
        moved,
        kept,
        lists: lists.len(),
        ordered_lists: lists.iter().filter(has_order).count(),
        no_words,
        replaced: is_same_file(&convert.input, &convert.output),
        left_out: container.left_out(target.format).into_iter().map(str::to_owned).collect(),
        checked: convert.check,
        written,
    })
}

/// Sends a file, and says how far it is.
fn send(object: &stores::NewObject, file: &File, bytes: u64, ascii: bool) -> tilework::Result<()> {
    let progress = Arc::new(Progress::new(bytes, ascii));
    let told = Arc::clone(&progress);
    let sent = object.send(file, Arc::new(move |done| told.update(done)));
    progress.finish();
    sent
}

/// The most names that a message says.
const NAMES: usize = 3;

/// Refuses arrays that the format cannot hold: all of them at once, as they are left out at once.
fn refuse_unfit(jobs: &[Job], target: &Target) -> tilework::Result<()> {
    let refused = |job: &Job| job.content().stored_bytes(target.format, &job.name).err();
    let unfit: Vec<(&Job, Error)> = jobs.iter().filter_map(|job| Some((job, refused(job)?))).collect();
    let (count, format) = (unfit.len(), target.format.name());
    if count < 2 {
        return unfit.into_iter().next().map_or(Ok(()), |(_, error)| Err(error));
    }
    let whys = unfit.iter().take(NAMES).map(|(_, error)| {
        let rule = error.broken_rule().map(|rule| format!(" ({rule})")).unwrap_or_default();
        format!("{}{rule}", error.found())
    });
    let accepts = match count {
        _ if count == jobs.len() => "another format".to_owned(),
        // As many patterns as anybody types.
        ..=8 => {
            let others: Vec<String> =
                unfit.iter().map(|(job, _)| format!("--only '!{}'", job.tensor.name)).collect();
            format!("{} for all others", others.join(" "))
        }
        _ => "--only PATTERN for others".to_owned(),
    };
    let found = format!("{count} of {} arrays that do not go into {format}", jobs.len());
    Err(Error::new(found)
        .rule(format!("{}{}", whys.collect::<Vec<_>>().join("; "), and_more(count)))
        .accepts(accepts))
}

/// What is said before arrays are written whose type the format does not have.
fn without_a_type(jobs: &[Job], format: Format) -> Option<String> {
    let lacks = |job: &Job| match job.content() {
        Content::Array(array) if array.is_unknown_to(format) => Some(array.element.name()),
        _ => None,
    };
    let (names, mut types): (Vec<&str>, Vec<&str>) =
        jobs.iter().filter_map(|job| Some((job.name.as_str(), lacks(job)?))).unzip();
    if names.is_empty() {
        return None;
    }
    types.sort_unstable();
    types.dedup();
    let (format, types, some) = (format.name(), types.join(", "), names[..names.len().min(NAMES)].join(", "));
    let become_lists = if names.len() == 1 { "becomes a list of bytes" } else { "become lists of bytes" };
    Some(format!(
        "{format} has no elements of type {types}: {some}{} {become_lists}, which Tilework reads back, and other programs \
         as bytes",
        and_more(names.len())
    ))
}

/// ` and 4 more`, of names of which the first few are said.
fn and_more(count: usize) -> String {
    match count.saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// An array that keeps something although something else was asked for, and why.
#[derive(Serialize)]
pub struct Kept {
    pub name: String,
    /// Its layout, its type, or both, as blocks.
    pub what: &'static str,
    pub why: String,
}

/// Whether OUT was IN, to be said of a file that is no more what it was.
fn is_same_file(input: &OsStr, output: &OsStr) -> bool {
    let real = |path| std::fs::canonicalize(Path::new(path)).ok();
    real(input).is_some_and(|input| real(output) == Some(input))
}

/// Whether an npy file does not say a type.
fn numpy_lacks(element: Element) -> bool {
    element.name_in(System::Npy).is_none()
}

/// What was done.
pub struct Done {
    /// What the output does not say itself of how its one array lies.
    says: Option<String>,
    input: String,
    from: &'static str,
    output: String,
    to: Format,
    read: u64,
    arrays: usize,
    moved: usize,
    kept: Vec<Kept>,
    /// How many arrays are stored as lists of their places, and of how many of them the layout is only an order.
    lists: usize,
    ordered_lists: usize,
    /// Types that NumPy has no words for, in a file of NumPy's.
    no_words: Vec<Element>,
    /// OUT was IN.
    replaced: bool,
    left_out: Vec<String>,
    written: Written,
    checked: bool,
}

/// Answer of `convert`, of files that hold many arrays.
#[derive(Serialize)]
struct Converted<'a> {
    input: &'a str,
    output: &'a str,
    from_format: &'static str,
    to_format: &'static str,
    arrays: usize,
    moved: usize,
    kept: &'a [Kept],
    /// How many arrays other readers take for lists.
    stored_as_lists: usize,
    metadata_left_out: &'a [String],
    read_back_from: Option<&'a str>,
    read_bytes: u64,
    written_bytes: u64,
    files: usize,
    resumed_files: usize,
    checked: bool,
    seconds: f64,
}

impl Done {
    pub fn say(&self, took: Duration, output: &mut Output) -> Result<(), Stop> {
        if output.json {
            return output.object(&Converted {
                input: &self.input,
                output: &self.output,
                from_format: self.from,
                to_format: self.to.name(),
                arrays: self.arrays,
                moved: self.moved,
                kept: &self.kept,
                stored_as_lists: self.lists,
                metadata_left_out: &self.left_out,
                read_back_from: self.says.as_deref(),
                read_bytes: self.read,
                written_bytes: self.written.bytes,
                files: self.written.files,
                resumed_files: self.written.resumed,
                checked: self.checked,
                seconds: took.as_secs_f64(),
            });
        }
        let mut page = output.new_page();
        let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let size = |bytes: u64| short_bytes(bytes.into());
        let Done { input, output: out, arrays, .. } = self;
        let mut to = format!("{out}: {}", self.to.name());
        if self.replaced {
            to.insert_str(0, "in place of it, ");
        }
        if self.written.files > 1 {
            to.push_str(&format!(", {}", count(self.written.files, "file")));
        }
        let mut rows = vec![
            (
                "from".to_owned(),
                format!("{input}: {}, {}, {}", self.from, count(*arrays, "array"), size(self.read)),
            ),
            ("to".to_owned(), format!("{to}, {}", size(self.written.bytes))),
        ];
        if self.moved > 0 {
            rows.push(("changed".to_owned(), count(self.moved, "array")));
        }
        rows.extend(self.kept_in_words().into_iter().map(|words| ("kept".to_owned(), words)));
        if self.lists > 0 && self.says.is_none() {
            let (lists, ordered) = (count(self.lists, "array"), self.ordered_lists);
            let mut words =
                format!("{lists} as lists of their places, which Tilework reads back as they are");
            if ordered > 0 {
                let which = if ordered == self.lists { "them".to_owned() } else { ordered.to_string() };
                words.push_str(&format!("; with --transposed others read {which} as transposed arrays"));
            }
            rows.push(("stored".to_owned(), words));
        }
        if !self.no_words.is_empty() && self.says.is_none() {
            let names: Vec<&str> = self.no_words.iter().map(|element| element.name()).collect();
            let words = format!("NumPy itself has no {}, and reads their bytes only", names.join(", "));
            rows.push(("types".to_owned(), words));
        }
        if !self.left_out.is_empty() {
            let format = self.to.name();
            rows.push((
                "left out".to_owned(),
                format!("metadata without a place in {format}: {}", self.left_out.join(", ")),
            ));
        }
        if let Some(layout) = &self.says {
            rows.push(("read back".to_owned(), format!("with --from '{layout}', which npy has no word for")));
        }
        if self.written.resumed > 0 {
            let text = format!(
                "{} of an earlier run, with the right checksums",
                count(self.written.resumed, "file")
            );
            rows.push(("there already".to_owned(), text));
        }
        if self.checked {
            rows.push(("checked".to_owned(), "every element and all padding".to_owned()));
        }
        if took >= WORTH_TELLING {
            let rate = (self.read as f64 + self.written.bytes as f64) / took.as_secs_f64() / 1e9;
            rows.push((
                "took".to_owned(),
                format!("{:.1} s, {rate:.2} GB/s read and written", took.as_secs_f64()),
            ));
        }
        page.rows(&rows);
        output.page(&page)
    }

    /// What arrays keep, a line for each reason: with the first few names.
    fn kept_in_words(&self) -> Vec<String> {
        const REASONS: usize = 4;
        let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for Kept { name, what, why } in &self.kept {
            match reasons.iter_mut().find(|reason| (reason.0, reason.1) == (*what, why)) {
                Some(reason) => reason.2.push(name),
                None => reasons.push((what, why, vec![name])),
            }
        }
        let others: usize = reasons.iter().skip(REASONS).map(|reason| reason.2.len()).sum();
        let rest = (others > 0).then(|| format!("the same of {others} more, for other reasons"));
        let words = reasons.iter().take(REASONS).map(|(what, why, names)| {
            let more = and_more(names.len());
            format!("the {what} of {}{more}: {why}", names[..names.len().min(NAMES)].join(", "))
        });
        words.chain(rest).collect()
    }
}
