"""The types of the logs in what `Audit.to_dict` and `Audit.logs` return; `docs/json.md` of the project says what each field means."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["BankConflict", "Cycle", "Log", "LogArray", "LogMove", "PaddedArray", "Pair", "Saving", "Work"]


class Work(TypedDict):
    """Operations together."""

    count: int
    timed: int
    nanoseconds: int
    data_bytes: int
    touched_bytes: int
    waste_bytes: int
    unsized_count: int


class Cycle(TypedDict):
    """A sequence of operations that a log repeats."""

    operations: int
    times: int


class Saving(Work):
    """What could be done about moves, and what it would save at most."""

    remedy: str
    sentence: str
    formats: list[str]


class LogArray(TypedDict):
    """An array of a log."""

    format: str
    element_type: str | None
    sizes: str | None
    data_bytes: int | None
    allocated_bytes: int | None


Pair = TypedDict(
    "Pair",
    {
        "from": str,
        "to": str,
        "count": int,
        "timed": int,
        "nanoseconds": int,
        "data_bytes": int,
        "touched_bytes": int,
        "waste_bytes": int,
        "unsized_count": int,
    },
)
Pair.__doc__ = """Moves from one format to another."""

LogMove = TypedDict(
    "LogMove",
    {
        "from": LogArray,
        "to": LogArray,
        "role": str,
        "way": str | None,
        "loops": int,
        "before": str | None,
        "after": str | None,
        "place": str | None,
        "name": str | None,
        "count": int,
        "timed": int,
        "nanoseconds": int,
        "data_bytes": int,
        "touched_bytes": int,
        "waste_bytes": int,
        "unsized_count": int,
        "log_line": int,
    },
)
LogMove.__doc__ = """Moves that are alike and stand between the same operations."""


class PaddedArray(TypedDict):
    """An array with padding that an operation works on."""

    array: LogArray
    operation: str
    count: int
    waste_bytes: int


BankConflict = TypedDict(
    "BankConflict",
    {
        "operation": str,
        "from": LogArray,
        "to": LogArray,
        "vector_bytes": int,
        "ways": int,
        "loops": int,
        "place": str | None,
        "log_line": int,
    },
)
BankConflict.__doc__ = """An access of shared memory in which lanes want different words of one bank."""


class Log(TypedDict):
    """What a log says of moves."""

    log: str
    sentence: str
    kind: str
    writer: str | None
    all: Work
    moved: Work
    converted: Work
    created: Work
    cycle: Cycle | None
    savings: list[Saving]
    pairs: list[Pair]
    moves: list[LogMove]
    padded: list[PaddedArray]
    conflicts: list[BankConflict]
    conflict_count: int
    through_memory: int
    idle_count: int
    sizes_taken_as_1: list[str]
    complete: bool
