//! New folders: shards of safetensors with their index, or npy files.
//!
//! The files are written in a folder beside the new one, `.NAME.tilework-unfinished`, each whole or not at all, and that folder
//! gets the name when all are there. A journal in it has the checksum of each file that is complete. A run that was killed
//! leaves it, and the next run of the same job (the same sources, unchanged, to the same files) reads what is there, keeps the
//! files whose bytes have the checksums of the journal, and writes the others.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use tilework::{Error, Result};
use tilework_copy::Mapped;

use super::body::Body;
use super::frame::{Around, Entry, Frame};
use super::json::{Reader, quoted, shown};
use super::write::{Change, How, Job, Planned, WriteError, Written, write_file};
use super::{Container, Format, folder};
use crate::destination::{Destination, NewFile, folder_of, unfinished};
use crate::source::failed;

/// The file that says which files are complete.
const JOURNAL: &str = "journal.json";

/// The file that a run holds locked.
const LOCK: &str = "lock";

/// After as many bytes the journal is written again. More often would take longer than what it spares.
const JOURNAL_BYTES: u64 = 256 << 20;

/// Bytes that are summed at a time.
const CHUNK: usize = 16 << 20;

/// What is written: all arrays, with how each is stored.
pub(super) type What<'a, 'b> = (&'a Container, &'a [Job<'b>], &'a [Body]);

/// Writes a new folder.
///
/// # Errors
/// One that exists and is not empty, another run that writes it, and what one file can be refused for.
pub(crate) fn write(
    (from, jobs, bodies): What,
    (format, limit): (Format, u64),
    out: &Path,
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let files = plan((from, jobs, bodies), format, limit)?;
    is_free(out)?;
    let stage = Stage::open(out)?;
    let job = fingerprint(from, jobs, &files);
    let mut journal = stage.journal(&job)?;
    stage.sweep(&journal)?;
    let mut written = Written { files: files.len(), ..Written::default() };
    let (mut done, mut unsaid) = (0, 0);
    for file in &files {
        let path = stage.path.join(&file.name);
        let bytes: u64 = file.jobs.iter().map(|&job| jobs[job].written()).sum();
        written.bytes += file.frame.bytes;
        if journal.iter().any(|entry| entry.name == file.name) {
            written.resumed += 1;
            done += bytes;
            (how.progress)(done);
            continue;
        }
        let new = new_file(&path)?;
        done = write_file((from, jobs), (&file.jobs, &file.frame), &new, &folder_of(out), how, done)?;
        new.commit()?;
        journal.push(Complete { name: file.name.clone(), bytes: file.frame.bytes, sum: sum(&path)? });
        unsaid += file.frame.bytes;
        if unsaid >= JOURNAL_BYTES || format == Format::Safetensors {
            stage.save(&job, &journal)?;
            unsaid = 0;
        }
    }
    if let Some((name, text)) = list(format, jobs, bodies, &files) {
        let index = new_file(&stage.path.join(&name))?;
        io::Write::write_all(&mut index.file(), text.as_bytes()).map_err(|error| index.failed(&error))?;
        index.commit()?;
        written.bytes += text.len() as u64;
        written.files += 1;
    }
    stage.commit(out)?;
    Ok(written)
}

/// Which array goes into which file.
pub(super) fn plan((from, jobs, bodies): What, format: Format, limit: u64) -> Result<Vec<Planned>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    match format {
        Format::Npy => groups.extend((0..jobs.len()).map(|job| vec![job])),
        Format::Safetensors => {
            let mut room = 0;
            for (job, body) in bodies.iter().enumerate() {
                match groups.last_mut().filter(|_| body.bytes <= room) {
                    Some(group) => group.push(job),
                    None => {
                        groups.push(vec![job]);
                        room = limit.max(body.bytes);
                    }
                }
                room -= body.bytes;
            }
        }
        _ => {
            return Err(Error::new(format!("a folder of {} files", format.name()))
                .rule("shards with an index are safetensors; a folder of single arrays has npy files")
                .accepts("--format safetensors or npy, or the name of a file as OUT"));
        }
    }
    let count = groups.len();
    let planned = groups.into_iter().enumerate().map(|(at, group)| {
        let entries: Vec<Entry> =
            group.iter().map(|&job| Entry { name: &jobs[job].name, body: &bodies[job] }).collect();
        let name = match format {
            Format::Npy => format!("{}.npy", folder::encoded(&jobs[group[0]].name)?),
            _ if count == 1 => "model.safetensors".to_owned(),
            _ => format!("model-{:05}-of-{count:05}.safetensors", at + 1),
        };
        Ok(Planned { name, frame: Frame::new(format, &entries, from)?, jobs: group })
    });
    planned.collect()
}

/// The file that says what is in which file, or how it lies, where there is something to say.
pub(super) fn list(
    format: Format,
    jobs: &[Job],
    bodies: &[Body],
    files: &[Planned],
) -> Option<(String, String)> {
    let object = |lines: Vec<String>, indent: &str| match lines.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{\n{indent}  {}\n{indent}}}", lines.join(&format!(",\n{indent}  "))),
    };
    if format == Format::Npy {
        let noted = jobs.iter().zip(bodies).filter_map(|(job, body)| Some((&job.name, body.note.as_ref()?)));
        let lines: Vec<String> =
            noted.map(|(name, note)| format!("{}: {}", quoted(name), quoted(note))).collect();
        let text = object(vec![format!("{}: {}", quoted(folder::KEY), object(lines.clone(), "  "))], "");
        return (!lines.is_empty()).then(|| (folder::NOTES.to_owned(), text + "\n"));
    }
    if files.len() < 2 {
        return None;
    }
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        let names = file.jobs.iter().map(|&job| &jobs[job].name);
        lines.extend(names.map(|name| format!("{}: {}", quoted(name), quoted(&file.name))));
    }
    lines.sort();
    let total: u64 = bodies.iter().map(|body| body.bytes).sum();
    let parts = vec![
        format!("\"metadata\": {}", object(vec![format!("\"total_size\": {total}")], "  ")),
        format!("\"weight_map\": {}", object(lines, "  ")),
    ];
    Some(("model.safetensors.index.json".to_owned(), object(parts, "") + "\n"))
}

/// What tells this job from others: the sources as they are, and what is made of them.
pub(super) fn fingerprint(from: &Container, jobs: &[Job], files: &[Planned]) -> String {
    let mut text = format!("tilework {}\n", env!("CARGO_PKG_VERSION"));
    from.files.iter().for_each(|held| text.push_str(&format!("{} {:?}\n", held.name, held.stamp)));
    // What stands in chunks may have changed in any of them, so such a job is never the same again.
    if from.format() == Format::Zarr {
        text.push_str(&format!("{:?}\n", std::time::SystemTime::now()));
    }
    for file in files {
        text.push_str(&format!("{} {}\n", file.name, file.frame.bytes));
        if let Around::Fixed(pieces) = &file.frame.around {
            pieces.iter().for_each(|(place, bytes)| text.push_str(&format!("{place} {bytes:?}\n")));
        }
        for &job in &file.jobs {
            let Job { name, tensor, change } = &jobs[job];
            text.push_str(&format!("{name} {:?} {:?}", tensor.stored, tensor.content));
            if let Change::Repack(blocks) = change {
                text.push_str(&format!("{blocks}"));
            }
            if let Change::Move(moved) = change {
                let conversion =
                    moved.relayout.conversion().map(|conversion| (conversion.from(), conversion.to()));
                let dims = moved.relayout.plan().to().dims();
                text.push_str(&format!("{} {dims:?} {:x} {conversion:?}", moved.to.said, moved.fill));
            }
            text.push('\n');
        }
    }
    // No secret hangs on it: whoever may write the folder may write the files.
    let hash = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, &text).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hash(0), hash(1))
}

/// Whether a folder can get this name.
fn is_free(out: &Path) -> Result<()> {
    let name = out.display().to_string();
    let entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(out).is_err() => {
            return Ok(());
        }
        found => found.map_err(|error| failed(&name, &error))?,
    };
    match entries.count() {
        0 => Ok(()),
        count => Err(Error::new(format!("{name} exists, with {count} files in it"))
            .rule("a folder is written as a whole, and none is replaced")
            .accepts("the name of a folder that does not exist")),
    }
}

fn new_file(path: &Path) -> Result<NewFile> {
    match Destination::create(path)? {
        Destination::File(file) => Ok(file),
        Destination::Stream(_) => Err(Error::new(format!("{} is no file", path.display()))),
    }
}

/// The checksum of a file.
fn sum(path: &Path) -> Result<u32> {
    let fail = |error: io::Error| failed(&path.display().to_string(), &error);
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.len() == 0 {
        return Ok(0);
    }
    let map = Mapped::read(&file).map_err(fail)?;
    let mut crc = flate2::Crc::new();
    for chunk in map.chunks(CHUNK) {
        crc.update(chunk);
        map.forget();
    }
    map.intact().map_err(fail)?;
    Ok(crc.sum())
}

/// A file that is complete.
struct Complete {
    name: String,
    bytes: u64,
    sum: u32,
}

/// The folder in which the files are written.
struct Stage {
    path: PathBuf,
    /// Locked as long as this run goes on.
    _lock: File,
}

impl Stage {
    /// Makes it, or finds that of an earlier run.
    fn open(out: &Path) -> Result<Stage> {
        let no_name =
            || Error::new(format!("{} has no name", out.display())).accepts("the name of a new folder");
        let path = unfinished(out).ok_or_else(no_name)?;
        let shown = path.display().to_string();
        let fail = |error: io::Error| failed(&shown, &error);
        match fs::create_dir(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_own(&path)?,
            Err(error) => {
                return Err(fail(error)
                    .rule("a new folder is made beside its name")
                    .accepts("a folder in one that exists and may be written"));
            }
        }
        let lock =
            File::options().create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(fail)?;
        match lock.try_lock() {
            // Systems without locks have nobody to wait for.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Stage { path, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => {
                Err(Error::new(format!("another run writes {}", out.display()))
                    .rule(format!("one run at a time writes in {shown}")))
            }
        }
    }

    /// The files that are complete, by the journal of the same job, and have the checksums that it says.
    fn journal(&self, job: &str) -> Result<Vec<Complete>> {
        let path = self.path.join(JOURNAL);
        let Ok(text) = fs::read(&path) else { return Ok(Vec::new()) };
        // A journal that cannot be read is none.
        let mut found =
            read_journal(&text).ok().filter(|(of, _)| of == job).map(|(_, files)| files).unwrap_or_default();
        found.retain(|file| {
            let path = self.path.join(&file.name);
            let length = fs::metadata(&path).map(|found| found.len());
            length.is_ok_and(|length| length == file.bytes) && sum(&path).is_ok_and(|sum| sum == file.sum)
        });
        Ok(found)
    }

    /// Removes what is not complete, so that it is not in the new folder.
    fn sweep(&self, complete: &[Complete]) -> Result<()> {
        let fail = |error: io::Error| failed(&self.path.display().to_string(), &error);
        for entry in fs::read_dir(&self.path).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            if name != LOCK && !complete.iter().any(|file| name == *file.name) {
                fs::remove_file(self.path.join(name)).map_err(fail)?;
            }
        }
        Ok(())
    }

    fn save(&self, job: &str, files: &[Complete]) -> Result<()> {
        let lines: Vec<String> = files
            .iter()
            .map(|file| format!("{}: [{}, {}]", quoted(&file.name), file.bytes, file.sum))
            .collect();
        let text = format!("{{\"job\": {}, \"files\": {{{}}}}}\n", quoted(job), lines.join(", "));
        let file = new_file(&self.path.join(JOURNAL))?;
        io::Write::write_all(&mut file.file(), text.as_bytes()).map_err(|error| file.failed(&error))?;
        file.commit()
    }

    /// Gives the complete folder its name.
    fn commit(self, out: &Path) -> Result<()> {
        let name = out.display().to_string();
        let fail = |error: io::Error| {
            failed(&name, &error).rule(format!("all files are complete in {}", self.path.display()))
        };
        for own in [JOURNAL, LOCK] {
            match fs::remove_file(self.path.join(own)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
                _ => {}
            }
        }
        // Not every system can do that to a folder.
        let sync = |folder: &Path| File::open(folder).and_then(|folder| folder.sync_all());
        let _ = sync(&self.path);
        fs::rename(&self.path, out).map_err(fail)?;
        let _ = sync(&folder_of(out));
        Ok(())
    }
}

/// Whether a folder that is there already is a folder of this user's: in one that somebody else has prepared, a file could be
/// a link to anywhere.
#[cfg(unix)]
fn is_own(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(path).map_err(|error| failed(&path.display().to_string(), &error))?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o002 == 0 {
        return Ok(());
    }
    Err(Error::new(format!("{} is not a folder of yours", path.display()))
        .rule("an unfinished folder is gone on with by whoever began it")
        .accepts("a folder in which nobody else writes"))
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> Result<()> {
    Ok(())
}

fn read_journal(text: &[u8]) -> Result<(String, Vec<Complete>)> {
    let (mut job, mut files) = (String::new(), Vec::new());
    let mut reader = Reader::new(text);
    reader.object(&mut |reader, key| match key.as_str() {
        "job" => {
            job = reader.string()?;
            Ok(())
        }
        _ => reader.object(&mut |reader, name| {
            let numbers = reader.numbers()?;
            let [bytes, sum] = numbers[..] else { return Err(Error::new(shown(&name))) };
            files.push(Complete { name, bytes, sum: sum as u32 });
            Ok(())
        }),
    })?;
    reader.end()?;
    Ok((job, files))
}
