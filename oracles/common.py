"""What every oracle needs: a check that compares offsets, and random layouts to compare.

An oracle asks a real system where the elements of an array lie, asks Tilework about the same text, and compares every
offset and the size. A difference is kept with the smallest case that shows it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import tilework as tw

__all__ = ["Check", "Integers", "Run", "Skipped", "numbered", "offsets_in", "order_text", "shape", "strided", "tiled"]

Integers = npt.NDArray[np.int64]


class Skipped(Exception):
    """Why a system, or a part of it, is not compared."""


@dataclass
class Run:
    """One check as it runs: draws from `random`, calls `same`, and keeps what differs."""

    random: random.Random
    wanted: int
    broken: bool = False
    """Shifts one offset that the real system gave, to see that the check would notice."""
    cases: int = 0
    offsets: int = 0
    differences: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    unsaid: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    """Refusals that are known: words of the message, and how many cases met it."""
    notes: list[str] = field(default_factory=list)
    kept: dict[str, dict[str, Any]] | None = None
    """Cases for the corpus, by their text; None where none are wanted."""

    def may_refuse(self, words: str) -> None:
        """Allows Tilework to refuse a text with these words; the matrix says how often it did."""
        self.unread.setdefault(words, 0)

    def draws(self, per_case: float = 1.0) -> range:
        """As many draws as cases are wanted, or a part of it where one case is slow."""
        return range(max(1, math.ceil(self.wanted * per_case)))

    def same(
        self,
        text: str,
        offsets: npt.ArrayLike | None,
        *,
        places: int | None = None,
        nbytes: int | None = None,
        layout: tw.Layout | None = None,
        case: str = "",
    ) -> bool:
        """Compares what the system says, for every element and for the size, with Tilework's layout of the text.

        Without offsets, the size alone is compared.
        """
        label = f"{case}: {text}" if case else text
        try:
            layout = tw.Layout(text) if layout is None else layout
            found = layout.offsets()
            expected = found.copy() if offsets is None else np.array(offsets, np.int64)
        except Exception as error:
            for words in self.unread:
                if words in str(error):
                    self.unread[words] += 1
                    return False
            return self.differs(f"{label}: Tilework refuses: {str(error).splitlines()[0]}")
        self.cases += 1
        self.offsets += 0 if offsets is None else expected.size
        if self.broken and offsets is None:
            nbytes, places = (n if n is None else n + 1 for n in (nbytes, places))
            self.broken = False
        if self.broken and expected.size:
            expected.flat[expected.size // 2] += 1
            self.broken = False
        if found.shape != expected.shape:
            return self.differs(f"{label}: sizes {found.shape} and not {expected.shape}")
        wrong = np.argwhere(found != expected)
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            return self.differs(f"{label}: element {at} is at {expected[at]}, Tilework says {found[at]}")
        if places is not None and layout.allocated != places:
            return self.differs(f"{label}: {places} places, Tilework says {layout.allocated}")
        if nbytes is not None and layout.nbytes != nbytes:
            return self.differs(f"{label}: {nbytes} bytes, Tilework says {layout.nbytes}")
        if self.kept is not None and text not in self.kept and reads_alone(text, found):
            sizes = {"places": places, "bytes": nbytes}
            pairs = [] if offsets is None else some_of(text, expected)
            given = {word: size for word, size in sizes.items() if size is not None}
            self.kept[text] = {"text": text, "index_sizes": list(expected.shape), **given, "offsets": pairs}
        return True

    def known_difference(self, reason: str, text: str, offsets: npt.ArrayLike, **sizes: int) -> None:
        """A case where the system is odd: fails when it no longer differs."""
        trial = Run(self.random, 1)
        self.cases += 1
        if trial.same(text, offsets, **sizes) or self.broken:  # type: ignore[arg-type]
            self.broken = False
            self.differs(f"{text}: a known difference is gone ({reason})")
        self.known.append(f"{trial.differences[0] if trial.differences else text} ({reason})")

    def differs(self, why: str) -> bool:
        """Keeps a difference."""
        self.differences.append(why)
        return False

    def say(self, layout: tw.Layout, notation: str) -> str | None:
        """The layout's text in a notation; None where it cannot be said in it."""
        try:
            return tw.translate(layout, notation)
        except tw.LayoutError:
            self.unsaid += 1
            return None


def reads_alone(text: str, offsets: Integers) -> bool:
    """Whether the text says all of the layout that was compared: a check may have compared an object instead."""
    try:
        return np.array_equal(tw.Layout(text).offsets(), offsets)
    except tw.LayoutError:
        return False


def some_of(text: str, offsets: Integers, most: int = 16) -> list[list[Any]]:
    """The first index, the last, and some between, each with its offset."""
    count = offsets.size
    between = random.Random(text).sample(range(1, count - 1), most - 2) if count > most else range(1, count - 1)
    numbers = {0, *between, count - 1} if count else set()
    indices = (tuple(map(int, np.unravel_index(number, offsets.shape))) for number in sorted(numbers))
    return [[list(index), int(offsets[index])] for index in indices]


@dataclass(frozen=True)
class Check:
    """A row of the matrix."""

    notation: str
    what: str
    run: Callable[[Run], None]


def shape(draw: random.Random, rank: Sequence[int] = (1, 2, 3, 4), most: int = 9) -> tuple[int, ...]:
    """Random sizes, from 1."""
    return tuple(draw.randint(1, most) for _ in range(draw.choice(rank)))


def order_text(order: Sequence[int]) -> str:
    return ",".join(map(str, order))


def tiled(draw: random.Random, element: str = "f32", most: int = 9) -> tw.Layout:
    """Some order of the dimensions and up to two levels of tiles, as XLA writes them."""
    dims = shape(draw, most=most)
    minor = list(range(len(dims)))
    draw.shuffle(minor)
    tiles = ""
    for _ in range(draw.choice((0, 1, 1, 2))):
        count = draw.randint(1, len(dims))
        tiles += f"({order_text([draw.choice((1, 2, 2, 3, 4, 8)) for _ in range(count)])})"
    braces = order_text(minor) + (f":T{tiles}" if tiles else "")
    return tw.Layout(f"{element}[{order_text(dims)}]{{{braces}}}")


def strided(draw: random.Random, element: str = "f32") -> tw.Layout:
    """A view of an array: some order of the dimensions, parts of them, steps and flips."""
    dims = shape(draw)
    minor = list(range(len(dims)))
    draw.shuffle(minor)
    layout = tw.Layout(f"{element}[{order_text(dims)}]{{{order_text(minor)}}}")
    key: list[slice] = []
    for size in dims:
        start = draw.randrange(size)
        stop = draw.randint(start + 1, size)
        key.append(slice(start, stop, draw.choice((1, 1, 1, 2, 3))))
    return layout[tuple(key)] if draw.random() < 0.6 else layout


def either(draw: random.Random, element: str = "f32") -> tw.Layout:
    return tiled(draw, element) if draw.random() < 0.6 else strided(draw, element)


def powers(draw: random.Random, rank: Sequence[int] = (1, 2, 3), most: int = 6) -> tuple[int, ...]:
    """Random sizes that are powers of two."""
    return tuple(1 << draw.randint(0, most) for _ in range(draw.choice(rank)))


def numbered(dims: Sequence[int], dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """The elements 1, 2, 3, …: none is 0, which is what padding holds."""
    return np.arange(1, math.prod(dims) + 1, dtype=dtype).reshape(dims)


def offsets_in(buffer: npt.NDArray[Any], dims: Sequence[int]) -> Integers:
    """Where each element of `numbered(dims)` lies in a buffer that a system wrote."""
    flat = np.ravel(buffer).astype(np.int64)
    count = math.prod(dims)
    places = np.flatnonzero((flat >= 1) & (flat <= count))
    offsets = np.full(count, -1, np.int64)
    offsets[flat[places] - 1] = places
    return offsets.reshape(dims)


def indices(dims: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index in row-major order."""
    return iter(np.ndindex(*dims))
