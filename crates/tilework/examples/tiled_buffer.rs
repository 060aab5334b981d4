//! A host array into a tiled, padded device buffer, and back: what a runtime does with a TPU layout.

use tilework::xla::Shape;

fn main() -> tilework::Result<()> {
    let shape = Shape::parse("f32[3,5]{1,0:T(2,2)}")?;
    let Shape::Array(array) = &shape else { unreachable!("the text says that it is an array") };

    // Numbers 0 to 14, row-major, into the buffer; padding is -1 here so that it shows.
    let host: Vec<i32> = (0..15).collect();
    let device = array.image(&host, -1)?;
    println!("{shape} in memory: {device:?}");
    assert_eq!(device[17], 13); // element (2, 3)

    // And back, walking the buffer from its start to its end: the index is carried along.
    let layout = array.lower()?;
    let mut back = vec![0; 15];
    layout.for_each_in_memory_order(|index, offset| {
        back[(index[0] * 5 + index[1]) as usize] = device[offset as usize];
    });
    assert_eq!(back, host);

    println!("{} of {} places hold elements, because:", layout.len(), layout.size());
    for growth in layout.growths() {
        println!("  {}: {} becomes {}", growth.cause, growth.from, growth.to);
    }
    Ok(())
}
