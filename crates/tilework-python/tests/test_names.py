"""Names of dimensions: where they are said, what keeps them, and taking a layout by name."""

import copy
import pickle

import numpy as np
import pytest

import tilework as tw


def test_names_stand_in_words_and_survive() -> None:
    layout = tw.Layout("f16[6,4,2]{1,2,0}", names="tokens,heads,d")
    assert layout.names == ("tokens", "heads", "d")
    text = layout.explain()
    assert "tokens is 6, heads is 4, d is 2" in text
    assert "(tokens, heads, d) is at 8·tokens + heads + 4·d" in text
    assert eval(repr(layout), {"tilework": tw}).names == layout.names
    for again in (pickle.loads(pickle.dumps(layout)), copy.copy(layout), tw.Layout(layout)):
        assert again.names == layout.names and again == layout
    assert tw.Layout("f32[3]").names is None
    assert layout.with_names(None).names is None
    # They are no part of where elements are.
    assert layout == tw.Layout("f16[6,4,2]{1,2,0}") and hash(layout) == hash(layout.with_names("NHD"))


def test_views_keep_the_names_that_are_still_true() -> None:
    layout = tw.Layout("f16[6,4,2]", names=["N", "H", "D"])
    assert layout.permute(2, 0, 1).names == ("D", "N", "H")
    assert layout.slice(0, 1, 5).names == layout.flip(1).names == ("N", "H", "D")
    assert layout.reshape(24, 2).names is None and layout.merge_dims(0).names is None


def test_a_cache_is_taken_by_name() -> None:
    tokens_first = tw.Layout("f16[6,4,2]", names="NHD")
    heads_first = tw.Layout("f16[4,6,2]", names="HND")
    taken = heads_first.by_name(tokens_first)
    assert taken.names == ("N", "H", "D") and taken.dims == (6, 4, 2)
    array = np.arange(48, dtype=np.float16).reshape(6, 4, 2)
    moved = tw.relayout(array.ravel(), tokens_first, taken)
    assert np.array_equal(np.asarray(moved).reshape(4, 6, 2), array.transpose(1, 0, 2))
    assert heads_first.by_name("N,H,D") == taken


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tw.Layout("f32[3,5]", names="N"), "each dimension has a name"),
        (lambda: tw.Layout("f32[3,5]", names="N,N"), "N is there twice"),
        (lambda: tw.Layout("f32[3,5]").by_name("NH"), "this layout has no names"),
        (lambda: tw.Layout("f32[3,5]", names="NH").by_name("ND"), "the same names"),
        (lambda: tw.Layout("f32[3,5]", names="NH").by_name(tw.Layout("f32[3]")), "the other layout has no names"),
    ],
)
def test_mistakes_are_explained(call: object, message: str) -> None:
    with pytest.raises(tw.LayoutError, match=message):
        call()  # type: ignore[operator]


def test_names_are_texts() -> None:
    with pytest.raises(TypeError, match="names are a text"):
        tw.Layout("f32[3]", names=3)  # type: ignore[arg-type]
