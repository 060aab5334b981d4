//! Dumps that are cut off, mixed up and changed: whatever can be read is, the rest is counted, and nothing panics.

use std::path::PathBuf;

use proptest::prelude::*;
use tilework_audit::{Audit, Basis, Findings};

/// The files of the dumps that are small enough to be changed many times.
fn texts() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/dumps");
    let mut files = Vec::new();
    for folder in ["conv", "tr"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a file")).collect()
}

/// Reads and checks what must hold of any text.
fn read(text: &[u8]) -> Findings {
    let mut audit = Audit::new();
    audit.read("text", text).expect("memory is read");
    let found = audit.findings(7);
    for program in &found.programs {
        assert!(program.total.data <= program.total.allocated);
        assert!((0.0..=1.0).contains(&program.main().share()));
        assert!(program.buffers.iter().all(|buffer| buffer.data <= buffer.allocated));
        assert!(
            program
                .buffers
                .is_sorted_by_key(|b| std::cmp::Reverse((b.allocated - b.data).saturating_mul(b.count)))
        );
        assert!(program.buffers.len() <= 7 && program.moves.len() <= 7 && program.shapes.len() <= 7);
    }
    let lines = text.split(|&byte| byte == b'\n').count() as u64;
    for unread in &found.unread {
        assert!(
            unread.count > 0 && unread.lines.iter().all(|&line| (1..=lines).contains(&line)),
            "{unread:?}"
        );
    }
    found
}

/// What types of MLIR and out-of-memory messages are made of, and numbers that are too large.
const PIECES: [&str; 48] = [
    "tensor<",
    "memref<",
    "vector<",
    "complex<",
    "!quant.uniform<",
    "i8:f32, 0.5",
    "4x",
    "?x",
    "0x",
    "*x",
    "f32",
    "bf16",
    "index",
    ">",
    ", ",
    "#tpu.tiled<(8,128)",
    ",[1,1]>",
    "(0)",
    "#xir.memory_space<vmem, tc>",
    "strided<[",
    "1, 32",
    "offset: 7",
    "affine_map<",
    "#stablehlo.bounds<",
    "bounds = [",
    "99999999999999999999",
    "18446744073709551615x",
    "float32[",
    "i32[",
    "f32[",
    "8,128",
    "]",
    "{1,0:T(8,128)}",
    "\n",
    "\\n",
    "Size: ",
    "1.50G",
    "5 bytes",
    "Shape: ",
    "Operator: op_name=\"",
    "XLA Label: ",
    "%a = ",
    "Peak buffers:",
    "Largest program allocations in vmem",
    "Out of memory while trying to allocate ",
    "Ran out of memory in memory space hbm. Used 9E of 7E",
    "HLO temp ",
    "HLO module: ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_dump_that_is_cut_off_is_read_so_far(file in 0..10usize, share in 0.0..1.0) {
        let texts = texts();
        let text = &texts[file % texts.len()];
        let cut = (text.len() as f64 * share) as usize;
        let whole = read(text);
        let part = read(&text[..cut]);
        // Of a module that is cut off it is not known what is fused; of everything else, less is read.
        if whole.programs.iter().any(|program| program.basis == Basis::Assignment) {
            let sum = |found: &Findings| found.programs.iter().map(|program| program.total.buffers).sum::<u64>();
            prop_assert!(sum(&part) <= sum(&whole));
        }
    }

    #[test]
    fn lines_of_several_dumps_in_any_order_are_read(picks in proptest::collection::vec((0..10usize, 0..200usize), 1..200)) {
        let texts = texts();
        let mut mixed = Vec::new();
        for (file, line) in picks {
            let text = &texts[file % texts.len()];
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            mixed.extend_from_slice(lines[line % lines.len()]);
            mixed.push(b'\n');
        }
        read(&mixed);
    }

    #[test]
    fn bytes_that_are_changed_do_no_harm(
        file in 0..10usize,
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..30),
    ) {
        let texts = texts();
        let mut text = texts[file % texts.len()].clone();
        for (at, byte) in changes {
            let at = at % text.len();
            text[at] = byte;
        }
        read(&text);
    }

    #[test]
    fn pieces_of_types_and_messages_in_any_order_do_no_harm(picks in proptest::collection::vec(0..PIECES.len(), 1..60)) {
        read(picks.iter().map(|&pick| PIECES[pick]).collect::<String>().as_bytes());
    }

    #[test]
    fn numbers_that_are_changed_do_no_harm(file in 0..10usize, at in any::<usize>(), number in any::<u128>()) {
        let texts = texts();
        let text = &texts[file % texts.len()];
        let digits: Vec<usize> = (0..text.len()).filter(|&at| text[at].is_ascii_digit()).collect();
        let at = digits[at % digits.len()];
        let mut changed = text[..at].to_vec();
        changed.extend_from_slice(number.to_string().as_bytes());
        changed.extend_from_slice(&text[at + 1..]);
        read(&changed);
    }
}

#[test]
fn lines_that_cannot_be_read_are_counted_by_number() {
    let text = "HloModule m\n\nENTRY %main (x: f32[2]) -> f32[2] {\n  %x = f32[2]{0} parameter(0)\n  \
                %y = q77[2]{0} add(%x, %x)\n  %z = f32[2]{0} new-thing(%x)\n  %w = f32[2]{0} copy(%nothing)\n";
    let found = read(text.as_bytes());
    let told: Vec<_> = found.unread.iter().map(|unread| (unread.reason, &unread.lines[..])).collect();
    assert_eq!(
        told,
        [
            ("an instruction with a shape that cannot be read", &[5][..]),
            ("a copy or reshape of something that is not known", &[7]),
            ("the file ends within a computation", &[7]),
        ]
    );
    assert_eq!(found.programs[0].total.buffers, 2);
}

#[test]
fn texts_made_to_be_slow_are_not() {
    // Of each there is enough that whoever takes quadratic time does not end.
    read("f32[".repeat(1 << 20).as_bytes());
    read("f32[]{".repeat(1 << 19).as_bytes());
    read("tensor<".repeat(1 << 19).as_bytes());
    read("HloModule x\n".repeat(1 << 17).as_bytes());
    read(format!("HloModule x\n%a = {}", "(".repeat(1 << 21)).as_bytes());
    read(format!("HloModule x\n%a = f32[] copy(%b), metadata={{{}", "a=\"".repeat(1 << 20)).as_bytes());
    let many: String = (0..20_000)
        .map(|n| format!("allocation {n}: size 4, color {n}, preallocated-temp:\n value: <{n} x.{n} @{n}> (size=4,offset=0): f32[]\n"))
        .collect();
    let lives: String = (0..20_000).map(|n| format!("    x.{n}{{}}:{n}-{}\n", n + 3)).collect();
    read(format!("BufferAssignment:\n{many}HloLiveRange (max 9):\n  BufferLiveRange:\n{lives}").as_bytes());
}

#[test]
fn of_a_module_that_is_cut_off_what_is_fused_makes_no_buffers() {
    let text = "HloModule m\n\n%fused_computation.7 (p: f32[64,32]) -> f32[64,32] {\n  %p = f32[64,32]{1,0} parameter(0)\n  \
                %a = f32[64,32]{1,0} add(%p, %p)\n  ROOT %b = f32[64,32]{1,0} multiply(%a, %a)\n}\n\n\
                ENTRY %main (x: f32[64,32]) -> f32[64,32] {\n  %x = f32[64,32]{1,0} parameter(0)\n";
    let cut = read(text.as_bytes());
    assert_eq!(cut.programs[0].total.buffers, 1);
    assert_eq!(cut.unread[0].reason, "the file ends within a computation");
    let whole = format!(
        "{text}  ROOT %f = f32[64,32]{{1,0}} fusion(%x), kind=kLoop, calls=%fused_computation.7\n}}\n"
    );
    assert_eq!(read(whole.as_bytes()).programs[0].total.buffers, 2);
    // An operation that nobody knows calls it.
    let unknown = read(whole.replace("fusion(", "quux(").as_bytes());
    assert_eq!((unknown.programs[0].total.buffers, unknown.unread.len()), (2, 0));
}

#[test]
fn foreign_lines_within_a_buffer_assignment_are_told() {
    let text = "BufferAssignment:\nallocation 0: size 32, page 0, preallocated-temp:\n%fusion.1 = f32[9]{0} fusion(%x)\n \
                value: <2 add.5 @0> (size=32,offset=0): f32[2,3]{1,0:T(2,4)}\n\nTotal bytes used: 32 (32B)\n\nUsed values:\n\
                whatever\n";
    let found = read(text.as_bytes());
    let told: Vec<_> = found.unread.iter().map(|unread| (unread.reason, &unread.lines[..])).collect();
    assert_eq!(told, [("a line that is no part of a buffer assignment", &[3][..])]);
    assert_eq!(found.programs[0].total.allocated, 32);
}

#[test]
fn marks_at_the_beginning_of_a_text_do_no_harm() {
    let text = "HloModule m\r\n\r\nENTRY %main (x: f32[8,3]) -> f32[8,3] {\r\n  %x = f32[8,3]{1,0:T(8,128)} parameter(0)\r\n}\r\n";
    let utf16 = |mark: u16, of: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(of).collect()
    };
    let files = [
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        utf16(0xfeff, u16::to_le_bytes),
        utf16(0xfeff, u16::to_be_bytes),
    ];
    for file in files {
        let mut audit = Audit::new();
        audit.read("text", &file[..]).expect("memory is read");
        let found = audit.findings(9);
        let program = &found.programs[0];
        assert_eq!(
            (program.name.as_str(), program.basis, program.total.allocated),
            ("m", Basis::Instructions, 4096)
        );
        assert!(found.unread.is_empty(), "{:?}", found.unread);
    }
}

#[test]
fn a_compressed_file_that_is_broken_from_the_start_is_an_error_and_a_cut_one_is_told() {
    let broken = [&[0x1f, 0x8b][..], &[7; 200]].concat();
    let mut audit = Audit::new();
    assert!(audit.read("a.gz", &broken[..]).is_err());
    let cut = [0x1f, 0x8b, 8, 0];
    audit.read("b.gz", &cut[..]).expect("a cut file is read so far");
    assert_eq!(audit.unread().len(), 1);
    assert_eq!((audit.unread()[0].file.as_str(), audit.unread()[0].count), ("b.gz", 1));
}
