"""A layout twice: as the text that Tilework reads, and as strides that every rival understands.

Each dimension is cut into factors, major to minor; a factor has an extent and a stride in elements. The product of the
extents is the padded size of the dimension. `f32[10,300]{1,0:T(8,128)}` is

    dimension 0   (2, 3072) (8, 128)
    dimension 1   (3, 1024) (128, 1)
"""

from dataclasses import dataclass
from itertools import product
from math import prod


@dataclass(frozen=True)
class Layout:
    """The text within the braces, and the factors of each dimension."""

    text: str
    factors: tuple
    broadcast: bool = False

    @property
    def places(self):
        """Number of places, padding included."""
        return 1 + sum((extent - 1) * stride for dimension in self.factors for extent, stride in dimension)


@dataclass(frozen=True)
class Nest:
    """Loops (extent, source stride, destination stride), outermost first, and where they start."""

    start_from: int
    start_to: int
    loops: tuple

    @property
    def extents(self):
        return tuple(loop[0] for loop in self.loops)

    def strides(self, side):
        return tuple(loop[1 + side] for loop in self.loops)

    def start(self, side):
        return self.start_to if side else self.start_from


def ordered(sizes, major_to_minor=None):
    """Dense, in the given order of dimensions; row-major without one."""
    rank = len(sizes)
    order = list(major_to_minor if major_to_minor is not None else range(rank))
    strides = [prod(sizes[later] for later in order[order.index(dimension) + 1 :]) for dimension in range(rank)]
    text = ",".join(str(dimension) for dimension in reversed(order))
    return Layout(text, tuple(((size, stride),) for size, stride in zip(sizes, strides)))


def strided(sizes, strides):
    """Free strides, in elements; 0 broadcasts."""
    factors = tuple(((size, stride),) for size, stride in zip(sizes, strides))
    return Layout(f"strides({','.join(map(str, strides))})", factors, 0 in strides)


def tiled(sizes, tile, inner=None):
    """Row-major, in tiles over the last dimensions, which a second tile of as many dimensions may cut again."""
    rank, first = len(sizes), len(sizes) - len(tile)
    counts = [-(-size // extent) for size, extent in zip(sizes[first:], tile)]
    inner = inner or (1,) * len(tile)
    within = [extent // cut for extent, cut in zip(tile, inner)]
    memory = [(dimension, size) for dimension, size in enumerate(sizes[:first])]
    for extents in (counts, within, inner):
        memory += [(first + place, extent) for place, extent in enumerate(extents)]
    factors, stride = [[] for _ in sizes], 1
    for dimension, extent in reversed(memory):
        if extent > 1 or not factors[dimension]:
            factors[dimension].insert(0, (extent, stride))
        stride *= extent
    words = [f"T({','.join(map(str, tile))})"] + ([f"({','.join(map(str, inner))})"] if prod(inner) > 1 else [])
    text = ",".join(map(str, reversed(range(rank)))) + ":" + "".join(words)
    return Layout(text, tuple(map(tuple, factors)))


def nests(sizes, source, destination):
    """The loops that move every element, outermost first by the stride in the destination, merged where they can be."""
    pieces = [_pieces(*each) for each in zip(sizes, source.factors, destination.factors)]
    found = []
    for choice in product(*pieces):
        starts = [sum(piece[side] for piece in choice) for side in (0, 1)]
        loops = [loop for piece in choice for loop in piece[2] if loop[0] > 1]
        loops.sort(key=lambda loop: (-loop[2], -loop[1]))
        found.append(Nest(*starts, tuple(_merged(loops))))
    return found


def _pieces(size, source, destination):
    """One dimension as pieces (start in the source, start in the destination, loops): the whole blocks of the largest
    factor, then what is left, in blocks of the next smaller one, and so on."""
    bounds = sorted({1, *_bounds(source), *_bounds(destination)}, reverse=True)
    if any(large % small for large, small in zip(bounds, bounds[1:])):
        raise ValueError(f"the factors {source} and {destination} do not divide each other")
    found, start = [], 0
    for place, bound in enumerate(bounds):
        blocks = (size - start) // bound
        if blocks:
            steps = [(blocks, bound)] + [
                (large // small, small) for large, small in zip(bounds[place:], bounds[place + 1 :])
            ]
            loops = [(extent, _offset(source, step), _offset(destination, step)) for extent, step in steps]
            found.append((_offset(source, start), _offset(destination, start), loops))
        start += blocks * bound
    return found


def _bounds(factors):
    """How many indices one turn of each factor is worth."""
    return [prod(extent for extent, _ in factors[place + 1 :]) for place in range(len(factors))]


def _offset(factors, index):
    """The offset of an index along one dimension."""
    # The outermost factor takes whatever is left: the index of a step may be the padded size itself.
    offset = 0
    for place, ((_, stride), bound) in enumerate(zip(factors, _bounds(factors))):
        offset += index // bound * stride
        index %= bound
    return offset


def _merged(loops):
    merged = []
    for extent, source, destination in loops:
        if merged and merged[-1][1:] == (source * extent, destination * extent):
            merged[-1] = (merged[-1][0] * extent, source, destination)
        else:
            merged.append((extent, source, destination))
    return merged or [(1, 1, 1)]
