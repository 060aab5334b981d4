"""OpenBLAS: `omatcopy`, for matrices, one after the other. It has one thread, and four types of numbers."""

import ctypes
from itertools import product

from peers import Peer, repeated

ROW_MAJOR, STRAIGHT, TRANSPOSED = 101, 111, 112

# More calls than this, and Python's part would be measured.
MATRICES = 1000


class Rival:
    def __init__(self, options):
        import scipy_openblas64

        library = ctypes.CDLL(f"{scipy_openblas64.get_lib_dir()}/libscipy_openblas64_.so")
        integer, pointer = ctypes.c_int64, ctypes.c_void_p
        self.calls = {}
        for element, letter, number in (("f32", "s", ctypes.c_float), ("f64", "d", ctypes.c_double), ("c128", "z", pointer)):
            call = getattr(library, f"scipy_cblas_{letter}omatcopy64_")
            call.argtypes = [ctypes.c_int, ctypes.c_int, integer, integer, number, pointer, integer, pointer, integer]
            call.restype = None
            self.calls[element] = call
        self.title = f"OpenBLAS {scipy_openblas64.__version__} (scipy-openblas64)"

    def peers(self, workload, data, threads):
        if threads == 1 and workload.element in self.calls and not workload.source.broadcast:
            yield Peer("OpenBLAS omatcopy", lambda: self.prepare(workload, data))

    def prepare(self, workload, data):
        call, width = self.calls[workload.element], data.type.itemsize
        complex_one = (ctypes.c_double * 2)(1, 0)
        one = ctypes.addressof(complex_one) if workload.element == "c128" else 1
        calls = []
        for nest in workload.nests:
            if len(nest.loops) < 2 or nest.backwards:
                return None
            *outer, rows, columns = nest.loops
            if columns[2] != 1 or 1 not in (rows[1], columns[1]):
                return None
            straight = columns[1] == 1
            # In the words of the source: how many rows and columns it has, and how far apart its rows are.
            shape = (STRAIGHT, rows[0], columns[0]) if straight else (TRANSPOSED, columns[0], rows[0])
            pitch = rows[1] if straight else columns[1]
            if pitch < shape[2] or rows[2] < columns[0]:
                return None
            for index in product(*(range(loop[0]) for loop in outer)):
                if len(calls) >= MATRICES:
                    return None
                source, destination = (
                    data.addresses[side]
                    + width * (nest.start(side) + sum(step * loop[1 + side] for step, loop in zip(index, outer)))
                    for side in (0, 1)
                )
                calls.append((ROW_MAJOR, *shape, one, source, pitch, destination, rows[2]))

        def once(_alive=complex_one):
            for arguments in calls:
                call(*arguments)

        return repeated(once)
