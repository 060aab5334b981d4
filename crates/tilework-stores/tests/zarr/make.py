"""Makes samples.json: small stores that zarr-python and TensorStore wrote, and what they hold.

    python make.py          with zarr, tensorstore, ml_dtypes and numcodecs from PyPI

A store is its files in base64 by their keys; `holds` has for each array by path its type, sizes and bytes in row-major
order, which are deflated.
"""

from __future__ import annotations

import base64
import json
import tempfile
import zlib
from pathlib import Path

import ml_dtypes
import numcodecs
import numpy as np
import tensorstore as ts
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

STORES: list[dict] = []


def values(shape, dtype):
    numbers = np.arange(int(np.prod(shape))).reshape(shape) % 13
    return (numbers > 6) if dtype == "bool" else numbers.astype(np.dtype(dtype))


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def store(name, by, write):
    """`write` gets a folder and returns the arrays in it by path."""
    with tempfile.TemporaryDirectory() as folder:
        holds = write(folder)
        files = {
            str(path.relative_to(folder)): text(path.read_bytes())
            for path in sorted(Path(folder).rglob("*")) if path.is_file()
        }  # fmt: skip
    found = {
        path: {"type": np.dtype(array.dtype).name, "sizes": list(array.shape), "bytes": text(zlib.compress(np.ascontiguousarray(array).tobytes(), 9))}
        for path, array in holds.items()
    }
    STORES.append({"name": name, "by": by, "files": files, "holds": found})


def with_zarr(name, shape, chunks, dtype="float32", region=None, **more):
    def write(folder):
        options = {"compressors": None, "fill_value": 0} | more
        array = zarr.create_array(folder, shape=shape, chunks=chunks, dtype=dtype, **options)
        data = values(shape, dtype)
        if region is None:
            array[...] = data
        else:
            array[region] = data[region]
        return {"": array[...].astype(np.dtype(dtype).newbyteorder("<"))}

    store(name, f"zarr {zarr.__version__}", write)


def with_tensorstore(name, shape, driver, metadata, dtype, region=None):
    def write(folder):
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": folder}, "metadata": {"shape": list(shape), **metadata}}
        array = ts.open(spec, create=True).result()
        data = values(shape, dtype)
        if region is None:
            array.write(data).result()
        else:
            array[region].write(data[region]).result()
        return {"": array.read().result()}

    store(name, f"tensorstore {ts.__version__ if hasattr(ts, '__version__') else ''}".strip(), write)


def v3(chunks, data_type, codecs, fill=0, **more):
    return {
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "data_type": data_type, "codecs": codecs, "fill_value": fill, **more,
    }  # fmt: skip


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
PLAIN = {"name": "bytes"}


def main():
    with_zarr("plain", (5, 7), (2, 3))
    with_zarr("one chunk", (4, 6), (4, 6), "int64")
    with_zarr("no dimensions", (), (), "float64")
    with_zarr("nothing in it", (0, 3), (1, 3), "int16")
    with_zarr("big end first", (5, 7), (2, 4), "float32", serializer=BytesCodec(endian="big"))
    with_zarr("complex, big end first", (3, 3), (2, 2), "complex64", serializer=BytesCodec(endian="big"))
    with_zarr("transposed", (3, 4, 5), (2, 3, 4), "uint16", filters=[TransposeCodec(order=(2, 0, 1))])
    with_zarr("transposed twice", (3, 4, 5), (2, 3, 4), "uint16", filters=[TransposeCodec(order=(2, 0, 1)), TransposeCodec(order=(1, 0, 2))])
    with_zarr("gzip", (9, 9), (4, 4), "int32", compressors=[GzipCodec(level=5)])
    with_zarr("zstd", (9, 9), (4, 4), "int32", compressors=[ZstdCodec(level=3, checksum=True)])
    with_zarr("crc32c", (9, 9), (4, 4), "int32", compressors=[ZstdCodec(), Crc32cCodec()])
    with_zarr("sums within", (9, 9), (4, 4), "int8", compressors=[Crc32cCodec(), GzipCodec(), Crc32cCodec()])
    with_zarr("keys of version 2", (5, 7), (2, 3), chunk_key_encoding={"name": "v2", "separator": "."})
    with_zarr("keys of version 2 with slashes", (5, 7), (2, 3), chunk_key_encoding={"name": "v2", "separator": "/"})
    with_zarr("keys with dots", (5, 7), (2, 3), chunk_key_encoding={"name": "default", "separator": "."})
    with_zarr("no keys", (), (), "int8", chunk_key_encoding={"name": "v2", "separator": "."})
    with_zarr("missing chunks", (6, 6), (2, 3), "float32", region=np.s_[0:2, 0:3], fill_value=1.5)
    with_zarr("missing, not a number", (6, 6), (2, 3), "float64", region=np.s_[4:6, :], fill_value=float("nan"))
    with_zarr("missing, infinite", (4, 4), (2, 2), "float16", region=np.s_[0:2, :], fill_value=float("-inf"))
    with_zarr("missing, complex", (4, 4), (2, 2), "complex128", region=np.s_[0:2, :], fill_value=1 - 2j)
    with_zarr("missing, true", (4, 4), (2, 2), "bool", region=np.s_[0:2, :], fill_value=True)
    with_zarr("missing, the lowest", (4, 4), (2, 2), "int64", region=np.s_[0:2, :], fill_value=-(2**63))
    for kind in ("int8", "int16", "uint8", "uint32", "uint64", "float16", "float64", "complex128", "bool"):
        with_zarr(f"elements {kind}", (3, 5), (2, 2), kind)
    with_zarr("names", (3, 5), (2, 2), dimension_names=["rows", "columns"], attributes={"unit": "K", "scale": [1, 2.5]})
    with_zarr("shards", (10, 9), (2, 3), "int32", shards=(4, 6), compressors=[ZstdCodec()])
    with_zarr("plain shards", (10, 9), (2, 3), "int32", shards=(4, 6))
    with_zarr("shards with holes", (8, 12), (2, 3), "int32", shards=(4, 6), region=np.s_[0:2, 0:3], fill_value=7)
    for place in ("start", "end"):
        inner = [TransposeCodec(order=(1, 0)), BytesCodec(endian="big"), GzipCodec(level=1)]
        codec = ShardingCodec(chunk_shape=(2, 3), codecs=inner, index_location=place)
        with_zarr(f"index at the {place}", (7, 9), (4, 6), "uint16", serializer=codec)
    last = ShardingCodec(chunk_shape=(2, 3), codecs=[TransposeCodec(order=(1, 0)), BytesCodec(endian="big"), ZstdCodec()], index_location="start")
    for name, region in (("", None), (" with holes", np.s_[0:3, 0:4])):
        with_zarr(f"shards within shards{name}", (17, 30), (8, 12), "int32", serializer=ShardingCodec(chunk_shape=(4, 6), codecs=[last]), region=region, fill_value=7)
    plain = ShardingCodec(chunk_shape=(2, 3), codecs=[ShardingCodec(chunk_shape=(1, 3), codecs=[BytesCodec()])])
    with_zarr("shards within shards within shards", (9, 13), (4, 12), "int16", serializer=ShardingCodec(chunk_shape=(4, 6), codecs=[plain]))
    for name in ("lz4", "lz4hc", "zstd", "zlib", "blosclz"):
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            with_zarr(f"blosc {name} {shuffle}", (40, 50), (30, 40), "int32", compressors=[BloscCodec(cname=name, clevel=5, shuffle=shuffle)])

    for separator in (".", "/"):
        key = {"name": "v2", "separator": separator}
        with_zarr(f"version 2 with {separator}", (5, 7), (2, 3), "<f8", zarr_format=2, chunk_key_encoding=key)
    with_zarr("version 2, column-major", (5, 7), (2, 3), "<i4", zarr_format=2, order="F")
    with_zarr("version 2, big end first", (5, 7), (2, 3), ">i2", zarr_format=2)
    with_zarr("version 2, missing", (5, 7), (2, 3), "<f4", zarr_format=2, region=np.s_[0:2, 0:3], fill_value=float("nan"))
    compressors = {
        "zlib": numcodecs.Zlib(level=1), "gzip": numcodecs.GZip(), "zstd": numcodecs.Zstd(), "lz4": numcodecs.LZ4(),
        "blosc": numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1),
    }  # fmt: skip
    for name, compressor in compressors.items():
        with_zarr(f"version 2, {name}", (20, 30), (12, 16), "<i4", zarr_format=2, compressors=compressor)

    def group(version):
        def write(folder):
            root = zarr.create_group(folder, zarr_format=version, attributes={"title": "a group"})
            holds = {}
            for path, dtype in (("a", "float32"), ("b/c", "int16"), ("b/d/e.f", "uint8")):
                holds[path] = values((3, 4), dtype)
                root.create_array(path, shape=(3, 4), chunks=(2, 2), dtype=dtype, compressors=None)[...] = holds[path]
            root.create_group("empty")
            zarr.consolidate_metadata(folder, zarr_format=version)
            return holds

        return write

    store("group", f"zarr {zarr.__version__}", group(3))
    store("group of version 2", f"zarr {zarr.__version__}", group(2))

    for kind in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "int4"):
        codec = LITTLE if kind == "bfloat16" else PLAIN
        with_tensorstore(f"elements {kind}", (3, 5), "zarr3", v3([2, 2], kind, [codec]), getattr(ml_dtypes, kind) if kind != "int4" else ml_dtypes.int4)
    sharded = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [2, 3], "index_location": "start",
            "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE, {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}],
            "index_codecs": [LITTLE, {"name": "crc32c"}],
        },
    }  # fmt: skip
    with_tensorstore("sharded by TensorStore", (9, 10), "zarr3", v3([4, 6], "float32", [sharded]), "float32")
    outer = {"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 6], "index_location": "end", "codecs": [sharded], "index_codecs": [LITTLE, {"name": "crc32c"}]}}
    with_tensorstore("shards within shards by TensorStore", (17, 30), "zarr3", v3([8, 12], "float32", [outer]), "float32")
    with_tensorstore("gzip by TensorStore", (9, 10), "zarr3", v3([4, 6], "int32", [LITTLE, {"name": "gzip", "configuration": {"level": 5}}]), "int32")
    with_tensorstore("holes by TensorStore", (8, 12), "zarr3", v3([4, 6], "float32", [sharded], "NaN"), "float32", np.s_[0:2, 0:3])
    with_tensorstore("a fill in bits", (8, 12), "zarr3", v3([4, 6], "bfloat16", [LITTLE], "0x7fc1"), ml_dtypes.bfloat16, np.s_[0:2, 0:3])
    v2 = {"chunks": [2, 3], "dtype": "bfloat16", "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2}, "order": "F", "fill_value": 0, "filters": None}
    with_tensorstore("version 2 by TensorStore", (5, 7), "zarr", v2, ml_dtypes.bfloat16)

    Path(__file__).with_name("samples.json").write_text(json.dumps({"stores": STORES}, indent=0) + "\n")


main()
