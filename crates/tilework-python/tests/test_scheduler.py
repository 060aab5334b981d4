"""`tilework rechunk --scheduler`: the command and a real scheduler of Dask, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilework as tw

zarr = pytest.importorskip("zarr")
distributed = pytest.importorskip("distributed")

Array = np.ndarray[Any, Any]


def numbers() -> Array:
    return np.random.default_rng(7).integers(0, 1 << 30, (100, 300), np.int32)


@contextlib.contextmanager
def program(*words: str, folder: Path, **env: str) -> Iterator[subprocess.Popen[str]]:
    """A program that runs meanwhile, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    with open(folder / f"{words[0]}.log", "a") as log:
        asked = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]]
        running = subprocess.Popen(asked, cwd=folder, stdout=log, stderr=log, text=True, env={**os.environ, **env})
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextlib.contextmanager
def scheduler(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A scheduler on loopback, and its address."""
    folder.mkdir(exist_ok=True)
    found = folder / "scheduler.json"
    found.unlink(missing_ok=True)
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(found)]
    with program("scheduler", *words, folder=folder) as running:
        # The scheduler makes the file before it writes it.
        while not (found.exists() and found.read_text().endswith("}")):
            assert running.poll() is None
            time.sleep(0.01)
        yield running, json.loads(found.read_text())["address"]


@contextlib.contextmanager
def cluster(folder: Path, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The same with two workers of a thread each, who stand elsewhere than whoever asks."""
    words = ["--nthreads", "1", "--memory-limit", "1GiB", "--no-dashboard", "--host", "127.0.0.1", "--no-nanny"]
    with (
        scheduler(folder) as (running, address),
        program("worker", address, *words, folder=folder / "elsewhere", **env),
        program("worker", address, *words, folder=folder / "elsewhere", **env),
        distributed.Client(address) as client,
    ):
        client.wait_for_workers(2, timeout=600)
        yield running, address


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "-m", "tilework", *words]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True)


def test_the_command_has_workers_of_a_running_scheduler_do_it(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    np.savez(tmp_path / "model.npz", w=numbers())
    with cluster(tmp_path / "dask") as (_, address), distributed.Client(address) as client:
        ran = command("rechunk", "a.npy", "b.zarr", "--chunks", "8,20", "--scheduler", address, folder=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        assert "195 written" in ran.stdout
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], numbers())
        # A plan that was saved, with a file of Dask in place of an address.
        saved = ["rechunk", "b.zarr", "c.zarr", "--chunks", "100,10", "--memory", "64MiB", "--save-plan", "plan.json"]
        assert command(*saved, folder=tmp_path).returncode == 0
        ran = command("run-tasks", "plan.json", "--scheduler", "dask/scheduler.json", folder=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "c.zarr", mode="r")[...], numbers())
        words = ["reshard", "model.npz", "parts", "--mesh", "x=4", "--spec", "P('x')", "--scheduler", address, "--json"]
        ran = command(*words, folder=tmp_path)
        assert json.loads(ran.stdout)["written"] == 4, ran
        assert [one.shape for one in tw.ls(tmp_path / "parts/shard-00004-model-00001-of-00001.safetensors")] == [(25, 300)]
        # What the price says is of these workers, and what the dashboard says is of this run.
        dry = ["rechunk", "a.npy", "d.zarr", "--chunks", "8,20", "--scheduler", address, "--dry-run", "--json"]
        assert json.loads(command(*dry, folder=tmp_path).stdout)["plan"]["assumed"]["workers"] == 2
        assert not (tmp_path / "d.zarr").exists()
        names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
        assert set(names) == {"tilework-rechunk", "tilework-reshard"}


# A worker whose tasks wait for a while, so that somebody can end the scheduler meanwhile.
SLOW = """
import time, tilework._jobs as jobs
def slow(*words, run=jobs._run):
    time.sleep(0.2)
    return run(*words)
jobs._run = slow
"""


def test_a_scheduler_is_killed_and_the_same_command_goes_on_with_another(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    (tmp_path / "dask").mkdir()
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["rechunk", "a.npy", "b.zarr", "--chunks", "8,20", "--memory", "64MiB", "--json", "--scheduler"]
    unfinished = tmp_path / ".b.zarr.tilework-unfinished"
    slow = {"DASK_DISTRIBUTED__WORKER__PRELOAD": str(tmp_path / "slow.py")}
    with cluster(tmp_path / "dask", **slow) as (running, address):
        asked = [sys.executable, "-m", "tilework", *words, address]
        with subprocess.Popen(asked, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as ran:
            # Each of two workers is at one task of up to four chunks.
            while len(list(unfinished.glob("c/*/*"))) < 12:
                assert ran.poll() is None
                time.sleep(0.01)
            running.kill()
            _, errors = ran.communicate(timeout=300)
        assert ran.returncode == 2 and address in errors and "goes on where this one was" in " ".join(errors.split())
    assert unfinished.exists() and not (tmp_path / "b.zarr").exists()
    with cluster(tmp_path / "dask") as (_, address):
        ran_again = command(*words, address, folder=tmp_path)
    answer = json.loads(ran_again.stdout)
    assert answer["kept"] > 0 and answer["written"] + answer["kept"] == 195, ran_again
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], numbers())


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers())
    words = ["rechunk", "a.npy", "b.zarr", "--chunks", "8,20", "--scheduler"]

    def refused(address: str, *expected: str, **env: str) -> None:
        asked = [sys.executable, "-m", "tilework", *words, address]
        ran = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **env})
        said = " ".join(ran.stderr.split())
        assert ran.returncode == 2 and all(word in said for word in expected), ran
        assert [path.name for path in tmp_path.iterdir() if "b.zarr" in path.name] == []

    refused("tcp://127.0.0.1:1", "no scheduler answers at tcp://127.0.0.1:1", "dask scheduler")
    refused("tcp://127.0.0.1:1", "no Python that has tilework", "client=", "--part", TILEWORK_PYTHON="/no/such/python")
    with scheduler(tmp_path / "dask") as (_, address):
        refused(address, "has no workers", "--memory")
