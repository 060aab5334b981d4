//! The tiles of targets, against what a compiler wrote.

use tilework::xla::{ArrayShape, Layout, Shape};
use tilework_audit::{Audit, Target, suggest, tiles_from_text};

fn array(text: &str) -> ArrayShape {
    Shape::parse(text).unwrap().as_array().unwrap().clone()
}

/// The same order, and nothing else.
fn plain(array: &ArrayShape) -> ArrayShape {
    let order = array.layout().unwrap().minor_to_major().to_vec();
    array.clone().with_layout(Layout::new(order).unwrap()).unwrap()
}

/// Every line of the table: the target, whether the order was asked for, the array.
fn compiled() -> Vec<(Target, bool, ArrayShape)> {
    let lines = include_str!("../compiler.txt").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (Target::from_name(words[0]).unwrap(), words[1] == "asked", array(words[2]))
    };
    lines.map(read).collect()
}

#[test]
fn a_machine_says_how_long_copies_take_at_least() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compiled/undonated");
    let mut audit = Audit::new();
    assert!(audit.read_path(std::path::Path::new(folder)).is_empty());
    let found = audit.findings(usize::MAX);
    assert_eq!((&found.programs[0].machine, found.programs[0].moves[0].least_nanoseconds), (&None, None));
    audit.suppose_target(Target::from_name("v5e").expect("a target"));
    let program = &audit.findings(usize::MAX).programs[0];
    let machine = program.machine.as_ref().expect("its memory is known");
    assert_eq!((machine.name.as_str(), machine.device.memory), ("tpu-v5e", 16 << 30));
    // 256 MiB are read and written.
    let copy = program.moves.iter().find(|change| change.bytes == 256 << 20).expect("is there");
    assert_eq!(
        (copy.touched_main, copy.least_nanoseconds),
        (512 << 20, Some((512 << 20) * 1_000_000_000 / 819_000_000_000))
    );
    // What is in the registers or the vector memory takes time too, of which nothing is known.
    let mut other = Audit::new();
    let text = "HloModule m\n\nENTRY %e (x: f32[256,128]) -> f32[128,256] {\n  %x = f32[256,128]{1,0:T(8,128)} parameter(0)\n  \
                %c = f32[256,128]{0,1:T(8,128)S(1)} copy(%x)\n}\n";
    other.read("m.txt", text.as_bytes()).expect("memory is read");
    other.suppose_target(Target::from_name("v5e").expect("a target"));
    let change = &other.findings(1).programs[0].moves[0];
    assert_eq!((change.touched, change.touched_main), (2 * 131_072, 131_072));
}

#[test]
fn what_is_outside_of_the_main_memory_keeps_its_size_on_every_target() {
    let mut audit = Audit::new();
    audit.read("pasted", "s32[]{:S(2)} f32[3,5]{1,0:S(6)} f32[3,5]{1,0}".as_bytes()).expect("memory is read");
    assert_eq!(audit.suppose_target(Target::from_name("tpu").expect("a target")), 1);
    assert_eq!(audit.findings(1).programs[0].total.allocated, 4 + 60 + 2048);
}

#[test]
fn every_tile_is_the_compilers() {
    let compiled = compiled();
    assert!(compiled.len() > 800);
    for (target, _, written) in compiled {
        let placed = target.place(&plain(&written)).unwrap();
        assert_eq!(placed.shape.to_string(), written.to_string(), "{}", target.name());
    }
}

#[test]
fn the_first_suggestion_for_a_row_major_array_is_the_compilers_own_choice() {
    for (target, _, written) in compiled().into_iter().filter(|(_, is_asked, _)| !is_asked) {
        let bare = written.clone().without_layout();
        let found = suggest(&bare, &target).unwrap();
        let first = found.smaller().next().unwrap_or(&found.given);
        assert_eq!(first.shape.to_string(), written.to_string(), "{}", target.name());
    }
}

#[test]
fn nothing_is_smaller_than_what_the_compiler_chooses_for_itself() {
    for (target, _, written) in compiled().into_iter().filter(|(_, is_asked, _)| !is_asked) {
        let found = suggest(&written, &target).unwrap();
        assert_eq!((found.smaller, found.is_assumed), (0, false), "{written} on {}", target.name());
    }
}

#[test]
fn tenstorrent_pads_both_dimensions_to_32() {
    let tenstorrent = Target::from_name("tenstorrent").unwrap();
    let given = |text: &str| suggest(&array(text), &tenstorrent).unwrap().given;
    // Of the document: 1024 × 48 is padded to 1024 × 64.
    assert_eq!(given("bf16[1024,48]").bytes, 1024 * 64 * 2);
    assert_eq!(given("bf16[1024,48]").shape.to_string(), "bf16[1024,48]{1,0:T(32,32)(16,16)}");
    assert_eq!(given("f32[5]").bytes, 32 * 32 * 4);
    // tt-xla: 10 MB became 5 GB, 512 times.
    let tall = given("bf16[2621440,1,2]");
    assert_eq!((tall.element_bytes, tall.bytes), (10 << 20, 5 << 30));
    // A tile is four faces: (0,16) begins the second, (16,0) the third.
    let layout = given("bf16[32,32]").shape.lower().unwrap();
    assert_eq!([[0, 16], [1, 0], [16, 0]].map(|index| layout.offset(&index).unwrap()), [256, 16, 512]);
}

#[test]
fn names_are_read_as_people_write_them() {
    for (written, name) in [
        ("tpu", "tpu"),
        ("TPU", "tpu"),
        (" tpu_v3 ", "tpu-v3"),
        ("TPU v5 lite", "tpu-v5e"),
        ("v5p", "tpu-v5p"),
        ("Trillium", "tpu-v6e"),
        ("TPU7x", "tpu7x"),
        ("ironwood", "tpu7x"),
        ("Tenstorrent", "tenstorrent"),
    ] {
        assert_eq!(Target::from_name(written).unwrap().name(), name);
    }
    assert!(Target::names().all(|(name, what)| Target::from_name(name).is_ok() && !what.is_empty()));
}

#[test]
fn other_names_lead_to_the_one_that_was_meant() {
    for (written, meant) in
        [("tpuu", Some("tpu")), ("tenstorent", Some("tenstorrent")), ("tpu-v5f", Some("tpu-v5e"))]
    {
        let error = Target::from_name(written).unwrap_err();
        assert_eq!(error.broken_rule(), meant.map(|name| format!("did you mean {name}?")).as_deref());
        assert!(error.accepted().unwrap().starts_with("tpu, tpu-v2"));
    }
    let long = "x".repeat(1 << 20);
    let error = Target::from_name(&long).unwrap_err();
    assert!(error.found().len() < 100 && error.broken_rule().is_none());
    assert!(Target::from_name("").is_err());
}

#[test]
fn tiles_of_ones_own_are_tiles_and_nothing_else() {
    assert_eq!(tiles_from_text(" T(8,128)(2,1)").unwrap().len(), 2);
    assert_eq!(tiles_from_text("(*,128)").unwrap().len(), 1);
    for (text, place) in [
        ("", 0..0),
        ("T", 1..1),
        ("T()", 1..3),
        ("T(0)", 2..3),
        ("T(8,128)E(4)", 0..12),
        ("T(8,128)S(1)", 0..12),
        ("T(8,128)}", 0..9),
        ("8,128", 0..5),
        ("S(1)", 0..4),
        ("T(8,128", 7..7),
    ] {
        let error = tiles_from_text(text).unwrap_err();
        let span = error.span().unwrap();
        assert!(span.end <= text.len() && span.start <= span.end, "{text}: {span:?}");
        assert_eq!(span, place, "{text}: {error}");
    }
    assert!(Target::of_tiles([]).is_err() && Target::of_tiles([vec![]]).is_err());
}

#[test]
fn elements_without_a_usual_tile_are_refused_by_their_width() {
    let bits = |text: &str, target: &str| {
        let error = suggest(&array(text), &Target::from_name(target).unwrap()).unwrap_err();
        error.found().to_owned()
    };
    assert_eq!(bits("s4[64,64]{1,0:E(4)}", "tpu-v3"), "4-bit elements");
    assert_eq!(bits("f32[64,64]{1,0:E(6)}", "tpu"), "6-bit elements");
    let seven = Target::of_tiles([tiles_from_text("T(7,7)").unwrap()]).unwrap();
    assert!(suggest(&array("f32[64,64]{1,0:E(6)}"), &seven).is_ok());
}

#[test]
fn types_that_no_compiler_was_seen_to_pack_are_refused_unless_the_layout_says_how() {
    for (text, target) in [("s1[64,64]", "tpu"), ("f6e3m2fn[64,64]", "tpu"), ("s2[64,64]", "tpu-v2")] {
        let error = suggest(&array(text), &Target::from_name(target).unwrap()).unwrap_err();
        assert_eq!(error.field_name(), Some("element type"), "{text}");
    }
    let written = array("s1[64,64]{1,0:T(8,128)(4,1)}");
    assert_eq!(suggest(&written, &Target::from_name("tpu").unwrap()).unwrap().given.bytes, 64 * 128);
}
