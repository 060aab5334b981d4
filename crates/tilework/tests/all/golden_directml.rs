//! What functions of DirectML's descriptors give for descriptors of every kind: the file `tests/golden/descriptors.txt` has a few
//! values of each, and a sum over all (see `golden`).

use std::fmt::Debug;

use tilework::directml::{self, BufferTensorDesc, DataType, Desc, TypeField};

use crate::golden::{compare, none};
use crate::golden_operations::Values;

/// Descriptors of every kind.
fn descs() -> Vec<BufferTensorDesc> {
    let texts = [
        "FLOAT32 [6]",
        "FLOAT16 [2,3]",
        "FLOAT32 [1,2,3,5]",
        "INT8 [4,1,3] strides [3,0,1]",
        "INT64 [2,3,4]",
        "FLOAT16 NHWC [1,8,3,5]",
        "UINT8 [3,5] strides [8,1]",
        "FLOAT64 [2,2] strides [1,2]",
        "INT4 [3,5]",
        "UINT64 [2,1,3,1,5]",
        "FLOAT32 [1,1,1,1,1,1,2,3]",
        "UINT32 [7] total 64",
        "FLOAT32 [2,3] strides [0,1]",
        "INT32 [4,4] strides [1,1]",
        "FLOAT32 NCDHW [1,2,3,4,5]",
    ];
    texts.iter().map(|text| BufferTensorDesc::parse(text).expect(text)).collect()
}

fn descriptors(file: &mut String) {
    use directml::{Align, Fold};
    let numbers: [&[u32]; 9] =
        [&[6], &[2, 3], &[3, 2], &[4, 2, 3], &[1, 2, 3, 5], &[2, 1, 3], &[0], &[1, 1], &[5, 8, 2, 3]];
    let orders: [&[usize]; 6] = [&[0], &[1, 0], &[2, 0, 1], &[0, 2, 3, 1], &[0, 3, 1, 2], &[0, 0]];
    type Of<'a> = Box<dyn Fn(&BufferTensorDesc, &mut dyn FnMut(String, tilework::Result<String>)) + 'a>;
    fn said<T: Debug>(value: tilework::Result<T>) -> tilework::Result<String> {
        value.map(|value| format!("{value:?}"))
    }
    let functions: Vec<(&str, Of)> = vec![
        (
            "broadcast_to",
            Box::new(|desc, add| {
                for sizes in numbers {
                    (0..3).for_each(|n| add(format!("{sizes:?} {n}"), said(desc.broadcast_to(sizes, n))));
                }
            }),
        ),
        (
            "emulate",
            Box::new(|desc, add| {
                add("ort".into(), said(desc.emulate_64_bit_like_onnx_runtime()));
                add("tf".into(), said(desc.emulate_64_bit_like_tensorflow()));
                add("unsigned".into(), said(desc.force_unsigned()));
                DataType::all().for_each(|of| add(of.name().into(), said(desc.low_parts(of))));
            }),
        ),
        (
            "fold",
            Box::new(|desc, add| {
                for rank in 0..9 {
                    for fold in [Fold::Leading, Fold::Trailing] {
                        add(format!("{rank} {fold:?}"), said(desc.fold(rank, fold)));
                    }
                    add(format!("flatten {rank}"), said(desc.flatten(rank)));
                }
            }),
        ),
        ("coalesce", Box::new(|desc, add| add(String::new(), said(desc.coalesce())))),
        (
            "lower",
            Box::new(|desc, add| {
                add("layout".into(), said(desc.lower()));
                let lowered =
                    desc.lower().and_then(|layout| BufferTensorDesc::lift(&layout, desc.data_type()));
                add("lift".into(), said(lowered));
                add("without".into(), Ok(format!("{:?}", desc.without_redundant_strides())));
                add("with".into(), said(desc.with_explicit_strides()));
                add(
                    "bytes".into(),
                    Ok(format!("{:?} {:?}", desc.total_bytes(), directml::needed_bytes(desc))),
                );
                for by in 0..3 {
                    let index: Vec<u64> =
                        desc.sizes().iter().map(|&size| (u64::from(size) + by).saturating_sub(2)).collect();
                    add(format!("{index:?}"), said(desc.offset(&index)));
                    add(format!("{index:?}"), said(desc.offset(&index[1..])));
                }
                add("json".into(), Ok(format!("{} {:?}", desc.to_json(), desc.to_desc())));
                add("words".into(), said(desc.words()));
                for output in [true, false] {
                    add(format!("{output}"), said(directml::remarks(desc, output)));
                }
            }),
        ),
        (
            "rank",
            Box::new(|desc, add| {
                for align in [Align::Leading, Align::Trailing] {
                    for rank in 0..10 {
                        add(format!("{rank} {align:?}"), said(desc.with_min_rank(rank, align)));
                        add(format!("truncate {rank} {align:?}"), said(desc.truncate(rank, align)));
                    }
                }
            }),
        ),
        (
            "place_at_axes",
            Box::new(|desc, add| {
                for order in orders {
                    (1..7).for_each(|rank| {
                        add(format!("{rank} {order:?}"), said(desc.place_at_axes(rank, order)))
                    });
                }
            }),
        ),
        (
            "scatter",
            Box::new(|desc, add| {
                for order in ["NC", "NCHW", "NHWC", "HW", "N", "NCDHW", "X", "CC"] {
                    add(order.into(), said(desc.scatter(order)));
                    add(format!("fits {order}"), said(desc.fits_order("NCHW", order)));
                }
            }),
        ),
        (
            "permute",
            Box::new(|desc, add| {
                for order in orders {
                    add(format!("{order:?}"), said(desc.permute(order)));
                    add(format!("gather {order:?}"), said(desc.gather_axes_like_onnx_runtime(order)));
                    add(format!("squeeze {order:?}"), said(desc.squeeze(order)));
                }
            }),
        ),
        (
            "reshape",
            Box::new(|desc, add| {
                for sizes in numbers {
                    add(format!("{sizes:?}"), said(desc.reshape(sizes)));
                    add(format!("sub view {sizes:?}"), said(desc.sub_view(&vec![1; sizes.len()], sizes)));
                    for of in [desc.data_type(), DataType::Uint8, DataType::Float64] {
                        let other =
                            desc.reinterpret(of, sizes, None).map(|other| (other.declared_total(), other));
                        add(format!("as {} {sizes:?}", of.name()), said(other));
                    }
                    add(format!("strides {sizes:?}"), said(desc.with_strides(sizes)));
                }
            }),
        ),
        (
            "slice",
            Box::new(|desc, add| {
                for dim in 0..5 {
                    for (start, end, step) in
                        [(0, 1, 1), (1, 3, 1), (0, 4, 2), (2, 1, 1), (0, 5, 0), (1, 5, 3)]
                    {
                        add(format!("{dim} {start}..{end} {step}"), said(desc.slice(dim, start..end, step)));
                    }
                    add(format!("unsqueeze {dim}"), said(desc.unsqueeze(dim)));
                }
            }),
        ),
    ];
    for (name, function) in &functions {
        let mut values = Values::of(*name);
        for desc in descs() {
            function(&desc, &mut |of, value| values.add(&format!("{desc} {of}"), value));
        }
        values.write(file);
    }
    let mut values = Values::of("sizes and strides");
    for sizes in numbers {
        for other in numbers {
            let of = format!("{sizes:?} {other:?}");
            values.add(&of, directml::broadcast_strides_like_onnx_runtime(sizes, other));
            values.add(&of, directml::broadcast_strides_like_tensorflow(sizes, other));
            values.add(&of, directml::common_sizes(&[sizes, other]));
            values.add(&of, directml::collapse_pair(sizes, other));
            for of_type in [DataType::Float32, DataType::Uint8, DataType::Int4] {
                values.add(&of, directml::buffer_size_bytes(of_type, sizes, Some(other)));
            }
        }
        for order in orders {
            let of = format!("{sizes:?} {order:?}");
            values.add(&of, directml::simplify_transpose(sizes, order));
            values.add(&of, directml::transpose_as_output_strides(sizes, order));
        }
        for at in -5..6_i64 {
            let of = format!("{sizes:?} {at}");
            values.add(&of, directml::coerce_to_2d(sizes, at));
            values.add(&of, directml::align_dimensions(sizes, at.unsigned_abs() as usize, at, 0));
            values.add(&of, directml::align_dimensions(sizes, at.unsigned_abs() as usize, 0, at));
            let along = BufferTensorDesc::along_axis(DataType::Float16, sizes, at.unsigned_abs() as usize);
            values.add(&of, along);
        }
        let of = format!("{sizes:?}");
        values.add(&of, directml::interleaved_channel_strides(sizes));
        values.add(&of, directml::packed_strides(sizes));
        values.add(&of, BufferTensorDesc::scalar_fill(DataType::Float16, sizes));
        for (dim, align) in [(0, 4), (1, 16), (2, 3), (1, 0), (9, 4)] {
            values.add(&of, directml::padded_strides(DataType::Float16, sizes, dim, align));
        }
        for (letters, order) in [("NCHW", "NHWC"), ("HW", "WH"), ("N", "N"), ("NC", "NN"), ("NCW", "WNC")] {
            values.add(&of, directml::order_strides(sizes, letters, order));
        }
    }
    values.write(file);
}

#[test]
fn functions_of_descriptors_give_what_they_gave() {
    let mut file = String::new();
    descriptors(&mut file);
    let mut values = Values::of("JSON of a type that is none");
    for name in ["FLOAT31", "a \"quoted\" \\ name", "a\ttab", "é"] {
        let desc = Desc { data_type: TypeField::from_name(name), ..Desc::new(DataType::Float32, &[2]) };
        values.add(name, Ok(desc.to_json()));
    }
    values.write(&mut file);
    let mut wrong = Vec::new();
    compare("descriptors.txt", file, &mut wrong);
    none(wrong);
}
