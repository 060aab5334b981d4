"""einops: patterns that `rearrange` runs."""

from __future__ import annotations

import random
from importlib.metadata import version as installed
from typing import Any

import numpy as np
import numpy.typing as npt
from einops import rearrange

from common import Check, Run, numbered, offsets_in, tiled

FIXED: tuple[tuple[str, dict[str, int], tuple[int, ...]], ...] = (
    ("n c (h2 h1) (w2 w1) -> n h2 w2 c h1 w1", {"h1": 2, "w1": 3}, (2, 3, 4, 6)),
    ("b c h w -> b h w c", {}, (2, 3, 4, 5)),
    ("b h w c -> (b h) (w c)", {}, (2, 3, 4, 5)),
    ("(b1 b2) h w c -> (b1 h) (b2 w) c", {"b1": 2}, (6, 4, 5, 3)),
    ("b (c h1 w1) h w -> b c (h h1) (w w1)", {"h1": 2, "w1": 2}, (1, 8, 3, 5)),
    ("b ... c -> b c ...", {}, (2, 3, 4, 5)),
    ("... h w -> ... w h", {}, (3, 4)),
    ("a 1 b -> b a", {}, (3, 1, 4)),
    ("a b -> a 1 b 1", {}, (3, 4)),
    ("() a b () -> b a", {}, (1, 3, 4, 1)),
)


def version() -> str:
    return f"einops {installed('einops')}"


def pattern(draw: random.Random) -> tuple[str, dict[str, int], tuple[int, ...]]:
    """A pattern of `rearrange`, the sizes that it names, and the array's."""
    names, left, sizes, given = iter("abcdefghijklmnopqrst"), [], [], {}
    axes: list[str] = []
    for _ in range(draw.randint(1, 4)):
        parts = [(next(names) + draw.choice(("", "1", "_x")), draw.randint(1, 4)) for _ in range(draw.choice((1, 1, 2, 3)))]
        size = 1
        for name, extent in parts:
            axes.append(name)
            size *= extent
        unnamed = draw.randrange(len(parts))  # einops finds the size of one of them
        given.update({name: extent for at, (name, extent) in enumerate(parts) if at != unnamed})
        words = " ".join(name for name, _ in parts)
        left.append(f"({words})" if len(parts) > 1 else words)
        sizes.append(size)
    draw.shuffle(axes)
    right: list[str] = []
    while axes:
        count = draw.choice((1, 1, 2, 3))
        group, axes = axes[:count], axes[count:]
        right.append(f"({' '.join(group)})" if len(group) > 1 else group[0])
    if draw.random() < 0.2:
        right.insert(draw.randint(0, len(right)), "1")
    return f"{' '.join(left)} -> {' '.join(right)}", given, tuple(sizes)


def run_text(text: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    made = eval(text, {"np": np, "rearrange": rearrange, "x": array})
    assert isinstance(made, np.ndarray)
    return made


def reads(run: Run) -> None:
    run.may_refuse("`...` stands for dimensions without names")
    for given in [*FIXED, *(pattern(run.random) for _ in run.draws())]:
        words, sizes, dims = given
        named = "".join(f", {name}={size}" for name, size in sizes.items())
        code = f'rearrange(x, "{words}"{named})'
        buffer = run_text(code, numbered(dims))
        run.same(f"{code}  # x: float32 {dims}", offsets_in(buffer, dims), places=buffer.size)


def says(run: Run) -> None:
    for _ in run.draws():
        layout = tiled(run.random)
        text = run.say(layout, "einops")
        if text is None:
            continue
        buffer = run_text(text, numbered(layout.dims))
        run.same(text, offsets_in(buffer, layout.dims), places=buffer.size, layout=layout)


CHECKS = [
    Check("einops", "patterns, run on an arange", reads),
    Check("einops", "patterns said for tiled layouts, run on an arange", says),
]
