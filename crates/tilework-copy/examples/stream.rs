//! An array is transposed and converted on its way into a file that is never held in memory.
//!
//! cargo run --release -p tilework-copy --example stream -- /tmp/out.bin

use std::error::Error;
use std::fs::File;
use std::io::Write;

use tilework::{Element, Layout, PlanOptions};
use tilework_copy::{Conversion, Relayout};

fn main() -> Result<(), Box<dyn Error>> {
    let rows = Layout::row_major(&[3000, 2000], 32)?;
    let columns = Layout::builder(&[3000, 2000], 16)?.minor_to_major(&[0, 1])?.build()?;
    let conversion = Conversion::between(Element::F32, Element::Bf16)?;
    let relayout = Relayout::converting(&rows, &columns, conversion, &PlanOptions::default())?;

    let name = std::env::args_os().nth(1);
    let mut out: Box<dyn Write> = match &name {
        Some(name) => Box::new(File::create(name)?),
        None => Box::new(std::io::sink()),
    };
    let source: Vec<u8> = (0..3000 * 2000).flat_map(|number| (number as f32).to_le_bytes()).collect();
    let mut chunks = 0;
    // The errors of the closure pass through: anything that the library's own error turns into.
    relayout.stream(&source, 1 << 20, |_offset, bytes| -> Result<(), Box<dyn Error>> {
        out.write_all(bytes)?;
        chunks += 1;
        Ok(())
    })?;
    out.flush()?;
    println!("{} bytes in {chunks} chunks", columns.bytes());
    Ok(())
}
