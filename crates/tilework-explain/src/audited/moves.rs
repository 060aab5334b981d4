//! Instructions that move data because of layouts, and what could be asked for so that they need not.

use std::cmp::Ordering;

use tilework::Kind;
use tilework::xla::Shape;
use tilework_audit::{Advice, Asked, Audited, Donatable, Donation, How, Move, Replica};

use super::buffers::near;
use super::sentence::{first_names, place, short};
use crate::logged::time;
use crate::page::Page;

/// Copies of fewer bytes together get no list of their own: counters of loops, mostly.
const WORTH: u64 = 1 << 12;

pub(super) fn moves(page: &mut Page, program: &Audited, top: usize) {
    again(page, program, top);
    changes(page, program, top);
    if let Some(words) = sorted_by(program) {
        page.paragraph(&words);
    }
    let moved = &program.moved;
    let mut rest = Vec::new();
    if moved.free > 0 {
        rest.push(match moved.free {
            1 => "1 bitcast, reshape or transpose moves nothing".to_owned(),
            count => format!("{count} bitcasts, reshapes and transposes move nothing"),
        });
    }
    if moved.between_spaces > 0 {
        let copies = match moved.between_spaces {
            1 => "1 copy only changes".to_owned(),
            count => format!("{count} copies only change"),
        };
        rest.push(format!("{copies} the memory ({})", short(moved.between_spaces_bytes)));
    }
    if moved.again > 0 && moved.again_bytes < WORTH {
        let copies = match moved.again {
            1 => "1 copy changes".to_owned(),
            count => format!("{count} copies change"),
        };
        rest.push(format!("{copies} neither layout nor memory ({})", short(moved.again_bytes)));
    }
    if moved.unknown_loops > 0 {
        rest.push(match moved.unknown_loops {
            1 => "what is in 1 loop counts once, as nothing says how often it runs".to_owned(),
            count => format!("what is in {count} loops counts once, as nothing says how often they run"),
        });
    }
    if !rest.is_empty() && moved.changes + moved.fused + moved.again > 0 {
        page.paragraph(&format!("{}.", rest.join("; ")));
    }
    donatable(page, program, top);
    smaller(page, program);
    replicas(page, program, top);
    arguments(page, program, top);
}

/// Copies of what is there already.
fn again(page: &mut Page, program: &Audited, top: usize) {
    let moved = &program.moved;
    if moved.again_bytes < WORTH {
        return;
    }
    let bytes = short(moved.again_bytes);
    page.heading(&match moved.again {
        1 => format!("1 copy changes neither the layout nor the memory: {bytes}"),
        count => format!("{count} copies change neither the layout nor the memory: {bytes}"),
    });
    let own = program.moves.iter().filter(|change| !change.changes_layout).take(top);
    page.text(&own.map(copy).collect::<Vec<String>>().join("\n"));
}

fn copy(change: &Move) -> String {
    let mut lines = vec![format!("  {} {}", cost(change), name(change)), format!("      {}", change.to)];
    lines.extend(donation_words(change).map(|words| format!("      {words}")));
    lines.join("\n")
}

/// What donating the argument would do to a copy of it.
pub(super) fn donation_words(change: &Move) -> Option<String> {
    let argument = change.argument.as_deref()?;
    let how = format!("jax.jit(…, donate_argnames=\"{}\")", whole(argument));
    Some(match change.donation? {
        Donation::Removes => format!("donating {argument} removes it: {how}"),
        Donation::MayRemove => {
            format!("donating {argument} may remove it, if nothing reads the old value later: {how}")
        }
        Donation::InVain => {
            format!("{argument} is donated, but its old value is still needed when the new one is written")
        }
    })
}

fn changes(page: &mut Page, program: &Audited, top: usize) {
    let moved = &program.moved;
    if moved.changes + moved.fused == 0 {
        return;
    }
    let mut head = match moved.changes {
        0 => String::new(),
        1 => format!("1 instruction changes a layout and moves {}", short(moved.bytes)),
        count => format!("{count} instructions change a layout and move {}", short(moved.bytes)),
    };
    if moved.fused > 0 {
        let bytes = short(moved.fused_bytes);
        head.push_str(&match (moved.changes, moved.fused) {
            (0, 1) => format!("1 instruction within a fusion changes a layout: {bytes}"),
            (0, count) => format!("{count} instructions within fusions change a layout: {bytes}"),
            (_, count) => format!("; {count} more within fusions, {bytes}"),
        });
    }
    page.heading(&head);
    let own = program.moves.iter().filter(|change| change.changes_layout).take(top);
    page.text(&own.map(movement).collect::<Vec<String>>().join("\n"));
}

/// The arguments that could be donated.
fn donatable(page: &mut Page, program: &Audited, top: usize) {
    if program.donatable.is_empty() || program.donatable_bytes < program.main().allocated / 100 {
        return;
    }
    page.heading(&format!(
        "arguments that are not donated: results could lie in the place of {}",
        short(program.donatable_bytes)
    ));
    let line = |each: &Donatable| format!("  {} {}: result {}", short(each.bytes), each.name, each.result);
    page.text(&program.donatable.iter().take(top).map(line).collect::<Vec<String>>().join("\n"));
    let names: Vec<String> = donated(program).iter().map(|name| format!("\"{name}\"")).collect();
    page.paragraph(&format!(
        "Where the caller does not need them afterwards: jax.jit(…, donate_argnames=({}{})).",
        names.join(", "),
        if names.len() == 1 { "," } else { "" }
    ));
}

/// What would make the peak smaller.
fn smaller(page: &mut Page, program: &Audited) {
    let words: Vec<String> = smaller_words(program).into_iter().map(|words| format!("  {words}")).collect();
    if !words.is_empty() {
        page.heading("what would make the peak smaller");
        page.text(&words.join("\n"));
    }
}

/// What to write for it, with what it spares.
pub(super) fn smaller_words(program: &Audited) -> Vec<String> {
    let mut words = Vec::new();
    if program.donatable_bytes >= (program.main().allocated / 20).max(1 << 20) {
        let names = first_names(&donated(program));
        words.push(format!("up to {}: donating {names}", short(program.donatable_bytes)));
    }
    if let Some(kept) = &program.kept {
        let arrays = match kept.arrays {
            1 => "1 array".to_owned(),
            count => format!("{count} arrays"),
        };
        let place =
            place(&kept.place).map_or(String::new(), |place| format!(", the largest made at {place}"));
        words.push(format!(
            "up to {}: {arrays} of {} steps of a loop are kept for the way back{place}; jax.checkpoint (jax.remat) of the \
             function that jax.lax.scan or fori_loop runs keeps only what goes from step to step, and computes the rest again",
            short(kept.bytes),
            kept.steps
        ));
    }
    if let Some(half) = &program.half {
        words.push(format!(
            "{} of {}: {} with {} in dimension 0 instead of {}",
            short(half.bytes),
            short(half.peak),
            first_names(&half.arguments),
            half.size / 2,
            half.size
        ));
    }
    words
}

/// The arguments that several devices have alike.
fn replicas(page: &mut Page, program: &Audited, top: usize) {
    let Some(devices) = program.devices else { return };
    if program.replicas.is_empty() || program.replica_bytes < program.main().allocated / 100 {
        return;
    }
    page.heading(&format!(
        "arguments that several of the {devices} devices have: parts of their own would spare each up to {}",
        short(program.replica_bytes)
    ));
    let lines = program.replicas.iter().take(top).map(|each| replica_words(each, devices));
    page.text(
        &lines.map(|(first, second)| format!("  {first}\n      {second}")).collect::<Vec<_>>().join("\n"),
    );
    page.paragraph(
        "An argument that is needed whole at each step is gathered each time if it is divided, so begin with what is large and \
         read once: in_shardings=NamedSharding(mesh, P('axis', …)), an axis of the mesh for each dimension that is divided.",
    );
}

/// What an argument is on all devices and on one.
pub(super) fn replica_words(replica: &Replica, devices: u64) -> (String, String) {
    let Replica { name, whole, shape, bytes, copies, .. } = replica;
    let first = format!("{} {name}: {shape} on each device", short(*bytes));
    let second = match *copies == devices {
        true => format!("all of {}; all {devices} devices have the same", plain(whole)),
        false => format!("a part of {}; {copies} devices have the same", plain(whole)),
    };
    (first, second)
}

/// Element type and sizes.
fn plain(shape: &Shape) -> String {
    let text = shape.to_string();
    text.split('{').next().unwrap_or(&text).to_owned()
}

/// The arguments of the function that these are parts of: `params` of `params['w']`.
pub(super) fn donated(program: &Audited) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for each in &program.donatable {
        let name = whole(&each.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The argument that this is a part of: `params` of `params['w']`.
fn whole(argument: &str) -> &str {
    argument.split(['[', '.']).next().unwrap_or(argument)
}

/// The arguments and results that are moved: whoever gives and takes them can spare the program that.
fn arguments(page: &mut Page, program: &Audited, top: usize) {
    if program.advice.is_empty() {
        return;
    }
    page.heading("layouts that arguments and results could have instead");
    let blocks: Vec<String> = program.advice.iter().take(top).map(advice).collect();
    page.text(&blocks.join("\n"));
    let asked: Vec<&Advice> =
        program.advice.iter().take(top).filter(|advice| advice.asked != Asked::Nothing).collect();
    if asked.is_empty() {
        return;
    }
    let saves = short(asked.iter().map(|advice| advice.saves).fold(0, u64::saturating_add));
    let before: u64 = asked.iter().map(|advice| advice.allocated).fold(0, u64::saturating_add);
    let after: u64 = asked.iter().map(|advice| advice.instead_allocated).fold(0, u64::saturating_add);
    let together = if asked.len() > 1 { "Asking for all of these spares" } else { "That spares" };
    page.paragraph(&format!(
        "{together} moving {saves} and {}. A layout is asked for with jax.experimental.layout: Format(Layout(…), sharding) in \
         in_shardings and out_shardings of jax.jit; Layout.AUTO leaves it to the compiler.",
        more_memory(before, after)
    ));
}

/// `take 51 MiB more memory`
fn more_memory(before: u64, after: u64) -> String {
    match after.cmp(&before) {
        Ordering::Equal => "takes the same memory".to_owned(),
        Ordering::Greater => format!("takes {} more memory", short(after - before)),
        Ordering::Less => format!("takes {} less memory", short(before - after)),
    }
}

/// What could be asked for one argument or result.
pub(super) fn advice_words(advice: &Advice) -> (String, String) {
    let result = advice.result.map_or(String::new(), |number| format!("result {number}"));
    let order = advice.instead.as_array().and_then(|array| array.layout()).map_or(String::new(), |layout| {
        let major: Vec<String> = layout.minor_to_major().iter().rev().map(usize::to_string).collect();
        format!("Layout(major_to_minor=({}))", major.join(", "))
    });
    let cost = more_memory(advice.allocated, advice.instead_allocated);
    let (name, saves) = (&advice.name, short(advice.saves));
    match advice.asked {
        Asked::Argument => {
            (format!("{saves} {name}: give it as {}", advice.instead), format!("{order}; {cost}"))
        }
        Asked::Result => {
            (format!("{saves} {name}: take it as {}", advice.instead), format!("{order}; {cost}"))
        }
        Asked::Both => (
            format!("{saves} {name} and {result} in its place: both as {}", advice.instead),
            format!("{order}, for both or for none; {cost}"),
        ),
        Asked::Nothing if advice.instead_allocated > advice.allocated.saturating_add(advice.saves) => (
            format!("{saves} {name}: leave it as it is"),
            format!("It is needed as {}, which {cost}.", advice.instead),
        ),
        Asked::Nothing => (
            format!("{saves} {name}: leave it as it is"),
            format!(
                "It is also needed as {}, but {result} in its place is made in the layout that both have; asked for \
                 alone, another would cost {} for a place of its own.",
                advice.instead,
                short(advice.instead_allocated)
            ),
        ),
    }
}

fn advice(advice: &Advice) -> String {
    let (first, second) = advice_words(advice);
    format!("  {first}\n      {second}")
}

fn movement(change: &Move) -> String {
    let mut lines = vec![format!("  {} {}", cost(change), name(change))];
    lines.push(format!("      from {}", change.from));
    lines.push(format!("      to {}", change.to));
    if let Some(how) = &change.how {
        lines.push(format!("      {}", how_words(how)));
    }
    lines.join("\n")
}

/// What is moved, with the cycles that it is estimated to take, or the bytes with padding where these are many.
pub(super) fn cost(change: &Move) -> String {
    let bytes = short(change.bytes);
    match change.cycles {
        Some(cycles) => format!("{} cycles for {bytes}", thousands(cycles)),
        None if change.least_nanoseconds.is_some_and(|least| least > 0) && !change.fused => {
            format!("at least {} for {bytes}", time(change.least_nanoseconds.unwrap_or(0)))
        }
        None if change.touched / 3 >= change.bytes => {
            format!("{bytes} ({} read and written with padding)", short(change.touched))
        }
        None => bytes,
    }
}

/// `1,214,796`
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// By what the moves are sorted.
pub(super) fn sorted_by(program: &Audited) -> Option<String> {
    let moved = &program.moved;
    if moved.timed > 0 {
        return Some(format!(
            "Cycles are the compiler's estimate, and sort the list: {} for {} of them; others are put where their bytes with \
             padding would be.",
            thousands(moved.cycles),
            moved.timed
        ));
    }
    let is_listed = moved.changes + moved.fused > 0 || moved.again_bytes >= WORTH;
    let sorts = "Copies are sorted by the bytes that they read and write with padding, as the dump has no estimate of their \
                 cycles (after_codegen)";
    match &program.machine {
        _ if !is_listed => None,
        Some(machine) => Some(format!(
            "Times are the least that a device of {} needs for the bytes in its main memory, with padding, at {} GB/s. {sorts}.",
            machine.name,
            machine.device.bandwidth / 1_000_000_000
        )),
        None => Some(format!("{sorts}; --target, such as tpu-v5e, says their least times.")),
    }
}

fn name(change: &Move) -> String {
    let mut text = match change.name.starts_with(change.operation.name()) {
        true => change.name.clone(),
        false => format!("{} {}", change.operation.name(), change.name),
    };
    if change.count > 1 {
        text.push_str(&format!(" and {} more like it", change.count - 1));
    }
    text.push_str(&runs_words(change));
    if let Some(argument) = &change.argument {
        text.push_str(&format!(": the argument {argument}"));
    }
    if change.fused {
        text.push_str(", within a fusion");
    }
    if let Some(place) = place(&change.place).filter(|place| change.argument.as_ref() != Some(place)) {
        text.push_str(&format!("; {place}"));
    }
    text.push_str(&near_words(change));
    text
}

/// How often it runs, behind a comma, if that is worth saying.
pub(super) fn runs_words(change: &Move) -> String {
    match (change.runs, change.runs_known) {
        (0, _) => ", never run".to_owned(),
        (1, true) => String::new(),
        (runs, true) => format!(", run {runs} times"),
        (1, false) => ", in a loop whose number of runs is unknown, counted once".to_owned(),
        (runs, false) => format!(", in a loop whose number of runs is unknown, counted {runs} times"),
    }
}

/// Which line it is for, behind a semicolon, if it does not say so itself.
pub(super) fn near_words(change: &Move) -> String {
    near(change.near, &change.near_place)
}

/// How elements move, in words.
pub(super) fn how_words(how: &How) -> String {
    let runs = format!("in runs of {}", short(how.run_bytes));
    match how.kind {
        Kind::Rows => runs,
        Kind::Transpose => "transposed: neighbours on one side are apart on the other".to_owned(),
        kind => format!("by {kind}, {runs}"),
    }
}
