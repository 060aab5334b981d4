"""oneDNN: an arange reordered into every tag that it can make, descriptors with strides, and the lines of its log."""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import dnnl
from common import Check, Integers, Run, Skipped, numbered, offsets_in, order_text, tiled

MOST = 1 << 20
"""The most places of a case."""

LIBRARY = dnnl.Library()
TAGS = LIBRARY.tags()


def version() -> str:
    return f"oneDNN {LIBRARY.version}"


def blocks_of(tag: str) -> dict[int, int]:
    """The product of the inner blocks of each dimension."""
    blocks: dict[int, int] = {}
    for size, letter in re.findall(r"(\d+)([a-l])", tag):
        dim = ord(letter) - ord("a")
        blocks[dim] = blocks.get(dim, 1) * int(size)
    return blocks


def rank_of(tag: str) -> int:
    return len(set(re.sub(r"\d+[a-l]", "", tag).lower()))


def sizes(draw: random.Random, tag: str) -> tuple[int, ...]:
    """Sizes that make whole and cut blocks, of few places."""
    blocks, rank = blocks_of(tag), rank_of(tag)
    while True:
        small = 9 if rank <= 4 else 4 if rank <= 6 else 2
        dims = tuple(
            draw.randint(1, 2 * blocks[dim] + 1) if dim in blocks else draw.randint(1, small) for dim in range(rank)
        )
        if dnnl.places(dims, blocks) <= min(MOST, 4 * max(math.prod(blocks.values()), 1 << 14)):
            return dims


def real(dims: tuple[int, ...], tag: int | str, element: str = "f32") -> tuple[Integers, int]:
    """Offsets of the elements and the bytes of the buffer."""
    described = LIBRARY.of_tag(dims, element, tag)
    return placed(dims, described, element), LIBRARY.nbytes(described)


def placed(dims: tuple[int, ...], described: dnnl.POINTER, element: str = "f32") -> Integers:
    """Where a reorder puts each element. Elements of a byte are numbered digit by digit, in several reorders."""
    if element == "f32":
        return offsets_in(LIBRARY.written(numbered(dims), element, described), dims)
    number, base, total = numbered(dims, np.int64) - 1, 120, math.prod(dims)
    whole, unit = np.ones(1, np.int64), 1
    while total > 0:
        digit = LIBRARY.written((number // unit % base + 1).astype(np.int8), element, described).astype(np.int64)
        whole = whole + (digit - 1) * unit
        full = digit > 0
        total, unit = total // base, unit * base
    return offsets_in(np.where(full, whole, 0), dims)


def reads_tags(run: Run) -> None:
    """Every tag of its enum, with random sizes."""
    refused = 0
    times = max(1, run.wanted // 150)
    for (tag, number), _ in itertools.product(TAGS.items(), range(times)):
        dims = sizes(run.random, tag)
        try:
            offsets, nbytes = real(dims, number)
        except dnnl.Refused:
            refused += 1
            continue
        run.same(f"f32[{order_text(dims)}] {tag}", offsets, nbytes=nbytes)
    run.notes.append(f"{len(TAGS)} tags" + (f", {refused} without a reorder" if refused else ""))


def reads_bytes(run: Run) -> None:
    """Elements of a byte: the same tags."""
    for _ in run.draws(0.3):
        tag = run.random.choice(list(TAGS))
        dims = sizes(run.random, tag)
        try:
            offsets, nbytes = real(dims, TAGS[tag], "s8")
        except dnnl.Refused:
            continue
        run.same(f"s8[{order_text(dims)}] {tag}", offsets, nbytes=nbytes)


def sizes_of_types(run: Run) -> None:
    """What a descriptor takes, for every type."""
    types = LIBRARY.types()
    for _ in run.draws():
        tag, element = run.random.choice(list(TAGS)), run.random.choice(list(types))
        dims = sizes(run.random, tag)
        try:
            nbytes = LIBRARY.nbytes(LIBRARY.of_tag(dims, types[element], TAGS[tag]))
        except dnnl.Refused:
            continue
        run.same(f"dst_{element}::blocked:{tag}::f0 {'x'.join(map(str, dims))}", None, nbytes=nbytes)
    run.notes.append(f"{len(types)} types")


def aliases() -> Iterator[tuple[str, str]]:
    """The aliases of its header and the tags that they stand for."""
    header = Path(sys.prefix, "include/oneapi/dnnl/dnnl_types.h")
    if not header.exists():
        raise Skipped("package onednn-devel is not installed")
    pairs = re.findall(r"^ *dnnl_(\w+) *= *dnnl_(\w+),", header.read_text(), re.MULTILINE)
    names = dict(pairs)
    for alias, tag in names.items():
        while tag in names:
            tag = names[tag]
        if re.fullmatch(r"[a-lA-L]+(\d+[a-l])*", tag) and rank_of(tag) and not alias.startswith("format_"):
            yield alias, tag


def reads_aliases(run: Run) -> None:
    """`nChw8c` and the like, as the header of the newest release names them."""
    count = 0
    for alias, tag in aliases():
        dims = sizes(run.random, tag)
        count += 1
        try:
            offsets, nbytes = real(dims, TAGS.get(tag, tag))
        except dnnl.Refused as error:
            run.differs(f"{alias}: {error}")
            continue
        run.same(f"f32[{order_text(dims)}] {alias}", offsets, nbytes=nbytes)
    run.notes.append(f"{count} aliases")


def reads_log(run: Run) -> None:
    """The descriptors that its log has for reorders, behind them the sizes that the log has too."""
    for _ in run.draws(0.5):
        kind = run.random.choice(("tag", "part", "strides"))
        if kind == "tag":
            tag = run.random.choice(list(TAGS))
            dims = sizes(run.random, tag)
            described = LIBRARY.of_tag(dims, "f32", TAGS[tag])
        elif kind == "part":
            dims, described = part(run.random)
        else:
            dims, strides = gaps(run.random)
            described = LIBRARY.of_strides(dims, "f32", strides)
        try:
            with LIBRARY.log() as lines:
                offsets = placed(dims, described)
        except dnnl.Refused:
            continue
        line = next(line for line in lines if ",exec,cpu,reorder," in line)
        fields = line.partition(",reorder,")[2].split(",")  # implementation, kind, descriptors, attributes, auxiliary
        words, problem = fields[2], fields[5]
        if "," in words or not re.fullmatch(r"[\dx]+", problem):
            run.differs(f"the line has other fields: {line}")
            continue
        target = next(word for word in words.split() if word.startswith(("dst_", "dst:")))
        run.same(f"{target} {problem}", offsets, nbytes=LIBRARY.nbytes(described), case=line)


def part(draw: random.Random) -> tuple[tuple[int, ...], dnnl.POINTER]:
    """The first whole blocks of a blocked array: its strides are those of the whole."""
    tag = draw.choice([tag for tag in TAGS if rank_of(tag) <= 5])
    whole, blocks = sizes(draw, tag), blocks_of(tag)
    dims = tuple(draw.randint(1, -(-size // blocks.get(dim, 1))) * blocks.get(dim, 1) for dim, size in enumerate(whole))
    dims = tuple(min(size, most) for size, most in zip(dims, whole, strict=True))
    return dims, LIBRARY.part(LIBRARY.of_tag(whole, "f32", TAGS[tag]), dims, [0] * len(dims))


def gaps(draw: random.Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes, and strides that leave places between rows."""
    dims = tuple(draw.randint(1, 6) for _ in range(draw.randint(1, 4)))
    strides, stride = [0] * len(dims), 1
    for dim in draw.sample(range(len(dims)), len(dims)):
        strides[dim] = stride
        stride = stride * dims[dim] + draw.choice((0, 0, 1, 3))
    return dims, tuple(strides)


def reads_strides(run: Run) -> None:
    for _ in run.draws():
        dims, strides = gaps(run.random)
        described = LIBRARY.of_strides(dims, "f32", strides)
        letters = "".join(sorted("abcdefghijkl"[: len(dims)], key=lambda x: -strides[ord(x) - ord("a")]))
        text = f"f32[{order_text(dims)}] {letters} strides {'x'.join(map(str, strides))}"
        run.same(text, placed(dims, described), nbytes=LIBRARY.nbytes(described))


def says(run: Run) -> None:
    """Tags that Tilework says for tiled layouts, also those that are in no enum, given to oneDNN."""
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "onednn")
        if text is None or "strides" in text or "size" in text or "padded" in text:
            continue
        tag = text.split()[-1]
        try:
            offsets, nbytes = real(layout.dims, TAGS.get(tag, tag))
        except dnnl.Refused:  # more blocks than it has room for
            continue
        run.same(text, offsets, nbytes=nbytes, layout=layout)


CHECKS = [
    Check("onednn", "every tag, an arange reordered into it", reads_tags),
    Check("onednn", "every alias of the newest header", reads_aliases),
    Check("onednn", "tags with elements of a byte", reads_bytes),
    Check("onednn", "bytes of a descriptor, for each type", sizes_of_types),
    Check("onednn", "strides with gaps", reads_strides),
    Check("onednn", "descriptors of its verbose log", reads_log),
    Check("onednn", "tags said for tiled layouts, reordered into", says),
]
