"""MLIR, as IREE brings it: affine maps and strides that it evaluates, and `linalg.pack` that IREE compiles and runs."""

from __future__ import annotations

import random
import re
from importlib.metadata import version as installed
from typing import Any

import iree.compiler
import iree.runtime
import numpy as np
from iree.compiler import ir, passmanager

from affine import evaluated
from common import Check, Run, numbered, offsets_in, shape, tiled
from common import either as any_layout

CONTEXT = ir.Context()


def version() -> str:
    return f"IREE {installed('iree-base-compiler')}"


def normalized(text: str) -> list[int] | None:
    """The sizes of the memory that `normalize-memrefs` makes of a layout; None where it makes none."""
    module = ir.Module.parse(f"func.func @f() {{ %a = memref.alloc() : {text}\n memref.dealloc %a : {text}\n return }}")
    passmanager.PassManager.parse("builtin.module(normalize-memrefs)").run(module.operation)
    found = re.search(r"memref\.alloc\(\) : memref<([\dx]*x)f32>", str(module))
    return None if found is None else [int(size) for size in found[1].split("x")[:-1]]


def tile_map(draw: random.Random, rank: int) -> str:
    """A map that cuts dimensions into tiles, maybe twice, in some order of the dimensions."""
    outer: list[str] = []
    inner: list[str] = []
    for dim in draw.sample(range(rank), rank):
        d, tile = f"d{dim}", draw.choice((1, 2, 3, 4, 8))
        if tile == 1:
            outer.append(d)
            continue
        outer.append(f"{d} floordiv {tile}")
        least = draw.choice([part for part in (1, 2, 4) if tile % part == 0])
        if 1 < least < tile:
            inner = [*inner, f"({d} mod {tile}) floordiv {least}", f"{d} mod {least}"]
        else:
            inner.append(f"{d} mod {tile}")
    return ", ".join(outer + inner)


def type_of(dims: tuple[int, ...], layout: str) -> str:
    return f"memref<{'x'.join(map(str, dims))}xf32{layout and ', '}{layout}>"


def map_of(rank: int, results: str) -> str:
    return f"affine_map<({', '.join(f'd{dim}' for dim in range(rank))}) -> ({results})>"


def same(run: Run, text: str, with_size: bool = True, **more: Any) -> None:
    """Compares a memref with what MLIR makes of it."""
    with CONTEXT, ir.Location.unknown():
        memory = ir.MemRefType(ir.Type.parse(text))
        dims, sizes = tuple(memory.shape), normalized(text)
        results = evaluated(ir, memory.affine_map, dims)
    if sizes is None:
        run.unsaid += 1
        return
    offsets = np.ravel_multi_index(tuple(results), sizes) if len(sizes) else results[0]
    run.same(text, offsets.reshape(dims), places=int(np.prod(sizes)) if with_size else None, **more)


def reads_tiles(run: Run) -> None:
    for _ in run.draws(0.5):
        dims = shape(run.random, (1, 2, 3))
        same(run, type_of(dims, map_of(len(dims), tile_map(run.random, len(dims)))))


def gaps(draw: random.Random, extents: list[int]) -> list[int]:
    """Strides in some order, with places between."""
    strides, stride = [0] * len(extents), 1
    for at in draw.sample(range(len(extents)), len(extents)):
        strides[at] = stride
        stride = stride * extents[at] + draw.choice((0, 0, 1, 5))
    return strides


def reads_sums(run: Run) -> None:
    """One result, the offset: strides, and tiles with strides of their own.

    The size is not compared: MLIR's is a bound over rational numbers, which no index may reach. For `memref<9xf32,
    affine_map<(d0) -> ((d0 floordiv 2) * 19 + (d0 mod 2) * 96)>>` it is 163, the largest offset is 153.
    """
    for _ in run.draws(0.5):
        dims = shape(run.random, (1, 2, 3))
        cuts = [run.random.choice((1, 1, 2, 3, 4)) for _ in dims]
        extents = [-(-size // cut) for size, cut in zip(dims, cuts, strict=True)] + cuts
        strides, parts = gaps(run.random, extents), []
        for dim, cut in enumerate(cuts):
            outer, inner = strides[dim], strides[dim + len(dims)]
            tiles = f"(d{dim} floordiv {cut}) * {outer} + (d{dim} mod {cut}) * {inner}"
            parts.append(f"d{dim} * {outer}" if cut == 1 else tiles)
        parts += [str(run.random.randint(1, 9))] * (run.random.random() < 0.3)
        same(run, type_of(dims, map_of(len(dims), " + ".join(parts))), with_size=False)


def reads_joined(run: Run) -> None:
    """Quotients and remainders that add up to a multiple of their dimension: MLIR's size is that of the sum."""
    for _ in run.draws(0.2):
        dims = shape(run.random, (1, 2, 3))
        strides, parts = gaps(run.random, list(dims)), []
        for dim, stride in enumerate(strides):
            cut = run.random.choice((2, 3, 4))
            parts.append(f"(d{dim} floordiv {cut}) * {stride * cut} + (d{dim} mod {cut}) * {stride}")
        same(run, type_of(dims, map_of(len(dims), " + ".join(parts))))


MULTIPLES = (
    "(d0 * 2) floordiv 2, (d0 * 2) mod 2",  # MLIR reads (d0, 0): one place for the remainder
    "(d0 * 16) floordiv 8, (d0 * 16) mod 8",
    "(d0 * 2) floordiv 8, (d0 * 2) mod 8",  # the remainder is 6 at most
    "(d0 * 2) mod 8",
)


def reads_multiples(run: Run) -> None:
    """Remainders of multiples: MLIR simplifies the map, and counts what the remainder can be."""
    for results in MULTIPLES:
        same(run, type_of((4,), map_of(1, results)))


def reads_strided(run: Run) -> None:
    """`strided<…>`, by the map that MLIR has for it; the last element that it reaches is the last place."""
    for _ in run.draws():
        dims = shape(run.random, (1, 2, 3), 6)
        strides, offset = [run.random.randint(0, 40) for _ in dims], run.random.choice((0, 0, 3, 62))
        text = type_of(dims, f"strided<[{', '.join(map(str, strides))}]{f', offset: {offset}' if offset else ''}>")
        with CONTEXT, ir.Location.unknown():
            memory = ir.MemRefType(ir.Type.parse(text))
            offsets = evaluated(ir, memory.affine_map, dims)[0]
            assert memory.get_strides_and_offset() == (strides, offset)
        run.same(text, offsets, places=int(offsets.max()) + 1)


def says_memrefs(run: Run) -> None:
    for _ in run.draws(0.5):
        layout = any_layout(run.random)
        text = run.say(layout, "memref") if layout.rank else None
        if text is None or "strided" in text:
            continue
        same(run, text, layout=layout)


def says_strided(run: Run) -> None:
    for _ in run.draws():
        layout = any_layout(run.random)
        text = run.say(layout, "memref") if layout.rank else None
        if text is None or "affine_map" in text:
            continue
        with CONTEXT, ir.Location.unknown():
            memory = ir.MemRefType(ir.Type.parse(text))
            results = evaluated(ir, memory.affine_map, layout.dims)
        # Without words for a layout, the map is the identity: the index of a row-major array.
        offsets = results[0] if "strided" in text else np.ravel_multi_index(tuple(results), layout.dims)
        run.same(text, offsets.reshape(layout.dims), layout=layout)


def packed(draw: random.Random) -> str:
    """A `linalg.pack` with random tiles and orders."""
    dims = shape(draw, (1, 2, 3), 12)
    inner = draw.sample(range(len(dims)), draw.randint(1, len(dims)))
    tiles = [draw.choice((1, 2, 3, 4, 8)) for _ in inner]
    sizes = [-(-size // dict(zip(inner, tiles, strict=True)).get(dim, 1)) for dim, size in enumerate(dims)]
    outer, words = list(range(len(dims))), ""
    if draw.random() < 0.5:
        draw.shuffle(outer)
        words = f"outer_dims_perm = {outer} "
    target = [sizes[dim] for dim in outer] + tiles
    return (
        f"linalg.pack %x padding_value(%pad : f32) {words}inner_dims_pos = {inner} inner_tiles = {tiles} into %dest : "
        f"tensor<{'x'.join(map(str, dims))}xf32> -> tensor<{'x'.join(map(str, target))}xf32>"
    )


def executed(texts: list[str]) -> list[tuple[tuple[int, ...], Any]]:
    """Compiles the operations to one module, runs each on an arange, and returns its sizes and its buffer."""
    functions, sizes = [], []
    for number, text in enumerate(texts):
        source, target = re.findall(r"tensor<[\dx]*xf32>", text)
        functions.append(
            f"func.func @f{number}(%x: {source}) -> {target} {{\n  %pad = arith.constant 0.0 : f32\n"
            f"  %dest = tensor.empty() : {target}\n  %r = {text}\n  return %r : {target}\n}}"
        )
        sizes.append(tuple(int(size) for size in source.removeprefix("tensor<").split("x")[:-1]))
    binary = iree.compiler.compile_str("\n".join(functions), target_backends=["vmvx"])
    module = iree.runtime.load_vm_flatbuffer(binary, driver="local-task")
    return [(dims, np.asarray(module[f"f{number}"](numbered(dims)).to_host())) for number, dims in enumerate(sizes)]


def reads_packs(run: Run) -> None:
    texts = [packed(run.random) for _ in run.draws(0.2)]
    for text, (dims, buffer) in zip(texts, executed(texts), strict=True):
        run.same(text, offsets_in(buffer, dims), places=buffer.size)


def says_packs(run: Run) -> None:
    layouts = [layout for layout in (tiled(run.random) for _ in run.draws(0.3)) if layout.rank]
    said = [(layout, text) for layout in layouts if (text := run.say(layout, "pack")) is not None]
    texts = [text for _, text in said]
    for (layout, text), (dims, buffer) in zip(said, executed(texts), strict=True):
        run.same(text, offsets_in(buffer, dims), places=buffer.size, layout=layout)


CHECKS = [
    Check("mlir (memref)", "affine maps of tiles, evaluated; sizes of `normalize-memrefs`", reads_tiles),
    Check("mlir (memref)", "affine maps of one result: offsets", reads_sums),
    Check("mlir (memref)", "affine maps of one result, quotients and remainders that add up: offsets and size", reads_joined),
    Check("mlir (memref)", "affine maps of remainders of multiples", reads_multiples),
    Check("mlir (memref)", "strides and an offset", reads_strided),
    Check("mlir (memref)", "affine maps said, evaluated", says_memrefs),
    Check("mlir (memref)", "strides said", says_strided),
    Check("mlir (pack)", "`linalg.pack`, compiled and run on an arange", reads_packs),
    Check("mlir (pack)", "`linalg.pack` said, compiled and run", says_packs),
]
