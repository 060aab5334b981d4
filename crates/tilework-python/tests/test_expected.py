"""What people who know NumPy expect of a layout and of a move, and try first."""

from __future__ import annotations

import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw
from tilework import audits

TILED = "f32[3,5]{1,0:T(2,2)}"
ROOT = Path(__file__).parent.parent.parent.parent


def test_names_are_those_of_numpy() -> None:
    layout = tw.Layout(TILED)
    array = np.zeros((3, 5), np.float32)
    assert (layout.shape, layout.ndim, layout.size, layout.itemsize) == (
        array.shape,
        array.ndim,
        array.size,
        array.itemsize,
    )
    assert layout.allocated == 24 and layout.nbytes == 24 * layout.itemsize
    assert layout.T.shape == array.T.shape and layout.T.offset(3, 2) == layout.offset(2, 3)
    assert tw.Layout("f32[4,6]{1,0:T(*,4)}").tiles == ((None, 4),)
    assert layout.tiles == ((2, 2),) and layout[:, 1:2].tiles is None


def test_a_shape_with_a_dtype_is_row_major() -> None:
    for shape in [(3, 5), [3, 5], (), (7,)]:
        assert tw.Layout(shape, dtype="float32") == tw.Layout(np.zeros(tuple(shape), np.float32))
    assert tw.Layout("{0,1}", shape=(3, 5), dtype="int8") == tw.Layout("{0,1}", dims=(3, 5), dtype="int8")
    with pytest.raises(TypeError, match="two names of one argument"):
        tw.Layout("{0,1}", shape=(3, 5), dims=(3, 5), dtype="int8")
    with pytest.raises(TypeError, match="a shape goes with a dtype"):
        tw.Layout((3, 5))


def test_a_layout_is_no_container() -> None:
    layout: Any = tw.Layout(TILED)
    with pytest.raises(TypeError, match="holds no elements"):
        iter(layout)
    with pytest.raises(TypeError, match="holds no elements"):
        _ = 3 in layout


class Wrapped:
    """An array of a library that only hands out copies, as dask's and xarray's do."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.array, dtype=dtype)


def test_what_becomes_an_array_has_a_layout_and_is_packed() -> None:
    array = np.arange(15, dtype=np.int32).reshape(3, 5)
    assert tw.Layout(Wrapped(array)) == tw.Layout(array)
    assert np.array_equal(tw.pack(Wrapped(array), "{0,1}"), array.T.ravel())


def test_lists_are_packed() -> None:
    packed = tw.pack([[1, 2], [3, 4]], "s64[2,2]{0,1}")
    assert packed.tolist() == [1, 3, 2, 4]
    assert tw.pack([[1.5, 2], [3, 4]], "bf16[2,2]", convert=True).dtype == ml_dtypes.bfloat16
    with pytest.raises(tw.LayoutError, match="dtype object"):
        tw.pack(["a", None], "f32[2]", convert=True)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u8", "c8"])
def test_arrays_in_the_other_byte_order_are_packed(dtype: str) -> None:
    array = np.arange(15).reshape(3, 5).astype(dtype)
    other = array.astype(array.dtype.newbyteorder())
    assert not other.dtype.isnative
    assert np.array_equal(tw.pack(other, "{0,1}"), tw.pack(array, "{0,1}"))
    with pytest.raises(tw.LayoutError, match="byte order"):
        tw.pack(other, "{1,0}", copy=False)


NUMBERS = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("source", NUMBERS)
@pytest.mark.parametrize("target", [*NUMBERS, "bfloat16", "float8_e4m3fn"])
def test_numbers_become_others_as_numpy_has_it(source: str, target: str) -> None:
    values = np.array([0, 1, 2, 3, 7, 100, 127], source) if source != "bool" else np.array([True, False] * 3 + [True])
    dtype = np.dtype(getattr(ml_dtypes, target, target))
    layout = tw.Layout(values.shape, dtype=dtype)
    found = tw.pack(values, layout, convert=True)
    np.testing.assert_array_equal(found.astype(np.float64), values.astype(dtype).astype(np.float64))


def test_integers_wrap_and_floats_are_cut_off() -> None:
    def to(values: Any, dtype: str) -> Any:
        return tw.pack(values, tw.Layout(values.shape, dtype=dtype), convert=True).tolist()

    assert to(np.array([-1, 256, 300], np.int64), "uint8") == [255, 0, 44]
    assert to(np.array([1.9, -1.9, 1e30, -1e30, np.nan]), "int32") == [1, -1, 2**31 - 1, -(2**31), 0]
    assert to(np.array([2**63, 2**64 - 1], np.uint64), "float32") == [2.0**63, 2.0**64]
    assert to(np.array([0.0, np.nan, -0.0, 1e-300]), "bool") == [False, True, False, True]


def test_a_double_is_rounded_once_to_bfloat16() -> None:
    # By way of float32 it would be a tie, and go to the even one below.
    value = np.array([1 + 2**-8 + 2**-40])
    assert tw.pack(value, "bf16[1]", convert=True).astype(np.float64).tolist() == [1 + 2**-7]


def test_convert_says_what_it_takes() -> None:
    with pytest.raises(TypeError, match="convert is 'bf16', and says only whether"):
        tw.pack(np.zeros(3), "bf16[3]", convert="bf16")  # type: ignore[call-overload]
    assert tw.pack(np.zeros(3), "bf16[3]", convert=np.True_).size == 3  # type: ignore[call-overload]


def test_numbers_out_of_range_name_the_range_that_is_true() -> None:
    with pytest.raises(tw.LayoutError, match="accepted: 0 to 23"):
        tw.Layout(TILED).locate(-1)
    with pytest.raises(tw.LayoutError, match="accepted: 0 to 23"):
        tw.Layout(TILED).locate(24)
    for threads in (0, -1):
        with pytest.raises(tw.LayoutError, match="accepted: 1 or more, or None"):
            tw.pack(np.zeros((3, 5), np.float32), TILED, threads=threads)


def test_a_traced_array_is_told_what_it_is() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="being traced"):
        jax.jit(lambda x: tw.pack(x, "{0}"))(jax.numpy.zeros(3))


@pytest.mark.filterwarnings("error")
def test_a_tensor_without_data_is_told_what_it_is() -> None:
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(3)
        with pytest.raises(TypeError, match=r"being traced.*torch\.compiler\.disable"):
            tw.pack(fake, "{0}")
        assert str(tw.Layout(fake)) == "f32[3]{0}"
    with pytest.raises(TypeError, match="being traced"):
        torch.vmap(lambda row: torch.from_numpy(tw.pack(row, "{0}")))(torch.zeros(2, 3))
    with pytest.raises(tw.LayoutError, match="device meta"):
        tw.pack(torch.zeros(3, device="meta"), "{0}")

    packed = torch.compiler.disable(lambda x: torch.from_dlpack(tw.pack(x, "{0,1}")))
    compiled = torch.compile(lambda x: packed(x * 2) + 1, backend="eager")
    assert compiled(torch.arange(6.0).reshape(2, 3)).tolist() == [1, 7, 3, 9, 5, 11]


def matches(value: Any, kind: Any) -> bool:
    """Whether a plain value is of a type that `audits` says, with all of its fields and no other."""
    if value is not None and typing.is_typeddict(kind):
        fields = typing.get_type_hints(kind)
        assert isinstance(value, dict) and set(value) == set(fields), (kind, set(value) ^ set(fields))
        return all(matches(value[name], field) for name, field in fields.items())
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list:
        return isinstance(value, list) and all(matches(item, arguments[0]) for item in value)
    if arguments:
        return any(matches(value, one) for one in arguments if (value is None) == (one is type(None)))
    return (
        value is None if kind is type(None) else isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    )


@pytest.mark.parametrize("name", ["dump", "out_of_memory.txt", "program.mlir", "logs/onednn.log", "logs/engine.json", "logs/trace.json", "logs/matmul.ttgir", "logs/model.onnx", "logs/program.ttnn.mlir", "partly"])
def test_audits_are_of_the_types_that_they_say(name: str) -> None:
    half = "HloModule m\n\nENTRY %e (x: f32[2]) -> f32[2] {\n  %x = nonsense\n  %y = f32[200,3]{1,0:T(8,128)} add(%a)\n"
    text = half if name == "partly" else None
    found = tw.audit(text if text is not None else ROOT / "samples" / name)
    assert matches(found.to_dict(), audits.Findings)
    assert matches(found.to_dict(top=1), audits.Findings)


def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tilework", *arguments]
    return subprocess.run(command, input=input, capture_output=True, text=True, encoding="utf-8")


def test_the_module_is_the_command() -> None:
    assert run("index", TILED, "2,3").stdout == "17\n"
    assert run("locate", TILED, input="17\n").stdout == "2,3\n"
    refused = run("show", "f32[3")
    assert refused.returncode == 2 and refused.stderr.startswith("error: ")
    assert run("compare", "f32[3,5]", "{0,1}", "--json").returncode == 1
    assert "Usage: tilework" in run("--help").stdout
