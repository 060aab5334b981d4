"""What random plans are drawn from: families of moves that people make, each with its weight.

A family gets a `Draw`, an element and how many elements it should come to, and returns a `Workload`, or None where what it drew
makes no sense; then everything is drawn again. `random_plans.py` says what else is drawn again.
"""

from math import prod

from draw import exponent, power
from layouts import ordered, windowed
from tiles import tiles
from workloads import Workload

CHANNELS = (3, 4, 16, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024, 1280, 2048)
MAPS = (7, 8, 14, 16, 28, 32, 56, 64, 112, 128, 224, 256, 512)


def permutations(draw, element, count):
    """Ranks of 2 to 6, in which no two neighbours stay neighbours. A third has powers of two as sizes, a third multiples of a
    number from 4 to 48, a third anything."""
    rank = draw.whole(2, 6)
    order = draw.shuffled(rank)
    while any(after == before + 1 for before, after in zip(order, order[1:])):
        order = draw.shuffled(rank)
    cuts = sorted(draw.unit() for _ in range(rank - 1))
    shares = [high - low for low, high in zip([0, *cuts], [*cuts, 1])]
    step = draw.one((None, draw.whole(4, 48), 1))
    sizes = []
    for share in shares:
        wanted = max(2.0, _root(count, share))
        if step is None:
            size = 2
            while size * 1.5 < wanted:
                size *= 2
        else:
            size = max(step, round(wanted / step) * step)
        sizes.append(max(2, size))
    return _permuted(f"{rank}-D {_words(order)}", element, sizes, order)


def channels(draw, element, count):
    """NCHW to NHWC and NCDHW to NDHWC and back: 3 to 2,048 channels, maps of 7 to 512, a video of 4 to 64 pictures."""
    deep = draw.chance(0.25)
    some = _channels(draw)
    side = _map(draw)
    other = side if draw.chance(0.8) else _map(draw)
    depth = (draw.whole(4, 64),) if deep else ()
    batch = round(count / (some * prod(depth) * side * other))
    if batch < 1:
        return None
    sizes = (batch, some, *depth, side, other)
    last = (0, *range(2, len(sizes)), 1)
    names = ("NCDHW", "NDHWC") if deep else ("NCHW", "NHWC")
    return _between(draw, names, element, sizes, (range(len(sizes)), last))


def filters(draw, element, count):
    """OIHW, HWIO and OHWI, with 1x1, 3x3 and 7x7."""
    side = draw.one((1, 3, 7))
    ratio = draw.log(0.125, 8)
    inputs = max(3, round(_root(count / side**2 / ratio, 0.5)))
    outputs = max(3, round(count / side**2 / inputs))
    if draw.chance(0.5):
        inputs, outputs = (max(16, size // 16 * 16) for size in (inputs, outputs))
    forms = {"OIHW": (0, 1, 2, 3), "HWIO": (2, 3, 1, 0), "OHWI": (0, 2, 3, 1)}
    names = [list(forms)[place] for place in draw.shuffled(3)[:2]]
    return _between(draw, names, element, (outputs, inputs, side, side), [forms[name] for name in names])


def attention(draw, element, count):
    """Heads, windows, pixel shuffles, patches and caches of keys and values."""
    kind = draw.one((_heads, _windows, _shuffles, _caches))
    return kind(draw, element, count)


def _heads(draw, element, count):
    heads, width = draw.one((8, 12, 16, 20, 32, 40, 64)), draw.one((32, 64, 80, 96, 128))
    length = draw.one((round(draw.log(77, 8192)), 1 << draw.whole(7, 13)))
    kind = draw.one(("heads", "heads", "merge", "keys", "qkv"))
    batch = round(count / (heads * width * length * (3 if kind == "qkv" else 1)))
    if kind == "qkv":
        return _permuted("split q, k, v 2,0,3,1,4", element, (batch, length, 3, heads, width), (2, 0, 3, 1, 4))
    if kind == "merge":
        return _permuted("merge heads 0,2,1,3", element, (batch, heads, length, width), (0, 2, 1, 3))
    order = (0, 2, 1, 3) if kind == "heads" else (0, 2, 3, 1)
    return _permuted(f"attention {_words(order)}", element, (batch, length, heads, width), order)


def _windows(draw, element, count):
    side, across = draw.one((7, 8, 12, 16)), draw.one((2, 4, 8, 14, 16))
    some = draw.one((32, 48, 96, 128, 192, 256, 384, 768))
    batch = round(count / (some * (side * across) ** 2))
    if draw.chance(0.5):
        return _permuted("windows", element, (batch, across, side, across, side, some), (0, 1, 3, 2, 4, 5))
    return _permuted("windows back", element, (batch, across, across, side, side, some), (0, 1, 3, 2, 4, 5))


def _shuffles(draw, element, count):
    by = draw.one((2, 2, 3, 4))
    side, some = _map(draw), draw.one((3, 4, 16, 32, 64, 128))
    batch = round(count / (some * by * by * side * side))
    kind = draw.below(4)
    if kind == 0:
        return _permuted("pixel shuffle", element, (batch, some, by, by, side, side), (0, 1, 4, 2, 5, 3))
    if kind == 1:
        return _permuted("pixel unshuffle", element, (batch, some, side, by, side, by), (0, 1, 3, 5, 2, 4))
    if kind == 2:
        return _permuted("space to depth", element, (batch, side, by, side, by, some), (0, 1, 3, 2, 4, 5))
    by, across = draw.one((8, 14, 16)), draw.one((7, 14, 16, 24, 32))
    batch = round(count / (3 * (by * across) ** 2))
    return _permuted("patches", element, (batch, 3, across, by, across, by), (0, 2, 4, 3, 5, 1))


def _caches(draw, element, count):
    heads, width = draw.one((1, 2, 4, 8, 16, 32)), draw.one((64, 128))
    kind = draw.below(3)
    if kind == 0:
        # Into, or out of, a cache with room for more tokens.
        room = 1 << draw.whole(7, 13)
        length = draw.whole(room // 2, room)
        batch = round(count / (heads * width * length))
        sizes = (batch, heads, length, width)
        if batch < 1:
            return None
        sides = [ordered(sizes), windowed(sizes, (batch, heads, room, width), (0, 0, draw.whole(0, room - length), 0))]
        if draw.chance(0.5):
            sides.reverse()
        return Workload("", "cache with room", element, sizes, *sides)
    block = draw.one((8, 16, 32))
    blocks = round(count / (block * heads * width))
    if kind == 1:
        by = draw.one((4, 8, 16))
        return _permuted("paged keys", element, (blocks, block, heads, width // by, by), (0, 2, 3, 1, 4))
    return _permuted("paged values", element, (blocks, block, heads, width), (0, 2, 3, 1))


def strided(draw, element, count):
    """Pitches, crops, every second, reversed and broadcast arrays."""
    rank = draw.whole(2, 4)
    if rank == 2:
        rows = round(draw.log(16, max(16.0, count / 16)))
        sizes = (rows, max(2, round(count / rows)))
    else:
        some, side = draw.one((1, 3, 4, 16, 64)), round(draw.log(16, 512))
        sizes = (max(1, round(count / (some * side * side))), side, side, some)[4 - rank :]
        sizes = (sizes if rank == 4 else (max(2, round(count / (side * some))), side, some))
    kind = draw.one((_pitch, _crop, _second, _reversed, _broadcast))
    return kind(draw, element, sizes)


def _strided(draw, name, element, sizes, other, into=0.5):
    """From or into the other layout; from it, sometimes into another order of dimensions."""
    if draw.chance(into):
        return Workload("", f"to {name}", element, sizes, ordered(sizes), other)
    order = tuple(range(len(sizes)))
    if draw.chance(0.2):
        order = (0, len(sizes) - 1, *range(1, len(sizes) - 1)) if len(sizes) > 2 else (1, 0)
        name += f", then {_words(order)}"
    return Workload("", f"from {name}", element, sizes, other, ordered(sizes, order))


def _pitch(draw, element, sizes):
    by = draw.one((16, 32, 64, 128, 256))
    row = -(-sizes[-1] // by) * by + draw.one((0, 0, by))
    return _strided(draw, "pitch", element, sizes, windowed(sizes, (*sizes[:-1], row)))


def _crop(draw, element, sizes):
    shape, starts = list(sizes), [0] * len(sizes)
    for place in range(len(sizes)):
        if sizes[place] >= 16:
            shape[place] += draw.whole(0, sizes[place] // 4)
            starts[place] = draw.whole(0, shape[place] - sizes[place])
    return _strided(draw, "crop", element, sizes, windowed(sizes, shape, starts))


def _second(draw, element, sizes):
    places = [place for place in range(len(sizes)) if sizes[place] > 1]
    chosen = [draw.one(places)] if draw.chance(0.7) else places[-2:]
    by = draw.one((2, 2, 2, 3))
    steps = [by if place in chosen else 1 for place in range(len(sizes))]
    shape = [size * step for size, step in zip(sizes, steps)]
    starts = [draw.below(step) for step in steps]
    return _strided(draw, f"every {'second' if by == 2 else 'third'}", element, sizes, windowed(sizes, shape, starts, steps))


def _reversed(draw, element, sizes):
    places = [place for place in range(len(sizes)) if sizes[place] > 1]
    chosen = [draw.one(places)] if draw.chance(0.7) else places
    steps = [-1 if place in chosen else 1 for place in range(len(sizes))]
    starts = [size - 1 if step < 0 else 0 for size, step in zip(sizes, steps)]
    return _strided(draw, "reversed", element, sizes, windowed(sizes, sizes, starts, steps))


def _broadcast(draw, element, sizes):
    places = [place for place in range(len(sizes)) if sizes[place] > 1]
    chosen = draw.one(places)
    steps = [0 if place == chosen else 1 for place in range(len(sizes))]
    shape = [1 if step == 0 else size for size, step in zip(sizes, steps)]
    return _strided(draw, "broadcast", element, sizes, windowed(sizes, shape, None, steps), into=0)


# A name, the weight in percent, and the family.
FAMILIES = (
    ("permutations", 20, permutations),
    ("channels", 15, channels),
    ("filters", 10, filters),
    ("tiles", 30, tiles),
    ("attention", 15, attention),
    ("strided", 10, strided),
)


def _permuted(name, element, sizes, order):
    return Workload("", name, element, tuple(sizes), ordered(sizes), ordered(sizes, order))


def _between(draw, names, element, sizes, orders):
    """From one order of dimensions to the other, or back."""
    sides = [(name, ordered(sizes, order)) for name, order in zip(names, orders)]
    if draw.chance(0.5):
        sides.reverse()
    (first, source), (second, destination) = sides
    return Workload("", f"{first}>{second}", element, sizes, source, destination)


def _root(number, share):
    return power(share * exponent(number))


def _channels(draw):
    return draw.one(CHANNELS) if draw.chance(0.7) else round(draw.log(3, 2048))


def _map(draw):
    return draw.one(MAPS) if draw.chance(0.7) else round(draw.log(7, 512))


def _words(order):
    return ",".join(map(str, order))
