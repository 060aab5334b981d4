"""Layouts in other notations, and the code among them against the libraries that run it."""

from __future__ import annotations

from typing import Any

import einops
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework as tw

TILED = "f32[3,5]{1,0:T(2,2)}"


def test_one_name_gives_a_text_and_several_a_dict() -> None:
    assert tw.translate("f32[3,5]{0,1}", "numpy") == "float32 (3, 5) strides (4, 12)"
    texts = tw.translate("f32[3,5]{0,1}", ["jax", "torch"])
    assert list(texts) == ["jax", "torch"] and texts.reasons == {}
    every = tw.translate(TILED)
    assert {"xla", "jax", "mlir", "memref", "numpy", "recipe"} <= every.keys()
    assert "directml" in every.reasons and "directml" not in every
    assert tw.translate(TILED, ()) == {}
    for name, text in every.items():
        assert tw.Layout(text) == tw.Layout(TILED), name


def test_whatever_makes_a_layout_is_translated() -> None:
    array = np.zeros((3, 5), np.float32).T
    for x in [array, tw.Layout(array), "f32[5,3]{0,1}", tw.Layout("f32[3,5]").T]:
        assert tw.translate(x, "torch") == "torch.float32 [5, 3] strides [1, 5]"
    part = tw.Layout("f32[8,8]")[2:4, ::2]
    assert tw.Layout(tw.translate(part, "numpy")) == part


def test_what_cannot_be_said_is_an_error_with_the_reason() -> None:
    with pytest.raises(tw.LayoutError, match="dimension 0 changes its stride"):
        tw.translate(TILED, "directml")
    with pytest.raises(tw.LayoutError, match=r"no notation `torhc`.*did you mean torch"):
        tw.translate(TILED, "torhc")
    wrong: Any = 3
    with pytest.raises(TypeError, match="name of a notation"):
        tw.translate(TILED, wrong)
    with pytest.raises(tw.LayoutError, match="not an array"):
        tw.translate("token[]", "xla")


def run(text: str, **names: Any) -> Any:
    """What code evaluates to."""
    return eval(text, {"np": np, "rearrange": einops.rearrange, **names})


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """Arrays in some order of their dimensions, with tiles."""
    dims = draw(st.lists(st.integers(1, 9), max_size=3))
    order = draw(st.permutations(range(len(dims))))
    tiles = ""
    for _ in range(draw(st.integers(0, 2))):
        sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4, 8]), min_size=1, max_size=max(len(dims), 1)))
        tiles += f"({','.join(map(str, sizes))})"
    braces = f"{','.join(map(str, order))}{':T' + tiles if tiles else ''}"
    return f"f32[{','.join(map(str, dims))}]" + (f"{{{braces}}}" if braces else "")


@given(layouts())
def test_code_makes_the_buffer(text: str) -> None:
    layout = tw.Layout(text)
    x = np.arange(1, layout.size + 1, dtype=np.float32).reshape(layout.shape)
    buffer = tw.pack(x, layout, fill="zero")
    texts = tw.translate(layout, ["recipe", "einops"])
    for name, code in texts.items():
        made = run(code, x=x)
        assert np.array_equal(np.ravel(made), buffer), (name, code)
    if "recipe" in texts.reasons:
        why = texts.reasons["recipe"]
        assert "quotients" in why or "cut at" in why, why
    if "recipe" in texts and "einops" not in texts:
        assert "padding" in texts.reasons["einops"] or "ends with" in texts.reasons["einops"], texts.reasons


@pytest.mark.parametrize(
    "text",
    [
        "f32[2,3]{strides(0,1)}",
        "f32[2,3]{strides(3,-1)}",
        "f32[2,3]{strides(-1,0),base(4),size(16)}",
        "f32[3,5]{strides(2,1)}",
        "s16[4]{strides(-3)}",
    ],
)
def test_code_sees_the_array_in_a_buffer(text: str) -> None:
    layout = tw.Layout(text)
    code = tw.translate(layout, "recipe")
    assert code.startswith("np.lib.stride_tricks.as_strided(buffer")
    buffer = np.arange(layout.allocated, dtype=layout.dtype)
    seen = run(code, buffer=buffer)
    assert seen.shape == layout.shape
    assert np.array_equal(seen, layout.offsets())


@given(layouts())
def test_strides_are_those_of_an_array(text: str) -> None:
    layout = tw.Layout(text)
    said = tw.translate(layout, "numpy")
    if "strides" in said and "pad" not in said:
        array = np.zeros(layout.allocated, np.float32)
        strides = eval(said.split("strides ")[1])
        view = np.lib.stride_tricks.as_strided(array, layout.shape, strides)
        assert tw.Layout(view) == layout


def test_code_of_torch_makes_the_buffer() -> None:
    torch = pytest.importorskip("torch")
    for text in [TILED, "f32[3,5]{0,1}", "f32[2,3,4]{0,2,1:T(2,2)}", "f32[]{:T(8)}", "f32[1,7]{1,0:T(4,4)}"]:
        layout = tw.Layout(text)
        x = np.arange(1, layout.size + 1, dtype=np.float32).reshape(layout.shape)
        code = tw.translate(layout, "torch")
        if "x:" in code:
            made = run(code, torch=torch, x=torch.tensor(x))
            assert np.array_equal(made.numpy().ravel(), tw.pack(x, layout, fill="zero")), code
