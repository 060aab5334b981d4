"""Triton without a GPU: the linear layouts that it makes of encodings, for registers and for shared memory."""

from __future__ import annotations

import random
from typing import Any

import tilework as tw
import triton
from triton.experimental.gluon.language import _layouts as gluon
from triton.experimental.gluon.language.amd._layouts import AMDMFMALayout

from common import Check, Run, strided, tiled
from common import powers as any_powers
from ttg import Bases, Triton, padded, registers, shared

REAL = Triton()


def version() -> str:
    return f"Triton {triton.__version__}"


def powers(draw: random.Random, rank: tuple[int, ...] = (1, 2, 3), most: int = 6) -> tuple[int, ...]:
    """Sizes of more than one element."""
    while True:
        dims = any_powers(draw, rank, most)
        if max(dims) > 1:
            return dims


def split(draw: random.Random, total: int, rank: int) -> list[int]:
    """Powers of two, one for each dimension, whose product is `total`."""
    sizes = [1] * rank
    while total > 1:
        sizes[draw.randrange(rank)] *= 2
        total //= 2
    return sizes


def pieces(draw: random.Random, dims: list[int]) -> Bases:
    """Blocks of a cluster: each takes a piece of the tensor, or holds what another holds."""
    bases, counts = [], [1] * len(dims)
    for _ in range(draw.choice((0, 0, 0, 1, 2))):
        dim = draw.randrange(len(dims))
        basis = [0] * len(dims)
        if dims[dim] > counts[dim]:
            basis[dim] = counts[dim]
            counts[dim] *= 2
        bases.append(basis)
    return bases


def blocked(draw: random.Random, dims: list[int]) -> Any:
    """Any blocked encoding: also of more registers than the tensor has elements for."""
    rank = len(dims)
    return gluon.BlockedLayout(
        split(draw, draw.choice((1, 2, 4, 8, 16)), rank),
        split(draw, draw.choice((32, 32, 64)), rank),
        split(draw, draw.choice((1, 2, 4, 8)), rank),
        draw.sample(range(rank), rank),
        pieces(draw, dims),
    )


def same_registers(run: Run, layout: Any, dims: list[int]) -> None:
    bits = run.random.choice((8, 16, 32, 64))
    run.same(REAL.tensor(layout, dims, bits), registers(REAL.linear(layout, dims)))


def is_filled(layout: Any, dims: list[int]) -> bool:
    """Whether the tensor has elements for all registers of a thread."""
    counts = blocks_along(layout) if layout.cga_layout else [1] * len(dims)
    return all(own * count <= size for own, count, size in zip(layout.size_per_thread, counts, dims, strict=True))


def reads_blocked(run: Run) -> None:
    for _ in run.draws():
        dims = list(powers(run.random))
        layout = blocked(run.random, dims)
        if is_filled(layout, dims):
            same_registers(run, layout, dims)


def reads_blocked_too_large(run: Run) -> None:
    """Since triton-lang/triton#11541 (3.9), registers without elements of their own go: earlier, they held copies."""
    for _ in run.draws():
        dims = list(powers(run.random))
        layout = blocked(run.random, dims)
        if not is_filled(layout, dims):
            same_registers(run, layout, dims)


def reads_slices(run: Run) -> None:
    for _ in run.draws():
        dims = list(powers(run.random, (2, 3)))
        dim = run.random.randrange(len(dims))
        layout = gluon.SliceLayout(dim, blocked(run.random, dims))
        del dims[dim]
        if len(dims) > 1 and run.random.random() < 0.3:
            dim = run.random.randrange(2)
            layout = gluon.SliceLayout(dim, layout)
            del dims[dim]
        same_registers(run, layout, dims)


def reads_linear(run: Run) -> None:
    """Every bit of the tensor to a register, a lane or a warp in any order, and some that hold what others hold."""
    for _ in run.draws():
        dims = list(powers(run.random, most=5))
        bits = [(dim, 1 << bit) for dim, size in enumerate(dims) for bit in range(size.bit_length() - 1)]
        bases = [[step if at == dim else 0 for at in range(len(dims))] for dim, step in bits]
        bases += [[0] * len(dims) for _ in range(run.random.randint(0, 2))]
        run.random.shuffle(bases)
        cuts = sorted(run.random.randint(0, len(bases)) for _ in range(2))
        parts = bases[: cuts[0]], bases[cuts[0] : cuts[1]], bases[cuts[1] :]
        layout = gluon.DistributedLinearLayout(*parts, [], dims)
        whole = [size * run.random.choice((1, 1, 2, 4)) for size in dims]
        same_registers(run, layout, whole)


def matrix(draw: random.Random) -> Any:
    """What the matrix units of NVIDIA and AMD leave in registers."""
    warps = split(draw, draw.choice((1, 2, 4, 8)), 2)
    kind = draw.choice(("2", "2", "3", "amd"))
    if kind == "2":
        return gluon.NVMMADistributedLayout([2, 0], warps, [16, 8])
    if kind == "3":
        return gluon.NVMMADistributedLayout([3, 0], [4 * warps[0], warps[1]], [16, draw.choice((8, 16, 32, 64, 128)), 16])
    rows, version = draw.choice((16, 32)), draw.choice((1, 2, 3, 4))
    return AMDMFMALayout(version, [rows, rows, 8 if rows == 32 else 16], draw.random() < 0.5, warps)


def reads_matrix(run: Run) -> None:
    for _ in run.draws():
        dims = [1 << run.random.randint(0, 8) for _ in range(2)]
        same_registers(run, matrix(run.random), dims)


def reads_operands(run: Run) -> None:
    for _ in run.draws():
        parent, dims = matrix(run.random), [1 << run.random.randint(4, 7) for _ in range(2)]
        operand = run.random.randrange(2)
        if run.random.random() < 0.3:
            parent, width = blocked(run.random, dims), 0
            if not is_filled(parent, dims):
                continue
        elif isinstance(parent, AMDMFMALayout):
            width = run.random.choice((4, 8))
        elif parent.version[0] == 2:
            width = run.random.choice((1, 2, 4))
        else:
            operand, width = 0, run.random.choice((1, 2, 4))
        same_registers(run, gluon.DotOperandLayout(operand, parent, width), dims)


def same_memory(run: Run, layout: Any, dims: list[int], bits: int) -> None:
    if layout.cga_layout and all(size <= size_of for size, size_of in zip(dims, blocks_along(layout), strict=True)):
        return  # one element in each block, for which Triton's Python has no layout
    linear = REAL.linear(layout, dims)
    offsets, count = shared(linear.offset_bases, linear.block_bases, dims)
    run.same(REAL.memory(layout, dims, bits), offsets, places=count)


def blocks_along(layout: Any) -> list[int]:
    """How many pieces blocks make of each dimension."""
    return [2 * max(steps) or 1 for steps in zip(*layout.cga_layout, strict=True)]


def reads_swizzled(run: Run) -> None:
    for _ in run.draws():
        dims = list(powers(run.random))
        order = run.random.sample(range(len(dims)), len(dims))
        numbers = [run.random.choice((1, 2, 4, 8, 16)) for _ in range(3)]
        layout = gluon.SwizzledSharedLayout(*numbers, order, pieces(run.random, dims))
        same_memory(run, layout, dims, run.random.choice((8, 16, 32, 64)))


def reads_nvmma(run: Run) -> None:
    run.may_refuse("nvmma_shared transposed, of over 2 dimensions")
    for _ in run.draws():
        bits, width = run.random.choice((8, 16, 32)), run.random.choice((0, 32, 64, 128))
        rank, transposed = run.random.choice((2, 2, 3)), run.random.random() < 0.4
        rows, columns = 8 << run.random.randint(0, 3), max(width, 16) * 8 // bits << run.random.randint(0, 2)
        dims = [columns, rows] if transposed else [rows, columns]
        if rank == 3:
            middle = 1 << run.random.randint(0, 2)
            dims = [columns, middle, rows] if transposed else [middle, rows, columns]
        packed = bits == 8 and width == 128 and run.random.random() < 0.3
        layout = gluon.NVMMASharedLayout(width, bits, rank, transposed, packed, [])
        same_memory(run, layout, dims, bits)


def reads_padded(run: Run) -> None:
    """The padding is as Triton documents it: its wheel has no function for it."""
    for _ in run.draws():
        dims = list(powers(run.random, most=4))
        intervals = run.random.sample([2, 4, 8, 16, 32], run.random.choice((1, 1, 2)))
        pairs = [[interval, run.random.choice((1, 2, 4, 8))] for interval in intervals]
        order = run.random.sample(range(len(dims)), len(dims))
        layout = gluon.PaddedSharedLayout.with_identity_for(pairs, dims, order)
        if run.random.random() < 0.4:
            bases = run.random.sample(layout.offset_bases, len(layout.offset_bases))
            layout = gluon.PaddedSharedLayout(pairs, bases, [], dims)
        offsets, count = padded(*shared(layout.offset_bases, [], dims), pairs)
        run.same(REAL.memory(layout, dims, 16), offsets, places=count)


def reads_shared_linear(run: Run) -> None:
    """Any linear map that reaches every element: random steps added to one another."""
    for _ in run.draws():
        dims = list(powers(run.random, most=4))
        bases = [[1 << bit if at == dim else 0 for at in range(len(dims))]
                 for dim, size in enumerate(dims) for bit in range(size.bit_length() - 1)]  # fmt: skip
        run.random.shuffle(bases)
        for _ in range(run.random.randint(0, 6)):
            one, other = run.random.randrange(len(bases)), run.random.randrange(len(bases))
            if one != other:
                bases[one] = [a ^ b for a, b in zip(bases[one], bases[other], strict=True)]
        layout = gluon.SharedLinearLayout(bases, [], run.random.choice((16, 128)))
        offsets, count = shared(bases, [], dims)
        run.same(REAL.memory(layout, dims, 32), offsets, places=count)


def says(run: Run) -> None:
    """Types that Tilework says, parsed by Triton."""
    for _ in run.draws():
        layout = source(run.random)
        text = run.say(layout, "triton") if layout.size > 1 else None
        if text is None:
            continue
        dims = list(layout.dims)
        found = REAL.read_memory(text)
        if isinstance(found, gluon.PaddedSharedLayout):
            bases = shared(found.offset_bases, found.cga_layout, dims)
            offsets, count = padded(*bases, found.interval_padding_pairs)
        else:
            linear = found if isinstance(found, gluon.SharedLinearLayout) else REAL.linear(found, dims)
            offsets, count = shared(linear.offset_bases, linear.block_bases, dims)
        run.same(text, offsets, places=count, layout=layout)


def source(draw: random.Random) -> tw.Layout:
    """Layouts of sizes that are powers of two: tiled, with gaps, and with exchanged columns."""
    dims = powers(draw, (1, 2, 3), 4)
    kind = draw.choice(("tiled", "gaps", "swizzle", "any"))
    sizes = ",".join(map(str, dims))
    if kind == "any":
        return draw.choice((tiled, strided))(draw)
    if kind == "swizzle":
        numbers = draw.randint(1, 3), draw.randint(0, 3), draw.randint(3, 4)
        strides, stride = [], 1
        for size in dims:
            strides.append(stride)
            stride *= size
        shape = f"({sizes}):({','.join(map(str, strides))})" if len(dims) > 1 else f"{sizes}:1"
        return tw.Layout(f"f16 S<{','.join(map(str, numbers))}> o 0 o {shape}")
    if kind == "gaps":
        return gaps(draw, dims)
    tiles = ",".join(str(1 << draw.randint(0, 3)) for _ in dims)
    minor = ",".join(map(str, draw.sample(range(len(dims)), len(dims))))
    return tw.Layout(f"f32[{sizes}]{{{minor}:T({tiles})}}")


def gaps(draw: random.Random, dims: tuple[int, ...]) -> tw.Layout:
    strides, stride = [0] * len(dims), 1
    for dim in draw.sample(range(len(dims)), len(dims)):
        strides[dim] = stride
        stride = stride * dims[dim] + draw.choice((0, 0, 4, 8))
    text = ",".join(map(str, strides))
    return tw.Layout(f"torch.float32 [{','.join(map(str, dims))}] strides [{text}]")


CHECKS = [
    Check("triton", "registers: blocked", reads_blocked),
    Check("triton", "registers: blocked, with more registers than elements", reads_blocked_too_large),
    Check("triton", "registers: slice of blocked", reads_slices),
    Check("triton", "registers: linear", reads_linear),
    Check("triton", "registers: nvidia_mma, amd_mfma", reads_matrix),
    Check("triton", "registers: dot_op of these", reads_operands),
    Check("triton", "memory: swizzled_shared", reads_swizzled),
    Check("triton", "memory: nvmma_shared", reads_nvmma),
    Check("triton", "memory: padded_shared (padding as documented)", reads_padded),
    Check("triton", "memory: shared_linear", reads_shared_linear),
    Check("triton", "memory: types said, parsed by Triton", says),
]
