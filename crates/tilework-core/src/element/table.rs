//! The table of elements.

use crate::element::Class::{self, Bool, Complex, Float, Signed, Unsigned};
use crate::element::Element as E;
use crate::element::float::FloatFormat as F;
use crate::element::names::SYSTEMS;

/// What is known of an element.
pub(super) struct Row {
    pub(super) element: E,
    pub(super) bits: u32,
    pub(super) class: Class,
    /// The code of DLPack.
    pub(super) dlpack: u8,
    /// The name in each [`System`](super::System), in their order; empty where a system has none.
    pub(super) names: [&'static str; SYSTEMS],
}

const fn row(element: E, bits: u32, class: Class, dlpack: u8, names: [&'static str; SYSTEMS]) -> Row {
    Row { element, bits, class, dlpack, names }
}

/// One row for each element, in the order of the enum.
///
/// Safetensors' `F8_E4M3` has no infinities, and npy files hold the types of `ml_dtypes` as plain bytes.
#[rustfmt::skip]
pub(super) const TABLE: [Row; 32] = [
    //                                                                      XLA              NumPy, ml_dtypes       torch              torch, short    JAX, short        MLIR             DirectML   safetensors    GGUF    npy
    row(E::Pred,          1,   Bool,                               6,  ["pred",          "bool",                "bool",            "b8",           "bool",           "i1",            "",        "BOOL",        "",     "|b1"]),
    row(E::S8,            8,   Signed,                             0,  ["s8",            "int8",                "int8",            "i8",           "i8",             "i8",            "INT8",    "I8",          "I8",   "|i1"]),
    row(E::S16,           16,  Signed,                             0,  ["s16",           "int16",               "int16",           "i16",          "i16",            "i16",           "INT16",   "I16",         "I16",  "<i2"]),
    row(E::S32,           32,  Signed,                             0,  ["s32",           "int32",               "int32",           "i32",          "i32",            "i32",           "INT32",   "I32",         "I32",  "<i4"]),
    row(E::S64,           64,  Signed,                             0,  ["s64",           "int64",               "int64",           "i64",          "i64",            "i64",           "INT64",   "I64",         "I64",  "<i8"]),
    row(E::U8,            8,   Unsigned,                           1,  ["u8",            "uint8",               "uint8",           "u8",           "u8",             "ui8",           "UINT8",   "U8",          "",     "|u1"]),
    row(E::U16,           16,  Unsigned,                           1,  ["u16",           "uint16",              "uint16",          "u16",          "u16",            "ui16",          "UINT16",  "U16",         "",     "<u2"]),
    row(E::U32,           32,  Unsigned,                           1,  ["u32",           "uint32",              "uint32",          "u32",          "u32",            "ui32",          "UINT32",  "U32",         "",     "<u4"]),
    row(E::U64,           64,  Unsigned,                           1,  ["u64",           "uint64",              "uint64",          "u64",          "u64",            "ui64",          "UINT64",  "U64",         "",     "<u8"]),
    row(E::F16,           16,  Float(F::ieee(5, 10)),              2,  ["f16",           "float16",             "float16",         "f16",          "f16",            "f16",           "FLOAT16", "F16",         "F16",  "<f2"]),
    row(E::F32,           32,  Float(F::ieee(8, 23)),              2,  ["f32",           "float32",             "float32",         "f32",          "f32",            "f32",           "FLOAT32", "F32",         "F32",  "<f4"]),
    row(E::F64,           64,  Float(F::ieee(11, 52)),             2,  ["f64",           "float64",             "float64",         "f64",          "f64",            "f64",           "FLOAT64", "F64",         "F64",  "<f8"]),
    row(E::C64,           64,  Complex,                            5,  ["c64",           "complex64",           "complex64",       "c64",          "c64",            "complex<f32>",  "",        "C64",         "",     "<c8"]),
    row(E::Bf16,          16,  Float(F::ieee(8, 7)),               4,  ["bf16",          "bfloat16",            "bfloat16",        "bf16",         "bf16",           "bf16",          "",        "BF16",        "BF16", ""]),
    row(E::C128,          128, Complex,                            5,  ["c128",          "complex128",          "complex128",      "c128",         "c128",           "complex<f64>",  "",        "",            "",     "<c16"]),
    row(E::F8e5m2,        8,   Float(F::ieee(5, 2)),               12, ["f8e5m2",        "float8_e5m2",         "float8_e5m2",     "f8e5m2",       "f8_e5m2",        "f8E5M2",        "",        "F8_E5M2",     "",     ""]),
    row(E::F8e4m3fn,      8,   Float(F::finite(4, 3)),             10, ["f8e4m3fn",      "float8_e4m3fn",       "float8_e4m3fn",   "f8e4m3fn",     "f8_e4m3fn",      "f8E4M3FN",      "",        "F8_E4M3",     "",     ""]),
    row(E::S4,            4,   Signed,                             0,  ["s4",            "int4",                "int4",            "",             "i4",             "i4",            "INT4",    "",            "",     ""]),
    row(E::U4,            4,   Unsigned,                           1,  ["u4",            "uint4",               "uint4",           "",             "u4",             "ui4",           "UINT4",   "",            "",     ""]),
    row(E::F8e4m3b11fnuz, 8,   Float(F::unsigned_zero(4, 3, 11)),  9,  ["f8e4m3b11fnuz", "float8_e4m3b11fnuz",  "",                "",             "f8_e4m3b11fnuz", "f8E4M3B11FNUZ", "",        "",            "",     ""]),
    row(E::F8e5m2fnuz,    8,   Float(F::unsigned_zero(5, 2, 16)),  13, ["f8e5m2fnuz",    "float8_e5m2fnuz",     "float8_e5m2fnuz", "f8e5m2fnuz",   "f8_e5m2fnuz",    "f8E5M2FNUZ",    "",        "F8_E5M2FNUZ", "",     ""]),
    row(E::F8e4m3fnuz,    8,   Float(F::unsigned_zero(4, 3, 8)),   11, ["f8e4m3fnuz",    "float8_e4m3fnuz",     "float8_e4m3fnuz", "f8e4m3fnuz",   "f8_e4m3fnuz",    "f8E4M3FNUZ",    "",        "F8_E4M3FNUZ", "",     ""]),
    row(E::S2,            2,   Signed,                             0,  ["s2",            "int2",                "int2",            "",             "i2",             "i2",            "",        "",            "",     ""]),
    row(E::U2,            2,   Unsigned,                           1,  ["u2",            "uint2",               "uint2",           "",             "u2",             "ui2",           "",        "",            "",     ""]),
    row(E::F8e4m3,        8,   Float(F::ieee(4, 3)),               8,  ["f8e4m3",        "float8_e4m3",         "",                "",             "f8_e4m3",        "f8E4M3",        "",        "",            "",     ""]),
    row(E::F8e3m4,        8,   Float(F::ieee(3, 4)),               7,  ["f8e3m4",        "float8_e3m4",         "",                "",             "f8_e3m4",        "f8E3M4",        "",        "",            "",     ""]),
    row(E::S1,            1,   Signed,                             0,  ["s1",            "int1",                "int1",            "",             "",               "si1",           "",        "",            "",     ""]),
    row(E::U1,            1,   Unsigned,                           1,  ["u1",            "uint1",               "uint1",           "",             "u1",             "ui1",           "",        "",            "",     ""]),
    row(E::F4e2m1fn,      4,   Float(F::numbers(2, 1)),            17, ["f4e2m1fn",      "float4_e2m1fn",       "",                "",             "f4_e2m1fn",      "f4E2M1FN",      "",        "F4",          "",     ""]),
    row(E::F8e8m0fnu,     8,   Float(F::powers(8)),                14, ["f8e8m0fnu",     "float8_e8m0fnu",      "float8_e8m0fnu",  "f8e8m0fnu",    "f8_e8m0fnu",     "f8E8M0FNU",     "",        "F8_E8M0",     "",     ""]),
    row(E::F6e3m2fn,      6,   Float(F::numbers(3, 2)),            16, ["f6e3m2fn",      "float6_e3m2fn",       "",                "",             "f6_e3m2fn",      "f6E3M2FN",      "",        "F6_E3M2",     "",     ""]),
    row(E::F6e2m3fn,      6,   Float(F::numbers(2, 3)),            15, ["f6e2m3fn",      "float6_e2m3fn",       "",                "",             "f6_e2m3fn",      "f6E2M3FN",      "",        "F6_E2M3",     "",     ""]),
];

/// The elements in the order of the table. Each row is checked to be at its own number.
pub(super) const ALL: [E; TABLE.len()] = {
    let mut all = [E::Pred; TABLE.len()];
    let mut place = 0;
    while place < TABLE.len() {
        all[place] = TABLE[place].element;
        assert!(all[place] as usize == place, "a row out of order");
        place += 1;
    }
    all
};
