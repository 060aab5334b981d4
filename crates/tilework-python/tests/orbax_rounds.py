"""Checkpoints of eight devices, between Orbax and Tilework: `test_orbax.py` runs this in a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import tilework as tw


def saved() -> dict[str, Any]:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    random = np.random.default_rng(3)

    def put(array: Any, *spec: Any) -> Any:
        return jax.device_put(array, NamedSharding(mesh, P(*spec)))

    return {
        "layers": [
            {"w": put(random.standard_normal((64, 96), np.float32), "data", "model"), "b": put(np.arange(96).astype("bfloat16"), "model")},
            {"w": put(random.standard_normal((64, 96), np.float32), None, ("model", "data")), "b": put(np.ones(96, np.float16))},
        ],
        "small": {"int4": put((np.arange(16) - 8).astype("int4"), "model"), "float8": put(np.arange(8).astype("float8_e4m3fn"), "data")},
        "table": random.integers(0, 100, (7, 3)),
        "step": 12,
        "note": "kept",
        "nothing": None,
    }  # fmt: skip


def same(found: Any, wanted: Any) -> None:
    assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(wanted)
    for (path, left), right in zip(jax.tree_util.tree_leaves_with_path(found), jax.tree_util.tree_leaves(wanted), strict=True):
        assert type(left) is type(right), (path, type(left), type(right))
        if not isinstance(left, str):
            assert np.asarray(left).dtype == np.asarray(right).dtype, path
        assert np.array_equal(np.asarray(left), np.asarray(right)), path


def main(folder: Path) -> None:
    tree = saved()
    for ocdbt in True, False:
        for zarr3 in True, False:
            name = folder / f"{ocdbt}-{zarr3}"
            handler = ocp.PyTreeCheckpointHandler(use_ocdbt=ocdbt, use_zarr3=zarr3)
            ocp.Checkpointer(handler).save(name, args=ocp.args.PyTreeSave(tree, ocdbt_target_data_file_size=20_000))
            # What is read is what was saved.
            listed = {array.name: array for array in tw.ls(name)}
            assert listed["layers.0.w"].sharding == "NamedSharding(mesh=Mesh('data': 2, 'model': 4), spec=P('data', 'model'))"
            tw.convert(name, f"{name}.npz", only=["layers.*", "table", "step"], check=True)
            with np.load(f"{name}.npz") as arrays:
                for key, wanted in ("layers.0.w", tree["layers"][0]["w"]), ("table", tree["table"]), ("step", 12):
                    assert np.array_equal(arrays[key], wanted), key
            # What is written, from the checkpoint or from parts of it, is restored as the same, over other devices.
            tw.reshard(name, f"{name}-parts", mesh={"x": 2, "y": 2}, spec={"*.w": "P('x', 'y')"})
            tw.reshard(name, f"{name}-jax", orbax=True, compress="zstd" if zarr3 else None, mesh={"x": 4, "y": 2}, spec={"*.w": "P('x', 'y')", "small.*": "P('x')"})
            found = ocp.PyTreeCheckpointer().restore(f"{name}-jax")
            same(found, tree)
            sharding = found["layers"][1]["w"].sharding
            assert (sharding.spec, dict(sharding.mesh.shape)) == (P("x", "y"), {"x": 4, "y": 2})
            tw.reshard(f"{name}-parts", f"{name}-back", orbax=True, mesh={"x": 8}, spec="P('x')")
            back = ocp.StandardCheckpointer().restore(f"{name}-back")
            assert np.array_equal(back["layers"]["1"]["w"], tree["layers"][1]["w"])
            assert back["layers"]["1"]["w"].sharding.spec == P("x")
            assert not tw.diff(name, f"{name}-jax")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
