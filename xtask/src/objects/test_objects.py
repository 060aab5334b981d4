"""Stores in a real server of S3, and on a web server: what `cargo xtask objects` runs."""

import base64
import functools
import http.server
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import zarr
from conftest import PROGRAM, SECRET, asked, tilework

import tilework as tw


def test_what_is_written_is_a_store_for_zarr_and_equal(s3, a, tmp_path):
    tilework("convert", a, s3.at("x/a.zarr"), "--to", "chunks (100, 200)", "--compress", "zstd", "--check")
    assert s3.keys() == [*(f"x/a.zarr/c/{i}/{j}" for i in range(6) for j in range(3)), "x/a.zarr/zarr.json"]
    assert np.array_equal(s3.array("x/a.zarr", tmp_path), np.load(a))
    [found] = asked("ls", s3.at("x/a.zarr"))["tensors"]
    assert (found["name"], found["sizes"]) == ("a", [600, 500])
    assert asked("diff", s3.at("x/a.zarr"), a)["same"]
    tilework("convert", s3.at("x/a.zarr"), tmp_path / "back.npy")
    assert np.array_equal(np.load(tmp_path / "back.npy"), np.load(a))


@pytest.mark.parametrize("shards", [None, "300,500"])
def test_an_array_is_cut_anew_from_objects_to_objects(s3, a, tmp_path, shards):
    tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "50,500", "--compress", "gzip:1")
    words = ["--shards", shards] if shards else []
    tilework("rechunk", s3.at("a.zarr"), s3.at("b.zarr"), "--chunks", "300,50", *words)
    tilework("rechunk", s3.at("b.zarr"), tmp_path / "c.zarr", "--chunks", "600,500")
    assert np.array_equal(s3.array("b.zarr", tmp_path), np.load(a))
    assert np.array_equal(zarr.open_array(tmp_path / "c.zarr", mode="r")[:], np.load(a))


def test_what_zarr_wrote_is_read(s3, tmp_path):
    group = zarr.create_group(tmp_path / "g.zarr")
    wanted = np.random.default_rng(1).normal(size=(70, 90))
    for name, shards in [("x", None), ("deep/y", (64, 64))]:
        array = group.create_array(name, shape=wanted.shape, dtype="f8", chunks=(32, 32), shards=shards)
        array[:] = wanted
    s3.upload(tmp_path / "g.zarr", "g.zarr")
    assert [found["name"] for found in asked("ls", s3.at("g.zarr"))["tensors"]] == ["deep/y", "x"]
    zarr.consolidate_metadata(tmp_path / "g.zarr")
    s3.upload(tmp_path / "g.zarr", "h.zarr")
    assert asked("diff", s3.at("g.zarr"), s3.at("h.zarr")) == {
        **asked("diff", s3.at("h.zarr"), s3.at("g.zarr")),
        "a": s3.at("g.zarr"),
        "b": s3.at("h.zarr"),
    }
    tilework("rechunk", s3.at("g.zarr/deep/y"), s3.at("y.zarr"), "--chunks", "90,10")
    assert np.array_equal(s3.array("y.zarr", tmp_path), wanted)


def test_python_says_the_same(s3, a, tmp_path):
    tw.rechunk(a, s3.at("a.zarr"), chunks=(100, 100), compress="zstd:3")
    tw.rechunk(s3.at("a.zarr"), s3.at("b.zarr"), chunks=(600, 50), memory="64MiB")
    assert np.array_equal(s3.array("b.zarr", tmp_path), np.load(a))
    assert [found.name for found in tw.ls(s3.at("b.zarr"))] == ["b"]
    tw.convert(s3.at("b.zarr"), tmp_path / "b.npy")
    assert tw.diff(tmp_path / "b.npy", s3.at("a.zarr")).same
    plan = tw.plan_tasks(a, s3.at("p.zarr"), chunks=(200, 250), parts=2)
    assert s3.at("p.zarr") in plan.plan and SECRET not in plan.plan and "key-of" not in plan.plan
    for tasks in plan.passes:
        for task in tasks:
            task()
    plan.finish()
    assert np.array_equal(s3.array("p.zarr", tmp_path), np.load(a))
    with pytest.raises(tw.LayoutError, match="exists"):
        tw.rechunk(a, s3.at("a.zarr"), chunks=(100, 100))


def test_parts_of_a_plan_are_run_by_several_processes(s3, a, tmp_path):
    plan = tmp_path / "plan.json"
    tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "60,50", "--save-plan", plan)
    assert SECRET not in plan.read_text() and "key-of-the-test" not in plan.read_text()
    parts = [subprocess.Popen([PROGRAM, "run-tasks", plan, "--part", f"{part}/3"]) for part in (1, 2)]
    assert [part.wait() for part in parts] == [0, 0]
    assert "is missing" in tilework("run-tasks", plan, "--finish", code=2)
    assert "a.zarr/zarr.json" not in s3.keys()
    tilework("run-tasks", plan, "--part", "3/3")
    tilework("run-tasks", plan, "--finish")
    assert np.array_equal(s3.array("a.zarr", tmp_path), np.load(a))


def test_a_server_that_is_busy_or_hangs_up_is_asked_again(s3, proxy, a, tmp_path):
    proxy.fault = lambda number, _: "busy" if number % 5 == 0 else "cut" if number % 7 == 0 else None
    tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "100,500")
    tilework("rechunk", s3.at("a.zarr"), s3.at("b.zarr"), "--chunks", "600,100", "--shards", "600,500")
    tilework("rechunk", s3.at("b.zarr"), s3.at("c.zarr"), "--chunks", "300,500")
    assert proxy.count > 30
    proxy.fault = None
    assert np.array_equal(s3.array("c.zarr", tmp_path), np.load(a))


def test_a_server_that_dies_leaves_no_store_and_the_same_command_goes_on(s3, proxy, a, tmp_path):
    words = ["rechunk", a, s3.at("a.zarr"), "--chunks", "20,500", "--threads", "1"]
    chunks = []

    def gone(_, request):
        if request.command == "PUT" and "/c/" in request.path and request.path not in chunks:
            chunks.append(request.path)
        return "busy" if len(chunks) > 10 else None

    proxy.fault = gone
    said = tilework(*words, code=2)
    assert "503" in said and "what is there stays" in said and s3.at("a.zarr/c/") in said
    proxy.fault = None
    assert "a.zarr/zarr.json" not in s3.keys() and len(s3.keys()) == 11
    ran = asked(*words)
    assert (ran["written"], ran["kept"]) == (20, 10)
    assert np.array_equal(s3.array("a.zarr", tmp_path), np.load(a))


def test_a_run_that_is_killed_goes_on(s3, proxy, a, tmp_path):
    words = ["rechunk", str(a), s3.at("a.zarr"), "--chunks", "10,500"]
    enough = threading.Event()

    def slow(_, request):
        time.sleep(0.02)
        if sum("PUT" in line and "/c/" in line for line in proxy.log) > 20:
            enough.set()

    proxy.fault = slow
    running = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert enough.wait(60)
    running.send_signal(signal.SIGKILL)
    running.wait()
    proxy.fault = None
    assert "a.zarr/zarr.json" not in s3.keys()
    assert "another job" in tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "30,500", code=2)
    ran = asked(*words)
    assert ran["kept"] >= 1 and ran["kept"] + ran["written"] == 60
    assert np.array_equal(s3.array("a.zarr", tmp_path), np.load(a))
    assert not [key for key in s3.keys() if "tilework" in key]


def test_two_passes_leave_nothing_between(s3, tmp_path):
    wanted = np.arange(1024 * 1024 * 6, dtype="f8").reshape(6 * 1024, 1024)
    np.save(tmp_path / "w.npy", wanted)
    tilework("rechunk", tmp_path / "w.npy", s3.at("w.zarr"), "--chunks", "6144,8")
    ran = asked("rechunk", s3.at("w.zarr"), s3.at("v.zarr"), "--chunks", "48,1024", "--memory", "40MiB")
    assert len(ran["tasks"]) == 2, ran
    assert np.array_equal(s3.array("v.zarr", tmp_path), wanted)
    assert not [key for key in s3.keys() if "between" in key]


def test_memory_stays_within_what_was_said(s3, tmp_path):
    np.save(tmp_path / "m.npy", np.zeros((4096, 8192), "f4"))  # 128 MiB
    tilework("rechunk", tmp_path / "m.npy", s3.at("m.zarr"), "--chunks", "512,512")
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    words = [PROGRAM, "rechunk", s3.at("m.zarr"), s3.at("n.zarr"), "--chunks", "4096,64", "--memory", "96MiB"]
    ran = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert int(ran.stdout) <= 96 << 10, f"{ran.stdout} KiB"


def test_large_chunks_are_put_in_parts(s3, proxy, tmp_path):
    np.save(tmp_path / "l.npy", np.arange(18 << 20, dtype="u4"))  # 72 MiB
    tilework("rechunk", tmp_path / "l.npy", s3.at("l.zarr"), "--chunks", str(18 << 20))
    assert any("uploadId" in line for line in proxy.log)
    assert asked("diff", tmp_path / "l.npy", s3.at("l.zarr"))["same"]


def test_a_shard_is_read_in_two_requests(s3, proxy, a):
    tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "60,50", "--shards", "600,500")
    proxy.clear()
    tilework("rechunk", s3.at("a.zarr"), s3.at("b.zarr"), "--chunks", "600,500")
    assert sum(line.startswith("GET") and "/a.zarr/c/" in line for line in proxy.log) == 2


def put_model(s3, tmp_path):
    """A checkpoint in two shards with their index, here and in the bucket; returns its index here."""
    rng = np.random.default_rng(2)
    arrays = {f"layers.{i}.{n}.weight": rng.normal(size=(256, 512)).astype("f4") for i in range(6) for n in "qkv"}
    np.savez(tmp_path / "model.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    tilework("convert", tmp_path / "model.npz", tmp_path / "model", "--shard-size", "4MB", "--format", "safetensors")
    tilework("convert", tmp_path / "model.npz", tmp_path / "model.gguf")
    s3.upload(tmp_path / "model", "model")
    for name in ("model.npz", "packed.npz", "model.gguf"):
        s3.put(name, (tmp_path / name).read_bytes())
    return tmp_path / "model" / "model.safetensors.index.json"


def test_files_of_weights_are_listed_by_their_headers_and_compared(s3, proxy, tmp_path):
    index = put_model(s3, tmp_path)
    shard = sorted(key for key in s3.keys("model/") if key.endswith(".safetensors"))[0]
    read = []
    proxy.fault = lambda _, request: read.append(request.headers.get("Range"))
    for name in ("model/model.safetensors.index.json", "model", shard, "model.gguf", "model.npz", "packed.npz"):
        read.clear()
        listed = asked("ls", s3.at(name))["tensors"]
        assert len(listed) == 18 or name == shard, name
        ranges = [found.removeprefix("bytes=").split("-") for found in read if found]
        fetched = sum(int(end) + 1 - int(start) for start, end in ranges if start)
        assert fetched < 300_000, (name, fetched)
        if name != shard:
            assert asked("diff", s3.at(name), index)["same"], name
    # Of the arrays those that are wanted.
    for name in ("model.gguf", "model.npz", "packed.npz"):
        read.clear()
        tilework("convert", s3.at(name), tmp_path / "q.safetensors", "--only", "layers.3.q.weight")
        ranges = [found.removeprefix("bytes=").split("-") for found in read if found]
        assert sum(int(end) + 1 - int(start) for start, end in ranges) < 800_000, name
        assert asked("diff", tmp_path / "q.safetensors", index, "--only", "layers.3.q.weight")["same"], name


def test_weights_are_converted_cut_anew_and_chunked(s3, proxy, tmp_path):
    index = put_model(s3, tmp_path)
    far = s3.at("model/model.safetensors.index.json")
    proxy.fault = lambda number, _: "busy" if number % 5 == 0 else "cut" if number % 7 == 0 else None
    words = ["--to", "T(8,128)(2,1)", "--convert", "bf16"]
    for source, out in [(index, "here.safetensors"), (far, "far.safetensors")]:
        tilework("convert", source, tmp_path / out, *words, "--check")
    assert (tmp_path / "here.safetensors").read_bytes() == (tmp_path / "far.safetensors").read_bytes()
    for source, out in [(index, "here"), (s3.at("model"), "far")]:
        tilework("reshard", source, tmp_path / out, "--mesh", "x=2,y=4", "--spec", "P('x', 'y')")
    assert asked("diff", tmp_path / "here" / "shard-00001-model-00001-of-00001.safetensors",
                 tmp_path / "far" / "shard-00001-model-00001-of-00001.safetensors")["same"]
    s3.upload(tmp_path / "far", "parts")
    tilework("reshard", s3.at("parts"), tmp_path / "whole", "--spec", "{maximal device=0}")
    assert asked("diff", tmp_path / "whole", index)["same"]
    name = "layers.5.v.weight"
    tilework("rechunk", far, s3.at("v.zarr"), "--only", name, "--chunks", "64,512")
    assert asked("diff", s3.at("v.zarr"), s3.at("packed.npz"), "--only", name)["same"]
    tilework("convert", s3.at("packed.npz"), s3.at("all.zarr"))
    assert asked("diff", s3.at("all.zarr"), index)["same"]
    assert [found.name for found in tw.ls(far, only="*.5.v.*")] == [name] and tw.diff(s3.at("model"), index).same
    tw.convert(far, tmp_path / "back.npz", only="*.5.*")
    assert tw.diff(tmp_path / "back.npz", index, only="*.5.*").same


def test_weights_larger_than_memory_are_fetched_into_a_file(s3, tmp_path):
    np.savez(tmp_path / "m.npz", m=np.zeros((4096, 16384), "f4"))  # 256 MiB
    tilework("convert", tmp_path / "m.npz", tmp_path / "m.safetensors")
    s3.client.upload_file(str(tmp_path / "m.safetensors"), s3.name, "m.safetensors")
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    words = ["convert", s3.at("m.safetensors"), tmp_path / "n.npy", "--to", "{0,1}", "--memory", "96MiB"]
    ran = subprocess.run([sys.executable, "-c", program, PROGRAM, *words], capture_output=True, text=True, check=True)
    assert int(ran.stdout) <= 96 << 10, f"{ran.stdout} KiB"
    assert not [found for found in os.listdir(tmp_path) if "tilework" in found]


def test_a_file_is_written_as_it_is_here(s3, proxy, tmp_path):
    index = put_model(s3, tmp_path)
    for name in ["m.safetensors", "m.npz", "m.gguf", "w.npy"]:
        only = ["--only", asked("ls", index)["tensors"][0]["name"]] if name == "w.npy" else []
        tilework("convert", index, tmp_path / name, *only)
        s3.put(f"out/{name}", b"what was there")
        proxy.fault = lambda number, _: "busy" if number % 2 == 0 else None
        tilework("convert", index, s3.at(f"out/{name}"), "--check", *only)
        proxy.fault = None
        assert s3.bytes(f"out/{name}") == (tmp_path / name).read_bytes(), name
    tw.convert(s3.at("out/m.gguf"), s3.at("again.npz"))
    assert tw.diff(s3.at("again.npz"), tmp_path / "m.npz").same
    assert sorted(s3.keys("out/")) == ["out/m.gguf", "out/m.npz", "out/m.safetensors", "out/w.npy"]


def test_a_file_larger_than_memory_is_sent_in_parts(s3, proxy, tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.arange(160 << 18, dtype="f4").reshape(4096, -1))
    parts = []

    def third(_, request):
        if request.command == "PUT" and "partNumber" in request.path:
            parts.append(request.path)
            return "busy" if len(parts) == 3 else None
        return None

    proxy.fault = third
    words = ["convert", path, s3.at("large.safetensors"), "--memory", "96MiB"]
    peak = "import resource, subprocess, sys; ran = subprocess.run(sys.argv[1:]).returncode; " \
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(ran)"
    ran = subprocess.run([sys.executable, "-c", peak, PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[-1]) < 160 << 10
    assert len(parts) == 22  # 21 of 8 MiB, one of them twice
    tilework("convert", path, tmp_path / "large.safetensors")
    assert s3.bytes("large.safetensors") == (tmp_path / "large.safetensors").read_bytes()
    # A part that is never taken: nothing is there, and nothing is left.
    proxy.fault = lambda _, request: "busy" if "partNumber=5" in request.path else None
    said = tilework("convert", path, s3.at("other.safetensors"), code=2)
    assert "other.safetensors" in said and "503" in said
    proxy.fault = None
    assert "other.safetensors" not in s3.keys()
    assert "Uploads" not in s3.client.list_multipart_uploads(Bucket=s3.name)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_shards_and_parts_are_written_as_they_are_here(s3, proxy, tmp_path):
    index = put_model(s3, tmp_path)
    reshard = ["--mesh", "x=2,y=4", "--spec", "P('x', 'y')"]
    commands = {
        "shards": ["convert", index, None, "--shard-size", "4MB", "--format", "safetensors", "--check"],
        "arrays": ["convert", index, None, "--shard-size", "4MB", "--format", "npy"],
        "parts": ["reshard", index, None, *reshard],
        "jax": ["reshard", index, None, *reshard, "--orbax", "--compress", "zstd"],
    }
    for name, words in commands.items():
        puts = []

        def gone(_, request, puts=puts):
            if request.command == "PUT" and "tilework-unfinished" not in request.path:
                puts.append(request.path)
            return "busy" if len(puts) > 2 else None

        to = [word or s3.at(f"out/{name}") for word in words]
        proxy.fault = gone
        assert "503" in tilework(*to, code=2)
        proxy.fault = None
        assert "is not there yet" in tilework("ls", s3.at(f"out/{name}"), code=2), name
        proxy.clear()
        tilework(*to)
        again = [line.removeprefix("PUT ") for line in proxy.log if line.startswith("PUT ")]
        assert again and not set(again) & set(puts[:2]), name
        here = tmp_path / "here" / name
        here.parent.mkdir(exist_ok=True)
        tilework(*[word or here for word in words])
        assert files(here) == files(s3.download(f"out/{name}", tmp_path / "far")), name
        assert "exists" in tilework(*to, code=2)
    assert asked("diff", s3.at("out/shards"), index)["same"] and asked("diff", s3.at("out/jax"), index)["same"]
    tw.reshard(s3.at("out/parts"), s3.at("out/whole"), spec="{maximal device=0}")
    assert tw.diff(s3.at("out/whole"), index).same
    tw.convert(s3.at("out/jax"), s3.at("again/"), shard_size="1MB")
    assert tw.diff(s3.at("again/model.safetensors.index.json"), index).same


SAMPLES = Path(__file__).parents[3] / "crates/tilework-stores/tests/orbax/samples.json"


@pytest.mark.parametrize("sample", json.loads(SAMPLES.read_text())["stores"], ids=lambda sample: sample["name"])
def test_a_checkpoint_of_jax_is_read_as_it_is_here(s3, proxy, tmp_path, sample):
    here = tmp_path / "ck"
    for key, text in sample["files"].items():
        path = here / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(text))
    s3.upload(here, "run/ck")
    far = s3.at("run/ck")
    proxy.fault = lambda number, _: "busy" if number % 5 == 0 else None
    listed, wanted = asked("ls", far), asked("ls", here)
    assert {**listed, "file": None} == {**wanted, "file": None}
    assert asked("diff", far, here)["same"]
    tilework("convert", far, tmp_path / "m.npz")
    assert asked("diff", tmp_path / "m.npz", here)["same"]
    name = max(wanted["tensors"], key=lambda tensor: (len(tensor["sizes"]), tensor["name"]))
    chunks = ",".join(str(-(-size // 2)) for size in name["sizes"])
    tilework("rechunk", far, s3.at("one.zarr"), "--only", name["name"], "--chunks", chunks)
    assert asked("diff", s3.at("one.zarr"), here, "--only", name["name"])["same"]
    if "_METADATA" in " ".join(sample["files"]):
        tilework("reshard", far, s3.at("other"), "--orbax", "--spec", "{maximal device=0}")
        assert asked("diff", s3.at("other"), here)["same"]


def test_what_is_wrong_with_a_file_of_a_server_is_said(s3, tmp_path):
    put_model(s3, tmp_path)
    shards = sorted(key for key in s3.keys("model/") if key.endswith(".safetensors"))
    s3.client.delete_object(Bucket=s3.name, Key=shards[1])
    assert f"{s3.at(shards[1])} is not there" in tilework("ls", s3.at("model"), code=2)
    s3.put("short.safetensors", b"{}")
    assert "short.safetensors" in tilework("ls", s3.at("short.safetensors"), code=2)
    s3.put("empty.safetensors", b"")
    assert "a file of 0 bytes" in tilework("ls", s3.at("empty.safetensors"), code=2)
    s3.put("notes.txt", b"nothing of the kind")
    assert "notes.txt is no file of named arrays" in tilework("ls", s3.at("notes.txt"), code=2)
    s3.put("old.npz", b"old")
    for out, word in [
        (s3.at("shards/"), "shards with an index are safetensors"),
        (s3.at("old.npz").replace("s3:", "https:"), "takes no objects"),
        (f"s3://{s3.name}", "has no name"),
        (s3.at("old.npz"), "is not there"),  # one of the shards
        ("s3://no-such-bucket/a.npz", "no-such-bucket"),
    ]:
        source = s3.at("model") if word == "is not there" else s3.at("model.gguf")
        assert word in tilework("convert", source, out, "--format", "npz", code=2), out
    assert s3.bytes("old.npz") == b"old"
    said = tilework("ls", s3.at("model.gguf"), code=2, env={"TMPDIR": "/nonexistent"})
    assert "/nonexistent" in said


def test_public_buckets_and_profiles(s3, a, tmp_path, monkeypatch):
    tilework("rechunk", a, s3.at("a.zarr"), "--chunks", "300,500")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    said = tilework("ls", s3.at("a.zarr"), code=2)
    assert "no credentials" in said and "AWS_SKIP_SIGNATURE=true" in said
    for key in s3.keys():
        s3.put(key, s3.bytes(key), ACL="public-read")
    for name in ("AWS_SKIP_SIGNATURE", "AWS_NO_SIGN_REQUEST"):
        assert asked_with({name: "true"}, "ls", s3.at("a.zarr"))
    credentials = tmp_path / "credentials"
    credentials.write_text(f"[of the test]\naws_access_key_id = k\naws_secret_access_key = {SECRET}\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(credentials), "AWS_PROFILE": "of the test"}
    assert asked_with(files, "ls", s3.at("a.zarr"))
    assert "profile" in tilework("ls", s3.at("a.zarr"), code=2, env={**files, "AWS_PROFILE": "other"})
    credentials.write_text("[default]\nsso_session = s\n")
    said = tilework("ls", s3.at("a.zarr"), code=2, env={**files, "AWS_PROFILE": "default"})
    assert "export-credentials" in said


def asked_with(env, *words):
    return tilework(*words, env=env)


def test_what_cannot_be_says_where_and_what_would_do(s3, a):
    assert "NoSuchBucket" in tilework("ls", "s3://no-such-bucket/a.zarr", code=2)
    assert f"{s3.at('nothing.zarr')} is no Zarr store" in tilework("ls", s3.at("nothing.zarr"), code=2)
    s3.put("notes/readme.txt", b"mine")
    assert "readme.txt" in tilework("rechunk", a, s3.at("notes"), "--chunks", "60,50", code=2)
    assert s3.keys() == ["notes/readme.txt"]
    said = tilework("ls", s3.at("a.zarr"), code=2, env={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert "refused" in said and "http://127.0.0.1:1" in said
    for out in ("https://host/out", f"s3://{s3.name}"):
        said = tilework("reshard", a, out, "--mesh", "x=2", "--spec", "P('x')", code=2)
        assert "s3://BUCKET/NAME" in said or f"{out}/NAME" in said


@pytest.fixture
def web(tmp_path):
    handler = functools.partial(Web, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_files_of_a_web_server(web, tmp_path):
    arrays = {"w": np.arange(600_000, dtype="f4").reshape(600, 1000)}
    np.savez(tmp_path / "m.npz", **arrays)
    tilework("convert", tmp_path / "m.npz", tmp_path / "m.safetensors")
    for name in ("m.npz", "m.safetensors"):
        assert [found["name"] for found in asked("ls", f"{web}/{name}")["tensors"]] == ["w"]
        assert asked("diff", f"{web}/{name}", tmp_path / "m.npz")["same"]
    assert "no Zarr store, and no file" in tilework("ls", f"{web}/other.safetensors", code=2)


class Web(http.server.SimpleHTTPRequestHandler):
    """Files, and parts of them."""

    def do_GET(self):
        found, path = self.headers.get("Range"), self.translate_path(self.path)
        if not found or not os.path.isfile(path):
            return super().do_GET()
        content = open(path, "rb").read()
        first, last = found.removeprefix("bytes=").split("-")
        start = int(first) if first else len(content) - int(last)
        end = min(len(content), int(last) + 1) if first and last else len(content)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        self.wfile.write(content[start:end])

    def log_message(self, *_):
        pass


def test_files_of_a_web_server_are_read(web, a, tmp_path):
    tilework("rechunk", a, tmp_path / "x.zarr", "--chunks", "60,50", "--shards", "300,500", "--compress", "zstd")
    assert asked("diff", f"{web}/x.zarr", a)["same"]
    tilework("rechunk", f"{web}/x.zarr", tmp_path / "y.zarr", "--chunks", "600,50")
    assert np.array_equal(zarr.open_array(tmp_path / "y.zarr", mode="r")[:], np.load(a))
    assert "takes no objects" in tilework("rechunk", a, f"{web}/z.zarr", "--chunks", "60,50", code=2)


@pytest.mark.parametrize("lie", ["long", "endless", "html", "half"])
def test_a_server_that_lies_is_an_error_and_takes_no_memory(lie, a, tmp_path):
    """Of a chunk of 12,000 bytes."""
    tilework("rechunk", a, tmp_path / "x.zarr", "--chunks", "60,50")

    class Liar(Web):
        def do_GET(self):
            if "/c/" not in self.path:
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Length", {"long": str(1 << 50), "endless": "12000"}.get(lie, "12000"))
            self.end_headers()
            try:
                self.wfile.write({"html": b"<html>", "half": bytes(6000)}.get(lie, bytes(1 << 20)))
            except OSError:
                pass
            self.close_connection = True

    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), functools.partial(Liar, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    source = f"http://127.0.0.1:{server.server_port}/x.zarr"
    if lie == "endless":
        # What follows the length that was said is not read.
        tilework("rechunk", source, tmp_path / "y.zarr", "--chunks", "600,50")
    else:
        said = tilework("rechunk", source, tmp_path / "y.zarr", "--chunks", "600,50", code=2)
        assert f"{source}/c/" in said, said
        assert not (tmp_path / "y.zarr").exists()
    server.shutdown()
