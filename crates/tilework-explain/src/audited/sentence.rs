//! The one sentence that matters, and the words it is made of.

use tilework::{Growth, printable};
use tilework_audit::{Audited, Basis, Place, Shared};

use crate::size;

/// What a program's layouts come to, in one or two sentences. Numbers and their units are joined by no-break spaces.
///
/// ```
/// use tilework_audit::Audit;
/// use tilework_explain::audit_sentence;
/// let mut audit = Audit::new();
/// audit.read("pasted", "s32[300000,8]{1,0:T(8,128)}".as_bytes())?;
/// let found = audit.findings(10);
/// assert_eq!(
///     audit_sentence(&found.programs[0]).replace('\u{a0}', " "),
///     "pasted: s32[300000,8]{1,0:T(8,128)} takes 146.48 MiB for 9.16 MiB of data, because dimension 1 is 8, tiled to \
///      128: 16 times."
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn audit_sentence(program: &Audited) -> String {
    printable(&sentence(program)).into_owned()
}

fn sentence(program: &Audited) -> String {
    let name = match program.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let main = program.main();
    if program.basis == Basis::Nothing {
        return format!("{name}no buffers were found{}.", over(program));
    }
    if program.basis == Basis::Shapes {
        return match program.shapes.first() {
            Some(worst) => {
                let (allocated, data) = (short(worst.sum.allocated), short(worst.sum.data));
                let because = because(worst);
                format!(
                    "{name}{} takes {allocated} for {data} of data, {because}{}.",
                    worst.shape,
                    over(program)
                )
            }
            None => match program.total.buffers {
                1 => format!("{name}the one shape in it has no padding{}.", over(program)),
                count => format!("{name}none of {count} shapes has padding{}.", over(program)),
            },
        };
    }
    let (allocated, data) = (short(main.allocated), short(main.data));
    let place = match (&program.peak, program.basis) {
        (Some(peak), _) => {
            format!("at the peak, {} has {allocated} allocated", space_name(program, peak.space))
        }
        (None, Basis::Message) => format!("the buffers that are listed take {allocated}"),
        (None, Basis::Instructions) => format!("the results of all instructions take {allocated}"),
        (None, _) => format!("all buffers together take {allocated}"),
    };
    let waste = match main.waste() {
        0 => "without padding".to_owned(),
        waste => format!("for {data} of data: {} ({}) are padding", short(waste), percent(main.share())),
    };
    let mut text = format!("{name}{place} {waste}");
    let is_meant = |shape: &&Shared| program.peak.as_ref().is_none_or(|peak| peak.space == shape.space);
    if main.share() >= 0.01
        && let Some(worst) = program.shapes.iter().find(is_meant)
    {
        let own = worst.at_peak.filter(|sum| sum.waste() > 0).unwrap_or(worst.sum);
        let part = own.waste() as f64 / main.waste().max(1) as f64;
        let part = if part > 0.995 {
            "Nearly all of it is".to_owned()
        } else {
            format!("{} of it is", percent(part))
        };
        text.push_str(&format!(". {part} in {}, {}", worst.shape, because(worst)));
    } else if program.moved.changes > 0 {
        // Without padding, this is what layouts cost.
        let bytes = short(program.moved.bytes);
        text.push_str(&match program.moved.changes {
            1 => format!(". 1 instruction changes a layout and moves {bytes}"),
            count => format!(". {count} instructions change a layout and move {bytes}"),
        });
    }
    format!("{text}{}.", over(program))
}

/// What an out-of-memory message says, behind a full stop.
fn over(program: &Audited) -> String {
    let message = &program.message;
    let (used, capacity) = match (message.used, message.capacity) {
        (Some(used), Some(capacity)) => (used, capacity),
        (Some(used), None) => return format!(". Memory ran out when {} were to be allocated", short(used)),
        _ => return String::new(),
    };
    let memory = message.memory.as_deref().map_or(String::new(), |memory| format!(" of {memory}"));
    let without = used.saturating_sub(program.total.waste());
    // Shapes that stand in the text are not all that the program needs, and may be no buffers of it.
    let waste = if program.basis == Basis::Message { program.total.waste() } else { 0 };
    let fits = match waste {
        0 => String::new(),
        _ if without <= capacity => format!("; without this padding, {} would do", short(without)),
        _ => "; it would not fit without this padding either".to_owned(),
    };
    format!(". The program needs {} and there are {}{memory}{fits}", short(used), short(capacity))
}

/// What an out-of-memory message says the memory is for; none if it does not.
pub(super) fn parts(program: &Audited) -> Option<String> {
    let parts = program.message.parts.iter().filter(|part| part.bytes > 0);
    let parts: Vec<String> =
        parts.map(|part| format!("{} {}", part.need.name(), short(part.bytes))).collect();
    (!parts.is_empty()).then(|| format!("What the message says it is for: {}.", parts.join(", ")))
}

/// Why a shape has padding: what makes it largest, and what else makes it several times as large.
fn because(worst: &Shared) -> String {
    let mut growths: Vec<&Growth> = worst.growths.iter().collect();
    growths.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
    let told = growths.iter().enumerate().filter(|(place, growth)| *place == 0 || growth.factor() >= 2.0);
    let causes: Vec<String> = told.map(|(_, growth)| size::cause(growth)).collect();
    match causes.is_empty() {
        true => "and its layout as printed does not say why".to_owned(),
        false => format!("because {}", causes.join(", and ")),
    }
}

/// Bytes with the unit that suits.
pub(super) fn short(bytes: u64) -> String {
    size::short(bytes.into())
}

/// A share of 1 in hundredths.
pub(crate) fn percent(of: f64) -> String {
    share(of, "under\u{a0}")
}

/// The same, with what stands before 1 for less than that.
pub(super) fn share(share: f64, under: &str) -> String {
    let hundredths = share * 100.0;
    match hundredths {
        0.0 => "0\u{a0}%".to_owned(),
        hundredths if hundredths < 1.0 => format!("{under}1\u{a0}%"),
        // What is not all is not said to be.
        hundredths if share < 1.0 => format!("{:.0}\u{a0}%", hundredths.round().min(99.0)),
        _ => "100\u{a0}%".to_owned(),
    }
}

/// What a memory space is called.
pub fn space_name(program: &Audited, number: i64) -> String {
    let named = program.spaces.iter().find(|space| space.number == number);
    match named.and_then(|space| space.name.as_deref()) {
        Some("default") | None if number == 0 => "main memory".to_owned(),
        Some(name) => name.to_owned(),
        None => format!("memory S({number})"),
    }
}

/// What a line of the program is called.
pub(super) fn name_of(line: &Place) -> String {
    place(line).unwrap_or_default()
}

/// Where something comes from, in a few words.
pub(super) fn place(place: &Place) -> Option<String> {
    match (&place.file, place.line, &place.operation) {
        (Some(file), Some(line), _) => Some(format!("{file}:{line}")),
        (_, _, Some(operation)) => Some(operation.clone()),
        (Some(file), None, None) => Some(file.clone()),
        (None, Some(line), None) => Some(format!("line {line}")),
        (None, None, None) => None,
    }
}
