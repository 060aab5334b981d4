//! HLO modules in the ways in which they are written.

use tilework_audit::{Audit, Audited, Operation};

fn read(text: &str) -> Audited {
    let mut audit = Audit::new();
    audit.read("module", text.as_bytes()).expect("memory is read");
    let mut found = audit.findings(usize::MAX);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    found.programs.remove(0)
}

#[test]
fn names_without_marks_and_operands_with_shapes_say_the_same() {
    let today = "HloModule m\n\nENTRY %main (x: f32[8,200]) -> f32[200,8] {\n  \
                 %x = f32[8,200]{1,0:T(8,128)} parameter(0)\n  \
                 ROOT %t = f32[200,8]{1,0:T(8,128)} transpose(%x), dimensions={1,0}\n}\n";
    let bare = today.replace('%', "");
    let older = today.replace("transpose(%x)", "transpose(f32[8,200]{1,0:T(8,128)} %x)");
    for text in [today, &bare, &older] {
        let program = read(text);
        let moves = &program.moves[..];
        assert_eq!(moves.len(), 1, "{text}");
        assert_eq!((moves[0].operation, moves[0].bytes), (Operation::Transpose, 6400));
        assert_eq!((moves[0].name.as_str(), moves[0].parameter.as_deref()), ("t", Some("x")));
        assert_eq!(program.total.buffers, 2);
    }
}

#[test]
fn transposes_and_reshapes_that_find_everything_in_place_move_nothing() {
    let program = read(
        "HloModule m\nENTRY %main (x: f32[16,128]) -> f32[2048] {\n  %x = f32[16,128]{1,0:T(8,128)} parameter(0)\n  \
         %t = f32[128,16]{0,1:T(8,128)} transpose(%x), dimensions={1,0}\n  \
         ROOT %r = f32[2048]{0:T(1024)} reshape(%x)\n}\n",
    );
    assert_eq!((program.moved.free, program.moved.changes), (2, 0));
}

#[test]
fn a_computation_that_wraps_one_instruction_for_a_kernel_is_no_fusion() {
    let text = |name: &str| {
        format!(
            "HloModule m\n\n%{name} (p: f32[64,32]) -> f32[64,32] {{\n  %p = f32[64,32]{{1,0}} parameter(0)\n  \
             ROOT %c = f32[64,32]{{0,1}} copy(%p)\n}}\n\nENTRY %main (x: f32[64,32]) -> f32[64,32] {{\n  \
             %x = f32[64,32]{{1,0}} parameter(0)\n  ROOT %f = f32[64,32]{{0,1}} fusion(%x), kind=kLoop, calls=%{name}\n}}\n"
        )
    };
    let wrapped = read(&text("wrapped_copy_computation"));
    assert_eq!((wrapped.moved.changes, wrapped.moved.bytes, wrapped.moved.fused), (1, 8192, 0));
    let fused = read(&text("fused_computation"));
    assert_eq!((fused.moved.changes, fused.moved.fused), (0, 1));
    // The copy has no buffer of its own: there are the argument and the result of the fusion.
    assert_eq!((wrapped.total.buffers, fused.total.buffers), (2, 2));
}
