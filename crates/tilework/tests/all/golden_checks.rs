//! What is found in descriptors of DirectML that are wrong or nearly right, in a line, in JSON, in Python and in C++: the file
//! `tests/golden/checks.txt` has a few findings of each, and a sum over all (see `golden`).

use tilework::directml::{Binding, DataType, FeatureLevel, check, pack_nibbles, read_descs, unpack_nibbles};

use crate::golden::{INSTEAD, changed, compare, none};
use crate::golden_operations::Values;

const TEXTS: [&str; 16] = [
    "FLOAT32 [2,3] strides [3,1] total 24 alignment 4 flags OWNED_BY_DML",
    "FLOAT64 [2,3,4] total 100 alignment 3",
    "INT4 [1,2,3,5] strides [30,15,5,1]",
    "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]",
    "FLOAT16 [2,3,4,5,6,7,8,9,10]",
    "UINT8 [4294967295,4294967295] strides [4294967295,4294967295]",
    "UINT64 [] total 0",
    "BOOL [2,0] strides [1]",
    r#"{"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": null, "TotalTensorSizeInBytes": 24, "Flags": 0}"#,
    r#"[{"a": true, "desc": {"DataType": 1, "DimensionCount": 2, "Sizes": [2, 3], "Strides": [3, 1]}}, false, -1.5e3, 2E+4, 1e-1]"#,
    r#"{"in": {"DataType": "INT8", "Sizes": "2x3"}, "out": {"Sizes": [1, 2], "DataType": "UINT8", "Sizes": [3]}}"#,
    "{'DataType': 'FLOAT16', 'Sizes': (2, 3), 'Strides': None, 'GuaranteedBaseOffsetAlignment': 16}",
    "UINT sizes[] = {2, 3}; UINT strides[] = {3, 1}; DML_BUFFER_TENSOR_DESC d{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, sizes, strides, 24, 0};",
    "DML_BUFFER_TENSOR_DESC d = {}; d.DataType = DML_TENSOR_DATA_TYPE_FLOAT16; UINT s[4] = {1 << 2, 8 - 5, 12 / 4 * 2, (17 % 5 | 1) & 3}; d.DimensionCount = 4; d.Sizes = s; d.TotalTensorSizeInBytes = sizeof(float) * 36;",
    "const UINT32 W{56u}; std::array<UINT, 4> sizes = {1, 0x40, 7 + W, W >> 1}; dml::TensorDesc d(DML_TENSOR_DATA_TYPE_INT32, sizes);",
    "auto d = dml::TensorDesc{DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_FLAG_OWNED_BY_DML, {1, 2, 3, 4}, dml::TensorPolicy::Default()};",
];

#[test]
fn a_descriptor_that_is_nearly_right_breaks_the_rules_that_it_broke() {
    let bindings = [
        None,
        Some(Binding::default()),
        Some(Binding { offset: 3, range: Some(23), buffer: None }),
        Some(Binding { offset: 256, range: Some(1 << 12), buffer: Some(1 << 13) }),
        Some(Binding { offset: 16, range: None, buffer: Some(40) }),
        Some(Binding { offset: u64::MAX, range: Some(64), buffer: Some(64) }),
    ];
    let mut file = String::new();
    for text in TEXTS {
        let mut values = Values::of(text);
        let mut texts = changed(text, &INSTEAD);
        texts.insert(text.to_owned());
        for (number, of) in texts.iter().enumerate() {
            let found = read_descs(of);
            for desc in found.iter().flatten() {
                let level = FeatureLevel::all().nth(number % 5).unwrap_or(FeatureLevel::LATEST);
                for (level, binding) in
                    bindings.iter().map(|binding| (level, binding)).chain([(FeatureLevel::LATEST, &None)])
                {
                    let broken =
                        (desc.check(level, binding.as_ref()), check(&desc.desc, level, binding.as_ref()));
                    values.add(of, Ok(broken));
                }
            }
            values.add(of, found);
        }
        values.write(&mut file);
    }
    let mut values = Values::of("numbers of 4 bits");
    for of in DataType::all() {
        let packed = pack_nibbles(of, &[-8, -1, 0, 7, 3]);
        values.add(of.name(), packed.clone());
        values.add(of.name(), pack_nibbles(of, &[15, 8, 1]));
        values.add(of.name(), pack_nibbles(of, &[16]));
        let bytes = [0x8f, 0x17, 0xf0];
        (0..8).for_each(|count| values.add(of.name(), unpack_nibbles(of, &bytes, count)));
    }
    values.write(&mut file);
    let mut wrong = Vec::new();
    compare("checks.txt", file, &mut wrong);
    none(wrong);
}
