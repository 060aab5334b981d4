"""Re-chunking stores and converting weights, against the tools that people use for it.

    cargo xtask bench files [--mib 512] [--rounds 3] [--folder DIR] [--only WORD ...] [--json FILE]

Every contender does every job in a process of its own, in turns: first all of them once, then all of them again. What counts is the
time of the work, without the start of the program's interpreter and its imports, and the most memory that the process and its workers
had, from the start on. A plain copy of the source's files in the same rounds is the measure of the disk. Each result is compared with
the source once. A contender whose package is missing is left out, and the table says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Sizes = tuple[int, int]
MIB = 1 << 20


@dataclass(frozen=True)
class Job:
    """From one store to another, both of float32 in two dimensions."""

    name: str
    side: int
    source: Sizes
    target: Sizes
    compressed: bool = False
    is_transposed: bool = False

    def codecs(self) -> list[dict]:
        transpose = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if self.is_transposed else []
        packed = [{"name": "zstd", "configuration": {"level": 1}}] if self.compressed else []
        return [*transpose, {"name": "bytes", "configuration": {"endian": "little"}}, *packed]


def jobs(mib: int) -> list[Job]:
    side = int((mib * MIB / 4) ** 0.5) // 512 * 512
    rows, columns, tiles = (max(side // 64, 1), side), (side, max(side // 64, 1)), (512, 512)
    found = []
    for compressed in (False, True):
        word = ", zstd" if compressed else ""
        found += [
            Job(f"rows to squares{word}", side, rows, tiles, compressed),
            Job(f"rows to columns{word}", side, rows, columns, compressed),
            Job(f"squares, each transposed{word}", side, tiles, tiles, compressed, True),
        ]
    return found


def metadata(job: Job, chunks: Sizes, codecs: list[dict]) -> dict:
    return {
        "shape": [job.side, job.side], "data_type": "float32", "codecs": codecs, "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
    }  # fmt: skip


def spec(path: str, made: dict | None = None) -> dict:
    found = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
    return found | ({"metadata": made} if made else {})


def source(job: Job, folder: Path) -> Path:
    """The source of a job, made once: numbers that compress to about half."""
    import numpy as np
    import tensorstore

    path = folder / f"source-{job.source[0]}-{job.source[1]}-{job.compressed}.zarr"
    if not path.exists():
        plain = [{"name": "bytes", "configuration": {"endian": "little"}}]
        codecs = plain + ([{"name": "zstd", "configuration": {"level": 1}}] if job.compressed else [])
        array = tensorstore.open(spec(str(path), metadata(job, job.source, codecs)), create=True).result()
        random = np.random.default_rng(1)
        for start in range(0, job.side, 512):
            numbers = random.integers(0, 1 << 12, (min(512, job.side - start), job.side))
            array[start : start + 512].write(numbers.astype(np.float32) / 64).result()
    return path


# Each contender gets a job, the source and the target, and returns what is timed. Packages are imported before.


def with_tilework(job: Job, origin: str, target: str, *, memory: str = "256MiB") -> Callable[[], object]:
    words = ["rechunk", origin, target, "--chunks", ",".join(map(str, job.target)), "--memory", memory]
    words += ["--to", "{0,1}"] if job.is_transposed else []
    return command(*words, "--compress", "zstd:1" if job.compressed else "none")


def with_tilework_convert(job: Job, origin: str, target: str) -> Callable[[], object]:
    layout = f"chunks {job.target}" + (" order (1, 0)" if job.is_transposed else "")
    words = ["convert", origin, target, "--to", layout, "--memory", "256MiB"]
    return command(*words, "--compress", "zstd:1" if job.compressed else "none")


def command(*words: str) -> Callable[[], object]:
    """The command in this process, as the package has it."""
    from tilework._files import _answer

    return lambda: _answer(list(words))


def with_tilework_on_dask(job: Job, origin: str, target: str) -> Callable[[], object]:
    import tilework
    from distributed import Client, LocalCluster

    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    packed, to = "zstd:1" if job.compressed else "none", "{0,1}" if job.is_transposed else None
    settings = {"chunks": job.target, "to": to, "compress": packed, "memory": "128MiB", "client": client}
    return lambda: tilework.rechunk(origin, target, **settings)


def with_tensorstore(job: Job, origin: str, target: str) -> Callable[[], object]:
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


def with_zarr_python(job: Job, origin: str, target: str) -> Callable[[], object]:
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


def with_dask(job: Job, origin: str, target: str) -> Callable[[], object]:
    import dask.array
    from distributed import Client, LocalCluster

    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))

    def run() -> None:
        array = dask.array.from_zarr(origin).rechunk(job.target, method="p2p")
        dask.array.store(array, zarr_target(job, target), lock=False, scheduler=client)

    return run


def with_cubed(job: Job, origin: str, target: str) -> Callable[[], object]:
    import cubed
    from cubed.runtime.executors.local import ProcessesExecutor

    def run() -> None:
        with tempfile.TemporaryDirectory(dir=Path(target).parent) as work:
            settings = cubed.Spec(work_dir=work, allowed_mem="2GB", reserved_mem="200MB")
            array = cubed.from_zarr(origin, spec=settings).rechunk(job.target)
            cubed.to_zarr(array, target, executor=ProcessesExecutor(max_workers=2))

    return run


def with_zarrs(job: Job, origin: str, target: str) -> Callable[[], object]:
    words = ["zarrs_reencode", "--chunk-shape", ",".join(map(str, job.target))]
    if job.is_transposed:
        words += ["--array-to-array-codecs", json.dumps(job.codecs()[:1])]
    return lambda: subprocess.run([*words, origin, target], check=True, capture_output=True)


def with_copy(_: Job, origin: str, target: str) -> Callable[[], object]:
    return lambda: shutil.copytree(origin, target)


CONTENDERS: dict[str, tuple[str, Callable[..., Callable[[], object]]]] = {
    "plain copy of the files": ("shutil", with_copy),
    "tilework rechunk": ("tilework", with_tilework),
    "tilework convert": ("tilework", with_tilework_convert),
    "tilework rechunk, 2 Dask workers": ("distributed", with_tilework_on_dask),
    "TensorStore": ("tensorstore", with_tensorstore),
    "zarr-python, a loop": ("zarr", with_zarr_python),
    "dask p2p, 2 workers": ("distributed", with_dask),
    "Cubed, 2 processes": ("cubed", with_cubed),
    "zarrs_reencode": ("", with_zarrs),
}


# Weights: a checkpoint whose matrices are transposed and converted to bf16, and one that changes its format.


def weights(mib: int, folder: Path) -> Path:
    import numpy as np
    from safetensors.numpy import save_file

    path = folder / "weights.safetensors"
    if not path.exists():
        side = 2048
        random = np.random.default_rng(2)
        count = max(mib * MIB // (4 * side * side), 1)
        save_file({f"layers.{at}.weight": random.standard_normal((side, side), np.float32) for at in range(count)}, path)
    return path


def weights_tilework(_: str, origin: str, target: str) -> Callable[[], object]:
    return command("convert", origin, target, "--to", "{0,1}", "--transposed", "--convert", "bf16")


def weights_numpy(_: str, origin: str, target: str) -> Callable[[], object]:
    import ml_dtypes
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import save_file

    def run() -> None:
        with safe_open(origin, framework="numpy") as file:
            new = {name: np.ascontiguousarray(file.get_tensor(name).T.astype(ml_dtypes.bfloat16)) for name in file.keys()}
        save_file(new, target)

    return run


def weights_torch(_: str, origin: str, target: str) -> Callable[[], object]:
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    def run() -> None:
        with safe_open(origin, framework="pt") as file:
            new = {name: file.get_tensor(name).T.to(torch.bfloat16).contiguous() for name in file.keys()}
        save_file(new, target)

    return run


def gguf_tilework(_: str, origin: str, target: str) -> Callable[[], object]:
    return command("convert", origin, target, "--format", "gguf")


def gguf_python(_: str, origin: str, target: str) -> Callable[[], object]:
    import gguf
    from safetensors import safe_open

    def run() -> None:
        writer = gguf.GGUFWriter(target, "llama")
        with safe_open(origin, framework="numpy") as file:
            for name in file.keys():
                writer.add_tensor(name, file.get_tensor(name))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    return run


def copy_file(_: str, origin: str, target: str) -> Callable[[], object]:
    return lambda: shutil.copy(origin, target)


WEIGHTS: dict[str, dict[str, tuple[str, Callable[..., Callable[[], object]]]]] = {
    "weights, transposed to bf16": {
        "plain copy of the files": ("shutil", copy_file),
        "tilework convert": ("tilework", weights_tilework),
        "safetensors and NumPy": ("safetensors", weights_numpy),
        "safetensors and PyTorch": ("torch", weights_torch),
    },
    "weights to GGUF": {
        "plain copy of the files": ("shutil", copy_file),
        "tilework convert": ("tilework", gguf_tilework),
        "gguf-py": ("gguf", gguf_python),
    },
}


def peak(process: subprocess.Popen) -> float:
    """The most memory of a process and its children, in MiB, sampled until it ends; shared pages count for each."""
    most = 0
    while process.poll() is None:
        total, left = 0, [process.pid]
        while left:
            pid = left.pop()
            try:
                text = Path(f"/proc/{pid}/status").read_text()
                rss = [line for line in text.splitlines() if line.startswith("RssAnon") or line.startswith("RssShmem") or line.startswith("RssFile")]
                total += sum(int(line.split()[1]) for line in rss)
                for task in Path(f"/proc/{pid}/task").iterdir():
                    left += map(int, (task / "children").read_text().split())
            except (OSError, IndexError, ValueError):
                continue
        most = max(most, total)
        time.sleep(0.005)
    return most / 1024


def measure(words: list[str]) -> tuple[dict | None, float]:
    process = subprocess.Popen([sys.executable, "-B", __file__, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most = peak(process)
    out, errors = process.communicate()
    if process.returncode != 0:
        return {"why": (errors.strip().splitlines() or ["no reason"])[-1]}, most
    return json.loads(out.splitlines()[-1]), most


def one(words: list[str]) -> None:
    """What a process of its own does."""
    kind, name, contender, origin, target, *rest = words
    if kind == "array":
        job = Job(**{key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(rest[0]).items()})
        run = CONTENDERS[contender][1](job, origin, target)
    else:
        run = WEIGHTS[name][contender][1](name, origin, target)
    start = time.perf_counter()
    run()
    print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def is_same(origin: Path, target: Path) -> bool:
    import numpy as np
    import tensorstore

    a, b = (tensorstore.open(spec(str(path))).result() for path in (origin, target))
    ends = [min(start + 2048, a.shape[0]) for start in range(0, a.shape[0], 2048)]
    rows = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return all(np.array_equal(a[part].read().result(), b[part].read().result()) for part in rows)


def has(contender: str, package: str) -> bool:
    if contender == "zarrs_reencode":
        return shutil.which("zarrs_reencode") is not None
    return importlib.util.find_spec(package) is not None


def measured(args: argparse.Namespace, folder: Path) -> list[dict]:
    plan: list[tuple[list[str], Path, str, str, Job | None]] = []
    for job in jobs(args.mib):
        origin = source(job, folder)
        for contender, (package, _) in CONTENDERS.items():
            if has(contender, package):
                plan.append((["array", job.name, contender, str(origin)], origin, job.name, contender, job))
    for name, all_of in WEIGHTS.items():
        origin = weights(args.mib, folder) if has("", "safetensors") else None
        for contender, (package, _) in all_of.items():
            if origin and has(contender, package):
                plan.append((["weights", name, contender, str(origin)], origin, name, contender, None))
    if args.only:
        plan = [entry for entry in plan if any(word in f"{entry[2]} {entry[3]}" for word in args.only) or "plain copy" in entry[3]]
    seconds: dict[tuple[str, str], list[float]] = {}
    memory: dict[tuple[str, str], float] = {}
    failed: dict[tuple[str, str], str] = {}
    for turn, (words, origin, name, contender, job) in itertools.product(range(args.rounds), plan):
        if (name, contender) in failed:
            continue
        target = folder / ("target.zarr" if job else "target.gguf" if "GGUF" in name else "target.safetensors")
        rest = [json.dumps(vars(job))] if job else []
        found, most = measure([*words, str(target), *rest])
        if found is None or "why" in found:
            failed[name, contender] = found["why"] if found else "no answer"
        else:
            seconds.setdefault((name, contender), []).append(found["seconds"])
            memory[name, contender] = max(most, memory.get((name, contender), 0))
            if turn == 0 and job and not is_same(origin, target):
                failed[name, contender] = "other elements"
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
    rows = []
    for _, _, name, contender, _ in plan:
        row = {"job": name, "contender": contender}
        if (name, contender) in failed:
            row["failed"] = failed[name, contender]
        else:
            copy = statistics.median(seconds.get((name, "plain copy of the files"), [float("nan")]))
            mine = statistics.median(seconds[name, contender])
            row |= {"seconds": mine, "of_copy": mine / copy, "mib": memory[name, contender]}
        rows.append(row)
    return rows


def table(rows: list[dict]) -> str:
    lines = ["| job | tool | s | copies of the files | peak MiB |", "|---|---|---:|---:|---:|"]
    for row in rows:
        cells = f"{row['seconds']:.2f} | {row['of_copy']:.1f} | {row['mib']:.0f}" if "seconds" in row else f"failed: {row['failed'][:60]} | | "
        lines.append(f"| {row['job']} | {row['contender']} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in ("array", "weights"):
        one(sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tilework-bench-", dir=args.folder) as folder:
        rows = measured(args, Path(folder))
    print(f"{args.mib} MiB in {args.folder or tempfile.gettempdir()}, {args.rounds} rounds in turns, medians, {os.cpu_count()} processors\n")
    print(table(rows))
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
