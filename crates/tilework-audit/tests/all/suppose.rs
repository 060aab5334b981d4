//! What would be if arrays lay otherwise.

use tilework::xla::{ArrayShape, Shape};
use tilework_audit::{Audit, Audited, Instead, Target};

fn audit(text: &str) -> Audit {
    let mut audit = Audit::new();
    audit.read("text", text.as_bytes()).expect("memory is read");
    audit
}

fn array(text: &str) -> ArrayShape {
    Shape::parse(text).expect("a shape").as_array().expect("an array").clone()
}

fn only(audit: &Audit) -> Audited {
    let mut programs = audit.findings(usize::MAX).programs;
    assert_eq!(programs.len(), 1);
    programs.remove(0)
}

/// Two buffers of 8 KiB that are there at once, and a table of pointers.
const DUMP: &str = "\
BufferAssignment:
allocation 0: size 16400, page 0, preallocated-temp:
 value: <1 a @0> (size=8192,offset=0): f32[16,32]{1,0:T(8,128)}
 value: <2 b @0> (size=8192,offset=8192): f32[16,32]{1,0:T(8,128)S(1)}
 value: <3 c @0> (size=16,offset=16384): (f32[16,32]{1,0:T(8,128)}, s32[])
HloLiveRange (max 9):
  BufferLiveRange:
    a{}:0-2
    b{}:1-4
HloModule m
ENTRY %main (a: f32[16,32]) -> f32[16,32] {
  %a = f32[16,32]{1,0:T(8,128)} parameter(0)
  ROOT %b = f32[16,32]{0,1:T(8,128)} copy(%a)
}
";

#[test]
fn another_layout_counts_at_the_peak_and_in_moves_and_is_no_contradiction() {
    let mut audit = audit(DUMP);
    let before = only(&audit);
    assert_eq!((before.moved.changes, before.moved.bytes), (1, 2048));
    assert_eq!(audit.suppose_layout(&array("f32[16,32]{0,1:T(8,128)}")), Ok(3), "each in its own memory");
    let after = only(&audit);
    assert_eq!((after.moved.changes, after.moved.bytes), (0, 0));
    // 32 rows of 16, in four tiles of 8 by 128: as large as before; the tuple's table stays.
    assert_eq!(after.total.allocated, before.total.allocated - 2 * 8192 + 2 * 16384);
    let sum = after.peak.expect("live ranges").sum;
    assert_eq!((sum.allocated, sum.data), (2 * 16384 + 16, 2 * 2048 + 16));
    assert_eq!(after.contradiction_count, before.contradiction_count);
}

#[test]
fn shapes_that_come_to_be_the_same_are_one() {
    let mut dump = audit(&DUMP.replace("S(1)", ""));
    dump.suppose_layout(&array("f32[16,32]{0,1:T(8,128)}")).expect("it is there");
    let all: Vec<u64> = only(&dump).shapes.iter().map(|shape| shape.sum.buffers).collect();
    assert_eq!(all, [2]);
    let mut loose = audit("f32[3,5] and f32[3,5]{1,0:T(8,128)} and f32[3,5]{0,1}");
    assert_eq!(only(&loose).total.buffers, 3);
    loose.suppose_layout(&array("f32[3,5]{1,0}")).expect("it is there");
    assert_eq!(only(&loose).total.buffers, 1);
}

#[test]
fn a_layout_for_an_array_that_is_not_there_is_refused() {
    let error = audit(DUMP).suppose_layout(&array("f32[32,16]{1,0}")).expect_err("it is not there");
    assert_eq!(error.found(), "no array f32[32,16] in what was read");
    let unbounded = audit("f32[?]").suppose_layout(&array("f32[?]{0}"));
    assert!(unbounded.is_err());
}

#[test]
fn a_target_lays_out_what_has_no_tiles_and_nothing_else() {
    let mut audit = audit("bf16[2621440,1,2] f32[8,8]{1,0:T(2,2)} s32[] tensor<3x5xf32>");
    assert_eq!(audit.suppose_target(Target::from_name("tpu").expect("a target")), 3);
    let findings = audit.findings(9);
    let mut shapes: Vec<String> =
        findings.programs[0].buffers.iter().map(|buffer| buffer.shape.to_string()).collect();
    shapes.sort_unstable();
    assert_eq!(
        shapes,
        [
            "bf16[2621440,1,2]{2,1,0:T(2,128)(2,1)}",
            "f32[3,5]{1,0:T(4,128)}",
            "f32[8,8]{1,0:T(2,2)}",
            "s32[]{:T(128)}"
        ]
    );
    let assumed = findings.assumed.as_ref();
    assert_eq!(assumed.map(|assumed| (assumed.target.name(), assumed.shapes)), Some(("tpu", 3)));
    // What smaller layouts are looked for is the target's as well.
    audit.suppose_target(
        Target::of_tiles([tilework_audit::tiles_from_text("T(2,2)").expect("tiles")]).expect("a target"),
    );
    let shape = &audit.findings(9).programs[0].shapes[0];
    let smallest = shape.smallest.as_ref().expect("a smaller one");
    assert_eq!((shape.sum.allocated, smallest.bytes), (1_342_177_280, 10_485_760));
}

#[test]
fn a_layout_alone_is_about_the_array_that_wastes_the_most() {
    let findings = audit("f32[100,3]{1,0:T(8,128)} f32[1000,3]{1,0:T(8,128)} f32[9]{0}").findings(9);
    let worst = |text: &str| {
        let array = Instead::parse(text).expect("a layout").array(&findings);
        array.map(|array| array.to_string()).map_err(|error| error.found().to_owned())
    };
    assert_eq!(worst("{0,1}").as_deref(), Ok("f32[1000,3]{0,1}"));
    assert_eq!(worst("{0}").as_deref(), Ok("f32[9]{0}"));
    assert_eq!(worst("{2,1,0}"), Err("no array of 3 dimensions in what was read".to_owned()));
    assert_eq!(worst("f32[7]{0:T(2)}").as_deref(), Ok("f32[7]{0:T(2)}"));
    assert!(Instead::parse("token[]").is_err() && Instead::parse("{0").is_err());
}
