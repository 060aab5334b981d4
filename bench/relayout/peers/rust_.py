"""The crates of `bench/peers`."""

import ctypes

from memory import integers
from peers import Peer


class Rival:
    def __init__(self, options):
        library = ctypes.CDLL(options.peers_library)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.call = library.peer_run
        self.call.argtypes = [ctypes.c_int, ctypes.c_int, size, pointer, pointer, pointer, pointer, pointer, size, size]
        library.peer_name.restype = ctypes.c_char_p
        self.names = []
        while name := library.peer_name(len(self.names)):
            self.names.append(name.decode())
        self.title = ", ".join(f"crate {name}" for name in self.names)

    def peers(self, workload, data, threads):
        if workload.element == "s4":
            return
        for number, name in enumerate(self.names):
            yield Peer(f"crate {name.split()[0]}", lambda number=number: self.prepare(number, workload, data, threads))

    def prepare(self, number, workload, data, threads):
        width, calls = data.type.itemsize, []
        for nest in workload.nests:
            loops = [integers(numbers) for numbers in (nest.extents, nest.strides(0), nest.strides(1))]
            places = [data.addresses[side] + nest.lowest(side) * width for side in (0, 1)]
            calls.append((number, width, len(nest.loops), *loops, *places, threads))
        # It may do the first and not the rest.
        if any(self.call(*call, 1) for call in calls):
            return None

        def run(times):
            # One nest can be repeated within the library; several must take turns.
            inner, outer = (times, 1) if len(calls) == 1 else (1, times)
            for _ in range(outer):
                for call in calls:
                    if self.call(*call, inner):
                        raise RuntimeError("refused")

        return run
