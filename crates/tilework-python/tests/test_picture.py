"""Pictures: they are XML, say what layouts say, and refuse what they do not know."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import tilework as tw
from tilework import xla

TILED = "f32[3,5]{1,0:T(2,2)}"
SVG = "{http://www.w3.org/2000/svg}"


def cells(svg: str, part: str) -> list[tuple[int, tuple[int, ...]]]:
    """The offset and the index of each element of a part."""
    root = ET.fromstring(svg)
    parts = [group for group in root.iter(f"{SVG}g") if (group.get("class") or "").split()[:1] == [part]]
    found = [cell for group in parts for cell in group.iter(f"{SVG}g") if cell.get("class") == "cell"]
    places = [(cell.attrib["data-o"], cell.attrib["data-i"]) for cell in found]
    return [(int(o), tuple(int(i) for i in index.split(",")) if index else ()) for o, index in places]


@pytest.mark.parametrize(
    "text", [TILED, "bf16[4,8]{1,0:T(2,4)(2,1)}", "f32[7]{0:T(3)(2)}", "f32[2,3]{strides(-5,1),base(9)}", "f32[]"]
)
def test_every_element_of_a_picture_is_where_the_layout_says(text: str) -> None:
    layout = tw.Layout(text)
    for part in ("array", "memory"):
        found = cells(layout.svg(), part)
        assert len(found) == layout.elements
        assert all(layout.offset(*index) == offset for offset, index in found)


def test_what_a_picture_shows_can_be_chosen() -> None:
    layout = tw.Layout("f32[2,3,4]")
    svg = layout.svg(width=400, theme="dark", views=["array"], slice=[1, None, None])
    assert ET.fromstring(svg).get("width") == "400" and not cells(svg, "memory")
    assert {index[0] for _, index in cells(svg, "array")} == {1}
    assert "prefers-color-scheme" in layout.svg() and "prefers-color-scheme" not in svg
    # A notebook is dark by its own theme, and says so.
    assert "[data-jp-theme-light=false] .tilework" in layout._repr_html_()
    assert cells(layout.svg(views="memory"), "memory")
    named = tw.Layout("f32[2,3]", names=["rows", "columns"]).svg()
    assert ">rows \\ columns<" in named


def test_plans_comparisons_and_shapes_have_pictures() -> None:
    layout = tw.Layout(TILED)
    both = layout.compare("{1,0}")
    assert (both.a.text, both.b.text) == (TILED, "f32[3,5]{1,0}")
    assert not both.function and not both.buffer and not both.reshape and not both.transpose
    assert "to get B from A" in str(both) and repr(both).startswith("<comparison of tilework.Layout(")
    assert max(len(line) for line in both.report(width=40).splitlines()) <= 40
    things: list[Any] = [layout, both, layout.plan("f32[3,5]"), xla.Shape(TILED), layout[1:]]
    for thing in things:
        assert cells(thing.svg(), "array") and cells(thing._repr_svg_(), "memory")
        assert thing._repr_html_().count("<svg") == 1 and "<pre" not in thing._repr_html_()
        png = thing.png(width=300, scale=1)
        assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", png[16:20]) == (300,)
    for shape in ("(f32[2], f32[3])", "token[]", "f32[<=8,?]"):
        assert xla.Shape(shape)._repr_svg_() is None and xla.Shape(shape)._repr_html_() is None
    assert "<pre" not in tw.Layout("f32[0,3]")._repr_html_()


def test_a_view_is_compared_by_a_text_of_its_own() -> None:
    both = tw.Layout("f32[4,6]")[1:, ::2].compare("f32[3,3]")
    assert not both.function and "strides(6,2)" in str(both)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"theme": "blue"}, tw.LayoutError, "auto, light, dark"),
        ({"views": ["array", "x"]}, tw.LayoutError, "registers"),
        ({"width": -1}, tw.LayoutError, "width"),
        ({"width": 1.5}, TypeError, "integer"),
        ({"slice": [0, -1]}, tw.LayoutError, "slice"),
        ({"slice": 3}, TypeError, "no len"),
    ],
)
def test_what_no_picture_can_be_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tw.Layout(TILED).svg(**arguments)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e9, float("nan")])
def test_a_scale_has_limits(scale: float) -> None:
    with pytest.raises(tw.LayoutError, match="scale"):
        tw.Layout(TILED).png(scale=scale)


def test_names_stay_text() -> None:
    html = tw.Layout("f32[2,3]", names=["a", "b"])._repr_html_()
    assert not re.search(r"<script|onload|javascript:", html)
    ET.fromstring(tw.Layout(TILED).svg())
