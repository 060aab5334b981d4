//! The moves of logs, as comma-separated values.

use tilework_audit::{Findings, LogArray, LogMove, Logged, Way};

use crate::audited::escaped_cell;

/// The names of the columns, and a line for each kind of move of each log.
pub fn log_table(findings: &Findings) -> Vec<String> {
    let head = "log,kind,move,count,nanoseconds,data_bytes,touched_bytes,waste_bytes,from_element,from_format,from_sizes,\
                to_element,to_format,to_sizes,role,way,loops,before,after,place,log_line";
    let mut lines = vec![head.to_owned()];
    for log in &findings.logs {
        lines.extend(log.moves.iter().map(|moved| row(log, moved)));
    }
    lines
}

fn row(log: &Logged, moved: &LogMove) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let array = |array: &LogArray| [text(&array.element), array.format.clone(), text(&array.sizes)];
    let work = &moved.work;
    let mut cells = vec![
        log.name.clone(),
        log.kind.name().to_owned(),
        text(&moved.name),
        work.count.to_string(),
        // Of what says no time, the cell is empty and not 0.
        if work.timed > 0 { work.nanoseconds.to_string() } else { String::new() },
        work.data.to_string(),
        work.touched.to_string(),
        work.waste.to_string(),
    ];
    cells.extend(array(&moved.from));
    cells.extend(array(&moved.to));
    cells.extend([
        moved.role.name().to_owned(),
        moved.way.map_or(String::new(), |way: Way| way.name().to_owned()),
        moved.loops.to_string(),
        text(&moved.before),
        text(&moved.after),
        text(&moved.place),
        moved.line.to_string(),
    ]);
    let cells: Vec<String> = cells.iter().map(|cell| escaped_cell(cell)).collect();
    cells.join(",")
}
