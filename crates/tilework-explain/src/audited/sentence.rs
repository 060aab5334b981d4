//! The one sentence that matters, and the words it is made of.

use tilework::{Growth, printable};
use tilework_audit::{Audited, Basis, Donation, Limit, Place, Reason, Shared, Why};

use super::moves::donated;
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
    let mut over = over(program).unwrap_or_default();
    let reasons = if is_whole(program) { reasons(program, false) } else { String::new() };
    if !reasons.is_empty() {
        over.push_str(&format!(": {reasons}"));
    }
    let said = said(program);
    let text = match (over.is_empty(), said.is_empty()) {
        (false, false) => format!("{over}. {}", capital(&said)),
        _ => over + &said,
    };
    match program.name.as_str() {
        "" => format!("{}.", capital(&text)),
        name => format!("{name}: {text}."),
    }
}

/// A text as the beginning of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Whether what the memory is for was said of all that the program needs, as a message does.
fn is_whole(program: &Audited) -> bool {
    program.message.used.is_some() && !program.message.parts.is_empty()
        || program.basis == Basis::Message
            && program.message.used.is_some()
            && program.message.limit != Limit::Free
}

/// What the buffers come to.
fn said(program: &Audited) -> String {
    let main = program.main();
    let has_message = program.message.used.is_some() || program.message.kernel.is_some();
    match program.basis {
        Basis::Nothing if has_message => return String::new(),
        Basis::Nothing => return "no buffers were found".to_owned(),
        // Of a kernel that takes too much, a message says the shape of its result.
        Basis::Shapes if has_message && program.shapes.is_empty() => return String::new(),
        Basis::Shapes => return of_shapes(program),
        _ => {}
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
    let reserved = reserved(program).map_or(String::new(), |reserved| format!(" and {reserved} reserved"));
    let is_padding = program.reasons.first().is_none_or(|reason| reason.why == Why::Padding);
    let reasons = if is_whole(program) { String::new() } else { reasons(program, is_padding) };
    let mut text = match main.waste() {
        0 => format!("{place}{reserved} without padding"),
        waste if is_padding || reasons.is_empty() => {
            let share = percent(main.share());
            format!("{place}{reserved} for {data} of data: {} ({share}) are padding", short(waste))
        }
        _ if main.share() >= 0.01 => format!("{place}{reserved} for {data} of data"),
        _ => format!("{place}{reserved}"),
    };
    if !reasons.is_empty() {
        text.push_str(if text.contains(':') { ", " } else { ": " });
        text.push_str(&reasons);
    }
    let is_meant = |shape: &&Shared| program.peak.as_ref().is_none_or(|peak| peak.space == shape.space);
    if main.share() >= 0.01
        && let Some(worst) = program.shapes.iter().find(is_meant)
    {
        let own = worst.at_peak.filter(|sum| sum.waste() > 0).unwrap_or(worst.sum);
        let part = own.waste() as f64 / main.waste().max(1) as f64;
        let of = if is_padding { "it" } else { "the padding" };
        let part = if part > 0.995 {
            format!("Nearly all of {of} is")
        } else {
            format!("{} of {of} is", percent(part))
        };
        text.push_str(&format!(". {part} in {}, {}{}", worst.shape, because(worst), fits(program)));
    }
    // Bytes that need not be copied, and those that move because of layouts.
    let moved = &program.moved;
    if moved.again_bytes >= 1 << 20 {
        let bytes = short(moved.again_bytes);
        let free = program.moves.iter().find(|change| change.donation == Some(Donation::Removes));
        let donated = free.and_then(|change| change.argument.as_deref());
        let donated = donated.map_or(String::new(), |name| format!("; donating {name} removes it"));
        text.push_str(&match moved.again {
            1 => format!(". 1 copy of the same layout in the same memory moves {bytes}{donated}"),
            count => {
                let donated = donated.replace("removes it", "removes one of them");
                format!(". {count} copies of the same layout in the same memory move {bytes}{donated}")
            }
        });
    }
    if program.donatable_bytes >= (main.allocated / 20).max(1 << 20) {
        let names = first_names(&donated(program));
        text.push_str(&format!(". Donating {names} may spare {}", short(program.donatable_bytes)));
    }
    if let Some(kept) = &program.kept {
        text.push_str(&format!(
            ". Computing again what a loop keeps of its {} steps may spare {}",
            kept.steps,
            short(kept.bytes)
        ));
    }
    if moved.changes > 0 && main.share() < 0.01 {
        let bytes = short(moved.bytes);
        text.push_str(&match moved.changes {
            1 => format!(". 1 instruction changes a layout and moves {bytes}"),
            count => format!(". {count} instructions change a layout and move {bytes}"),
        });
    }
    text
}

/// The first two of some names, and whether there are more.
pub(super) fn first_names(names: &[impl AsRef<str>]) -> String {
    match names {
        [first, second, _, ..] => format!("{}, {} and others", first.as_ref(), second.as_ref()),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" and "),
    }
}

/// What is missing on the machine that was asked about.
fn against(program: &Audited) -> Option<String> {
    let machine = program.machine.as_ref().filter(|_| program.basis == Basis::Assignment)?;
    let is_main = program.peak.as_ref().is_none_or(|peak| peak.space == 0);
    let reserved = program.spaces.iter().find(|space| space.number == 0).and_then(|space| space.reserved);
    let (needed, there) = (reserved.unwrap_or(0).max(program.main().allocated), machine.device.memory);
    let gap = needed.checked_sub(there).filter(|&gap| gap > 0 && is_main)?;
    let (needed, there, gap) = (short(needed), short(there), short(gap));
    Some(format!("the program needs {needed} and a device of {} has {there}, {gap} too little", machine.name))
}

fn of_shapes(program: &Audited) -> String {
    match program.shapes.first() {
        Some(worst) => {
            let (allocated, data) = (short(worst.sum.allocated), short(worst.sum.data));
            format!("{} takes {allocated} for {data} of data, {}", worst.shape, because(worst))
        }
        None => match program.total.buffers {
            1 => "the one shape in it has no padding".to_owned(),
            count => format!("none of {count} shapes has padding"),
        },
    }
}

/// What is reserved of the main memory, if that is noticeably more than what the peak needs.
pub(super) fn reserved(program: &Audited) -> Option<String> {
    let peak = program.peak.as_ref()?;
    let reserved = program.spaces.iter().find(|space| space.number == peak.space)?.reserved?;
    let more = reserved.saturating_sub(peak.sum.allocated);
    (more >= reserved / 200 && more > 4096).then(|| short(reserved))
}

/// The largest three of what the memory is for, without the padding where that was said.
fn reasons(program: &Audited, without_padding: bool) -> String {
    let main = program.main().allocated.max(program.message.used.unwrap_or(0));
    let known = program.reasons.iter().filter(|reason| !(without_padding && reason.why == Why::Padding));
    // What is less than a hundredth is no reason.
    let large = known.filter(|reason| reason.bytes >= main / 100 && reason.why != Why::Other);
    let words: Vec<String> = large.take(if without_padding { 2 } else { 3 }).map(reason_words).collect();
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.join(""),
    }
}

/// `14.65 GiB arguments given back`
pub(super) fn reason_words(reason: &Reason) -> String {
    format!("{} {}", short(reason.bytes), reason.why.name())
}

/// What an out-of-memory message says.
fn over(program: &Audited) -> Option<String> {
    let message = &program.message;
    let memory = message.memory.as_deref().unwrap_or_default();
    let of = if memory.is_empty() { String::new() } else { format!(" of {memory}") };
    let kernel = message.kernel.as_deref();
    let Some(used) = message.used else {
        return match kernel {
            Some(kernel) if message.limit == Limit::Kernel => {
                Some(format!("memory ran out for the kernel {kernel}"))
            }
            // It is in the list, and perhaps not what was too much.
            Some(kernel) => Some(format!("memory ran out, and the kernel {kernel} is in what is listed")),
            None => against(program),
        };
    };
    let need = short(used);
    let Some(capacity) = message.capacity else {
        return Some(match message.limit {
            Limit::Memory => format!("memory ran out when {need} were to be allocated"),
            _ => format!("memory ran out when {need} more were to be allocated"),
        });
    };
    let (limit, gap) = (short(capacity), short(used.saturating_sub(capacity)));
    Some(match (message.limit, kernel) {
        (Limit::Memory, _) => format!("the program needs {need} and there are {limit}{of}, {gap} too little"),
        (Limit::Free, _) if message.free.is_some_and(|free| free > capacity) => {
            let free = short(message.free.unwrap_or(0));
            format!(
                "{need} more were to be allocated and {free}{of} are free, but the largest piece of that is {limit}, {gap} \
                 too little"
            )
        }
        (Limit::Free, _) => {
            format!("{need} more were to be allocated and {limit}{of} are free, {gap} too little")
        }
        (Limit::Kernel, Some(kernel)) => {
            format!("the kernel {kernel} needs {need}{of} and its limit is {limit}, {gap} too little")
        }
        (Limit::Kernel, None) => {
            format!("a kernel needs {need}{of} and its limit is {limit}, {gap} too little")
        }
        (Limit::Rematerialisation, _) => {
            format!("the compiler wanted to stay below {limit} and reached {need}, {gap} too much")
        }
    })
}

/// Whether the program would fit without the padding that is listed.
fn fits(program: &Audited) -> String {
    let message = &program.message;
    let (Some(used), Some(capacity), Basis::Message) = (message.used, message.capacity, program.basis) else {
        return String::new();
    };
    let without = used.saturating_sub(program.total.waste());
    match without <= capacity {
        true => format!("; without this padding, {} would do", short(without)),
        false => "; it would not fit without this padding either".to_owned(),
    }
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
    let mut causes: Vec<String> = widened(worst).into_iter().collect();
    causes.extend(told.map(|(_, growth)| size::cause(growth)));
    match causes.is_empty() {
        true => "and its layout as printed does not say why".to_owned(),
        false => format!("because {}", causes.join(", and ")),
    }
}

/// What the layout makes of each element, if that is larger.
pub(super) fn widened(shape: &Shared) -> Option<String> {
    let (own, given) = shape.widened?;
    let element =
        shape.shape.as_array().map_or(String::new(), |array| format!(" of {}", array.element_type().name()));
    let times = size::times(own.into(), given.into());
    Some(format!("each element{element} takes {given} bits, not {own}: {times} times"))
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
    place(line).unwrap_or_else(|| "unknown".to_owned())
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
