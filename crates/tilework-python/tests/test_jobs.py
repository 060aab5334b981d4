"""Arrays in pieces: zarr-python, safetensors and JAX read what is written, and clusters of processes write it."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilework as tw

zarr = pytest.importorskip("zarr")
safetensors = pytest.importorskip("safetensors.numpy")

Array = np.ndarray[Any, Any]


def numbers(shape: tuple[int, ...] = (100, 300)) -> Array:
    return np.random.default_rng(7).integers(0, 1 << 30, shape, np.int32)


def same(path: Path, array: Array, chunks: tuple[int, ...]) -> None:
    found = zarr.open_array(path, mode="r")
    assert found.chunks == chunks
    np.testing.assert_array_equal(found[...], array)


@pytest.mark.parametrize("shards", [None, (48, 80)])
@pytest.mark.parametrize("compress", [None, "zstd:1", "gzip"])
def test_zarr_reads_what_is_rechunked(tmp_path: Path, shards: tuple[int, ...] | None, compress: str | None) -> None:
    array = numbers()
    source = zarr.create_array(
        tmp_path / "in.zarr", shape=array.shape, chunks=(7, 300), dtype=array.dtype, fill_value=3
    )
    source[:90] = array[:90]  # the rest is missing
    array[90:] = 3
    chunks = (16, 40)
    tw.rechunk(
        tmp_path / "in.zarr", tmp_path / "out.zarr", chunks=chunks, shards=shards, compress=compress, memory="64MiB"
    )
    same(tmp_path / "out.zarr", array, chunks)


def test_one_array_of_several_is_rechunked(tmp_path: Path) -> None:
    array = numbers()
    np.savez_compressed(tmp_path / "x.npz", a=array.astype(">i4"), b=array + 1)
    root = zarr.create_group(tmp_path / "group.zarr")
    for name, moved in (("deep/a", array), ("b", array + 1)):
        root.create_array(name, shape=array.shape, chunks=(7, 300), dtype=array.dtype)[:] = moved
    for source, only in ((tmp_path / "x.npz", "a"), (tmp_path / "group.zarr", "deep/a")):
        with pytest.raises(tw.LayoutError, match=r"2\s+arrays: (.|\n)*--only"):
            tw.rechunk(source, tmp_path / "out.zarr", chunks=(16, 40))
        tw.rechunk(source, tmp_path / f"{only[-1]}-{source.stem}.zarr", chunks=(16, 40), only=only)
        same(tmp_path / f"{only[-1]}-{source.stem}.zarr", array, (16, 40))


def test_tasks_are_pickled_and_run_twice_without_harm(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    plan = tw.plan_tasks(tmp_path / "a.npy", tmp_path / "out.zarr", chunks=(16, 40), parts=5, memory="64MiB")
    (tasks,) = plan.passes
    with pytest.raises(tw.LayoutError, match="is missing"):
        plan.finish()
    again = pickle.loads(pickle.dumps(tasks))
    assert again == tasks
    for task in [*again, *tasks]:
        task()
    plan.finish()
    same(tmp_path / "out.zarr", numbers(), (16, 40))


def test_an_executor_of_processes_runs_a_plan(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as executor:
        tw.rechunk(tmp_path / "a.npy", tmp_path / "out.zarr", chunks=(16, 40), memory="64MiB", executor=executor)
    same(tmp_path / "out.zarr", numbers(), (16, 40))


def test_arrays_of_other_libraries_are_read_from_their_stores(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    dask = pytest.importorskip("dask.array")
    array = numbers((64, 60))
    stored = zarr.create_array(tmp_path / "in.zarr", shape=array.shape, chunks=(16, 60), dtype=array.dtype)
    stored[:] = array
    chunks = {"t": {"chunks": (16, 60)}}
    xarray.Dataset({"t": (("y", "x"), array)}).to_zarr(tmp_path / "ds.zarr", consolidated=False, encoding=chunks)

    def opened(**how: Any) -> Any:
        return xarray.open_zarr(tmp_path / "ds.zarr", consolidated=False, **how)["t"]

    of_dask = dask.from_zarr(str(tmp_path / "in.zarr"))
    sources = [
        stored,
        of_dask,
        of_dask.rechunk((8, 8)),
        opened(chunks=None),
        opened(chunks={}),
        opened(chunks={"y": 32}),
    ]
    for number, source in enumerate(sources):
        tw.rechunk(source, tmp_path / f"{number}.zarr", chunks=(64, 6), memory="64MiB")
        same(tmp_path / f"{number}.zarr", array, (64, 6))
    computed = [
        of_dask + 1,
        of_dask[:32],
        of_dask.T,
        opened(chunks=None)[:8],
        opened(chunks={})[::-1],
        opened(chunks=None) * 2,
    ]
    for source in [*computed, opened(chunks=None).load(), array]:
        with pytest.raises(TypeError, match="to_zarr"):
            tw.rechunk(source, tmp_path / "x.zarr", chunks=(64, 6))
    decoded = xarray.Dataset({"t": (("y", "x"), array, {"scale_factor": 0.5})})
    decoded.to_zarr(tmp_path / "scaled.zarr", consolidated=False)
    with pytest.raises(TypeError, match="mask_and_scale=False"):
        tw.rechunk(
            xarray.open_zarr(tmp_path / "scaled.zarr", consolidated=False)["t"], tmp_path / "x.zarr", chunks=(8, 8)
        )
    assert not (tmp_path / "x.zarr").exists()


class Cluster:
    """What a Dask client says of its workers; it runs tasks here."""

    def __init__(self, *workers: dict[str, int]) -> None:
        self.workers, self.tasks = workers, list[tw.Task]()

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": dict(enumerate(self.workers))}

    def map(self, call: Any, tasks: Any, **_: Any) -> list[Any]:
        self.tasks += tasks
        return [call(task) for task in tasks]

    def gather(self, done: Any) -> Any:
        return done


def test_tasks_are_as_large_as_the_smallest_worker_allows(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    gib = 1 << 30
    for number, (workers, memory) in enumerate(
        [
            ([{"memory_limit": 4 * gib, "nthreads": 2}, {"memory_limit": 3 * gib, "nthreads": 1}], gib),
            ([{"memory_limit": 0, "nthreads": 1}], None),
            ([{"memory_limit": 1 << 20, "nthreads": 1}], 32 << 20),
        ]
    ):
        client = Cluster(*workers)
        tw.rechunk(tmp_path / "a.npy", tmp_path / f"{number}.zarr", chunks=(16, 40), client=client)
        same(tmp_path / f"{number}.zarr", numbers(), (16, 40))
        assert client.tasks and {task.memory for task in client.tasks} == {memory}


class Slow:
    """A task that marks its begin and takes a while, so that somebody can kill its worker meanwhile."""

    def __init__(self, task: tw.Task, folder: str) -> None:
        self.task, self.folder = task, folder

    def __call__(self) -> dict[str, Any]:
        (Path(self.folder) / f"begun-{self.task.part}-{os.getpid()}").touch()
        time.sleep(0.05)
        return self.task()


def test_a_worker_of_dask_is_killed_and_the_result_is_right(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    np.save(tmp_path / "a.npy", numbers())
    plan = tw.plan_tasks(tmp_path / "a.npy", tmp_path / "out.zarr", chunks=(8, 20), parts=40, memory="64MiB")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = client.map(_call, [Slow(task, str(tmp_path)) for task in plan.passes[0]], pure=False, retries=3)
        while not (begun := list(tmp_path.glob("begun-*"))):
            time.sleep(0.01)
        os.kill(int(begun[0].name.rsplit("-", 1)[1]), 9)
        client.gather(futures)
        plan.finish()
        same(tmp_path / "out.zarr", numbers(), (8, 20))
        # Through the call that does all of it.
        tw.rechunk(tmp_path / "out.zarr", tmp_path / "back.zarr", chunks=(100, 10), memory="64MiB", client=client)
    same(tmp_path / "back.zarr", numbers(), (100, 10))


def _call(task: Any) -> Any:
    return task()


def test_parts_are_those_of_jax(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    from jax.sharding import PartitionSpec

    whole = {"w": numbers((24, 20)), "b": numbers((24,))}
    safetensors.save_file(whole, tmp_path / "model.safetensors")
    spec = PartitionSpec("x", "y")
    tw.reshard(tmp_path / "model.safetensors", tmp_path / "parts", mesh={"x": 2, "y": 4}, spec=str(spec))
    for device in range(8):
        part = safetensors.load_file(tmp_path / f"parts/shard-{device + 1:05}-model-00001-of-00001.safetensors")
        row, column = divmod(device, 4)
        np.testing.assert_array_equal(part["w"], whole["w"][12 * row :, 5 * column :][:12, :5])
        np.testing.assert_array_equal(part["b"], whole["b"])
    tw.reshard(tmp_path / "parts", tmp_path / "one", spec="{maximal device=0}")
    back = safetensors.load_file(tmp_path / "one/shard-00001-model-00001-of-00001.safetensors")
    np.testing.assert_array_equal(back["w"], whole["w"])
    np.testing.assert_array_equal(back["b"], whole["b"])


# Random shardings, and the part of each device as JAX has it. In a process of its own: how many devices a CPU is has to be said before
# JAX is imported.
SHARDINGS = """
import json, math, os, random, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
draw = random.Random(7)
for _ in range(12):
    axes = {name: draw.choice([1, 2, 2, 4]) for name in draw.sample("xyzw", draw.choice([1, 2, 3]))}
    if math.prod(axes.values()) > 16:
        continue
    names, free, sizes = list(axes), list(axes), []
    spec = []
    for _ in range(draw.choice([1, 2, 3])):
        taken = [free.pop(draw.randrange(len(free))) for _ in range(min(len(free), draw.choice([0, 1, 1, 2])))]
        spec.append(tuple(taken) if len(taken) > 1 else taken[0] if taken else None)
        sizes.append(math.prod(axes[name] for name in taken) * draw.choice([1, 2, 3]))
    devices = np.array(jax.devices()[: math.prod(axes.values())]).reshape(list(axes.values()))
    sharding = NamedSharding(Mesh(devices, names), PartitionSpec(*spec))
    parts = {device.id: [[part.start or 0, part.stop or size] for part, size in zip(index, sizes)]
             for device, index in sharding.devices_indices_map(tuple(sizes)).items()}
    hlo = str(sharding._to_xla_hlo_sharding(len(sizes)))
    print(json.dumps([axes, str(sharding.spec), repr(sharding), hlo, sizes, parts]))
"""


def test_random_shardings_are_those_of_jax(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    ran = subprocess.run([sys.executable, "-c", SHARDINGS], capture_output=True, text=True, check=True)
    cases = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(cases) > 5
    for number, (mesh, spec, printed, hlo, sizes, parts) in enumerate(cases):
        array = np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)
        safetensors.save_file({"w": array}, tmp_path / f"{number}.safetensors")
        # JAX's words with a mesh, the object as it prints itself, and what XLA is handed, which does not say how many have a copy.
        spoken = {"spec": (mesh, spec), "object": (mesh, printed), "hlo": (mesh, hlo)}
        for name, (axes, words) in spoken.items():
            target = tmp_path / f"{number}-{name}"
            tw.reshard(tmp_path / f"{number}.safetensors", target, mesh=axes, spec=words)
            assert len(list(target.iterdir())) == len(parts)
            for device, ranges in parts.items():
                file = target / f"shard-{int(device) + 1:05}-model-00001-of-00001.safetensors"
                index = tuple(slice(start, stop) for start, stop in ranges)
                np.testing.assert_array_equal(
                    safetensors.load_file(file)["w"], array[index], f"{mesh} {words} {device}"
                )
