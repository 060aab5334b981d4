"""NumPy: strides of arrays as it prints them, and code that it runs."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import tilework as tw

from common import Check, Integers, Run, either, numbered, offsets_in, order_text, shape, strided, tiled

TYPES = ("bool", "int8", "uint8", "int16", "float16", "uint16", "int32", "float32", "int64", "float64", "complex64", "complex128")


def version() -> str:
    return f"NumPy {np.__version__}"


def view(draw: random.Random) -> npt.NDArray[Any]:
    """A view of a fresh array: orders, slices with steps of both signs, broadcasts, new axes."""
    dims = shape(draw)
    if draw.random() < 0.03:
        return np.zeros((*dims, 0), draw.choice(TYPES)).transpose(draw.sample(range(len(dims) + 1), len(dims) + 1))
    array = np.zeros(dims, draw.choice(TYPES), order="F" if draw.random() < 0.2 else "C")
    array = array.transpose(draw.sample(range(array.ndim), array.ndim))
    key: list[Any] = []
    for size in array.shape:
        start = draw.randrange(size)
        part = slice(start, draw.randint(start + 1, size), draw.choice((1, 1, 2, 3)))
        flipped = slice(size - 1 - start, None, -draw.choice((1, 2)))
        key.append(draw.choice((slice(None), slice(None), part, flipped)))
        if draw.random() < 0.1:
            key.append(None)
    array = array[tuple(key)]
    if draw.random() < 0.2:
        array = np.broadcast_to(array, (draw.randint(1, 4), *array.shape))
    return array


def places(array: npt.NDArray[Any]) -> tuple[Integers, int]:
    """Where the elements lie, from the first byte that the array uses, by their addresses."""
    low, high = np.lib.array_utils.byte_bounds(array)
    offsets = np.empty(array.shape, np.int64)
    start = array.__array_interface__["data"][0]
    for index in np.ndindex(*array.shape):
        byte = start - low + sum(i * s for i, s in zip(index, array.strides, strict=True))
        # The element itself: a view of one element is where NumPy puts it.
        assert array[(*(slice(i, i + 1) for i in index),)].__array_interface__["data"][0] == low + byte
        offsets[index] = byte // array.itemsize
    return offsets, high - low


def words(array: npt.NDArray[Any]) -> str:
    return f"{array.dtype} {array.shape} strides {array.strides}"


def reads_strides(run: Run) -> None:
    for _ in run.draws():
        array = view(run.random)
        offsets, nbytes = places(array)
        run.same(words(array), offsets, nbytes=nbytes)


def reads_arrays(run: Run) -> None:
    for _ in run.draws():
        array = view(run.random)
        offsets, nbytes = places(array)
        run.same(words(array), offsets, nbytes=nbytes, layout=tw.Layout(array), case="the array itself")


def reads_orders(run: Run) -> None:
    for _ in run.draws():
        dims, order = shape(run.random), run.random.choice("CF")
        array = np.zeros(dims, np.float32, order=order)  # type: ignore[call-overload]
        run.same(f"float32 {dims} order='{order}'", places(array)[0], nbytes=array.nbytes)


def says_strides(run: Run) -> None:
    """The strides that Tilework says, given to NumPy: elements are where they were."""
    for _ in run.draws():
        layout = strided(run.random)
        text = run.say(layout, "numpy")
        found = text and re.fullmatch(r"float32 (\(.*?\))(?: strides (\(.*?\)))?(?: offset (\d+))?", text)
        if not text or not found:
            continue
        buffer = np.arange(layout.allocated, dtype=np.float32)
        strides = eval(found[2]) if found[2] else None
        array = np.ndarray(eval(found[1]), np.float32, buffer, int(found[3] or 0), strides)
        run.same(text, array.astype(np.int64), layout=layout)


def code(text: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What code makes of an array."""
    made = eval(text, {"np": np, "x": array, "buffer": array})
    assert isinstance(made, np.ndarray)
    return made


def recipe(draw: random.Random) -> tuple[str, tuple[int, ...]]:
    """Code that pads, cuts and reorders an array, as people write it, and the array's sizes."""
    dims = shape(draw, (1, 2, 3))
    cuts = [draw.choice((1, 2, 3, 4)) for _ in dims]
    counts = [-(-size // cut) for size, cut in zip(dims, cuts, strict=True)]
    more = [count * cut - size for count, cut, size in zip(counts, cuts, dims, strict=True)]
    pads = ", ".join(f"(0, {after})" for after in more)
    split = [size for pair in zip(counts, cuts, strict=True) for size in pair]
    order = draw.sample(range(len(split)), len(split))
    padded = f"np.pad(x, ({pads},))" if any(more) or draw.random() < 0.3 else "x"
    return f"{padded}.reshape({order_text(split)}).transpose({order_text(order)}).ravel()", dims


FIXED = (
    "np.transpose(x, (1,0)).ravel()",
    "x.swapaxes(0,1).ravel()",
    "x.reshape((2,-1)).T.ravel()",
    "np.ascontiguousarray(x.T)",
    "x.T.ravel()",
    "np.swapaxes(x, 0, 1).ravel()",
    "np.pad(x, 1).ravel()",
    "np.pad(x, (1,2)).ravel()",
    "np.pad(x, ((1,0),(0,2)), mode='constant').ravel()",
    "np.pad(x, ((0,0),(0,2)), constant_values=99).ravel()",
    "x.reshape(2,2,6).transpose(1,0,2).reshape(-1)",
    "x.reshape(2,2,2,3).transpose([0,2,1,3])",
    "np.reshape(x, (2,2,6)).transpose(1,0,2).ravel()",
    "np.pad(x.ravel(), (3,0))",
    "x.transpose().copy()",
    "x.reshape(2,2,6).transpose(-2,0,-1).ravel()",
)


def reads_code(run: Run) -> None:
    run.may_refuse("`T` is not read")
    run.may_refuse("this is no whole number")
    for text in FIXED:
        buffer = code(text, numbered((4, 6)))
        run.same(f"{text}  # x: float32 (4, 6)", offsets_in(buffer, (4, 6)), places=buffer.size)
    for _ in run.draws():
        text, dims = recipe(run.random)
        buffer = code(text, numbered(dims))
        run.same(f"{text}  # x: float32 {dims}", offsets_in(buffer, dims), places=buffer.size)


def says_code(run: Run) -> None:
    for _ in run.draws():
        layout = either(run.random) if run.random.random() < 0.3 else tiled(run.random)
        text = run.say(layout, "recipe")
        if text is None or "buffer" in text.partition("#")[2]:
            continue
        buffer = code(text, numbered(layout.dims))
        run.same(text, offsets_in(buffer, layout.dims), places=buffer.size, layout=layout)


def reads_as_strided(run: Run) -> None:
    for _ in run.draws():
        dims = shape(run.random, (1, 2, 3), 5)
        strides = [run.random.randint(-9, 12) for _ in dims]
        below = sum((size - 1) * stride for size, stride in zip(dims, strides, strict=True) if stride < 0)
        above = sum((size - 1) * stride for size, stride in zip(dims, strides, strict=True) if stride > 0)
        start, room = -below + run.random.randint(0, 3), above + 1
        size = start + room + run.random.randint(0, 3)
        call = f"np.lib.stride_tricks.as_strided(buffer[{start}:], {dims}, {tuple(2 * s for s in strides)})"
        seen = code(call, np.arange(size, dtype=np.int16))
        run.same(f"{call}  # buffer: int16 ({size},)", seen.astype(np.int64))


CHECKS = [
    Check("numpy", "strides that it prints, addresses of elements", reads_strides),
    Check("numpy", "its arrays, addresses of elements", reads_arrays),
    Check("numpy", "order='C' and 'F'", reads_orders),
    Check("numpy", "strides said, made into an array", says_strides),
    Check("numpy (code)", "pad, reshape and transpose, run on an arange", reads_code),
    Check("numpy (code)", "`as_strided`, run on an arange", reads_as_strided),
    Check("numpy (code)", "code said for tiled layouts, run on an arange", says_code),
]
