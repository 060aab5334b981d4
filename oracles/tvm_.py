"""TVM: where its layout strings put each index."""

from __future__ import annotations

import random
from importlib.metadata import version as installed

import numpy as np
from tvm import s_tir
from tvm.tirx import IndexMap

from common import Check, Integers, Run, order_text, tiled

FIXED = (
    ((1, 32, 7, 7), "NCHW", "NCHW16c"),
    ((64, 28, 7, 7), "OIHW", "OIHW[4o4i]"),
    ((16, 32, 3, 3), "OIHW", "OIHW16i16o"),
    ((2, 3, 4, 5), "NCHW", "NHWC"),
    ((1, 64, 16, 8), "NCHW", "NCHW8h8w32c"),
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
    if len(inner) == 2 and draw.random() < 0.4:  # of three, TVM's index is wrong: see `packs_of_three`
        inner = [f"[{''.join(inner)}]"]
    words = outer + inner
    if inner and "[" not in inner[-1] and draw.random() < 0.2:  # a factor among the axes, behind its own
        last = words.pop()
        words.insert(draw.randint(words.index(last[-1].upper()) + 1, len(words)), last)
    return tuple(dims), "".join(axes), "".join(words)


def reads(run: Run) -> None:
    for dims, source, target in [*FIXED, *(drawn(run.random) for _ in run.draws(0.5))]:
        offsets, count = places(dims, source, target)
        run.same(f"f32[{order_text(dims)}] {source}->{target}", offsets, places=count)


def says(run: Run) -> None:
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "tvm") if layout.rank else None
        if text is None or "lambda" in text:
            continue
        source, _, target = text.split()[-1].rpartition("->")
        source = source or "".join(letter for letter in target if letter.isupper())
        offsets, count = places(layout.dims, source, target)
        run.same(text, offsets, places=count, layout=layout)


def maps_said(run: Run) -> None:
    """Index maps are Python: TVM makes its own of the code, and the sizes besides."""
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "index-map") if layout.rank else None
        if text is None:
            continue
        code = text[text.index("lambda") :]
        index_map = IndexMap.from_func(eval(code))  # noqa: S307 (what Tilework said, not what came from outside)
        sizes = [int(size) for size in index_map.map_shape(list(layout.dims))]
        offsets = np.empty(layout.dims, np.int64)
        for index in np.ndindex(*layout.dims):
            offsets[index] = np.ravel_multi_index([int(i) for i in index_map.map_indices(list(index))], sizes)
        run.same(text, offsets, places=int(np.prod(sizes)), layout=layout)


def packs_of_three(run: Run) -> None:
    """Three factors in one dimension: TVM's index leaves the shape that it gives.

    Of `DHCW[3d1h3w]` the last dimension has 9, and TVM puts index (5, 2, 2, 5) at 20 of it, with 9 for a step of d where
    h and w take 3 places. The other indices are those of a row-major dimension.
    """
    for dims, source, target in (((6, 3, 3, 6), "DHCW", "DHCW[3d1h3w]"), ((9, 8, 9, 1), "HDCO", "OCHD[3h4d3c]")):
        mapping = s_tir.sbijective_layout(source, target)
        sizes = [int(size) for size in mapping.forward_shape(list(dims))]
        offsets = np.empty(dims, np.int64)
        for index in np.ndindex(*dims):
            *where, last = (int(i) for i in mapping.forward_index(list(index)))
            offsets[index] = np.ravel_multi_index(where, sizes[:-1]) * sizes[-1] + last
        text = f"f32[{order_text(dims)}] {source}->{target}"
        run.known_difference("TVM's index of three factors in one dimension is beyond its size", text, offsets)


CHECKS = [
    Check("tvm", "layout strings, by the index map that TVM makes", reads),
    Check("tvm", "three factors in one dimension", packs_of_three),
    Check("tvm", "layout strings said", says),
    Check("tvm", "index maps said, by the map that TVM makes of the code", maps_said),
]
