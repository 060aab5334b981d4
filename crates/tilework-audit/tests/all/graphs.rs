//! Models of ONNX.

use tilework_audit::{Audit, Findings, LogKind, Logged, Remedy, Role};

fn read(bytes: &[u8]) -> Findings {
    let mut audit = Audit::new();
    audit.read("model.onnx", bytes).expect("memory is read");
    audit.findings(usize::MAX)
}

fn sample() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/model.onnx");
    std::fs::read(path).expect("the sample is there")
}

fn model(bytes: &[u8]) -> Logged {
    let mut found = read(bytes);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert_eq!((found.logs.len(), found.programs.len()), (1, 0));
    found.logs.remove(0)
}

/// A field with a message or a text in it.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let (mut length, mut bytes) = (content.len(), vec![number << 3 | 2]);
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    [&bytes[..], content].concat()
}

/// `operation input … -> output …`, and the order of a Transpose behind a colon.
fn node(text: &str) -> Vec<u8> {
    let (text, order) = text.split_once(':').unwrap_or((text, ""));
    let (reads, makes) = text.split_once(" -> ").expect("an arrow");
    let mut reads = reads.split_whitespace();
    let operation = reads.next().expect("an operation");
    let mut message = Vec::new();
    for name in reads {
        message.extend(field(1, name.as_bytes()));
    }
    for name in makes.split_whitespace() {
        message.extend(field(2, name.as_bytes()));
    }
    message.extend(field(4, operation.as_bytes()));
    if !order.is_empty() {
        let order: Vec<u8> = order.split_whitespace().map(|dim| dim.parse().expect("a dimension")).collect();
        message.extend(field(5, &[field(1, b"perm"), field(8, &order)].concat()));
    }
    field(1, &message)
}

/// A tensor of f32 with its sizes, which are below 128; 0 stands for a size without a number.
fn tensor(number: u8, name: &str, sizes: &[u8]) -> Vec<u8> {
    let dims = sizes.iter().flat_map(|&size| match size {
        0 => field(1, &field(2, b"batch")),
        size => field(1, &[8, size]),
    });
    let shape = field(2, &dims.collect::<Vec<u8>>());
    let kind = field(1, &[&[8, 1][..], &shape].concat());
    field(number, &[field(1, name.as_bytes()), field(2, &kind)].concat())
}

fn weights(name: &str, sizes: &[u8]) -> Vec<u8> {
    let count: usize = sizes.iter().map(|&size| usize::from(size)).product();
    let body = [field(1, sizes), vec![0x10, 1], field(8, name.as_bytes()), field(9, &vec![0; 4 * count])];
    field(5, &body.concat())
}

fn graph(nodes: &[&str], tensors: &[Vec<u8>]) -> Vec<u8> {
    let nodes: Vec<u8> = nodes.iter().flat_map(|text| node(text)).collect();
    [&[8, 8][..], &field(7, &[nodes, tensors.concat()].concat())].concat()
}

/// What each remedy saves: operations, and bytes of elements.
fn savings(log: &Logged) -> Vec<(Remedy, u64, u64)> {
    log.savings.iter().map(|saving| (saving.remedy, saving.work.count, saving.work.data)).collect()
}

const ORDERS: [&str; 2] = ["0 2 3 1", "0 3 1 2"];

#[test]
fn transposes_of_a_model_cancel_fold_or_stay() {
    let log = model(&sample());
    assert_eq!((log.kind, log.writer.as_deref()), (LogKind::Onnx, Some("tilework-sample")));
    let pixels = 56 * 56 * 4;
    // One of a single pixel moves nothing.
    assert_eq!((log.all.count, log.moved.count, log.idle), (17, 7, 1));
    assert_eq!(log.moved.data, pixels * (3 + 4 * 16) + 4 * 16 * 16 + 4 * 128 * 16);
    assert_eq!(log.moved.touched, 2 * log.moved.data);
    // ONNX Runtime 1.23 takes the same away at its extended level, and leaves the one at the input and the one that moves nothing.
    assert_eq!(
        savings(&log),
        [
            (Remedy::JoinMoves, 4, 4 * 16 * pixels),
            (Remedy::Ends, 1, 3 * pixels),
            (Remedy::Absorb, 1, 4 * 128 * 16),
            (Remedy::KeepWeights, 1, 4 * 16 * 16),
        ]
    );
    assert_eq!(log.open, ["batch"]);
    let second = log.moves.iter().find(|moved| moved.name.as_deref() == Some("conv2/to")).expect("is there");
    assert_eq!(
        (second.from.format.as_str(), second.to.format.as_str()),
        ("order (0, 2, 3, 1)", "order (0, 1, 2, 3)")
    );
    assert_eq!((second.from.sizes.as_deref(), second.line), (Some("(batch)x56x56x16"), 6));
    assert_eq!((second.before.as_deref(), second.after.as_deref()), (Some("relu1"), Some("conv2")));
    let weights = log.moves.iter().find(|moved| moved.role == Role::Weights).expect("is there");
    assert_eq!(weights.name.as_deref(), Some("dense/weights"));
}

#[test]
fn what_another_reads_does_not_cancel() {
    let image = [tensor(11, "x", &[2, 3, 4, 5]), tensor(12, "y", &[2, 3, 4, 5])];
    let there = format!("Transpose x -> a:{}", ORDERS[0]);
    let back = format!("Transpose a -> y:{}", ORDERS[1]);
    let both = model(&graph(&[&there, &back], &image));
    assert_eq!(savings(&both), [(Remedy::JoinMoves, 2, 2 * 480)]);
    // Of what is read besides, the way back alone need not be.
    let besides = model(&graph(&[&there, &back, "Conv a w -> z"], &image));
    assert_eq!(savings(&besides)[0], (Remedy::JoinMoves, 1, 480));
    assert_eq!(savings(&besides)[1], (Remedy::Ends, 1, 480));
    let output = model(&graph(&[&there, &back], &[image.concat(), tensor(12, "a", &[2, 4, 5, 3])]));
    assert_eq!(savings(&output)[0], (Remedy::JoinMoves, 1, 480));
    // The same order twice is one order: one of the two is enough, and that stands at the input.
    let twice = [&there[..], "Transpose a -> b:0 2 3 1", "Conv b w -> y"];
    let one_of_two = [(Remedy::JoinMoves, 1, 480), (Remedy::Ends, 1, 480)];
    assert_eq!(savings(&model(&graph(&twice, &image))), one_of_two);
    // Of two that are alike, one is enough too.
    let alike = [&there[..], "Transpose x -> b:0 2 3 1", "Conv a b -> y"];
    assert_eq!(savings(&model(&graph(&alike, &image))), one_of_two);
}

#[test]
fn what_one_transpose_is_spared_for_is_not_spared_again() {
    let tensors = [tensor(13, "c", &[2, 3, 4, 5]), weights("w", &[3])];
    let of = |nodes: &[&str]| savings(&model(&graph(&[&["Conv x k -> c"], nodes].concat(), &tensors)));
    // What comes back is the first one's result, so that is needed: two of four are left.
    let back = [
        "Transpose c -> a:0 3 1 2",
        "Transpose a -> b:0 3 1 2",
        "Transpose b -> d:0 2 3 1",
        "Transpose b -> e:0 2 3 1",
        "Conv d k -> y",
        "Conv e k -> z",
        "Conv b k -> v",
    ];
    assert_eq!(of(&back), [(Remedy::JoinMoves, 2, 2 * 480)]);
    // The addition is read in its own order besides: taking its Transpose away would need another one.
    let besides = [
        "Transpose c -> a:0 3 1 2",
        "Add a w -> b",
        "Transpose b -> d:0 3 1 2",
        "Transpose d -> e:0 2 3 1",
        "Conv e k -> y",
        "Conv d k -> z",
    ];
    assert_eq!(of(&besides), [(Remedy::JoinMoves, 1, 480)]);
}

#[test]
fn through_what_treats_all_alike_transposes_cancel_if_fewer_are_left() {
    let tensors = [
        tensor(11, "x", &[2, 3, 4, 5]),
        tensor(11, "z", &[2, 4, 5, 3]),
        tensor(13, "c", &[2, 3, 4, 5]),
        weights("w", &[3]),
    ];
    let there = format!("Transpose c -> a:{}", ORDERS[0]);
    let back = format!("Transpose r -> y:{}", ORDERS[1]);
    let of = |between: &[&str]| {
        let nodes = [&["Conv x k -> c", &there], between, &[&back, "Conv y k -> e"]].concat();
        savings(&model(&graph(&nodes, &tensors)))
    };
    assert_eq!(of(&["Add a w -> b", "Relu b -> r"]), [(Remedy::JoinMoves, 2, 2 * 480)]);
    // The sizes of what is joined and divided are not said.
    assert_eq!(of(&["Relu a -> b", "Concat b a -> d", "Split d -> r s"]), [(Remedy::JoinMoves, 2, 480)]);
    // Another array would have to be transposed instead: one is left of two.
    assert_eq!(of(&["Add a z -> r"]), [(Remedy::JoinMoves, 1, 480)]);
    // Here two would, so nothing is saved.
    assert_eq!(of(&["Add a z -> r", "Conv r k -> f"]), []);
    // What is no operation of single elements stays as it is.
    assert_eq!(of(&["Pad a -> r"]), []);
    // Of another rank, an array is not the same in another order.
    assert_eq!(of(&["Add a m -> r"]), []);
}

#[test]
fn products_take_the_last_two_dimensions_either_way_and_no_others() {
    let of = |order: &str, reader: &str| {
        let nodes = [&*format!("Transpose c -> t:{order}"), reader];
        let tensors = [tensor(13, "c", &[2, 3, 4]), tensor(13, "q", &[2, 3, 4])];
        savings(&model(&graph(&[&["Conv x -> c"], &nodes[..]].concat(), &tensors)))
    };
    assert_eq!(of("0 2 1", "MatMul q t -> y"), [(Remedy::Absorb, 1, 96)]);
    assert_eq!(of("1 0 2", "MatMul q t -> y"), []);
    assert_eq!(of("0 2 1", "Conv q t -> y"), []);
    assert_eq!(of("0 2 1", "Gemm q w t -> y"), []);
}

#[test]
fn sizes_that_are_not_said_are_counted_and_add_nothing() {
    let log = model(&graph(&["Conv x -> c", "Transpose c -> t", "Conv t -> y"], &[]));
    assert_eq!((log.moved.count, log.moved.unsized_count, log.moved.data), (1, 1, 0));
    assert_eq!(
        (log.pairs[0].from.as_str(), log.pairs[0].to.as_str()),
        ("an unknown order", "an unknown order")
    );
    let ranked = model(&graph(&["Conv x -> c", "Transpose c -> t:1 2 0", "Conv t -> y"], &[]));
    assert_eq!(
        (ranked.pairs[0].from.as_str(), ranked.pairs[0].to.as_str()),
        ("order (0, 1, 2)", "order (1, 2, 0)")
    );
    let open = model(&graph(&["Transpose x -> t:1 0", "Conv t -> y"], &[tensor(11, "x", &[0, 7])]));
    // What counts as 1 may be more, so elements move.
    assert_eq!((open.moved.count, open.moved.data, open.idle), (1, 28, 0));
    assert_eq!(open.open, ["batch"]);
    assert_eq!(model(&graph(&["Conv x -> c", "Transpose c -> t:0 1", "Conv t -> y"], &[])).idle, 1);
    let idle = model(&graph(&["Transpose x -> t:1 0", "Conv t -> y"], &[tensor(11, "x", &[1, 7])]));
    assert_eq!((idle.moved.count, idle.idle), (0, 1));
}

#[test]
fn a_model_that_is_cut_anywhere_is_read_as_far_as_it_goes() {
    let whole = sample();
    for cut in (30..whole.len()).step_by(97) {
        let found = read(&whole[..cut]);
        assert!(found.unread.iter().any(|unread| unread.reason.contains("ends in the middle")), "{cut}");
    }
    // Where a buffer ends does not matter.
    let mut audit = Audit::new();
    audit.read("model.onnx", std::io::BufReader::with_capacity(7, &whole[..])).expect("memory is read");
    assert_eq!(
        format!("{:?}", audit.findings(9).logs),
        format!("{:?}", {
            let mut audit = Audit::new();
            audit.read("model.onnx", &whole[..]).expect("memory is read");
            audit.findings(9).logs
        })
    );
    let wrong = read(&graph(&["Transpose x -> t:0 0", "Conv t -> y"], &[]));
    assert!(wrong.unread[0].reason.contains("no order of dimensions"), "{:?}", wrong.unread);
}
