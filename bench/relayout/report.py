"""What is printed: the machine, a table in Markdown, and a summary."""

import datetime
import glob
import math
import os
import platform
import time

# A rival is faster when it is so by more than this share: less is noise.
TOLERANCE = 0.05


def machine():
    """The processor, its caches, and how many of it there are."""
    name = platform.processor() or platform.machine()
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    sizes = [f"L{level} {_size(size)}" for level, size in caches().items()]
    return f"{name}, {cores} processors, {', '.join(sizes) or 'caches unknown'}"


def caches():
    """Bytes of data caches by level."""
    found = {}
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        kind, level, size = (_read(f"{folder}/{word}").strip() for word in ("type", "level", "size"))
        if kind != "Instruction" and size.endswith("K"):
            found[int(level)] = int(size[:-1]) << 10
    return found


def _size(size):
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size >> 10} KiB"


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def heading(command, versions):
    today = datetime.date.today().isoformat()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    yield f"Machine: {machine()}; load {load} at the start. Date: {today}. Command: `{command}`"
    if versions:
        yield ""
        yield "Peers: " + ", ".join(versions) + "."


class Others:
    """How much of the machine other processes take, in processors."""

    def __init__(self):
        self.start = self._now()

    def share(self):
        wall, busy, own = (now - before for now, before in zip(self._now(), self.start))
        return max(0.0, (busy - own) / wall)

    @staticmethod
    def _now():
        words = (_read("/proc/stat").split("\n")[0].split() + ["0"] * 9)[1:9]
        user, nice, system, _idle, _wait, interrupt, soft, steal = map(int, words)
        busy = (user + nice + system + interrupt + soft + steal) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy, time.process_time()


class Table:
    """Rows, printed as they are measured."""

    def __init__(self, threads, with_peers):
        self.threads, self.with_peers = threads, with_peers

    def head(self):
        words, marks = ["", "workload", "type", "MiB"], ["---", "---", "---", "--:"]
        for count in self.threads:
            words += [f"memcpy ×{count}, GB/s", "limit", "Tilework, GB/s", f"**Tilework ×{count}**"]
            marks += ["--:"] * 4
            if self.with_peers:
                words += [f"best peer ×{count}", "name", "Tilework / peer"]
                marks += ["--:", "---", "--:"]
        yield f"| {' | '.join(words)} |"
        yield f"|{'|'.join(marks)}|"

    def row(self, workload, records):
        words = [workload.group, workload.name, workload.element, f"{workload.bytes / 2**20:.1f}"]
        for count in self.threads:
            record = records.get(count)
            if record is None:
                words += ["-"] * (7 if self.with_peers else 4)
                continue
            words += [f"{record['memcpy_gbs']:.1f}", ratio(record["limit"])]
            words += [_number(record["engine_gbs"], 1), f"**{ratio(record['engine'])}**"]
            if self.with_peers:
                words += [ratio(record["best"]), record["best_name"] or "-", ratio(record["lead"])]
        return f"| {' | '.join(words)} |"


def ratio(value):
    return _number(value, 2)


def _number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def summary(records):
    """The geometric means, and the rows that are not where they should be."""
    for threads in sorted({record["threads"] for record in records}):
        rows = [record for record in records if record["threads"] == threads]
        measured = [record for record in rows if record["engine"] is not None]
        leads = [record["lead"] for record in measured if record["lead"] is not None]
        others = sum(record["others"] for record in rows) / len(rows)
        yield f"\n**{threads} thread{'s' if threads > 1 else ''}**, {len(rows)} workloads; others took {others:.1f} processors"
        if measured:
            yield f"- Tilework / memcpy: geometric mean {mean([record['engine'] for record in measured]):.2f}"
        if leads:
            yield f"- Tilework / best peer: geometric mean {mean(leads):.2f}, least {min(leads):.2f}"
            yield from _listed("slower than the best peer", [
                (record["label"], f"{record['lead']:.2f} of {record['best_name']}")
                for record in measured
                if record["lead"] is not None and record["lead"] < 1 - TOLERANCE
            ])
        yield from _listed("below the goal", [
            (record["label"], f"{record['engine']:.2f} of {record['goal']}")
            for record in measured
            if record["engine"] < record["goal"]
        ])
        yield from _listed("Tilework did not run", [
            (record["label"], record["failures"].get("Tilework", "?")) for record in rows if record["engine"] is None
        ])
    if not any(record["best"] for record in records):
        return
    wrong = {(name, why, record["label"]) for record in records for name, why in record["failures"].items()}
    wrong = sorted(each for each in wrong if each[0] != "Tilework")
    yield from _listed("peers that were not timed", [(f"{label}, {name}", why) for name, why, label in wrong])


def _listed(title, rows):
    yield f"- {title}: {len(rows) or 'none'}"
    for label, why in rows:
        yield f"  - {label}: {why}"


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))
