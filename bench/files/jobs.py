"""What is moved: arrays of float32 in two dimensions, from one Zarr store to another, and a file of weights."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

Sizes = tuple[int, int]
MIB = 1 << 20


@dataclass(frozen=True)
class Job:
    """From one store to another."""

    name: str
    side: int
    source: Sizes
    target: Sizes
    memory: str
    compressed: bool = False
    is_transposed: bool = False

    def codecs(self) -> list[dict]:
        transpose = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if self.is_transposed else []
        packed = [{"name": "zstd", "configuration": {"level": 1}}] if self.compressed else []
        return [*transpose, {"name": "bytes", "configuration": {"endian": "little"}}, *packed]

    def source_name(self) -> str:
        return f"source-{self.source[0]}-{self.source[1]}-{self.compressed}.zarr"

    def bytes(self) -> int:
        """What an array takes on a disk: what is compressed keeps two bytes of four."""
        return 4 * self.side * self.side // (2 if self.compressed else 1)

    def text(self) -> str:
        return json.dumps(vars(self))

    @staticmethod
    def of(text: str) -> Job:
        return Job(**{key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(text).items()})


def jobs(mib: int, memory: str) -> list[Job]:
    """Jobs of the same source come one behind the other, so that it can be removed after them."""
    side = max(int((mib * MIB / 4) ** 0.5) // 512, 1) * 512
    rows, columns, tiles = (max(side // 64, 1), side), (side, max(side // 64, 1)), (512, 512)
    found = []
    for compressed in (False, True):
        word = ", zstd" if compressed else ""
        found += [
            Job(f"rows to squares{word}", side, rows, tiles, memory, compressed),
            Job(f"rows to columns{word}", side, rows, columns, memory, compressed),
            Job(f"squares, each transposed{word}", side, tiles, tiles, memory, compressed, True),
        ]
    return found


def numbers(first: Sizes, behind: Sizes):
    """The elements of a part, which follow from their places: 12 bits that look random, as multiples of 1/64. They compress to about
    half, and what was written is checked without reading the source."""
    import numpy as np

    row = np.arange(first[0], behind[0], dtype=np.uint32)[:, None] * np.uint32(0x9E3779B1)
    column = np.arange(first[1], behind[1], dtype=np.uint32)[None, :] * np.uint32(0x85EBCA77)
    mixed = row ^ column
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39)):
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
    mixed >>= np.uint32(20)
    found = mixed.astype(np.float32)
    found /= 64
    return found


def parts(side: int, chunks: Sizes):
    """Parts of whole chunks."""
    for row in range(0, side, chunks[0]):
        for column in range(0, side, chunks[1]):
            yield (row, column), (min(row + chunks[0], side), min(column + chunks[1], side))


def metadata(job: Job, chunks: Sizes, codecs: list[dict]) -> dict:
    return {
        "shape": [job.side, job.side], "data_type": "float32", "codecs": codecs, "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
    }  # fmt: skip


def spec(path: str, made: dict | None = None) -> dict:
    kvstore = {"driver": "file", "path": path}
    if path.startswith("s3://"):
        bucket, _, name = path.removeprefix("s3://").partition("/")
        kvstore = {
            "driver": "s3", "bucket": bucket, "path": f"{name}/", "endpoint": os.environ["AWS_ENDPOINT_URL"],
            "aws_region": os.environ["AWS_REGION"], "aws_credentials": {"type": "environment"},
        }  # fmt: skip
    found = {"driver": "zarr3", "kvstore": kvstore}
    return found | ({"metadata": made} if made else {})


def make(job: Job, path: str) -> None:
    """The source of a job."""
    import tensorstore

    plain = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codecs = plain + ([{"name": "zstd", "configuration": {"level": 1}}] if job.compressed else [])
    array = tensorstore.open(spec(path, metadata(job, job.source, codecs)), create=True).result()
    for first, behind in parts(job.side, job.source):
        array[first[0] : behind[0], first[1] : behind[1]].write(numbers(first, behind)).result()


def is_right(job: Job, target: str) -> bool:
    """Whether the target holds what the source held, chunk by chunk."""
    import numpy as np
    import tensorstore

    array = tensorstore.open(spec(target)).result()
    if array.shape != (job.side, job.side):
        return False
    return all(
        np.array_equal(array[first[0] : behind[0], first[1] : behind[1]].read().result(), numbers(first, behind))
        for first, behind in parts(job.side, job.target)
    )


SIDE = 2048


def weights_count(mib: int) -> int:
    return max(mib * MIB // (4 * SIDE * SIDE), 1)


def make_weights(mib: int, path: Path) -> None:
    """A file of square matrices, written one after the other."""
    import numpy as np

    size = 4 * SIDE * SIDE
    header = {
        f"layers.{at}.weight": {"dtype": "F32", "shape": [SIDE, SIDE], "data_offsets": [at * size, (at + 1) * size]}
        for at in range(weights_count(mib))
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(2)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in header:
            file.write(random.standard_normal((SIDE, SIDE), np.float32).tobytes())
