"""`tilework.xla`: XLA's own cases, jaxlib as an oracle, and what people can get wrong."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework
import tilework as tw
from tilework import LayoutError, xla
from xla_cases import CASES, OTHERS, answer, shape

NONSENSE = {
    ("LinearIndex", "['f32[0,3]{1,0:T(2,2)}', [0, 2]]"),
    ("LinearIndex", "['f32[2,3]{1,0}', [5, 7]]"),
    ("LinearIndex", "['f32[2,3]{1,0}', [-1, 0]]"),
    ("ArraySize", "['f32[4,6]{1,0:T(*,2)}']"),
    ("ByteSizeOf", "['f32[?,2]', 8]"),
    ("ElementsIn", "['f32[?,2]']"),
    ("Layout::ToString", "{'minor_to_major': [4, 5, 6]}"),
    # XLA's own test does not validate: a split at 0 is none.
    ("Layout::FromProto(ToProto)", "{0,1:T(123)SC(0:3)(1:0,4)}"),
}
"""What XLA says outside the domain of a function, where Tilework gives an error."""


def of_tilework(case: dict[str, Any]) -> bool:
    """Whether the case is of today's shapes: sparse ones left XLA in 2025."""
    return case["op"] not in OTHERS and "until" not in case


def test_every_case_of_xla_comes_out() -> None:
    wrong = []
    for case in filter(of_tilework, CASES):
        expected, found = case["expected"], answer(case)
        if isinstance(expected, dict):
            expected = expected.get("result", expected)
        if isinstance(found, dict) and isinstance(found.get("dst_after"), xla.Shape):
            found, expected = found["dst_after"], expected.get("dst_after", expected)
        if isinstance(found, xla.Shape) and isinstance(expected, str):
            expected = shape(expected)
        refused = expected is None or (
            isinstance(expected, dict) and ("crash" in expected or expected.get("ok") is False)
        )
        if isinstance(expected, dict) and expected.get("then") == "ReshapeIsBitcast(input, result)":
            assert isinstance(found, xla.Shape) and found.dims == xla.Shape(case["input"]["output"]).dims
            found, expected = xla.Shape(case["input"]["input"]).reshape_is_bitcast_untiled(found), True
        if isinstance(found, LayoutError):
            right = refused or (case["op"], str(case["input"])) in NONSENSE or "error" in str(expected)
        else:
            right = found == expected
        if not right:
            wrong.append(f"{case['op']} of {case['input']}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
    assert sum(map(of_tilework, CASES)) > 300


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["group"] == "oracle_parse"], ids=lambda case: str(case["input"])
)
def test_texts_are_read_and_written_as_by_jaxlib(case: dict[str, Any]) -> None:
    expected = case["expected"]
    try:
        found = xla.Shape(case["input"], strict=True)
    except LayoutError as error:
        # jaxlib reads some layouts by accident, and says so when it validates them.
        assert not expected["ok"] or expected["validate"] != "ok" or error.span is not None
        return
    assert expected["ok"]
    assert str(found) == expected["canonical"]
    assert found.human_string() == expected.get("human_string", found.human_string())
    if "proto_hex" in expected:
        assert found.to_proto().hex() == expected["proto_hex"]
        assert xla.Shape.from_proto(found.to_proto()) == found
    if expected.get("kind") == "array":
        assert found.dynamic_dimensions == tuple(expected["dynamic"])
        assert found.minor_to_major == tuple(expected["minor_to_major"])
        assert found.is_static == expected["is_static"]


def test_layouts_that_fit_no_shape_are_refused_as_by_xla() -> None:
    sparse = ":D("  # which XLA no longer has
    for case in (case for case in CASES if case["group"] == "validate_layout"):
        said, expected = case["input"], case["expected"]
        if sparse in said["shape"]:
            continue
        try:
            shape(said["shape"]).validate(optional_layout=said["allow_missing_layouts"])
            ok = True
        except LayoutError:
            ok = False
        assert ok == expected["ok"], case


def test_jaxlib_reads_and_writes_the_same_texts() -> None:
    client = pytest.importorskip("jaxlib.xla_client")
    read = getattr(client.Shape, "array_shape", None)
    if read is None:
        pytest.skip("this jaxlib makes no shapes")
    rng = np.random.default_rng(7)
    names = {"float32": "f32", "int8": "s8", "uint16": "u16", "bool": "pred", "complex64": "c64", "float64": "f64"}
    for _ in range(200):
        rank = int(rng.integers(0, 6))
        dims = tuple(int(size) for size in rng.integers(0, 9, rank))
        order = tuple(int(dim) for dim in rng.permutation(rank))
        dtype = list(names)[int(rng.integers(len(names)))]
        theirs = client.Shape.array_shape(np.dtype(dtype), dims, order)
        ours = xla.make_shape(dtype, dims, order)
        assert str(ours) == str(theirs)
        assert ours.to_proto() == theirs.to_serialized_proto()
        assert xla.Shape.from_proto(theirs.to_serialized_proto()) == xla.Shape(theirs) == ours
        assert (ours.dims, ours.rank, ours.minor_to_major) == (theirs.dimensions(), theirs.rank(), order)


sizes = st.integers(0, 40)
names = st.sampled_from(["f32", "bf16", "s4", "pred", "u64", "c128", "f8e4m3fn"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of an array as XLA prints it."""
    dims = draw(st.lists(sizes, max_size=4))
    order = draw(st.permutations(range(len(dims))))
    tiles = draw(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=3), max_size=2))
    parts = "".join(f"({','.join(map(str, tile))})" for tile in tiles)
    rest = ("T" + parts if parts else "") + draw(st.sampled_from(["", "L(4)", "S(1)", "L(2)E(8)S(5)"]))
    bounded = [f"{draw(st.sampled_from(['', '<=']))}{size}" for size in dims]
    if not dims and not rest:
        return f"{draw(names)}[]"
    return f"{draw(names)}[{','.join(bounded)}]{{{','.join(map(str, order))}{':' if rest else ''}{rest}}}"


@st.composite
def shapes(draw: st.DrawFn, depth: int = 2) -> xla.Shape:
    kind = draw(st.sampled_from(["array", "bare", "token", "buffer", "tuple"]))
    if kind == "tuple" and depth:
        return xla.make_tuple(*draw(st.lists(shapes(depth=depth - 1), max_size=6)))
    if kind == "token":
        return xla.Shape("token[]")
    text = draw(texts())
    if kind == "buffer":
        return xla.Shape(f"b({text})")
    made = xla.Shape(text)
    return made.without_layout() if kind == "bare" else made


@given(texts())
def test_what_xla_prints_is_read_and_printed_the_same(text: str) -> None:
    assert str(xla.Shape(text)) == str(xla.Shape(text, strict=True)) == text


@given(shapes())
def test_a_shape_is_written_copied_and_pickled_as_itself(shape: xla.Shape) -> None:
    names = {"tilework": tilework}
    others = [eval(repr(shape), names), copy.copy(shape), copy.deepcopy(shape), xla.Shape(shape)]
    others += [pickle.loads(pickle.dumps(shape, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in others:
        assert other == shape and hash(other) == hash(shape)
    assert shape != xla.make_tuple(shape)
    if shape.has_layout:
        assert xla.Shape.from_proto(shape.to_proto()) == shape


@given(shapes())
def test_a_tree_of_shapes_has_every_subshape_at_its_path(shape: xla.Shape) -> None:
    everything = shape.subshapes()
    assert len(everything) == shape.subshape_count
    assert sorted(shape.subshapes(tuples_first=False), key=lambda pair: pair[0]) == sorted(
        everything, key=lambda p: p[0]
    )
    assert shape.leaf_shapes() == [pair for pair in everything if not pair[1].is_tuple]
    for path, found in everything:
        assert shape.subshape(path) == found
        assert shape.is_leaf_index(path) != found.is_tuple and shape.index_is_valid(path)
        assert not shape.index_is_valid((*path, 99))
    if shape.is_tuple:
        assert xla.make_tuple(*shape.tuple_shapes) == shape
        assert shape.slice_tuple(0, len(shape.tuple_shapes)) == shape


@given(texts(), st.data())
def test_the_layout_of_a_shape_is_that_of_its_text(text: str, data: st.DataObject) -> None:
    shape = xla.Shape(text)
    layout = shape.layout()
    assert layout == tw.Layout(text) and layout.nbytes == shape.array_size()
    assert xla.Shape.of_layout(layout) == shape
    dims = [size for size in shape.dims if size is not None]
    if all(dims):
        index = tuple(data.draw(st.integers(0, size - 1)) for size in dims)
        assert layout.offset(index) == shape.offset(index)
        untiled = shape.without_tiles().with_layout(shape.minor_to_major or ())
        linear = untiled.linear_index_untiled(index)
        assert untiled.multidimensional_index_untiled(linear) == index
        assert shape.index_in_bounds(index) and not shape.index_in_bounds((*index, 0))
        strides = [untiled.dimension_stride_untiled(dim) for dim in range(shape.rank)]
        assert linear == np.dot(index, strides)


@given(texts(), st.data())
def test_permuted_dimensions_stay_where_they_are(text: str, data: st.DataObject) -> None:
    shape = xla.Shape(text)
    order = data.draw(st.permutations(range(shape.rank)))
    permuted = shape.permute_dimensions(order)
    assert permuted.dims == tuple(shape.dims[dim] for dim in order)
    back = permuted.permute_dimensions(np.argsort(order)) if order else permuted
    assert back == shape
    if all(shape.dims):
        assert shape.layout().permute(*order).same(permuted.layout())


def test_dimensions_have_numbers_and_letters() -> None:
    shape = xla.Shape("f32[2,3,5]")
    assert [shape.dimension(number) for number in range(-3, 3)] == [2, 3, 5, 2, 3, 5]
    assert [shape.dimension_letter(number) for number in range(-3, 3)] == list("zyxzyx")
    assert [shape.dimension_of_letter(letter) for letter in "zyx"] == [0, 1, 2]
    assert [xla.dimension_letters(rank) for rank in (1, 2, 5)] == [None, ("y", "x"), None]
    for number in (-4, 3, 2**40):
        with pytest.raises(LayoutError, match="-3 to 2"):
            shape.dimension(number)


def test_dynamic_dimensions_are_made_and_told() -> None:
    shape = xla.make_shape(np.float32, (8, None, 3), dynamic_dimensions=(True, True, False))
    assert str(shape) == "f32[<=8,?,3]{2,1,0}"
    assert (shape.dims, shape.dynamic_dimensions) == ((8, None, 3), (True, True, False))
    assert shape.is_bounded_dynamic and shape.is_unbounded_dynamic and not shape.is_static
    assert str(shape.update_dynamic_dimension(-1, True)) == "f32[<=8,?,<=3]{2,1,0}"
    pair = xla.make_tuple("token[]", shape)
    assert str(pair.update_dynamic_dimension(0, False, (1,))) == "(token[], f32[8,?,3]{2,1,0})"
    with pytest.raises(LayoutError):
        pair.update_dynamic_dimension(0, False, (0,))
    assert xla.Shape("f32[2,3]").copy_dynamic_dimensions("s8[<=9,9]") == xla.Shape("f32[<=2,3]")


def test_a_layout_of_xla_has_every_field() -> None:
    layout = xla.Layout(
        (1, 0),
        tiles=[(8, 128), ("*", 2)],
        tail_padding_alignment_in_elements=4,
        element_size_in_bits=4,
        memory_space=5,
        split_configs=[(0, (3, 7))],
        dynamic_shape_metadata_prefix_bytes=16,
    )
    assert str(layout) == "{1,0:T(8,128)(*,2)L(4)E(4)S(5)SC(0:3,7)M(16)}"
    assert layout == xla.Layout(str(layout)) == eval(repr(layout), {"tilework": tilework})
    assert pickle.loads(pickle.dumps(layout)) == layout and hash(xla.Layout(layout)) == hash(layout)
    assert (layout.minor_to_major, layout.logical_to_physical, layout.rank) == ((1, 0), (0, 1), 2)
    assert (layout.minor(0), layout.major(0)) == (1, 0)
    assert (layout.tiles, layout.split_configs) == (((8, 128), (None, 2)), ((0, (3, 7)),))
    assert (layout.tail_padding_alignment_in_elements, layout.element_size_in_bits) == (4, 4)
    assert (layout.memory_space, layout.dynamic_shape_metadata_prefix_bytes) == (5, 16)
    assert not layout.is_plain and layout.is_monotonic_with_dim0_major
    assert xla.Layout(layout, memory_space=0, tiles=()).tiles == ()
    free = xla.Layout("{strides(5,-1),base(4),size(16)}")
    assert (free.strides, free.base, free.size) == ((5, -1), 4, 16)
    assert xla.Layout("{1,0:#(u32)*(u16)P(f32[2]{0})}").physical_shape == xla.Shape("f32[2]")


def test_types_of_elements_are_known_by_xla_and_numpy() -> None:
    assert [kind.number for kind in xla.PrimitiveType.all()] == list(range(1, 37))
    for kind in xla.PrimitiveType.all():
        assert xla.PrimitiveType(kind.name) == xla.PrimitiveType.from_number(kind.number) == kind
        assert eval(repr(kind), {"tilework": tilework}) == pickle.loads(pickle.dumps(kind)) == kind
        assert kind.is_array_type == (kind.bit_width is not None)
        if kind.name not in ("tuple", "opaque", "token", "buffer", "s1", "u1"):
            assert xla.PrimitiveType(kind.dtype) == kind
    assert xla.PrimitiveType(ml_dtypes.bfloat16).name == "bf16"
    assert xla.PrimitiveType(np.float32).complex_type == xla.PrimitiveType("c64")
    assert xla.PrimitiveType("s8").can_upcast_to("s16") and not xla.PrimitiveType("s8").can_upcast_to("pred")
    assert xla.PrimitiveType("f8e4m3fn").value_bits("highest") == 0x7E
    for bad in ("f33", "object", ""):
        with pytest.raises(LayoutError):
            xla.PrimitiveType(bad)


def test_float_formats_are_those_of_ml_dtypes() -> None:
    floats = [kind for kind in xla.PrimitiveType.all() if kind.is_floating_point]
    assert len(floats) == 15
    for kind in floats:
        info = ml_dtypes.finfo(kind.dtype)  # type: ignore[no-untyped-call]
        assert (kind.bit_width, kind.significand_width) == (info.bits, info.nmant + 1), kind
        assert kind.overflow_exponent == info.maxexp, kind
        for value in (info.max, info.min, info.eps, info.smallest_normal, info.smallest_subnormal):
            expected = np.asarray(value, kind.dtype).tobytes()
            assert kind.value_bits(str(float(value))) == int.from_bytes(expected, "little"), (kind, value)


def test_values_of_all_codes_of_a_byte_are_those_of_ml_dtypes() -> None:
    for kind in xla.PrimitiveType.all():
        if kind.is_floating_point and (kind.bit_width or 0) <= 8:
            codes = np.arange(1 << (kind.bit_width or 0), dtype=np.uint8)
            for code, value in zip(codes, codes.view(kind.dtype).astype(np.float64), strict=True):
                if not np.isnan(value):
                    assert kind.value_bits(str(value)) == code, (kind, code)


def test_names_of_other_systems_mean_the_same_type() -> None:
    for kind in xla.PrimitiveType.all():
        if kind.is_array_type and kind.name not in ("s1", "u1"):
            for name in (kind.dtype.name, f"np.{kind.dtype.name}", f"dtype('{kind.dtype.name}')"):
                assert xla.PrimitiveType(name) == kind
    for name in ("FLOAT16", "torch.float16", "F16", "<f2"):
        assert xla.PrimitiveType(name).name == "f16"
    for name in ("i8", "float", "torch.f32"):
        with pytest.raises(LayoutError):
            xla.PrimitiveType(name)


def test_names_of_torch_mean_the_type_of_as_many_bits() -> None:
    torch = pytest.importorskip("torch")
    others = ("complex32", "bits", "q", "_x2", "int3", "int5", "int6", "int7")
    for dtype in {value for value in vars(torch).values() if isinstance(value, torch.dtype)}:
        name = str(dtype)
        if not any(other in name for other in others):
            kind = xla.PrimitiveType(name)
            assert kind.byte_width == dtype.itemsize, name
            assert kind.is_floating_point == dtype.is_floating_point, name
            assert kind.is_complex == dtype.is_complex, name


def test_program_shapes_are_read_and_written() -> None:
    program = xla.ProgramShape("(a: f32[2]{0}, b: (s32[], token[])) -> f32[2]")
    assert str(program) == "(a: f32[2], b: (s32[], token[])) -> f32[2]"
    assert program.parameters[0] == ("a", xla.Shape("f32[2]")) and program.result == xla.Shape("f32[2]")
    bare = xla.ProgramShape.of([('it\'s \\ "x"', xla.Shape("f32[2]").without_layout())], "()")
    for one in (program, bare):
        assert eval(repr(one), {"tilework": tilework}) == pickle.loads(pickle.dumps(one)) == one
        assert hash(pickle.loads(pickle.dumps(one))) == hash(one)
    assert xla.ProgramShape.from_proto(program.to_proto()) == program


def test_what_is_overlooked_is_said_by_name() -> None:
    here, there = xla.Shape("f32[2,<=3]{1,0:T(2,2)S(1)}"), xla.Shape("bf16[2,3]{1,0}")
    ignore: list[Any] = ["fp_precision", "dynamic_dimension", "tiles_in_layout", "memory_space_in_layout"]
    assert here.equal(there, ignore=ignore) and not here.equal(there)
    for left in range(len(ignore)):
        assert not here.equal(there, ignore=ignore[:left] + ignore[left + 1 :])
    assert here.layouts_equal(there, ignore="all_but_minor_to_major")
    with pytest.raises(LayoutError, match="accepted: layout, tiles_in_layout"):
        here.equal(there, ignore="tiles")  # type: ignore[arg-type]


SHAPES_APART = {
    "layout": "f32[2,3]{0,1}",
    "tiles_in_layout": "f32[2,3]{1,0:T(2,2)}",
    "element_size_in_layout": "f32[2,3]{1,0:E(16)}",
    "memory_space_in_layout": "f32[2,3]{1,0:S(1)}",
    "tail_padding_alignment_in_elements_in_layout": "f32[2,3]{1,0:L(4)}",
    "split_config_in_layout": "f32[2,3]{1,0:SC(0:1)}",
    "element_type": "s32[2,3]",
    "fp_precision": "bf16[2,3]",
    "dynamic_dimension": "f32[<=2,3]",
    "dimensions": "f32[2,4]",
    "buffer": "b(f32[2,3])",
}
LAYOUTS_APART = {
    "tiles": "{1,0:T(2,2)}",
    "tail_padding_alignment_in_elements": "{1,0:L(4)}",
    "index_primitive_type": "{1,0:#(u32)}",
    "pointer_primitive_type": "{1,0:*(u32)}",
    "element_size": "{1,0:E(16)}",
    "memory_space": "{1,0:S(1)}",
    "split_configs": "{1,0:SC(0:1)}",
    "physical_shape": "{1,0:P(f32[2]{0})}",
    "padding": "{1,0:pad(3,5)}",
}


def test_every_word_overlooks_what_it_names_and_no_more() -> None:
    shape, layout = xla.Shape("f32[2,3]"), xla.Layout("{1,0}")
    for part, text in SHAPES_APART.items():
        found = {word for word in SHAPES_APART if shape.equal(text, ignore=word)}  # type: ignore[arg-type]
        more = {"layout"} if part.endswith("_in_layout") else {"element_type"} if part == "fp_precision" else set()
        assert found == {part} | more
        assert shape.equal(text, ignore="all_but_minor_to_major_in_layout") == part.endswith("_in_layout")
    for part, text in LAYOUTS_APART.items():
        assert {word for word in LAYOUTS_APART if layout.equal(text, ignore=word)} == {part}  # type: ignore[arg-type]
        assert layout.equal(text, ignore="all_but_minor_to_major") and not layout.equal(text)
    assert not layout.equal("{0,1}", ignore="all_but_minor_to_major")


def test_other_elements_make_no_bitcast_unless_they_are_ignored() -> None:
    shape, other = xla.Shape("f32[2,3]"), xla.Shape("s32[2,3]")
    for ignore in (False, True):
        assert shape.reshape_is_bitcast_untiled(other, ignore_element_type=ignore) == ignore
        assert shape.transpose_is_bitcast_by_order(other, (0, 1), ignore_element_type=ignore) == ignore
        assert shape.is_reshape_or_transpose_bitcast_untiled(other, ignore_element_type=ignore) == ignore
        assert bool(shape.reshape_is_bitcast(other, ignore_element_type=ignore)) == ignore
        assert bool(shape.transpose_is_bitcast(other, (0, 1), ignore_element_type=ignore)) == ignore
    assert shape.transpose_is_bitcast("f32[3,2]{0,1}", (1, 0)) and not shape.transpose_is_bitcast("f32[3,2]", (1, 0))


def test_a_visitor_can_stop_and_can_fail() -> None:
    shape = xla.Shape("f32[2,3]{0,1}")
    seen: list[tuple[int, ...]] = []

    def visitor(index: tuple[int, ...]) -> bool:
        seen.append(index)
        return len(seen) < 4

    assert not shape.for_each_index(visitor)
    assert seen == [(0, 0), (1, 0), (0, 1), (1, 1)]
    with pytest.raises(ZeroDivisionError):
        shape.for_each_index(lambda index: bool(1 // 0))
    with pytest.raises(TypeError, match="go together"):
        shape.for_each_index(seen.append, base=(0, 0))


def test_a_layout_has_a_shape_where_a_text_says_it() -> None:
    assert str(xla.Shape.of_layout(tw.Layout("f32[4,6]").slice(0, 1, 3))) == "f32[2,6]{strides(6,1),base(6),size(24)}"
    assert str(xla.Shape.of_layout(tw.Layout("FLOAT32 [2,3] strides [1,2]"))) == "f32[2,3]{0,1}"
    with pytest.raises(LayoutError, match="no text of XLA"):
        xla.Shape.of_layout(tw.Layout("f32[4,6]{1,0:T(2,4)}").slice(1, 1, 6))


def test_an_error_points_into_the_text() -> None:
    with pytest.raises(LayoutError) as caught:
        xla.Shape("f32[3,5]{1,0:T(0,2)}")
    error = caught.value
    assert error.text == "f32[3,5]{1,0:T(0,2)}" and error.span == (15, 16) and "^" in str(error)
    with pytest.raises(LayoutError):
        xla.Shape("f32[2,3]{strides(5,1)}", strict=True)


def test_tuples_nest_as_deep_as_a_text_and_no_deeper() -> None:
    nested = xla.Shape("f32[2]")
    for _ in range(128):
        nested = xla.make_tuple(nested)
    assert xla.Shape(str(nested)) == nested and pickle.loads(pickle.dumps(nested)) == nested
    with pytest.raises(LayoutError, match="at most 128"):
        xla.make_tuple(nested)


def test_a_tuple_that_doubles_itself_ends_before_memory_does() -> None:
    doubled = xla.make_tuple()
    with pytest.raises(LayoutError, match="up to 262144 shapes"):
        for _ in range(100):
            doubled = xla.make_tuple(doubled, doubled)
    assert doubled.subshape_count > 2**16


def test_arrays_of_numbers_are_taken_for_lists() -> None:
    shape = xla.make_shape(np.dtype("float32"), np.array([3, 5]), np.array([0, 1]))
    assert shape.offset(np.array([2, 3])) == shape.offset([2, 3]) == 11
    assert shape.dimension(np.int8(-1)) == 5


def test_elements_of_6_bits_are_not_packed() -> None:
    packed = xla.Shape("(f6e3m2fn[3], s4[3], pred[3])").with_updated_element_size_in_bits(True)
    assert packed == xla.Shape("(f6e3m2fn[3], s4[3]{0:E(4)}, pred[3])")


def test_an_array_made_static_loses_its_metadata_and_a_static_one_in_a_tuple_does_not() -> None:
    assert xla.Shape("f32[3]{0:M(8)}").with_static_dimensions() == xla.Shape("f32[3]")
    kept = xla.Shape("(f32[3]{0:M(8)}, f32[<=3]{0:M(8)})").with_static_dimensions()
    assert kept == xla.Shape("(f32[3]{0:M(8)}, f32[3])")


def test_an_empty_tuple_has_the_places_of_an_array() -> None:
    assert xla.Shape("()").equal_structure(xla.Shape("f32[2]"))
    assert xla.Shape("(f32[2], ())").equal_structure(xla.Shape("((), token[])"))
    assert not xla.Shape("(f32[2])").equal_structure(xla.Shape("f32[2]"))


def test_minus_zero_is_read_as_zero() -> None:
    assert xla.Shape("f32[-0]", strict=True) == xla.Shape("f32[0]")
