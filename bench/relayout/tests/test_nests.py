"""The loops that rivals are given: each element is moved once, from its place to its place."""

from itertools import product

import numpy
import pytest
from data import Data, needed
from layouts import ordered, pieced, tagged, tiled, windowed
from memory import Memory, room
from nests import nests
from peers.onednn_ import formats, name_of
from workloads import Workload

SIZES = (29, 50)
TILES = [(8, 128), (8, 12), (12, 8), (5, 7), (1, 1), (64, 64), (3,)]


@pytest.mark.parametrize("source, destination", list(product(TILES, TILES)))
def test_any_two_tiles_have_loops(source, destination):
    check(SIZES, tiled(SIZES, source), tiled(SIZES, destination))


def test_tiles_of_tiles_orders_windows_and_tags_have_loops():
    sizes = (3, 19, 5, 2)
    rows = ordered(sizes)
    for other in (
        tiled(sizes, (8, 1, 1)),
        tiled(sizes, (8, 8), (2, 1)),
        tiled(sizes, (32,), (8,), (2, 1)),
        ordered(sizes, (2, 0, 3, 1)),
        tagged(sizes, "ABcd8b16a2b"),
        tagged(sizes, "aBcd16b"),
        windowed(sizes, (7, 40, 5, 3), (1, 39, 4, 0), (1, -2, -1, 1)),
        pieced(sizes, [(1, 32, 0), (0, 1, 0), (1, 1, 32), (2, 1, 0), (3, 1, 0)], ""),
    ):
        check(sizes, rows, other)
        check(sizes, other, rows)


def check(sizes, source, destination):
    moved = {}
    for nest in nests(sizes, source, destination):
        assert all(stride >= 0 for stride in nest.strides(1))
        for index in product(*map(range, nest.extents)):
            places = [nest.start(side) + sum(map(int.__mul__, index, nest.strides(side))) for side in (0, 1)]
            assert places[1] not in moved
            moved[places[1]] = places[0]
    wanted = {destination.offset(index): source.offset(index) for index in product(*map(range, sizes))}
    assert moved == wanted


def test_tiles_that_leave_a_rest_within_a_tile_are_refused():
    with pytest.raises(ValueError, match="3 does not divide the tile of 8"):
        tiled((16, 16), (8, 8), (3, 1))


def test_numpy_says_what_the_result_is_for_bytes_and_halves_of_bytes():
    sizes = (5, 9)
    for element in ("u8", "s4"):
        source, destination = ordered(sizes), tiled(sizes, (4, 4))
        workload = Workload("", "", element, sizes, source, destination)
        data = Data(workload, Memory(sum(map(room, needed(workload)))))
        found, before = values(data.expected, element), values(data.source, element)
        assert found.size == destination.places
        for index in product(*map(range, sizes)):
            assert found[destination.offset(index)] == before[source.offset(index)]
        padding = set(range(found.size)) - {destination.offset(index) for index in product(*map(range, sizes))}
        assert padding and all(found[place] in (0xA5, [5, 0xA][place % 2]) for place in padding)


def values(array, element):
    return array if element == "u8" else numpy.stack([array & 15, array >> 4], axis=-1).reshape(-1)


def test_onednn_names_what_it_has_names_for():
    sizes = (64, 100, 3, 3)
    for tag in ("abcd", "acdb", "aBcd16b", "ABcd16b16a", "ABcd8b16a2b"):
        layout = tagged(sizes, tag)
        assert name_of(layout, sizes, range(4)) == tag
    assert name_of(tiled(sizes, (8, 1, 1)), sizes, range(4)) == "aBcd8b"
    assert name_of(tiled((5, 300), (8, 128), (2, 1)), (5, 300), range(2)) == "AB4a128b2a"
    assert name_of(windowed((5, 5), (9, 9)), (5, 5), range(2)) is None
    # Blocks must be within the dimensions, not around them.
    assert name_of(pieced((8, 32), [(1, 4, 0), (0, 1, 0), (1, 1, 4)], ""), (8, 32), range(2)) == "Ba4b"
    assert name_of(pieced((8, 32), [(1, 1, 4), (0, 1, 0), (1, 4, 0)], ""), (8, 32), range(2)) is None
    # A block of a dimension that is minor in memory and major in the index.
    scales = [(0, 128, 0), (1, 4, 0), (0, 1, 32), (0, 32, 4), (1, 1, 4)]
    assert name_of(pieced((256, 8), scales, ""), (256, 8), range(2)) is None
    moved = Workload("", "", "f32", (2, 3, 4), ordered((2, 3, 4)), ordered((2, 3, 4), (2, 0, 1)))
    assert formats(moved) == [("", ([2, 3, 4], "abc", "cab")), (", renamed", ([4, 2, 3], "bca", "abc"))]
