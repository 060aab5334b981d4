//! `convert`: a file's array in another layout, in another file.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use tilework::dialect::Known;
use tilework::{Error, PlanOptions};
use tilework_copy::{Conversion, Relayout, Threads};
use tilework_explain::size;
use tilework_files::container::WriteError;
use tilework_files::{
    Destination, Move, Part, Source, StreamError, descr_of, element_of, little_endian, npy, numpy_reads,
};

use crate::NO;
use crate::args::{Args, ConvertArgs};
use crate::many;
use crate::output::{Output, Stop};
use crate::progress::Progress;
use crate::side::Side;
use crate::subject::Bad;

/// What takes no longer than this is not worth telling how long it took.
pub const WORTH_TELLING: Duration = Duration::from_millis(500);

/// Converts a file and says what was done.
pub fn convert(convert: &ConvertArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let start = Instant::now();
    let outcome = match many::is_many(convert) {
        true => many::run(convert, args, output).map(Outcome::Many),
        false => run(convert, args, output).map(Outcome::One),
    };
    match outcome {
        Ok(Outcome::One(done)) => done.say(start.elapsed(), output),
        Ok(Outcome::Many(done)) => done.say(start.elapsed(), output),
        Err(Failure::Bad(bad)) => output.bad(&bad.error, &bad.text, None),
        Err(Failure::Differs(error)) => {
            output.exit_with(NO);
            output.note(&format!("--check failed, and nothing was written: {error}"))
        }
        Err(Failure::Stop(stop)) => Err(stop),
    }
}

/// What was done: with one array, or with many by name.
enum Outcome {
    One(Done),
    Many(many::Done),
}

/// Why nothing was written.
pub enum Failure {
    Bad(Bad),
    /// What was written is not what was to be written.
    Differs(Error),
    Stop(Stop),
}

impl From<Bad> for Failure {
    fn from(bad: Bad) -> Failure {
        Failure::Bad(bad)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Bad(Bad::new(error, ""))
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        match error {
            WriteError::Bad(error) => error.into(),
            WriteError::Differs(error) => Failure::Differs(error),
        }
    }
}

fn run(convert: &ConvertArgs, args: &Args, output: &Output) -> Result<Done, Failure> {
    let streams_out = convert.output == "-";
    if streams_out && output.json {
        let error = Error::new("--json and the array, both on standard output")
            .accepts("the name of a file as OUT, or no --json");
        return Err(error.into());
    }
    let mut source = match convert.input.as_os_str() {
        stdin if stdin == "-" => Source::stream("standard input", io::stdin()),
        path => Source::open(Path::new(path))?,
    };
    let mut header = header(&mut source, convert)?;
    let reversed = header.as_mut().and_then(|header| {
        let (descr, width) = little_endian(&header.descr)?;
        header.descr = descr;
        Some(width)
    });
    let from = from_side(convert, header.as_ref(), &source, args)?;
    let (to, conversion) = from.read_to(convert.to.as_ref(), convert.convert, args)?;
    let fill = fill(convert, &to)?;
    let as_npy = !streams_out && ends_in_npy(&convert.output);
    let stored = as_npy.then(|| {
        let kept = header.as_ref().filter(|_| conversion.is_none());
        let kept = kept.map(|header| header.descr.clone()).filter(|descr| numpy_reads(descr));
        let descr = kept.unwrap_or_else(|| descr_of(to.element));
        npy::Header::of(&to.layout, to.said.minor_to_major().as_deref(), &descr)
    });
    let head = stored.as_ref().map_or(Ok(Vec::new()), npy::Header::bytes)?;

    let part = Part {
        skip: header.as_ref().map_or(convert.skip.unwrap_or(0), |header| header.data_offset),
        trailing: convert.trailing,
    };
    // Before the array is read, which may be a long stream: a place that cannot be written is an error at once.
    let destination = match streams_out {
        true => Destination::Stream(Box::new(io::stdout())),
        false => Destination::create(Path::new(&convert.output))?,
    };
    if convert.check && matches!(destination, Destination::Stream(_)) {
        let error = Error::new("--check, but OUT cannot be read again").accepts("the name of a file as OUT");
        return Err(error.into());
    }
    if let Some(width) = reversed {
        source.reverse(from.layout.bytes(), part, width)?;
    }
    let bytes = source.array(from.layout.bytes(), part)?;
    // New files are all zeros; only streams are told so.
    let streams = matches!(destination, Destination::Stream(_));
    let options = PlanOptions { fill: (streams || fill != 0).then_some(fill), ..PlanOptions::default() };
    let relayout = match conversion {
        Some(conversion) => Relayout::converting(&from.layout, &to.layout, conversion, &options)?,
        None => Relayout::new(&from.layout, &to.layout, &options)?,
    };
    let pool = convert.threads.map_or_else(Threads::all, |threads| Threads::new(threads.into()));
    let job = Move { relayout: &relayout, source: bytes, head: &head, pool: &pool };

    let progress = Progress::new(to.layout.bytes(), output.look.ascii);
    match destination {
        Destination::File(file) => {
            let written = job.to_file(&file, &|done| progress.update(done));
            progress.finish();
            written?;
            if convert.check {
                let checked = job.check(&file, fill);
                // A source that was cut short is nothing like its copy, and that is not the copy's fault.
                job.source.intact()?;
                checked.map_err(Failure::Differs)?;
            }
            file.commit()?;
        }
        Destination::Stream(mut stream) => {
            let written = job.to_stream(&mut *stream, &|done| progress.update(done));
            progress.finish();
            written.map_err(|error| match error {
                StreamError::Data(error) => error.into(),
                StreamError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Failure::Stop(Stop::ClosedPipe)
                }
                StreamError::Io(error) => {
                    Error::new(format!("{}: {error}", name(&convert.output, "standard output"))).into()
                }
            })?;
        }
    }
    Ok(Done {
        silent: streams_out,
        input: name(&convert.input, "standard input"),
        output: name(&convert.output, "standard output"),
        written: job.file_bytes(),
        checked: convert.check,
        reversed: reversed.is_some(),
        conversion,
        fill,
        from,
        to,
        stored,
    })
}

/// The header of an npy file, unless the input is a raw one.
fn header(source: &mut Source, convert: &ConvertArgs) -> Result<Option<npy::Header>, Failure> {
    if convert.skip.is_some() {
        return Ok(None);
    }
    let named = ends_in_npy(&convert.input);
    let head = source.head()?;
    if !named && !npy::is_npy(head) {
        return Ok(None);
    }
    let header = npy::Header::read(head);
    Ok(Some(header.map_err(|error| source.within(&error))?))
}

/// The layout of the input: as given, or as the npy file says.
fn from_side(
    convert: &ConvertArgs,
    header: Option<&npy::Header>,
    source: &Source,
    args: &Args,
) -> Result<Side, Failure> {
    let own = |element| -> Result<Option<Side>, Failure> {
        let Some(header) = header else { return Ok(None) };
        let element = element_of(&header.descr, element).map_err(|error| source.within(&error))?;
        Ok(Some(Side::dense(element, &header.shape, header.fortran_order)?))
    };
    let Some(text) = &convert.from else {
        return own(convert.dtype)?.ok_or_else(|| {
            Error::new(format!("{} is a raw file", source.name()))
                .rule("a raw file does not say how it lies")
                .accepts("--from LAYOUT, such as --from 'f32[3,5]'")
                .into()
        });
    };
    // The braces of a shape alone need the file's own dimensions and type, which other texts may pass over.
    let known = own(convert.dtype);
    let array = known.as_ref().ok().and_then(Option::as_ref);
    let array = array.map(|own| Known::array(own.layout.dims(), own.element)).unwrap_or_default();
    let side = match (Side::read(text, array, args), known) {
        (Ok(side), _) => side,
        (Err(_), Err(why)) => return Err(why),
        (Err(bad), Ok(_)) => return Err(bad.into()),
    };
    if let Some(dtype) = convert.dtype.filter(|&dtype| dtype != side.element) {
        return Err(Error::new(format!("--dtype {dtype} and --from {}", side.said))
            .rule("both say the same element type")
            .accepts("--from alone")
            .into());
    }
    let Some(own) = own(Some(side.element))? else { return Ok(side) };
    let Some(header) = header else { return Ok(side) };
    if header.fortran_order && !own.layout.same_function(&side.layout).is_yes() {
        return Err(Error::new(format!("{} is {} by itself", source.name(), own.said))
            .rule("the order of an array in Fortran order is not silently passed over")
            .accepts(format!(
                "--from {}, or --skip {} to read the bytes after the header as {}",
                own.said, header.data_offset, side.said
            ))
            .into());
    }
    // An npy file that Tilework wrote says the dimensions, or those that lie in memory, or it is the flat buffer.
    let stored = npy::Header::of(&side.layout, side.said.minor_to_major().as_deref(), &header.descr);
    if header.shape.len() > 1 && header.shape != stored.shape && header.shape != side.layout.dims() {
        return Err(Error::new(format!("{} is {} by itself", source.name(), own.said))
            .rule("the dimensions of an npy file are not silently passed over")
            .accepts(format!(
                "--from {}, or --skip {} to read the bytes after the header as {}",
                own.said, header.data_offset, side.said
            ))
            .into());
    }
    Ok(side)
}

/// The bits of an element that padding is filled with.
fn fill(convert: &ConvertArgs, to: &Side) -> Result<u128, Failure> {
    match &convert.fill {
        Some(text) => Ok(to.element.fill_bits(text, to.layout.bits())?),
        None => Ok(to.said.fill().unwrap_or(0)),
    }
}

pub fn ends_in_npy(path: &OsStr) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
}

fn name(path: &OsStr, stream: &str) -> String {
    if path == "-" { stream.to_owned() } else { path.to_string_lossy().into_owned() }
}

/// What was done.
struct Done {
    silent: bool,
    input: String,
    output: String,
    from: Side,
    to: Side,
    stored: Option<npy::Header>,
    written: u64,
    fill: u128,
    conversion: Option<Conversion>,
    checked: bool,
    /// The bytes of the numbers had the other order.
    reversed: bool,
}

/// Answer of `convert`.
#[derive(Serialize)]
struct Converted<'a> {
    input: &'a str,
    output: &'a str,
    from: String,
    to: String,
    elements: u64,
    read_bytes: u64,
    written_bytes: u64,
    /// What the npy file says; null if the output is raw.
    npy: Option<Stored<'a>>,
    /// The bits of an element of padding.
    fill: String,
    checked: bool,
    seconds: f64,
}

/// The header of the npy file.
#[derive(Serialize)]
struct Stored<'a> {
    descr: &'a str,
    fortran_order: bool,
    shape: &'a [u64],
}

impl Done {
    fn say(&self, took: Duration, output: &mut Output) -> Result<(), Stop> {
        if self.silent {
            return Ok(()); // standard output holds the array
        }
        let (from, to) = (&self.from.layout, &self.to.layout);
        if output.json {
            return output.object(&Converted {
                input: &self.input,
                output: &self.output,
                from: self.from.said.to_string(),
                to: self.to.said.to_string(),
                elements: from.len(),
                read_bytes: from.bytes(),
                written_bytes: self.written,
                npy: self.stored.as_ref().map(|stored| Stored {
                    descr: &stored.descr,
                    fortran_order: stored.fortran_order,
                    shape: &stored.shape,
                }),
                fill: format!("{:#x}", self.fill),
                checked: self.checked,
                seconds: took.as_secs_f64(),
            });
        }
        let mut page = output.new_page();
        let side = |side: &Side, name: &str| {
            format!("{name}: {}, {}", side.said, size::bytes(side.layout.bytes().into()))
        };
        let mut rows = vec![
            ("from".to_owned(), side(&self.from, &self.input)),
            ("to".to_owned(), side(&self.to, &self.output)),
        ];
        if let Some(stored) = &self.stored {
            let sizes: Vec<String> = stored.shape.iter().map(u64::to_string).collect();
            let what = match stored.shape == to.dims() {
                true if stored.fortran_order => "in Fortran order",
                true => "in C order",
                false if stored.shape.len() == to.rank() => {
                    "in C order, the dimensions as they lie in memory"
                }
                false => "the flat buffer",
            };
            rows.push(("stored as".to_owned(), format!("{} [{}], {what}", stored.descr, sizes.join(","))));
        }
        if self.reversed {
            rows.push((
                "reversed".to_owned(),
                "the bytes of each number: the most significant came first".to_owned(),
            ));
        }
        if let Some(conversion) = self.conversion {
            rows.push(("converted".to_owned(), format!("{} to {}", conversion.from(), conversion.to())));
        }
        if self.checked {
            rows.push(("checked".to_owned(), "every element and all padding".to_owned()));
        }
        if took >= WORTH_TELLING {
            let rate = (from.bytes() as f64 + to.bytes() as f64) / took.as_secs_f64() / 1e9;
            let text = format!("{:.1} s, {rate:.2} GB/s read and written", took.as_secs_f64());
            rows.push(("took".to_owned(), text));
        }
        page.rows(&rows);
        output.page(&page)
    }
}
