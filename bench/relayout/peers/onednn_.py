"""oneDNN's reorder, through its C interface: between strides, and between formats that have a name."""

import ctypes
import glob
import os
import sys

from memory import integers
from peers import Peer

# Of its enumerations: data types, the kind of engine, and the two arguments of a reorder.
TYPES = {"bf16": 2, "f32": 3, "u8": 6, "f64": 7}
PROCESSOR, FROM, TO = 1, 1, 17
UNIMPLEMENTED = 3

POINTER = ctypes.c_void_p


class Argument(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("memory", POINTER)]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


class Rival:
    def __init__(self, options):
        pattern = os.path.join(sys.prefix, "lib", "libdnnl.so.3")
        paths = glob.glob(pattern) + [path for path in (os.environ.get("TILEWORK_BENCH_ONEDNN"),) if path]
        self.builds = [Build(path) for path in paths]
        if not self.builds:
            raise FileNotFoundError(pattern)
        self.title = ", ".join(f"oneDNN {build.version}" for build in self.builds)

    def peers(self, workload, data, threads):
        if workload.element not in TYPES or workload.source.broadcast:
            return
        for build in self.builds:
            name = f"oneDNN {build.version.rsplit('.', 1)[0]}"
            yield Peer(f"{name} strides", lambda build=build: build.strides(workload, data), padding_free=True)
            if formats(workload):
                yield Peer(f"{name} formats", lambda build=build: build.formats(workload, data), padding_free=True)


def formats(workload):
    """Sizes and the two names of formats, where oneDNN has such names."""
    if workload.group == "b":
        sizes = workload.sizes
        if workload.name.startswith("NCHW>"):
            return sizes, "abcd", "acdb"
        return (sizes[0], sizes[3], sizes[1], sizes[2]), "acdb", "abcd"
    names = [name_of(layout) for layout in (workload.source, workload.destination)]
    return None if None in names or names[0] == names[1] else (workload.sizes, *names)


def name_of(layout):
    """`ab`, `aBcd16b`, or `AB4a128b2a` for T(8,128)(2,1)."""
    order, _, tiles = layout.text.partition(":T")
    rank = order.count(",") + 1
    letters = "abcdefgh"[:rank]
    if order != ",".join(map(str, reversed(range(rank)))):
        return None
    if tiles == "(16,1,1)":
        return "aBcd16b"
    numbers = [tuple(map(int, tile.split(","))) for tile in tiles.strip("()").split(")(") if tile]
    if not numbers:
        return letters
    (rows, columns), inner = numbers[0], numbers[1][0] if len(numbers) > 1 else 1
    return f"AB{rows // inner}a{columns}b" + (f"{inner}a" if inner > 1 else "")


class Build:
    """One library."""

    def __init__(self, path):
        self.native = ctypes.CDLL(path)
        self.native.dnnl_version.restype = ctypes.POINTER(Version)
        version = self.native.dnnl_version().contents
        self.version = f"{version.major}.{version.minor}.{version.patch}"
        self.engine, self.stream = POINTER(), POINTER()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), PROCESSOR, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self.stream), self.engine, 1)

    def call(self, name, *arguments):
        status = getattr(self.native, name)(*arguments)
        if status == UNIMPLEMENTED:
            raise NotImplementedError(name)
        if status:
            raise RuntimeError(f"{name} answered {status}")

    def strides(self, workload, data):
        kind, reorders = TYPES[workload.element], []
        for nest in workload.nests:
            memories = []
            for side in (0, 1):
                described = POINTER()
                sizes, strides = integers(nest.extents), integers(nest.strides(side))
                create = "dnnl_memory_desc_create_with_strides"
                self.call(create, ctypes.byref(described), len(nest.extents), sizes, kind, strides)
                place = data.addresses[side] + nest.start(side) * data.type.itemsize
                memories.append((described, self.memory(described, place)))
            reorders.append(self.reorder(*memories))
        return self.runner(reorders)

    def formats(self, workload, data):
        sizes, *names = formats(workload)
        memories = []
        for side, name in enumerate(names):
            described = POINTER()
            create = "dnnl_memory_desc_create_with_string_tag"
            kind = TYPES[workload.element]
            self.call(create, ctypes.byref(described), len(sizes), integers(sizes), kind, name.encode())
            memories.append((described, self.memory(described, data.addresses[side])))
        return self.runner([self.reorder(*memories)])

    def memory(self, described, place):
        memory = POINTER()
        self.call("dnnl_memory_create", ctypes.byref(memory), described, self.engine, POINTER(place))
        return memory

    def reorder(self, source, destination):
        described, primitive = POINTER(), POINTER()
        create = "dnnl_reorder_primitive_desc_create"
        self.call(create, ctypes.byref(described), source[0], self.engine, destination[0], self.engine, POINTER())
        self.call("dnnl_primitive_create", ctypes.byref(primitive), described)
        return primitive, (Argument * 2)(Argument(FROM, source[1]), Argument(TO, destination[1]))

    def runner(self, reorders):
        execute, wait = self.native.dnnl_primitive_execute, self.native.dnnl_stream_wait

        def run(times):
            for _ in range(times):
                for primitive, arguments in reorders:
                    if execute(primitive, self.stream, 2, arguments):
                        raise RuntimeError("dnnl_primitive_execute refused")
                wait(self.stream)

        return run
