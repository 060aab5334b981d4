"""Layouts, their questions and their views, compared with NumPy on random input."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework
import tilework as tw
from recipes import Case, cases


@given(cases())
def test_offsets_are_those_of_pad_reshape_transpose(case: Case) -> None:
    layout = tw.Layout(case.text)
    assert layout.allocated == len(case.memory())
    assert layout.dims == layout.shape == case.dims
    assert layout.element == case.element
    np.testing.assert_array_equal(layout.offsets(), case.offsets())


@given(cases())
def test_sizes_and_padding_are_those_of_the_recipe(case: Case) -> None:
    layout, memory = tw.Layout(case.text), case.memory()
    padding = int((memory < 0).sum())
    assert (layout.padding, layout.elements) == (padding, len(memory) - padding)
    assert layout.nbytes == -(-len(memory) * layout.bits // 8)
    assert layout.waste == -(-padding * layout.bits // 8)
    assert layout.is_packed == (padding == 0)
    assert layout.is_injective is True
    if layout.elements:
        assert layout.is_broadcast is False


@given(cases())
def test_locate_is_the_inverse_of_offset_and_padding_has_a_cause(case: Case) -> None:
    layout = tw.Layout(case.text)
    for offset, number in enumerate(case.memory()[:500]):
        found = layout.locate(offset)
        if number < 0:
            assert isinstance(found, tw.Padding)
            assert found.cause
        else:
            assert isinstance(found, tuple)
            assert found == tuple(int(at) for at in np.unravel_index(number, case.dims))
            assert layout.offset(*found) == layout.offset(found) == offset


@given(cases())
def test_a_layout_is_written_copied_and_pickled_as_itself(case: Case) -> None:
    layout = tw.Layout(case.text)
    text = layout.text
    assert text is not None and str(layout) == text
    for same in (tw.Layout(text), evaluated(layout), copy.copy(layout), copy.deepcopy(layout), tw.Layout(layout)):
        assert (same == layout, hash(same) == hash(layout), repr(same)) == (True, True, repr(layout))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(layout, protocol)) == layout


def evaluated(layout: tw.Layout) -> tw.Layout:
    made = eval(repr(layout), {"tilework": tilework})
    assert isinstance(made, tw.Layout)
    return made


@given(cases(), cases())
def test_layouts_are_equal_when_their_elements_dimensions_places_and_sizes_are(a: Case, b: Case) -> None:
    first, second = tw.Layout(a.text), tw.Layout(b.text)
    expected = (a.element, a.dims) == (b.element, b.dims) and a.memory().tolist() == b.memory().tolist()
    assert (first == second) == expected
    assert (first != second) == (not expected)
    if expected:
        assert hash(first) == hash(second)


@st.composite
def keys(draw: st.DrawFn, dims: tuple[int, ...]) -> tuple[Any, ...]:
    """What stands in the brackets of an array: numbers, slices and perhaps an ellipsis."""
    key: list[Any] = []
    for size in dims[: draw(st.integers(0, len(dims)))]:
        if size and draw(st.booleans()):
            key.append(draw(st.integers(-size, size - 1)))
        else:
            key.append(draw(st.slices(size)))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(key)))
        # Behind the ellipsis the last dimensions count, so nothing but slices that fit all of them stands there.
        key = [*key[:at], ..., *(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in key[at:])]
    return tuple(key)


@given(cases(sizes=6), st.data())
def test_brackets_take_what_they_take_of_an_array(case: Case, data: st.DataObject) -> None:
    layout = tw.Layout(case.text)
    key = data.draw(keys(case.dims))
    expected = case.offsets()[key]
    checked(layout[key], np.asarray(expected), layout.allocated)


def checked(view: tw.Layout, expected: Any, size: int) -> None:
    """A view has these offsets in a buffer of this size, and is written and pickled as itself."""
    assert view.dims == expected.shape
    np.testing.assert_array_equal(view.offsets(), expected)
    assert view.allocated <= size or expected.size == 0
    again = evaluated(view)
    assert again == view and hash(again) == hash(view)
    assert pickle.loads(pickle.dumps(view)) == view
    if view.text is not None:
        assert tw.Layout(view.text) == view
    assert "\n" in view.explain() and view._repr_html_().startswith("<div")


@given(cases(sizes=6), st.data())
def test_views_are_those_of_numpy(case: Case, data: st.DataObject) -> None:
    layout, offsets = tw.Layout(case.text), case.offsets()
    for _ in range(data.draw(st.integers(1, 3))):
        layout, offsets = viewed(layout, offsets, data)
        checked(layout, offsets, tw.Layout(case.text).allocated)


def viewed(layout: tw.Layout, offsets: Any, data: st.DataObject) -> tuple[tw.Layout, Any]:
    """One view, drawn, of a layout and of the array of its offsets."""
    rank = offsets.ndim
    verbs = ["permute", "reshape", "broadcast"] + (["flip", "split_dim", "slice"] if rank else [])
    verb = data.draw(st.sampled_from(verbs + (["merge_dims"] if rank > 1 else [])))
    if verb == "permute":
        order = data.draw(st.permutations(range(rank)))
        return layout.permute(*order), offsets.transpose(order)
    if verb == "reshape":
        dims = data.draw(st.sampled_from(factorings(offsets.size)))
        return layout.reshape(dims), offsets.reshape(dims)
    if verb == "broadcast":
        more = data.draw(st.lists(st.integers(1, 3), max_size=1))
        dims = (*more, *(3 if size == 1 else size for size in offsets.shape))
        return layout.broadcast(*dims), np.broadcast_to(offsets, dims)
    dim = data.draw(st.integers(0, rank - (2 if verb == "merge_dims" else 1)))
    size = offsets.shape[dim]
    if verb == "flip":
        return layout.flip(dim), np.flip(offsets, dim)
    if verb == "slice":
        start = data.draw(st.integers(0, size))
        stop, step = data.draw(st.integers(start, size)), data.draw(st.integers(1, 4))
        key = (slice(None),) * dim + (slice(start, stop, step),)
        return layout.slice(dim, start, stop, step), offsets[key]
    if verb == "split_dim":
        inner = data.draw(st.sampled_from([inner for inner in range(1, max(size, 1) + 1) if size % inner == 0]))
        dims = (*offsets.shape[:dim], size // inner, inner, *offsets.shape[dim + 1 :])
        return layout.split_dim(dim, inner), offsets.reshape(dims)
    dims = (*offsets.shape[:dim], size * offsets.shape[dim + 1], *offsets.shape[dim + 2 :])
    return layout.merge_dims(dim), offsets.reshape(dims)


def factorings(count: int) -> list[tuple[int, ...]]:
    """Some dimensions that have so many elements."""
    found: list[tuple[int, ...]] = [(count,), (1, count), (count, 1)]
    for first in range(2, 13):
        if count and count % first == 0:
            found += [(first, count // first), (count // first, first)]
    return found


def test_one_dimension_of_a_reshape_may_be_left_open() -> None:
    layout = tw.Layout("f32[4,6]{1,0:T(2,2)}")
    assert layout.reshape(2, -1).dims == layout.reshape((2, -1)).dims == (2, 12)
    with pytest.raises(tw.LayoutError, match="one dimension may be -1"):
        layout.reshape(-1, -1)


@given(cases())
def test_strides_are_the_steps_between_elements(case: Case) -> None:
    layout, offsets = tw.Layout(case.text), case.offsets()
    strides = layout.strides
    if strides is not None and offsets.size:
        steps = np.array(strides, np.int64).reshape(-1, *(1,) * offsets.ndim) * np.indices(case.dims)
        np.testing.assert_array_equal(offsets, offsets.flat[0] + steps.sum(axis=0))


def test_explain_says_what_the_command_line_says() -> None:
    text = tw.Layout("s32[8388608,8,4]{2,1,0:T(8,128)}").explain()
    assert "dimension 2 is 4, tiled to 128: 32 times" in text
    narrow = tw.Layout("s32[8388608,8,4]{2,1,0:T(8,128)}").explain(width=40)
    assert max(len(line) for line in narrow.splitlines()) <= 40


def test_a_notebook_shows_a_table_and_a_picture_without_a_way_for_text_to_become_markup() -> None:
    html = tw.Layout("f32[3,5]{1,0:T(2,2)}")._repr_html_()
    assert "<td" in html and "dimension 1 is 5, tiled to 6: 1.20 times" in html
    assert "<script" not in html and html.count("<svg") == html.count("</svg>") == 1
    # The colours of dark notebooks, which load nothing.
    assert html.count("<style") == 1 and "@import" not in html and "url(http" not in html


def test_offsets_of_more_elements_than_there_is_memory_for_are_a_memory_error() -> None:
    with pytest.raises(MemoryError, match="no memory for the offsets"):
        tw.Layout("s8[1000000000000000000]").offsets()


BAD: list[tuple[str, type[Exception], str]] = [
    ("layout.offset(3, 0)", tw.LayoutError, "index 3 in dimension 0"),
    ("layout.offset(0, -6)", tw.LayoutError, "index -6 in dimension 1"),
    ("layout.offset(0)", tw.LayoutError, "an index of 1 number"),
    ("layout.offset(0.5, 1)", TypeError, "integer"),
    ("layout.offset(10**30, 0)", tw.LayoutError, "index: 10000"),
    ("layout.locate(24)", tw.LayoutError, "offset 24 in a buffer of 24"),
    ("layout.locate(-1)", tw.LayoutError, "offset: -1"),
    ("layout.locate(10**30)", tw.LayoutError, "offset"),
    ("layout.permute(0, 0)", tw.LayoutError, ""),
    ("layout.permute(0)", tw.LayoutError, ""),
    ("layout.slice(1, 3, 9)", tw.LayoutError, "range 3..9 of dimension 1"),
    ("layout.slice(1, 0, 3, 0)", tw.LayoutError, ""),
    ("layout.slice(2, 0, 1)", tw.LayoutError, "dimension 2 of 2"),
    ("layout.slice(1, -2, 3)", tw.LayoutError, "start: -2"),
    ("layout.slice(1, 0, 2**70)", tw.LayoutError, "stop: 11805"),
    ("layout.flip(2**70)", tw.LayoutError, "dim: 11805"),
    ("layout.explain(-1)", tw.LayoutError, "width: -1"),
    ("layout.flip(-3)", tw.LayoutError, "dimension -3 of 2"),
    ("layout.reshape(4, 4)", tw.LayoutError, "16 elements"),
    ("layout.reshape(2**62, 2**62)", tw.LayoutError, ""),
    ("layout.broadcast(3, 6)", tw.LayoutError, ""),
    ("layout.split_dim(1, 2)", tw.LayoutError, ""),
    ("layout.split_dim(1, 0)", tw.LayoutError, ""),
    ("layout.merge_dims(1)", tw.LayoutError, ""),
    ("layout[0, 0, 0]", tw.LayoutError, "3 indices for 2 dimensions"),
    ("layout[..., ...]", tw.LayoutError, ""),
    ("layout[5]", tw.LayoutError, "index 5 in dimension 0"),
    ("layout['a']", TypeError, ""),
    ("layout[::0]", ValueError, "zero"),
    ("layout.same('{1,0}', 'other')", tw.LayoutError, "'function', 'buffer'"),
    ("layout.same(5)", TypeError, "a layout is made from"),
    ("layout < layout", TypeError, "not supported"),
    ("tw.Layout('f32[3,5]{1,1}')", tw.LayoutError, "stands twice"),
    ("tw.Layout('(f32[2], f32[3])')", tw.LayoutError, "not an array"),
    ("tw.Layout('{1,0}')", tw.LayoutError, "dimensions and type"),
    ("tw.Layout('{1,0}', dims=(3, 5))", tw.LayoutError, "dimensions and type"),
    ("tw.Layout('{1,0}', dims=(3, -5), dtype='f32')", tw.LayoutError, "dims: -5"),
    ("tw.Layout('{1,0}', dims=(3, 2**70), dtype='f32')", tw.LayoutError, ""),
    ("tw.Layout('{1,0}', dims=(3, 0.5), dtype='f32')", TypeError, "integer"),
    ("tw.Layout('{1,0}', dims=(3, 5), dtype='what')", TypeError, "what"),
    ("tw.Layout('{1,0}', dims=(3, 5), dtype=object)", tw.LayoutError, "dtype object"),
    ("tw.Layout.strided((2, 3), (1,), 'f32')", tw.LayoutError, ""),
    ("tw.Layout.strided((1,), (1,), '(1,2')", tw.LayoutError, "dtype '(1,2'"),
    ("tw.Layout.strided((1,), (1,), 'f4,(1,2')", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((1,), (1,), '(-1,)f4')", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((1,), (1,), '\\ud800')", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((1,), (1,), b'(1,2')", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((1,), (1,), [('a', '(1,2')])", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((1,), (1,), {'f': ('f4', 10**30)})", tw.LayoutError, "dtype"),
    ("tw.Layout('{0}', dims=(3,), dtype='(1,2')", tw.LayoutError, "dtype"),
    ("tw.Layout.strided((2**62, 2**62), (1, 1), 'f32')", tw.LayoutError, ""),
    ("tw.Layout.strided((-2, 3), (1, 1), 'f32')", tw.LayoutError, "dims: -2"),
    ("tw.Layout.strided((2, 3), (1, 2**70), 'f32')", tw.LayoutError, ""),
    ("tw.Layout.strided((2, 3), (3, 1), 'f32', base=-1)", tw.LayoutError, "base: -1"),
    ("tw.Layout.strided((2, 3), (3, 1), 'f32', size=2**70)", tw.LayoutError, ""),
    ("tw.Layout.strided((2, 3), (-3, -1), 'f32', base=2**64 - 1)", tw.LayoutError, ""),
    ("tw.Layout({})", tw.LayoutError, ""),
    ("tw.Layout({'DataType': 'FLOAT32'})", tw.LayoutError, ""),
    ("tw.Layout({'Sizes': object()})", TypeError, "a DirectML descriptor holds"),
    ("tw.Layout('')", tw.LayoutError, ""),
    ("tw.Layout('f32[\\ud800]')", UnicodeEncodeError, ""),
]


@pytest.mark.parametrize(("call", "kind", "words"), BAD)
def test_a_mistake_is_an_error_that_says_which(call: str, kind: type[Exception], words: str) -> None:
    names = {"layout": tw.Layout("f32[3,5]{1,0:T(2,2)}"), "tw": tw}
    with pytest.raises(kind) as caught:
        eval(call, names)
    assert words in str(caught.value)


@st.composite
def garbled(draw: st.DrawFn) -> str:
    """A text that a few changes keep from being one of a layout, mostly."""
    text = draw(cases()).text
    for _ in range(draw(st.integers(0, 3))):
        at, more = draw(st.integers(0, len(text))), draw(st.text("[]{}():,*0123456789<=TELSpad-é", max_size=3))
        text = text[:at] + more + text[at + draw(st.integers(0, 3)) :]
    return text


@given(st.one_of(st.text(max_size=40), garbled()))
def test_no_text_does_more_than_raise_a_layout_error(text: str) -> None:
    try:
        layout = tw.Layout(text)
    except tw.LayoutError as error:
        assert error.found and (error.span is None or error.text is not None)
        assert pickle.loads(pickle.dumps(error)).args == error.args
    else:
        assert evaluated(layout) == layout


def test_a_verdict_that_is_not_decided_is_neither_true_nor_false() -> None:
    yes, no = tw.Layout("f32[4]").same("{0}"), tw.Layout("f32[4]").same("f32[5]")
    assert bool(yes) is True and yes.answer is True and yes.reason is None
    assert bool(no) is False and no.answer is False and no.reason


@pytest.mark.parametrize("name", ["u1", "u2", "u4"])
def test_a_name_that_means_bits_to_xla_and_bytes_to_numpy_is_refused(name: str) -> None:
    with pytest.raises(tw.LayoutError, match="bits where NumPy counts bytes"):
        tw.Layout.strided((2, 3), (3, 1), name)
    assert tw.Layout.strided((2, 3), (3, 1), "uint" + name[1:]).element == name
