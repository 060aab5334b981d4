"""Moving data, compared with NumPy's pad, reshape and transpose."""

from __future__ import annotations

import array
import copy
import mmap
import pickle
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tilework as tw

# XLA's names beside NumPy's.
TYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "u16": np.uint16,
    "s32": np.int32,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f64": np.float64,
    "c128": np.complex128,
    "s4": ml_dtypes.int4,
}
NARROW = {
    "s4": (ml_dtypes.int4, 4),
    "u4": (ml_dtypes.uint4, 4),
    "f4e2m1fn": (ml_dtypes.float4_e2m1fn, 4),
    "s2": (ml_dtypes.int2, 2),
    "u2": (ml_dtypes.uint2, 2),
    "pred": (np.bool_, 1),
}


class Tiled(NamedTuple):
    """A layout as the recipe needs it."""

    name: str
    dims: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    tile: tuple[int, ...]

    def text(self, more: str = "") -> str:
        """The layout as XLA writes it, which gives a scalar no braces."""
        if not self.dims:
            return f"{self.name}[]"
        tile = f"T({','.join(map(str, self.tile))})" if self.tile else ""
        inner = ":".join(part for part in [",".join(map(str, self.minor_to_major)), tile + more] if part)
        return f"{self.name}[{','.join(map(str, self.dims))}]{{{inner}}}"


@st.composite
def tiled(draw: st.DrawFn, names: list[str], rank: int = 0) -> Tiled:
    dims = tuple(draw(st.lists(st.integers(0, 7), min_size=rank, max_size=4)))
    order = tuple(draw(st.permutations(range(len(dims)))))
    tile = tuple(draw(st.lists(st.integers(1, 4), max_size=len(dims))))
    return Tiled(draw(st.sampled_from(names)), dims, order, tile)


def values(dtype: Any, dims: tuple[int, ...], seed: int) -> NDArray[Any]:
    """Random bytes as elements; of booleans and narrow elements the low bits."""
    dtype = np.dtype(dtype)
    mask = {"bool": 1, "int4": 15, "uint4": 15, "float4_e2m1fn": 15, "int2": 3, "uint2": 3}.get(dtype.name, 255)
    count = int(np.prod(dims, dtype=np.int64)) * dtype.itemsize
    return (np.random.default_rng(seed).integers(0, 256, count, np.uint8) & mask).view(dtype).reshape(dims)


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> None:
    """Compares bytes: NaNs are equal, and zeros have a sign."""
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def recipe(data: NDArray[Any], layout: Tiled, fill: Any = 0) -> NDArray[Any]:
    """The flat buffer by NumPy: pad, reshape, transpose."""
    physical = data.transpose(layout.minor_to_major[::-1])
    rank, tiles = physical.ndim, len(layout.tile)
    up = [0] * (rank - tiles) + [-size % tile for size, tile in zip(physical.shape[rank - tiles :], layout.tile)]
    padded = np.full([size + more for size, more in zip(physical.shape, up)], fill, dtype=data.dtype)
    padded[tuple(map(slice, physical.shape))] = physical
    outer = list(padded.shape[: rank - tiles])
    split = [part for size, tile in zip(padded.shape[rank - tiles :], layout.tile) for part in (size // tile, tile)]
    grid = padded.reshape(outer + split)
    first = rank - tiles
    order = [*range(first), *range(first, grid.ndim, 2), *range(first + 1, grid.ndim, 2)]
    return np.ascontiguousarray(grid.transpose(order)).reshape(-1)


def strided(data: NDArray[Any], draw: Any) -> NDArray[Any]:
    """The same elements with other strides: in another order, with gaps, backwards."""
    order = draw(st.permutations(range(data.ndim)))
    steps = [draw(st.sampled_from([1, 2, -1, -3])) for _ in order]
    room = np.zeros([size * abs(step) + 1 for size, step in zip((data.shape[k] for k in order), steps)], data.dtype)
    view = room[(*(slice(None, None, step) for step in steps), ...)]
    view = view[(*(slice(0, data.shape[k]) for k in order), ...)].transpose(np.argsort(order))
    view[...] = data
    return view


@given(tiled(list(TYPES)), st.integers(0, 2**32), st.data())
@settings(max_examples=300, deadline=None)
def test_pack_is_pad_reshape_transpose_and_unpack_its_inverse(layout: Tiled, seed: int, data: st.DataObject) -> None:
    elements = values(TYPES[layout.name], layout.dims, seed)
    given_array = strided(elements, data.draw)
    packed = tw.pack(given_array, layout.text())
    same_bits(packed, recipe(elements, layout))
    same_bits(tw.unpack(packed, layout.text()), elements)
    same_bits(tw.unpack(packed, layout.text(), copy=True), elements)
    same_bits(tw.unpack(packed.tobytes(), layout.text()), elements)
    out = strided(np.zeros_like(elements), data.draw)
    assert tw.unpack(packed, layout.text(), out=out) is out
    same_bits(out, elements)


@given(tiled(["f32", "bf16", "u16", "c128"]), st.data())
@settings(max_examples=150, deadline=None)
def test_a_relayout_is_an_unpack_and_a_pack(layout: Tiled, data: st.DataObject) -> None:
    other = data.draw(tiled([layout.name]))
    rank = len(layout.dims)
    order = data.draw(st.permutations(range(rank)))
    other = Tiled(layout.name, layout.dims, tuple(order), other.tile[:rank])
    elements = values(TYPES[layout.name], layout.dims, 1)
    source, wanted = recipe(elements, layout, 3), recipe(elements, other, 5)
    same_bits(tw.relayout(source, layout.text(), other.text(), fill=5), wanted)
    plan = tw.Plan(layout.text(), other.text(), fill=5)
    same_bits(plan.run(source), wanted)
    out = bytearray(wanted.nbytes)
    assert plan.run(source.tobytes(), out) is out
    assert bytes(out) == wanted.tobytes()


@given(tiled(list(NARROW), 1), st.data())
@settings(max_examples=200, deadline=None)
def test_elements_below_a_byte_lie_low_bits_first(layout: Tiled, data: st.DataObject) -> None:
    dtype, bits = NARROW[layout.name]
    elements = values(dtype, layout.dims, 2)
    places = recipe(elements, layout).view(np.uint8)
    each = (places[:, None] >> np.arange(bits, dtype=np.uint8)) & 1
    wanted = np.packbits(each.reshape(-1), bitorder="little")
    text = layout.text(f"E({bits})")
    packed = tw.pack(strided(elements, data.draw), text)
    same_bits(packed, wanted)
    same_bits(tw.unpack(packed, text), elements)
    out = strided(np.zeros_like(elements), data.draw)
    room = out.base if out.base is not None else out
    before = room.copy()
    tw.unpack(packed, text, out=out)
    same_bits(out, elements)
    out[...] = 0
    same_bits(room, before)  # what lies between the elements of out stays as it is


@pytest.mark.parametrize(
    ("fill", "bits"),
    [(0, 0), (1, 0x3F80), ("one", 0x3F80), ("lowest", 0xFF80), ("highest", 0x7F80), ("nan", 0x7FC0), (-2.5, 0xC020)]
    + [("0x1234", 0x1234), (np.float32(1), 0x3F80), (float("inf"), 0x7F80), (True, 0x3F80), (float("nan"), 0x7FC0)],
)
def test_padding_is_filled_with_a_value_of_the_element_type(fill: Any, bits: int) -> None:
    packed = tw.pack(np.zeros(3, ml_dtypes.bfloat16), "{0:T(4)}", fill=fill)
    assert packed.view(np.uint16).tolist() == [0, 0, 0, bits]


def test_fills_are_as_wide_as_the_places() -> None:
    assert tw.pack(np.zeros(3, np.complex64), "{0:T(4)}", fill=1 - 2j)[3] == 1 - 2j
    assert tw.pack(np.zeros(3, ml_dtypes.int4), "{0:T(4)}", fill=-8)[3] == -8
    assert tw.pack(np.zeros(3, ml_dtypes.int4), "{0:T(4)E(4)}", fill=-8).tolist() == [0, 0x80]
    assert tw.pack(np.zeros(3, np.uint64), "{0:T(4)}", fill=2**64 - 1)[3] == 2**64 - 1
    assert tw.pack(np.ones(3, ml_dtypes.float8_e8m0fnu), "{0:T(4)}").view(np.uint8).tolist() == [127, 127, 127, 0]


def test_without_a_fill_padding_stays_and_is_zero_in_a_new_buffer() -> None:
    out = np.full(4, 9, np.int32)
    tw.pack(np.arange(3, dtype=np.int32), "{0:T(4)}", out=out, fill=None)
    assert out.tolist() == [0, 1, 2, 9]
    assert tw.pack(np.arange(3, dtype=np.int32), "{0:T(4)}", fill=None).tolist() == [0, 1, 2, 0]
    assert tw.Plan("s32[3]", "s32[3]{0:T(4)}").run(np.arange(3, dtype=np.int32), out).tolist() == [0, 1, 2, 9]


def test_a_text_may_name_what_its_padding_holds() -> None:
    ones = np.ones(2, np.int8)
    assert tw.pack(ones, "{0:pad(3)=lowest}").tolist() == [1, 1, -128]
    assert tw.pack(ones, "{0:pad(3)=lowest}", fill=0).tolist() == [1, 1, 0]


def test_the_result_is_new_memory_unless_a_view_is_asked_for() -> None:
    rows = np.arange(12.0).reshape(3, 4)
    flat = rows.reshape(-1)
    calls: list[Callable[..., Any]] = [
        lambda **copy: tw.pack(rows, "{1,0}", **copy),
        lambda **copy: tw.unpack(flat, "f64[3,4]{0,1}", **copy),
        lambda **copy: tw.relayout(flat, "f64[3,4]", "f64[3,4]{1,0:T(1,4)}", **copy),
    ]
    for call in calls:
        for made in [call(), call(copy=True)]:
            assert not np.shares_memory(made, rows)
            assert made.flags.writeable
        for view in [call(copy=None), call(copy=False)]:
            assert np.shares_memory(view, rows)
            assert view.tolist() == call().tolist()
    # As with NumPy, None copies where no view can show it.
    assert not np.shares_memory(tw.pack(rows, "{0,1}", copy=None), rows)


def test_a_view_is_shown_where_nothing_need_move() -> None:
    rows = np.arange(12.0).reshape(3, 4)
    for view in [tw.pack(rows, "{1,0}", copy=None), tw.pack(rows.T, "{0,1}", copy=None)]:
        assert view.tolist() == list(range(12))
        assert view.flags.writeable
    assert not np.shares_memory(tw.pack(rows[:, :3], "{1,0}", copy=None), rows)
    backwards = tw.pack(rows[::-1], "f64[3,4]{strides(-4,1)}", copy=None)
    assert np.shares_memory(backwards, rows)
    assert backwards.tolist() == list(range(12))

    flat = rows.reshape(-1)
    assert tw.unpack(flat, "f64[3,4]{0,1}", copy=None).strides == (8, 24)
    shown = tw.unpack(flat, "f64[2,3]{strides(-4,1),base(5),size(12)}", copy=None)
    assert np.shares_memory(shown, flat)
    same_bits(shown, flat[[[5, 6, 7], [1, 2, 3]]])
    assert not tw.unpack(flat.tobytes(), "f64[3,4]", copy=None).flags.writeable
    assert tw.unpack(flat.tobytes(), "f64[3,4]").flags.writeable
    assert not tw.unpack(np.zeros(4), "f64[3,4]{strides(0,1)}", copy=None).flags.writeable


def test_a_view_keeps_its_buffer_alive() -> None:
    view = tw.unpack(np.full(1000, 7, np.int64), "s64[10,100]{0,1}", copy=None)
    np.full(1000, 8, np.int64)
    assert (view == 7).all()


def test_copy_false_says_what_forbids_a_view() -> None:
    elements = np.zeros((3, 5), np.float32)
    tiles = "f32[3,5]{1,0:T(2,2)}"
    packed = tw.pack(elements, tiles)
    for refused in [
        lambda: tw.pack(elements, tiles, copy=False),
        lambda: tw.pack(elements.T, "{1,0}", copy=False),
        lambda: tw.unpack(packed, tiles, copy=False),
        lambda: tw.relayout(packed, tiles, "{1,0}", copy=False),
        lambda: tw.unpack(np.zeros(8, np.uint8), "s4[16]{0:E(4)}", copy=False),
        lambda: tw.unpack(np.zeros(30, np.float32)[::2], "f32[15]", copy=False),
        lambda: tw.unpack(packed, tiles, copy=False, out=elements),
    ]:
        with pytest.raises(tw.LayoutError, match=r"copy|strides"):
            refused()


@given(
    tiled(["f32"]), st.sampled_from([np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn])
)
@settings(max_examples=80, deadline=None)
def test_conversions_are_those_of_astype(layout: Tiled, dtype: Any) -> None:
    numbers = np.random.default_rng(3).normal(size=layout.dims).astype(np.float32)
    narrow = numbers.astype(dtype)
    # From the narrow type to float32 and back, as arrays and as buffers.
    same_bits(tw.pack(narrow, layout.text(), convert=True), recipe(narrow.astype(np.float32), layout))
    packed = tw.pack(numbers, layout.text())
    out = np.zeros(layout.dims, dtype)
    tw.unpack(packed, layout.text(), out=out, convert=True)
    same_bits(out, narrow)
    if dtype is not ml_dtypes.float4_e2m1fn:
        name = tw.Layout(narrow).element
        wanted = recipe(narrow, layout)
        same_bits(tw.relayout(packed, layout.text(), layout.text().replace("f32", name), convert=True), wanted)


def test_narrow_integers_convert_with_their_sign() -> None:
    numbers = np.arange(-8, 8, dtype=np.int8)
    packed = tw.pack(numbers, "s4[16]{0:E(4)}", convert=True)
    assert packed.tolist() == tw.pack(numbers.astype(ml_dtypes.int4), "{0:E(4)}").tolist()
    assert tw.unpack(packed, "s4[16]{0:E(4)}", out=np.zeros(16, np.int8), convert=True).tolist() == numbers.tolist()
    assert tw.pack(numbers.astype(ml_dtypes.int4), "s8[16]", convert=True).tolist() == numbers.tolist()
    assert (
        tw.unpack(numbers, "s8[16]", out=np.zeros(16, ml_dtypes.int4), convert=True).astype(int).tolist()
        == numbers.tolist()
    )


def test_any_buffer_is_taken(tmp_path: Any) -> None:
    floats = np.arange(6, dtype=np.float32)
    path = tmp_path / "data"
    path.write_bytes(floats.tobytes())
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        assert tw.unpack(mapped, "f32[6]", copy=True).tolist() == floats.tolist()
        tw.relayout(floats[::-1].copy(), "f32[6]", "f32[6]", out=mapped)
        assert mapped[:] == floats[::-1].tobytes()
    for buffer in [
        floats,
        bytes(floats),
        bytearray(floats),
        memoryview(floats),
        memoryview(bytes(floats)).cast("c"),
        array.array("f", floats),
        floats.view(np.int8),
    ]:
        assert tw.unpack(buffer, "f32[2,3]{0,1}").tolist() == [[0, 2, 4], [1, 3, 5]]

    class Interface:
        __array_interface__ = floats.__array_interface__

    class Converts:
        def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
            return floats

    assert tw.pack(Interface(), "{0}").tolist() == floats.tolist()
    assert tw.pack(Converts(), "{0}").tolist() == floats.tolist()


def test_strange_arrays_are_read_exactly() -> None:
    unaligned = np.frombuffer(b"x" + np.arange(6, dtype=np.float64).tobytes(), np.float64, offset=1)
    assert tw.pack(unaligned.reshape(2, 3), "{0,1}").tolist() == [0, 3, 1, 4, 2, 5]
    record = np.zeros(5, [("a", "u1"), ("b", "<f4")])
    record["b"] = range(5)  # 5 bytes apart
    assert tw.pack(record["b"], "{0:T(4)}").tolist() == [0, 1, 2, 3, 4, 0, 0, 0]
    assert tw.unpack(np.arange(5, 10, dtype=np.float32), "f32[5]", out=record["b"])[4] == 9
    assert record["a"].tolist() == [0] * 5
    broadcast = np.broadcast_to(np.int16(7), (2, 3))
    assert tw.pack(broadcast, "{0,1}").tolist() == [7] * 6
    assert tw.pack(np.float32(3), "f32[]").tolist() == [3]
    assert tw.unpack(np.array([3.0]), "f64[]").shape == ()
    assert tw.pack(np.zeros((0, 3)), "{1,0:T(8,128)}").shape == (0,)
    assert tw.unpack(b"", "f64[3,0]").shape == (3, 0)
    assert tw.unpack(b"", "f64[3,0]", copy=True).shape == (3, 0)
    assert tw.pack(np.lib.stride_tricks.as_strided(np.arange(4), (3, 2), (8, 8)), "{0,1}").tolist() == [
        0,
        1,
        2,
        1,
        2,
        3,
    ]


def test_odd_strides_in_out_are_written_and_nothing_else() -> None:
    record = np.zeros(5, [("a", "u1"), ("b", "<f4"), ("c", "u1")])
    record["a"] = record["c"] = 9
    tw.unpack(np.arange(5, dtype=np.float32), "f32[5]", out=record["b"])
    assert record["b"].tolist() == [0, 1, 2, 3, 4]
    assert (record["a"] == 9).all()
    assert (record["c"] == 9).all()


def test_a_plan_says_what_it_does_and_pickles() -> None:
    plan = tw.Plan("f32[3,5]", "bf16[3,5]{1,0:T(2,2)}", fill="lowest", convert=True)
    assert (plan.elements, plan.bytes_read, plan.bytes_written, plan.filled, plan.fill) == (15, 60, 48, 9, "0xff80")
    assert str(plan.from_layout) == "f32[3,5]{1,0}"
    assert plan.to_layout == tw.Layout("bf16[3,5]{1,0:T(2,2)}")
    assert plan.nests >= 1
    assert plan.longest_run == 2
    assert plan.kind == "rows"
    assert "elements" in str(plan)
    buffer = np.arange(15, dtype=np.float32)
    import tilework  # what repr names

    for again in [pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan), eval(repr(plan), {"tilework": tilework})]:
        assert str(again) == str(plan)
        assert repr(again) == repr(plan)
        same_bits(again.run(buffer), plan.run(buffer))
    assert repr(tw.Layout("f32[3,5]").plan("{0,1}")) == repr(tw.Plan("f32[3,5]", "{0,1}"))


@pytest.mark.parametrize("layout", [tw.Layout("s32[4,6]{1,0:T(2,2)}")[1:3, ::2], "INT32 [2,3] strides [5,1]"])
def test_padding_of_views_and_descriptors_is_zero_too(layout: tw.Layout | str) -> None:
    elements = np.full((2, 3), 7, np.int32)
    for out in [None, np.full(tw.Layout(layout).allocated, 9, np.int32)]:
        packed = tw.pack(elements, layout, out=out)
        assert sorted(packed.tolist()) == [0] * (packed.size - 6) + [7] * 6


def test_results_and_destinations_begin_anywhere() -> None:
    elements = np.random.default_rng(5).integers(0, 256, (2048, 2080), np.uint16)
    wanted = np.ascontiguousarray(elements.T).reshape(-1)
    same_bits(tw.pack(elements, "{0,1}"), wanted)
    for shift in [0, 2, 16, 36, 62]:
        room = np.full(elements.nbytes + 128, 9, np.uint8)
        first = -room.ctypes.data % 64 + shift
        out = room[first : first + elements.nbytes].view(np.uint16)
        for threads in [1, 2]:
            out[...] = 9
            same_bits(tw.pack(elements, "{0,1}", out=out, threads=threads), wanted)
        assert (room[:first] == 9).all()
        assert (room[first + elements.nbytes :] == 9).all()


def test_views_of_layouts_are_packed_too() -> None:
    whole = tw.Layout("f32[4,6]{1,0:T(2,2)}")
    part = whole[1:3, ::2]
    buffer = np.arange(24, dtype=np.float32)
    same_bits(tw.unpack(buffer, part), tw.unpack(buffer, whole)[1:3, ::2].copy())
    out = np.zeros(24, np.float32)
    tw.pack(np.ones((2, 3), np.float32), part, out=out, fill=None)
    wanted = np.zeros((4, 6), np.float32)
    wanted[1:3, ::2] = 1
    same_bits(out, tw.pack(wanted, whole))


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_threads_give_the_same_result(threads: int | None) -> None:
    elements = np.arange(1300 * 1100, dtype=np.int32).reshape(1300, 1100)
    layout = Tiled("s32", (1300, 1100), (1, 0), (8, 128))
    packed = tw.pack(elements, layout.text(), threads=threads)
    same_bits(packed, recipe(elements, layout))
    same_bits(tw.unpack(packed, layout.text(), threads=threads), elements)


def test_one_plan_may_be_run_by_many_threads_at_once() -> None:
    plan = tw.Plan("s32[300,500]", "s32[300,500]{1,0:T(8,128)}", fill=-1)
    sources = [np.arange(150_000, dtype=np.int32) * k for k in range(8)]
    wanted = [plan.run(source) for source in sources]
    wrong: list[int] = []

    def work(k: int) -> None:
        out = np.zeros(plan.to_layout.allocated, np.int32)
        for turn in range(30):
            found = plan.run(sources[k], out if turn % 2 else None, threads=1 + turn % 3)
            packed = tw.pack(sources[k].reshape(300, 500), "{1,0:T(8,128)}", fill=-1)
            if not (np.array_equal(found, wanted[k]) and np.array_equal(packed, wanted[k])):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_more_layouts_than_are_kept_are_moved_as_well() -> None:
    for size in range(1, 700):
        elements = np.arange(size)
        assert tw.pack(elements, f"s64[{size}]{{0:T(8)}}")[:size].tolist() == elements.tolist()
    assert tw.pack(np.arange(3), "s64[3]{0:T(8)}").tolist() == [0, 1, 2, 0, 0, 0, 0, 0]
