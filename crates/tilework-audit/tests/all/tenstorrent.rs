//! Programs of TTNN.

use tilework_audit::{Audit, Findings, LogKind, Logged, Remedy, Role};

fn read(text: &str) -> Findings {
    let mut audit = Audit::new();
    audit.read("program.mlir", text.as_bytes()).expect("memory is read");
    audit.findings(usize::MAX)
}

fn sample() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/program.ttnn.mlir");
    std::fs::read_to_string(path).expect("the sample is there")
}

fn program(text: &str) -> Logged {
    let mut found = read(text);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert_eq!((found.logs.len(), found.programs.len()), (1, 0));
    found.logs.remove(0)
}

#[test]
fn changes_of_layout_stand_between_operations_and_those_of_weights_run_once() {
    let log = program(&sample());
    assert_eq!((log.kind, log.all.count, log.moved.count, log.created.count), (LogKind::Ttnn, 8, 5, 1));
    let mut found: Vec<_> = log
        .moves
        .iter()
        .map(|moved| {
            let (before, after) = (moved.before.as_deref(), moved.after.as_deref());
            (moved.line, moved.role, before, after, moved.from.format.as_str(), moved.to.format.as_str())
        })
        .collect();
    found.sort_unstable_by_key(|moved| moved.0);
    let [tiles, shards, host] =
        ["tile dram interleaved", "tile l1 block_sharded 8x8", "row_major system_memory"];
    let [product, relu] = [Some("ttnn.matmul"), Some("ttnn.relu")];
    assert_eq!(
        found,
        [
            (20, Role::Input, None, product, host, tiles),
            (23, Role::Between, product, relu, shards, tiles),
            (24, Role::Between, product, relu, tiles, shards),
            (26, Role::Between, relu, product, shards, tiles),
            (28, Role::Output, product, None, tiles, host),
        ]
    );
    let chain = log.savings.iter().find(|saving| saving.remedy == Remedy::JoinMoves).expect("there and back");
    assert_eq!((chain.work.count, chain.work.data), (2, 2 * 512 * 256 * 2));
}

#[test]
fn bytes_are_those_of_whole_tiles_on_all_cores() {
    let log = program(&sample());
    // 784 columns are 25 tiles of 32, and 10 are one.
    let (input, output) = (512 * 784 * 2, 512 * 10 * 2);
    let within = 512 * 256 * 2;
    assert_eq!(log.moved.data, input + output + 3 * within);
    assert_eq!(log.moved.waste, 512 * 800 * 2 - input);
    assert_eq!(log.moved.touched, input + 512 * 800 * 2 + 512 * 32 * 2 + output + 6 * within);
    // What each of 64 cores holds, on all of them.
    let sharded = log.moves.iter().find(|moved| moved.from.format.contains("8x8")).expect("is there");
    assert_eq!((sharded.from.allocated, sharded.to.allocated), (Some(within), Some(within)));
    // Of blocks of bfp8, a tile has an exponent for each 16 elements.
    let weights = log
        .padded
        .iter()
        .find(|padded| padded.array.element.as_deref() == Some("bfp_bf8"))
        .expect("is there");
    assert_eq!((weights.array.allocated, weights.array.data), (Some(8 * 1088), Some(256 * 10 * 1088 / 1024)));
}

#[test]
fn layouts_may_stand_in_the_types_and_in_several_lines() {
    let whole = program(&sample());
    // Each name stands for its definition.
    let mut text = sample();
    for _ in 0..2 {
        let lines: Vec<(String, String)> = text
            .lines()
            .filter_map(|line| line.strip_prefix('#')?.split_once(" = "))
            .map(|(name, value)| (format!("#{name}"), value.to_owned()))
            .collect();
        for (name, value) in lines.into_iter().rev() {
            let mut replaced = String::new();
            for line in text.lines().filter(|line| !line.starts_with(&format!("{name} = "))) {
                replaced.push_str(&line.replace(&format!(", {name}>"), &format!(", {value}>")));
                replaced.push('\n');
            }
            text = replaced;
        }
    }
    assert!(!text.contains("\n#"), "{text}");
    let local = program(&text);
    assert_eq!((local.moved, local.all.count), (whole.moved, whole.all.count));

    let lines = sample().replace("<(d0, d1) ->", "<\n  (d0, d1) ->");
    assert_eq!(program(&lines).moved, whole.moved);
}

#[test]
fn what_cannot_be_read_is_said_and_adds_no_bytes() {
    let wrong = sample().replace("memref<16x8x!ttcore.tile<32x32, bf16>", "memref<16x8x");
    let found = read(&wrong);
    assert!(found.unread.iter().any(|unread| unread.reason.contains("layout of TTNN")), "{:?}", found.unread);
    assert_eq!(found.logs[0].moved.count, 5);
    let unknown = program(&sample().replace("32x32, bf16>, #l1>", "32x32, strange>, #l1>"));
    assert_eq!((unknown.moved.count, unknown.moved.unsized_count), (5, 3));
}
