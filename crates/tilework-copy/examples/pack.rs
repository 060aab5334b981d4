//! A host array goes into the tiles of a device buffer and comes back.
//!
//! cargo run --release -p tilework-copy --example pack

use std::time::Instant;

use tilework::{Element, xla::Shape};
use tilework::{Layout, PlanOptions, Result};
use tilework_copy::{Buffer, Relayout, Threads};

fn main() -> Result<()> {
    let host = layout("bf16[4000,5000]")?;
    let device = layout("bf16[4000,5000]{1,0:T(8,128)(2,1)}")?;

    // Planned once, run as often as there is data.
    let zero = PlanOptions { fill: Some(Element::Bf16.value_bits("zero")?), ..PlanOptions::default() };
    let pack = Relayout::new(&host, &device, &zero)?;
    let unpack = Relayout::new(&device, &host, &PlanOptions::default())?;
    println!("{}\n", pack.plan());

    let data: Vec<u16> = (0..host.len()).map(|number| number as u16).collect();
    let bytes: Vec<u8> = data.iter().flat_map(|element| element.to_le_bytes()).collect();
    let mut buffer = Buffer::new(device.bytes() as usize)?; // aligned, and in large pages where there are any
    let mut back = vec![0; bytes.len()];

    let threads = Threads::all();
    for _ in 0..3 {
        let start = Instant::now();
        pack.run_on(&threads, &bytes, &mut buffer)?;
        let packed = start.elapsed();
        unpack.run_on(&threads, &buffer, &mut back)?;
        println!("packed in {packed:.1?}, unpacked in {:.1?}", start.elapsed() - packed);
    }
    assert!(back == bytes, "the same array");

    // Where one element went, by the layout alone.
    let place = device.offset(&[1, 4999])? as usize;
    assert_eq!(buffer[2 * place..][..2], data[5000 + 4999].to_le_bytes());
    println!("element (1, 4999) is at place {place}");
    Ok(())
}

fn layout(text: &str) -> Result<Layout> {
    match Shape::parse(text)?.as_array() {
        Some(array) => array.lower(),
        None => Err(tilework::Error::new(format!("{text} is no array"))),
    }
}
