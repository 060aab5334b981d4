//! What XLA's functions of shapes give for shapes of every kind, alone and by twos: the file `tests/golden/shapes.txt` has a few
//! values of each, and a sum over all (see `golden`).

use tilework::Result;
use tilework::xla::{ArrayShape, Shape};

use crate::golden::{compare, none};
use crate::golden_operations::Values;

const SHAPES: [&str; 38] = [
    "f32[]",
    "f32[2,3]",
    "f32[2,3]{0,1}",
    "f32[3,2]",
    "f32[3,2]{0,1}",
    "bf16[2,3]",
    "s32[2,3]",
    "c64[2,3]{1,0}",
    "pred[2,3]{1,0:S(1)}",
    "f32[6]",
    "f32[1,6]",
    "f32[6,1]{0,1}",
    "f32[1,2,1,3]{3,2,1,0}",
    "f32[2,3,1]{0,2,1}",
    "f32[0]",
    "f32[0,3]",
    "f32[0,0]{0,1}",
    "f32[2,<=3]",
    "f32[?,3]{1,0}",
    "f32[2,3]{1,0:T(2,2)}",
    "f32[2,3]{1,0:SC(0:1)}",
    "f32[2,3]{1,0:SC(0:1)(1:1,2)}",
    "f32[2,3]{1,0:T(2,128)}",
    "bf16[2,3]{1,0:T(8,128)(2,1)}",
    "s4[2,3]{1,0:E(4)}",
    "s4[2,3]",
    "f32[2,3]{1,0:pad(4,4)}",
    "f32[2,3] (no layout)",
    "f32[2305843009213693951]",
    "f32[4,6]{1,0}",
    "f32[8,3]{1,0}",
    "f32[2,2,6]{2,0,1}",
    "token[]",
    "opaque[]",
    "()",
    "(f32[2,3]{1,0})",
    "(f32[2,3]{0,1}, (s4[8]{0:E(4)}, token[]))",
    "b(f32[2,3]{1,0})",
];

type OfOne = (&'static str, fn(&Shape) -> String);
type OfTwo = (&'static str, fn(&Shape, &Shape) -> bool);
type OfArray = (&'static str, fn(&ArrayShape) -> Result<String>);
type OfArrays = (&'static str, fn(&ArrayShape, &ArrayShape) -> Result<String>);

const OF_ONE: [OfOne; 10] = [
    ("layouts", |a| format!("{} {}", a.has_layout(), a.has_any_layout())),
    ("element bits and space", |a| format!("{} {}", a.has_custom_element_size_in_bits(), a.memory_space())),
    ("without_layout", |a| a.clone().without_layout().to_string()),
    ("without_tiles", |a| a.clone().without_tiles().to_string()),
    ("with_default_layout", |a| a.clone().with_default_layout().to_string()),
    ("complex_component_shape", |a| format!("{:?}", a.clone().complex_component_shape())),
    ("with_static_dimensions", |a| format!("{:?}", a.clone().with_static_dimensions())),
    ("with_updated_element_size_in_bits", |a| {
        [true, false].map(|pack| a.clone().with_updated_element_size_in_bits(pack).to_string()).join(" ")
    }),
    ("device_shape_to_host_shape", |a| a.clone().device_shape_to_host_shape().to_string()),
    ("sizes", |a| {
        let sizes = [a.byte_size_of(None), a.byte_size_of(Some(4)), a.cpu_shape_size_bytes()];
        format!("{:?} {sizes:?} {:?}", a.elements_in_recursive(), a.serialized_size())
    }),
];

const OF_TWO: [OfTwo; 12] = [
    ("equal", Shape::equal),
    ("equal_ignoring_element_type", Shape::equal_ignoring_element_type),
    ("equal_ignoring_fp_precision", Shape::equal_ignoring_fp_precision),
    ("compatible", Shape::compatible),
    ("compatible_ignoring_element_type", Shape::compatible_ignoring_element_type),
    ("compatible_ignoring_fp_precision", Shape::compatible_ignoring_fp_precision),
    ("compatible_kind", Shape::compatible_kind),
    ("equal_structure", Shape::equal_structure),
    ("same_element_type", Shape::same_element_type),
    ("same_element_type_ignoring_fp_precision", Shape::same_element_type_ignoring_fp_precision),
    ("dynamic_shape_is_compatible", Shape::dynamic_shape_is_compatible),
    ("is_decomposable_bitcast", Shape::is_decomposable_bitcast),
];

const OF_ARRAY: [OfArray; 13] = [
    ("elements_in", |a| Ok(format!("{:?} {}", a.elements_in(), a.static_extent_product()))),
    ("is_scalar", |a| {
        let is = [a.is_zero_element_array(), a.is_scalar(), a.is_effective_scalar()];
        Ok(format!("{is:?} {} {}", a.true_rank(), a.true_num_dimensions()))
    }),
    ("bytes", |a| {
        let (bits, padded) = (a.element_size_in_bits(), a.has_padded_dimensions());
        Ok(format!("{bits} {padded} {:?} {:?}", a.byte_size_of_elements(), a.byte_strides_untiled()))
    }),
    ("array_size", |a| Ok(format!("{:?} {:?}", a.array_size(), a.padding_bits()))),
    ("array_size_by_first_tile", |a| {
        Ok(format!("{:?} {:?}", a.array_size_by_first_tile(), a.array_data_size_by_first_tile()))
    }),
    ("linear_index", |a| {
        let last: Vec<u64> = a.dims().iter().map(|dim| dim.bound().unwrap_or(1).saturating_sub(1)).collect();
        let index = a.linear_index_untiled(&last)?;
        let again = a.multidimensional_index_untiled(index);
        Ok(format!("{index} {again:?} {:?} {:?}", a.offset(&last), a.linear_index_by_first_tile(&last)))
    }),
    ("strides", |a| {
        let strides: Vec<_> = (0..=a.rank()).map(|dim| a.dimension_stride_untiled(dim)).collect();
        let splits: Vec<_> = (0..=a.rank()).map(|dim| a.max_split_size(dim)).collect();
        Ok(format!("{strides:?} {splits:?} {:?} {:?}", a.max_elements_in_per_split(), a.split_config()))
    }),
    ("permute", |a| {
        let orders = [vec![1, 0], vec![0], (0..a.rank()).collect(), (0..a.rank()).rev().collect()];
        let all = orders.map(|order| {
            let all = [a.permute_dimensions(&order), a.permute_dimensions_ignoring_layout(&order)];
            let logical =
                [a.reorder_logical_dimensions(&order), a.reorder_logical_dimensions_by_old_code(&order)];
            format!("{all:?} {logical:?}")
        });
        Ok(all.join("; "))
    }),
    ("descending", |a| Ok(format!("{:?}", a.make_shape_with_descending_layout_and_same_physical_layout()?))),
    ("append", |a| {
        let all = [a.append_major_dimension(2), a.append_minor_dimension(3), a.prepend_major_dimension(4)];
        Ok(format!("{all:?}"))
    }),
    ("insert", |a| {
        Ok((0..4).map(|at| format!("{:?} ", a.insert_dimensions_at_index(at, &[5, 1]))).collect())
    }),
    ("delete", |a| {
        let all = [&[0][..], &[1], &[0, 1], &[1, 0], &[0, 0], &[3]];
        Ok(all.iter().map(|dims| format!("{:?} ", a.delete_dimensions(dims))).collect())
    }),
    ("drop", |a| {
        let even = a.filter_dimensions(|dim| dim % 2 == 0);
        Ok(format!("{:?} {even:?}", a.drop_degenerate_dimensions()))
    }),
];

const OF_ARRAYS: [OfArrays; 10] = [
    ("same", |a, b| Ok(format!("{} {}", a.same_rank(b), a.same_dimensions(b)))),
    ("dimensions_unmodified_by_reshape", |a, b| {
        let kept = a.dimensions_unmodified_by_reshape(b)?;
        Ok(format!("{kept:?} {:?}", a.reshape_leaves_dimensions_unmodified(b, &[0])))
    }),
    ("inserted_or_deleted_1_sized_dimensions", |a, b| {
        Ok(format!("{:?}", a.inserted_or_deleted_1_sized_dimensions(b)?))
    }),
    ("align_layouts", |a, b| Ok(format!("{:?}", a.align_layouts(b)?))),
    ("reshape_is_bitcast", |a, b| {
        let untiled = [true, false].map(|ignore| a.reshape_is_bitcast_untiled(b, ignore));
        Ok(format!("{untiled:?} {:?}", a.reshape_is_bitcast(b, true)))
    }),
    ("transpose_is_bitcast", |a, b| {
        let by_order = a.transpose_is_bitcast_by_order(b, &[1, 0], false);
        Ok(format!("{by_order:?} {:?}", a.transpose_is_bitcast(b, &[1, 0], false)))
    }),
    ("is_reshape_or_transpose_bitcast_untiled", |a, b| {
        Ok(format!("{:?}", a.is_reshape_or_transpose_bitcast_untiled(b, false)))
    }),
    ("deduce_transpose_dimensions_for_bitcast", |a, b| {
        Ok(format!("{:?}", a.deduce_transpose_dimensions_for_bitcast(b)?))
    }),
    ("decompose_bitcast", |a, b| {
        Ok(format!("{:?} {:?}", a.decompose_bitcast(b)?, a.decompose_bitcast_to_trt(b)))
    }),
    ("dynamic", |a, b| {
        Ok(format!("{:?} {}", a.copy_dynamic_dimensions(b), a.dynamic_array_shape_is_compatible(b)))
    }),
];

#[test]
fn functions_of_shapes_give_what_they_gave() {
    let shapes = SHAPES.map(|text| Shape::parse(text).expect(text));
    let arrays: Vec<&ArrayShape> = shapes.iter().filter_map(Shape::as_array).collect();
    let mut file = String::new();
    for (name, of) in OF_ONE {
        let mut values = Values::of(name);
        shapes.iter().for_each(|a| values.add(&a.to_string(), Ok(of(a))));
        values.write(&mut file);
    }
    for (name, of) in OF_TWO {
        let mut values = Values::of(name);
        for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
            values.add(&format!("{a} {b}"), Ok(of(a, b)));
        }
        values.write(&mut file);
    }
    for (name, of) in OF_ARRAY {
        let mut values = Values::of(name);
        arrays.iter().for_each(|a| values.add(&a.to_string(), of(a)));
        values.write(&mut file);
    }
    for (name, of) in OF_ARRAYS {
        let mut values = Values::of(name);
        for (a, b) in arrays.iter().flat_map(|a| arrays.iter().map(move |b| (a, b))) {
            values.add(&format!("{a} {b}"), of(a, b));
        }
        values.write(&mut file);
    }
    let mut wrong = Vec::new();
    compare("shapes.txt", file, &mut wrong);
    none(wrong);
}
