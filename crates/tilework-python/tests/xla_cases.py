"""The cases of XLA's own tests, documents and library, and what Tilework says to each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tilework import LayoutError, xla

TABLE = Path(__file__).parents[2] / "tilework" / "tests" / "cases" / "xla.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))

BARE = " (no layout)"
LEAF = re.compile(r"\w+\[[^\]]*\](?:\{[^}]*\})?(?P<bare> \(no layout\))?")


def shape(text: str) -> xla.Shape:
    """The shape of a text, in which ` (no layout)` behind an array takes its layout away."""
    made = xla.Shape(text.replace(BARE, ""))
    bare = [found["bare"] is not None for found in LEAF.finditer(text)]
    paths = [path for (path, _), gone in zip(made.leaf_shapes(), bare, strict=True) if gone]
    return made.without_layout(*paths) if paths else made


def subject(said: Any) -> xla.Shape:
    """The shape that a case is about: the text itself, under `shape`, or the first of several arguments."""
    if isinstance(said, dict):
        said = said.get("shape", said.get("input"))
    return shape(said[0] if isinstance(said, list) else said)


def argument(said: Any, name: str, number: int = 1) -> Any:
    return said[name] if isinstance(said, dict) else said[number]


def pair(said: Any, names: tuple[str, str]) -> tuple[xla.Shape, xla.Shape]:
    return shape(argument(said, names[0], 0)), shape(argument(said, names[1], 1))


def bumped(said: Any) -> dict[str, Any]:
    index = subject(said).bump_indices(said["index"])
    return {"bumped": False} if index is None else {"bumped": True, "index": list(index)}


def padded(said: Any) -> bool:
    array, dims = subject(said), said["padded_dimensions"]
    if dims:
        array = array.with_layout(xla.Layout(array.minor_to_major or (), padded_dimensions=dims, padding_value="zero"))
    return array.has_padded_dimensions


def memory(said: Any) -> list[Any]:
    dims = json.loads(said["shape"])
    layout = xla.Layout(said["minor_to_major"], padded_dimensions=said.get("padded_dimensions", dims))
    elements = [element for row in said["array"] for element in row]
    return xla.make_shape("s8", dims, layout).image(elements, said.get("padding_value"))


def visits(said: Any) -> dict[str, Any]:
    calls, stop = 0, int(said["error_at_call"])

    def visitor(index: tuple[int, ...]) -> bool:
        nonlocal calls
        calls += 1
        return calls < stop

    ok = subject(said).for_each_index(visitor, said["base"], said["count"], said["incr"])
    return {"calls": calls, "ok": ok}


def visited(said: Any) -> int:
    seen: list[tuple[int, ...]] = []
    assert xla.make_shape("f32", said["dims"]).for_each_index(seen.append)
    return len(seen)


def round_trip(said: Any) -> int:
    array = subject(said)
    return array.linear_index_untiled(array.multidimensional_index_untiled(said["linear"]))


def tiled_offset(said: Any) -> int:
    if "shape" in said:
        return subject(said).offset(said["index"])
    return xla.tiled_index(said["index"], said["bounds"], *said["tiles"])


def copied(said: Any) -> Any:
    after = shape(said["dst"]).with_layouts_of(shape(said["src"]))
    return {"ok": True, "dst_after": after}


def decomposed(said: Any) -> Any:
    first, second = pair(said, ("input", "output"))
    found = first.decompose_bitcast(second)
    if found is None:
        return {"kind": "none"}
    if found.kind == "reshape":
        return {"kind": "reshape"}
    if found.dims is not None:
        return {"kind": "transpose", "dims": list(found.dims)}
    assert found.transpose1_dims is not None and found.transpose2_dims is not None
    return {
        "kind": "trt",
        "transpose1_dims": list(found.transpose1_dims),
        "transpose1_shape": str(found.transpose1_shape),
        "reshape_shape": str(found.reshape_shape),
        "transpose2_dims": list(found.transpose2_dims),
    }


def inserted(said: Any) -> Any:
    first, second = pair(said, ("pre", "post"))
    found = first.inserted_or_deleted_1_sized_dimensions(second)
    return None if found is None else {"deleted": list(found[0]), "inserted": list(found[1])}


def layout_of(fields: dict[str, Any]) -> xla.Layout:
    fields = dict(fields)
    order, pointer = fields.pop("minor_to_major", []), fields.pop("pointer_primitive_type", None)
    made = xla.Layout(order, **fields)
    return xla.Layout(str(made)[:-1] + f":*({pointer})}}") if pointer else made


def reshaped(said: Any) -> bool:
    first, second = pair(said, ("input", "output"))
    return first.reshape_is_bitcast_untiled(second, ignore_element_type=argument(said, "ignore_element_type", 2))


def transposed(said: Any) -> bool:
    first, second = pair(said, ("input", "output"))
    mapping: list[int] = argument(said, "dimension_mapping", 2)
    ignore: bool = argument(said, "ignore_element_type", 3)
    return first.transpose_is_bitcast_by_order(second, mapping, ignore_element_type=ignore)


def of_two(test: Callable[[xla.Shape, xla.Shape], Any]) -> Callable[[Any], Any]:
    def answer(said: Any) -> Any:
        first, second = pair(said, ("lhs", "rhs"))
        assert test(first, second) == test(second, first)
        return test(first, second)

    return answer


def of_one(question: Callable[[xla.Shape], Any]) -> Callable[[Any], Any]:
    return lambda said: question(subject(said))


def tuples(found: list[tuple[int, int]]) -> list[list[int]]:
    return [list(pair) for pair in found]


def element_size(said: Any) -> int:
    layout = subject(said).with_element_type(said["type"]).xla_layout
    assert layout is not None
    return layout.element_size_in_bits


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "Layout::ToString": lambda said: str(layout_of(said)),
    "Layout::Equal": lambda said: xla.Layout(said["lhs"]).equal(said["rhs"], ignore=said["ignore"]),
    "Layout::FromProto(ToProto)": lambda said: (
        "unchanged" if xla.Layout.from_proto(xla.Layout(said).to_proto()) == xla.Layout(said) else "changed"
    ),
    "Layout::DeleteDimension": lambda said: list(
        xla.Layout(said["minor_to_major"]).delete_dimension(said["dim"]).minor_to_major
    ),
    "Shape::ToString(print_layout=false)": of_one(xla.Shape.human_string),
    "Shape::ToString(print_layout=true)": of_one(str),
    "ShapeUtil::HumanStringWithLayout": of_one(str),
    "AreAllLeavesIntegers": of_one(lambda shape: shape.are_all_leaves_integers),
    "is_static": of_one(lambda shape: shape.is_static),
    "is_unbounded_dynamic": of_one(lambda shape: shape.is_unbounded_dynamic),
    "Shape::DeleteDimensions": lambda said: subject(said).delete_dimensions(said["dims"]),
    "Shape::operator==": of_two(lambda lhs, rhs: lhs == rhs),
    "LayoutUtil::CopyLayoutBetweenShapes": copied,
    "LayoutUtil::LayoutsInShapesEqual": of_two(xla.Shape.layouts_equal),
    "LayoutUtil::GetDefaultLayoutForR3": lambda said: list(xla.Layout.descending(3).minor_to_major),
    "LayoutUtil::MakeDescendingLayout": lambda said: list(xla.Layout.descending(said).minor_to_major),
    "LayoutUtil::MakeAscendingLayout": lambda said: list(xla.Layout.ascending(said).minor_to_major),
    "LayoutUtil::ByteStridesIsMajorToMinor": lambda said: xla.byte_strides_is_major_to_minor(
        said["strides"], said["dims"], said["type"]
    ),
    "LayoutUtil::MaxSplitSize": lambda said: subject(said).max_split_size(said["dim"]),
    "MaxSplitSize": lambda said: subject(said).max_split_size(said[1]),
    "LayoutUtil::MaxElementsInPerSplit": of_one(xla.Shape.max_elements_in_per_split),
    "LayoutUtil::HasLayout": of_one(lambda shape: shape.has_layout),
    "IndexUtil::MultidimensionalIndexToLinearIndex": lambda said: subject(said).linear_index_untiled(said["index"]),
    "IndexUtil::LinearIndexToMultidimensionalIndex": lambda said: list(
        subject(said).multidimensional_index_untiled(said["linear"])
    ),
    "linear -> multi -> linear": round_trip,
    "IndexUtil::BumpIndices": bumped,
    "ShapeUtil::GetDimension": lambda said: subject(said).dimension(said["dim"]),
    "Compatible": of_two(xla.Shape.compatible),
    "Equal": of_two(xla.Shape.equal),
    "ShapeUtil::EqualIgnoringFpPrecision": of_two(lambda lhs, rhs: lhs.equal(rhs, ignore="fp_precision")),
    "ShapeUtil::EqualIgnoringElementType": of_two(lambda lhs, rhs: lhs.equal(rhs, ignore=["element_type"])),
    "ShapeUtil::CompatibleIgnoringElementType": of_two(xla.Shape.compatible_ignoring_element_type),
    "ShapeUtil::CompatibleIgnoringFpPrecision": of_two(xla.Shape.compatible_ignoring_fp_precision),
    "EqualStructure": of_two(xla.Shape.equal_structure),
    "ByteSizeOf": lambda said: subject(said).byte_size_of(said[1] if isinstance(said, list) else None),
    "ShapeUtil::ByteStrides": lambda said: list(subject(said).byte_strides_untiled()),
    "ShapeUtil::IsEmptyTuple": of_one(lambda shape: shape.is_empty_tuple),
    "ShapeUtil::IsNestedTuple": of_one(lambda shape: shape.is_nested_tuple),
    "ElementsIn": of_one(xla.Shape.elements_in),
    "StaticExtentProduct": of_one(xla.Shape.static_extent_product),
    "ShapeUtil::IsZeroElementArray": of_one(lambda shape: shape.is_zero_element_array),
    "ShapeUtil::HasPrimitiveType": lambda said: subject(said).has_primitive_type(said["type"]),
    "SameDimensions": of_two(xla.Shape.same_dimensions),
    "ShapeUtil::GetSubshape": lambda said: subject(said).subshape(said["index"]),
    "ShapeUtil::IsLeafIndex": lambda said: subject(said).is_leaf_index(said["index"]),
    "ShapeUtil::InsertedOrDeleted1SizedDimensions has value": lambda said: inserted(said) is not None,
    "InsertedOrDeleted1SizedDimensions": inserted,
    "ShapeUtil::ForEachIndex invocation count": visited,
    "ShapeUtil::ForEachIndexWithStatus stops": visits,
    "ShapeUtil::DimensionsUnmodifiedByReshape": lambda said: tuples(
        shape(said["input"]).dimensions_unmodified_by_reshape(said["output"])
    ),
    "ReshapeIsBitcast": reshaped,
    "TransposeIsBitcast": transposed,
    "ShapeUtil::HasDegenerateDimensions": of_one(lambda shape: shape.has_degenerate_dimensions),
    "ShapeUtil::PermuteDimensions": lambda said: subject(said).permute_dimensions(said["permutation"]),
    "ShapeUtil::PrependMajorDimension": lambda said: subject(said).prepend_major_dimension(said["bound"]),
    "ShapeUtil::IsEffectivelyMostMajorDimension": lambda said: subject(said).is_effectively_most_major_dimension(
        said["dim"]
    ),
    "ArrayDataSize": of_one(xla.Shape.array_data_size_by_first_tile),
    "ArraySize": of_one(xla.Shape.array_size_by_first_tile),
    "LinearIndex": lambda said: subject(said).linear_index_by_first_tile(argument(said, "index")),
    "ShapeUtil::ChangeElementType -> element_size_in_bits": element_size,
    "DecomposeBitcast": decomposed,
    "IsDecomposableBitcast": lambda said: shape(said[0]).is_decomposable_bitcast(said[1]),
    "AlignLayouts": lambda said: shape(argument(said, "input", 0)).align_layouts(argument(said, "output", 1)),
    "CommonFactors": lambda said: tuples(xla.common_factors(argument(said, "a", 0), argument(said, "b", 1))),
    "ParseShape -> canonical string": of_one(str),
    "LayoutUtil::IsPadded": padded,
    "linear_index_with_tile": lambda said: xla.tiled_index(said["index"], said["bounds"], said["tile"]),
    "elements in memory order": memory,
    "TrueNumDimensions": of_one(lambda shape: shape.true_num_dimensions),
    "PhysicalOffset": tiled_offset,
    "PhysicalOffset of shape": tiled_offset,
    "elements of the padded buffer": of_one(lambda shape: shape.layout().allocated),
    "array 1,2,3,... stored in tiled order; padding left at -1": of_one(
        lambda shape: shape.image(range(1, shape.elements_in() + 1), -1)
    ),
    "DeviceShapeToHostShape": of_one(xla.Shape.device_shape_to_host_shape),
    "UpdateElementSizeInBits": lambda said: subject(said).with_updated_element_size_in_bits(said[1]),
    "MoveDimToMajor": lambda said: subject(said).move_dim_to_major(said[1]),
    "DropDegenerateDimensions": of_one(xla.Shape.drop_degenerate_dimensions),
    "MakeShapeWithDescendingLayoutAndSamePhysicalLayout": of_one(
        xla.Shape.make_shape_with_descending_layout_and_same_physical_layout
    ),
    "DynamicShapeIsCompatible": lambda said: shape(said[0]).dynamic_shape_is_compatible(said[1]),
    "ParseLayout": lambda said: str(xla.Layout(said[0])),
}


OTHERS = {
    "TransposePlan",
    "TransposePlan with input byte strides",
    "ParseShape + print + ToProto + validate + sizes",
    "ParseShape + print + ToProto + validate",
    "ShapeUtil::ParseShapeString",
    "LayoutUtil::ValidateLayoutInShape",
}
"""Operations that are answered elsewhere, or of which Python has none."""


def answer(case: dict[str, Any]) -> Any:
    """What Tilework says to a case, in the form in which it is written down; an error is one."""
    op: str = case["op"]
    known = ANSWERS.get(op) or ANSWERS[op.rsplit("::", 1)[-1]]
    try:
        return known(case["input"])
    except LayoutError as error:
        return error
