"""JAX on the processor: a compiled reshape and transposition, and `device_put` of a strided view.

The compiled function writes into a result that is handed back to it, so that no page is touched for the first time.
`device_put` is XLA's plan for transpositions; it allocates.
"""

from math import prod

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy

from data import UNTOUCHED
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
            shape, read = reading(workload.source, workload.sizes)
            old_shape, write = writing(workload.destination, workload.sizes)
            source = jax.device_put(data.whole.view(kind)[: prod(shape)].reshape(shape), may_alias=True)
            call = jax.jit(lambda source, old: write(read(source), old), donate_argnums=1, keep_unused=True)
            old = numpy.full(prod(old_shape) * kind.itemsize, UNTOUCHED, "u1").view(kind).reshape(old_shape)
            made[:] = [jnp.array(old)]

            def once():
                made[:] = [call(source, made[0])]
                made[0].block_until_ready()

            return repeated(once)

        return Peer("JAX jit", prepare, lambda: padded(numpy.asarray(made[0]), data), padding_free=True)


def reading(layout, sizes):
    """The shape of the memory, and what makes the array of it."""
    if layout.window:
        window = layout.window
        parts = slices(window, [1 if step == 0 else size for size, step in zip(sizes, window.steps)])
        return window.shape, lambda memory: jnp.broadcast_to(memory[parts], sizes)
    shape, order, padded_sizes = memory_form(layout)
    logical = sorted(range(len(order)), key=order.__getitem__)

    def read(memory):
        array = jnp.transpose(memory, logical).reshape(padded_sizes)
        return array[tuple(slice(size) for size in sizes)]

    return shape, read


def writing(layout, sizes):
    """The shape of the memory, and what makes its new contents of an array and the old ones."""
    if layout.window:
        parts = slices(layout.window, sizes)
        return layout.window.shape, lambda array, old: old.at[parts].set(array)
    shape, order, padded_sizes = memory_form(layout)
    factors = tuple(extent for dimension in layout.factors for extent, _ in dimension)

    def write(array, _old):
        array = jnp.pad(array, [(0, large - size) for large, size in zip(padded_sizes, sizes)])
        return jnp.transpose(array.reshape(factors), order)

    return shape, write


def slices(window, sizes):
    """As Python writes them: what goes back to the first place has no end."""
    found = []
    for start, step, size in zip(window.starts, window.steps, sizes):
        end = start + size * step
        found.append(slice(start, end if end >= 0 else None, step) if step else slice(start, start + 1))
    return tuple(found)


def memory_form(layout):
    """The shape of the memory, the factor that each of its dimensions is, and the padded sizes."""
    factors = [factor for dimension in layout.factors for factor in dimension]
    order = sorted(range(len(factors)), key=lambda place: (-factors[place][1], place))
    padded_sizes = tuple(prod(extent for extent, _ in dimension) for dimension in layout.factors)
    return tuple(factors[place][0] for place in order), order, padded_sizes


def padded(array, data):
    """As many bytes as the destination has."""
    return array.reshape(-1).view("u1")[: data.destination.size]
