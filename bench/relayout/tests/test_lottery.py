"""What is printed of random plans, and the file that several runs fill."""

from types import SimpleNamespace

import pytest
from lottery import File, memory_class, numbers
from rounds import first_run
from targets import summary


def record(number, engine, best, place="L3", group="tiles"):
    lead = best and engine and engine / best
    names = {"label": "x", "from": "A", "to": "B", "bytes": 1 << 20, "threads": 1, "others": 0.0, "failures": {}}
    figures = {"engine": engine, "engine_of_stream": engine, "memcpy_gbs": 9.0}
    figures |= {"best": best, "best_name": best and "peer", "lead": lead}
    return {"plan": number, "group": group, "in": place, **names, **figures}


def test_the_summary_says_families_targets_and_losses():
    rows = [record(0, 0.8, 0.4), record(1, 0.2, 0.4), record(2, 0.95, 0.5, "DRAM", "channels")]
    text = "\n".join(summary(rows))
    assert "| tiles | 2 | 0.40 | 0.40 | - | 0.40 (2) | - | 1.00 | 0.50 | 1 |" in text
    assert "| **all** | 3 | 0.53 | 0.53 | - | 0.40 (2) | 0.95 (1) | 1.24 | 0.50 | 1 |" in text
    assert "| each plan, of its best peer (1 of 3 below) | 0.95 | 0.50 | missed |" in text
    assert "| lead over the best peer, geometric mean | 1.70 | 1.24 | missed |" in text
    assert "| of memcpy in DRAM, geometric mean (0 of 1 below) | 0.90 | 0.95 | reached |" in text
    assert "Slower than the best peer: 1\n" in text
    assert "- 0.50: plan 1, tiles, `A` to `B` (1.00 MiB, L3): 0.20 of memcpy, peer 0.40" in text


def test_the_summary_says_how_slow_first_runs_are():
    rows = [record(0, 0.8, 0.4) | {"first": 0.9}, record(1, 0.2, 0.4) | {"first": 0.4}, record(2, 0.95, 0.5, "DRAM")]
    text = "\n".join(summary(rows))
    assert "| the first run in L3, of the tenth (1 of 2 below, mean 0.60) | 0.80 | 0.40 | missed |" in text
    assert "first run in DRAM" not in text


def test_a_first_run_is_held_against_the_tenth():
    ticks = iter(range(10_000))
    seconds = []

    def fresh():
        seconds.clear()
        return lambda times: seconds.append([next(ticks) for _ in range(7 if not seconds else 2)])

    # The clock counts its own calls as well: 8 for the first run, 3 for the tenth.
    assert first_run(fresh, lambda times: None, lambda: next(ticks)) == 3 / 8


def test_a_little_slower_is_no_loss():
    text = "\n".join(summary([record(0, 0.97, 1.0)]))
    assert "(0 of 1 below) | 0.95 | 0.97 | reached" in text
    assert "Slower than the best peer: none" in text
    assert "| 0.97 | 0.97 | 0 |" in text


def test_without_peers_the_summary_says_the_slowest():
    text = "\n".join(summary([record(0, 0.8, None), record(1, 0.2, None), record(2, None, None)]))
    assert "lead" not in text
    assert text.index("0.20: plan 1") < text.index("0.80: plan 0")


def test_a_file_keeps_what_other_runs_measured(tmp_path):
    options = SimpleNamespace(random=7, clock="wall")
    for number, engine in ((3, 0.5), (1, 0.6), (3, 0.7)):
        file = File(tmp_path / "figures.json", options)
        file.begin("command", [], options)
        file.add(record(number, engine, None))
        file.write()
    found = File(tmp_path / "figures.json", options)
    assert [(each["plan"], each["engine"]) for each in found.records] == [(1, 0.6), (3, 0.7)]
    assert len(found.content["runs"]) == 3
    text = "\n".join(found.report())
    assert "Commands: `command`, `command`, `command`" in text
    assert "| 3 | tiles | x | `A` | `B` | 1.00 | L3 | 9.0 | **0.70** | 0.70 |" in text
    assert "**1 thread**, 2 plans" in text
    with pytest.raises(ValueError, match="seed 7"):
        File(tmp_path / "figures.json", SimpleNamespace(random=8, clock="wall"))


def test_numbers_of_plans():
    def chosen(plan):
        return list(numbers(SimpleNamespace(plan=plan, count=4)))

    assert chosen(None) == [0, 1, 2, 3]
    assert chosen("7") == [7]
    assert chosen("2..4") == [2, 3]
    for wrong in ("x", "4..4", "1..x"):
        with pytest.raises(ValueError, match="--plan"):
            chosen(wrong)


def test_the_smallest_cache_that_both_arrays_fit_into():
    caches = {1: 48 << 10, 2: 2 << 20, 3: 32 << 20}
    assert [memory_class(size << 20, caches) for size in (1, 2, 3, 32, 33)] == ["L2", "L2", "L3", "L3", "DRAM"]
