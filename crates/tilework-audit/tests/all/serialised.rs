//! Serialised modules say what the texts of the same compilation say, and hostile ones do no harm.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use crate::serial::{self, assignment, computation, hlo, instruction, module};
use proptest::prelude::*;
use tilework_audit::{Audit, Audited, Basis, Findings};

const PROGRAMS: [&str; 3] = ["loop", "particles", "tr"];

fn file(program: &str, suffix: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/twins");
    std::fs::read(root.join(program).join(format!("{program}{suffix}"))).expect("the file is there")
}

fn read(files: &[(&str, &[u8])]) -> Findings {
    let mut audit = Audit::new();
    for (name, bytes) in files {
        audit.read(name, *bytes).expect("memory is read");
    }
    audit.findings(usize::MAX)
}

/// Everything that is found but what only texts have: lines, and the compiler's own peak.
fn said(mut found: Findings) -> String {
    for program in &mut found.programs {
        program.buffers.iter_mut().chain(&mut program.largest).for_each(|buffer| buffer.line = 0);
        program.moves.iter_mut().for_each(|each| each.line = 0);
        program.arguments.iter_mut().for_each(|each| each.line = 0);
        program.contradictions.iter_mut().for_each(|each| each.line = 0);
        program.compilers_peak = None;
    }
    format!("{found:#?}")
}

/// Where the module stands in an `HloProto`, whose first field it is.
fn module_in(hlo: &[u8]) -> Range<usize> {
    let mut at = 1;
    let mut length = 0;
    for piece in 0.. {
        let byte = hlo[at];
        at += 1;
        length |= usize::from(byte & 0x7f) << (7 * piece);
        if byte < 0x80 {
            break;
        }
    }
    at..at + length
}

#[test]
fn a_serialised_dump_says_what_its_texts_say() {
    for program in PROGRAMS {
        let texts = ["-buffer-assignment.txt", "-live-range.txt", ".txt"].map(|suffix| file(program, suffix));
        let texts: Vec<(&str, &[u8])> = texts.iter().map(|text| ("dump", &text[..])).collect();
        let texts = read(&texts);
        assert_eq!((texts.programs.len(), texts.programs[0].basis), (1, Basis::Assignment));
        assert!(texts.programs[0].peak.is_some());
        let serialised = read(&[("dump", &file(program, ".hlo.pb"))]);
        similar(&said(texts), &said(serialised), program);
    }
}

#[test]
fn a_module_alone_says_what_its_text_says() {
    for program in PROGRAMS {
        let text = read(&[("module", &file(program, ".txt"))]);
        let whole = file(program, ".hlo.pb");
        let serialised = read(&[("module", &whole[module_in(&whole)])]);
        let [a, b] = [&text, &serialised].map(|found| &found.programs[0]);
        assert_eq!((a.basis, a.instructions, a.total), (Basis::Instructions, b.instructions, b.total));
        assert_eq!((b.basis, a.moved, &a.spaces), (a.basis, b.moved, &b.spaces));
        // Computations stand in another order, so what is alike in everything that orders a list may too.
        assert_eq!((&a.sources, &a.computations), (&b.sources, &b.computations));
        let shapes =
            |of: &Audited| of.shapes.iter().map(|shape| (shape.shape.clone(), shape.sum)).collect::<Vec<_>>();
        assert_eq!(shapes(a), shapes(b));
        assert!(text.unread.is_empty() && serialised.unread.is_empty());
    }
}

/// Says where two long texts differ, and not all of them.
fn similar(a: &str, b: &str, about: &str) {
    for (a, b) in a.lines().zip(b.lines()) {
        assert_eq!(a, b, "{about}");
    }
    assert_eq!(a.len(), b.len(), "{about}");
}

#[test]
fn the_buffers_of_a_text_and_a_serialised_module_are_one_program() {
    let assignment = file("loop", "-buffer-assignment.txt");
    let serialised = file("loop", ".hlo.pb");
    let names = ["a/module_0000.jit_f.x-buffer-assignment.txt", "a/module_0000.jit_f.x.hlo.pb"];
    let found = read(&[(names[0], &assignment), (names[1], &serialised)]);
    let [program] = &found.programs[..] else { panic!("{found:?}") };
    assert_eq!((program.buffers.len(), program.basis), (92, Basis::Assignment));
    assert!(found.unread.is_empty());
}

#[test]
fn serialised_and_compressed_is_read_as_well() {
    let whole = file("particles", ".hlo.pb");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&whole).expect("memory is written");
    let packed = encoder.finish().expect("memory is written");
    let plain = said(read(&[("module.hlo.pb", &whole)]));
    similar(&plain, &said(read(&[("module.hlo.pb", &packed)])), "compressed");
    // Cut off, it says so and keeps what it has.
    let found = read(&[("module.hlo.pb", &packed[..packed.len() / 2])]);
    assert_eq!(found.unread[0].reason, "the file ends in the middle");
    assert!(found.programs[0].instructions > 20, "{}", found.programs[0].instructions);
}

#[test]
fn wherever_it_is_cut_off_it_is_read_so_far() {
    let whole = file("tr", ".hlo.pb");
    let instructions =
        |found: &Findings| found.programs.iter().map(|program| program.instructions).sum::<u64>();
    let mut before = 0;
    for cut in 0..=whole.len() {
        let found = read(&[("module", &whole[..cut])]);
        let now = instructions(&found);
        assert!(now >= before, "{cut}");
        before = now;
        // What is too short cannot be told from text, and a module without buffers is whole.
        if (64..whole.len()).contains(&cut) && cut != module_in(&whole).end {
            assert!(!found.unread.is_empty(), "{cut}");
            assert!(found.unread.iter().flat_map(|unread| &unread.bytes).all(|&at| at <= cut as u64));
        }
    }
    assert_eq!(before, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bytes_that_are_changed_do_no_harm(
        program in 0..3usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = file(PROGRAMS[program], ".hlo.pb");
        for (at, byte) in changes {
            // The first bytes say that it is a module.
            let at = 24 + at.index(bytes.len() - 24);
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let found = read(&[("module", &bytes)]);
        for program in &found.programs {
            prop_assert!(program.total.data <= program.total.allocated);
            prop_assert!((0.0..=1.0).contains(&program.main().share()));
            prop_assert!(program.buffers.iter().all(|buffer| buffer.data <= buffer.allocated));
        }
    }

    #[test]
    fn values_live_from_what_makes_them_to_what_reads_them_last(
        program in proptest::collection::vec(proptest::collection::vec(any::<prop::sample::Index>(), 1..4), 1..30),
    ) {
        // Instruction 1 is the argument, and all others read some before them.
        let shape = "f32[8,128]{1,0:T(8,128)}";
        let mut instructions = vec![instruction(1, "v.1", "parameter", shape, &[])];
        let mut ends = vec![0; program.len() + 1];
        for (number, reads) in program.iter().enumerate() {
            let operands: Vec<usize> = reads.iter().map(|read| read.index(number + 1)).collect();
            operands.iter().for_each(|&operand| ends[operand] = number + 1);
            let id = number as i64 + 2;
            let ids: Vec<i64> = operands.iter().map(|&operand| operand as i64 + 1).collect();
            instructions.push(instruction(id, &format!("v.{id}"), "add", shape, &ids));
        }
        let count = instructions.len() as i64;
        let order: Vec<i64> = (1..=count).collect();
        // Whatever nobody reads lives while it is made, and the last value until the end.
        for (made, end) in ends.iter_mut().enumerate() {
            *end = (*end).max(made);
        }
        ends[count as usize - 1] = count as usize;
        let values: Vec<(i64, i64, i64)> = order.iter().map(|&id| (id, id << 12, 4096)).collect();
        let module = module(vec![computation(7, "main", instructions, count)], (7, "main"), &[(7, order)]);
        let found = read(&[("module", &hlo(module, Some(assignment(&values))))]);
        prop_assert!(found.unread.is_empty(), "{:?}", found.unread);
        let program = &found.programs[0];
        for buffer in &program.buffers {
            let number: usize = buffer.name.as_ref().unwrap()[2..].parse().unwrap();
            prop_assert_eq!(buffer.live, Some((number as u32 - 1, ends[number - 1] as u32)), "{}", number);
        }
        // The most at one time, counted the slow way.
        let at = |time: usize| (0..ends.len()).filter(|&made| made <= time && time <= ends[made]).count() as u64;
        let most = (0..=count as usize).map(at).max();
        prop_assert_eq!(program.peak.as_ref().map(|peak| peak.sum.buffers), most);
    }
}

#[test]
fn identifiers_that_go_round_in_circles_or_nowhere_do_no_harm() {
    let shape = "f32[8,200]{1,0:T(8,128)}";
    let tuple = "(f32[8,200]{1,0:T(8,128)}, f32[8,200]{1,0:T(8,128)})";
    let calls = |message: serial::Message, called: &[i64]| message.numbers(38, called);
    let instructions = vec![
        instruction(1, "a", "parameter", shape, &[]),
        instruction(2, "b", "copy", shape, &[2]),
        instruction(3, "c", "transpose", shape, &[99]),
        calls(instruction(4, "d", "while", tuple, &[5]), &[7, 7]),
        calls(instruction(5, "e", "conditional", tuple, &[4, 4]), &[7, 8, 9]),
        calls(instruction(6, "f", "async-start", tuple, &[6]), &[7]),
        instruction(7, "g", "async-done", shape, &[6]),
        instruction(8, "h", "tuple", tuple, &[4, 8]),
        instruction(9, "i", "get-tuple-element", shape, &[8]).number(13, -1),
        calls(instruction(10, "j", "fusion", shape, &[1, 2, 3]), &[7]),
        instruction(1, "a", "bitcast", shape, &[1]),
    ];
    let order: Vec<i64> = (1..=10).chain([3, 77, -5]).collect();
    for root in [1, 4, 5, 8, 99] {
        let body = computation(7, "main", instructions.clone(), root);
        let module = module(vec![body], (7, "main"), &[(7, order.clone()), (7, vec![]), (6, order.clone())]);
        let values: Vec<_> =
            (0..12).map(|id| (id, [i64::MIN, 0, i64::MAX][id as usize % 3], 1 << id)).collect();
        let found = read(&[("module", &hlo(module, Some(assignment(&values))))]);
        assert!(!found.unread.is_empty());
        assert!(found.programs[0].total.data <= found.programs[0].total.allocated);
    }
}

#[test]
fn messages_made_to_be_slow_are_not() {
    // Tuples of tuples: every element has a longer way.
    let mut instructions = vec![instruction(1, "v.1", "parameter", "f32[]", &[])];
    for id in 2..3000 {
        instructions.push(instruction(id, &format!("v.{id}"), "tuple", "(f32[], f32[])", &[id - 1, id - 1]));
    }
    let order: Vec<i64> = (1..3000).collect();
    let values: Vec<_> = order.iter().map(|&id| (id, id, 8)).collect();
    let body = computation(7, "main", instructions, 2999);
    let deep = module(vec![body], (7, "main"), &[(7, order)]);
    read(&[("module", &hlo(deep, Some(assignment(&values))))]);
    // Computations that call each other, each twice.
    let mut computations = Vec::new();
    for id in 1..3000 {
        let call =
            instruction(id, &format!("c.{id}"), "call", "f32[]", &[id - 1]).numbers(38, &[id - 1, id - 1]);
        computations.push(computation(id, &format!("body.{id}"), vec![call], id));
    }
    let orders: Vec<_> = (1..3000).map(|id| (id, vec![id])).collect();
    let values: Vec<_> = (1..3000).map(|id| (id, id, 8)).collect();
    let nested = module(computations, (2999, "body.2999"), &orders);
    read(&[("module", &hlo(nested, Some(assignment(&values))))]);
    // Shapes within shapes, and nothing but the beginnings of messages.
    let mut shape = serial::Message::default();
    for _ in 0..10_000 {
        shape = serial::Message::default().number(2, 13).message(4, shape);
    }
    let deep = serial::Message::default().bytes(1, "x").bytes(2, "add").message(3, shape);
    read(&[("module", &hlo(module(vec![computation(1, "main", vec![deep], 1)], (1, "main"), &[]), None))]);
    let mut bytes = hlo(module(vec![], (1, "main"), &[]), None);
    bytes.extend(b"\x1a\x00".repeat(1 << 20));
    bytes.extend(b"\x0a\x02\x1a\x00".repeat(1 << 20));
    read(&[("module", &bytes)]);
}

#[test]
fn a_value_in_a_tuple_is_read_by_who_reads_the_element() {
    let array = "f32[8,128]{1,0:T(8,128)}";
    let tuple = "(f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)})";
    let lives = |reads: i64| {
        let instructions = vec![
            instruction(1, "x", "parameter", array, &[]),
            instruction(2, "a", "add", array, &[1, 1]),
            instruction(3, "t", "tuple", tuple, &[2, 1]),
            instruction(4, "g", "get-tuple-element", array, &[3]),
            instruction(5, "y", "add", array, &[reads, 1]),
            instruction(6, "z", "add", array, &[1, 1]),
        ];
        let order: Vec<i64> = (1..=6).collect();
        let module = module(vec![computation(7, "main", instructions, 6)], (7, "main"), &[(7, order)]);
        let values = [1, 2, 5, 6].map(|id| (id, id << 12, 4096));
        let found = read(&[("module", &hlo(module, Some(assignment(&values))))]);
        let buffers = &found.programs[0].buffers;
        buffers.iter().find(|buffer| buffer.name.as_deref() == Some("a")).and_then(|buffer| buffer.live)
    };
    // Neither the tuple nor who takes an element of it reads the value.
    assert_eq!((lives(1), lives(4)), (Some((1, 1)), Some((1, 4))));
}

#[test]
fn instructions_stand_in_the_order_in_which_they_run_and_loops_run_as_often_as_they_say() {
    let (from, to) = ("f32[8,128]{1,0:T(8,128)}", "f32[8,128]{0,1:T(8,128)}");
    let body = vec![
        instruction(1, "p", "parameter", from, &[]),
        instruction(2, "first_in_the_file", "copy", to, &[1]),
        instruction(3, "first_to_run", "copy", to, &[1]),
        instruction(4, "b", "copy", from, &[3]),
    ];
    let condition =
        vec![instruction(5, "q", "parameter", from, &[]), instruction(6, "c", "custom-call", "pred[]", &[5])];
    let config = r#"{"known_trip_count":{"n":"12"}}"#;
    let main = vec![
        instruction(7, "x", "parameter", from, &[]),
        instruction(8, "w", "while", from, &[7]).numbers(38, &[1, 2]).bytes(43, config),
    ];
    let computations = vec![
        computation(1, "body", body, 4),
        computation(2, "condition", condition, 6),
        computation(3, "main", main, 8),
    ];
    let orders = [(1, vec![1, 3, 2, 4]), (2, vec![5, 6]), (3, vec![7, 8])];
    let found = read(&[("module", &hlo(module(computations, (3, "main"), &orders), None))]);
    let moves = &found.programs[0].moves;
    let told: Vec<_> = moves.iter().map(|each| (each.name.as_str(), each.count, each.runs)).collect();
    assert_eq!(told, [("first_to_run", 2, 12), ("b", 1, 12)]);
}
