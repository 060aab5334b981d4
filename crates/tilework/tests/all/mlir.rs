//! Types of MLIR: read, printed, lowered, and said.

use crate::common::{indices, recipe};
use proptest::prelude::*;
use tilework::dialect::{Described, Dim};
use tilework::mlir::{Arrangement, Kind, Type};
use tilework::xla::Shape;
use tilework::{Element, Layout, Result};

/// A text, an index, the offset of its element, and the allocated elements.
#[rustfmt::skip]
const KNOWN: &[(&str, &[u64], u64, u64)] = &[
    ("tensor<f32>", &[], 0, 1),
    ("tensor<3x5xf32>", &[2, 3], 13, 15),
    ("tensor<2x?xf32, #stablehlo.bounds<?, 4>>", &[1, 3], 7, 8),
    ("tensor<?x3xi8, #mhlo.type_extensions<bounds = [9, ?]>>", &[8, 2], 26, 27),
    ("tensor<0x7xbf16>", &[], 0, 0),
    ("tensor<2x4x!quant.uniform<i8<-127:127>:f32, 0.5:-1>>", &[1, 2], 6, 8),
    ("memref<2x8xvector<4xf32>>", &[1, 2, 3], 43, 64), // (1·8 + 2)·4 + 3
    ("memref<3xvector<2x4xi8>, strided<[5]>>", &[2, 1, 3], 87, 88), // 2·5·8 + 1·4 + 3
    ("memref<32x24xf32, strided<[1, 32]>>", &[5, 2], 69, 768),
    // A subview of memref<10x20xf32> at [3, 2], of sizes [4, 5], in steps of [2, 4].
    ("memref<4x5xf32, strided<[40, 4], offset: 62>>", &[3, 4], 198, 199), // 62 + 3·40 + 4·4
    ("memref<2x3xf32, strided<[0, 1]>>", &[1, 2], 2, 3),
    ("memref<4xf32, strided<[-1], offset: 3>, #gpu.address_space<workgroup>>", &[3], 0, 4),
    ("memref<3x5xf32, affine_map<(i, j) -> (i floordiv 2, j floordiv 2, i mod 2, j mod 2)>>", &[2, 3], 17, 24),
    ("memref<10x200xf32, affine_map<(d0,d1)->(d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>>", &[9, 130], 3202, 4096),
    ("memref<3x5xf32, affine_map<(d0, d1) -> (d0 mod 8, d1 mod 128)>>", &[2, 3], 259, 1024),
    ("memref<4x6xf32, affine_map<(d0, d1) -> (d1, d0)>>", &[1, 2], 9, 24),
    ("memref<64x128xf32, affine_map<(d0, d1) -> (2*d0, 4*d1)>>", &[1, 1], 1022, 64643), // 127 × 509
    ("memref<2x5xf32, affine_map<(d0, d1) -> (3*d0 + 17*d1)>>", &[1, 4], 71, 72),
    ("memref<16xf32, affine_map<(d0) -> (15 - d0)>>", &[3], 12, 16),
    ("memref<64xf32, affine_map<(d0) -> (d0 + 1)>>", &[63], 64, 65),
    ("memref<8xf32, affine_map<(d0) -> (d0 ceildiv 4)>>", &[5], 2, 3),
    ("memref<4x10xi8, affine_map<(d0, d1) -> ((d0 * 16 + d1) floordiv 8, (d0 * 16 + d1) mod 8)>>", &[3, 9], 57, 64),
    ("memref<4x10xi8, affine_map<(d0, d1) -> ((d0 * 10 + d1) floordiv 8, (d0 * 10 + d1) mod 8)>>", &[3, 9], 39, 40),
    ("memref<16xi8, affine_map<(d0) -> ((15 - d0) floordiv 4, (15 - d0) mod 4)>>", &[3], 12, 16),
    ("memref<10xf32, affine_map<(d0) -> (d0 floordiv 2, d0 mod 8)>>", &[9], 33, 40), // 4·8 + 1, of 5 × 8
    ("memref<8x2048xbf16, #tpu.tiled<(8,128)(2,1),[16,1]>, #tpu.memory_space<vmem>>", &[3, 130], 1285, 16384),
    ("memref<8x256xbf16, #xir.tiled<(8,128)(2,1),[5,2]>>", &[3, 130], 2309, 3072), // 1 tile · 2 · 1024 + 261
    ("memref<4x10xi32, #tpu.tiled<,[10,2]>>", &[3, 9], 48, 49),
    ("memref<272x256xi32, #tpu.tiled<(8,128),[2,1]>>", &[271, 255], 69631, 69632),
    ("memref<6xi4, 3>", &[5], 5, 6),
    ("tensor<5xindex>", &[4], 4, 5),
    ("memref<7xcomplex<f32>, #spirv.storage_class<Uniform>>", &[6], 6, 7),
];

#[test]
fn known_types_have_their_offsets_and_sizes() -> Result<()> {
    for &(text, index, offset, size) in KNOWN {
        let layout = Type::parse(text)?.lower()?;
        assert_eq!(layout.size(), size, "{text}");
        if !layout.is_empty() {
            assert_eq!(layout.offset(index)?, offset, "{text}");
        }
    }
    Ok(())
}

#[test]
fn a_printed_type_reads_back_as_itself() -> Result<()> {
    let more = [
        "tensor<?x3xui8, #enc>",
        "tensor<64x64xf16, #ttg.blocked<{sizePerThread = [1, 8], order = [1, 0]}>>",
        "tensor<8xi32, \"enc\">",
        "memref<4xf32, strided<[?], offset: ?>>",
        "memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>, 1 : i32>",
        "memref<4x4xf8E4M3FN, affine_map<(d0, d1) -> (-d0 + 3, -(d0 - d1 * 3) + 12, (d0 + d1) ceildiv 2 - 4 mod 3)>>",
        "memref<2x3xf32, #map, #tpu.memory_space<hbm>>",
        "memref<f32, affine_map<() -> ()>>",
        "memref<256x256xbf16, #xir.tiled<(8,128)(2,1),[2,1]>, #xir.memory_space<vmem, tc>>",
    ];
    for text in KNOWN.iter().map(|known| known.0).chain(more) {
        let found = Type::parse(text)?;
        let printed = found.to_string();
        assert_eq!(Type::parse(&printed)?, found, "{text} as {printed}");
        assert_eq!(Type::parse(&printed)?.to_string(), printed);
        assert!(found.parts(found.lower().ok().as_ref()).len() >= 3);
    }
    let spaced = Type::parse(" memref < 3 x 5 x f32 , strided < [ 8 , 1 ] , offset : 0 > > // so")?;
    assert_eq!(spaced.to_string(), "memref<3x5xf32, strided<[8, 1]>>");
    assert_eq!((spaced.kind(), spaced.dims()), (Kind::Memref, &[Dim::Static(3), Dim::Static(5)][..]));
    let map = Type::parse("memref<4x8xf32, affine_map<(a,b)[c]->(2*a+b*1-3, -b+(4-1)*a)>>")?;
    assert_eq!(
        map.to_string(),
        "memref<4x8xf32, affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 - 3, -d1 + d0 * 3)>>"
    );
    Ok(())
}

/// A text, the piece of it that is wrong between two `^` (one `^` for a place between characters), and a part of what
/// the error says of it.
#[rustfmt::skip]
const BAD: &[(&str, &str)] = &[
    ("^", "the text ends here; accepted: tensor<…> or memref<…>"),
    ("^tenser^<3xf32>", "did you mean tensor?"),
    ("^vector^<8x128xf32>", "a vector is in registers"),
    ("tensor^", "the text ends here; accepted: `<`"),
    ("tensor<^*^xf32>", "a tensor without rank"),
    ("memref<^*^xf32>", "neither are the places of the elements"),
    ("tensor<2x^*^xf32>", "accepted: an element type"),
    ("tensor<3^,^5xf32>", "accepted: `x` behind a size"),
    ("tensor<^-^3xf32>", "accepted: an element type"),
    ("tensor<^99999999999999999999^xf32>", "does not fit 63 bits"),
    ("tensor<2x^fp32^>", "`fp32` is not an element type; accepted: an element type; did you mean f32?"),
    ("tensor<2x^s8^>", "did you mean i8?"),
    ("tensor<2x^pred^>", "did you mean i1?"),
    ("tensor<2x^f8e4m3fn^>", "did you mean f8E4M3FN?"),
    ("tensor<2x^i33^>", "integers here have 1, 2, 4, 8, 16, 32 or 64 bits"),
    ("tensor<2x^tf32^>", "`tf32` is not an element type"),
    ("tensor<2x^u8^>", "did you mean ui8?"),
    ("tensor<2xcomplex<^i8^>>", "accepted: f32 or f64"),
    ("memref<2x^!tpu.semaphore^>", "of the types of other dialects only those of quant are read"),
    ("tensor<2x^!quant.uniform<f32:f32, 1.0>^>", "a quantised type stores integers"),
    ("memref<2xvector<^[^4]xf32>>", "a scalable vector"),
    ("memref<2xvector<^0^xf32>>", "vector types must have positive constant sizes"),
    ("memref<2xvector<4x^vector^<2xf32>>>", "vector elements must be int/index/float type"),
    ("tensor<4xf32^", "the text ends here"),
    ("tensor<4xf32> ^x^", "accepted: the end of the text"),
    ("tensor<2xf32, #a, ^#b^>", "accepted: `>` at the end of the type"),
    ("tensor<2x?xf32, #stablehlo.bounds<^?>^>", "1 bounds for 2 dimensions"),
    ("tensor<2x?xf32, #stablehlo.bounds<^4^, ?>>", "a static dimension cannot have a bound"),
    ("memref<3x5xf32, ^stridde^<[1, 3]>>", "did you mean strided?"),
    ("memref<3x5xf32, ^strided<[1]>^>", "expected the number of strides to match the rank"),
    ("memref<3x5xf32, strided<[1, ^x^]>>", "accepted: a number or ?"),
    ("memref<3x5xf32, strided<[1, 2], ^size^: 3>>", "accepted: offset:"),
    ("memref<3x5xf32, ^affine_map<(d0) -> (d0)>^>", "memref layout mismatch between rank and affine map"),
    ("memref<3xf32, affine_map<(d0, ^d0^) -> (d0)>>", "redefinition of identifier `d0`"),
    ("memref<3xf32, affine_map<(d0) -> (^d1^)>>", "use of undeclared identifier `d1`; accepted: d0"),
    ("memref<3xf32, affine_map<(d0) -> (d0 ^flordiv^ 2)>>", "did you mean floordiv?"),
    ("memref<3xf32, affine_map<(d0) -> (d0 floordiv ^0^)>>", "right operand of floordiv has to be"),
    ("memref<3xf32, affine_map<(d0) -> (d0 mod ^-2^)>>", "and positive"),
    ("memref<3xf32, affine_map<(d0) -> (d0 ^*^ d0)>>", "at least one of the multiply operands"),
    ("memref<3xf32, affine_map<(d0) -> (4 mod ^d0^)>>", "right operand of mod has to be"),
    ("memref<3xf32, affine_map<(d0) -> ((d0 + 1^>^>", "accepted: an operator, or `)`"),
    ("memref<3xf32, affine_map<(d0) -> (d0 ^*^ 9223372036854775807 * 9223372036854775807)>>", "does not fit 64 bits"),
    ("memref<3xf32, strided<[1]>, ^affine_map<(d0) -> (d0)>^>", "a second layout"),
    ("memref<3xf32, 3, ^4^>", "accepted: `>` at the end of the type"),
    ("memref<3xf32, #tpu.tiled<(^0^),[1]>>", "tile size `0`"),
    ("memref<3x4xf32, ^#tpu.tiled<(8,128),[1]>^>", "expected the number of tile strides"),
];

#[test]
fn errors_stand_where_the_text_is_wrong() {
    for &(marked, says) in BAD {
        let text = marked.replace('^', "");
        let start = marked.find('^').unwrap();
        let end = marked[start + 1..].find('^').map_or(start, |length| start + length);
        let error = Type::parse(&text).expect_err(&text);
        let whole = error.to_string();
        assert!(whole.contains(says), "{text}: {whole}");
        if !marked.contains("-2^") && !marked.contains("^*^ 922") {
            assert_eq!(error.span(), Some(start..end), "{text}: {whole}");
        }
    }
}

#[test]
fn what_has_no_places_says_why() -> Result<()> {
    for (text, says) in [
        ("tensor<?xf32>", "dimension 0 is ?; such sizes are known only when the program runs"),
        ("memref<4xf32, strided<[?]>>", "stride 0 is ?"),
        ("memref<4xf32, strided<[1], offset: ?>>", "the offset is ?"),
        ("memref<4xf32, strided<[-1]>>", "below 0"),
        ("memref<4xf32, strided<[1], offset: -1>>", "an offset of 0 or more"),
        ("tensor<4xf32, #enc>", "an alias stands for an attribute"),
        ("memref<4xf32, #map>", "an alias stands for an attribute"),
        ("tensor<4xf32, #ttg.blocked<{}>>", "an encoding of Triton says which threads"),
        (
            "tensor<4xf32, #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>",
            "a sparse tensor stores some",
        ),
        ("tensor<4xf32, #iree_encoding.layout<[]>>", "is not resolved to them yet"),
        ("memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>", "the value of a symbol"),
        (
            "memref<4xf32, affine_map<(d0) -> (d0 - 3)>>",
            "result 0 of the affine map, d0 - 3, is -3 at the least",
        ),
        (
            "memref<12xf32, affine_map<(d0) -> (d0 floordiv 2, d0 floordiv 3)>>",
            "cut at multiples of 2 and of 3",
        ),
        ("memref<4x8xf32, affine_map<(d0, d1) -> ((d0 + d1) mod 4)>>", "a number in mixed radix"),
        ("memref<4x8xf32, affine_map<(d0, d1) -> (d1, (d0 * 8 + d1) mod 5)>>", "used twice"),
        ("memref<8xf32, affine_map<(d0) -> (d0 ceildiv 4, d0 mod 4)>>", "used twice"),
        ("memref<4x8xf32, #tpu.tiled<(4,8)(3,1),[1,1]>>", "a further tile divides the first"),
        ("memref<8xf32, #tpu.tiled<(4,8),[1]>>", "at most as many sizes as the memory has dimensions"),
        ("memref<4294967296x4294967296xf64>", "overflow"),
    ] {
        let error = Type::parse(text)?.lower().expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    Ok(())
}

/// The sizes and offsets that MLIR has for maps. Where a map is not lowered, that has a reason of its own.
#[test]
fn maps_have_the_sizes_and_offsets_of_mlir() {
    let cases = include_str!("../cases/mlir_maps.txt").lines().filter(|line| !line.starts_with('#'));
    let (mut lowered, mut wrong) = (0, Vec::new());
    for case in cases {
        let [text, sizes, offsets] = case.split(" | ").collect::<Vec<_>>()[..] else { panic!("{case}") };
        let size: u64 = sizes.split('x').map(|size| size.parse::<u64>().unwrap()).product();
        let Ok(layout) = Type::parse(text).unwrap().lower() else { continue };
        lowered += 1;
        let own: Vec<String> =
            indices(layout.dims()).map(|index| layout.offset(&index).unwrap().to_string()).collect();
        if layout.size() != size || own.join(" ") != offsets {
            wrong.push(format!("{text}: {} places, not {size}: {}", layout.size(), own.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {lowered} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lowered >= 120, "{lowered}");
}

#[test]
fn layouts_are_said_as_people_write_them() -> Result<()> {
    let said = |shape: &str| {
        let shape = Shape::parse(shape)?;
        let array = shape.as_array().unwrap();
        Type::of_layout(&array.lower()?, array.element_type()).map(|found| found.to_string())
    };
    for (shape, text) in [
        ("f32[3,5]", "memref<3x5xf32>"),
        ("f32[]", "memref<f32>"),
        ("pred[7]", "memref<7xi1>"),
        ("bf16[3,5]{0,1}", "memref<3x5xbf16, strided<[1, 3]>>"),
        ("u8[2,3,1]{strides(5,1,9)}", "memref<2x3x1xui8, strided<[5, 1, 1]>>"),
        (
            "f32[3,5]{1,0:T(2,2)}",
            "memref<3x5xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)>>",
        ),
        ("f32[3,5]{1,0:T(8,128)}", "memref<3x5xf32, affine_map<(d0, d1) -> (d0 mod 8, d1 mod 128)>>"),
        (
            "bf16[64,300]{1,0:T(8,128)(2,1)}",
            "memref<64x300xbf16, affine_map<(d0, d1) -> \
             (d0 floordiv 8, d1 floordiv 128, (d0 mod 8) floordiv 2, d1 mod 128, d0 mod 2)>>",
        ),
        ("f32[2,3]{1,0:pad(3,5)}", "memref<2x3xf32, affine_map<(d0, d1) -> (d0 mod 3, d1 mod 5)>>"),
        ("f32[10]{0:T(4)L(16)}", "memref<10xf32, affine_map<(d0) -> (d0 mod 16)>>"),
    ] {
        assert_eq!(said(shape)?, text, "{shape}");
    }
    for (shape, says) in [
        ("s4[8]{0:E(4)}", "an element of a memref has bytes of its own"),
        ("f32[3,5]{1,0:T(2,2)L(7)}", "28 elements are allocated, but a memref with these places has 21"),
    ] {
        let error = said(shape).expect_err(shape).to_string();
        assert!(error.contains(says), "{shape}: {error}");
    }
    Ok(())
}

/// An affine expression as a text, with what it is at an index.
#[derive(Clone, Debug)]
enum Affine {
    Dim(usize),
    Const(i64),
    Op(&'static str, Box<(Affine, Affine)>),
}

impl Affine {
    fn text(&self) -> String {
        match self {
            Affine::Dim(dim) => format!("d{dim}"),
            Affine::Const(value) => value.to_string(),
            Affine::Op(op, parts) => format!("({} {op} {})", parts.0.text(), parts.1.text()),
        }
    }

    fn value(&self, index: &[u64]) -> i64 {
        match self {
            Affine::Dim(dim) => index[*dim] as i64,
            Affine::Const(value) => *value,
            Affine::Op(op, parts) => {
                let (a, b) = (parts.0.value(index), parts.1.value(index));
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "floordiv" => a.div_euclid(b),
                    "ceildiv" => -(-a).div_euclid(b),
                    _ => a.rem_euclid(b),
                }
            }
        }
    }
}

fn affine(rank: usize) -> impl Strategy<Value = Affine> {
    let leaf = prop_oneof![4 => (0..rank).prop_map(Affine::Dim), 1 => (-3..9_i64).prop_map(Affine::Const)];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let sum = (prop_oneof![3 => Just("+"), 1 => Just("-")], inner.clone(), inner.clone());
        let other = prop_oneof![Just("*"), Just("floordiv"), Just("ceildiv"), Just("mod")];
        let other = (other, inner, 1..=8_i64).prop_map(|(op, a, by)| (op, a, Affine::Const(by)));
        prop_oneof![sum, other].prop_map(|(op, a, b)| Affine::Op(op, Box::new((a, b))))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn a_map_that_is_lowered_is_the_map(
        (dims, results) in prop::collection::vec(1..=9_u64, 1..=3).prop_flat_map(|dims| {
            let rank = dims.len();
            (Just(dims), prop::collection::vec(affine(rank), 1..=3))
        }),
    ) {
        let sizes: String = dims.iter().map(|size| format!("{size}x")).collect();
        let names: Vec<String> = (0..dims.len()).map(|dim| format!("d{dim}")).collect();
        let texts: Vec<String> = results.iter().map(Affine::text).collect();
        let text =
            format!("memref<{sizes}f32, affine_map<({}) -> ({})>>", names.join(", "), texts.join(", "));
        let Ok(found) = Type::parse(&text) else { return Ok(()) };
        prop_assert_eq!(&Type::parse(&found.to_string()).unwrap(), &found);
        let Ok(layout) = found.lower() else { return Ok(()) };
        let of = |index: &[u64]| -> Vec<i64> { results.iter().map(|result| result.value(index)).collect() };
        let all: Vec<Vec<i64>> = indices(&dims).map(|index| of(&index)).collect();
        let most: Vec<i64> = (0..results.len()).map(|k| all.iter().map(|at| at[k]).max().unwrap()).collect();
        prop_assert!(layout.size() >= most.iter().map(|most| *most as u64 + 1).product::<u64>());
        // The sizes are not said, but two elements that differ in one result by one step show a stride.
        let offsets: Vec<u64> = indices(&dims).map(|index| layout.offset(&index).unwrap()).collect();
        for (a, at) in all.iter().enumerate() {
            for (b, other) in all.iter().enumerate() {
                prop_assert_eq!(at.cmp(other), offsets[a].cmp(&offsets[b]), "{} {}", text, layout.canon());
            }
        }
    }

    #[test]
    fn every_built_layout_that_is_said_is_itself(recipe in recipe()) {
        let layout = recipe.build().unwrap();
        if let Ok(found) = Type::of_layout(&layout, Element::F32) {
            let again = Type::parse(&found.to_string()).unwrap();
            prop_assert_eq!(&again, &found);
            let own = again.lower().unwrap();
            prop_assert!(own.same_buffer(&layout).is_yes());
        } else {
            // Only merges, padding at the end or of what no dimension names, and places without elements have no map.
            let is_long = layout.is_empty() || recipe.tiles.iter().any(|tile| tile.len() > recipe.dims.len());
            prop_assert!(recipe.align > 1 || recipe.tiles.len() > 1 || is_long || recipe.tiles.iter().flatten().any(Option::is_none), "{:?}", recipe);
        }
    }

    #[test]
    fn no_text_panics(text in "(tensor|memref)<([0-9?]{1,2}x){0,3}(f32|i8|vector<2xf32>|!quant.uniform<i8:f32>)?(, ?(strided<\\[[0-9,?-]{0,6}\\](, offset: [0-9?]{1,2})?>|affine_map<\\(d0(, d1)?\\)(\\[s0\\])? -> \\([d01 ()+*a-z0-9,-]{0,20}\\)>|#tpu.tiled<\\([0-9,]{0,4}\\),\\[[0-9,]{0,4}\\]>|#[a-z.<>\\[\\]()\"-]{0,12}|3)){0,2}>?") {
        check(&text);
    }

    #[test]
    fn no_random_text_panics(text in "[a-z0-9<>()\\[\\]{}#!*?,:.\" \\\\x=é/-]{0,60}") {
        check(&text);
        check(&format!("memref<2x{text}"));
        check(&format!("memref<2xf32, {text}>"));
        check(&format!("memref<2xf32, affine_map<(d0) -> ({text})>>"));
    }
}

/// Whatever is read prints and reads back, and whatever is lowered is a layout.
fn check(text: &str) {
    let error = match Type::parse(text) {
        Ok(found) => {
            assert_eq!(Type::parse(&found.to_string()).as_ref(), Ok(&found), "{text}");
            found.parts(None);
            let _ = found.lower().map(|layout: Layout| layout.canon().to_string());
            return;
        }
        Err(error) => error,
    };
    let span = error.span().expect("an error of a text has a place");
    assert!(text.get(span).is_some(), "{text}: {error}");
    let _ = error.report(text).to_string();
}

#[test]
fn deep_and_long_texts_are_refused_and_do_not_overflow_the_stack() {
    let map = |body: &str| format!("memref<4xf32, affine_map<(d0) -> ({body})>>");
    for open in ["(", "-", "-("] {
        assert!(Type::parse(&map(&open.repeat(100_000))).is_err());
    }
    assert!(Type::parse(&map(&"d0 + ".repeat(100_000))).is_err());
    let long = Type::parse(&map(&format!("{}d0", "d0 + ".repeat(200)))).unwrap();
    assert_eq!(Type::parse(&long.to_string()).unwrap(), long);
    assert!(Type::parse(&format!("memref<{}f32>", "vector<2x".repeat(100_000))).is_err());
    assert!(Type::parse(&format!("memref<{}f32>", "2x".repeat(100_000))).is_err());
    assert!(Type::parse(&format!("memref<2xf32, #a{}>", "<[".repeat(100_000))).is_err());
    assert!(matches!(
        Type::parse("memref<2xf32, strided<[1]>>").unwrap().arrangement(),
        Arrangement::Strided { .. }
    ));
}
