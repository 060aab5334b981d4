"""`tilework.directml`: a table of facts from DirectML's documents and callers, and what people can get wrong."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework
import tilework as tw
from tilework import LayoutError, directml
from tilework.directml import BufferTensorDesc, CopyNeeded, Desc

TABLE = Path(__file__).parents[2] / "tilework" / "tests" / "cases" / "directml.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))


def described(said: dict[str, Any]) -> BufferTensorDesc:
    """The tensor of sizes and strides, with a declared total for `buffer_elements`."""
    total = 4 * said["buffer_elements"] if "buffer_elements" in said else None
    return BufferTensorDesc(
        data_type=said.get("dtype", "FLOAT32"), sizes=said["sizes"], strides=said.get("strides"), total=total
    )


def shown(answer: BufferTensorDesc | CopyNeeded) -> Any:
    if isinstance(answer, CopyNeeded):
        return f"error: {answer}"
    return {"sizes": list(answer.sizes), "strides": list(answer.effective_strides)}


def folded(said: dict[str, Any]) -> Any:
    answer = described(said).fold(said["rank"], said.get("fold", "leading"))
    if said.get("strides") is None and isinstance(answer, BufferTensorDesc):
        return {"sizes": list(answer.sizes), "strides": answer.strides}
    return shown(answer)


def legacy(said: dict[str, Any]) -> Any:
    arguments = (said["dtype"], said["sizes"], said["strides"])
    try:
        exact = directml.buffer_size_bytes(*arguments)
    except LayoutError:
        exact = None
    return {
        "exact_bytes": exact,
        "directmlx_bytes": directml.buffer_size_bytes_wrapping_like_directmlx(*arguments),
    }


def any_order(said: dict[str, Any]) -> dict[str, int]:
    named: dict[str, int] = said["sizes"]
    strides = directml.order_strides(list(named.values()), "".join(named), said["order"])
    return dict(zip(named, strides, strict=True))


def layout_strides(said: dict[str, Any]) -> list[int]:
    flags = said.get("broadcast") or [False] * len(said["sizes"])
    letters = directml.letters_of(said["layout"])
    return list(directml.broadcast_order_strides(said["sizes"], letters, said["layout"], flags))


def padded(said: dict[str, Any]) -> Any:
    desc = BufferTensorDesc.padded(said["dtype"], said["sizes"], said["dim"], said["align_bytes"])
    assert desc.strides == directml.padded_strides(said["dtype"], said["sizes"], said["dim"], said["align_bytes"])
    return {"strides": list(desc.strides or ()), "min_bytes": desc.total_bytes}


def element_offset(said: dict[str, Any]) -> int:
    sizes = [number + 1 for number in said["coords"]]
    return BufferTensorDesc(data_type="UINT8", sizes=sizes, strides=said["strides"]).offset(said["coords"])


def read_out(said: dict[str, Any]) -> str:
    return "".join(said["buffer"][place] for place in described(said).layout().offsets().ravel())


def written_into(said: dict[str, Any]) -> str:
    buffer = [said["fill"]] * said["buffer_elements"]
    for letter, place in zip(said["logical"], described(said).layout().offsets().ravel(), strict=True):
        buffer[place] = letter
    return "".join(buffer)


def classified(said: dict[str, Any]) -> Any:
    words = described(said).words()
    return {
        "packed": words.packed,
        "unique": words.unique,
        "broadcast": words.is_broadcast,
        "gaps": words.gaps,
        "min_elements": words.minimum_elements,
    }


def simplified(said: dict[str, Any]) -> Any:
    sizes, order, out_sizes = directml.simplify_transpose(said["sizes"], said["axes"])
    return {"sizes": list(sizes), "axes": list(order), "out_sizes": list(out_sizes)}


def collapsed(said: dict[str, Any]) -> Any:
    return dict(zip(("x", "y", "result"), map(list, directml.collapse_pair(said["x"], said["y"])), strict=True))


def reinterpreted(said: dict[str, Any]) -> str:
    described(said).reinterpret(said["new_sizes"], said["new_strides"], data_type=said.get("new_dtype"))
    return "ok"


def validated(said: dict[str, Any]) -> Any:
    desc = Desc(
        data_type=said["dtype"],
        sizes=said["sizes"],
        strides=said.get("strides"),
        total=said.get("total"),
        alignment=said.get("guaranteed_base_offset_alignment"),
    )
    return [found.rule for found in directml.check(desc)] or "ok"


def fits(said: dict[str, Any]) -> Any:
    name = next(name for name in directml.data_types() if directml.data_type_bits(name) == 8 * said["itemsize"])
    required = directml.required_bytes(name, said["sizes"], said["strides"], offset=said["offset_elements"])
    return {"fits": required <= said["storage_bytes"], "required_bytes": required}


def nibbles(said: dict[str, Any]) -> list[int]:
    data = directml.pack_nibbles(said["dtype"], said["values"])
    assert directml.unpack_nibbles(said["dtype"], data, len(said["values"])) == said["values"]
    return list(data)


def stored(said: dict[str, Any], order: str, view: str) -> Any:
    return shown(BufferTensorDesc.from_stored("FLOAT32", said["stored_sizes"], order, view))


ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "buffer_size_bytes": lambda said: directml.buffer_size_bytes(said["dtype"], said["sizes"], said["strides"]),
    "legacy_size_wraps_u32": legacy,
    "packed_strides": lambda said: list(directml.packed_strides(said["sizes"])),
    "layout_strides": layout_strides,
    "interleaved_channel_strides": lambda said: list(directml.interleaved_channel_strides(said["sizes"])),
    "layout_strides_any_order": any_order,
    "filter_as_oihw": lambda said: stored(said, said["stored_order"], "OIHW"),
    "filter_as_iohw": lambda said: stored(said, said["stored_order"], "IOHW"),
    "nhwc_buffer_as_nchw_view": lambda said: stored(said, "NHWC", "NCHW"),
    "padded_strides": padded,
    "element_offset": element_offset,
    "read_logical_order": read_out,
    "write_into_layout": written_into,
    "classify": classified,
    "equivalent": lambda said: bool(described(said["a"]).same_view(described(said["b"]))),
    "permute": lambda said: shown(described(said).permute(*said["axes"])),
    "gather_axes_ort": lambda said: shown(described(said).gather_axes_like_onnx_runtime(said["axes"])),
    "simplify_transpose": simplified,
    "transpose_as_output_strides": lambda said: list(directml.transpose_as_output_strides(said["sizes"], said["axes"])),
    "broadcast_strides_ort": lambda said: list(
        directml.broadcast_strides_like_onnx_runtime(said["source"], said["target"])
    ),
    "broadcast_to": lambda said: shown(described(said).broadcast_to(said["to"], said.get("ignore_tail"))),
    "collapse_pair": collapsed,
    "ensure_min_rank": lambda said: shown(described(said).with_min_rank(said["rank"], said["align"])),
    "place_at_axes": lambda said: shown(described(said).place_at_axes(said["rank"], said["axes"])),
    "align_dimensions": lambda said: list(
        directml.align_dimensions(said["sizes"], said["min_rank"], said["left_aligned"], said["placement"])
    ),
    "coerce_2d": lambda said: list(directml.coerce_to_2d(said["sizes"], said["axis"])),
    "scatter_to_nchw": lambda said: shown(described(said).scatter(said["layout"])),
    "axes_for_rank": lambda said: directml.axes_for_rank(said["format"], said["rank"]),
    "merge_leading": lambda said: shown(described(said).fold(said["rank"], "leading")),
    "fold_dims": folded,
    "collapsible": lambda said: described(said).collapse() is None,
    "reinterpret": reinterpreted,
    "validate": validated,
    "fits_in_storage": fits,
    "enum_and_bits": lambda said: {
        "value": directml.data_type_number(said["name"]),
        "bits": directml.data_type_bits(said["name"]),
    },
    "pack_nibbles": nibbles,
    "force_unsigned": lambda said: directml.force_unsigned(said["dtype"]),
    "max_dimension_count": lambda said: directml.max_dimension_count(said["target"]),
    "constant": lambda said: getattr(directml, said["name"].removeprefix("DML_")),
    "feature_level_value": lambda said: directml.feature_level_number(said["name"]),
}
OTHERS = {"coords_from_linear"}
"""Operations that are of layouts, not of descriptors."""


@pytest.mark.parametrize("case", [case for case in CASES if case["op"] not in OTHERS], ids=lambda case: str(case["id"]))
def test_every_fact_comes_out(case: dict[str, Any]) -> None:
    expected = case["expected"]
    try:
        found = ANSWERS[case["op"]](case["input"])
    except LayoutError as error:
        found = f"error: {error}"
    if isinstance(expected, str) and expected.startswith("error"):
        assert isinstance(found, str) and found.startswith("error")
        # Python counts dimensions from the end as well, and says so.
        assert expected.removeprefix("error").removeprefix(": ") in found or "accepted: -3 to 2" in found
    else:
        assert found == expected


def test_the_table_was_seen() -> None:
    assert len(CASES) == 114


@st.composite
def descs(draw: st.DrawFn) -> BufferTensorDesc:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    strides = draw(st.none() | st.lists(st.integers(0, 60), min_size=len(sizes), max_size=len(sizes)))
    name = draw(st.sampled_from(directml.data_types()))
    desc = BufferTensorDesc(data_type=name, sizes=sizes, strides=strides)
    if draw(st.booleans()):
        desc = desc.with_declared_total(desc.minimum_bytes + 4 * draw(st.integers(0, 9)))
    if draw(st.booleans()):
        desc = desc.with_alignment(draw(st.sampled_from([0, 8, 16, 256])))
    return desc.with_flags(draw(st.sampled_from(["NONE", "OWNED_BY_DML"])))


@given(descs())
def test_a_descriptor_is_written_and_pickled_as_itself(desc: BufferTensorDesc) -> None:
    names = {"tilework": tilework}
    raw = desc.to_desc()
    for other in (
        eval(repr(desc), names),
        pickle.loads(pickle.dumps(desc)),
        BufferTensorDesc(str(desc)),
        BufferTensorDesc(desc.to_json()),
        BufferTensorDesc(desc.to_dict()),
        BufferTensorDesc(raw),
        raw.build(),
    ):
        assert other == desc and hash(other) == hash(desc)
    for again in (eval(repr(raw), names), pickle.loads(pickle.dumps(raw)), Desc(desc), Desc(raw.to_dict())):
        assert again == raw and hash(again) == hash(raw)
    assert directml.check(desc) == raw.check() == []


@given(descs())
def test_the_layout_of_a_descriptor_is_the_dot_product_of_index_and_strides(desc: BufferTensorDesc) -> None:
    layout = desc.layout()
    index = np.indices(desc.sizes)
    expected = np.tensordot(np.array(desc.effective_strides), index, 1)
    np.testing.assert_array_equal(layout.offsets(), expected)
    assert desc.minimum_elements == expected.max() + 1
    last = [size - 1 for size in desc.sizes]
    assert desc.offset(last) == layout.offset(last) == expected.max()
    assert layout == tw.Layout(str(desc)) == tw.Layout(desc.to_dict())
    words = desc.words()
    places, counts = np.unique(expected, return_counts=True)
    assert words.overlaps in (None, bool((counts > 1).any()))
    assert words.gaps == (len(places) < desc.minimum_elements)
    assert words.elements == expected.size and words.minimum_elements == desc.minimum_elements
    bits = directml.data_type_bits(desc.data_type)
    assert desc.minimum_bytes == -(-desc.minimum_elements * bits // 32) * 4
    assert desc.size_terms(64).needs == 64 + desc.total_bytes
    assert layout.dtype == desc.dtype


@given(descs(), st.data())
def test_views_see_what_numpy_sees(desc: BufferTensorDesc, data: st.DataObject) -> None:
    desc = desc.without_declared_total()
    expected = desc.layout().offsets()
    order = data.draw(st.permutations(range(desc.rank)))
    np.testing.assert_array_equal(desc.permute(*order).layout().offsets(), expected.transpose(order))

    dim = data.draw(st.integers(0, desc.rank - 1))
    start = data.draw(st.integers(0, desc.sizes[dim] - 1))
    stop, step = data.draw(st.integers(start + 1, desc.sizes[dim])), data.draw(st.integers(1, 3))
    view = desc.slice(dim - desc.rank, start, stop, step)
    cut = expected[(slice(None),) * dim + (slice(start, stop, step),)]
    np.testing.assert_array_equal(view.desc.layout().offsets() + view.offset, cut)

    flat = desc.reshape(-1)
    if isinstance(flat, CopyNeeded):
        assert flat.dims[0] < flat.dims[1] and flat.stride != flat.wanted and not flat
    else:
        np.testing.assert_array_equal(flat.layout().offsets(), expected.ravel())
    np.testing.assert_array_equal(desc.coalesce().layout().offsets().ravel(), expected.ravel())

    if desc.rank < 8:
        larger = desc.unsqueeze(0).broadcast_to((3, *desc.sizes))
        np.testing.assert_array_equal(larger.layout().offsets(), np.broadcast_to(expected, (3, *desc.sizes)))
    np.testing.assert_array_equal(desc.with_min_rank(5).layout().offsets().reshape(expected.shape), expected)
    back = BufferTensorDesc.of_layout(desc.layout(), desc.data_type)
    assert back.offset == 0 and back.desc.same_view(desc)


def test_what_is_wrong_is_said_in_fields() -> None:
    desc = Desc("FLOAT16 [5,55] strides [9,3] total 123 alignment 5")
    small, uneven = desc.check("6_4")
    assert (small.rule, small.field, small.index) == ("TotalTensorSizeTooSmall", "TotalTensorSizeInBytes", None)
    assert (small.value, small.limit, small.legal) == ("123", "400 or more", "400")
    assert (uneven.value, uneven.legal) == ("5", "8")
    assert small.sentence in str(small) and repr(small) == f"<{small}>" and small != uneven
    with pytest.raises(LayoutError, match="TotalTensorSizeInBytes"):
        desc.build()
    wide = Desc(data_type="FLOAT32", sizes=(1, 2**32, -1))
    assert [(found.rule, found.index) for found in wide.check()] == [("SizeRange", 1), ("SizeRange", 2)]


def test_a_binding_is_checked_with_its_tensor() -> None:
    desc = "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]"
    found = directml.check(desc, offset=4 * 50177, buffer_bytes=612912)
    assert [violation.field for violation in found] == ["Offset", "BufferBytes"]
    assert found[1].value == "offset 200708 + 611096 = 811804"
    assert [v.rule for v in directml.check(desc, range_bytes=611092)] == ["BindingRange"]
    assert directml.check(desc, offset=16, range_bytes=611096, buffer_bytes=611112) == []


def test_feature_levels_limit_types_and_dimensions() -> None:
    desc = {"DataType": "INT4", "Sizes": [1, 2, 3, 4, 5, 6]}
    rules = {level: [found.rule for found in directml.check(desc, level)] for level in directml.feature_levels()}
    assert rules["1_0"] == ["DataTypeFeatureLevel", "DimensionCount"]
    assert rules["5_2"] == ["DataTypeFeatureLevel"] and rules["6_3"] == rules[directml.LATEST] == []
    assert directml.check(desc, 0x5200) == directml.check(desc, "5.2") == directml.check(desc, "DML_FEATURE_LEVEL_5_2")
    assert directml.min_dimension_count("2_1") == 4 and directml.min_dimension_count("3_0") == 1


def test_types_are_known_by_every_name() -> None:
    for kind in ("FLOAT16", "DML_TENSOR_DATA_TYPE_FLOAT16", "float16", "f16", np.float16, np.dtype("f2"), 2):
        assert BufferTensorDesc(data_type=kind, sizes=(2,)).data_type == "FLOAT16"
    assert BufferTensorDesc(data_type=ml_dtypes.int4, sizes=(2,)).data_type == "INT4"
    assert Desc(data_type="BFLOAT16", sizes=(2,)).check()[0].rule == "UnknownDataType"
    assert Desc(data_type=99, sizes=(2,)).data_type == "99"
    for bad in (bool, "BFLOAT16", 0):
        with pytest.raises(LayoutError, match="FLOAT32"):
            directml.data_type_bits(bad)


@given(st.text(max_size=30), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3), st.integers(0, 2**32 - 1))
def test_what_is_wrong_is_kept_as_it_was_written(name: str, sizes: list[int], flags: int) -> None:
    desc = Desc(data_type=name, sizes=sizes, flags=flags)
    assert eval(repr(desc), {"tilework": tilework}) == desc == pickle.loads(pickle.dumps(desc))
    assert desc.sizes == tuple(sizes) and desc.flags == flags
    assert json.loads(desc.to_json()) == desc.to_dict()


def test_descriptors_are_found_in_a_file() -> None:
    text = (
        '{"a": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [1]}, "b": [{"DataType": "INT8", "Sizes": ["x"]}]}'
    )
    first, second = directml.read_json(text)
    assert (first.path, first.desc.strides, first.errors) == ("a", (1,), ())
    assert [found.rule for found in first.check()] == ["StridesCount"]
    assert len(second.errors) == 1 and second.check() == []
    assert text[slice(*first.span)].startswith('{"DataType"')


def test_a_policy_may_be_a_function() -> None:
    seen: list[tuple[str, str, tuple[int, ...]]] = []

    def policy(data_type: str, flags: str, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], int, int]:
        seen.append((data_type, flags, sizes))
        return directml.interleaved_channel_strides(sizes), 64, 16

    desc = BufferTensorDesc.by_policy(policy, "FLOAT16", (1, 2, 3), flags="OWNED_BY_DML")
    assert str(desc) == "FLOAT16 [1,2,3] strides [6,1,2] total 64 alignment 16 flags OWNED_BY_DML"
    assert seen == [("FLOAT16", "OWNED_BY_DML", (1, 2, 3))]
    assert BufferTensorDesc.by_policy("default", "INT8", (4,)) == BufferTensorDesc("INT8 [4]")
    with pytest.raises(ZeroDivisionError):
        BufferTensorDesc.by_policy(lambda *_: 1 // 0, "INT8", (4,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="strides, a total and an alignment"):
        BufferTensorDesc.by_policy(lambda *_: ((1,), None), "INT8", (4,))  # type: ignore[arg-type]


def test_remarks_are_about_what_is_legal() -> None:
    repeated = BufferTensorDesc("UINT8 [2,3] strides [0,1]")
    assert any("collide" in remark for remark in repeated.remarks(output=True))
    assert BufferTensorDesc("UINT8 [2,3]").remarks() == []


def test_an_error_points_into_the_text_or_names_the_field() -> None:
    with pytest.raises(LayoutError) as caught:
        Desc("FLOAT32 [2,x]")
    assert caught.value.span == (11, 12) and "^" in str(caught.value)
    with pytest.raises(LayoutError) as caught:
        Desc({"DataType": "FLOAT32", "Sizes": [2, 3], "Stride": [3, 1]})
    assert caught.value.text is not None and "Stride" in str(caught.value)
