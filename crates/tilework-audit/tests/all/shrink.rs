//! What would make the peak smaller, against what the compiler makes of it.

use std::path::Path;

use tilework_audit::{Audit, Audited};

fn compiled(name: &str) -> Audited {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled").join(name);
    let mut audit = Audit::new();
    assert_eq!(audit.read_path(&folder), []);
    let mut found = audit.findings(5);
    assert_eq!(found.programs.len(), 1);
    found.programs.remove(0)
}

fn peak(program: &Audited) -> u64 {
    program.peak.as_ref().expect("live ranges are there").sum.allocated
}

/// Whether one number is within five hundredths of the other.
fn is_near(predicted: u64, real: u64) -> bool {
    predicted.abs_diff(real) * 20 <= real
}

#[test]
fn computing_again_what_a_loop_keeps_spares_what_was_predicted() {
    let (kept, again) = (compiled("kept"), compiled("kept-again"));
    let found = kept.kept.as_ref().expect("five arrays are kept");
    assert_eq!((found.arrays, found.steps), (5, 8));
    // Four arrays of f32 and one of bf16; what goes from layer to layer is kept anyway, and parameters are no work of a loop.
    assert_eq!(found.bytes, 8 * 64 * 256 * 2048 * (4 * 4 + 2));
    assert_eq!((found.place.file.as_deref(), found.place.line), (Some("example/layers.py"), Some(14)));
    let real = peak(&kept) - peak(&again);
    assert!(is_near(found.bytes, real), "{} and {real}", found.bytes);
    // There is nothing more to compute again.
    assert_eq!(again.kept, None);
}

#[test]
fn half_of_a_batch_spares_what_was_predicted() {
    let (whole, half) = (compiled("kept"), compiled("kept-half"));
    let found = whole.half.as_ref().expect("x and y have a batch");
    assert_eq!((found.arguments.join(" "), found.size, found.peak), ("x y".to_owned(), 64, peak(&whole)));
    let real = peak(&whole) - peak(&half);
    assert!(is_near(found.bytes, real), "{} and {real}", found.bytes);
    assert!(is_near(found.peak - found.bytes, peak(&half)));
}

#[test]
fn what_cannot_be_followed_is_not_said() {
    // An array has its size twice; all that is large is donated.
    for name in ["loop90", "state-donated"] {
        let program = compiled(name);
        assert_eq!((program.kept, program.half), (None, None), "{name}");
    }
    // Of what is not donated, the size may be followed whatever it is called.
    let half = compiled("undonated").half.expect("a cache");
    assert_eq!((half.arguments.join(" "), half.size, half.bytes), ("cache".to_owned(), 65536, 256 << 20));
}
