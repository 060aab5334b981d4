"""`--random SEED`: plans that nobody chose. The same seed draws the same plans everywhere, and plan N does not depend on how
many others are drawn.

A family is drawn by its weight, then an element of 1, 2, 4, 8 or 16 bytes (5 in 100 have 4 bits), and the bytes of all
elements, log-uniform from 32 KiB to 256 MiB; the family draws the rest. These are drawn again, within the family: what comes
to fewer or more bytes than these, what is a copy of one run, and what takes more than twice as many places on one side as it
has elements (four times in the family `strided`, for steps).
"""

from dataclasses import replace

from draw import Draw
from families import FAMILIES
from workloads import BITS

# Bytes of elements are equally likely; 4 bits are one in 20.
ELEMENTS = (("u8", 19), ("bf16", 19), ("f32", 19), ("f64", 19), ("c128", 19), ("s4", 5))

# Hardly anybody has tiles of elements of 8 or 16 bytes.
ELEMENTS_IN_TILES = (("u8", 28), ("bf16", 28), ("f32", 28), ("f64", 6), ("c128", 5), ("s4", 5))

LEAST, MOST = 32 << 10, 256 << 20
TRIES = 100


def plans(seed, numbers):
    """The plans of these numbers."""
    return [plan(seed, number) for number in numbers]


def plan(seed, number):
    draw = Draw(seed, number)
    name, family = draw.weighted([((name, family), weight) for name, weight, family in FAMILIES])
    while True:
        element = draw.weighted(ELEMENTS_IN_TILES if name == "tiles" else ELEMENTS)
        count = draw.log(LEAST, MOST) * 8 / BITS[element]
        # The size stays, or small ones would be rare; but not every family has every size.
        for _ in range(TRIES):
            workload = family(draw, element, count)
            if workload and _sensible(workload, 4 if name == "strided" else 2):
                return replace(workload, group=name)


def _sensible(workload, most):
    if min(workload.sizes) < 1 or not LEAST <= workload.bytes <= MOST:
        return False
    sides = (workload.source, workload.destination)
    if workload.bits < 8 and any(side.window for side in sides):
        # An array of 4 bits in a larger one has no text.
        return False
    elements = workload.bytes * 8 // workload.bits
    if any(layout.room > most * elements for layout in sides):
        return False
    return any(len(nest.loops) > 1 or nest.loops[0][1:] != (1, 1) for nest in workload.nests)
