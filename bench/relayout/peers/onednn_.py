"""oneDNN's reorder, through its C interface: between strides, and between formats that have a name."""

import ctypes
import glob
import os
import sys

from layouts import bounds
from memory import integers
from peers import Peer

# Of its enumerations: data types, the kind of engine, and the two arguments of a reorder.
TYPES = {"bf16": 2, "f32": 3, "u8": 6, "f64": 7}
PROCESSOR, FROM, TO = 1, 1, 17
INVALID, UNIMPLEMENTED = 2, 3

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
            if not any(nest.backwards for nest in workload.nests):
                yield Peer(f"{name} strides", lambda build=build: build.strides(workload, data), padding_free=True)
            for suffix, words in formats(workload):
                prepare = lambda build=build, words=words: build.formats(workload, data, *words)  # noqa: E731
                yield Peer(f"{name} formats{suffix}", prepare, padding_free=True)


def formats(workload):
    """Sizes and the two names of formats, where oneDNN has such names.

    Some of its kernels want one side to be named as if it were row-major, so an order of dimensions is named both ways.
    """
    sides = (workload.source, workload.destination)
    rank = len(workload.sizes)
    orders = [tuple(range(rank))]
    if all(len(factors) == 1 for side in sides for factors in side.factors):
        for side in sides:
            order = tuple(sorted(range(rank), key=lambda dimension: (-side.factors[dimension][0][1], dimension)))
            orders += [order] * (order not in orders)
        if len(orders) == 3:
            # Neither side is row-major as it is.
            del orders[0]
    found = []
    for order in orders:
        names = [name_of(layout, workload.sizes, order) for layout in sides]
        if None not in names and names[0] != names[1]:
            found.append((", renamed" if found else "", ([workload.sizes[dimension] for dimension in order], *names)))
    return found


def name_of(layout, sizes, order):
    """`ab`, `aBcd16b`, or `AB4a128b2a` for T(8,128)(2,1), where the dimensions have letters in this order."""
    if layout.window:
        return None
    outer, blocks = [], []
    for letter, dimension in zip("abcdefghijkl", order):
        factors = layout.factors[dimension]
        (extent, stride), within = factors[0], bounds(factors)[0]
        if -(-sizes[dimension] // within) != extent:
            # The outermost block is not full, so there is one of it.
            factors, extent, stride = (None, *factors), 1, float("inf")
        if list(factors[1:]) != sorted(factors[1:], key=lambda factor: -factor[1]):
            # Of the blocks of a dimension, what is minor in memory is minor in the index.
            return None
        blocks += [(stride, extent, letter) for extent, stride in factors[1:]]
        outer.append((stride, extent, letter.upper() if len(factors) > 1 else letter))
    outer.sort(key=lambda each: -each[0])
    blocks.sort(reverse=True)
    if blocks and any(stride < blocks[0][0] and extent > 1 for stride, extent, _ in outer):
        return None
    return "".join(letter for *_, letter in outer) + "".join(f"{extent}{letter}" for _, extent, letter in blocks)


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
        if status == UNIMPLEMENTED or status == INVALID and name.endswith("string_tag"):
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

    def formats(self, workload, data, sizes, *names):
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
