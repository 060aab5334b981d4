//! HLO modules in the ways in which they are written.

use tilework_audit::{Advice, Asked, Audit, Audited, Donation, Near, Operation};

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
        assert_eq!((moves[0].name.as_str(), moves[0].argument.as_deref()), ("t", Some("x")));
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
fn a_fusion_that_computes_nothing_is_what_it_moves() {
    let text = |then: &str| {
        format!(
            "HloModule m\n\n%fused (p: f32[64,32]) -> f32[64,32] {{\n  %p = f32[64,32]{{1,0}} parameter(0)\n  \
             %b = f32[64,32]{{1,0}} bitcast(%p)\n  %c = f32[64,32]{{0,1}} copy(%b)\n  \
             ROOT %r = f32[64,32]{{0,1}} {then}(%c)\n}}\n\nENTRY %main (x: f32[64,32]) -> f32[64,32] {{\n  \
             %x = f32[64,32]{{1,0}} parameter(0)\n  ROOT %f = f32[64,32]{{0,1}} fusion(%x), kind=kLoop, calls=%fused\n}}\n"
        )
    };
    let wrapping = read(&text("bitcast"));
    assert_eq!((wrapping.moved.changes, wrapping.moved.bytes, wrapping.moved.fused), (1, 8192, 0));
    let computing = read(&text("negate"));
    assert_eq!((computing.moved.changes, computing.moved.fused, computing.moved.fused_bytes), (0, 1, 8192));
    // The copy has no buffer of its own: there are the argument and the result of the fusion.
    assert_eq!((wrapping.total.buffers, computing.total.buffers), (2, 2));
}

/// A copy in a fusion that only wraps it, which is called from another computation by `call`, and that from the program.
fn wrapped(called_by: &str, then: &str) -> String {
    format!(
        "HloModule m

%wrapped_copy (p: f32[64,32]) -> f32[64,32] {{
  %p = f32[64,32]{{1,0}} parameter(0)
  ROOT %c = f32[64,32]{{0,1}} copy(%p)
}}

%middle (p: f32[64,32]) -> f32[64,32] {{
  %q = f32[64,32]{{1,0}} parameter(0)
  ROOT %f = f32[64,32]{{0,1}} {called_by}
}}

%outer (p: f32[64,32]) -> f32[64,32] {{
  %r = f32[64,32]{{1,0}} parameter(0)
  %m = f32[64,32]{{0,1}} fusion(%r), kind=kLoop, calls=%middle
  ROOT %n = f32[64,32]{{0,1}} {then}(%m)
}}

ENTRY %main (x: f32[64,32]) -> f32[64,32] {{
  %x = f32[64,32]{{1,0}} parameter(0)
  ROOT %o = f32[64,32]{{0,1}} fusion(%x), kind=kLoop, calls=%outer
}}
"
    )
}

#[test]
fn what_is_nested_in_a_fusion_moves_on_its_way_however_deep() {
    for called_by in [
        "fusion(%q), kind=kLoop, calls=%wrapped_copy",
        "call(%q), to_apply=%wrapped_copy",
        "async-start(%q), calls=%wrapped_copy",
        "conditional(%q, %q), true_computation=%wrapped_copy, false_computation=%wrapped_copy",
    ] {
        let moved = read(&wrapped(called_by, "negate")).moved;
        assert_eq!((moved.changes, moved.bytes, moved.fused), (0, 0, 1), "{called_by}");
        // Where nothing is computed on any level, all of it is that one copy.
        let wrapping = read(&wrapped(called_by, "bitcast"));
        assert_eq!((wrapping.moved.changes, wrapping.moved.fused), (1, 0), "{called_by}");
        assert_eq!(wrapping.total.buffers, 2, "{called_by}");
    }
}

/// A copy in the body of a loop within the body of a loop, and one in a fusion of an argument.
fn nested(outer: &str, inner: &str) -> String {
    format!(
        "HloModule m

%copies (p: f32[64,32]) -> f32[64,32] {{
  %p = f32[64,32]{{1,0}} parameter(0)
  %q = f32[64,32]{{1,0}} parameter(1)
  %b = f32[64,32]{{1,0:T(1)}} bitcast(%q)
  %c = f32[64,32]{{0,1}} copy(%b)
  ROOT %n = f32[64,32]{{0,1}} negate(%c)
}}

%inner_body (t: (s32[], f32[64,32])) -> (s32[], f32[64,32]) {{
  %t = (s32[], f32[64,32]{{1,0}}) parameter(0)
  %x = f32[64,32]{{1,0}} get-tuple-element(%t), index=1
  %y = f32[64,32]{{0,1}} copy(%x)
  %one = s32[] constant(1)
  %j = s32[] get-tuple-element(%t), index=0
  %next = s32[] add(%j, %one)
  ROOT %r = (s32[], f32[64,32]{{1,0}}) tuple(%next, %y)
}}

%inner_condition (t: (s32[], f32[64,32])) -> pred[] {{
  %limit = s32[] constant(5)
  %t = (s32[], f32[64,32]{{1,0}}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  ROOT %lt = pred[] compare(%i, %limit), direction={inner}
}}

%outer_condition (t: (s32[], f32[64,32])) -> pred[] {{
  %t = (s32[], f32[64,32]{{1,0}}) parameter(0)
  ROOT %lt = pred[] constant(true)
}}

%outer_body (t: (s32[], f32[64,32])) -> (s32[], f32[64,32]) {{
  %t = (s32[], f32[64,32]{{1,0}}) parameter(0)
  %x = f32[64,32]{{1,0}} get-tuple-element(%t), index=1
  %n = s32[] get-tuple-element(%t), index=0
  %u = (s32[], f32[64,32]{{1,0}}) tuple(%n, %x)
  %w = (s32[], f32[64,32]{{1,0}}) while(%u), condition=%inner_condition, body=%inner_body
  %v = f32[64,32]{{1,0}} get-tuple-element(%w), index=1
  ROOT %r = (s32[], f32[64,32]{{1,0}}) tuple(%n, %v)
}}

ENTRY %main (a: f32[64,32], b: f32[64,32]) -> f32[64,32] {{
  %a = f32[64,32]{{1,0}} parameter(0)
  %b = f32[64,32]{{1,0}} parameter(1)
  %n = s32[] constant(0)
  %t = (s32[], f32[64,32]{{1,0}}) tuple(%n, %a)
  %w = (s32[], f32[64,32]{{1,0}}) while(%t), condition=%outer_condition, body=%outer_body{outer}
  ROOT %f = f32[64,32]{{0,1}} fusion(%a, %b), kind=kLoop, calls=%copies
}}
"
    )
}

#[test]
fn a_copy_in_a_loop_moves_its_bytes_as_often_as_the_loop_runs() {
    let counted = ", backend_config={\"known_trip_count\":{\"n\":\"3\"}}";
    let program = read(&nested(counted, "LT"));
    let copy = program.moves.iter().find(|change| change.name == "y").expect("the copy in the loop");
    assert_eq!((copy.runs, copy.count, copy.bytes), (15, 1, 15 * 8192));
    assert_eq!((program.moved.changes, program.moved.bytes, program.moved.unknown_loops), (1, 15 * 8192, 0));
    let runs = |outer, inner| {
        let moved = read(&nested(outer, inner)).moved;
        (moved.bytes / 8192, moved.unknown_loops)
    };
    assert_eq!(runs("", "LT"), (5, 1));
    assert_eq!(runs(counted, "NE"), (15, 0));
    assert_eq!(runs(counted, "EQ"), (0, 0));
    assert_eq!(runs(counted, "LE"), (18, 0));
    assert_eq!(runs(counted, "GE"), (0, 0));
    // One buffer is made, however often.
    assert_eq!(program.total.buffers, read(&nested("", "GE")).total.buffers);
}

/// A loop whose counter begins with `first`, is made the next one by `step`, and goes on while `root` says so; the copy in it.
fn counted(first: &str, step: &str, root: &str, inits: &str) -> (u64, bool, u64) {
    let program = read(&format!(
        "HloModule m

%add_one (p: s32[], q: s32[]) -> s32[] {{
  %ap = s32[]{{:T(128)}} parameter(0)
  %aq = s32[] parameter(1)
  %one = s32[] constant(1)
  %sum = s32[] add(%ap, %aq)
  ROOT %more = s32[] add(%sum, %one)
}}

%is_below (p: s32[], q: s32[]) -> pred[] {{
  %bq = s32[] parameter(1)
  %bp = s32[] parameter(0)
  ROOT %less = pred[] compare(%bp, %bq), direction=LT, type=SIGNED
}}

%body (t: (s32[], s32[], f32[64,32])) -> (s32[], s32[], f32[64,32]) {{
  %t = (s32[], s32[], f32[64,32]{{1,0}}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %n = s32[] get-tuple-element(%t), index=1
  %x = f32[64,32]{{1,0}} get-tuple-element(%t), index=2
  %y = f32[64,32]{{0,1}} copy(%x)
  %c10 = s32[] constant(10)
  %c1 = s32[] constant(1)
  %c3 = s32[] constant(-3)
  %next = {step}
  ROOT %r = (s32[], s32[], f32[64,32]{{1,0}}) tuple(%next, %n, /*index=2*/%y)
}}

%condition (t: (s32[], s32[], f32[64,32])) -> pred[] {{
  %ct = (s32[], s32[], f32[64,32]{{1,0}}) parameter(0)
  %ci = s32[] get-tuple-element(%ct), index=0
  %cn = s32[] get-tuple-element(%ct), index=1
  %hundred = s32[] constant(100)
  %zero = s32[] constant(0)
  ROOT {root}
}}

ENTRY %main (a: f32[64,32], k: s32[]) -> f32[64,32] {{
  %a = f32[64,32]{{1,0}} parameter(0)
  %k = s32[] parameter(1)
  %start = {first}
  %started = s32[] copy(%start)
  %limit = s32[] constant(70)
  %init = (s32[], s32[], f32[64,32]{{1,0}}) tuple({inits}, %a)
  %w = (s32[], s32[], f32[64,32]{{1,0}}) while(%init), condition=%condition, body=%body
  ROOT %o = f32[64,32]{{1,0}} get-tuple-element(%w), index=2
}}
"
    ));
    let copy = program.moves.iter().find(|change| change.name == "y").expect("the copy in the loop");
    assert_eq!(copy.bytes, copy.runs * 8192);
    (copy.runs, copy.runs_known, program.moved.unknown_loops)
}

#[test]
fn a_loop_runs_from_where_it_starts_by_what_it_adds_to_where_it_ends() {
    const NUMBER: &str = "s32[] constant";
    let by_one = "s32[] add(%i, %c1)";
    let below = "%lt = pred[] compare(%ci, %hundred), direction=LT";
    for (first, step, root, runs) in [
        (90, by_one, below, 10),
        (0, "s32[] add(%i, %c10)", below, 10),
        (-5, "s32[] add(%c10, %i)", below, 11),
        (0, by_one, "%le = pred[] compare(%ci, %hundred), direction=LE", 101),
        (0, by_one, "%gt = pred[] compare(%hundred, %ci), direction=GT", 100),
        (20, "s32[] add(%i, %c3)", "%gt = pred[] compare(%ci, %zero), direction=GT", 7),
        (20, "s32[] subtract(%i, %c10)", "%ge = pred[] compare(%ci, %zero), direction=GE", 3),
        (50, "s32[] add(%i, %c10)", "%ne = pred[] compare(%ci, %hundred), direction=NE", 5),
        // The limit is carried along, and the root is within a fusion.
        (7, by_one, "%f = pred[] fusion(%ci, %cn), kind=kLoop, calls=%is_below", 63),
        (
            7,
            "s32[] fusion(%i, %c10), kind=kLoop, calls=%add_one",
            "%c = pred[] call(%ci, %cn), to_apply=%is_below",
            6,
        ),
        (100, by_one, below, 0),
    ] {
        let found = counted(&format!("{NUMBER}({first})"), step, root, "%started, %limit");
        assert_eq!(found, (runs, true, 0), "from {first} by {step} while {root}");
    }
    for (first, step, root, inits) in [
        ("s32[] constant(0)", "s32[] multiply(%i, %c10)", below, "%started, %limit"),
        ("s32[] constant(0)", "s32[] add(%n, %c1)", below, "%started, %limit"),
        ("s32[] constant(0)", "s32[] add(%i, %c3)", below, "%started, %limit"),
        (
            "s32[] constant(1)",
            "s32[] add(%i, %c10)",
            "%ne = pred[] compare(%ci, %hundred), direction=NE",
            "%k, %k",
        ),
        ("s32[] add(%k, %k)", by_one, below, "%started, %limit"),
        ("s32[] constant(0)", by_one, below, "%k, %limit"),
        (
            "s32[] constant(0)",
            by_one,
            "%f = pred[] fusion(%ci, %cn), kind=kLoop, calls=%is_below",
            "%started, %k",
        ),
        ("s32[] constant(0)", by_one, "%t = pred[] constant(true)", "%started, %limit"),
    ] {
        assert_eq!(counted(first, step, root, inits), (1, false, 1), "{first} {step} {root} {inits}");
    }
}

#[test]
fn a_copy_of_an_argument_that_is_not_donated_is_a_copy_all_the_same() {
    let text = |alias: &str, more: &str, result: &str| {
        format!(
            "HloModule m, is_scheduled=true, {alias}entry_computation_layout={{}}

%fused (p: f32[64,128]) -> f32[64,128] {{
  %p = f32[64,128]{{1,0:T(8,128)}} parameter(0)
  %q = f32[64,128]{{1,0:T(8,128)}} copy(%p)
  ROOT %n = f32[64,128]{{1,0:T(8,128)}} negate(%q)
}}

ENTRY %main (p: f32[64,128]) -> {result} {{
  %cache.1 = f32[64,128]{{1,0:T(8,128)}} parameter(0), metadata={{op_name=\"state[\\'cache\\']\"}}
  %copy.3 = f32[64,128]{{1,0:T(8,128)}} copy(%cache.1)
  %bitcast = f32[64,128]{{1,0:T(8,128)}} bitcast(%copy.3){more}
  ROOT %f = {result}{{1,0:T(8,128)}} fusion(%bitcast), kind=kLoop, calls=%fused, metadata={{op_name=\"jit(f)/neg\" \
             source_file=\"a.py\" source_line=9}}
}}
"
        )
    };
    let found = |alias: &str, more: &str, result: &str| {
        let program = read(&text(alias, more, result));
        assert_eq!((program.moved.again, program.moved.again_bytes, program.moved.changes), (1, 1 << 15, 0));
        let copy = program.moves[0].clone();
        assert!(!copy.changes_layout && copy.argument.as_deref() == Some("state['cache']"), "{copy:?}");
        // The compiler made it for what reads it.
        assert_eq!((copy.near, copy.near_place.line), (Near::Read, Some(9)));
        copy.donation
    };
    let same = "f32[64,128]";
    assert_eq!(found("", "", same), Some(Donation::Removes));
    let other = "\n  %other = f32[64,128]{1,0:T(8,128)} negate(%cache.1)";
    assert_eq!(found("", other, same), Some(Donation::MayRemove));
    assert_eq!(found("input_output_alias={ {}: (0, {}, may-alias) }, ", "", same), Some(Donation::InVain));
    // No result could lie in its place.
    assert_eq!(found("", "", "f32[64,256]"), None);
}

#[test]
fn an_argument_that_is_moved_within_a_fusion_is_told_by_its_name() {
    let program = read(&nested("", "LT"));
    let arguments: Vec<_> = program
        .arguments
        .iter()
        .map(|change| (change.name.as_str(), change.argument.as_deref(), change.fused, change.bytes))
        .collect();
    assert_eq!(arguments, [("c", Some("b"), true, 8192)]);
    assert_eq!((program.moved.arguments, program.moved.arguments_bytes), (1, 8192));
}

#[test]
fn a_module_that_was_cut_before_what_matters_is_named() {
    for text in [
        "HloModule m, is_scheduled=true",
        "HloModule m\n\n%a (t: f32[4]) -> f32[4] {\n  ROOT %t = f32[4]{0} parameter(0)\n}\n",
    ] {
        let mut audit = Audit::new();
        audit.read("module", text.as_bytes()).expect("memory is read");
        let unread = audit.findings(9).unread;
        assert!(unread.iter().any(|unread| unread.reason.contains("before its ENTRY")), "{text}: {unread:?}");
    }
}

#[test]
fn computations_that_call_each_other_in_a_circle_end() {
    let while_of = |callee: &str| format!("while(%t), condition=%c, body=%{callee}, {COUNTED}");
    const COUNTED: &str = "backend_config={\"known_trip_count\":{\"n\":\"18446744073709551615\"}}";
    let text = format!(
        "HloModule m\n\n%a (t: f32[4,2]) -> f32[4,2] {{\n  %t = f32[4,2]{{1,0}} parameter(0)\n  \
         %v = f32[4,2]{{0,1}} copy(%t)\n  ROOT %w = f32[4,2]{{1,0}} {}\n}}\n\nENTRY %b (t: f32[4,2]) -> f32[4,2] {{\n  \
         %t = f32[4,2]{{1,0}} parameter(0)\n  %x = f32[4,2]{{1,0}} {}\n  ROOT %w = f32[4,2]{{1,0}} {}\n}}\n",
        while_of("b"),
        while_of("a"),
        while_of("a"),
    );
    let moves = read(&text).moves;
    // What runs more often than can be counted is not made small by it.
    assert_eq!((moves[0].runs, moves[0].bytes), (u64::MAX, u64::MAX));
}

#[test]
fn what_is_in_a_tuple_has_a_buffer_each() {
    let program = read(
        "HloModule m\nENTRY %main (x: f32[8,3]) -> (f32[8,3], (f32[8,3], token[])) {\n  \
         %x = f32[8,3]{1,0:T(8,128)} parameter(0)\n  %f = (f32[8,3]{1,0:T(8,128)}, (f32[8,3]{0,1:T(4,128)}, token[])) \
         custom-call(%x)\n  ROOT %e = () tuple()\n}\n",
    );
    assert_eq!((program.total.buffers, program.total.allocated), (3, 4096 + 4096 + 2048));
    assert_eq!(program.shapes[0].shape.to_string(), "f32[8,3]{1,0:T(8,128)}");
    assert_eq!(program.shapes[0].sum.buffers, 2);
}

#[test]
fn an_argument_is_the_same_in_a_faster_memory() {
    let program = read(
        "HloModule m\nENTRY %main (x: f32[8,200]) -> f32[8,200] {\n  %x = f32[8,200]{1,0:T(8,128)} parameter(0)\n  \
         %s = (f32[8,200]{1,0:T(8,128)S(1)}, f32[8,200]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x)\n  \
         %d = f32[8,200]{1,0:T(8,128)S(1)} copy-done(%s)\n  ROOT %t = f32[8,200]{0,1:T(8,128)} copy(%d)\n}\n",
    );
    assert_eq!((program.moved.changes, program.moved.between_spaces), (1, 1));
    assert_eq!(program.arguments[0].argument.as_deref(), Some("x"));
}

#[test]
fn modules_that_pytorch_saves_stand_among_other_lines() {
    let graph = |name: &str| {
        format!(
            "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n  step (train.py:5)\n\nHashes: (17)\n\n## BEGIN_GRAPH\n\
             HloModule {name}, entry_computation_layout={{(f32[8,3]{{1,0:T(8,128)}})->f32[8,3]{{1,0:T(8,128)}}}}\n\n\
             ENTRY %{name} (p: f32[8,3]) -> f32[8,3] {{\n  ROOT %p = f32[8,3]{{1,0:T(8,128)}} parameter(0)\n}}\n\n\n\
             ## END_GRAPH\n\n"
        )
    };
    let mut audit = Audit::new();
    audit.read("save1.hlo.0", format!("{}{}", graph("a"), graph("b")).as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    let programs: Vec<_> =
        found.programs.iter().map(|each| (each.name.as_str(), each.total.allocated)).collect();
    assert_eq!(programs, [("a", 4096), ("b", 4096)]);
}

/// A program that moves its argument, and perhaps the result in its place; what is advised.
fn advised(alias: &str, move_in: &str, update: &str, root: &str) -> Vec<(Asked, String, u64, i64)> {
    let program = read(&format!(
        "HloModule m, {alias}entry_computation_layout={{}}

ENTRY %main (p: f32[256,128], q: f32[256,128]) -> (f32[256,128]) {{
  %param.2 = f32[256,128]{{1,0:T(8,128)}} parameter(0), metadata={{op_name=\"cache\"}}
  %in = {move_in}
  %update = {update}
  %back = f32[256,128]{{1,0:T(8,128)}} copy(%update)
  ROOT %r = (f32[256,128]{{1,0:T(8,128)}}) tuple({root})
}}
"
    ));
    let more = |advice: &Advice| advice.instead_allocated as i64 - advice.allocated as i64;
    let each = |advice: &Advice| (advice.asked, advice.instead.to_string(), advice.saves, more(advice));
    assert!(program.advice.iter().all(|advice| advice.number == 0 && !advice.name.contains('.')));
    program.advice.iter().map(each).collect()
}

#[test]
fn arguments_and_the_results_in_their_places_are_judged_together() {
    const DONATED: &str = "input_output_alias={ {0}: (0, {}, may-alias) }, ";
    let copied = "f32[256,128]{0,1:T(8,128)S(1)} copy(%param.2)";
    let updated = "f32[256,128]{0,1:T(8,128)S(1)} negate(%in)";
    let other = "f32[256,128]{0,1:T(8,128)}".to_owned();
    let bytes = 256 * 128 * 4;
    assert_eq!(advised(DONATED, copied, updated, "%back"), [(Asked::Both, other.clone(), 2 * bytes, 0)]);
    // The result is made in place, in the layout that it has.
    let in_place = "f32[256,128]{1,0:T(8,128)} negate(%param.2)";
    assert_eq!(advised(DONATED, copied, in_place, "%update"), [(Asked::Nothing, other.clone(), bytes, 0)]);
    assert_eq!(
        advised("", copied, updated, "%back"),
        [(Asked::Argument, other.clone(), bytes, 0), (Asked::Result, other, bytes, 0)]
    );
    // A transpose asks for the order under the dimensions of the argument, and a reshape for none.
    let transposed = "f32[128,256]{1,0:T(8,128)} transpose(%param.2), dimensions={1,0}";
    let own = "f32[256,128]{0,1:T(8,128)}".to_owned();
    let negated = "f32[256,128]{1,0:T(8,128)} custom-call(%in)";
    assert_eq!(advised("", transposed, negated, "%update"), [(Asked::Argument, own, bytes, 0)]);
    let reshaped = "f32[16,2048]{1,0:T(8,128)} reshape(%param.2)";
    assert_eq!(advised("", reshaped, negated, "%update"), []);
}

#[test]
fn a_copy_of_the_compilers_is_for_the_line_that_reads_it_however_far() {
    let line =
        |line: u32| format!(", metadata={{op_name=\"jit(f)/a\" source_file=\"a.py\" source_line={line}}}");
    let text = |made: &str, passed: &str, read: &str| {
        format!(
            "HloModule m\n\nENTRY %main (x: f32[64,32]) -> f32[2048] {{\n  %x = f32[64,32]{{1,0}} parameter(0), \
             metadata={{op_name=\"x\"}}\n  %n = f32[64,32]{{1,0}} negate(%x){made}\n  %c = f32[64,32]{{0,1}} copy(%n)\n  \
             %s = (f32[64,32]{{0,1:S(1)}}, f32[64,32]{{0,1}}, u32[]) copy-start(%c)\n  %d = f32[64,32]{{0,1:S(1)}} \
             copy-done(%s)\n  %r = f32[32,64]{{0,1}} reshape(%d)\n  %t = (f32[32,64]{{0,1}}) tuple(%r){passed}\n  \
             %e = f32[32,64]{{0,1}} get-tuple-element(%t), index=0\n  ROOT %o = f32[2048]{{0}} reshape(%e){read}\n}}\n"
        )
    };
    let near = |made: &str, passed: &str, reads: &str| {
        let program = read(&text(made, passed, reads));
        let copy = program.moves.iter().find(|change| change.name == "c").expect("the copy");
        (copy.near, copy.near_place.line, copy.near_place.operation.clone())
    };
    let a = Some("jit(f)/a".to_owned());
    assert_eq!(near(&line(5), "", &line(9)), (Near::Read, Some(9), a.clone()));
    assert_eq!(near(&line(5), &line(7), &line(9)), (Near::Read, Some(7), a.clone()));
    // A line rather than an operation, and what makes it if nothing that reads it says anything.
    let operation = ", metadata={op_name=\"jit(f)/b\"}";
    assert_eq!(near("", operation, &line(9)), (Near::Read, Some(9), a.clone()));
    assert_eq!(near(&line(5), operation, ""), (Near::Made, Some(5), a));
    assert_eq!(near("", operation, ""), (Near::Read, None, Some("jit(f)/b".to_owned())));
    assert_eq!(near("", "", ""), (Near::Nothing, None, None));
}
