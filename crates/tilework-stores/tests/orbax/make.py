"""Makes samples.json: small checkpoints that Orbax wrote, databases that TensorStore wrote, and what they hold.

    python make.py          with orbax-checkpoint, tensorstore and jax[cpu] from PyPI

A checkpoint is its files in base64 by their keys; `holds` has for each array by name its type, sizes and bytes in row-major
order, which are deflated, and `specs` how devices held those that were on several.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import zlib
from importlib.metadata import version
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import orbax.checkpoint as ocp
import tensorstore as ts
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

STORES: list[dict] = []


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def store(name, by, write):
    """`write` gets a folder and returns the arrays in it by name, and the specs of some."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as parent:
        folder = Path(parent) / "x"
        holds, specs = write(folder)
        files = {
            str(path.relative_to(folder)): text(path.read_bytes())
            for path in sorted(folder.rglob("*")) if path.is_file()
        }  # fmt: skip
    found = {
        path: {"type": array.dtype.name, "sizes": list(array.shape), "bytes": text(zlib.compress(np.ascontiguousarray(array).tobytes(), 9))}
        for path, array in holds.items()
    }
    STORES.append({"name": name, "by": by, "files": files, "holds": found, "specs": specs})


def leaves():
    """Values by name, with the axes that cut them; none is on one device."""
    noise = np.random.default_rng(1).integers(0, 256, (48, 32), np.uint8).view(np.float32)
    return {
        "params.layers.0.w": (np.arange(16 * 24, dtype=np.float32).reshape(16, 24), P("data", "model")),
        "params.layers.0.b": (np.arange(24).astype(jax.numpy.bfloat16), P(("model", "data"))),
        "params.layers.1.w": (np.where(np.isfinite(noise), noise, 1), P(None, "model")),
        "params.layers.1.b": (np.zeros(8, np.int32), P()),
        "params.embed/table": (np.arange(16, dtype=np.int8).reshape(8, 2), P("data")),
        "params.quantised": ((np.arange(16) - 8).astype(jax.numpy.int4), P("model")),
        "mask": (np.arange(7) % 3 == 0, None),
        "step": (np.asarray(7, np.int64), None),
    }


def tree(mesh):
    all = leaves()
    put = {
        name: array if spec is None else jax.make_array_from_callback(array.shape, NamedSharding(mesh, spec), lambda at, array=array: array[at])
        for name, (array, spec) in all.items()
    }
    layer = lambda number: {kind: put[f"params.layers.{number}.{kind}"] for kind in "wb"}
    return {
        "params": {"layers": [layer(0), layer(1)], "embed/table": put["params.embed/table"], "quantised": put["params.quantised"]},
        "mask": put["mask"], "step": put["step"], "note": "two layers", "none": None, "empty": {},
    }  # fmt: skip


def mesh():
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def holds():
    all = leaves()
    spec = lambda spec: "P(" + ", ".join("None" if axis is None else repr(axis) for axis in spec) + ")"
    return {name: array for name, (array, _) in all.items()}, {name: spec(axes) for name, (_, axes) in all.items() if axes is not None}


def save(folder, ocdbt, zarr3, **more):
    handler = ocp.PyTreeCheckpointHandler(use_ocdbt=ocdbt, use_zarr3=zarr3)
    ocp.Checkpointer(handler).save(folder, args=ocp.args.PyTreeSave(tree(mesh()), **more))


def with_orbax(name, write):
    def run(folder):
        write(folder)
        return holds()

    store(name, f"orbax-checkpoint {version('orbax-checkpoint')}", run)


def managed(folder):
    """A folder of steps, of which one is the sample."""
    with ocp.CheckpointManager(folder.parent / "steps") as manager:
        manager.save(7, args=ocp.args.PyTreeSave(tree(mesh())))
        manager.wait_until_finished()
    shutil.copytree(folder.parent / "steps/7", folder)


def with_tensorstore(name, config, write):
    def run(folder):
        kvstore = {"driver": "ocdbt", "base": {"driver": "file", "path": f"{folder}/"}, "config": config}
        return write(kvstore), {}

    store(name, f"tensorstore {version('tensorstore')}", run)


def an_array(kvstore, path, shape, chunks, zarr=3):
    spec = {"driver": "zarr3" if zarr == 3 else "zarr", "kvstore": {**kvstore, "path": path}}
    grid = {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}, "data_type": "int32"}
    spec["metadata"] = {"shape": shape, **(grid if zarr == 3 else {"chunks": chunks, "dtype": "<i4"})}
    array = ts.open(spec, create=True).result()
    data = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    array.write(data).result()
    return {path.rstrip("/") or "x": data}


def high_tree(kvstore):
    """Nodes of few keys, so that the tree has several levels; and many versions."""
    found = {}
    for path, zarr in ("b/c/", 3), ("a/", 2), ("b/a.b/", 2):
        found |= an_array(kvstore, path, [12, 9], [3, 2], zarr)
    return found


def emptied(kvstore):
    database = ts.KvStore.open(kvstore).result()
    database["a"] = b"1"
    database.delete_range(ts.KvStore.KeyRange()).result()
    return an_array(kvstore, "", [5], [2])


def two_processes(kvstore):
    """As Orbax merges what processes wrote: the database refers to nodes and values in the folders of others."""
    base = kvstore["base"]["path"]
    data = np.arange(96, dtype=np.int32).reshape(8, 12)
    copies, context = [], ts.Context()
    for process in range(2):
        own = {**kvstore, "base": {"driver": "file", "path": f"{base}ocdbt.process_{process}/"}}
        spec = {"driver": "zarr3", "kvstore": {**own, "path": "w/"}}
        grid = {"name": "regular", "configuration": {"chunk_shape": [4, 12]}}
        spec["metadata"] = {"shape": [8, 12], "chunk_grid": grid, "data_type": "int32"}
        array = ts.open(spec, open=True, create=True).result()
        half = slice(4 * process, 4 * process + 4)
        array[half].write(data[half]).result()
        copies.append(ts.KvStore.open(own, context=context).result())
    database, together = ts.KvStore.open(kvstore, context=context).result(), ts.Transaction(atomic=True)
    for copy in copies:
        copy.experimental_copy_range_to(database.with_transaction(together)).result()
    together.commit_sync()
    return {"w": data}


def main():
    small = {"ocdbt_target_data_file_size": 1000}
    with_orbax("a database", lambda folder: save(folder, True, True))
    with_orbax("a database of Zarr 2 in small files", lambda folder: save(folder, True, False, **small))
    with_orbax("a folder each", lambda folder: save(folder, False, True))
    with_orbax("a folder each of Zarr 2", lambda folder: save(folder, False, False))
    with_orbax("a step of a manager", managed)
    with_tensorstore("two processes", {"max_inline_value_bytes": 16}, two_processes)
    with_tensorstore("a high tree", {"max_decoded_node_bytes": 200, "max_inline_value_bytes": 10}, high_tree)
    with_tensorstore("nothing compressed", {"compression": None, "max_inline_value_bytes": 0}, emptied)
    here = Path(__file__).parent / "samples.json"
    here.write_text(json.dumps({"stores": STORES}, indent=1) + "\n")
    print(len(STORES), "checkpoints,", here.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
