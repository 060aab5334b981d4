"""CuTe's layouts, drawn at random for the libraries that have them."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from common import Integers, Run, tiled

Nested = int | tuple[Any, ...]


def nested(draw: random.Random, depth: int = 0) -> Nested:
    """A shape: an extent, or a tuple of shapes."""
    if depth == 3 or draw.random() < (0.15, 0.55, 0.8)[depth]:
        return draw.choice((1, 2, 2, 3, 4, 5))
    return tuple(nested(draw, depth + 1) for _ in range(draw.randint(1, 3)))


def leaves(shape: Nested) -> Iterator[int]:
    if isinstance(shape, int):
        yield shape
    else:
        for part in shape:
            yield from leaves(part)


def like(shape: Nested, values: Iterator[int]) -> Nested:
    """The same nesting with other numbers."""
    return next(values) if isinstance(shape, int) else tuple(like(part, values) for part in shape)


def drawn(draw: random.Random) -> tuple[Nested, Nested]:
    """A shape and strides: some order of its extents with gaps or without, or any strides."""
    while True:
        shape = nested(draw)
        sizes = list(leaves(shape))
        if math.prod(sizes) <= 4096:
            break
    strides, stride = [0] * len(sizes), 1
    for at in draw.sample(range(len(sizes)), len(sizes)):
        strides[at] = stride
        stride = stride * sizes[at] + draw.choice((0, 0, 0, 1, 3))
    if draw.random() < 0.2:
        strides = [draw.choice((0, 1, 2, 3, 8, 17)) for _ in sizes]
    return shape, like(shape, iter(strides))


def dims_of(shape: Nested) -> tuple[int, ...]:
    """The sizes of the modes of the first level."""
    return tuple(math.prod(leaves(part)) for part in (shape if isinstance(shape, tuple) else (shape,)))


def every(function: Callable[..., int], dims: tuple[int, ...]) -> Integers:
    """What a layout says for every coordinate; each mode counts its own elements."""
    offsets = np.empty(dims, np.int64)
    for index in np.ndindex(*dims):
        offsets[index] = function(*index)
    return offsets


def parts(text: str) -> tuple[tuple[int, int, int] | None, int, Nested, Nested]:
    """The swizzle, the offset, the shape and the strides of what Tilework said."""
    found = re.fullmatch(r"\w+(?:\[[\d,]*\])? (?:S<(\d+),(\d+),(-?\d+)> o (\d+) o )?(\S+):(\S+)", text)
    if found is None:
        raise ValueError(text)
    bits, base, shift, offset, shape, stride = found.groups()
    swizzle = None if bits is None else (int(bits), int(base), int(shift))
    return swizzle, int(offset or 0), eval(shape), eval(stride)


def says(run: Run, make: Callable[[Nested, Nested], Callable[..., int]]) -> None:
    """Layouts that Tilework says, made with the library."""
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "cute") if layout.rank else None
        if text is None:
            continue
        _, _, shape, stride = parts(text)
        run.same(text, every(make(shape, stride), layout.dims), layout=layout)


def swizzle(draw: random.Random) -> tuple[int, int, int]:
    bits = draw.randint(1, 3)
    return bits, draw.randint(0, 4), (bits + draw.randint(0, 2)) * draw.choice((1, 1, 1, -1))


def of_powers(draw: random.Random) -> tuple[Nested, Nested]:
    """A shape of powers of two and compact strides: what people swizzle."""
    sizes = tuple(1 << draw.randint(1, 4) for _ in range(draw.randint(1, 3)))
    strides, stride = [0] * len(sizes), 1
    for at in draw.sample(range(len(sizes)), len(sizes)):
        strides[at] = stride
        stride *= sizes[at]
    return sizes, tuple(strides)
