"""Every sum of a report on a log, counted again by a reading that knows nothing of the first: slow and plain on purpose."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import tilework as tw

LOGS = Path(__file__).parent.parent.parent.parent / "samples" / "logs"
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "s8": 1, "float": 4, "c10::BFloat16": 2, "FP32": 4, "Int8": 1}


def audited(path: Path) -> dict[str, Any]:
    found = tw.audit(path, top=1_000_000)
    assert not found.to_dict()["unread"]
    (log,) = found.logs
    return dict(log)


def sums(moves: list[tuple[str, str, int, int, int, int]]) -> dict[str, Any]:
    """Of moves, each its formats, its time, and the bytes of elements, of what is touched, and of padding that is written."""
    pairs: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 5)
    for before, after, *numbers in moves:
        pairs[before, after] = [a + b for a, b in zip(pairs[before, after], [1, *numbers], strict=True)]
    total = [sum(column) for column in zip(*pairs.values(), strict=True)]
    return {"pairs": dict(pairs), "total": total}


def work(said: dict[str, Any]) -> list[int]:
    return [said[key] for key in ("count", "nanoseconds", "data_bytes", "touched_bytes", "waste_bytes")]


def agree(log: dict[str, Any], expected: dict[str, Any]) -> None:
    assert work(log["moved"]) == expected["total"]
    assert {(pair["from"], pair["to"]): work(pair) for pair in log["pairs"]} == expected["pairs"]
    # What is listed one by one comes to the same.
    listed = [sum(column) for column in zip(*(work(move) for move in log["moves"]), strict=True)]
    assert listed == expected["total"]


def padded(tag: str, sizes: list[int]) -> int:
    """Places of a tag such as aBcd16b: dimensions with blocks are rounded up to whole ones."""
    blocks = [1] * len(sizes)
    for size, letter in re.findall(r"(\d+)([a-z])", tag):
        blocks[ord(letter) - ord("a")] *= int(size)
    return math.prod(-(-size // block) * block for size, block in zip(sizes, blocks, strict=True))


def test_reorders_of_onednn_are_those_of_a_second_reading() -> None:
    path = LOGS / "onednn.log"
    moves, times, count = [], 0, 0
    for line in path.read_text().splitlines():
        fields = line.split(",")
        if "exec" not in fields:
            continue
        count += 1
        times += round(float(fields[-1]) * 1e6)
        if "reorder" not in fields:
            continue
        arrays = re.findall(r"(?:src|dst):(\w+):\w*:blocked:(\w+):", line)
        sizes = [int(size) for size in fields[-2].split("x")]
        (one, tag), (other, to) = arrays
        data = math.prod(sizes) * BYTES[one]
        read, written = padded(tag, sizes) * BYTES[one], padded(to, sizes) * BYTES[other]
        waste = written - math.prod(sizes) * BYTES[other]
        moves.append((f"{one} {tag}", f"{other} {to}", round(float(fields[-1]) * 1e6), data, read + written, waste))
    log = audited(path)
    agree(log, sums(moves))
    assert (log["all"]["count"], log["all"]["nanoseconds"]) == (count, times)


def channels(words: str) -> tuple[str, int, str]:
    """The name, the vector of channels and the type of a format, by the words of TensorRT's inspector."""
    kind = next(key for key in ("FP32", "Int8") if key in words)
    if "Thirty-two wide" in words or "32 == 0" in words:
        return "kCHW32", 32, kind
    if "Four wide" in words or "4 == 0" in words:
        return "kCHW4", 4, kind
    return "kLINEAR", 1, kind


def test_reformats_of_tensorrt_are_those_of_a_second_reading() -> None:
    layers = json.loads((LOGS / "engine.json").read_text())["Layers"]
    names = {"FP32": "f32", "Int8": "s8"}
    moves = []
    for layer in layers:
        if layer["LayerType"] != "Reformat":
            continue
        ends = []
        for tensor in (layer["Inputs"][0], layer["Outputs"][0]):
            name, vector, kind = channels(tensor["Format/Datatype"])
            sizes = list(tensor["Dimensions"])
            data = math.prod(sizes) * BYTES[kind]
            sizes[1] = -(-sizes[1] // vector) * vector
            ends.append((f"{names[kind]} {name}", data, math.prod(sizes) * BYTES[kind]))
        (before, data, read), (after, own, written) = ends
        moves.append((before, after, 0, data, read + written, written - own))
    log = audited(LOGS / "engine.json")
    agree(log, sums(moves))
    assert log["all"]["count"] == len(layers)


def test_copies_of_pytorch_are_those_of_a_second_reading() -> None:
    events = json.loads((LOGS / "trace.json").read_text())["traceEvents"]
    assert not [event for event in events if event.get("cat") == "kernel"]  # then times would be theirs
    operators = [event for event in events if event.get("cat") == "cpu_op"]

    def within(event: dict[str, Any], other: dict[str, Any]) -> bool:
        start, end = other["ts"], other["ts"] + other["dur"]
        return event is not other and event["tid"] == other["tid"] and start <= event["ts"] < end

    outermost = [event for event in operators if not any(within(event, other) for other in operators)]
    total = sum(round(event["dur"] * 1000) for event in outermost)
    copies = [event for event in operators if event["name"] == "aten::copy_"]
    moved: Counter[str] = Counter(count=len(copies))
    for event in copies:
        said = event["args"]
        count = math.prod(said["Input Dims"][1])
        to, own = (BYTES[kind] for kind in said["Input type"][:2])
        moved["nanoseconds"] += round(event["dur"] * 1000)
        moved["data_bytes"] += count * own
        moved["touched_bytes"] += count * (own + to)
    log = audited(LOGS / "trace.json")
    assert {key: log["moved"][key] for key in moved} == dict(moved)
    assert log["all"]["nanoseconds"] == total


def test_conversions_of_triton_are_those_of_a_second_reading() -> None:
    lines = (LOGS / "matmul.ttgir").read_text().splitlines()
    conversions = [line for line in lines if "ttg.convert_layout" in line and "=" in line]
    data = 0
    pairs: Counter[tuple[str, str]] = Counter()
    for line in conversions:
        types = re.findall(r"tensor<(\d+)x(\d+)xf16, (#\w+)>", line)
        (rows, columns, before), (_, _, after) = types[0], types[-1]
        data += 2 * int(rows) * int(columns)
        pairs[f"f16 {before}", f"f16 {after}"] += 1
    log = audited(LOGS / "matmul.ttgir")
    assert (log["moved"]["count"], log["moved"]["data_bytes"]) == (len(conversions), data)
    assert {(pair["from"], pair["to"]): pair["count"] for pair in log["pairs"]} == dict(pairs)


def fields(message: bytes) -> list[tuple[int, Any]]:
    """The fields of a message of protobuf."""

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 0x80:
                return value, at

    found: list[tuple[int, Any]] = []
    at = 0
    while at < len(message):
        tag, at = number(at)
        if tag & 7 == 2:
            length, at = number(at)
            found.append((tag >> 3, message[at : at + length]))
            at += length
        elif tag & 7 == 0:
            value, at = number(at)
            found.append((tag >> 3, value))
        else:
            at += 8 if tag & 7 == 1 else 4
    return found


def only(message: bytes, number: int) -> list[Any]:
    return [value for own, value in fields(message) if own == number]


def test_transposes_of_onnx_are_those_of_a_second_reading() -> None:
    (graph,) = only((LOGS / "model.onnx").read_bytes(), 7)
    sizes: dict[bytes, list[int]] = {}
    for value in [each for number in (11, 12, 13) for each in only(graph, number)]:
        (kind,) = only(only(value, 2)[0], 1)
        dims = only(only(kind, 2)[0], 1)
        # A size that has a name alone counts as 1.
        sizes[only(value, 1)[0]] = [(only(dim, 1) or [1])[0] for dim in dims]
    for value in only(graph, 5):
        dims = only(value, 1)
        sizes[only(value, 8)[0]] = [size for part in dims for size in ([part] if isinstance(part, int) else part)]
    nodes = only(graph, 1)
    data = moved = idle = 0
    for node in nodes:
        if only(node, 4) != [b"Transpose"]:
            continue
        order = [dim for part in only(only(node, 5)[0], 8) for dim in ([part] if isinstance(part, int) else part)]
        own = sizes[only(node, 1)[0]]
        # Where only ones change places, nothing moves; the batch has a name and may be more.
        named = {0} if own[0] == 1 else set()
        large = [dim for dim in order if own[dim] > 1 or dim in named]
        if large == sorted(large):
            idle += 1
            continue
        moved += 1
        data += 4 * math.prod(own)
    log = audited(LOGS / "model.onnx")
    assert (log["all"]["count"], log["idle_count"]) == (len(nodes), idle)
    assert (log["moved"]["count"], log["moved"]["data_bytes"], log["moved"]["touched_bytes"]) == (moved, data, 2 * data)


def test_changes_of_ttnn_are_those_of_a_second_reading() -> None:
    text = (LOGS / "program.ttnn.mlir").read_text()
    tile = {"bf16": 2048, "bfp_bf8": 1088}
    layouts: dict[str, int] = {}
    for name, grid, memory in re.findall(r"^(#ttnn_layout\d*) = .*, <(\d+x\d+)[,>].*memref<(.*?), #", text, re.M):
        counts = [int(size) for size in re.findall(r"(\d+)x", memory.split("!")[0])]
        each = tile[memory.split(", ")[1].rstrip(">")] if "tile" in memory else 2
        layouts[name] = math.prod(map(int, grid.split("x"))) * math.prod(counts) * each
    moves = []
    body = text[text.index("@forward(") :]
    kinds = "to_layout|to_memory_config|to_device|from_device"
    for line in re.findall(rf'"ttnn\.(?:{kinds})".*', body):
        types = re.findall(r"tensor<([\dx]+)x(?:bf16), (#\w+)>", line)
        (sizes, before), (_, after) = types[0], types[-1]
        data = 2 * math.prod(map(int, sizes.split("x")))
        moves.append((data, layouts[before] + layouts[after], layouts[after] - data))
    log = audited(LOGS / "program.ttnn.mlir")
    assert work(log["moved"]) == [len(moves), 0, *(sum(column) for column in zip(*moves, strict=True))]


@pytest.mark.parametrize("path", sorted(LOGS.iterdir()), ids=lambda path: path.name)
def test_what_a_log_saves_is_a_part_of_what_it_moves(path: Path) -> None:
    log = audited(path)
    for saving in log["savings"]:
        assert work(saving) <= work(log["all"])
        assert saving["count"] <= log["moved"]["count"] and saving["touched_bytes"] <= log["moved"]["touched_bytes"]
