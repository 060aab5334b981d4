"""Buffers as a careful program would have them: huge pages, touched, at the start of a page."""

import ctypes
import mmap

import numpy

HUGE_PAGE = 2 << 20


class Memory:
    """One large mapping, cut into the source and the destination of each workload."""

    def __init__(self):
        self.mapping = None
        self.room = 0

    def buffers(self, *sizes):
        """Byte arrays of these sizes, each at the start of a huge page. Those of the call before become invalid."""
        pages = [-(-size // HUGE_PAGE) + 1 for size in sizes]
        whole = sum(pages) * HUGE_PAGE
        if whole > self.room:
            self.mapping = mmap.mmap(-1, whole + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                self.mapping.madvise(mmap.MADV_HUGEPAGE)
            self.bytes = numpy.frombuffer(self.mapping, numpy.uint8)
            self.bytes[:] = 0
            self.room = whole
        start = -address(self.bytes) % HUGE_PAGE
        found = []
        for size, count in zip(sizes, pages):
            found.append(self.bytes[start : start + size])
            start += count * HUGE_PAGE
        return found


def address(array):
    return array.ctypes.data


def integers(values):
    """As C takes them."""
    return (ctypes.c_int64 * len(values))(*values)
