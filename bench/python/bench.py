"""Measures the package against NumPy, PyTorch and JAX in one run: `cargo xtask bench python`.

All that is compared takes turns, round after round; a figure is the median of the rounds. Before anything is measured,
all results are compared. GB/s count what is read and what is written, once each.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import tilework as tw

try:
    import torch
except ImportError:
    torch = None

Call = Callable[[], Any]


def seconds(call: Call, times: int) -> float:
    """The time of one of so many calls."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def medians(calls: dict[str, Call], rounds: int, each: float) -> dict[str, float]:
    """The median time of each call; a round takes about `each` seconds for one of them."""
    # A first call may be slow, so that the fastest of several says how many fill the time.
    once = {name: min(seconds(call, 1) for _ in range(5)) for name, call in calls.items()}
    times = {name: max(1, int(each / max(once[name], 1e-7))) for name in calls}
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        # Each begins once, so that nobody always finds the caches that the same one left.
        names = list(calls)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name].append(seconds(calls[name], times[name]))
    return {name: statistics.median(each) for name, each in found.items()}


def small(rounds: int) -> None:
    """Calls on an array of 4 KiB, where the call is what costs."""
    rows = np.random.default_rng(0).random((8, 128), np.float32)
    columns, tiles = tw.Layout("f32[8,128]{0,1}"), tw.Layout("f32[8,128]{1,0:T(4,64)}")
    flat, packed = rows.reshape(-1), tw.pack(rows, columns)
    out, back, transposed = np.empty(1024, np.float32), np.empty_like(rows), np.empty((128, 8), np.float32)
    plan = tw.Plan("f32[8,128]", columns)
    tensor = torch.from_numpy(rows) if torch else None
    calls: dict[str, Call] = {
        "an empty function": lambda: None,
        "`np.ascontiguousarray(a.T)`": lambda: np.ascontiguousarray(rows.T),
        "`a.T.copy()`": lambda: rows.T.copy(),
        "`np.copyto(out, a.T)`": lambda: np.copyto(transposed, rows.T),
        "`tw.pack(a, layout)`": lambda: tw.pack(rows, columns),
        "`tw.pack(a, layout, out=out)`": lambda: tw.pack(rows, columns, out=out),
        '`tw.pack(a, "f32[8,128]{0,1}")`': lambda: tw.pack(rows, "f32[8,128]{0,1}"),
        '`tw.pack(a, "{0,1}")`': lambda: tw.pack(rows, "{0,1}"),
        "`tw.unpack(b, layout, copy=None)`, a view": lambda: tw.unpack(packed, columns, copy=None),
        "`tw.unpack(b, layout)`": lambda: tw.unpack(packed, columns),
        "`tw.unpack(b, layout, out=out)`": lambda: tw.unpack(packed, columns, out=back),
        "`tw.relayout(b, from_, to)`": lambda: tw.relayout(flat, "f32[8,128]", columns),
        "`plan.run(b, out)`": lambda: plan.run(flat, out),
        "`a.reshape(2, 4, 2, 64).transpose(0, 2, 1, 3).ravel()`": lambda: (
            rows.reshape(2, 4, 2, 64).transpose(0, 2, 1, 3).ravel()
        ),
        "the same tiles by `tw.pack(a, layout)`": lambda: tw.pack(rows, tiles),
        "`a.astype(ml_dtypes.bfloat16)`": lambda: rows.astype(ml_dtypes.bfloat16),
        "`tw.astype(a, ml_dtypes.bfloat16)`": lambda: tw.astype(rows, ml_dtypes.bfloat16),
        '`tw.astype(a, "bf16")`': lambda: tw.astype(rows, "bf16"),
        '`tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}")`': lambda: tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}"),
        "`tw.Layout(a)`": lambda: tw.Layout(rows),
        "`layout.locate(777)`": lambda: columns.locate(777),
    }
    if torch:
        calls["`t.permute(1, 0).contiguous()`"] = lambda: tensor.permute(1, 0).contiguous()
        calls["`tw.pack(t, layout)` of a tensor of PyTorch"] = lambda: tw.pack(tensor, columns)
    transpose, on_device = jax.jit(jnp.transpose), jnp.asarray(rows)
    # In rounds of its own: the threads of JAX go on waiting for work on the processors for a while.
    of_jax: dict[str, Call] = {
        "`jax.jit(jnp.transpose)(x)`": lambda: transpose(on_device).block_until_ready(),
        "`jax.device_put(a.T, may_alias=False)`": lambda: jax.device_put(rows.T, may_alias=False).block_until_ready(),
    }
    print("| f32[8,128] | µs |\n|---|--:|")
    for name, took in (medians(calls, rounds, 0.002) | medians(of_jax, rounds, 0.002)).items():
        print(f"| {name} | {took * 1e6:.2f} |")
    print()


# Name, dimensions, dtype, layout, and the same as a reshape and a transpose.
BIG: list[tuple[str, tuple[int, ...], Any, str, tuple[int, ...], tuple[int, ...]]] = [
    ("transpose", (4096, 4096), np.float32, "{0,1}", (4096, 4096), (1, 0)),
    ("transpose", (4096, 4096), ml_dtypes.bfloat16, "{0,1}", (4096, 4096), (1, 0)),
    ("NCHW to NHWC", (32, 256, 56, 56), np.float32, "{1,3,2,0}", (32, 256, 56, 56), (0, 2, 3, 1)),
    ("attention 0,2,1,3", (8, 1024, 16, 64), np.float32, "{3,1,2,0}", (8, 1024, 16, 64), (0, 2, 1, 3)),
    ("to T(8,128)", (4096, 4096), np.float32, "{1,0:T(8,128)}", (512, 8, 32, 128), (0, 2, 1, 3)),
    (
        "to T(8,128)(2,1)",
        (4096, 4096),
        ml_dtypes.bfloat16,
        "{1,0:T(8,128)(2,1)}",
        (512, 4, 2, 32, 128),
        (0, 3, 1, 4, 2),
    ),
]

COLUMNS = {
    "memcpy": "`np.copyto`, nothing moved",
    "tw new": "`tw.pack(a, layout)`",
    "tw out": "`tw.pack(…, out=)`",
    "tw one": "one thread",
    "np new": "`np.ascontiguousarray`",
    "np out": "`np.copyto`",
    "torch new": "`permute().contiguous()`",
    "torch out": "`out.copy_()`",
    "jax put": "`jax.device_put`",
    "jax jit": "`jax.jit(jnp.transpose)`",
}


def big(rounds: int) -> None:
    """Arrays of many MiB, where memory is what costs."""
    print("| GB/s | " + " | ".join(COLUMNS.values()) + " |")
    print("|---|" + "--:|" * len(COLUMNS))
    for name, dims, dtype, braces, shape, order in BIG:
        calls, nbytes = workload(dims, np.dtype(dtype), braces, shape, order)
        found = medians(calls, rounds, 0.02)
        figures = [f"{2 * nbytes / found[column] / 1e9:.1f}" if column in found else "–" for column in COLUMNS]
        sizes = "×".join(map(str, dims))
        print(f"| {name} {sizes} {np.dtype(dtype).name} | " + " | ".join(figures) + " |", flush=True)
    print()


def workload(
    dims: tuple[int, ...], dtype: np.dtype[Any], braces: str, shape: tuple[int, ...], order: tuple[int, ...]
) -> tuple[dict[str, Call], int]:
    """The contestants for one move, which all give the same bytes, and the bytes of the array."""
    count = int(np.prod(dims))
    bits = np.random.default_rng(0).integers(0, 100, count, np.uint32 if dtype.itemsize == 4 else np.uint16)
    data = bits.astype(np.float32).astype(dtype).reshape(dims)
    layout = tw.Layout(braces, dims, dtype)
    view = data.reshape(shape).transpose(order)
    out, like, same = np.empty(count, dtype), np.empty(view.shape, dtype), np.empty(dims, dtype)
    on_device = jnp.asarray(data)
    transpose = jax.jit(lambda x: jnp.transpose(x.reshape(shape), order))
    calls: dict[str, Call] = {
        "memcpy": lambda: np.copyto(same, data),
        "tw new": lambda: tw.pack(data, layout),
        "tw out": lambda: tw.pack(data, layout, out=out),
        "tw one": lambda: tw.pack(data, layout, out=out, threads=1),
        "np new": lambda: np.ascontiguousarray(view),
        "np out": lambda: np.copyto(like, view),
        "jax put": lambda: jax.device_put(view, may_alias=False).block_until_ready(),
        "jax jit": lambda: transpose(on_device).block_until_ready(),
    }
    results = [calls["tw new"](), out, calls["np new"](), calls["jax put"](), calls["jax jit"]()]
    calls["tw out"]()
    if torch:
        tensor = torch.from_dlpack(tw.to_dlpack(data)).reshape(shape)
        room = torch.empty(view.shape, dtype=tensor.dtype)
        calls["torch new"] = lambda: tensor.permute(order).contiguous()
        calls["torch out"] = lambda: room.copy_(tensor.permute(order))
        results.append(tw.pack(calls["torch new"](), "{" + ",".join(map(str, range(len(order))[::-1])) + "}"))
    wanted = np.ascontiguousarray(view).tobytes()
    assert all(np.asarray(result).tobytes() == wanted for result in results), "the results differ"
    return calls, data.nbytes


def everyday(rounds: int) -> None:
    """What people write every day, and the same by this package; on 4 KiB in µs, on 64 MiB in GB/s."""
    print("| what people write | by this package | µs | µs | GB/s | GB/s | times |\n|---|---|--:|--:|--:|--:|--:|")
    for theirs, ours, make in EVERYDAY:
        if "t." in theirs and not torch:
            continue
        found = []
        for shape, each in (((1, 8, 8, 16), 0.002), ((16, 64, 128, 128), 0.05)):
            array = np.random.default_rng(0).random(shape, np.float32)
            calls = dict(zip(("theirs", "ours"), make(array), strict=True))
            results = [np.asarray(call()).astype(np.float32) for call in calls.values()]
            assert np.array_equal(*results), f"{theirs} and {ours} differ"
            found.append((medians(calls, rounds, each), array.nbytes + results[0].nbytes))
        (few, _), (many, nbytes) = found
        rates = [nbytes / many[name] / 1e9 for name in ("theirs", "ours")]
        times = [few[name] * 1e6 for name in ("theirs", "ours")]
        cells = [f"`{theirs}`", f"`{ours}`", *(f"{each:.2f}" for each in times), *(f"{each:.1f}" for each in rates)]
        print("| " + " | ".join(cells) + f" | {rates[1] / rates[0]:.1f} |", flush=True)
    print()


def permuted(array: np.ndarray[Any, Any]) -> tuple[Call, Call]:
    """Both ways to permute a tensor over the same memory."""
    moved = torch.from_numpy(array).permute(0, 2, 3, 1)
    return moved.contiguous, lambda: tw.contiguous(moved)


def last(array: np.ndarray[Any, Any]) -> tuple[Call, Call]:
    """Both ways to put the channels of a tensor last."""
    tensor = torch.from_numpy(array)
    return lambda: tensor.contiguous(memory_format=torch.channels_last), lambda: tw.channels_last(tensor)


def into(array: np.ndarray[Any, Any]) -> tuple[Call, Call]:
    """Both ways to write into an array that is there."""
    moved = array.transpose(0, 2, 3, 1)
    first, second = np.empty(moved.shape, moved.dtype), np.empty(moved.shape, moved.dtype)
    return lambda: (np.copyto(first, moved), first)[1], lambda: (tw.copyto(second, moved), second)[1]


# What people write, the same by this package, and both for an array.
EVERYDAY: list[tuple[str, str, Callable[[np.ndarray[Any, Any]], tuple[Call, Call]]]] = [
    (
        "np.ascontiguousarray(a.T)",
        "tw.transpose(a)",
        lambda a: (lambda: np.ascontiguousarray(a.T), lambda: tw.transpose(a)),
    ),
    (
        "a.transpose(0, 2, 3, 1).copy()",
        "tw.transpose(a, (0, 2, 3, 1))",
        lambda a: (lambda: a.transpose(0, 2, 3, 1).copy(), lambda: tw.transpose(a, (0, 2, 3, 1))),
    ),
    (
        "np.ascontiguousarray(a.swapaxes(1, 2))",
        "tw.contiguous(a.swapaxes(1, 2))",
        lambda a: (lambda: np.ascontiguousarray(a.swapaxes(1, 2)), lambda: tw.contiguous(a.swapaxes(1, 2))),
    ),
    ("np.copyto(out, a.transpose(0, 2, 3, 1))", "tw.copyto(out, a.transpose(0, 2, 3, 1))", into),
    (
        "a.astype(ml_dtypes.bfloat16)",
        "tw.astype(a, ml_dtypes.bfloat16)",
        lambda a: (lambda: a.astype(ml_dtypes.bfloat16), lambda: tw.astype(a, ml_dtypes.bfloat16)),
    ),
    ("t.permute(0, 2, 3, 1).contiguous()", "tw.contiguous(t.permute(0, 2, 3, 1))", permuted),
    ("t.contiguous(memory_format=torch.channels_last)", "tw.channels_last(t)", last),
]


def main() -> None:
    """Prints the tables, after a line that says where they were measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=31)
    rounds = options.parse_args().rounds
    versions = {"tilework": tw, "NumPy": np, "JAX": jax, "PyTorch": torch}
    named = ", ".join(f"{name} {module.__version__}" for name, module in versions.items() if module)
    print(f"{named}, Python {platform.python_version()}; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    everyday(rounds)
    small(rounds)
    big(rounds)


if __name__ == "__main__":
    main()
