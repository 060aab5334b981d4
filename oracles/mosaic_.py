"""Mosaic, as jaxlib brings it: the affine maps that it makes of tiled layouts of memrefs."""

from __future__ import annotations

import math
import random

import jaxlib
from jaxlib.mlir import ir
from jaxlib.mosaic.python import tpu

from affine import evaluated
from common import Check, Integers, Run, order_text, shape, tiled

CONTEXT = ir.Context()
tpu.register_dialect(CONTEXT)


def version() -> str:
    return f"Mosaic of jaxlib {jaxlib.version.__version__}"


def places(text: str, dims: tuple[int, ...]) -> Integers:
    with CONTEXT, ir.Location.unknown():
        return evaluated(ir, ir.MemRefType(ir.Type.parse(text)).affine_map, dims)[0]


def tile(draw: random.Random, rank: int) -> list[int]:
    return [draw.choice((1, 2, 2, 4, 8, 16)) for _ in range(draw.randint(1, rank))]


def words(draw: random.Random) -> tuple[str, tuple[int, ...]]:
    """A memref with one or two levels of tiles, and gaps between its tiles."""
    dims = shape(draw, (1, 2, 3), 20)
    first = tile(draw, len(dims))
    tiles = [first]
    if draw.random() < 0.4:  # a second tile that divides the first
        count = draw.randint(1, len(first))
        tiles.append([draw.choice([part for part in (1, 2, 4) if size % part == 0]) for size in first[-count:]])
    cuts = [1] * (len(dims) - len(first)) + first
    strides, stride = [0] * len(dims), 1
    order = draw.sample(range(len(dims)), len(dims)) if draw.random() < 0.3 else range(len(dims) - 1, -1, -1)
    for dim in order:
        strides[dim] = stride
        stride *= math.ceil(dims[dim] / cuts[dim]) + draw.choice((0, 0, 0, 1))
    between = "".join(f"({order_text(sizes)})" for sizes in tiles)
    sizes = "x".join(map(str, dims))
    return f"memref<{sizes}xf32, #tpu.tiled<{between},[{order_text(strides)}]>>", dims


def reads(run: Run) -> None:
    for _ in run.draws(0.5):
        text, dims = words(run.random)
        run.same(text, places(text, dims))


def says(run: Run) -> None:
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "mosaic") if layout.rank else None
        if text is None:
            continue
        run.same(text, places(text, layout.dims), layout=layout)


CHECKS = [
    Check("mosaic", "`#tpu.tiled`, by the affine map that Mosaic makes", reads),
    Check("mosaic", "`#tpu.tiled` said, by the affine map that Mosaic makes", says),
]
