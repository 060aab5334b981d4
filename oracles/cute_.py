"""CuTe, by the pycute of NVIDIA's cutlass: nested layouts, what its algebra makes of them, and swizzles."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.metadata import version as installed
from typing import Any

import pycute

from common import Check, Run
from shapes import dims_of, drawn, every, leaves, of_powers, says, swizzle


def version() -> str:
    return f"pycute of nvidia-cutlass {installed('nvidia-cutlass')}"


def same(run: Run, layout: Any) -> None:
    """As it prints itself."""
    run.same(f"f32 {layout}", every(layout, dims_of(layout.shape)), places=pycute.cosize(layout))


def reads(run: Run) -> None:
    for _ in run.draws():
        same(run, pycute.Layout(*drawn(run.random)))


def compact(run: Run) -> None:
    """Without strides the first mode is the fastest."""
    for _ in run.draws(0.5):
        shape, _ = drawn(run.random)
        layout = pycute.Layout(shape)
        run.same(f"f32 {layout.shape}:{layout.stride}", every(layout, dims_of(shape)), places=pycute.cosize(layout))


def sized(run: Run) -> None:
    """With the sizes of an array before it: modes may have room for more."""
    for _ in run.draws():
        layout = pycute.Layout(*drawn(run.random))
        dims = tuple(run.random.randint(1, size) for size in dims_of(layout.shape))
        run.same(f"f32{list(dims)} {layout}", every(layout, dims))


def algebra(draw: random.Random) -> Any:
    """What an operation makes of two layouts."""
    one, other = (pycute.Layout(*drawn(draw)) for _ in range(2))
    tiler = pycute.Layout(draw.choice((2, 3, 4, 6)), draw.choice((1, 2, 3)))
    operations: tuple[Callable[[], Any], ...] = (
        lambda: pycute.composition(one, other),
        lambda: pycute.coalesce(one),
        lambda: pycute.complement(one, draw.choice((1, 24, 100))),
        lambda: pycute.right_inverse(one),
        lambda: pycute.left_inverse(one),
        lambda: pycute.logical_divide(one, tiler),
        lambda: pycute.zipped_divide(one, tiler),
        lambda: pycute.tiled_divide(one, tiler),
        lambda: pycute.logical_product(one, tiler),
        lambda: pycute.zipped_product(one, tiler),
    )
    return draw.choice(operations)()


def reads_algebra(run: Run) -> None:
    for _ in run.draws(2):
        try:
            layout = algebra(run.random)
        except (AssertionError, ZeroDivisionError):  # what it does not divide
            continue
        # An extent of 0, which pycute makes of a product that does not go up, is no shape of CuTe.
        if 0 < pycute.size(layout) <= 1 << 16 and all(leaves(layout.shape)):
            same(run, layout)


def swizzles(run: Run) -> None:
    for _ in run.draws():
        numbers, offset = swizzle(run.random), run.random.choice((0, 0, 0, 5, 64))
        inner = pycute.Layout(*of_powers(run.random))
        layout = pycute.ComposedLayout(pycute.Swizzle(*numbers), offset, inner)
        offsets = every(layout, dims_of(inner.shape))
        run.same(f"f16 S<{','.join(map(str, numbers))}> o {offset} o {inner}", offsets)


CHECKS = [
    Check("cute", "nested layouts, as it prints them", reads),
    Check("cute", "compact layouts", compact),
    Check("cute", "layouts with the sizes of an array", sized),
    Check("cute", "what its algebra makes", reads_algebra),
    Check("cute", "swizzles of layouts", swizzles),
    Check("cute", "layouts said for tiled ones", lambda run: says(run, pycute.Layout)),
]
