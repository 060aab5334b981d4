//! How much of a thing a text may have: texts with one of it, with two, and so on beyond every limit. The file
//! `tests/golden/limits.txt` has for each form which counts are read, and which messages come from where on.

use std::fmt::Write;

use tilework::dialect;

use crate::golden::{Sum, compare, everything, kind, none};

/// Around the limits that there are, and those of the types of numbers.
const COUNTS: [usize; 42] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 20, 25, 26, 27, 31, 32, 33, 61, 62, 63, 64, 65, 66,
    120, 127, 128, 129, 130, 200, 255, 256, 257, 258, 1023, 1024, 1025,
];

/// The letters of an answer that are written out.
const SHOWN: usize = 100;

/// What is as large as a number may be, or one more or less.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2147483647",
    "4294967295",
    "4294967296",
    "2305843009213693951",
    "2305843009213693952",
    "4611686018427387903",
    "4611686018427387904",
    "9223372036854775806",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
];

/// `…` is the thing, as often as the count says with what stands behind `…` between; `N` is its number, `R` the numbers from the
/// last, `M` the count itself, and `X` and `Y` are so many opening and closing brackets.
const FORMS: [&str; 92] = [
    "f32[…1…,…]",
    "f32[…1…,…]{…R…,…}",
    "f32[8]{0:…T(8)……}",
    "f32[8]{0:T(…1…,…)}",
    "f32[8]{0:T(…*…,…,8)}",
    "f32[1]{0:SC(0:…1…,…)}",
    "XYYf32[]",
    "Xf32[]Y",
    "(…f32[]…, …)",
    "b(Xf32[]Y)",
    "f32[2]{0:T(2)…S(1)……}",
    "memref<…1x……f32>",
    "memref<1x1x1x…1x……vector<1x1x1xf32>>",
    "memref<2x…1x……vector<2xf32>>",
    "tensor<2xvector<…1x……f32>>",
    "memref<…1x……f32, strided<[…1…, …]>>",
    "memref<4xf32, strided<[…1…, …]>>",
    "memref<…1x……f32, #tpu.tiled<(…1…,…),[…1…,…]>>",
    "memref<8xf32, #tpu.tiled<…(8)……,[1]>>",
    "memref<4xf32, affine_map<(…dN…, …) -> (d0)>>",
    "memref<…1x……f32, affine_map<(…dN…, …) -> (…dN…, …)>>",
    "memref<4xf32, affine_map<(d0)[…sN…, …] -> (d0)>>",
    "memref<4xf32, affine_map<(d0) -> (d0… + 0……)>>",
    "memref<4xf32, affine_map<(d0) -> (Xd0Y)>>",
    "memref<4xf32, affine_map<(d0) -> (…-…… d0)>>",
    "memref<4xf32, affine_map<(d0) -> (…0…, …)>>",
    "memref<4xf32, …3…, …>",
    "tensor<…?x……f32, #stablehlo.bounds<…4…, …>>",
    "f32[1,1] inner_dims_pos = […N…, …] inner_tiles = […1…, …]",
    "f32 (…1…,…):(…0…,…)",
    "f32 X4Y:X1Y",
    "f32 (4,8):(1…@0……,8@1)",
    "f32 (4,8):(1@0,1@M)",
    "f32 4:1… o 0 o 4:1……",
    "f32 S<…3…,…> o 0 o 4:1",
    "f32 …2:1…;…",
    "float32 (…1…, …)",
    "float32 (…1…, …) strides (…4…, …)",
    "torch.float32 […1…, …] strides […1…, …]",
    "float32 (2,) x.reshape(…1…, …, 2)",
    "float32 (2,) x….T……",
    "float32 (2,) x….reshape(2)……",
    "float32 (2,) x….ravel('F')……",
    "float32 (2,) …np.ravel(……x…)……",
    "float32 (…1…, …) x.transpose(…R…, …)",
    "float32 (…1…, …) np.pad(x, (…(0, 0)…, …))",
    "float32 (…1…, …) F.pad(x, (…0, 0…, …))",
    "float32 (2,) F.pad(x, (…0…, …))",
    "float32 (2,) np.expand_dims(x, (…N…, …))",
    "float32 (…1…, …) np.squeeze(x, (…N…, …))",
    "float32 (…1…, …) np.moveaxis(x, (…N…, …), (…R…, …))",
    "float32 (…1…, …) rearrange(x, '…aN… … -> …aN… …')",
    "float32 (…1…, …) rearrange(x, '... -> ...')",
    "float32 (2, …1…, …) rearrange(x, 'a ... -> ... a')",
    "float32 (2,) rearrange(x, '…1… … a -> a')",
    "float32 (2,) rearrange(x, 'a -> …1… … a')",
    "float32 (2,) rearrange(x, 'a -> (a …1… …)')",
    "float32 (1,) rearrange(x, '(…aN… …) -> (…aN… …)', …aN=1…, …)",
    "torch.as_strided(b, (…1…, …), (…1…, …))  # b: torch.float32 [24]",
    "float32 (2,) x…[:2]……",
    "f32[…1…,…] ab",
    "f32[1] a…8a……",
    "f32[1] A…8a……",
    "src:f32::blocked:a:…1…x…:f0 8",
    "FLOAT32 […1…,…]",
    "FLOAT32 […1…,…] strides […1…,…]",
    "{\"DataType\": \"FLOAT32\", \"Sizes\": […1…, …]}",
    "{\"DataType\": \"FLOAT32\", \"Sizes\": [1], \"Other\": …[……1…]……}",
    "f32[…1…,…] NCHW4c",
    "f32[1] A…8a……",
    "f32[…1…,…] A->…A1a……",
    "f32[4] lambda …i…, …: (i,)",
    "f32[…1…,…] lambda *i: i",
    "f32[4] lambda i: (i… + 0……,)",
    "f32[4] lambda i: (XiY,)",
    "f32[4] lambda i: (…0…, …, i)",
    "f32[1] S[(…1…, …):(…1…, …)]",
    "f32[…1…,…] chunks (…1…, …)",
    "f32[…1…,…] chunks (…1…, …) order (…R…, …)",
    "type = f32, ne = […1…, …]",
    "type = f32, ne = […1…, …], nb = […4…, …]",
    "f32[…1…,…] kLINEAR",
    "f16[…1…,…] kCDHW32",
    "f32[…1…,…] Float(…1…,…)",
    "f32[…1…,…] Layout(major_to_minor=(…N…, …))",
    "f32[8] Layout(major_to_minor=(0,), tiling=(…(8,)…, …))",
    "f32[…1…,…] tt_tile",
    "f32[…1…,…] NCHWc B=4",
    "f16[…1…,…] FRACTAL_NZ",
    "f32[…1…,…] COL32",
    "tensor<…1x……f16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = […R…, …]}>>",
    "tensor<1x1xf32, #ttg.generic_linear<{register = […[0, 0]…, …], lane = [], warp = [], block = []}>>",
];

/// `№` is a number.
const OF_NUMBERS: [&str; 52] = [
    "u8[№]",
    "u8[1,№]",
    "u8[2,№]",
    "f32[№]",
    "u8[2]{0:T(№)}",
    "u8[2]{0:pad(№)}",
    "u8[2]{strides(№)}",
    "u8[2]{strides(-№)}",
    "u8[1]{strides(№)}",
    "u8[2]{strides(1),base(№)}",
    "u8[2]{strides(1),size(№)}",
    "u8[2]{0:S(№)}",
    "u8[2]{0:E(№)}",
    "u8[2]{0:L(№)}",
    "u8[<=№]",
    "u8[0,№]",
    "u8[№,0]",
    "memref<№xi8>",
    "memref<2xi8, strided<[№]>>",
    "memref<2xi8, strided<[-№], offset: №>>",
    "memref<2xi8, strided<[1], offset: №>>",
    "memref<2xi8, #tpu.tiled<(№),[1]>>",
    "memref<2xi8, #tpu.tiled<(2),[№]>>",
    "memref<2xi8, affine_map<(i) -> (i * №)>>",
    "memref<2xi8, affine_map<(i) -> (i + №)>>",
    "memref<2xi8, affine_map<(i) -> (i floordiv №)>>",
    "memref<2xi8, affine_map<(i) -> (i mod №, №)>>",
    "u8[2] inner_dims_pos = [0] inner_tiles = [№]",
    "u8 №:1",
    "u8 2:№",
    "u8 1:№",
    "u8 2:-№",
    "u8 S<№,0,1> o 0 o 4:1",
    "u8 S<1,№,1> o 0 o 4:1",
    "u8 S<1,0,№> o 0 o 4:1",
    "uint8 (№,)",
    "uint8 (2,) strides (№,)",
    "uint8 (2,) strides (1,) offset №",
    "uint8 (2,) np.pad(x, (0, №))",
    "uint8 (2,) np.pad(x, (№, 0))",
    "uint8 (2,) np.reshape(x, №)",
    "np.lib.stride_tricks.as_strided(b[№:], (2,), (№,))  # b: uint8 (24,)",
    "u8[2] a strides №",
    "u8[2] A8a offset №",
    "u8[2] a size №",
    "UINT8 [№]",
    "UINT8 [2] strides [№]",
    "UINT8 [2] total №",
    "type = i8, ne = [2], nb = [№]",
    "u8[2] UInt8(№)",
    "u8[2] lambda i: (i * №,)",
    "u8[2,2] bytesPerRow=№",
];

/// A form with so much of the thing.
fn with(form: &str, count: usize) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, thing)) = rest.split_once('…') {
        let (thing, behind) = thing.split_once('…').expect("what is repeated ends");
        let (glue, behind) = behind.split_once('…').unwrap_or((behind, ""));
        let all = (0..count).map(|number| {
            let from_the_last = count - 1 - number;
            thing.replace('N', &number.to_string()).replace('R', &from_the_last.to_string())
        });
        text = text + before + &all.collect::<Vec<_>>().join(glue);
        rest = behind;
    }
    text += rest;
    let text = text.replace('M', &count.to_string());
    text.replace('X', &"(".repeat(count)).replace('Y', &")".repeat(count))
}

/// What is said of texts: of those in a row with an answer of the same kind the first and the last, and the first answer.
fn answers(file: &mut String, form: &str, texts: impl Iterator<Item = (String, String)>) {
    let (mut runs, mut sum): (Vec<[String; 4]>, _) = (Vec::new(), Sum::default());
    for (count, text) in texts {
        let says = match dialect::read(&text) {
            Ok(found) => {
                sum.add("", &everything(&found));
                "read".to_owned()
            }
            Err(error) => error.to_string(),
        };
        sum.add(&count, &says);
        let mut kind = kind(&says);
        for list in [",0,0", "@0@0"] {
            while kind.contains(list) {
                kind = kind.replace(list, &list[..2]);
            }
        }
        match runs.last_mut().filter(|run| run[2] == kind) {
            Some(run) => run[1] = count,
            None => runs.push([count.clone(), count, kind, says]),
        }
    }
    writeln!(file, "== {form}: sum {:016x}", sum.0).expect("takes all");
    for [first, last, _, says] in runs {
        let says: String = says.chars().take(SHOWN).collect();
        writeln!(file, "{first} to {last}: {says}").expect("takes all");
    }
}

#[test]
fn a_text_of_too_much_is_refused_from_where_it_was() {
    let mut file = String::new();
    for form in FORMS {
        let texts = COUNTS.iter().map(|&count| (count.to_string(), with(form, count)));
        answers(&mut file, form, texts);
    }
    for form in OF_NUMBERS {
        let texts = NUMBERS.iter().map(|&number| (number.to_owned(), form.replace('№', number)));
        answers(&mut file, form, texts);
    }
    let mut wrong = Vec::new();
    compare("limits.txt", file, &mut wrong);
    none(wrong);
}
