"""JAX on a CPU: `Layout` and `Format` as it prints them, the bytes of its arrays, and what XLA allocates for tiles."""

from __future__ import annotations

import ctypes
import os
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import numpy.typing as npt
import tilework as tw
from jax.experimental.layout import Format, Layout

from common import Check, Run, numbered, offsets_in, order_text, shape, tiled


def version() -> str:
    return f"JAX {jax.__version__}"


def here() -> Any:
    return jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0])


def drawn(run: Run) -> tuple[tuple[int, ...], Layout]:
    """Sizes and a layout without tiles."""
    dims = shape(run.random)
    return dims, Layout(tuple(run.random.sample(range(len(dims)), len(dims))))


def buffer(array: Any) -> npt.NDArray[Any]:
    """The bytes of an array of JAX, where they are."""
    array.block_until_ready()
    size = array.on_device_size_in_bytes()
    raw = (ctypes.c_char * size).from_address(array.unsafe_buffer_pointer())
    return np.frombuffer(raw, array.dtype).copy()


def reads(run: Run) -> None:
    """Arrays with an order of their own: their bytes, by the words that JAX prints for the layout."""
    for _ in run.draws(0.3):
        dims, wanted = drawn(run)
        array = jax.device_put(numbered(dims), Format(wanted, here()))
        memory = buffer(array)
        offsets = offsets_in(memory, dims)
        brackets = f"float32[{order_text(dims)}]"
        run.same(f"{brackets} {array.format.layout}", offsets, nbytes=memory.nbytes)
        run.same(f"{brackets} {array.format}", offsets, nbytes=memory.nbytes)
        again = tw.Layout(array.format, dims=dims, dtype="float32")
        run.same(str(array.format), offsets, nbytes=memory.nbytes, layout=again, case="the object itself")


def says(run: Run) -> None:
    """`Layout(…)` said by Tilework, given to JAX as code."""
    for _ in run.draws(0.3):
        dims = shape(run.random)
        minor = order_text(run.random.sample(range(len(dims)), len(dims)))
        layout = tw.Layout(f"f32[{order_text(dims)}]{{{minor}}}")
        text = tw.translate(layout, "jax")
        made = eval(text.partition(" ")[2], {"Layout": Layout})
        memory = buffer(jax.device_put(numbered(dims), Format(made, here())))
        run.same(text, offsets_in(memory, dims), nbytes=memory.nbytes, layout=layout)


def tiles(run: Run) -> None:
    """Tiles: Tilework's words as code of JAX, what JAX prints, and the text that JAX gives XLA for it."""
    for _ in run.draws():
        layout = tiled(run.random, run.random.choice(("f32", "bf16", "s8")))
        text = run.say(layout, "jax")
        if text is None:  # a tile that its own tile does not divide
            continue
        made = eval(text.partition(" ")[2], {"Layout": Layout})
        brackets = f"{layout.element}[{order_text(layout.dims)}]"
        xla = tw.Layout(brackets + str(made._to_xla_layout(layout.dtype)))
        run.same(f"{brackets} {made}", xla.offsets(), places=xla.allocated)


def divides(tile: tuple[int, ...], first: tuple[int, ...]) -> bool:
    return all(size % part == 0 for size, part in zip(first[::-1], tile[::-1], strict=False))


def allocated(run: Run) -> None:
    """A program with a tiled result is compiled and run. On a CPU, XLA allocates for the tiles and ignores them.

    XLA's size counts the padding of the first tile alone, so later ones divide it here, as in what its compilers choose.
    """
    for _ in run.draws(0.1):
        layout = tiled(run.random)
        text = run.say(layout, "jax")
        if text is None:
            continue
        made = eval(text.partition(" ")[2], {"Layout": Layout})
        first, *more = made.tiling or ((),)
        if not all(len(tile) <= len(first) and divides(tile, first) for tile in more):
            continue
        array = jax.device_put(numbered(layout.dims), Format(made, here()))
        array.block_until_ready()
        run.same(text, None, nbytes=array.on_device_size_in_bytes())


CHECKS = [
    Check("jax", "`Layout` and `Format` of arrays, their bytes", reads),
    Check("jax", "`Layout` said, bytes of the array that JAX makes", says),
    Check("jax", "tiles: against the text that JAX hands XLA", tiles),
    Check("jax", "tiles: bytes that XLA allocates", allocated),
]
