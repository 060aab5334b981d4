"""The recipe that the tests compare with: pad, reshape and transpose, in NumPy, as the documents tell it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st


@dataclass(frozen=True)
class Case:
    """A layout: the parts of its text, in the terms of the recipe."""

    element: str
    dims: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    padded: tuple[int, ...] | None = None

    @property
    def text(self) -> str:
        words = "T" + "".join(f"({','.join(map(str, tile))})" for tile in self.tiles) if self.tiles else ""
        if self.padded is not None:
            words = f"pad({','.join(map(str, self.padded))})"
        order = ",".join(map(str, self.minor_to_major))
        braces = f"{{{order}{':' if words else ''}{words}}}" if order or words else ""
        return f"{self.element}[{','.join(map(str, self.dims))}]{braces}"

    def memory(self) -> npt.NDArray[np.int64]:
        """The number of the element at each place, in row-major order of the index; −1 for padding."""
        numbers = np.arange(int(np.prod(self.dims, dtype=np.int64)), dtype=np.int64).reshape(self.dims)
        if self.padded is not None:
            after = [(0, more - size) for more, size in zip(self.padded, self.dims, strict=True)]
            numbers = np.pad(numbers, after, constant_values=-1)
        memory = numbers.transpose(self.minor_to_major[::-1])
        for tile in self.tiles:
            memory = tiled(memory, tile)
        return memory.ravel()

    def offsets(self) -> npt.NDArray[np.int64]:
        """The place of each element."""
        memory = self.memory()
        places = np.flatnonzero(memory >= 0)
        offsets = np.empty(len(places), np.int64)
        offsets[memory[places]] = places
        return offsets.reshape(self.dims)


def tiled(memory: npt.NDArray[np.int64], tile: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """The most minor dimensions padded to whole tiles and cut, the tiles being more major than what is in them."""
    if memory.ndim < len(tile):
        memory = memory.reshape((1,) * (len(tile) - memory.ndim) + memory.shape)
    free = memory.ndim - len(tile)
    sizes = memory.shape[free:]
    counts = [-(-size // cut) for size, cut in zip(sizes, tile, strict=True)]
    after = [(0, 0)] * free
    after += [(0, count * cut - size) for count, cut, size in zip(counts, tile, sizes, strict=True)]
    memory = np.pad(memory, after, constant_values=-1)
    halves = [half for pair in zip(counts, tile, strict=True) for half in pair]
    memory = memory.reshape((*memory.shape[:free], *halves))
    outer = [free + 2 * number for number in range(len(tile))]
    inner = [free + 2 * number + 1 for number in range(len(tile))]
    return memory.transpose((*range(free), *outer, *inner))


ELEMENTS = ("pred", "s8", "u16", "s32", "f32", "f64", "bf16", "f16", "c64", "c128", "f8e4m3fn", "s4")


@st.composite
def cases(draw: st.DrawFn, least: int = 0, sizes: int = 9) -> Case:
    """Random layouts that have some thousand places at most."""
    dims = tuple(draw(st.lists(st.integers(least, sizes), max_size=4)))
    order = tuple(draw(st.permutations(range(len(dims)))))
    element = draw(st.sampled_from(ELEMENTS))
    if len(dims) > 0 and draw(st.integers(0, 3)) == 0:
        padded = tuple(size + draw(st.integers(0, 3)) for size in dims)
        return Case(element, dims, order, (), padded)
    tiles = []
    rank = len(dims)
    for _ in range(draw(st.integers(0, 3))):
        tile = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=min(3, rank + 1))))
        tiles.append(tile)
        rank = max(rank, len(tile)) + len(tile)
        if rank > 8:
            break
    return Case(element, dims, order, tuple(tiles))
