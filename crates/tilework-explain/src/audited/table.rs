//! The buffers of an audit, as comma-separated values.

use tilework_audit::{Buffer, Findings};

/// The names of the columns, and a line for each buffer of each program.
pub fn audit_table(findings: &Findings) -> Vec<String> {
    let head = "program,buffer,shape,memory_space,count,allocated_bytes,data_bytes,waste_bytes,at_peak,live_from,\
                live_to,computation,operation,file,line,role";
    let mut lines = vec![head.to_owned()];
    for program in &findings.programs {
        lines.extend(program.buffers.iter().map(|buffer| row(&program.name, buffer)));
    }
    lines
}

fn row(program: &str, buffer: &Buffer) -> String {
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells = [
        program.to_owned(),
        text(&buffer.name),
        buffer.shape.to_string(),
        buffer.space.to_string(),
        buffer.count.to_string(),
        buffer.allocated.to_string(),
        buffer.data.to_string(),
        (buffer.allocated - buffer.data).to_string(),
        buffer.at_peak.map_or(String::new(), |at_peak| at_peak.to_string()),
        number(buffer.live.map(|live| live.0)),
        number(buffer.live.map(|live| live.1)),
        text(&buffer.computation),
        text(&buffer.place.operation),
        text(&buffer.place.file),
        number(buffer.place.line),
        buffer.class.map_or(String::new(), |class| class.name().to_owned()),
    ];
    cells.map(|cell| escaped_cell(&cell)).join(",")
}

/// A cell by RFC 4180. One that a spreadsheet would compute is kept a text.
pub(crate) fn escaped_cell(cell: &str) -> String {
    let cell = match cell.as_bytes().first() {
        Some(b'=' | b'+' | b'@' | b'\t' | b'\r') => format!("'{cell}"),
        _ => cell.to_owned(),
    };
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(escaped_cell("f32[2,3]"), "\"f32[2,3]\"");
        assert_eq!(escaped_cell("a\"b"), "\"a\"\"b\"");
        assert_eq!(escaped_cell("=1+1"), "'=1+1");
        assert_eq!(escaped_cell("copy.1"), "copy.1");
    }
}
