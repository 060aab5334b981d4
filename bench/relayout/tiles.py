"""Tiles and blocks of real formats, to and from row-major, column-major and each other."""

from dataclasses import dataclass

from draw import exponent, power
from layouts import ordered, pieced, tagged, tiled
from workloads import Workload


@dataclass(frozen=True)
class Format:
    """A real format: its name, how likely it is, the elements that it has, the ranks, the sizes of its outermost tile (over
    the last dimensions), and what makes the layout."""

    name: str
    weight: int
    elements: str
    ranks: tuple
    tile: tuple
    make: object

    @property
    def of(self):
        """What it holds: matrices, or pictures or filters, which have whole maps in each tile's place."""
        whole = self.tile.count(1) if len(self.tile) > 2 else 0
        return "filters" if whole == 2 and len(self.tile) == 4 else "pictures" if whole else "matrices"


def _xla(*levels):
    return lambda element, sizes: tiled(sizes, *levels)


def _tag(tag, text=None):
    return lambda element, sizes: tagged(sizes, tag, text)


def _batched(inner, text=None):
    """A tag of the last two dimensions, `a` and `b`, and whatever stands before them."""

    def make(element, sizes):
        extra = len(sizes) - 2
        letters = "abcdefgh"
        moved = "".join(chr(ord(letter) + extra) if letter.isalpha() else letter for letter in inner)
        return tagged(sizes, letters[:extra] + moved, text)

    return make


def _pieces(text, *pieces):
    return lambda element, sizes: pieced(sizes, pieces, text)


ALL = "u8 bf16 f32 f64 c128"

# XLA on TPUs.
XLA = tuple(
    Format(f"T{words}", weight, elements, ranks, levels[0], _xla(*levels))
    for words, weight, elements, ranks, *levels in (
        ("(8,128)", 10, "bf16 f32 f64 c128", (2, 3, 4), (8, 128)),
        ("(8,128)(2,1)", 6, "bf16", (2, 3, 4), (8, 128), (2, 1)),
        ("(8,128)(4,1)", 6, "u8", (2, 3, 4), (8, 128), (4, 1)),
        ("(8,128)(8,1)", 6, "s4", (2, 3), (8, 128), (8, 1)),
        ("(16,128)(2,1)", 4, "bf16", (2, 3), (16, 128), (2, 1)),
        ("(32,128)(4,1)", 4, "u8", (2, 3), (32, 128), (4, 1)),
        ("(32,128)", 2, "u8", (2, 3), (32, 128)),
        ("(1024)", 2, "f32", (2,), (1024,)),
        ("(1024)(128)(2,1)", 2, "bf16", (1,), (1024,), (128,), (2, 1)),
        ("(1024)(128)(4,1)", 2, "u8", (1,), (1024,), (128,), (4, 1)),
    )
)

# Accelerators of Tenstorrent and Huawei, and what Nvidia's libraries want.
OTHERS = (
    Format("tt_tile", 6, ALL, (2, 3, 4), (32, 32), _batched("AB2a2b16a16b", "tt_tile")),
    Format("FRACTAL_NZ", 6, "bf16", (2, 3, 4), (16, 16), _batched("BA16a16b", "FRACTAL_NZ")),
    Format("FRACTAL_NZ", 6, "u8", (2, 3, 4), (16, 32), _batched("BA16a32b", "FRACTAL_NZ")),
    Format("FRACTAL_NZ", 3, "f32", (2, 3, 4), (16, 8), _batched("BA16a8b", "FRACTAL_NZ C0=8")),
    Format("scales 128x4", 5, "u8", (2,), (128, 4),
           _pieces("scales 128x4", (0, 128, 0), (1, 4, 0), (0, 1, 32), (0, 32, 4), (1, 1, 4))),
    Format("COL32", 4, "u8", (2,), (1, 32), _pieces("COL32", (1, 32, 0), (0, 1, 0), (1, 1, 32))),
    Format("COL4_4R2_8C", 4, "u8", (2,), (8, 32),
           _pieces("COL4_4R2_8C", (1, 32, 0), (0, 8, 0), (0, 1, 2), (1, 4, 8), (0, 2, 4), (1, 1, 4))),
    Format("COL32_2R_4R4", 4, "u8", (2,), (32, 32),
           _pieces("COL32_2R_4R4", (1, 32, 0), (0, 32, 0), (0, 2, 4), (0, 8, 4), (0, 1, 2), (1, 1, 32))),
)

# oneDNN: activations, filters, and matrices for VNNI and AMX.
ONEDNN = (
    Format("nChw8c", 4, "f32", (4,), (8, 1, 1), _tag("aBcd8b", "nChw8c")),
    Format("nChw16c", 6, "u8 bf16 f32", (4,), (16, 1, 1), _tag("aBcd16b", "nChw16c")),
    Format("nCdhw16c", 3, "u8 bf16 f32", (5,), (16, 1, 1, 1), _tag("aBcde16b", "nCdhw16c")),
    Format("OIhw8i8o", 2, "f32", (4,), (8, 8, 1, 1), _tag("ABcd8b8a", "OIhw8i8o")),
    Format("OIhw16i16o", 4, "f32", (4,), (16, 16, 1, 1), _tag("ABcd16b16a", "OIhw16i16o")),
    Format("OIhw16o16i", 2, "f32", (4,), (16, 16, 1, 1), _tag("ABcd16a16b", "OIhw16o16i")),
    Format("OIhw8i16o2i", 4, "bf16", (4,), (16, 16, 1, 1), _tag("ABcd8b16a2b", "OIhw8i16o2i")),
    Format("OIhw4i16o4i", 4, "u8", (4,), (16, 16, 1, 1), _tag("ABcd4b16a4b", "OIhw4i16o4i")),
    Format("AB16b16a", 2, "f32", (2,), (16, 16), _tag("AB16b16a")),
    Format("AB16b64a", 3, "f32", (2,), (64, 16), _tag("AB16b64a")),
    Format("AB16b64a2b", 4, "bf16", (2,), (64, 32), _tag("AB16b64a2b")),
    Format("AB16b64a4b", 4, "u8", (2,), (64, 64), _tag("AB16b64a4b")),
    Format("BA16a64b2a", 3, "bf16", (2,), (32, 64), _tag("BA16a64b2a")),
    Format("BA16a64b4a", 3, "u8", (2,), (64, 64), _tag("BA16a64b4a")),
    Format("aCB16b64c2b", 2, "bf16", (3,), (32, 64), _tag("aCB16b64c2b")),
)

FORMATS = XLA + OTHERS + ONEDNN


def tiles(draw, element, count):
    """Half of the other sides are row-major, a fifth column-major, the rest another format of the same element, rank and
    kind. Half of the sizes are whole tiles, the others anything."""
    known = [(form, form.weight) for form in FORMATS if element in form.elements.split()]
    form = draw.weighted(known)
    rank = draw.one(form.ranks + form.ranks[:1])
    side = draw.weighted((("rows", 5), ("columns", 2), ("other", 3)))
    sizes = _sizes(draw, form, rank, count)
    if sizes is None:
        return None
    layout = form.make(element, sizes)
    others = [pair for pair in known if rank in pair[0].ranks and pair[0].name != form.name and pair[0].of == form.of]
    if side == "other" and others:
        second = draw.weighted(others)
        name, other = second.name, second.make(element, sizes)
    elif side == "columns" and rank > 1:
        name, other = "columns", ordered(sizes, _columns(form, rank))
    else:
        name, other = "rows", ordered(sizes)
    pair = [(form.name, layout), (name, other)]
    if draw.chance(0.5):
        pair.reverse()
    (first, source), (second, destination) = pair
    return Workload("", f"{first} > {second}", element, sizes, source, destination)


def _columns(form, rank):
    """Column-major matrices; pictures with the channels last, and filters as HWIO."""
    if form.of == "matrices":
        return (*range(rank - 2), rank - 1, rank - 2)
    return (2, 3, 1, 0) if form.of == "filters" else (0, *range(2, rank), 1)


def _sizes(draw, form, rank, count):
    tile = (1,) * (rank - len(form.tile)) + form.tile
    if rank == 1:
        size = round(count)
        return (size // tile[0] * tile[0],) if draw.chance(0.5) else (size,)
    if form.of == "filters":
        side = draw.one((1, 3, 3, 7))
        inputs = _root(count / side**2 / draw.log(0.25, 4), 0.5)
        sizes = [round(count / side**2 / inputs), round(inputs), side, side]
    elif form.of == "pictures":
        sizes = _picture(draw, rank, count)
    else:
        ratio = draw.log(1 / 16, 16)
        outer = [max(1, round(draw.log(1, 64))) for _ in range(rank - 2)]
        for extent in outer:
            count /= extent
        columns = _root(count / ratio, 0.5)
        sizes = [*outer, round(count / columns), round(columns)]
    if draw.chance(0.5):
        sizes = [round(size / by) * by for size, by in zip(sizes, tile)]
    return tuple(sizes) if min(sizes) > 0 else None


def _picture(draw, rank, count):
    some = draw.one((3, 16, 32, 64, 96, 128, 256, 512, 1024, 2048)) if draw.chance(0.7) else round(draw.log(3, 2048))
    maps = [round(draw.log(4, 32))] * (rank == 5) + [draw.one((7, 14, 28, 56, 112, 224, 32, 64, 128))] * 2
    for extent in (some, *maps):
        count /= extent
    return [round(count), some, *maps]


def _root(number, share):
    return power(share * exponent(max(1.0, number)))
