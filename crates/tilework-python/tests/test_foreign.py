"""Layouts of arrays of other libraries. What is not installed is not tested."""

from __future__ import annotations

import array
import ctypes
import os
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework as tw
from recipes import cases


@st.composite
def views(draw: st.DrawFn) -> Any:
    """Arrays of NumPy whose elements lie in any order and in steps, also backward."""
    dims = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    dtype = draw(st.sampled_from([np.int8, np.float32, np.complex128, ml_dtypes.bfloat16, ml_dtypes.int4, np.bool_]))
    whole = np.zeros(tuple(size + 2 for size in dims), dtype)
    whole = whole.transpose(draw(st.permutations(range(len(dims)))))
    cuts = [
        draw(st.sampled_from([slice(None), slice(1, -1), slice(None, None, 2), slice(None, None, -1)])) for _ in dims
    ]
    return whole[tuple(cuts)]


@given(views())
def test_an_array_of_numpy_has_the_layout_of_its_strides(view: Any) -> None:
    layout = tw.Layout(view)
    assert (layout.dims, layout.dtype) == (view.shape, view.dtype)
    steps = sum(
        np.indices(view.shape, np.int64, sparse=True)[dim] * (view.strides[dim] // view.itemsize)
        for dim in range(view.ndim)
    )
    if view.size:
        steps = np.broadcast_to(steps, view.shape)
        np.testing.assert_array_equal(layout.offsets(), steps - steps.min())


@given(views())
def test_what_numpy_prints_of_an_array_is_its_layout(view: Any) -> None:
    assert tw.Layout(f"{view.dtype!r} {view.shape} strides {view.strides}") == tw.Layout(view)
    interface = view.__array_interface__
    # That of a scalar holds the scalar, too.
    if "V" not in interface["typestr"] and isinstance(view, np.ndarray):
        assert tw.Layout(str(interface)) == tw.Layout(view)


def test_a_scalar_of_numpy_is_an_array_without_dimensions() -> None:
    assert tw.Layout(ml_dtypes.bfloat16(1)) == tw.Layout("bf16[]")
    assert tw.Layout(np.float32(1)) == tw.Layout(np.zeros((), np.float32)) == tw.Layout("f32[]")


def test_what_has_the_buffer_protocol_has_a_layout() -> None:
    assert tw.Layout(b"abc") == tw.Layout(bytearray(3)) == tw.Layout("u8[3]")
    assert tw.Layout(array.array("d", [1, 2])) == tw.Layout("f64[2]")
    assert tw.Layout(((ctypes.c_int16 * 3) * 2)()) == tw.Layout("s16[2,3]")
    assert tw.Layout(np.zeros((2, 3), np.float32).data[::2]) == tw.Layout("f32[1,3]")


class Described:
    """An array that says where it lies, on a GPU perhaps, and nothing else."""

    def __init__(self, name: str, described: dict[str, Any]) -> None:
        setattr(self, name, described)


@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
def test_an_interface_is_read_and_its_data_is_not(name: str) -> None:
    # The address is nowhere: looking at it would end the program.
    described = {"shape": (3, 5), "typestr": "<f4", "data": (8, True), "version": 3, "strides": None}
    assert tw.Layout(Described(name, described)) == tw.Layout("f32[3,5]")
    assert tw.Layout(Described(name, described | {"strides": (4, 12)})) == tw.Layout("f32[3,5]{0,1}")
    assert tw.Layout(Described(name, described | {"shape": ()})) == tw.Layout("f32[]")
    with pytest.raises(tw.LayoutError, match="strides are whole elements"):
        tw.Layout(Described(name, described | {"strides": (4, 13)}))


class Capsules:
    """An array that shows itself by DLPack alone."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()


def test_an_array_with_dlpack_has_a_layout() -> None:
    assert tw.Layout(Capsules(np.zeros((3, 5), np.float32).T)) == tw.Layout("f32[5,3]{0,1}")


@pytest.mark.parametrize("wrong", [5, 2.5, None, [1, 2], (1, 2), object(), {1, 2}, len, type])
def test_what_has_no_layout_is_told_what_has_one(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"a layout is made from a text such as .* and this is "):
        tw.Layout(wrong)
    with pytest.raises(TypeError, match="dims and dtype go with what says neither"):
        tw.Layout(wrong, dims=(2, 3), dtype="f32")


@pytest.mark.parametrize(
    "interface", [{}, {"shape": (3,)}, {"shape": 3, "typestr": "<f4"}, {"shape": (3,), "typestr": "(1,2"}]
)
def test_an_array_interface_that_says_nothing_is_a_layout_error(interface: Any) -> None:
    class Wrong:
        __array_interface__ = interface

    with pytest.raises(tw.LayoutError, match="array interface"):
        tw.Layout(Wrong())


def test_a_descriptor_without_an_end_is_a_layout_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(tw.LayoutError, match="lists within each other"):
        tw.Layout({"Sizes": deep})


def test_a_list_is_told_how_to_become_an_array() -> None:
    with pytest.raises(TypeError, match=r"\[1, 2\] \(list\); a shape goes with a dtype"):
        tw.Layout([1, 2])


@pytest.mark.parametrize("dtype", [object, "U3", "S3", "M8[s]", [("a", "f4")], ">f4", np.longdouble])
def test_an_array_of_what_is_no_number_of_xla_is_refused(dtype: Any) -> None:
    with pytest.raises(tw.LayoutError, match="dtype") as caught:
        tw.Layout(np.zeros(3, dtype))
    assert caught.value.field == "dtype"


def test_other_libraries_are_not_imported() -> None:
    program = """
import sys, numpy, tilework as tw
tw.Layout(numpy.zeros(3)), tw.Layout(b"abc"), tw.Layout("f32[3]").explain()
for wrong in (5, [1], None):
    try:
        tw.Layout(wrong)
    except TypeError:
        pass
print([name for name in ("jax", "torch") if name in sys.modules])
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


class TestJax:
    """Arrays, shapes and layouts of JAX."""

    @pytest.fixture
    def jax(self) -> Any:
        return pytest.importorskip("jax")

    def test_an_array_has_the_layout_that_it_has_on_its_device(self, jax: Any) -> None:
        assert tw.Layout(jax.numpy.zeros((3, 5), "bfloat16")) == tw.Layout("bf16[3,5]")
        assert tw.Layout(jax.numpy.float32(1)) == tw.Layout("f32[]")
        from jax.experimental.layout import Format, Layout

        plain = jax.numpy.zeros((3, 5), "float32")
        columns = jax.device_put(plain, Format(Layout((1, 0)), plain.sharding))
        assert tw.Layout(columns) == tw.Layout("f32[3,5]{0,1}")
        assert tw.Layout(columns.format, dims=(3, 5), dtype="float32") == tw.Layout("f32[3,5]{0,1}")

    def test_a_shape_without_a_format_is_row_major(self, jax: Any) -> None:
        assert tw.Layout(jax.ShapeDtypeStruct((3, 5), "float32")) == tw.Layout("f32[3,5]")
        assert tw.Layout(jax.ShapeDtypeStruct((), "float32")) == tw.Layout("f32[]")

    def test_a_shape_with_a_format_has_its_layout(self, jax: Any) -> None:
        from jax.experimental.layout import Format, Layout

        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        told = jax.ShapeDtypeStruct((64, 300), "bfloat16", sharding=Format(Layout((0, 1), ((8, 128), (2, 1))), device))
        assert tw.Layout(told) == tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}")

    def test_a_sharded_array_has_the_layout_of_one_shard(self, jax: Any) -> None:
        program = """
import jax, tilework as tw
mesh = jax.make_mesh((4, 2), ("x", "y"))
spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y"))
array = jax.device_put(jax.numpy.zeros((64, 300), "float32"), spread)
print(tw.Layout(array), tw.Layout(jax.ShapeDtypeStruct((64, 300), "float32", sharding=spread)))
"""
        flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
        told = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | flags,
        )
        assert told.stdout == "f32[16,150]{1,0} f32[16,150]{1,0}\n"

    def test_a_layout_of_jax_wants_dims_and_dtype(self, jax: Any) -> None:
        from jax.experimental.layout import Layout

        written = Layout((0, 1), ((8, 128), (2, 1)))
        made = tw.Layout(written, dims=(64, 300), dtype=jax.numpy.bfloat16)
        assert made == tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}")
        with pytest.raises(TypeError, match="a layout of JAX knows neither dimensions nor dtype"):
            tw.Layout(written)
        with pytest.raises(tw.LayoutError, match="minor_to_major"):
            tw.Layout(written, dims=(64,), dtype="float32")

    def test_what_jax_prints_is_read(self, jax: Any) -> None:
        from jax.experimental.layout import Format, Layout

        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        written = Format(Layout((0, 1), ((8, 128), (2, 1))), device)
        shape = jax.ShapeDtypeStruct((64, 300), "bfloat16", sharding=written)
        expected = tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}")
        assert tw.Layout(f"bf16[64,300] {written}") == tw.Layout(f"bf16[64,300] {written.layout}") == expected
        assert tw.Layout(str(written), dims=(64, 300), dtype="bfloat16") == tw.Layout(repr(shape)) == expected
        plain = jax.numpy.zeros((3, 5), "bfloat16")
        for said in (plain.aval, repr(plain.aval), jax.eval_shape(lambda: plain), f"{plain.shape} {plain.dtype}"):
            assert tw.Layout(str(said)) == tw.Layout("bf16[3,5]")

    @given(cases())
    def test_a_layout_goes_to_jax_and_back(self, case: Any) -> None:
        pytest.importorskip("jax")
        layout = tw.Layout(case.text)
        if case.padded is None or layout.is_packed:
            assert tw.Layout(layout.to_jax(), dims=layout.dims, dtype=layout.dtype) == layout
        else:
            with pytest.raises(tw.LayoutError, match="an order of the dimensions, and tiles"):
                layout.to_jax()

    @pytest.mark.parametrize(
        "text", ["bf16[2,3,4]{2,1,0:T(*,*,2)}", "s4[9]{0:T(4)E(4)}", "f32[3,5]{0,1}", "f32[]{:T(8)}"]
    )
    def test_every_tile_goes_to_jax_and_back(self, jax: Any, text: str) -> None:
        layout = tw.Layout(text)
        assert tw.Layout(layout.to_jax(), dims=layout.dims, dtype=layout.dtype) == layout

    def test_what_is_no_order_with_tiles_is_refused_for_jax(self, jax: Any) -> None:
        for layout in (tw.Layout("f32[2,3]{strides(5,1)}"), tw.Layout("f32[3,5]{1,0:T(2,2)}").flip(0)):
            with pytest.raises(tw.LayoutError, match="a Layout of JAX is an order of the dimensions, and tiles"):
                layout.to_jax()

    def test_a_deleted_array_lies_nowhere(self, jax: Any) -> None:
        array = jax.numpy.zeros(3)
        array.delete()
        with pytest.raises(tw.LayoutError, match="deleted"):
            tw.Layout(array)

    def test_a_traced_array_has_no_layout_yet(self, jax: Any) -> None:
        with pytest.raises(TypeError, match="being traced"):
            jax.jit(lambda x: tw.Layout(x).size)(jax.numpy.zeros(3))

    def test_keys_of_random_numbers_are_no_numbers(self, jax: Any) -> None:
        with pytest.raises(tw.LayoutError, match="elements of dtype key<fry>"):
            tw.Layout(jax.random.key(0))


class TestTorch:
    """Tensors of PyTorch."""

    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    def test_a_tensor_has_the_layout_of_its_strides(self, torch: Any) -> None:
        assert tw.Layout(torch.zeros(3, 5)) == tw.Layout("f32[3,5]")
        assert tw.Layout(torch.zeros(3, 5).T) == tw.Layout("f32[5,3]{0,1}")
        assert tw.Layout(torch.zeros(4, 6)[1:, ::2]) == tw.Layout("f32[3,3]{strides(6,2)}")
        assert tw.Layout(torch.zeros(3, 1).expand(3, 5)) == tw.Layout("f32[3,5]{strides(1,0)}")
        images = torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last)
        assert tw.Layout(images) == tw.Layout("f32[2,3,4,4]{1,3,2,0}")
        assert tw.Layout(torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))) == tw.Layout("bf16[2]")

    def test_a_tensor_need_not_be_on_the_host(self, torch: Any) -> None:
        assert tw.Layout(torch.zeros(3, 5, device="meta")) == tw.Layout("f32[3,5]")

    @pytest.mark.parametrize(
        "name", ["bool", "uint8", "int64", "float16", "complex64", "float8_e4m3fn", "float8_e5m2fnuz", "uint32"]
    )
    def test_elements_have_the_type_that_they_have(self, torch: Any, name: str) -> None:
        layout = tw.Layout(torch.empty(3, dtype=getattr(torch, name)))
        assert layout.dtype.name == name

    @pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
    def test_what_has_no_strides_or_no_numbers_is_refused(self, torch: Any) -> None:
        with pytest.raises(tw.LayoutError, match="elements have offsets by strides"):
            tw.Layout(torch.zeros(3, 5).to_sparse())
        with pytest.raises(tw.LayoutError, match="complex32"):
            tw.Layout(torch.empty(3, dtype=torch.complex32))
        with pytest.raises(TypeError, match="and this is"):
            tw.Layout(torch.float32)


class TestLabelledAndChunked:
    @pytest.fixture
    def xarray(self) -> Any:
        return pytest.importorskip("xarray")

    @pytest.fixture
    def dask_array(self) -> Any:
        return pytest.importorskip("dask.array")

    def test_an_array_of_xarray_has_its_names(self, xarray: Any) -> None:
        values = np.arange(12, dtype=np.float32).reshape(3, 4).T
        labelled = xarray.DataArray(values, dims=("lat", "lon"))
        layout = tw.Layout(labelled)
        assert layout == tw.Layout(values).with_names("lat,lon")
        assert layout.names == ("lat", "lon")
        assert tw.Layout(labelled.variable).names == ("lat", "lon")
        assert np.array_equal(tw.pack(labelled, "{1,0}"), values.ravel())
        assert tw.Layout(xarray.DataArray(values, dims=("a b", "c"))).names is None

    def test_an_array_of_dask_is_not_computed_for_its_layout(self, dask_array: Any, xarray: Any) -> None:
        huge = dask_array.zeros((10**6, 10**6), dtype=np.float32)
        assert tw.Layout(huge) == tw.Layout("f32[1000000,1000000]")
        assert tw.Layout(xarray.DataArray(huge, dims=("a", "b"))).names == ("a", "b")
        small = dask_array.from_array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        assert np.array_equal(tw.pack(small, "{0,1}"), np.arange(12).reshape(3, 4).T.ravel())

    def test_sizes_that_dask_does_not_know_yet_are_an_error(self, dask_array: Any) -> None:
        some = dask_array.arange(6, chunks=3)[dask_array.arange(6, chunks=3) > 2]
        with pytest.raises(tw.LayoutError, match="compute_chunk_sizes"):
            tw.Layout(some)
