"""The data of one workload, and what NumPy says the result is."""

import numpy
from numpy.lib.stride_tricks import as_strided

from memory import address

# The numbers are only moved, so an integer of the same width stands for a type that NumPy does not know.
TYPES = {"s4": "u1", "u8": "u1", "bf16": "u2", "f32": "f4", "f64": "f8", "c128": "c16"}

# What stands in the destination before: a place that nobody writes keeps it.
UNTOUCHED = 0xA5


def used(workload):
    """The bytes of both layouts."""
    return [-(-layout.room * workload.bits // 8) for layout in (workload.source, workload.destination)]


def needed(workload):
    """The bytes of both buffers: a plain copy of the elements must fit, too, where a broadcast has a shorter source."""
    return [max(size, workload.bytes) for size in used(workload)]


class Data:
    def __init__(self, workload, memory):
        self.workload = workload
        sizes, self.type = used(workload), numpy.dtype(TYPES[workload.element])
        whole, destination = memory.buffers(needed(workload))
        self.source, self.destination = whole[: sizes[0]], destination[: sizes[1]]
        self.whole = whole
        self.addresses = address(whole), address(self.destination)
        self._fill(whole)
        self.expected = self._expected()

    def _fill(self, whole):
        random = numpy.random.default_rng(1)
        kind = self.workload.element
        if kind in ("f32", "f64", "c128"):
            # Ordinary numbers: what computes on the way must not meet slow or signalling ones.
            values = whole[: whole.size // 4 * 4].view("u4")
            values[:] = random.integers(0, 1 << 23, values.size, "u4")
            values |= 0x3F800000
        elif kind == "bf16":
            whole.view("u2")[:] = random.integers(0x3000, 0x4F00, whole.size // 2, "u2")
        else:
            whole[:] = random.integers(0, 256, whole.size, "u1")

    def array(self, side):
        """The buffer of one side, as a flat array of elements."""
        return (self.destination if side else self.source).view(self.type)

    def view(self, nest, side, array=None):
        """The places of a nest on one side, shaped as its loops."""
        array = self.array(side) if array is None else array
        strides = [stride * self.type.itemsize for stride in nest.strides(side)]
        return as_strided(array[nest.start(side) :], nest.extents, strides)

    def _expected(self):
        if self.workload.element == "s4":
            return self._expected_nibbles()
        expected = numpy.full(self.destination.size, UNTOUCHED, "u1")
        for nest in self.workload.nests:
            numpy.copyto(self.view(nest, 1, expected.view(self.type)), self.view(nest, 0))
        return expected

    def _expected_nibbles(self):
        """Element 0 of a pair is the low half of its byte."""
        source = numpy.stack([self.source & 15, self.source >> 4], axis=-1).reshape(-1)
        expected = numpy.tile(numpy.array([UNTOUCHED & 15, UNTOUCHED >> 4], "u1"), self.destination.size)
        for nest in self.workload.nests:
            numpy.copyto(self.view(nest, 1, expected), self.view(nest, 0, source))
        return expected[0::2] | expected[1::2] << 4

    def spoil(self):
        self.destination[:] = UNTOUCHED

    def right(self, result=None, padding_free=False):
        """Whether every element arrived; and whether padding was left alone, unless it is free."""
        found = self.destination if result is None else result.reshape(-1).view("u1")
        if numpy.array_equal(found, self.expected[: found.size]) and found.size == self.expected.size:
            return True
        if not padding_free or self.workload.element == "s4":
            return False
        bits = numpy.dtype(f"u{self.type.itemsize}") if self.type.itemsize < 16 else self.type
        pairs = [[array.view(self.type) for array in (found, self.expected)]] * len(self.workload.nests)
        views = [[self.view(nest, 1, array).view(bits) for array in pair] for nest, pair in zip(self.workload.nests, pairs)]
        return all(numpy.array_equal(*pair) for pair in views)
