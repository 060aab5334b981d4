"""Re-chunking stores and converting weights, against the tools that people use for it.

    cargo xtask bench files [--with-torch] [--with-zarrs] [--mib 512] [--memory 256MiB] [--rounds 3] [--folder DIR]
                            [--only WORD ...] [--jobs WORD ...] [--json FILE] [--with-bucket]

Every contender does a job in a process of its own, in turns: first all of them once, then all of them again. What counts is the time
of the work until the files are on the disk, without the start of the program's interpreter and its imports, and the most memory that
the process and its workers had, from the start on. A plain copy of the source's files in the same rounds is the measure of the disk.
Each result is checked once. Beside the seconds of `tilework rechunk` are those that its plan says (`--dry-run`).

With `--with-bucket` the stores are in a bucket: of moto, a server of S3 in Python on this machine, which answers a few hundred requests
a second on one of the processors that everybody needs. So it measures how many requests a tool makes, and how it waits, and no network.

A contender whose package is missing is left out. One that would fill the disk, or takes most of the machine's memory, is stopped, and
the table says so: 32 GiB want a `--folder` with three times the room.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arrays import ARRAYS, COPY, Contender, command
from jobs import MIB, Job, is_right, jobs, make, make_weights
from places import Bucket, Here
from weights import FILES, WEIGHTS, Weights
from weights import is_right as are_right

Place = Here | Bucket

# The share of the machine's memory at which a contender is stopped.
MOST = 0.8


def processes(root: int) -> list[int]:
    """A process and all that it started."""
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                left += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def resident(pid: int) -> tuple[int, int]:
    """Memory of a process in bytes, and what of it is of no file."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    kib = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name.startswith("Rss")}
    return sum(kib.values()) * 1024, kib.get("RssAnon", 0) * 1024


def watch(process: subprocess.Popen) -> tuple[int, bool]:
    """The most memory of a process and its children, sampled until it ends; shared pages count for each. And whether it was stopped
    because it took too much."""
    all_of_it = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most, stopped = 0, False
    while process.poll() is None:
        each = [resident(pid) for pid in processes(process.pid)]
        most = max(most, sum(all_pages for all_pages, _ in each))
        if sum(own for _, own in each) > MOST * all_of_it:
            stopped = True
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    return most, stopped


def measure(words: list[str]) -> dict:
    os.sync()  # what others wrote is not waited for
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        asked = [sys.executable, "-B", __file__, *words]
        process = subprocess.Popen(asked, stdout=out, stderr=errors, text=True, start_new_session=True)
        most, stopped = watch(process)
        out.seek(0), errors.seek(0)
        if stopped:
            return {"failed": f"stopped at {most / MIB:.0f} MiB of memory"}
        if process.returncode != 0:
            return {"failed": (errors.read().strip().splitlines() or ["no reason"])[-1]}
        return {"seconds": json.loads(out.read().splitlines()[-1])["seconds"], "mib": most / MIB}


def one(words: list[str]) -> None:
    """What a process of its own does."""
    kind, name, contender, origin, target, text = words
    job = Job.of(text) if kind == "array" else Weights(name, target, text)
    all_of = ARRAYS if kind == "array" else WEIGHTS[name]
    run = next(entry for entry in all_of if entry.name == contender).prepare(job, origin, target)
    start = time.perf_counter()
    run()
    os.sync()
    print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def has(needed: str) -> bool:
    return not needed or importlib.util.find_spec(needed) is not None or shutil.which(needed) is not None


def price(job: Job, contender: Contender, origin: str, target: str) -> dict:
    """What a plan says before it runs."""
    if contender.plan is None:
        return {}
    answer = command(*contender.plan(job, origin, target))()
    return {"planned": answer["price"]["seconds"], "passes": len(answer["tasks"])}


def wanted(contender: Contender, job: str, only: list[str] | None) -> bool:
    return has(contender.needs) and (not only or contender.name == COPY or any(word in f"{job} {contender.name}" for word in only))


def rows_of(kind: str, job: Job | Weights, contenders: list[Contender], place: Place, names: tuple[str, str], rounds: int) -> list[dict]:
    """One job by all contenders, in turns."""
    origin, target = map(place.at, names)
    rows = {contender.name: {"job": job.name, "contender": contender.name} for contender in contenders}
    seconds: dict[str, list[float]] = {}
    for contender in contenders:
        row = rows[contender.name]
        row |= price(job, contender, origin, target) if isinstance(job, Job) else {}
        arrays = row.get("passes", contender.arrays)
        if isinstance(job, Job) and place.free() < 1.1 * arrays * job.bytes():
            row["failed"] = "the disk has too little room"
    for turn, contender in itertools.product(range(rounds), contenders):
        row = rows[contender.name]
        if "failed" in row:
            continue
        found = measure([kind, job.name, contender.name, origin, target, job.text()])
        if "failed" not in found:
            seconds.setdefault(contender.name, []).append(found["seconds"])
            row["mib"] = max(found["mib"], row.get("mib", 0))
            right = lambda: is_right(job, target) if isinstance(job, Job) else are_right(job.name, Path(origin), Path(target))
            if turn == 0 and contender.name != COPY and not right():
                found["failed"] = "other elements"
        row |= {"failed": found["failed"]} if "failed" in found else {}
        place.clear()
    copy = statistics.median(seconds.get(COPY, [float("nan")]))
    for name, row in rows.items():
        if "failed" not in row:
            row["seconds"] = statistics.median(seconds[name])
            row["of_copy"] = row["seconds"] / copy
    return list(rows.values())


def measured(args: argparse.Namespace, place: Place) -> list[dict]:
    rows: list[dict] = []
    is_asked = lambda name: not args.jobs or any(word in name for word in args.jobs)
    of_arrays = [job for job in jobs(args.mib, args.memory) if is_asked(job.name)] if has("tensorstore") else []
    for name, several in itertools.groupby(of_arrays, Job.source_name):
        for turn, job in enumerate(several):
            contenders = [contender for contender in ARRAYS if wanted(contender, job.name, args.only)]
            contenders = [contender for contender in contenders if contender.is_far or isinstance(place, Here)]
            if turn == 0:
                make(job, place.at(name))
            rows += rows_of("array", job, contenders, place, (name, "target.zarr"), args.rounds)
            say(rows[-len(contenders) :])
        place.remove(name)
    return rows + (weights_measured(args, place) if isinstance(place, Here) else [])


def weights_measured(args: argparse.Namespace, place: Here) -> list[dict]:
    rows: list[dict] = []
    is_asked = lambda name: not args.jobs or any(word in name for word in args.jobs)
    origin = place.folder / "weights.safetensors"
    for name, contenders in WEIGHTS.items():
        contenders = [contender for contender in contenders if wanted(contender, name, args.only)]
        if is_asked(name) and contenders:
            if not origin.exists():
                make_weights(args.mib, origin)
            job = Weights(name, FILES[name], args.memory)
            rows += rows_of("weights", job, contenders, place, (origin.name, FILES[name]), args.rounds)
            say(rows[-len(contenders) :])
    return rows


def say(rows: list[dict]) -> None:
    """Each job as soon as it is done: a long run that is stopped has said something."""
    for row in rows:
        planned = f"{row['planned']:.2f}" if "planned" in row else ""
        cells = f"{row['seconds']:.2f} | {planned} | {row['of_copy']:.1f} | {row['mib']:.0f}" if "seconds" in row else f"{row['failed'][:60]} | {planned} | | "
        print(f"| {row['job']} | {row['contender']} | {cells} |", flush=True)


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in ("array", "weights"):
        one(sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--memory", default="256MiB", help="what Tilework may hold, and its two Dask workers together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--only", nargs="*", help="contenders or jobs whose name has one of these words, and the copy")
    parser.add_argument("--jobs", nargs="*", help="jobs whose name has one of these words")
    parser.add_argument("--json")
    parser.add_argument("--bucket", action="store_true", help="stores in a bucket; `cargo xtask bench files --with-bucket` installs the server")
    args = parser.parse_args()
    place = args.folder or tempfile.gettempdir()
    Path(place).mkdir(parents=True, exist_ok=True)
    print(f"{args.mib} MiB in {'a bucket' if args.bucket else place}, within {args.memory}, {args.rounds} rounds in turns, medians, {os.cpu_count()} processors\n")
    print("| job | tool | s | planned s | copies of the files | peak MiB |\n|---|---|---:|---:|---:|---:|")
    if args.bucket:
        bucket = Bucket()
        try:
            rows = measured(args, bucket)
        finally:
            bucket.close()
    else:
        with tempfile.TemporaryDirectory(prefix="tilework-bench-", dir=args.folder) as folder:
            rows = measured(args, Here(Path(folder)))
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
