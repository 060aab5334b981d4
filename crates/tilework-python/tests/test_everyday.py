"""The everyday calls against the functions of NumPy and PyTorch that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilework as tw

Array = npt.NDArray[Any]

DTYPES = ["u1", "i2", "f4", ">f4", "f8", "c16", "?", "U3", "S5", "M8[s]", "O", "i4,f8", "V3", "f2"]


@st.composite
def arrays(draw: st.DrawFn, dtypes: list[str] = DTYPES, ranks: tuple[int, int] = (0, 5)) -> Array:
    """Arrays that lie in any way: parts, steps forward and backward, transposed, broadcast."""
    rank = draw(st.integers(*ranks))
    dims = [draw(st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 16])) for _ in range(rank)]
    base = np.arange(int(np.prod(dims)) * 4 or 1, dtype="i8")
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if dtype.names:
        filled = np.array(list(zip(base, base * 2, strict=True)), dtype)
    elif dtype.kind == "V":
        filled = np.frombuffer((base % 251).astype("u1").repeat(3).tobytes(), dtype)
    elif dtype.kind in "USM":
        filled = (base % 90).astype("u1").astype("U2" if dtype.kind != "M" else "i8").astype(dtype)
    else:
        filled = (base % 100).astype(dtype)
    wide = np.resize(filled, [size * draw(st.integers(1, 2)) for size in dims])
    first: Any = (*(slice(None, size) for size in dims), ...)
    steps: Any = (*(slice(None, None, draw(st.sampled_from([1, 1, 2, -1]))) for _ in dims), ...)
    part: Array = wide[first][steps]
    part = part.transpose(draw(st.permutations(range(rank))))
    if rank and draw(st.booleans()) and part.shape[0] == 1:
        part = np.broadcast_to(part, (3, *part.shape[1:]))
    return part


def equal(a: Array, b: Array) -> None:
    """Same shape, type and elements, and strides where they say anything."""
    assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
    if a.size:
        kept = [axis for axis, size in enumerate(a.shape) if size > 1]
        assert [a.strides[axis] for axis in kept] == [b.strides[axis] for axis in kept]
    assert a.tobytes() == b.tobytes() or np.array_equal(a, b)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or its error."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def same(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """The same result or the same error."""
    a, b = outcome(ours), outcome(theirs)
    if isinstance(b, np.ndarray):
        assert isinstance(a, np.ndarray), a
        equal(a, b)
    else:
        assert a == b


@given(arrays())
def test_contiguous_is_ascontiguousarray(a: Array) -> None:
    same(lambda: tw.contiguous(a), lambda: np.ascontiguousarray(a))
    assert (tw.contiguous(a) is a) == (np.ascontiguousarray(a) is a)
    out = np.zeros(a.shape, a.dtype)
    assert tw.contiguous(a, out=out) is out
    equal(out, np.array(a, order="C"))


@given(arrays(), st.data())
def test_transpose_is_transpose_and_copy(a: Array, data: st.DataObject) -> None:
    axes = data.draw(st.permutations(range(a.ndim)))
    axes = [axis - a.ndim if data.draw(st.booleans()) else axis for axis in axes]
    same(lambda: tw.transpose(a, axes), lambda: a.transpose(axes).copy())
    same(lambda: tw.transpose(a), lambda: a.T.copy())
    wrong: Any = data.draw(st.sampled_from([[0], [0, 0], [9], (0, 1, 2, 3, 4, 5, 6), "a", 3, [0.5]]))
    same(lambda: tw.transpose(a, wrong), lambda: np.transpose(a, wrong).copy())
    out = np.zeros([a.shape[axis] for axis in axes], a.dtype)
    assert tw.transpose(a, axes, out=out) is out
    equal(out, a.transpose(axes).copy())


@given(arrays(), arrays(), st.booleans())
def test_copyto_is_copyto(a: Array, out: Array, fits: bool) -> None:
    if fits:
        out = np.zeros(a.shape[::-1], out.dtype).T
    ours, theirs = out.copy(order="K"), out.copy(order="K")
    found = outcome(lambda: tw.copyto(ours, a))
    assert found == outcome(lambda: np.copyto(theirs, a))
    equal(ours, theirs)


@given(arrays(["f4", "f8", "f2", "i4", "u1", "i8", "?"]), st.sampled_from(["f4", "f8", "f2", "i2", "c8", "U3"]))
@settings(max_examples=200)
def test_astype_is_astype(a: Array, dtype: str) -> None:
    same(lambda: tw.astype(a, dtype, "C"), lambda: a.astype(dtype, "C"))
    same(lambda: tw.astype(a, np.dtype(dtype), "F"), lambda: a.astype(dtype, "F"))
    same(lambda: tw.astype(a, np.dtype(dtype).type), lambda: a.astype(np.dtype(dtype).type))


def test_a_dtype_said_in_any_words_is_the_same_one_every_time() -> None:
    a = np.arange(6, dtype=np.float32)
    said = [("bf16", ml_dtypes.bfloat16), ("bfloat16", ml_dtypes.bfloat16), (ml_dtypes.bfloat16,) * 2]
    said += [("f16", np.float16), ("<f2", np.float16), (np.float16,) * 2, (float, np.float64), ("U3", "U3"), (str, "U32")]
    for _ in range(2):
        for words, dtype in said:
            equal(tw.astype(a, words), a.astype(dtype))
        with pytest.raises(TypeError, match="not understood"):
            tw.astype(a, "no type")


def test_numbers_at_the_edge_become_what_numpy_makes_of_them() -> None:
    edges = [0.0, -0.0, 1.5, 65504, 65519, 65520, 1e-8, 6e-8, 3.4e38, 1e39, np.inf, -np.inf, np.nan]
    whole = [0, 1, -1, 2**24 + 1, 2**53 + 1, 2**63 - 1, -(2**63), 2049, 65519, 65520]
    with np.errstate(all="ignore"):
        for values, kinds in [(np.array(edges), ["f2", "f4", "f8"]), (np.array(whole), ["f2", "f4", "f8"])]:
            for kind in kinds:
                np.testing.assert_array_equal(tw.astype(values, kind), values.astype(kind))


@given(arrays(["f4", "u1", "S5"], (0, 5)))
def test_channels_last_is_a_transposed_copy(a: Array) -> None:
    if a.ndim not in (4, 5):
        with pytest.raises(tw.LayoutError, match="rank"):
            tw.channels_last(a)
        return
    minor = [0, *range(2, a.ndim), 1]
    back = list(np.argsort(minor))
    made = tw.channels_last(a)
    equal(made, np.ascontiguousarray(a.transpose(minor)).transpose(back))
    assert tw.channels_last(made) is made
    equal(tw.channels_first(made), np.ascontiguousarray(a))
    half = tw.astype(a[:, :], a.dtype, "channels_last")
    equal(half, np.ascontiguousarray(a.transpose(minor)).transpose(back))


def test_what_overlaps_is_copied_as_numpy_does() -> None:
    for shift in [1, 2, -1]:
        ours, theirs = np.arange(12), np.arange(12)
        head, tail = slice(max(shift, 0), 12 + min(shift, 0)), slice(max(-shift, 0), 12 - max(shift, 0))
        tw.copyto(ours[head], ours[tail])
        np.copyto(theirs[head], theirs[tail])
        np.testing.assert_array_equal(ours, theirs)
    square = np.arange(16).reshape(4, 4)
    expected = square.T.copy()
    tw.copyto(square, square.T)
    np.testing.assert_array_equal(square, expected)


def test_subclasses_lists_and_memory_that_is_only_read_are_numpys() -> None:
    masked = np.ma.masked_array(np.arange(6).reshape(2, 3), mask=[[False, True, False], [False, False, True]])
    made = tw.transpose(masked)
    assert isinstance(made, np.ma.MaskedArray) and made.mask.tolist() == masked.T.mask.tolist()
    np.testing.assert_array_equal(tw.transpose([[1, 2], [3, 4]]), [[1, 3], [2, 4]])
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tw.copyto(fixed, np.ones(3))
    with pytest.raises(TypeError, match="Cannot cast"):
        tw.copyto(np.zeros(3, int), np.ones(3))


def test_large_arrays_take_all_threads_and_are_the_same() -> None:
    a = np.arange(1500 * 1500, dtype=np.float32).reshape(1500, 1500)
    np.testing.assert_array_equal(tw.transpose(a), a.T)
    np.testing.assert_array_equal(tw.transpose(a, threads=1), a.T)
    np.testing.assert_array_equal(tw.astype(a.T, "f8", "C"), a.T.astype("f8"))


def test_large_arrays_of_objects_are_numpys() -> None:
    garbage = [np.full(1 << 18, 0x5A5A5A5A5A5A5A5A) for _ in range(4)]
    del garbage
    a = np.full((512, 512), None, dtype=object)
    a[3, 5] = "x"
    for _ in range(4):
        made = tw.transpose(a)
        assert made.dtype == object and made[5, 3] == "x" and made.flags.owndata
        assert tw.contiguous(a.T)[5, 3] == "x" and tw.channels_last(a.reshape(2, 2, 256, 256)).size


def test_mistakes_are_refused() -> None:
    rows: Any = "rows"
    with pytest.raises(tw.LayoutError, match='layout "rows"'):
        tw.astype(np.zeros(3), "f4", rows)
    with pytest.raises(tw.LayoutError, match="threads"):
        tw.transpose(np.zeros((2, 2)), threads=0)


@given(arrays(["f4", "u1", "f8", "i8", "?"], (0, 5)), st.data())
def test_tensors_are_as_pytorch_makes_them(a: Array, data: st.DataObject) -> None:
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(a.copy()).permute(data.draw(st.permutations(range(a.ndim))))
    if data.draw(st.booleans()) and t.ndim:
        t = t[..., ::2]
    axes = data.draw(st.permutations(range(t.ndim)))

    def alike(ours: Any, theirs: Any) -> None:
        assert ours.dtype == theirs.dtype and ours.stride() == theirs.stride()
        assert torch.equal(ours, theirs)

    alike(tw.contiguous(t), t.contiguous())
    alike(tw.transpose(t, axes), t.permute(axes).clone(memory_format=torch.contiguous_format))
    out = torch.zeros_like(t)
    tw.copyto(out, t)
    assert torch.equal(out, t)
    for dtype, name in [(torch.float32, "f32"), (torch.bfloat16, "bf16"), (torch.int16, "int16")]:
        made = t.to(dtype, copy=True, memory_format=torch.contiguous_format)
        alike(tw.astype(t, dtype, "C"), made)
        alike(tw.astype(t, name, "C"), made)
    if t.ndim in (4, 5):
        form = torch.channels_last if t.ndim == 4 else torch.channels_last_3d
        alike(tw.channels_last(t), t.contiguous(memory_format=form))
        alike(tw.channels_first(tw.channels_last(t)), tw.channels_last(t).contiguous())


def test_gradients_flow_through_tensors() -> None:
    torch = pytest.importorskip("torch")
    t = torch.ones(2, 3, requires_grad=True)
    (tw.transpose(t) * 2).sum().backward()
    assert t.grad.tolist() == [[2.0] * 3] * 2
    with pytest.raises(RuntimeError):
        tw.copyto(torch.zeros(2), torch.zeros(3))
