"""TVM: where its layout strings put each index."""

from __future__ import annotations

import random
from importlib.metadata import version as installed

import numpy as np
from common import Check, Integers, Run, order_text, tiled
from tvm import s_tir

FIXED = (
    ((1, 32, 7, 7), "NCHW", "NCHW16c"),
    ((64, 28, 7, 7), "OIHW", "OIHW[4o4i]"),
    ((16, 32, 3, 3), "OIHW", "OIHW16i16o"),
    ((2, 3, 4, 5), "NCHW", "NHWC"),
    ((1, 8, 16, 64), "NCHW", "NCHW8h8w32c"),
)


def version() -> str:
    return f"TVM {installed('apache-tvm')}"


def places(dims: tuple[int, ...], source: str, target: str) -> tuple[Integers, int]:
    """The place of each index, in row-major order of the new shape."""
    mapping = s_tir.sbijective_layout(source, target)
    sizes = [int(size) for size in mapping.forward_shape(list(dims))]
    offsets = np.empty(dims, np.int64)
    for index in np.ndindex(*dims):
        where = [int(i) for i in mapping.forward_index(list(index))]
        offsets[index] = np.ravel_multi_index(where, sizes)
    return offsets, int(np.prod(sizes))


def drawn(draw: random.Random) -> tuple[tuple[int, ...], str, str]:
    """Sizes, and two layouts: axes in any order, some cut, some factors in one dimension."""
    axes = draw.sample("NCHWDOI", draw.randint(1, 4))
    dims, inner = [], []
    for axis in axes:
        factor = draw.choice((1, 1, 2, 3, 4))
        dims.append(draw.randint(1, 3) * factor)
        if factor > 1 or draw.random() < 0.1:
            inner.append(f"{factor}{axis.lower()}")
    outer = draw.sample(axes, len(axes))
    if len(inner) > 1 and draw.random() < 0.4:
        inner = [f"[{''.join(inner)}]"]
    words = outer + inner
    if draw.random() < 0.2:  # a factor between the axes, behind its own
        last = words.pop()
        words.insert(draw.randint(len(outer), len(words)), last)
    return tuple(dims), "".join(axes), "".join(words)


def reads(run: Run) -> None:
    for dims, source, target in [*FIXED, *(drawn(run.random) for _ in run.draws(0.5))]:
        offsets, count = places(dims, source, target)
        run.same(f"f32[{order_text(dims)}] {source}->{target}", offsets, places=count)


def says(run: Run) -> None:
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "tvm") if layout.rank else None
        if text is None:
            continue
        source, _, target = text.split()[-1].partition("->")
        offsets, count = places(layout.dims, source, target)
        run.same(text, offsets, places=count, layout=layout)


CHECKS = [
    Check("tvm", "layout strings, by the index map that TVM makes", reads),
    Check("tvm", "layout strings said", says),
]
