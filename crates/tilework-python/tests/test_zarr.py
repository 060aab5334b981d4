"""Zarr stores: zarr-python, TensorStore and xarray read what is written here, and the other way round."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw

zarr = pytest.importorskip("zarr")
tensorstore = pytest.importorskip("tensorstore")

Array = np.ndarray[Any, Any]
LAYOUTS = [
    None,
    "chunks (7, 32)",
    "chunks (64, 512)",
    "chunks (7, 32) order (1, 0)",
    "shards (28, 64) chunks (7, 32)",
    "shards (28, 64) chunks (7, 32) order (1, 0)",
    "{0,1}",
]


def opened(path: Path, driver: str = "zarr3") -> Array:
    """The array as TensorStore reads it."""
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path)}}
    return np.asarray(tensorstore.open(spec).result().read().result())


def numbers(dtype: Any, shape: tuple[int, ...] = (50, 300)) -> Array:
    return (np.random.default_rng(7).standard_normal(shape) * 50).astype(dtype)


@pytest.mark.parametrize("to", LAYOUTS)
@pytest.mark.parametrize("compress", ["none", "zstd:1", "gzip:1"])
def test_others_read_what_is_written(tmp_path: Path, to: str | None, compress: str) -> None:
    array = numbers(np.float32)
    np.save(tmp_path / "a.npy", array)
    tw.convert(tmp_path / "a.npy", tmp_path / "a.zarr", to=to, compress=compress, check=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a.zarr", mode="r")[...], array)
    np.testing.assert_array_equal(opened(tmp_path / "a.zarr"), array)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64", "complex128"])
def test_elements_are_those_of_zarr(tmp_path: Path, dtype: str) -> None:
    array = numbers(dtype, (5, 7))
    np.save(tmp_path / "a.npy", array)
    tw.convert(tmp_path / "a.npy", tmp_path / "a.zarr", to="shards (4, 4) chunks (2, 2)", compress="zstd")
    found = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found[...], array)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats_are_those_of_tensorstore(tmp_path: Path, dtype: str) -> None:
    array = numbers(getattr(ml_dtypes, dtype), (5, 7))
    np.save(tmp_path / "a.npy", array)
    name = {"bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2"}[dtype]
    tw.convert(tmp_path / "a.npy", tmp_path / "a.zarr", dtype=name, to="chunks (2, 2)")
    found = opened(tmp_path / "a.zarr")
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_zarr_python_writes_is_read(tmp_path: Path, version: int, compressed: bool) -> None:
    array = numbers(np.float32)
    made = zarr.create_array(
        tmp_path / "a.zarr",
        shape=array.shape,
        chunks=(7, 32),
        dtype=array.dtype,
        zarr_format=version,
        compressors="auto" if compressed else None,
        fill_value=0,
    )
    made[...] = array
    tw.convert(tmp_path / "a.zarr", tmp_path / "a.npy", check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), array)
    (listed,) = tw.ls(tmp_path / "a.zarr")
    assert str(listed.layout) == "f32[50,300] chunks (7, 32)"


def test_blosc_is_read_whatever_it_was_told(tmp_path: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    random = np.random.default_rng(3)
    for case in range(60):
        dtype = random.choice(["uint8", "int16", "float32", "float64", "complex128"])
        shape = (int(random.integers(1, 200)), int(random.integers(1, 300)))
        array = (random.standard_normal(shape) * 4).round().astype(dtype)
        codec = numcodecs.Blosc(
            cname=str(random.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"])),
            clevel=int(random.integers(0, 10)),
            shuffle=int(random.integers(0, 3)),
            blocksize=int(random.choice([0, 0, 512, 4096, 10_000])),
        )
        path = tmp_path / f"{case}.zarr"
        chunks = (int(random.integers(1, 200)), int(random.integers(1, 300)))
        made = zarr.create_array(path, shape=shape, chunks=chunks, dtype=dtype, zarr_format=2, compressors=codec, fill_value=0)
        made[...] = array
        tw.convert(path, tmp_path / f"{case}.npy")
        np.testing.assert_array_equal(np.load(tmp_path / f"{case}.npy"), array, err_msg=str(codec))


def test_a_group_goes_to_weights_and_back_with_names_of_dimensions(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset(
        {"t": (("time", "place"), numbers(np.float32, (20, 30))), "n": (("time",), np.arange(20, dtype=np.int16))},
        attrs={"title": "a grid"},
    )
    data.to_zarr(tmp_path / "x.zarr", zarr_format=3, consolidated=False)
    tw.convert(tmp_path / "x.zarr", tmp_path / "y.zarr", only=["t", "n"], compress="zstd")
    with xarray.open_zarr(tmp_path / "y.zarr", consolidated=False) as found:
        assert found.attrs["title"] == "a grid"
        xarray.testing.assert_equal(found.load(), data)
    tw.convert(tmp_path / "x.zarr", tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as found:
        np.testing.assert_array_equal(found["t"], data["t"])


@pytest.mark.parametrize(("version", "consolidated"), [(2, True), (3, True), (3, False)])
def test_a_tree_of_groups_is_the_same_tree(tmp_path: Path, version: int, consolidated: bool) -> None:
    xarray = pytest.importorskip("xarray")
    warm = xarray.Dataset(
        {"t": (("time", "lat"), numbers(np.float32, (24, 32)), {"units": "K"})},
        coords={"time": np.arange(24), "lat": np.linspace(-90, 90, 32)},
        attrs={"model": "A", "version": 3},
    )
    tree = xarray.DataTree.from_dict(
        {
            "/": xarray.Dataset(attrs={"title": "all"}),
            "/model": xarray.Dataset(attrs={"kind": "simulation"}),
            "/model/run": warm,
            "/model/masked": warm.assign(t=warm["t"].where(warm["t"] > 0)),
            "/later": xarray.Dataset(attrs={"why": "nothing is there yet"}),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # version 3 has no word for what xarray consolidates
        tree.to_zarr(tmp_path / "in.zarr", zarr_format=version, consolidated=consolidated)
    tw.convert(tmp_path / "in.zarr", tmp_path / "out.zarr", compress="zstd")
    with (
        xarray.open_datatree(tmp_path / "in.zarr", engine="zarr", consolidated=consolidated) as wanted,
        xarray.open_datatree(tmp_path / "out.zarr", engine="zarr", consolidated=consolidated) as found,
    ):
        xarray.testing.assert_identical(found.load(), wanted.load())
        assert sorted(node.path for node in found.subtree) == ["/", "/later", "/model", "/model/masked", "/model/run"]


@pytest.mark.parametrize("location", ["start", "end"])
def test_shards_within_shards_are_read(tmp_path: Path, location: str) -> None:
    codecs = zarr.codecs
    inner = codecs.ShardingCodec(chunk_shape=(2, 3), codecs=[codecs.BytesCodec(), codecs.ZstdCodec()], index_location=location)
    outer = codecs.ShardingCodec(chunk_shape=(8, 12), codecs=[inner])
    array = np.random.default_rng(3).integers(0, 1 << 30, (50, 70), np.int32)
    found = zarr.create_array(
        tmp_path / "in.zarr", shape=array.shape, chunks=(16, 24), dtype="int32", serializer=outer, compressors=None, fill_value=0
    )
    array[20:33, 30:] = 0  # chunks, and shards, that are missing
    found[:] = array
    assert str(tw.ls(tmp_path / "in.zarr")[0].layout) == "s32[50,70] shards (16, 24) shards (8, 12) chunks (2, 3)"
    tw.rechunk(tmp_path / "in.zarr", tmp_path / "out.zarr", chunks=(50, 5))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out.zarr")[:], array)
    tw.convert(tmp_path / "in.zarr", tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), array)


def test_what_a_note_says_comes_back(tmp_path: Path) -> None:
    array = numbers(np.float32)
    np.save(tmp_path / "a.npy", array)
    tw.convert(tmp_path / "a.npy", tmp_path / "a.zarr", to="{1,0:T(8,128)}")
    assert zarr.open_array(tmp_path / "a.zarr", mode="r").shape == (56 * 384,)
    tw.convert(tmp_path / "a.zarr", tmp_path / "b.npy", to="row-major")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), array)
    assert not tw.diff(tmp_path / "a.zarr", tmp_path / "a.npy")
