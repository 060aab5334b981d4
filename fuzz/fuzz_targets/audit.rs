//! Any text is audited: what comes of it is consistent, whatever the text says, and lists are no longer than asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework_audit::Audit;

/// Beginnings that lead into each reader, so that not every input must find them.
const BEGINNINGS: [&[u8]; 6] = [
    b"",
    b"BufferAssignment:\nallocation 0: size 64, color 1, preallocated-temp:\n",
    b"HloLiveRange (max 9):\n  BufferLiveRange:\n",
    b"HloModule m, is_scheduled=true\nENTRY %main (x: f32[2]) -> f32[2] {\n  %x = f32[2,3]{1,0:T(2,4)} parameter(0)\n",
    b"Memory Space: default (color=0)\n",
    b"Ran out of memory in memory space hbm. Used 2.00G of 1.00G hbm.\n  Largest program allocations in hbm:\n  1. Size: 1.00G\n",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let mut whole = BEGINNINGS[usize::from(first) % BEGINNINGS.len()].to_vec();
    whole.extend_from_slice(text);
    let read = |input: &mut dyn std::io::BufRead| {
        let mut audit = Audit::new();
        audit.read("text", input).expect("memory is read");
        audit.findings(5)
    };
    let found = read(&mut &whole[..]);
    for program in &found.programs {
        assert!(program.total.data <= program.total.allocated);
        assert!((0.0..=1.0).contains(&program.main().share()));
        assert!(program.buffers.len() <= 5 && program.shapes.len() <= 5 && program.moves.len() <= 5);
        for buffer in &program.buffers {
            assert!(buffer.data <= buffer.allocated);
        }
    }
    // Where the buffer of a file ends changes nothing.
    let again = read(&mut std::io::BufReader::with_capacity(1 + usize::from(first), &whole[..]));
    assert_eq!(format!("{found:?}"), format!("{again:?}"));
});
