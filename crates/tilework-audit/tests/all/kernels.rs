//! Kernels of Triton.

use tilework_audit::{Audit, Findings, LogKind, Logged, Remedy, Way};

fn read(text: &str) -> Findings {
    let mut audit = Audit::new();
    audit.read("kernel.ttgir", text.as_bytes()).expect("memory is read");
    audit.findings(usize::MAX)
}

fn sample() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/matmul.ttgir");
    std::fs::read_to_string(path).expect("the sample is there")
}

fn kernel(text: &str) -> Logged {
    let mut found = read(text);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert_eq!((found.logs.len(), found.programs.len()), (1, 0));
    found.logs.remove(0)
}

#[test]
fn conversions_go_their_ways_between_operations_with_lines() {
    let log = kernel(&sample());
    assert_eq!((log.kind, log.moved.count, log.through_memory), (LogKind::Triton, 4, 3));
    let found = log.moves.iter().map(|moved| {
        let (from, to) = (moved.from.format.as_str(), moved.to.format.as_str());
        (from, to, moved.way, moved.loops, moved.after.as_deref(), moved.place.as_deref())
    });
    let [shared, within] = [Some(Way::SharedMemory), Some(Way::Registers)];
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("#blocked", "#mma", shared, 1, Some("arith.addf"), Some("matmul.py:33")),
            ("#mma", "#blocked", shared, 0, Some("tt.store"), Some("matmul.py:40")),
            ("#linear", "#blocked1", shared, 0, Some("tt.store"), Some("matmul.py:41")),
            ("#blocked", "#linear", within, 0, Some("tt.store"), Some("matmul.py:40")),
        ]
    );
    // Three of 64 by 64 elements of two bytes, each written and read.
    assert_eq!((log.moved.data, log.moved.touched), (4 * 8192, 3 * 2 * 8192));
    assert_eq!((log.savings[0].remedy, log.savings[0].work.count), (Remedy::OneFormat, 3));
    // A name of a place may stand behind what uses it, before it, and stand for another one.
    assert_eq!(log.moves[0].before.as_deref(), Some("tt.load"));
}

#[test]
fn of_an_operand_without_a_swizzle_all_rows_meet_in_a_bank() {
    let log = kernel(&sample());
    assert_eq!(log.conflict_count, 1);
    let worst = &log.conflicts[0];
    assert_eq!(
        (worst.operation.as_str(), worst.ways, worst.vector, worst.loops),
        ("ttg.local_load", 8, 4, 1)
    );
    assert_eq!((worst.from.format.as_str(), worst.place.as_deref()), ("#shared", Some("matmul.py:33")));
}

#[test]
fn of_a_dump_after_each_pass_the_last_counts() {
    let text = sample();
    let pass = |name: &str| format!("// -----// IR Dump Before {name} ({name}) //----- //\n{text}\n");
    let dump = pass("A") + &pass("B") + &pass("C");
    let (once, last) = (kernel(&text), kernel(&dump));
    assert_eq!((once.moved, once.all, once.conflict_count), (last.moved, last.all, last.conflict_count));
    let older = text.replace("ttg.", "triton_gpu.").replace("swizzled_shared", "shared");
    assert_eq!(kernel(&older).moved.count, 4);
    assert_eq!(kernel(&text.replace('\n', "\r\n")).moved, once.moved);
}

#[test]
fn a_kernel_that_is_cut_or_strange_is_read_so_far() {
    let text = sample();
    for end in (0..text.len()).step_by(29) {
        let found = read(&text[..end]);
        assert!(found.logs.iter().all(|log| log.moved.count <= 4));
    }
    let strange = text.replace("#ttg.nvidia_mma<{versionMajor = 2", "#ttg.wobbly_mma<{versionMajor = 2");
    let found = read(&strange);
    assert!(found.unread.iter().any(|unread| unread.reason.contains("encoding that cannot be read")));
    assert_eq!((found.logs[0].moved.count, found.logs[0].moved.unsized_count), (4, 2));
}
