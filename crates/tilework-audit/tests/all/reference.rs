//! Sums and peaks of real dumps, against a second reading that knows nothing of the first: it splits lines into words,
//! and fills in bytes of memory moment by moment.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use tilework_audit::{Asked, Audit, Audited, Donation, Near};

/// The folders of dumps.
const FOLDERS: [&str; 14] = [
    "cache",
    "cache-asked",
    "conv",
    "cpu-conv",
    "cpu-sharded",
    "loop90",
    "particles",
    "sharded",
    "state",
    "state-donated",
    "tr",
    "training",
    "transformer",
    "undonated",
];

fn files(folder: &str) -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let inside = ["dumps", "compiled"].map(|inside| root.join(inside).join(folder));
    let root = inside.into_iter().find(|root| root.is_dir()).expect("there is such a folder");
    let entries = std::fs::read_dir(root).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(String, String)> = paths
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a file");
            let mut text = String::new();
            match path.extension().is_some_and(|extension| extension == "gz") {
                true => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("text"),
                false => (&bytes[..]).read_to_string(&mut text).expect("text"),
            };
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .filter(|(name, _)| !name.contains("before"))
        .collect();
    files.sort();
    files
}

fn audited(folder: &str) -> Audited {
    let mut audit = Audit::new();
    for (name, text) in files(folder) {
        audit.read(&name, text.as_bytes()).expect("memory is read");
    }
    let mut found = audit.findings(usize::MAX);
    assert!(found.unread.is_empty(), "{folder}: {:?}", found.unread);
    assert_eq!(found.programs.len(), 1, "{folder}");
    found.programs.remove(0)
}

struct Value {
    space: i64,
    /// The first byte and the one behind the last, with all allocations one behind the other.
    bytes: (u64, u64),
    lives: (usize, usize),
}

/// What a dump says of its buffers, and the reserved bytes of each memory space.
fn naive(folder: &str) -> (Vec<Value>, BTreeMap<i64, u64>) {
    let files = files(folder);
    let file = |ending: &str| &files.iter().find(|(name, _)| name.contains(ending)).expect("a file").1;
    let lives: BTreeMap<&str, (usize, usize)> = file("-live-range")
        .lines()
        .filter_map(|line| {
            let (name, range) = line.strip_prefix("    ")?.rsplit_once(':')?;
            let (start, end) = range.split_once('-')?;
            Some((name, (start.parse().ok()?, end.parse().ok()?)))
        })
        .collect();
    let number = |text: &str| -> u64 {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    let behind = |line: &str, mark: &str| line.split_once(mark).map(|(_, rest)| number(rest));
    let (mut values, mut reserved) = (Vec::new(), BTreeMap::new());
    let (mut space, mut start, mut end, mut temporary) = (0, 0, 0, false);
    for line in file("-buffer-assignment").lines() {
        if line.starts_with("allocation ") {
            space = behind(line, "color ").unwrap_or(0) as i64;
            let size = behind(line, "size ").expect("a size");
            *reserved.entry(space).or_insert(0) += size;
            (start, end) = (end, end + size);
            temporary = line.contains("preallocated-temp");
        } else if let Some(value) = line.strip_prefix(" value: <") {
            let name = value.split(' ').nth(1).expect("a name");
            let name = if name.ends_with('}') { name.to_owned() } else { format!("{name}{{}}") };
            let first = start + behind(value, "offset=").expect("an offset");
            let bytes = (first, first + behind(value, "(size=").expect("a size"));
            assert!(bytes.1 <= end, "{folder}: {line}");
            let lives = if temporary { lives[name.as_str()] } else { (0, usize::MAX) };
            values.push(Value { space, bytes, lives });
        }
    }
    (values, reserved)
}

/// How many bytes some buffer of the memory space holds at this time.
fn held(values: &[Value], space: i64, time: usize) -> u64 {
    let there = |value: &&Value| value.space == space && value.lives.0 <= time && time <= value.lives.1;
    let mut spans: Vec<(u64, u64)> = values.iter().filter(there).map(|value| value.bytes).collect();
    spans.sort_unstable();
    let (mut sum, mut until) = (0, 0);
    for (start, end) in spans {
        sum += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    sum
}

#[test]
fn sums_and_peaks_are_those_of_a_second_reading() {
    for folder in FOLDERS {
        let program = audited(folder);
        let (values, reserved) = naive(folder);
        assert_eq!(program.total.buffers, values.len() as u64, "{folder}");
        for space in &program.spaces {
            let number = space.number;
            let own = values.iter().filter(|value| value.space == number);
            let total: u64 = own.map(|value| value.bytes.1 - value.bytes.0).sum();
            assert_eq!(space.total.allocated, total, "{folder} S({number})");
            assert_eq!(space.reserved, reserved.get(&number).copied(), "{folder} S({number})");
            let ends = values.iter().filter(|value| value.lives.1 < usize::MAX).map(|value| value.lives.1);
            let last = ends.max().unwrap_or(0);
            let most = (0..=last).map(|time| held(&values, number, time)).max();
            assert_eq!(space.peak.map(|peak| peak.allocated), most, "{folder} S({number})");
        }
    }
}

#[test]
fn what_is_reserved_is_what_the_compiler_reports() {
    for folder in FOLDERS {
        let files = files(folder);
        let report = files.iter().find(|(name, _)| name.contains("-memory-usage-report"));
        let Some((_, report)) = report else {
            assert_eq!(folder, "loop90", "the others have one");
            continue;
        };
        let mut totals = report.lines().filter_map(|line| line.strip_prefix("Total bytes: "));
        let spaces = audited(folder).spaces;
        for space in spaces {
            let total = totals.next().and_then(|total| total.split(' ').next()?.parse().ok());
            assert_eq!(space.reserved, total, "{folder} S({})", space.number);
        }
    }
}

#[test]
fn every_size_is_what_the_layout_needs() {
    for folder in FOLDERS {
        let contradictions = audited(folder).contradictions;
        assert!(contradictions.is_empty(), "{folder}: {contradictions:?}");
    }
}

#[test]
fn donated_arguments_are_counted_once() {
    // The cache is given back: argument and result are one allocation, and everything else is small.
    let program = audited("cache");
    let cache = 3 * 4 * 8 * 2048 * 60 * 2;
    let peak = program.peak.expect("live ranges").sum;
    assert!((2 * cache..2 * cache + (1 << 17)).contains(&peak.allocated), "{peak:?}");
}

#[test]
fn a_cache_that_is_not_donated_is_copied_and_that_is_said() {
    let program = audited("undonated");
    assert_eq!((program.moved.again, program.moved.again_bytes, program.moved.changes), (1, 256 << 20, 0));
    let copy = &program.moves[0];
    assert_eq!(
        (copy.name.as_str(), copy.argument.as_deref(), copy.bytes),
        ("copy.3", Some("cache"), 256 << 20)
    );
    assert_eq!((copy.changes_layout, copy.donation), (false, Some(Donation::Removes)));
    assert_eq!((copy.near, copy.near_place.line), (Near::Read, Some(9)));
}

#[test]
fn a_loop_from_90_to_100_runs_ten_times() {
    let program = audited("loop90");
    let copy = program.moves.iter().find(|change| change.name == "copy.11").expect("a copy in the loop");
    assert_eq!((copy.runs, copy.runs_known, copy.bytes), (10, true, 10 * 300 * 300 * 4));
    assert_eq!(program.moved.unknown_loops, 0);
}

#[test]
fn what_is_predicted_of_other_layouts_is_what_the_compiler_then_does() {
    let (before, after) = (audited("cache"), audited("cache-asked"));
    let advice = &before.advice[..];
    assert_eq!(advice.len(), 2);
    for (number, each) in (0..).zip(advice) {
        assert_eq!((each.asked, each.number, each.result), (Asked::Both, number, Some(number)));
        // What the compiler then has, and in the main memory.
        let asked = each.instead.to_string();
        assert_eq!(asked, "bf16[3,4,8,2048,60]{4,2,1,3,0:T(8,128)(2,1)}");
        assert!(after.largest.iter().any(|buffer| buffer.shape == each.instead), "{asked}");
    }
    let names: Vec<&str> = advice.iter().map(|each| each.name.as_str()).collect();
    assert_eq!(names, ["cache['k']", "cache['v']"]);
    let spared: u64 = advice.iter().map(|each| each.saves).sum();
    let more: u64 = advice.iter().map(|each| each.instead_allocated - each.allocated).sum();
    let near = |a: u64, b: u64| a.abs_diff(b) <= b / 20;
    assert!(near(before.moved.bytes - spared, after.moved.bytes), "{} {spared}", before.moved.bytes);
    let peak = |program: &Audited| program.peak.as_ref().map_or(0, |peak| peak.sum.allocated);
    assert!(near(peak(&before) + more, peak(&after)), "{} {more} {}", peak(&before), peak(&after));
}

#[test]
fn a_message_that_names_a_program_says_what_its_dump_does_not() {
    let message = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO \
                   temporaries (30.50G) exceeds available HBM (15.75G). HLO module: jit_step.\n";
    let read = |message: &str| {
        let mut audit = Audit::new();
        audit.read("message", message.as_bytes()).expect("memory is read");
        for (name, text) in files("training") {
            audit.read(&name, text.as_bytes()).expect("memory is read");
        }
        audit.findings(9).programs
    };
    let [program] = &read(message)[..] else { panic!("the message is about the dump") };
    assert_eq!((program.message.capacity, program.peak.is_some()), (Some(63 << 28), true));
    assert_eq!(read(&message.replace("jit_step", "jit_other")).len(), 2);
}

#[test]
fn donating_an_argument_spares_what_was_predicted() {
    let (before, after) = (audited("state"), audited("state-donated"));
    let [state] = &before.donatable[..] else { panic!("{:?}", before.donatable) };
    assert_eq!((state.name.as_str(), state.bytes), ("state['c']", 16 << 20));
    let peak = |program: &Audited| program.peak.as_ref().map_or(0, |peak| peak.sum.allocated);
    let predicted = peak(&before) - before.donatable_bytes;
    assert!(predicted.abs_diff(peak(&after)) <= peak(&after) / 20, "{predicted} {}", peak(&after));
    assert_eq!((after.donatable_bytes, after.donatable.len()), (0, 0));
    assert_eq!(audited("training").donatable_bytes, 0);
}
