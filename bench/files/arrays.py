"""Contenders for arrays. Each gets a job, the source and the target, and returns what is timed; packages are imported before."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jobs import MIB, Job, metadata, spec
from places import copy_objects

Work = Callable[[], object]


@dataclass(frozen=True)
class Contender:
    name: str
    # What has to be there: a package, or a program.
    needs: str
    prepare: Callable[..., Work]
    # How many arrays it writes, at the most.
    arrays: int = 1
    # What it will take by its own plan: the words of the command that says so.
    plan: Callable[..., list[str]] | None = None
    # Whether it is measured with stores in a bucket as well.
    is_far: bool = False


def words(job: Job, origin: str, target: str) -> list[str]:
    found = ["rechunk", origin, target, "--chunks", ",".join(map(str, job.target))]
    found += ["--to", "{0,1}"] if job.is_transposed else []
    return [*found, "--compress", "zstd:1" if job.compressed else "none"]


def planned(job: Job, origin: str, target: str) -> list[str]:
    return [*words(job, origin, target), "--memory", job.memory, "--dry-run", "--json"]


def with_tilework(job: Job, origin: str, target: str) -> Work:
    return command(*words(job, origin, target), "--memory", job.memory)


def with_tilework_convert(job: Job, origin: str, target: str) -> Work:
    layout = f"chunks {job.target}" + (" order (1, 0)" if job.is_transposed else "")
    packed = "zstd:1" if job.compressed else "none"
    return command("convert", origin, target, "--to", layout, "--memory", job.memory, "--compress", packed)


def command(*words: str) -> Work:
    """The command in this process, as the package has it."""
    from tilework._files import _answer

    return lambda: _answer(list(words))


def halved(memory: str) -> str:
    """What one of two workers may hold: `256MiB` is `128MiB` each."""
    number = memory.rstrip("KMGTiB")
    unit = memory[len(number) :]
    smaller = {"TiB": "GiB", "GiB": "MiB", "MiB": "KiB"}
    return f"{int(number) // 2}{unit}" if int(number) % 2 == 0 else f"{int(number) * 512}{smaller[unit]}"


def with_tilework_on_dask(job: Job, origin: str, target: str) -> Work:
    import tilework
    from distributed import Client, LocalCluster

    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    packed, to = "zstd:1" if job.compressed else "none", "{0,1}" if job.is_transposed else None
    settings = {"chunks": job.target, "to": to, "compress": packed, "memory": halved(job.memory), "client": client}
    return lambda: tilework.rechunk(origin, target, **settings)


def with_tensorstore(job: Job, origin: str, target: str) -> Work:
    import tensorstore

    def run() -> None:
        array = tensorstore.open(spec(origin)).result()
        made = metadata(job, job.target, job.codecs())
        new = tensorstore.open(spec(target, made), create=True).result()
        new.write(array).result()

    return run


def zarr_target(job: Job, target: str):
    import zarr
    from zarr.codecs import TransposeCodec, ZstdCodec

    return zarr.create_array(
        target, shape=(job.side, job.side), chunks=job.target, dtype="float32", fill_value=0,
        filters=[TransposeCodec(order=(1, 0))] if job.is_transposed else None,
        compressors=[ZstdCodec(level=1)] if job.compressed else None,
    )  # fmt: skip


def with_zarr_python(job: Job, origin: str, target: str) -> Work:
    import zarr

    def run() -> None:
        array, new = zarr.open_array(origin, mode="r"), zarr_target(job, target)
        # Parts of whole target chunks, of 64 MiB at most.
        rows = max(64 * MIB // (4 * job.side * job.target[0]), 1) * job.target[0]
        if job.target[0] == job.side:
            columns = max(64 * MIB // (4 * job.side * job.target[1]), 1) * job.target[1]
            for start in range(0, job.side, columns):
                new[:, start : start + columns] = array[:, start : start + columns]
        else:
            for start in range(0, job.side, rows):
                new[start : start + rows] = array[start : start + rows]

    return run


def with_dask(job: Job, origin: str, target: str) -> Work:
    import dask.array
    from distributed import Client, LocalCluster

    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))

    def run() -> None:
        array = dask.array.from_zarr(origin).rechunk(job.target, method="p2p")
        dask.array.store(array, zarr_target(job, target), lock=False, scheduler=client)

    return run


def with_cubed(job: Job, origin: str, target: str) -> Work:
    import cubed
    from cubed.runtime.executors.local import ProcessesExecutor

    def run() -> None:
        with tempfile.TemporaryDirectory(dir=Path(target).parent) as work:
            settings = cubed.Spec(work_dir=work, allowed_mem="2GB", reserved_mem="200MB")
            array = cubed.from_zarr(origin, spec=settings).rechunk(job.target)
            cubed.to_zarr(array, target, executor=ProcessesExecutor(max_workers=2))

    return run


def with_zarrs(job: Job, origin: str, target: str) -> Work:
    """With a cache of 1 GB, as its manual has it: without one, every target chunk decodes the source chunks it touches."""
    words = ["zarrs_reencode", "--chunk-shape", ",".join(map(str, job.target)), "--cache-size", "1000000000"]
    if job.is_transposed:
        words += ["--array-to-array-codecs", json.dumps(job.codecs()[:1])]
    return lambda: subprocess.run([*words, origin, target], check=True, capture_output=True)


def with_copy(_: Job, origin: str, target: str) -> Work:
    if origin.startswith("s3://"):
        return lambda: copy_objects(origin, target)
    return lambda: shutil.copytree(origin, target)


COPY = "plain copy of the files"

ARRAYS = [
    Contender(COPY, "", with_copy, is_far=True),
    Contender("tilework rechunk", "tilework", with_tilework, arrays=2, plan=planned, is_far=True),
    Contender("tilework convert", "tilework", with_tilework_convert, is_far=True),
    Contender("tilework rechunk, 2 Dask workers", "distributed", with_tilework_on_dask, arrays=2),
    Contender("TensorStore", "tensorstore", with_tensorstore, is_far=True),
    Contender("zarr-python, a loop", "zarr", with_zarr_python),
    Contender("dask p2p, 2 workers", "distributed", with_dask, arrays=2),
    Contender("Cubed, 2 processes", "cubed", with_cubed, arrays=2),
    Contender("zarrs_reencode", "zarrs_reencode", with_zarrs),
]
