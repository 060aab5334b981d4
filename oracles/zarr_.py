"""zarr-python: the bytes of chunks and shards on a disk, taken one after the other in the order of the grid."""

from __future__ import annotations

import ast
import json
import math
import os
import random
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import zarr
from zarr.codecs import TransposeCodec

from common import Check, Run, numbered, offsets_in, order_text, shape, tiled

Sizes = tuple[int, ...]
FLOAT = np.dtype("<f4")


@dataclass
class Grid:
    """How an array is kept."""

    dims: Sizes
    chunks: Sizes
    shards: Sizes | None = None
    order: Sizes | None = None
    version: int = 3
    metadata: str = field(default="", init=False)

    def text(self) -> str:
        words = f"f32[{order_text(self.dims)}]"
        words += f" shards {self.shards}" if self.shards else ""
        return words + f" chunks {self.chunks}" + (f" order {self.order}" if self.order else "")

    def write(self) -> npt.NDArray[np.float32]:
        """Has zarr-python write an arange, and reads the files."""
        filters = [TransposeCodec(order=self.order)] if self.order and self.version == 3 else None
        with tempfile.TemporaryDirectory() as folder:
            array = zarr.create_array(
                folder, shape=self.dims, chunks=self.chunks, shards=self.shards, dtype="float32", compressors=None,
                filters=filters or "auto", fill_value=0, zarr_format=3 if self.version == 3 else 2,
                order=None if self.version == 3 else "F" if self.order else "C",
            )  # fmt: skip
            array[...] = numbered(self.dims)
            self.metadata = Path(folder, "zarr.json" if self.version == 3 else ".zarray").read_text()
            whole = self.shards or self.chunks
            counts = [-(-size // part) for size, part in zip(self.dims, whole, strict=True)]
            parts = [self.part(folder, index) for index in np.ndindex(*counts)]
        return np.concatenate(parts)

    def part(self, folder: str, index: Sizes) -> npt.NDArray[np.float32]:
        name = ("c/" + "/".join(map(str, index))) if self.version == 3 else ".".join(map(str, index))
        data = Path(folder, name).read_bytes() if os.path.exists(os.path.join(folder, name)) else b""
        if self.shards is None:
            return np.frombuffer(data, FLOAT) if data else np.zeros(math.prod(self.chunks), FLOAT)
        # Behind a shard stands where each of its chunks is, in row-major order, and a checksum. Their order in the shard
        # is the writer's choice: zarr-python's is Morton's. A chunk without elements is missing.
        count = math.prod(shard // chunk for shard, chunk in zip(self.shards, self.chunks, strict=True))
        places = np.frombuffer(data[-16 * count - 4 : -4], "<u8").reshape(count, 2) if data else np.full((count, 2), -1)
        size = 4 * math.prod(self.chunks)
        found = [data[int(start) : int(start) + size] if int(length) == size else bytes(size) for start, length in places]
        return np.frombuffer(b"".join(found), FLOAT)


def drawn(draw: random.Random) -> Grid:
    dims = shape(draw, (1, 2, 3), 8)
    chunks = tuple(draw.randint(1, 5) for _ in dims)
    order = tuple(draw.sample(range(len(dims)), len(dims))) if draw.random() < 0.3 else None
    if draw.random() < 0.2:
        backwards = tuple(reversed(range(len(dims))))
        return Grid(dims, chunks, None, draw.choice((None, backwards)), 2)
    shards = tuple(chunk * draw.randint(1, 3) for chunk in chunks) if draw.random() < 0.4 else None
    return Grid(dims, chunks, shards, None if shards else order)


def reads(run: Run) -> None:
    for _ in run.draws(0.3):
        grid = drawn(run.random)
        buffer = grid.write()
        run.same(grid.text(), offsets_in(buffer, grid.dims), places=buffer.size)
        text = json.dumps(json.loads(grid.metadata))
        run.same(text, offsets_in(buffer, grid.dims), places=buffer.size)


def says(run: Run) -> None:
    for _ in run.draws(0.4):
        layout = tiled(run.random)
        text = run.say(layout, "zarr") if layout.rank else None
        if text is None:
            continue
        found = {word: ast.literal_eval(sizes) for word, sizes in re.findall(r"(\w+) (\([\d, ]*\))", text)}
        grid = Grid(layout.dims, found["chunks"], found.get("shards"), found.get("order"))
        buffer = grid.write()
        run.same(text, offsets_in(buffer, layout.dims), places=buffer.size, layout=layout)


def version() -> str:
    return f"zarr-python {zarr.__version__}"


CHECKS = [
    Check("zarr", "chunks, shards and transposed chunks in its files; its metadata", reads),
    Check("zarr", "chunks said, written by it", says),
]
