"""The random plans of the benchmark: they stay what they are, come as often as they should, and Tilework reads them."""

import hashlib
from collections import Counter
from math import prod

import pytest
import tilework as tw
from draw import Draw, exponent, power
from families import FAMILIES
from random_plans import LEAST, MOST, plan, plans


GOLDEN = "22e4882d8b8fb7d80a9bc2686960535ffc3fede1f2177cf92c9916465f5e0884"


def test_a_seed_draws_the_same_plans_everywhere():
    lines = [f"{each.group} {each.label} {'  '.join(each.texts())}" for each in plans(1, range(100))]
    assert lines[0] == "channels NHWC>NCHW f64 f64[38,48,13,32]{1,3,2,0}  f64[38,48,13,32]{3,2,1,0}"
    # Figures of different days are comparable while this holds. A change of it starts the figures anew.
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == GOLDEN


def test_seeds_differ():
    assert [each.texts() for each in plans(1, range(5))] != [each.texts() for each in plans(2, range(5))]


def test_families_and_elements_come_as_often_as_they_should():
    drawn = plans(4, range(2000))
    families = Counter(each.group for each in drawn)
    for name, weight, _ in FAMILIES:
        assert families[name] / 20 == pytest.approx(weight, abs=3), name
    elements = Counter(each.element for each in drawn)
    assert elements["s4"] / 20 == pytest.approx(5, abs=2)
    for name in ("u8", "bf16", "f32"):
        assert elements[name] / 20 == pytest.approx(22, abs=4), name
    # Log-uniform: as many below the geometric middle as above, and every octave is there.
    small = sum(each.bytes < (LEAST * MOST) ** 0.5 for each in drawn)
    assert small / 20 == pytest.approx(50, abs=5)
    assert {each.bytes.bit_length() for each in drawn if each.bytes < MOST} == set(range(16, 29))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tilework_reads_every_plan_as_the_benchmark_means_it(seed):
    draw = Draw(99, seed)
    for number in range(100):
        workload = plan(seed, number)
        layouts = [tw.Layout(text) for text in workload.texts()]
        for layout, meant in zip(layouts, (workload.source, workload.destination)):
            assert layout.dims == workload.sizes, number
            for index in corners(workload.sizes) + [tuple(map(draw.below, workload.sizes)) for _ in range(20)]:
                assert layout.offset(*index) == meant.offset(index), (seed, number, index)
        assert sum(prod(nest.extents) for nest in workload.nests) == prod(workload.sizes), number
        assert LEAST <= workload.bytes <= MOST


def corners(sizes):
    return [(0,) * len(sizes), tuple(size - 1 for size in sizes)]


def test_random_numbers_are_what_splitmix_says():
    draw = Draw()
    assert [draw._next() for _ in range(2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert all(0 <= draw.unit() < 1 for _ in range(100))
    assert {draw.whole(3, 5) for _ in range(100)} == {3, 4, 5}
    assert power(3.5) == pytest.approx(2**3.5) and power(-1.25) == pytest.approx(2**-1.25)
    assert exponent(1000) == pytest.approx(9.965784, abs=1e-6)
