"""The layouts in any text, and blocks of Pallas kernels."""

from __future__ import annotations

from typing import Any

import pytest

import tilework as tw

TTGIR = """#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
%0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory>
"""


def test_each_layout_of_a_text_is_there_once() -> None:
    found = tw.find("copy f32[3,5]{1,0} to\nf32[3,5]{0,1} and f32[3,5]{1,0}")
    assert [(one.text, one.line, one.start, one.times) for one in found] == [
        ("f32[3,5]{1,0}", 1, 5, 2),
        ("f32[3,5]{0,1}", 2, 22, 1),
    ]
    assert found.is_complete and found[0].notation == "xla" and found[0].reason is None
    assert found[1].layout == tw.Layout("f32[3,5]{0,1}")
    assert "2 different layouts" in str(found) and "<pre" in found._repr_html_()


def test_names_that_lines_define_are_put_in() -> None:
    [one] = tw.find(TTGIR)
    assert one.notation == "triton" and one.layout is not None
    assert one.layout.shape == (64, 64) and "swizzled_shared" in one.text


def test_a_text_without_a_layout_is_an_empty_list() -> None:
    assert tw.find("nothing here") == [] and tw.find("") == []
    assert "no layout" in str(tw.find("nothing here"))
    wrong: Any = 3
    with pytest.raises(TypeError):
        tw.find(wrong)


def test_what_says_too_little_has_a_reason() -> None:
    [one] = tw.find("f32[<=3,5]")
    assert one.layout is not None or one.reason


def test_blocks_are_as_pallas_takes_them() -> None:
    blocks = tw.block("bf16[512,512]", (100, 512))
    assert not blocks and not blocks.legal and blocks.nearest == [(96, 512), (104, 512)]
    assert blocks.to_dict()["legal"] is False and "refuses" in str(blocks)
    assert tw.block(tw.Layout("f32[4,1024,100]"), [None, 8, 100])
    assert tw.block("f32[4,1024,100]", (None, 8, 100)).grid == (4, 128, 1)
    with pytest.raises(tw.LayoutError, match="size 0"):
        tw.block("f32[8,128]", (0, 128))
    with pytest.raises(tw.LayoutError):
        tw.block("f32[8,128]", (8,))
    with pytest.raises(tw.LayoutError, match="-1"):
        tw.block("f32[8,128]", (-1, 128))
    wrong: Any = 8
    with pytest.raises(TypeError):
        tw.block("f32[8,128]", wrong)
