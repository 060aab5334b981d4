"""CuTe, by the package `tensor-layouts`: nested layouts and swizzles."""

from __future__ import annotations

from importlib.metadata import version as installed

import tensor_layouts as real

from common import Check, Run
from shapes import dims_of, drawn, every, of_powers, says, swizzle


def version() -> str:
    return f"tensor-layouts {installed('tensor-layouts')}"


def reads(run: Run) -> None:
    for _ in run.draws():
        shape, stride = drawn(run.random)
        layout = real.Layout(shape, stride)
        run.same(f"f32 {layout}", every(layout, dims_of(shape)), places=real.cosize(layout))


def divided(run: Run) -> None:
    for _ in run.draws():
        layout = real.Layout(*drawn(run.random))
        tiler = real.Layout(run.random.choice((2, 3, 4, 6)), run.random.choice((1, 2, 3)))
        operation = run.random.choice((real.logical_divide, real.zipped_divide, real.logical_product, real.compose))
        try:
            made = operation(layout, tiler)
        except (real.LayoutError, ValueError, AssertionError):  # what it does not divide
            continue
        run.same(f"f32 {made}", every(made, dims_of(made.shape)), places=real.cosize(made))


def swizzles(run: Run) -> None:
    for _ in run.draws():
        numbers = swizzle(run.random)
        inner = real.Layout(*of_powers(run.random))
        layout = real.compose(real.Swizzle(*numbers), inner)
        run.same(f"f16 S<{','.join(map(str, numbers))}> o 0 o {inner}", every(layout, dims_of(inner.shape)))


CHECKS = [
    Check("cute", "nested layouts, as it prints them", reads),
    Check("cute", "quotients, products and compositions", divided),
    Check("cute", "swizzles of layouts", swizzles),
    Check("cute", "layouts said for tiled ones", lambda run: says(run, real.Layout)),
]
