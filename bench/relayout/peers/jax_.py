"""JAX on the processor: a compiled reshape and transposition, and `device_put` of a strided view.

The compiled function writes into a result that is handed back to it, so that no page is touched for the first time.
`device_put` is XLA's plan for transpositions; it allocates.
"""

from math import prod

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy

from peers import Peer, repeated

jax.config.update("jax_enable_x64", True)

TYPES = {"u8": "u1", "bf16": ml_dtypes.bfloat16, "f32": "f4", "f64": "f8", "c128": "c16"}


class Rival:
    def __init__(self, options):
        jax.devices()
        self.title = f"JAX {jax.__version__} with jaxlib {jax.lib.__version__}"

    def peers(self, workload, data, threads):
        if workload.element not in TYPES:
            return
        kind = numpy.dtype(TYPES[workload.element])
        yield self.compiled(workload, data, kind)
        (nest, *more) = workload.nests
        view = data.view(nest, 1)
        if not more and view.flags.c_contiguous and view.nbytes == data.destination.size and not workload.source.broadcast:
            made = []

            def put():
                made[:] = [jax.device_put(data.view(nest, 0).view(kind) if kind.itemsize != 2 else self.halves(data, nest))]
                made[0].block_until_ready()

            yield Peer("XLA TransposePlan (device_put)", lambda: repeated(put), lambda: numpy.asarray(made[0]))

    def halves(self, data, nest):
        """NumPy's own type of two bytes has no view as bf16 when it is strided, so the view is made of a bf16 array."""
        return data.view(nest, 0, data.source.view(TYPES["bf16"]))

    def compiled(self, workload, data, kind):
        made = []

        def prepare():
            function, shape = relayout(workload)
            source = jax.device_put(data.source.view(kind)[: prod(shape)].reshape(shape), may_alias=True)
            call = jax.jit(lambda source, old: function(source), donate_argnums=1, keep_unused=True)
            result = jax.eval_shape(function, source)
            made[:] = [jnp.zeros(result.shape, result.dtype)]

            def once():
                made[:] = [call(source, made[0])]
                made[0].block_until_ready()

            return repeated(once)

        return Peer("JAX jit", prepare, lambda: padded(numpy.asarray(made[0]), data), padding_free=True)


def relayout(workload):
    """The move in JAX's words, and the shape that the source has for it."""
    sizes = workload.sizes
    if workload.source.broadcast:
        shape = tuple(1 if factors[0][1] == 0 else size for size, factors in zip(sizes, workload.source.factors))
        return (lambda source: jnp.broadcast_to(source, sizes)), shape
    source_memory, source_order, source_padded = memory_form(workload.source, sizes)
    memory, order, padded_sizes = memory_form(workload.destination, sizes)
    logical = sorted(range(len(source_order)), key=source_order.__getitem__)
    factors = tuple(extent for dimension in full_factors(workload.destination, sizes) for extent, _ in dimension)

    def function(source):
        array = jnp.transpose(source, logical).reshape(source_padded)
        array = array[tuple(slice(size) for size in sizes)]
        array = jnp.pad(array, [(0, large - size) for large, size in zip(padded_sizes, sizes)])
        return jnp.transpose(array.reshape(factors), order)

    return function, source_memory


def full_factors(layout, sizes):
    """The factors, where a pitch pads the dimension that it belongs to."""
    found = [list(dimension) for dimension in layout.factors]
    if layout.text.startswith("strides") and not layout.broadcast:
        found[-1] = [(layout.factors[-2][0][1], 1)]
    return found


def memory_form(layout, sizes):
    """The shape of the memory, the factor that each of its dimensions is, and the padded sizes."""
    dimensions = full_factors(layout, sizes)
    factors = [factor for dimension in dimensions for factor in dimension]
    order = sorted(range(len(factors)), key=lambda place: (-factors[place][1], place))
    padded_sizes = tuple(prod(extent for extent, _ in dimension) for dimension in dimensions)
    return tuple(factors[place][0] for place in order), order, padded_sizes


def padded(array, data):
    """As many bytes as the destination has: a pitch leaves none behind the last row."""
    return array.reshape(-1).view("u1")[: data.destination.size]
