"""Arrays in pieces become arrays in other pieces: what `tilework rechunk`, `reshard` and `run-tasks` do, here or on a cluster.

A plan is text, and a task is that text and a number, so both are pickled and sent anywhere. A task reads and writes the stores
itself. Done twice, it writes the same.
"""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from tilework._error import is_address
from tilework._files import _answer
from tilework._sources import path_of

__all__ = ["Task", "TaskPlan", "plan_tasks", "rechunk", "reshard"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Task:
    """A part of a pass of a plan, which may be called in any process that sees the same files."""

    plan: str
    """The plan, as text."""
    number: int
    """Which pass, counted from 0."""
    part: int
    """Which part of it, counted from 0."""
    parts: int
    """How many parts there are."""
    memory: int | str | None = None
    """How much memory it holds at most."""
    threads: int = 1
    """How many threads work."""

    def __call__(self) -> dict[str, Any]:
        """Do it, and say how many pieces were `written`, and `kept` from an earlier run."""
        return _run(self.plan, f"--part={self.part + 1}/{self.parts}", f"--pass={self.number + 1}", *_how(self))


@dataclass(frozen=True)
class TaskPlan:
    """A plan as tasks: those of a pass in any order, one pass after the other, and then `finish()`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.zeros((8, 8), np.float32))
    ...     plan = tw.plan_tasks(f"{folder}/a.npy", f"{folder}/a.zarr", chunks=(4, 8))
    ...     for tasks in plan.passes:
    ...         for task in tasks:
    ...             _ = task()
    ...     plan.finish()
    ...     tw.ls(f"{folder}/a.zarr")[0].shape
    (8, 8)
    """

    plan: str
    """The plan, as text: what `tilework run-tasks` reads."""
    passes: tuple[tuple[Task, ...], ...]
    """The tasks of each pass."""
    price: Mapping[str, Any]
    """What it costs: bytes that are `read` and `written`, requests (`gets`, `puts`), `memory` of a task, `seconds`."""

    def finish(self) -> None:
        """Check that all is there and is what was written, and give the result its name."""
        _run(self.plan, "--finish")

    def run(self, *, client: Any = None, executor: Executor | None = None, retries: int = 3) -> None:
        """Run all passes: on the workers of a Dask client, with an executor of `concurrent.futures`, or here."""
        if client is not None:
            for _, futures in _rounds(client, self, retries):
                client.gather(futures)
        for tasks in self.passes if client is None else ():
            for _ in executor.map(_call, tasks) if executor is not None else map(_call, tasks):
                pass
        self.finish()


def _rechunk_words(
    chunks: Iterable[int],
    shards: Iterable[int] | None,
    to: str | None,
    compress: str | None,
    only: str | None,
    memory: int | str | None,
) -> list[str]:
    """`tilework rechunk` with what is asked for, but for the two paths."""
    sizes = None if shards is None else _sizes(shards)
    options = {"shards": sizes, "to": to, "compress": compress, "only": only, "memory": memory}
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    return ["rechunk", "--json", f"--chunks={_sizes(chunks)}", *given]


def plan_tasks(
    src: _Path | Any,
    dst: _Path,
    *,
    chunks: Iterable[int],
    shards: Iterable[int] | None = None,
    to: str | None = None,
    compress: str | None = None,
    only: str | None = None,
    memory: int | str | None = None,
    workers: int | None = None,
    parts: int = 64,
) -> TaskPlan:
    """Plan an array in other chunks as tasks, each with up to `memory` bytes on one thread.

    A pass has up to `parts` tasks. `workers` is how many run at a time, for the price.

    Raises LayoutError for what is no array, chunks that are none of it, and memory in which nothing fits.
    """
    words = [*_rechunk_words(chunks, shards, to, compress, only, memory), "--threads=1"]
    words += [] if workers is None else [f"--workers={workers}"]
    text, found = _planned([*words, "--", _absolute(path_of(src)), _absolute(dst)])
    return _tasks(text, found, memory, parts)


def rechunk(
    src: _Path | Any,
    dst: _Path,
    *,
    chunks: Iterable[int],
    shards: Iterable[int] | None = None,
    to: str | None = None,
    compress: str | None = None,
    only: str | None = None,
    memory: int | str | None = None,
    client: Any = None,
    executor: Executor | None = None,
    parts: int = 64,
) -> None:
    """Write an array (a Zarr store, an npy file) as a Zarr array in other chunks, within bounded memory.

    A size of -1 in `chunks` or `shards` is all of the dimension. Where `src` has several arrays, as a group or a checkpoint of JAX has, `only` is the name of one as `tw.ls` has it.

    `src` may also be an array of zarr-python, an xarray.DataArray or a dask.array that is all of a Zarr array as it is stored: then
    that store is read, and nothing goes through the scheduler.

    With `client`, a `dask.distributed.Client`, or `executor`, of `concurrent.futures`, its workers do it, each task with `memory`, or
    half of what a thread of the smallest Dask worker may have; they read and write the files themselves. Else the threads of this process do it. A run that was stopped goes on where it was
    when it is begun again.

    Both may be in buckets: `s3://bucket/a.zarr` as text, as pathlib drops a slash of it; and `src` on a web server, `https://host/a.npy`.
    Credentials are those of the environment (`AWS_ACCESS_KEY_ID`, …, or `AWS_PROFILE`), also on each worker; no plan holds them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.zeros((8, 8), np.float32))
    ...     tw.rechunk(f"{folder}/a.npy", f"{folder}/a.zarr", chunks=(4, 8), compress="zstd:3")
    ...     tw.ls(f"{folder}/a.zarr")[0].shape
    (8, 8)

    Raises LayoutError for what is no array, chunks that are none of it, a target that exists, and a full disk; and TypeError for an
    array that was computed.
    """
    memory = _worker_memory(client) if memory is None else memory
    if client is not None or executor is not None:
        plan = plan_tasks(
            src, dst, chunks=chunks, shards=shards, to=to, compress=compress, only=only, memory=memory, parts=parts
        )
        plan.run(client=client, executor=executor)
        return
    words = _rechunk_words(chunks, shards, to, compress, only, memory)
    _answer([*words, "--", path_of(src), os.fspath(dst)])


def reshard(
    src: _Path,
    dst: _Path,
    *,
    mesh: Mapping[str, int] | str | None = None,
    spec: str | Mapping[str, str] | None = None,
    only: Iterable[str] = (),
    once: bool = False,
    orbax: bool = False,
    compress: str | None = None,
    memory: int | str | None = None,
    client: Any = None,
    executor: Executor | None = None,
    parts: int = 64,
) -> None:
    """Write a checkpoint for other devices: a folder with a safetensors file for each, or one that Orbax restores.

    `compress` is what compresses the chunks of the latter, such as `zstd`, which Orbax writes.

    `mesh` has the axes and their sizes, `spec` a sharding as JAX or XLA write it, or several for patterns of names. Objects of JAX
    are taken by what they print. `src` may be in a bucket, `s3://bucket/model.safetensors.index.json`, or on a web server; `dst` may
    be in a bucket.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/model.npz", w=np.zeros((4, 6), np.float32))
    ...     tw.reshard(f"{folder}/model.npz", f"{folder}/parts", mesh={"x": 2}, spec="P('x')")
    ...     [array.shape for array in tw.ls(f"{folder}/parts/shard-00002-model-00001-of-00001.safetensors")]
    [(2, 6)]

    Raises LayoutError for what is no checkpoint, parts that are missing, and shardings that do not fit.
    """
    if mesh is not None and not isinstance(mesh, str):
        mesh = ",".join(f"{name}={size}" for name, size in mesh.items())
    memory = _worker_memory(client) if memory is None else memory
    specs = {None: spec} if spec is not None and not isinstance(spec, Mapping) else (spec or {})
    words = ["reshard", "--json"] + [f"--only={pattern}" for pattern in only]
    words += [] if mesh is None else [f"--mesh={mesh}"]
    words += [f"--spec={one}" if name is None else f"--spec={name}={one}" for name, one in specs.items()]
    words += ["--once"] if once else []
    words += ["--orbax"] if orbax else []
    words += [] if compress is None else [f"--compress={compress}"]
    words += [] if memory is None else [f"--memory={memory}"]
    ends = ["--", _absolute(src), _absolute(dst)]
    if client is None and executor is None:
        _answer([*words, *ends])
        return
    text, found = _planned([*words, *ends])
    _tasks(text, found, memory, parts).run(client=client, executor=executor)


def _worker_memory(client: Any) -> int | None:
    """Half of what a thread of the smallest worker may have; the rest is Python and what others leave there."""
    if client is None:
        return None
    try:
        found = client.scheduler_info(n_workers=-1)  # else it names five of them
    except TypeError:
        found = client.scheduler_info()
    workers = found["workers"].values()
    limits = [one["memory_limit"] // max(1, one["nthreads"]) for one in workers if one.get("memory_limit")]
    return max(min(limits) // 2, 32 << 20) if limits else None


def _absolute(path: _Path) -> str:
    """The path from anywhere: workers stand elsewhere. An address is one already."""
    return os.fspath(path) if is_address(path) else os.path.abspath(path)


def _sizes(sizes: Iterable[int]) -> str:
    return ",".join(str(int(size)) for size in sizes)


def _how(task: Task) -> list[str]:
    memory = [] if task.memory is None else [f"--memory={task.memory}"]
    return [f"--threads={task.threads}", *memory]


def _planned(words: list[str]) -> tuple[str, dict[str, Any]]:
    """The plan as text, and what the command says of it."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "plan.json")
        found = _answer([words[0], f"--save-plan={name}", *words[1:]])
        with open(name, encoding="utf-8") as file:
            return file.read(), found


def _tasks(text: str, found: Mapping[str, Any], memory: int | str | None, parts: int) -> TaskPlan:
    def of(number: int, tasks: int) -> tuple[Task, ...]:
        count = max(1, min(tasks, parts))
        return tuple(Task(text, number, part, count, memory) for part in range(count))

    passes = tuple(of(number, tasks) for number, tasks in enumerate(found["tasks"]))
    return TaskPlan(text, passes, found.get("price") or found.get("files") or {})


def _run(plan: str, *words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "plan.json")
        with open(name, "w", encoding="utf-8") as file:
            file.write(plan)
        return _answer(["run-tasks", "--json", *words, "--", name])


def _rounds(client: Any, plan: TaskPlan, retries: int) -> Iterator[tuple[int, Any]]:
    """The futures of each pass, which have to be done before the next are asked for.

    On the dashboard all tasks are `tilework-rechunk`, or `tilework-reshard`, and those of one run are one group.
    """
    name = f"tilework-{json.loads(plan.plan)['job']}-{uuid.uuid4().hex}"
    for number, tasks in enumerate(plan.passes):
        keys = [(name, number, task.part) for task in tasks]
        # Several workers may do the same task, and then none harms another.
        yield number, client.map(_call, tasks, key=keys, pure=False, retries=retries)


def _call(task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return task()
