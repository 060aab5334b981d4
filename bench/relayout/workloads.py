"""What is measured."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from layouts import Layout, ordered, tiled, windowed
from nests import nests

BITS = {"s4": 4, "u8": 8, "bf16": 16, "f32": 32, "f64": 64, "c128": 128}


@dataclass(frozen=True)
class Workload:
    """A move of one array between two layouts."""

    group: str
    name: str
    element: str
    sizes: tuple
    source: Layout
    destination: Layout
    quick: bool = False

    @property
    def bits(self):
        return BITS[self.element]

    @property
    def bytes(self):
        """Of the elements: what a copy of the same data would move."""
        return prod(self.sizes) * self.bits // 8

    @property
    def traffic(self):
        """Bytes read plus written: a broadcast reads each place once."""
        read = self.source.places * self.bits // 8 if self.source.broadcast else self.bytes
        return read + self.bytes

    @cached_property
    def nests(self):
        return nests(self.sizes, self.source, self.destination)

    def texts(self):
        """The two layouts, as Tilework reads them."""
        return tuple(layout.written(self.element, self.sizes) for layout in (self.source, self.destination))

    @cached_property
    def goal(self):
        """The share of memcpy's speed that Tilework is meant to reach."""
        if self.group == "b":
            return 0.7
        nest = max(self.nests, key=lambda nest: prod(nest.extents))
        extent, source, destination = nest.loops[-1]
        if destination == 1 and source in (0, 1) and extent * self.bits >= 64 * 8:
            return 1.0
        return 0.8 if self.bits >= 32 else 0.6

    @property
    def label(self):
        return f"{self.name} {self.element}"


def _permuted(group, name, element, sizes, order, quick=False):
    """Row-major to the order of dimensions `order`, major to minor: NumPy's `transpose(order)`."""
    return Workload(group, name, element, tuple(sizes), ordered(sizes), ordered(sizes, order), quick)


def _contraction(sizes, order, element="f32", quick=False):
    """A case of the tensor contraction benchmark, in its own column-major words."""
    rank = len(sizes)
    order_here = [rank - 1 - order[rank - 1 - place] for place in range(rank)]
    name = f"TTC {','.join(map(str, order))} {'x'.join(map(str, sizes))}"
    return _permuted("c", name, element, tuple(reversed(sizes)), order_here, quick)


def _both_ways(group, name, element, sizes, other, quick=False):
    rows = ordered(sizes)
    yield Workload(group, f"to {name}", element, sizes, rows, other, quick)
    yield Workload(group, f"from {name}", element, sizes, other, rows, quick)


def _transposes():
    for element, rows, columns, quick in (
        ("f32", 256, 256, True),
        ("f32", 1024, 1024, True),
        ("f32", 4096, 4096, True),
        ("f32", 8192, 8192, False),
        ("f32", 1023, 4097, True),
        ("f32", 1000000, 16, False),
        ("f32", 16, 1000000, False),
        ("u8", 256, 256, False),
        ("u8", 1024, 1024, False),
        ("u8", 4096, 4096, True),
        ("u8", 8192, 8192, False),
        ("u8", 1023, 4097, False),
        ("bf16", 1024, 1024, False),
        ("bf16", 4096, 4096, True),
        ("bf16", 8192, 8192, False),
        ("bf16", 1023, 4097, True),
        ("f64", 4096, 4096, True),
        ("f64", 1023, 4097, False),
        ("c128", 2048, 4096, True),
        ("s4", 4096, 4096, False),
    ):
        yield _permuted("a", f"2-D {rows}x{columns}", element, (rows, columns), (1, 0), quick)


def _channels():
    for sizes, quick in (((32, 3, 224, 224), True), ((32, 64, 56, 56), True), ((8, 256, 64, 64), False)):
        batch, channels, height, width = sizes
        for element in ("f32", "bf16", "u8"):
            chosen = quick and (element != "bf16")
            label = "x".join(map(str, sizes))
            yield _permuted("b", f"NCHW>NHWC {label}", element, sizes, (0, 2, 3, 1), chosen)
            other = (batch, height, width, channels)
            yield _permuted("b", f"NHWC>NCHW {label}", element, other, (0, 3, 1, 2), chosen)


def _permutations():
    yield _permuted("c", "3-D 2,1,0 256^3", "f32", (256, 256, 256), (2, 1, 0), True)
    attention = (8, 1024, 16, 64)
    yield _permuted("c", "attention 0,2,1,3", "f32", attention, (0, 2, 1, 3))
    yield _permuted("c", "attention 0,2,1,3", "bf16", attention, (0, 2, 1, 3), True)
    yield _permuted("c", "attention 0,2,3,1", "bf16", attention, (0, 2, 3, 1))
    yield _contraction((384, 384, 368), (0, 2, 1))
    yield _contraction((384, 384, 355), (1, 0, 2), quick=True)
    yield _contraction((384, 59, 2320), (2, 1, 0))
    yield _contraction((96, 75, 75, 96), (3, 2, 1, 0), quick=True)
    yield _contraction((96, 75, 96, 75), (2, 1, 3, 0))
    yield _contraction((608, 12, 96, 75), (2, 0, 3, 1))
    yield _contraction((48, 28, 28, 28, 48), (4, 3, 2, 1, 0))
    yield _contraction((48, 28, 48, 28, 28), (2, 0, 4, 1, 3))
    yield _contraction((352, 4, 28, 48, 28), (3, 2, 1, 4, 0))
    yield _contraction((32, 15, 15, 15, 15, 32), (5, 4, 3, 2, 1, 0))
    yield _contraction((16, 32, 15, 32, 15, 15), (0, 3, 2, 5, 4, 1), quick=True)
    yield _contraction((32, 15, 15, 32, 15, 15), (3, 2, 0, 5, 1, 4))
    yield _contraction((32, 15, 15, 16, 15, 15), (3, 2, 0, 5, 1, 4), "f64")


def _tiles():
    kinds = {
        "f32": ("T(8,128)", (8, 128), None),
        "bf16": ("T(8,128)(2,1)", (8, 128), (2, 1)),
        "u8": ("T(8,128)(4,1)", (8, 128), (4, 1)),
    }
    for rows, columns, elements, quick in (
        (4096, 4096, ("f32", "bf16"), ("f32", "bf16")),
        (8192, 8192, ("u8",), ("u8",)),
        (1000, 1000, ("f32", "bf16", "u8"), ("f32",)),
        (4091, 5003, ("f32", "bf16", "u8"), ("bf16",)),
    ):
        for element in elements:
            name, tile, inner = kinds[element]
            sizes = (rows, columns)
            other = tiled(sizes, tile, inner)
            yield from _both_ways("d", f"{name} {rows}x{columns}", element, sizes, other, element in quick)
    sizes = (4096, 4096)
    small, large = tiled(sizes, (8, 128)), tiled(sizes, (16, 128), (2, 1))
    yield Workload("d", "T(8,128)>T(16,128)(2,1) 4096x4096", "bf16", sizes, small, large)
    yield Workload("d", "T(16,128)(2,1)>T(8,128) 4096x4096", "bf16", sizes, large, small)


def _blocked():
    sizes = (32, 256, 56, 56)
    for element in ("f32", "bf16", "u8"):
        # A tile of 16 channels, 1 row and 1 column: N, C/16, H, W, 16.
        other = tiled(sizes, (16, 1, 1))
        yield from _both_ways("e", "nChw16c 32x256x56x56", element, sizes, other, element == "u8")


def _pitches():
    sizes = (65536, 1000)
    other = windowed(sizes, (65536, 1024))
    yield Workload("f", "pitch 1000>1024", "f32", sizes, ordered(sizes), other, True)
    yield Workload("f", "pitch 1024>1000", "f32", sizes, other, ordered(sizes))
    for rows, columns, strides in (
        (16384, 4096, (0, 1)),
        (16384, 4096, (1, 0)),
        (4194304, 16, (1, 0)),
    ):
        sizes = (rows, columns)
        name = f"broadcast {'rows' if strides[0] == 0 else 'columns'} {rows}x{columns}"
        shape = tuple(1 if stride == 0 else size for size, stride in zip(sizes, strides))
        source = windowed(sizes, shape, steps=strides)
        yield Workload("f", name, "f32", sizes, source, ordered(sizes), strides == (0, 1))


def everything():
    """All workloads, in the order of the table."""
    parts = (_transposes, _channels, _permutations, _tiles, _blocked, _pitches)
    return [workload for part in parts for workload in part()]
