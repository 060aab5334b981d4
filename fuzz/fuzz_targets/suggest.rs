//! Smaller layouts are looked for, and other layouts supposed, of any array in any text: sizes stay consistent, and what is
//! said to be smaller is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework::xla::Shape;
use tilework_audit::{Audit, Target, suggest, tiles_from_text};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // A line may end in the tiles of a target of one's own.
    let (text, tiles) = text.split_once('|').unwrap_or((text, ""));
    let names: Vec<&str> = Target::names().map(|(name, _)| name).collect();
    let target = match tiles_from_text(tiles) {
        Ok(tiles) => Target::of_tiles([tiles]),
        Err(_) => Target::from_name(names[usize::from(first) % names.len()]),
    };
    let target = target.expect("tiles, or a name that there is");

    let mut audit = Audit::with_memory(1 << 30);
    audit.read("text", text.as_bytes()).expect("memory is read");
    audit.suppose_target(target.clone());
    if let Ok(shape) = Shape::parse(text)
        && let Some(array) = shape.as_array()
    {
        if let Ok(found) = suggest(array, &target) {
            let least = found.layouts.iter().map(|layout| layout.bytes).min();
            assert_eq!(found.layouts.first().map(|layout| layout.bytes), least);
            for layout in &found.layouts {
                assert_eq!(layout.shape.dims(), array.dims());
                assert!(u128::from(layout.bytes) >= layout.element_bytes);
                assert_eq!(layout.shape.lower().expect("it was lowered").bytes(), layout.bytes);
            }
            for smaller in found.smaller().take(1) {
                // The array is not found in every text that is a shape, such as one with spaces.
                if audit.suppose_layout(&smaller.shape).is_ok() {
                    let there = audit.findings(1).programs;
                    assert!(there.iter().all(|program| program.total.allocated == smaller.bytes));
                }
            }
        }
    }
    for program in &audit.findings(5).programs {
        assert!(program.total.data <= program.total.allocated);
    }
});
