"""A layout twice: as the text that Tilework reads, and as strides that every rival understands.

Each dimension is cut into factors, major to minor; a factor has an extent and a stride in elements. The product of the
extents is the padded size of the dimension. `f32[10,300]{1,0:T(8,128)}` is

    dimension 0   (2, 3072) (8, 128)
    dimension 1   (3, 1024) (128, 1)
"""

import re
from dataclasses import dataclass
from math import prod

BRACES = "{element}[{sizes}]{{{text}}}"
NAMED = "{element}[{sizes}] {text}"
MEMREF = "memref<{sizes_x}x{memref}, strided<{text}>>"

MEMREF_ELEMENTS = {"u8": "ui8", "c128": "complex<f64>"}


@dataclass(frozen=True)
class Window:
    """A dense array, row-major, and where in each of its dimensions an array lies: from where on, in steps of what."""

    shape: tuple
    starts: tuple
    steps: tuple


@dataclass(frozen=True)
class Layout:
    """A text of a form, the factors of each dimension, and the place of the first element."""

    text: str
    factors: tuple
    form: str = BRACES
    first: int = 0
    window: Window | None = None

    @property
    def broadcast(self):
        return any(stride == 0 and extent > 1 for dimension in self.factors for extent, stride in dimension)

    @property
    def places(self):
        """Number of places up to the last that an element or padding may have."""
        ahead = sum((extent - 1) * max(0, stride) for dimension in self.factors for extent, stride in dimension)
        return 1 + self.first + ahead

    @property
    def room(self):
        """Number of places to allocate: all of the array that a window lies in."""
        return prod(self.window.shape) if self.window else self.places

    def written(self, element, sizes):
        """The whole text, with the element type and the sizes."""
        text = self.text
        if self.form == BRACES and element == "s4":
            text += "E(4)" if ":" in text else ":E(4)"
        words = {"sizes": ",".join(map(str, sizes)), "sizes_x": "x".join(map(str, sizes))}
        return self.form.format(element=element, text=text, memref=MEMREF_ELEMENTS.get(element, element), **words)

    def offset(self, index):
        """The place of an element."""
        return self.first + sum(offset(factors, at) for factors, at in zip(self.factors, index))


def bounds(factors):
    """How many indices one turn of each factor is worth."""
    return [prod(extent for extent, _ in factors[place + 1 :]) for place in range(len(factors))]


def offset(factors, index):
    """The offset of an index along one dimension."""
    # The outermost factor takes whatever is left: the index of a step may be the padded size itself.
    total = 0
    for (_, stride), bound in zip(factors, bounds(factors)):
        total += index // bound * stride
        index %= bound
    return total


def ordered(sizes, major_to_minor=None):
    """Dense, in the given order of dimensions; row-major without one."""
    order = list(major_to_minor if major_to_minor is not None else range(len(sizes)))
    return tiled(sizes, order=order)


def windowed(sizes, shape, starts=None, steps=None):
    """Part of a dense array of this shape: from where on, and in steps of what. A step of 0 broadcasts."""
    rank = len(sizes)
    starts, steps = tuple(starts or (0,) * rank), tuple(steps or (1,) * rank)
    ends = [start + (size - 1) * step for start, size, step in zip(starts, sizes, steps)]
    if any(not 0 <= place < extent for places in (starts, ends) for place, extent in zip(places, shape)):
        raise ValueError(f"{sizes} from {starts} in steps of {steps} is not within {shape}")
    dense = [prod(shape[dimension + 1 :]) for dimension in range(rank)]
    strides = tuple(step * stride for step, stride in zip(steps, dense))
    first = sum(start * stride for start, stride in zip(starts, dense))
    lowest = sum((1 - size) * min(0, stride) for size, stride in zip(sizes, strides))
    factors = tuple(((size, stride),) for size, stride in zip(sizes, strides))
    listed, window = ",".join(map(str, strides)), Window(tuple(shape), starts, steps)
    if first == lowest:
        # What strides are written alone means: the lowest place is the first.
        return Layout(f"strides({listed})", factors, BRACES, first, window)
    return Layout(f"[{listed}], offset: {first}", factors, MEMREF, first, window)


def tiled(sizes, *tiles, order=None):
    """In an order of dimensions, row-major without one, and in tiles over the last of them. Each further tile cuts what the
    tile before it made, as XLA's do."""
    rank = len(sizes)
    order = list(order if order is not None else range(rank))
    tiles = [tile for tile in tiles if tile]
    # Each piece of memory, major to minor: its dimension, the indices that one turn of it is worth, and its extent.
    memory = [(dimension, 1, sizes[dimension]) for dimension in order]
    for tile in tiles:
        kept, cut = memory[: -len(tile)], memory[-len(tile) :]
        for (dimension, step, extent), by in zip(cut, tile):
            if extent % by and any(other[0] == dimension and other[1] > step for other in memory):
                raise ValueError(f"{by} does not divide the tile of {extent} before it")
        outer = [(dimension, step * by, -(-extent // by)) for (dimension, step, extent), by in zip(cut, tile)]
        memory = kept + outer + [(dimension, step, by) for (dimension, step, _), by in zip(cut, tile)]
    words = "".join(f"({','.join(map(str, tile))})" for tile in tiles)
    text = ",".join(map(str, reversed(order))) + (f":T{words}" if tiles else "")
    return _of_memory(rank, memory, text, BRACES)


def tagged(sizes, tag, text=None):
    """A tag of oneDNN's kind: `aBcd16b` or, with the letters of the dimensions in `order`, `AB16b64a4b`. `text` is another
    name of it."""
    order = "abcdefgh"[: len(sizes)]
    outer, blocks = re.match(r"([A-Za-z]+)((?:\d+[a-z])*)$", tag).groups()
    memory, steps = [], [1] * len(sizes)
    for extent, letter in reversed(re.findall(r"(\d+)([a-z])", blocks)):
        dimension = order.index(letter)
        memory.insert(0, (dimension, steps[dimension], int(extent)))
        steps[dimension] *= int(extent)
    counts = [-(-size // step) for size, step in zip(sizes, steps)]
    places = [order.index(letter.lower()) for letter in outer]
    memory = [(dimension, steps[dimension], counts[dimension]) for dimension in places] + memory
    return _of_memory(len(sizes), memory, text or tag, NAMED)


def pieced(sizes, pieces, text):
    """Pieces of memory, major to minor: a dimension, the indices that one turn is worth, and the extent; none where it takes
    all that the size asks for."""
    memory = [(dimension, step, extent or -(-sizes[dimension] // step)) for dimension, step, extent in pieces]
    return _of_memory(len(sizes), memory, text, NAMED)


def _of_memory(rank, memory, text, form):
    factors, stride = [[] for _ in range(rank)], 1
    for dimension, step, extent in reversed(memory):
        factors[dimension].append((step, extent, stride))
        stride *= extent
    found = []
    for dimension in factors:
        # Pieces of one turn do nothing. Of two with the same step, the one with more turns is the minor.
        pieces = sorted((piece for piece in dimension if piece[1] > 1), reverse=True) or dimension[:1]
        found.append(tuple((extent, stride) for _, extent, stride in pieces))
    return Layout(text, tuple(found), form)
