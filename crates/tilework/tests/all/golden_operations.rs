//! What functions of one notation give for values of every kind: CuTe's algebra, shardings, and maps of an index. The file
//! `tests/golden/operations.txt` has a few values of each, and a sum over all (see `golden`).

use std::fmt::{Debug, Write};

use tilework::Element;
use tilework::cute::operation;
use tilework::sharding::{Mesh, Sharding};

use crate::golden::{Sum, compare, none};
use crate::golden_texts::damaged;
use crate::pairs::Random;

/// How many values of a function are written out.
const SHOWN: usize = 4;

/// How often a sharding is read with words changed.
const CHANGED: usize = 8;

/// The values of a function so far.
pub(crate) struct Values {
    name: String,
    shown: Vec<String>,
    count: usize,
    refused: usize,
    sum: Sum,
}

impl Values {
    pub(crate) fn of(name: impl Into<String>) -> Values {
        Values { name: name.into(), shown: Vec::new(), count: 0, refused: 0, sum: Sum::default() }
    }

    pub(crate) fn add<T: Debug>(&mut self, of: &str, value: tilework::Result<T>) {
        match value {
            Ok(value) => {
                let text = format!("{of} -> {value:?}");
                self.sum.add(of, &text);
                // One of many, so that they are not all alike.
                if self.count.is_multiple_of(37) && self.shown.len() < SHOWN {
                    self.shown.push(text);
                }
                self.count += 1;
            }
            Err(error) => {
                self.sum.add(of, &format!("{error} {:?}", error.kind()));
                self.refused += 1;
            }
        }
    }

    pub(crate) fn write(&self, file: &mut String) {
        let Values { name, count, refused, sum, .. } = self;
        writeln!(file, "== {name}: {count} values, {refused} refused, sum {:016x}", sum.0)
            .expect("takes all");
        self.shown.iter().for_each(|text| writeln!(file, "{text}").expect("takes all"));
    }
}

/// Every operation of CuTe IR.
const OPERATIONS: [&str; 56] = [
    "append_to_rank",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "complement",
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "composition",
    "cosize",
    "crd2idx",
    "dice",
    "filter",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "get",
    "get_shape",
    "get_stride",
    "group_modes",
    "idx2crd",
    "increment_coord",
    "layout_eval",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "max_alignment",
    "raked_product",
    "recast_layout",
    "right_inverse",
    "select",
    "shape_div",
    "size",
    "slice",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "to_coord",
    "to_int_tuple",
    "to_shape",
    "to_stride",
    "tuple_add",
    "tuple_mul",
    "tuple_product",
    "tuple_product_each",
    "tuple_sub",
    "zipped_divide",
    "zipped_product",
    "tuple_mod",
    "",
    "Size",
];

/// Tuples, layouts and tilers.
const VALUES: [&str; 33] = [
    "(1,6)",
    "(0,3)",
    "(2,1,3)",
    "4",
    "0",
    "_",
    "?",
    "(4,6)",
    "(2,(3,2))",
    "((2,2),_)",
    "(?,8)",
    "(1,0)",
    "(3,1)",
    "-2",
    "(2,3,4)",
    "8:1",
    "(4,8):(8,1)",
    "(4,6):(1,4)",
    "((2,2),(2,3)):((2,12),(1,4))",
    "(4,8):(0,1)",
    "(8,2):(-1,8)",
    "(2,3,4):(1,2,6)",
    "(4,6):(12,2)",
    "(?,8):(8,1)",
    "(6,4):(4,?)",
    "(3,2):(1@0,1@1)",
    "(4,(2,2)):(2,(1,8))",
    "S<1,2,3> o 0 o (8,8):(8,1)",
    "S<2,0,3> o 4 o (8,8):(1,8)",
    "(4,8):(8,1) o 0 o (2,2):(1,2)",
    "[4:1;2:2]",
    "[2:1;_]",
    "<4:1,2:1>",
];

const PARAMS: [Option<&str>; 5] = [None, Some("<0>"), Some("<0,2>"), Some("<1,1>"), Some("<16,8>")];

fn operations(file: &mut String) {
    for name in OPERATIONS {
        let mut values = Values::of(name);
        for (at, first) in VALUES.iter().enumerate() {
            for param in PARAMS {
                let says = |more: &[&str]| format!("{} {}", param.unwrap_or(""), more.join(" "));
                values.add(&says(&[first]), operation(name, param, &[first]));
                // Beside each other value without a parameter, and beside some with one.
                for second in VALUES.iter().skip(at % 3).step_by(if param.is_none() { 1 } else { 7 }) {
                    values.add(&says(&[first, second]), operation(name, param, &[first, second]));
                }
            }
            for (second, third) in [("(4,6)", "(1,0)"), ("(2,3,4)", "(1,2,6)"), ("(2,(3,2))", "(1,(2,6))")] {
                let all = [*first, second, third];
                values.add(&all.join(" "), operation(name, None, &all));
            }
        }
        values.write(file);
    }
}

fn shardings(file: &mut String) {
    let texts = [
        "{replicated}",
        "{maximal device=3}",
        "{devices=[2,2]<=[4]}",
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
        "{devices=[4,2]<=[2,4]T(1,0)}",
        "{devices=[2,2]0,2,1,3}",
        "{devices=[2,1,2,2]<=[8] last_tile_dims={replicated, manual}}",
        "P('x', 'y')",
        "P(('x', 'y'), None)",
        "P(None, 'x')",
        "P()",
        "PartitionSpec('y')",
        "P('z')",
        "{manual}",
        "{devices=[3]<=[3]}",
        "{devices=[0]<=[0]}",
        "{devices=[2,2]0,0,1,3}",
        "devices=[2]",
        "{",
        "replicated",
        "other",
        "{{replicated}, {devices=[2]<=[2]}}",
        "{unknown}",
        "{unreduced}",
        "{maximal}",
        "{maximal device=}",
        "{maximal device=0}",
        "{devices=[2,3]<=[6]}",
        "{devices=[2,3]<=[3,2]T(1,0)}",
        "{devices=[2,3]<=[3,2]T(0,1)}",
        "{devices=[2,3]<=[3,2]T(1,1)}",
        "{devices=[2,3]<=[3,2]T(0)}",
        "{devices=[2,3]<=[4]}",
        "{devices=[3,2,2]<=[2,3,2]T(1,2,0) last_tile_dim_replicate}",
        "{devices=[2,3]5,4,3,2,1,0}",
        "{devices=[2,3]5,4,3,2,1}",
        "{devices=[2,3]5,4,3,2,1,0,6}",
        "{devices=[2,2]7,1,9,3}",
        "{devices=[1,1,4]<=[4] last_tile_dims={manual}}",
        "{devices=[1,2,2]<=[4] last_tile_dims={replicated}}",
        "{devices=[2,2]<=[4] last_tile_dims={manual, manual, manual}}",
        "{devices=[1048576]<=[1048576]}",
        "{devices=[1,1048576]<=[1048576] last_tile_dim_replicate}",
        "{devices=[1,1048577]<=[1048577] last_tile_dim_replicate}",
        "{devices=[9223372036854775807]<=[9223372036854775807]}",
        "{devices=[4294967296,4294967296]<=[4294967296,4294967296]}",
        "NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x', 'y'))",
        "NamedSharding(Mesh('x': 2, 'y': 4), P(None, 'y'))",
        "NamedSharding(mesh=Mesh('x': 2), spec=P('y'))",
        "NamedSharding(mesh=Mesh('x': 2))",
        "NamedSharding(spec=P('x'))",
        "NamedSharding(mesh=Mesh('x': 2), spec='x')",
        "P('x', 'x')",
        "P(('x', 'x'))",
        "P(('y', 'x'), 'z')",
        "P(1)",
        "P(x='y')",
        "P('x') P('y')",
    ];
    let meshes = [None, Some("x=2,y=4"), Some("x=2, y=2, z=3"), Some("x=1"), Some("y=3")];
    let sizes: [&[u64]; 6] = [&[8], &[4, 6], &[5, 7], &[4, 6, 2], &[1, 1], &[]];
    let mut values = Values::of("shardings");
    for mesh in meshes {
        let mesh = mesh.map(|text| Mesh::parse(text).expect(text));
        let mut random = Random(5);
        let changed = texts
            .iter()
            .flat_map(|text| (0..CHANGED).map(|_| damaged(text, &mut random)).collect::<Vec<_>>());
        let changed: Vec<String> = changed.collect();
        for text in texts.into_iter().chain(changed.iter().map(String::as_str)) {
            let sharding = Sharding::parse(text, mesh.as_ref());
            values.add(text, sharding.clone());
            let Ok(sharding) = sharding else { continue };
            values.add(text, Ok((sharding.to_string(), sharding.rank(), sharding.devices())));
            for sizes in sizes {
                let of = format!("{text} {sizes:?}");
                values.add(&of, sharding.parts(sizes.len()));
                values.add(&of, sharding.widened(sizes.len()));
                values.add(&of, sharding.part_sizes(sizes));
                values.add(&of, sharding.uneven(sizes));
                for device in (0..13).chain([1048575, 1048576]) {
                    values.add(&format!("{of} {device}"), sharding.part(sizes, device));
                }
                for place in 0..4 {
                    let holders = sharding.holders(&vec![place; sizes.len()]);
                    let few =
                        holders.map(|all| (all.len(), all.iter().take(12).copied().collect::<Vec<_>>()));
                    values.add(&of, few);
                }
            }
        }
    }
    values.write(file);
}

/// A sum of quotients and remainders of the dimensions, as MLIR or TVM writes it.
fn expression(random: &mut Random, names: &[&str], [div, rem]: [&str; 2], depth: usize) -> String {
    if depth == 0 || random.one_in(4) {
        return names[random.below(names.len())].to_owned();
    }
    let number = random.pick(&[1, 2, 2, 3, 4, 6, 8, -1, -2]);
    let inner = expression(random, names, [div, rem], depth - 1);
    match random.below(6) {
        0 => format!("({inner} {div} {number})"),
        1 => format!("({inner} {rem} {number})"),
        2 => format!("{inner} * {number}"),
        3 => format!("({inner} + {number})"),
        4 => format!("({inner} - {number})"),
        _ => format!("({inner} + {})", expression(random, names, [div, rem], depth - 1)),
    }
}

/// Maps of an index, which two notations say alike.
fn maps(file: &mut String) {
    let mut random = Random(11);
    let (mut mlir, mut tvm) = (Values::of("maps of MLIR"), Values::of("maps of TVM"));
    for _ in 0..700 {
        let rank = 1 + random.below(3);
        let sizes: Vec<String> = (0..rank).map(|_| (1 + random.below(9)).to_string()).collect();
        let results = 1 + random.below(3);
        let mut map = |names: &[&str], words| -> Vec<String> {
            (0..results).map(|_| expression(&mut random, names, words, 3)).collect()
        };
        let names = &["d0", "d1", "d2"][..rank];
        let found = map(names, ["floordiv", "mod"]).join(", ");
        let text =
            format!("memref<{}xf32, affine_map<({}) -> ({found})>>", sizes.join("x"), names.join(", "));
        mlir.add(&text, read(&text));
        let found = map(names, ["ceildiv", "mod"]).join(", ");
        let text =
            format!("memref<{}xf32, affine_map<({}) -> ({found})>>", sizes.join("x"), names.join(", "));
        mlir.add(&text, read(&text));
        let names = &["i", "j", "k"][..rank];
        let found = map(names, ["//", "%"]).join(", ");
        let text = format!("f32[{}] lambda {}: ({found},)", sizes.join(","), names.join(", "));
        tvm.add(&text, read(&text));
    }
    mlir.write(file);
    tvm.write(file);
}

/// What a text says, and what its places are in the notations that have such maps.
fn read(text: &str) -> tilework::Result<String> {
    let said = tilework::dialect::read_one(text)?;
    let layout = said.layout()?;
    let again = said.dialect().say(&layout, Element::F32).map(|again| again.to_string());
    Ok(format!("{said}: {layout:?}, again {again:?}"))
}

#[test]
fn functions_of_a_notation_give_what_they_gave() {
    let mut file = String::new();
    operations(&mut file);
    shardings(&mut file);
    maps(&mut file);
    let mut wrong = Vec::new();
    compare("operations.txt", file, &mut wrong);
    none(wrong);
}
