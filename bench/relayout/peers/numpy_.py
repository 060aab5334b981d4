"""NumPy: `copyto` between strided views, and `ascontiguousarray`, which allocates."""

import numpy

from peers import Peer, repeated


class Rival:
    def __init__(self, options):
        self.title = f"NumPy {numpy.__version__}"

    def peers(self, workload, data, threads):
        if threads > 1 or workload.element == "s4":
            return
        pairs = [(data.view(nest, 1), data.view(nest, 0)) for nest in workload.nests]

        def copy():
            for destination, source in pairs:
                numpy.copyto(destination, source)

        yield Peer("NumPy copyto", lambda: repeated(copy))
        if len(pairs) == 1 and pairs[0][0].flags.c_contiguous and workload.bytes == data.destination.size:
            made = []

            def make():
                made[:] = [numpy.ascontiguousarray(pairs[0][1])]

            yield Peer("NumPy ascontiguousarray", lambda: repeated(make), lambda: made[0])
