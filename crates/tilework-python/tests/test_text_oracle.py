"""jaxlib's own parser, printer and protobufs say what the text of a shape is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework as tw
from tilework import xla

client = pytest.importorskip("jaxlib.xla_client")

ELEMENTS = (
    "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 bf16 f64 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 "
    "f8e5m2fnuz f8e4m3fnuz f8e8m0fnu f4e2m1fn c64 c128"
).split()


@st.composite
def splits(draw: st.DrawFn, dims: list[str], order: str) -> str:
    """`SC(..)` that fits the dimensions, or nothing."""
    text = ""
    for physical, dim in enumerate(reversed(order.split(",") if dims and draw(st.integers(0, 3)) == 0 else [])):
        size = int(dims[int(dim)].removeprefix("<="))
        indices = sorted(draw(st.sets(st.integers(1, size - 1), max_size=3))) if size > 1 else []
        if draw(st.booleans()):
            text += f"({physical}:{','.join(map(str, indices))})"
    return f"SC{text}" if text else ""


@st.composite
def arrays(draw: st.DrawFn) -> str:
    """The text of an array as XLA writes it, with every qualifier that a text can have."""
    dims = draw(st.lists(st.sampled_from(["0", "1", "2", "7", "128", "300", "<=5", "<=128"]), max_size=5))
    text = f"{draw(st.sampled_from(ELEMENTS))}[{','.join(dims)}]"
    if draw(st.integers(0, 4)) == 0:
        return text
    order = ",".join(map(str, draw(st.permutations(range(len(dims))))))
    words = ""
    if draw(st.integers(0, 3)) == 0:  # read and forgotten
        level = st.builds("{}{}".format, st.sampled_from("DCSH"), st.sampled_from(["", "+", "~", "+~"]))
        words += f"D({','.join(draw(st.lists(level, max_size=4)))})"
    tiles = draw(st.lists(st.lists(st.sampled_from(["*", "1", "2", "8", "128"]), min_size=1, max_size=4), max_size=3))
    tiles = [[*tile[:-1], "2" if tile[-1] == "*" else tile[-1]] for tile in tiles]  # the last one combines with nothing
    tiles = [tile if len(tile) <= len(dims) else [size for size in tile if size != "*"] for tile in tiles]
    if draw(st.booleans()) and tiles:
        words += "T" + "".join(f"({','.join(tile)})" for tile in tiles)
    if draw(st.integers(0, 3)) == 0:
        words += f"L({draw(st.sampled_from([2, 16, 128]))})"
    if draw(st.integers(0, 3)) == 0:
        words += f"E({draw(st.sampled_from([1, 2, 4, 32]))})"
    if draw(st.integers(0, 3)) == 0:
        words += f"S({draw(st.integers(1, 9))})"
    words += draw(splits(dims, order))
    if draw(st.integers(0, 3)) == 0:
        words += f"M({draw(st.sampled_from([0, 1, 64]))})"
    if not order and not words:
        return text
    return f"{text}{{{order}{':' if words else ''}{words}}}"


shapes = st.recursive(
    st.one_of(arrays(), st.just("token[]"), st.just("opaque[]")),
    lambda inner: st.lists(inner, max_size=3).map(lambda parts: f"({', '.join(parts)})"),
    max_leaves=5,
)


@given(shapes)
def test_the_text_and_the_protobuf_of_a_shape_are_those_of_jaxlib(text: str) -> None:
    ours, theirs = xla.Shape(text), client.Shape(text)
    assert str(ours) == str(theirs)
    assert ours.to_proto() == theirs.to_serialized_proto()
    assert xla.Shape.from_proto(theirs.to_serialized_proto()) == ours


def is_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (ValueError, RuntimeError):
        return False
    return True


@given(
    st.lists(st.sampled_from(["0", "1", "2", "7", "9", "<=5", "?"]), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), max_size=3)), min_size=1, max_size=3),
    st.booleans(),
)
def test_the_splits_that_fit_a_shape_are_those_of_jaxlib(
    dims: list[str], configs: list[tuple[int, list[int]]], turned: bool
) -> None:
    words = "".join(f"({dim}:{','.join(map(str, indices))})" for dim, indices in configs)
    order = range(len(dims)) if turned else reversed(range(len(dims)))
    # jaxlib looks at the layouts within a tuple only.
    text = f"(f32[{','.join(dims)}]{{{','.join(map(str, order))}:SC{words}}})"
    assert is_read(xla.Shape, text) == is_read(client.Shape, text), text


@given(arrays())
def test_the_text_of_a_layout_is_that_of_jaxlib(text: str) -> None:
    assert tw.Layout(text).text == str(client.Shape(text))
