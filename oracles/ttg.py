"""Triton's own encodings without a GPU: their texts, what it reads from a text, and linear layouts as offsets."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from triton._C.libtriton import gluon_ir, ir

from common import Integers

Bases = list[list[int]]

MODULE = """module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = %d : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%%a: %s) { tt.return }
}"""


class Triton:
    """A context of MLIR with Triton's dialects, and a builder."""

    def __init__(self) -> None:
        self.context = ir.context()
        ir.load_dialects(self.context)
        self.builder = gluon_ir.GluonOpBuilder(self.context)
        self.elements = {
            8: self.builder.get_int8_ty(),
            16: self.builder.get_half_ty(),
            32: self.builder.get_float_ty(),
            64: self.builder.get_int64_ty(),
        }

    def tensor(self, layout: Any, dims: list[int], bits: int) -> str:
        """The type's text, as Triton prints it."""
        return str(self.builder.get_distributed_ty(self.elements[bits], dims, layout._to_ir(self.builder)))

    def memory(self, layout: Any, dims: list[int], bits: int) -> str:
        encoding = layout._to_ir(self.builder)
        return str(self.builder.get_shared_mem_desc_ty(self.elements[bits], dims, encoding, dims))

    def linear(self, layout: Any, dims: list[int]) -> Any:
        """A layout with bases."""
        return self.builder.to_linear_layout(layout._to_ir(self.builder), dims)

    def read_memory(self, text: str) -> Any:
        """What Triton reads from the text of a tensor in shared memory, as the layout of Gluon."""
        found = re.fullmatch(r"tensor<([\dx]+x\w+), (#ttg.*)>", text)
        if found is None:
            raise ValueError(text)
        with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
            kind = f"!ttg.memdesc<{found[1]}, {found[2]}, #ttg.shared_memory, mutable>"
            Path(file.name).write_text(MODULE % (1, kind))
            module = ir.parse_mlir_module(file.name, self.context)
        return self.builder.get_gluon_layout_from_memdesc(module.get_function("f").args(0))


def spread(bases: Bases, rank: int) -> Integers:
    """The xor of the bases of the bits of each number."""
    values = np.zeros((1, rank), np.int64)
    for basis in bases:
        values = np.concatenate([values, values ^ np.array(basis, np.int64)])
    return values


def registers(linear: Any) -> Integers:
    """The number of the element, in row-major order, of each (block, warp, lane, register)."""
    dims, rank = linear.shape, len(linear.shape)
    parts = [spread(b, rank) for b in (linear.block_bases, linear.warp_bases, linear.lane_bases, linear.reg_bases)]
    block, warp, lane, register = parts
    index = block[:, None, None, None] ^ warp[None, :, None, None] ^ lane[None, None, :, None] ^ register
    return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(index, -1, 0)), dims), np.int64)


def shared(offset: Bases, block: Bases, dims: list[int]) -> tuple[Integers, int]:
    """The first place of each element, and how many there are: the blocks' memories follow one another.

    Blocks that hold what others hold count as one.
    """
    rank = len(dims)
    index = spread(offset + [basis for basis in block if any(basis)], rank)
    number = np.ravel_multi_index(tuple(index.T), dims)
    offsets = np.full(int(np.prod(dims)), -1, np.int64)
    for place in range(len(number) - 1, -1, -1):
        offsets[number[place]] = place
    return offsets.reshape(dims), len(number)


def padded(offsets: Integers, count: int, pairs: list[list[int]]) -> tuple[Integers, int]:
    """Padding after every interval, which is summed where several end; none behind the last element."""
    more = sum((offsets // interval * padding for interval, padding in pairs), np.zeros_like(offsets))
    last = count - 1 + sum((count - 1) // interval * padding for interval, padding in pairs)
    return offsets + more, last + 1
