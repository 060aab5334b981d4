"""oneDNN through its C interface: descriptors, their sizes, and reorders."""

from __future__ import annotations

import ctypes
import glob
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

# Of its enumerations: two types, the kind of engine, and the two arguments of a reorder.
TYPES = {"f32": 3, "s8": 5}
PROCESSOR, FROM, TO = 1, 1, 17

POINTER = ctypes.c_void_p


class Refused(Exception):
    """What oneDNN answers where it has no such descriptor or reorder."""


class Argument(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("memory", POINTER)]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


def integers(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(values))(*values)


class Library:
    """The library that a wheel brought, or the one that TILEWORK_ORACLE_ONEDNN names."""

    def __init__(self) -> None:
        path = os.environ.get("TILEWORK_ORACLE_ONEDNN") or os.path.join(sys.prefix, "lib", "libdnnl.so.3")
        if not glob.glob(path):
            raise OSError(f"{path} is not there")
        self.native = ctypes.CDLL(path)
        self.native.dnnl_version.restype = ctypes.POINTER(Version)
        self.native.dnnl_fmt_tag2str.restype = ctypes.c_char_p
        self.native.dnnl_dt2str.restype = ctypes.c_char_p
        self.native.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        found = self.native.dnnl_version().contents
        self.version = f"{found.major}.{found.minor}.{found.patch}"
        self.engine, self.stream = POINTER(), POINTER()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), PROCESSOR, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self.stream), self.engine, 1)

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.native, name)(*arguments)
        if status:
            raise Refused(f"{name} answers {status}")

    def tags(self) -> dict[str, int]:
        """Every tag of its enum that is no other name of an earlier one, and its number."""
        names = {}
        for number in range(2, 4000):
            name = self.native.dnnl_fmt_tag2str(number).decode()
            if name == "format_tag_last":
                break
            names[name] = number
        return names

    def types(self) -> dict[str, int]:
        """Every type of its enum and its number."""
        names = {number: self.native.dnnl_dt2str(number).decode() for number in range(1, 64)}
        return {name: number for number, name in names.items() if "unknown" not in name and "max" not in name}

    def of_tag(self, dims: Sequence[int], element: str | int, tag: int | str) -> POINTER:
        described, create = POINTER(), "dnnl_memory_desc_create_with_tag"
        named: object = tag
        if isinstance(tag, str):
            create, named = "dnnl_memory_desc_create_with_string_tag", tag.encode()
        number = TYPES[element] if isinstance(element, str) else element
        self.call(create, ctypes.byref(described), len(dims), integers(dims), number, named)
        return described

    def of_strides(self, dims: Sequence[int], element: str, strides: Sequence[int]) -> POINTER:
        described, create = POINTER(), "dnnl_memory_desc_create_with_strides"
        arguments = len(dims), integers(dims), TYPES[element], integers(strides)
        self.call(create, ctypes.byref(described), *arguments)
        return described

    def part(self, parent: POINTER, dims: Sequence[int], starts: Sequence[int]) -> POINTER:
        """A descriptor of a part of another one."""
        described, create = POINTER(), "dnnl_memory_desc_create_submemory"
        self.call(create, ctypes.byref(described), parent, integers(dims), integers(starts))
        return described

    def nbytes(self, described: POINTER) -> int:
        return int(self.native.dnnl_memory_desc_get_size(described))

    def written(self, source: npt.NDArray[np.generic], element: str, target: POINTER) -> npt.NDArray[np.generic]:
        """What a reorder writes: the source is row-major."""
        plain = self.of_tag(source.shape, element, "abcdefghijkl"[: source.ndim])
        buffer = np.zeros(self.nbytes(target), np.uint8)
        there, here = self.memory(target, buffer), self.memory(plain, np.ascontiguousarray(source))
        described, primitive = POINTER(), POINTER()
        create = "dnnl_reorder_primitive_desc_create"
        self.call(create, ctypes.byref(described), plain, self.engine, target, self.engine, POINTER())
        self.call("dnnl_primitive_create", ctypes.byref(primitive), described)
        arguments = (Argument * 2)(Argument(FROM, here), Argument(TO, there))
        self.call("dnnl_primitive_execute", primitive, self.stream, 2, arguments)
        self.call("dnnl_stream_wait", self.stream)
        self.call("dnnl_primitive_destroy", primitive)
        self.call("dnnl_primitive_desc_destroy", described)
        for memory in (there, here):
            self.call("dnnl_memory_destroy", memory)
        return buffer.view(source.dtype)

    def memory(self, described: POINTER, array: npt.NDArray[np.generic]) -> POINTER:
        memory, place = POINTER(), POINTER(array.ctypes.data)
        self.call("dnnl_memory_create", ctypes.byref(memory), described, self.engine, place)
        return memory

    @contextmanager
    def log(self) -> Iterator[list[str]]:
        """The lines that it prints meanwhile with its verbose mode."""
        lines: list[str] = []
        sys.stdout.flush()
        kept = os.dup(1)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 1)
            self.native.dnnl_set_verbose(2)
            try:
                yield lines
            finally:
                self.native.dnnl_set_verbose(0)
                ctypes.CDLL(None).fflush(None)
                os.dup2(kept, 1)
                os.close(kept)
                file.seek(0)
                lines += file.read().decode().splitlines()


def places(dims: Sequence[int], blocks: dict[int, int]) -> int:
    """How many places an array with these blocks takes."""
    return math.prod(-(-size // blocks.get(dim, 1)) * blocks.get(dim, 1) for dim, size in enumerate(dims))
