//! What COMPARE.md says that Tilework can do, it does: each row of its table, by commands that end as they should.

use std::path::Path;

use crate::common::{Ran, run};

/// A row, Tilework's cell, and commands that show it, each with its exit code and words of what it prints.
type Claim = (&'static str, &'static str, &'static [(&'static [&'static str], i32, &'static str)]);

const TILED: &str = "f32[3,5]{1,0:T(2,2)}";

#[rustfmt::skip] // a table
const CLAIMS: &[Claim] = &[
    ("free strides", "+", &[(&["index", "f32[2,3]{strides(5,1)}", "1,2"], 0, "7\n")]),
    ("stride 0 (broadcast)", "+", &[(&["index", "f32[2,3]{strides(0,1)}", "1,2"], 0, "2\n")]),
    ("negative strides", "+", &[(&["index", "f32[3]{strides(-1)}", "0"], 0, "2\n")]),
    ("offset of the first element in the value", "+", &[(&["index", "f32[3]{strides(1),base(4)}", "0"], 0, "4\n")]),
    ("any sizes, not only powers of two", "+", &[(&["index", "f32[3,5]{0,1}", "2,4"], 0, "14\n")]),
    ("tiles", "+", &[(&["index", TILED, "2,3"], 0, "17\n")]),
    ("tiles within tiles, to any depth", "+", &[(&["index", "bf16[4,8]{1,0:T(2,4)(2,1)}", "1,1"], 0, "3\n")]),
    ("a tile that does not divide the size; padding is part of the layout", "+", &[(&["show", "--json", TILED], 0, "\"padding\":9")]),
    ("combined dimensions, then tiled (`*`)", "+", &[(&["index", "f32[4,6]{1,0:T(*,4)}", "1,0"], 0, "6\n")]),
    ("elements smaller than a byte", "+", &[(&["show", "s4[3,5]{1,0:E(4)}"], 0, "8 B")]),
    ("swizzle (xor)", "+", &[(&["index", "f16 S<3,3,3> o 0 o (8,64):(64,1)", "1,0"], 0, "72\n")]),
    ("which device holds which part", "± of checkpoints", &[(&["reshard", "../../samples/model.safetensors", "OUT", "--mesh", "x=2,y=4", "--spec", "P('x', 'y')", "--dry-run"], 0, "devices     8, a file each")]),
    ("index → offset", "+", &[(&["index", TILED, "2,3"], 0, "17\n")]),
    ("offset → index", "+", &[(&["locate", TILED, "17"], 0, "2,3\n")]),
    ("offset → padding, and which tile made it", "+", &[(&["locate", TILED, "9"], 0, "padding: tile 1, dimension 1\n")]),
    ("allocated size", "+", &[(&["show", TILED], 0, "allocated  24   96 B")]),
    ("what the padding costs, and which dimension", "+", &[(&["show", TILED], 0, "dimension 0 is 3, tiled to 4: 1.33 times")]),
    ("canonical form", "+", &[(&["show", TILED], 0, "12·⌊i/2⌋ + 2·(i mod 2)")]),
    ("same function?", "+", &[(&["compare", "f32[16,128]{1,0:T(8,128)}", "f32[16,128]"], 0, "same function      yes")]),
    ("is a reshape free?", "+ tiles too", &[
        (&["compare", "f32[16,128]{1,0:T(8,128)}", "f32[2048]", "--sense", "reshape"], 0, "reshape-bitcast    yes"),
        (&["compare", "f32[8,256]{1,0:T(8,128)}", "f32[2048]", "--sense", "reshape"], 1, "reshape-bitcast    no"),
    ]),
    ("do two indices share a place?", "+", &[(&["show", "FLOAT32 [2,3] strides [1,1]"], 0, "overlap")]),
    ("permute, slice, flip, broadcast, reshape", "+", &[
        (&["view", "FLOAT32 [2,4,5,3]", "--permute", "0,3,1,2"], 0, "view"),
        (&["view", "FLOAT32 [3]", "--broadcast", "2,3"], 0, "view"),
        (&["view", "FLOAT32 [2,3,4]", "--reshape", "6,4"], 0, "view"),
    ]),
    ("composition, complement, divide, product", "± in Rust", &[]),
    ("bank conflicts, coalescing", "± conflicts in kernels of Triton", &[(&["audit", "../../samples/logs/matmul.ttgir"], 0, "bank conflicts, the worst takes 8 times")]),
    ("text printed / read", "+ / +", &[(&["parse", "F32[3,5]{1,0:(2,2)}"], 0, "f32[3,5]{1,0:T(2,2)}\n")]),
    ("errors with place, rule, and what would be accepted", "+", &[(&["show", "f32[3,5]{1,1}"], 2, "accepted: 0 to 1")]),
    ("checks a DirectML descriptor, every broken rule with a legal value", "+", &[(&["check", "../../samples/model.json"], 1, "legal      18816")]),
    ("command line on a layout's text", "+", &[(&["show", TILED], 0, "")]),
    ("picture in the terminal", "+", &[(&["show", TILED], 0, "the array: the offset of each element")]),
    ("picture as SVG or PDF", "+", &[(&["show", TILED, "--svg", "-"], 0, "<svg ")]),
    ("interactive page", "+", &[(&["link", TILED], 0, "tilework.html#1l=")]),
    ("library language", "Rust", &[]),
    ("moves data from one layout to another", "+ fast", &[(&["convert", "../../samples/weights.npy", "OUT", "--to", "{0,1}", "--check"], 0, "checked    every element")]),
    ("reads compiler dumps", "+", &[(&["audit", "../../samples/dump"], 0, "jit_particles")]),
    ("writes the layout in other notations", "+", &[(&["translate", TILED, "--to", "onednn"], 0, "f32[3,5] AB2a2b\n")]),
];

#[test]
fn the_table_says_what_the_command_does() {
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPARE.md"));
    let document = document.expect("the document");
    let (_, table) = document.split_once("## What each can do").expect("the table");
    let (table, _) = table.split_once("\n## ").expect("its end");
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| ")).map(cells).collect();
    let rows: Vec<_> =
        rows.iter().filter(|row| row.len() > 3 && !row[2].is_empty() && !row[1].is_empty()).collect();
    let out = std::env::temp_dir().join(format!("tilework-claims-{}.npy", std::process::id()));
    for row in &rows {
        let claim = CLAIMS.iter().find(|claim| claim.0 == row[1]);
        let (_, cell, commands) = claim.unwrap_or_else(|| panic!("nothing shows `{}`", row[1]));
        assert_eq!(row[2], *cell, "{}", row[1]);
        for (words, expected, printed) in *commands {
            let words: Vec<&str> = words
                .iter()
                .map(|&word| if word == "OUT" { out.to_str().expect("UTF-8") } else { word })
                .collect();
            let Ran { stdout, stderr, code } = run(&words);
            let all = format!("{stdout}{stderr}");
            assert!(
                code == *expected && all.contains(printed),
                "{}: {words:?} ended with {code}:\n{all}",
                row[1]
            );
        }
    }
    let _ = std::fs::remove_file(out);
    assert_eq!(rows.len(), CLAIMS.len(), "a claim without a row");
}
