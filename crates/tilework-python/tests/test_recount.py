"""Every number of a report on the dumps of the tests, counted again by a reading that knows nothing of the first.

It is slow and plain on purpose: regular expressions over whole files, memory filled in byte range by byte range at every
moment, loops followed step by step.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import tilework as tw

TESTS = Path(__file__).parent.parent.parent / "tilework-audit" / "tests"
FOLDERS = sorted(folder for kind in ("dumps", "compiled") for folder in (TESTS / kind).iterdir() if folder.is_dir())
BITS = {
    "pred": 8,
    "s8": 8,
    "u8": 8,
    "s16": 16,
    "u16": 16,
    "bf16": 16,
    "f16": 16,
    "s32": 32,
    "u32": 32,
    "f32": 32,
    "s64": 64,
}
MOVING = ("copy", "copy-start", "transpose", "reshape")


def text(folder: Path, mark: str) -> str:
    """The file of a dump whose name has this mark, empty if there is none."""
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(".gz")
        if name.endswith(mark) and "before" not in name:
            data = path.read_bytes()
            return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return ""


def elements(shape: str) -> int:
    """Bytes of the elements of an array, without padding."""
    kind, sizes = re.match(r"(\w+)\[([\d,]*)\]", shape).groups()  # type: ignore[union-attr]
    product = BITS[kind] // 8
    for size in filter(None, sizes.split(",")):
        product *= int(size)
    return product


class Values:
    """The buffers of an assignment."""

    def __init__(self, folder: Path) -> None:
        lives = {}
        for name, start, end in re.findall(r"^    (\S+?):(\d+)-(\d+)$", text(folder, "-live-range.txt"), re.M):
            lives[name] = (int(start), int(end))
        self.has_lives = bool(lives)
        self.last = max((end for _, end in lives.values()), default=0)
        self.all: list[dict[str, Any]] = []
        self.reserved: dict[int, int] = defaultdict(int)
        start = 0
        kept = False
        space = 0
        number = -1
        end = 0
        for line in text(folder, "-buffer-assignment.txt").splitlines():
            if line.startswith("allocation "):
                number += 1
                start, kept = end, "preallocated-temp" not in line
                color = re.search(r"color (\d+)", line)
                space = int(color[1]) if color else 0
                size = int(re.search(r"size (\d+)", line)[1])  # type: ignore[index]
                end = start + size
                self.reserved[space] += size
            elif found := re.match(r" value: <\d+ (\S+?)(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)", line):
                name, size, offset, shape = found[1], int(found[2]), int(found[3]), found[4]
                whole = name if name.endswith("}") else name + "{}"
                life = (0, self.last) if kept else lives.get(whole, (0, self.last))
                value = {"name": whole.removesuffix("{}"), "size": size, "shape": shape, "space": space, "life": life}
                self.all.append(value | {"bytes": (start + offset, start + offset + size)})

    def held(self, space: int, time: int) -> int:
        """Bytes that some buffer holds at a moment."""
        spans = sorted(v["bytes"] for v in self.all if v["space"] == space and v["life"][0] <= time <= v["life"][1])
        total = until = 0
        for start, end in spans:
            total += max(0, end - max(start, until))
            until = max(until, end)
        return total


class Module:
    """The instructions of a module, with what they call."""

    def __init__(self, folder: Path) -> None:
        self.computations: dict[str, list[dict[str, Any]]] = {}
        current: list[dict[str, Any]] = []
        for line in text(folder, "after_optimizations.txt").splitlines():
            if head := re.match(r"(ENTRY )?%?(\S+) \(.*\{$", line):
                current = self.computations.setdefault(head[2], [])
                if head[1]:
                    self.entry = head[2]
            elif found := re.match(r"  (ROOT )?%(\S+) = (\(.*?\)|\S+) ([\w-]+)\((.*)", line):
                rest = re.sub(r"/\*index=\d+\*/", "", found[5])
                operands = re.findall(r"%([^\s,()]+)", rest.split(")", 1)[0])
                current.append(
                    {
                        "root": bool(found[1]),
                        "name": found[2],
                        "shape": found[3],
                        "op": found[4],
                        "rest": rest,
                        "operands": operands,
                    }
                )
        self.callers: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for name, body in self.computations.items():
            for each in body:
                for _, callee in re.findall(r"(calls|to_apply|body|branch_computations)=\{?%([^\s,}]+)", each["rest"]):
                    self.callers[callee].append((name, each["op"]))

    def fused(self, name: str) -> bool:
        """Whether any caller, however far, is a fusion."""
        calls = self.callers[name]
        return any(
            op not in ("while", "call", "conditional", "async-start") or self.fused(caller) for caller, op in calls
        )

    def runs(self, name: str) -> int | None:
        """How often a computation runs; none if that cannot be followed."""
        if name == self.entry:
            return 1
        total = 0
        for caller, op in self.callers[name]:
            outer = self.runs(caller)
            own = self.turns(caller, name) if op == "while" else 1
            if outer is None or own is None:
                return None
            total += outer * own
        return total

    def value(self, computation: str, name: str, given: dict[int, int | None]) -> int | None:
        """A whole number in a computation, where the elements of its parameter are known."""
        each = next(each for each in self.computations[computation] if each["name"] == name)
        if each["op"] == "constant":
            found = re.match(r"(-?\d+)\)", each["rest"])
            return int(found[1]) if found else None
        if each["op"] in ("copy", "bitcast", "copy-start", "copy-done"):
            return self.value(computation, each["operands"][0], given)
        if each["op"] == "get-tuple-element":
            return given.get(int(re.search(r"index=(\d+)", each["rest"])[1]))  # type: ignore[index]
        if each["op"] in ("add", "subtract"):
            a, b = (self.value(computation, operand, given) for operand in each["operands"])
            if a is None or b is None:
                return None
            return a + b if each["op"] == "add" else a - b
        return None

    def turns(self, caller: str, body: str) -> int | None:
        """Runs a loop step by step."""
        loop = next(each for each in self.computations[caller] if f"body=%{body}" in each["rest"])
        if says := re.search(r'known_trip_count":\{"n":"(\d+)"', loop["rest"]):
            return int(says[1])
        condition = re.search(r"condition=%([^\s,]+)", loop["rest"])[1]  # type: ignore[index]
        first = next(each for each in self.computations[caller] if each["name"] == loop["operands"][0])
        if first["op"] != "tuple":
            return None
        state = {place: self.value(caller, operand, {}) for place, operand in enumerate(first["operands"])}
        step = next(each for each in self.computations[body] if each["root"])
        test = next(each for each in self.computations[condition] if each["root"])
        if step["op"] != "tuple" or test["op"] != "compare":
            return None
        way = re.search(r"direction=(\w+)", test["rest"])[1]  # type: ignore[index]
        for count in range(100_000):
            a, b = (self.value(condition, operand, state) for operand in test["operands"])
            if a is None or b is None:
                return None
            goes = {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[way]
            if not goes:
                return count
            state = {place: self.value(body, operand, state) for place, operand in enumerate(step["operands"])}
        return None

    def copies(self) -> dict[str, tuple[int, str, str]]:
        """Copies outside of fusions: the bytes of all runs, and both shapes."""
        found = {}
        for name, body in self.computations.items():
            if self.fused(name):
                continue
            shapes = {each["name"]: each["shape"] for each in body}
            for each in body:
                if each["op"] == "copy" and not each["shape"].startswith("("):
                    source = shapes[each["operands"][0]]
                    runs = self.runs(name)
                    found[each["name"]] = (elements(source) * (1 if runs is None else runs), source, each["shape"])
        return found


def audited(folder: Path) -> dict[str, Any]:
    (program,) = tw.audit(folder, top=1_000_000).programs
    return dict(program)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_buffers_and_sums_are_those_of_a_second_reading(folder: Path) -> None:
    program, values = audited(folder), Values(folder)
    assert program["total"]["buffers"] == len(values.all)
    assert program["total"]["allocated_bytes"] == sum(value["size"] for value in values.all)
    for space in program["spaces"]:
        own = [value for value in values.all if value["space"] == space["memory_space"]]
        assert space["total"]["allocated_bytes"] == sum(value["size"] for value in own)
        assert space["reserved_bytes"] == values.reserved[space["memory_space"]]
    by_name = {(value["name"], value["space"]): value for value in values.all}
    for buffer in program["buffers"]:
        value = by_name[buffer["name"], buffer["memory_space"]]
        assert (buffer["allocated_bytes"], buffer["shape"]) == (value["size"], value["shape"])
        if not buffer["shape"].startswith("("):
            assert buffer["data_bytes"] == elements(buffer["shape"])
        if values.has_lives:
            assert tuple(buffer["live"]) == value["life"], buffer["name"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_peak_and_what_is_there_are_those_of_a_second_reading(folder: Path) -> None:
    program, values = audited(folder), Values(folder)
    peak = program["peak"]
    space, time = peak["memory_space"], peak["time"]
    assert peak["allocated_bytes"] == values.held(space, time)
    ends = {value["life"][1] for value in values.all} | {value["life"][0] for value in values.all}
    assert peak["allocated_bytes"] == max(values.held(space, moment) for moment in ends)
    counted = 0
    for buffer in program["buffers"]:
        if buffer["memory_space"] == space:
            start, end = buffer["live"]
            assert buffer["at_peak"] == (start <= time <= end), buffer["name"]
            assert buffer["at_peak"] or buffer["in_place_of"] is None
            counted += buffer["allocated_bytes"] if buffer["at_peak"] and not buffer["in_place_of"] else 0
    assert counted == peak["allocated_bytes"]
    assert sum(buffer["allocated_bytes"] for buffer in program["largest"]) == peak["allocated_bytes"]
    sizes = [buffer["allocated_bytes"] for buffer in program["largest"]]
    assert sizes == sorted(sizes, reverse=True)
    # Every byte that is reserved has one reason.
    assert sum(reason["bytes"] for reason in program["reasons"]) == values.reserved[space]
    reasons = {reason["name"]: reason["bytes"] for reason in program["reasons"]}
    assert reasons.get("padding", 0) == peak["waste_bytes"]
    assert reasons.get("fragmentation", 0) == values.reserved[space] - peak["allocated_bytes"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_copies_are_those_of_a_second_reading(folder: Path) -> None:
    program, module = audited(folder), Module(folder)
    if not module.computations:
        pytest.skip("the module is not there")
    copies = module.copies()
    listed = [move for move in program["moves"] if move["operation"] == "copy" and not move["fused"]]
    for move in listed:
        if move["name"] in copies:
            bytes_each, source, target = copies[move["name"]]
            assert (move["from"], move["to"]) == (source, target)
            assert move["bytes"] == bytes_each * move["count"], move["name"]
    # A fusion that only wraps a copy is one, and a copy between memories is none of them.
    named = {move["name"] for move in listed}
    bare = {
        name: (size, re.sub(r"S\(\d\)|:(?=\})", "", a), re.sub(r"S\(\d\)|:(?=\})", "", b))
        for name, (size, a, b) in copies.items()
    }
    again = sum(size for name, (size, *_) in bare.items() if copies[name][1] == copies[name][2])
    assert program["moved"]["again_bytes"] >= again
    changing = sum(size for size, a, b in bare.values() if a != b)
    assert sum(move["bytes"] for move in listed if move["changes_layout"]) >= changing
    assert sum(move["count"] for move in listed) >= len([name for name in named if name in copies])


def test_copies_and_loops_of_the_new_dumps_are_counted_exactly() -> None:
    module = Module(TESTS / "compiled" / "loop90")
    assert {name: module.runs(name) for name in module.computations if "region_0" in name} == {
        "wide.region_0.4.sunk": 10
    }
    program = audited(TESTS / "compiled" / "loop90")
    changing = [move for move in program["moves"] if move["operation"] == "copy" and move["changes_layout"]]
    assert {move["name"]: move["runs"] for move in changing} == {"copy.11": 10, "copy.12": 10, "copy.13": 10}
    undonated = Module(TESTS / "compiled" / "undonated").copies()
    same = {name: size for name, (size, a, b) in undonated.items() if a == b}
    assert same == {"copy.3": 256 << 20}
    program = audited(TESTS / "compiled" / "undonated")
    assert program["moved"]["again_bytes"] == 256 << 20
