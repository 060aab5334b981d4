"""Buffers as a careful program would have them: huge pages, touched, at the start of a page."""

import ctypes
import mmap

import numpy

HUGE_PAGE = 2 << 20


class Memory:
    """One mapping, large enough for the largest workload, cut anew for each."""

    def __init__(self, room):
        mapping = mmap.mmap(-1, room + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            mapping.madvise(mmap.MADV_HUGEPAGE)
        self.bytes = numpy.frombuffer(mapping, numpy.uint8)
        self.bytes[:] = 0

    def buffers(self, sizes):
        """Byte arrays of these sizes, each at the start of a huge page. Those of the call before become invalid."""
        start, found = -address(self.bytes) % HUGE_PAGE, []
        for size in sizes:
            found.append(self.bytes[start : start + size])
            start += room(size)
        return found


def room(size):
    """What a buffer of this size takes."""
    return -(-size // HUGE_PAGE) * HUGE_PAGE


def address(array):
    return array.ctypes.data


def integers(values):
    """As C takes them."""
    return (ctypes.c_int64 * len(values))(*values)
