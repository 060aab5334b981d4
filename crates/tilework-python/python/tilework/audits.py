"""The types of what `Audit.to_dict` and `Audit.programs` return; `docs/json.md` of the project says what each field means."""

from __future__ import annotations

from typing import TypedDict

from .logs import Log

__all__ = [
    "Advice",
    "Assumed",
    "Buffer",
    "Cause",
    "Contradiction",
    "Donatable",
    "ElementBits",
    "Findings",
    "Half",
    "Kept",
    "Machine",
    "Message",
    "Move",
    "Moved",
    "Near",
    "Part",
    "Peak",
    "Program",
    "Reason",
    "Replica",
    "Shape",
    "Smallest",
    "Space",
    "Sum",
    "SumOf",
    "Unread",
]


class Sum(TypedDict):
    """Buffers together."""

    buffers: int
    allocated_bytes: int
    data_bytes: int
    waste_bytes: int


class SumOf(Sum):
    """Buffers together that have something in common: a computation, or a line of the program."""

    name: str


class Peak(Sum):
    """The moment when the main memory holds the most."""

    memory_space: int
    time: int
    instruction: str | None


class Space(TypedDict):
    """A memory space."""

    memory_space: int
    name: str | None
    reserved_bytes: int | None
    total: Sum
    peak: Sum | None


ElementBits = TypedDict("ElementBits", {"from": int, "to": int})
ElementBits.__doc__ = """Bits of an element, and those that the layout gives it."""


class Reason(TypedDict):
    """What a part of the memory is for."""

    name: str
    bytes: int


Cause = TypedDict("Cause", {"level": str, "tile": int | None, "dimensions": list[int], "from": int, "to": int})
Cause.__doc__ = """What allocates padding: one level of one or more dimensions."""


class Smallest(TypedDict):
    """The same array in the layout that takes the fewest bytes."""

    shape: str
    allocated_bytes: int


class Shape(Sum):
    """Buffers of one shape."""

    shape: str
    memory_space: int
    at_peak: Sum | None
    causes: list[Cause]
    element_bits: ElementBits | None
    smallest: Smallest | None
    names: list[str]
    operation: str | None
    file: str | None
    line: int | None


class Near(TypedDict):
    """The neighbour that says which line an instruction of the compiler is for."""

    side: str
    operation: str | None
    file: str | None
    line: int | None


class Buffer(TypedDict):
    """A buffer."""

    name: str | None
    shape: str | None
    role: str | None
    memory_space: int
    offset_bytes: int | None
    count: int
    allocated_bytes: int
    data_bytes: int
    waste_bytes: int
    at_peak: bool | None
    in_place_of: str | None
    live: list[int] | None
    computation: str | None
    operation: str | None
    file: str | None
    line: int | None
    near: Near | None
    dump_line: int


Move = TypedDict(
    "Move",
    {
        "operation": str,
        "name": str,
        "count": int,
        "runs": int,
        "runs_known": bool,
        "from": str,
        "to": str,
        "bytes": int,
        "touched_bytes": int,
        "estimated_cycles": int | None,
        "least_nanoseconds": int | None,
        "kind": str | None,
        "run_bytes": int | None,
        "nests": int | None,
        "changes_layout": bool,
        "argument": str | None,
        "donation": str | None,
        "fused": bool,
        "computation": str | None,
        "source_operation": str | None,
        "file": str | None,
        "line": int | None,
        "near": Near | None,
        "dump_line": int,
    },
)
Move.__doc__ = """An instruction that changes a layout, or copies what is there already."""


class Advice(TypedDict):
    """Another layout for an argument or a result."""

    name: str
    asked: str
    number: int
    result: int | None
    shape: str
    instead: str
    saves_bytes: int
    allocated_bytes: int
    instead_allocated_bytes: int


class Donatable(TypedDict):
    """An argument that is not donated, though a result of the same shape could lie in its place."""

    name: str
    number: int
    result: int
    bytes: int


class Moved(TypedDict):
    """What all moves come to."""

    changes: int
    bytes: int
    fused: int
    fused_bytes: int
    free: int
    between_spaces: int
    between_spaces_bytes: int
    again: int
    again_bytes: int
    arguments: int
    arguments_bytes: int
    unknown_loops: int
    timed: int
    estimated_cycles: int


class Contradiction(TypedDict):
    """A size that is not what the layout needs."""

    buffer: str | None
    shape: str
    says_bytes: int
    needs_bytes: int
    rounded: bool
    dump_line: int


class Part(TypedDict):
    """What a message says that memory is for."""

    name: str
    bytes: int


class Kept(TypedDict):
    """What a loop keeps of its steps at the peak, and could compute again."""

    arrays: int
    steps: int
    bytes: int
    file: str | None
    line: int | None


class Half(TypedDict):
    """What less there would be at the peak with half of what the program is given."""

    arguments: list[str]
    size: int
    spares_bytes: int
    peak_bytes: int


class Machine(TypedDict):
    """The machine of `target`, where its memory is known."""

    name: str
    memory_bytes: int
    bytes_per_second: int


class Replica(TypedDict):
    """An argument that several devices have alike."""

    name: str
    number: int
    whole: str
    shape: str
    bytes: int
    devices: int
    spares_bytes: int


class Message(TypedDict):
    """The numbers of an out-of-memory message."""

    memory: str | None
    used_bytes: int | None
    capacity_bytes: int | None
    limit: str
    free_bytes: int | None
    whole_bytes: int | None
    kernel: str | None
    parts: list[Part]


class Program(TypedDict):
    """What the layouts of one program cost."""

    program: str
    sentence: str
    basis: str
    padding_share: float
    peak: Peak | None
    total: Sum
    spaces: list[Space]
    reasons: list[Reason]
    largest: list[Buffer]
    shapes: list[Shape]
    buffers: list[Buffer]
    moves: list[Move]
    arguments: list[Move]
    advice: list[Advice]
    donatable: list[Donatable]
    donatable_bytes: int
    machine: Machine | None
    kept: Kept | None
    half: Half | None
    devices: int | None
    replicas: list[Replica]
    replica_bytes: int
    moved: Moved
    sources: list[SumOf]
    computations: list[SumOf]
    contradictions: list[Contradiction]
    contradiction_count: int
    message: Message | None
    compilers_peak_bytes: int | None
    instructions: int
    complete: bool


class Assumed(TypedDict):
    """Which layouts are supposed."""

    target: str
    shapes: int


class Unread(TypedDict):
    """What could not be read."""

    file: str
    reason: str
    count: int
    lines: list[int]
    bytes: list[int]


class Findings(TypedDict):
    """Everything that an audit has to say."""

    programs: list[Program]
    logs: list[Log]
    assumed: Assumed | None
    unread: list[Unread]
