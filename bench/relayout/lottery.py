"""`--random SEED`: which plans, what is printed of each, and the file of figures."""

import datetime
import json
from pathlib import Path

import report
import targets
from random_plans import plans

COUNT = 100


def add_options(add):
    add("--random", type=int, metavar="SEED", help="plans drawn at random instead of the listed workloads")
    add("--count", type=int, default=COUNT, metavar="N", help=f"how many plans to draw: {COUNT}")
    add("--plan", metavar="N", help="the plan of this number, or those of `0..25`, the last not included")
    add("--json", metavar="FILE", help="write the figures; those of other plans of the seed in FILE stay and count, too")
    add("--report", action="store_true", help="print what the FILE of --json has, and measure nothing")
    add("--only-tilework", action="store_true", help="Tilework and the copies alone, as --peers none")


def numbers(options):
    """The numbers of the chosen plans."""
    if options.plan is None:
        return range(options.count)
    first, dots, end = options.plan.partition("..")
    if not first.isdecimal() or dots and not end.isdecimal():
        raise ValueError("--plan wants a number, or two as in 0..25")
    found = range(int(first), int(end) if dots else int(first) + 1)
    if not found:
        raise ValueError(f"--plan {options.plan} has no plans")
    return found


def chosen(options):
    """The plans of the chosen numbers, with their numbers."""
    return list(zip(numbers(options), plans(options.random, numbers(options))))


def line(number, workload):
    """For `--list`. The two layouts can be given to `tilework plan`."""
    texts = "  ".join(f"'{text}'" for text in workload.texts())
    return f"{number}  {workload.group}  {workload.label}  {workload.bytes / 2**20:.2f} MiB  {texts}"


class Table:
    """A line for each plan, printed as it is measured."""

    def __init__(self, threads, with_peers):
        self.threads, self.with_peers = threads, with_peers

    def head(self):
        words = ["plan", "family", "what", "from", "to", "MiB", "in", "memcpy, GB/s", "**of memcpy**", "of streaming"]
        marks = ["--:", "---", "---", "---", "---", "--:", "---", "--:", "--:", "--:"]
        if len(self.threads) > 1:
            words, marks = ["threads", *words], ["--:", *marks]
        if self.with_peers:
            words, marks = words + ["best peer", "name", "lead"], marks + ["--:", "---", "--:"]
        yield f"| {' | '.join(words)} |"
        yield f"|{'|'.join(marks)}|"

    def rows(self, records):
        for record in records:
            words = [str(record["plan"]), record["group"], record["label"], f"`{record['from']}`", f"`{record['to']}`"]
            words += [f"{record['bytes'] / 2**20:.2f}", record["in"], f"{record['memcpy_gbs']:.1f}"]
            words += [f"**{report.ratio(record['engine'])}**", report.ratio(record["engine_of_stream"])]
            if len(self.threads) > 1:
                words = [str(record["threads"]), *words]
            if self.with_peers:
                words += [report.ratio(record["best"]), record["best_name"] or "-", report.ratio(record["lead"])]
            yield f"| {' | '.join(words)} |"


def memory_class(size, caches=None):
    """`L2`, `L3` or `DRAM`: the smallest that both arrays fit into together."""
    caches = report.caches() if caches is None else caches
    for level, usual in ((2, 1 << 20), (3, 32 << 20)):
        if size <= caches.get(level, usual):
            return f"L{level}"
    return "DRAM"


class File:
    """The figures of a seed, measured in one run or in several."""

    def __init__(self, path, options):
        self.path, self.seed = path and Path(path), options.random
        self.content = {"seed": options.random, "runs": [], "plans": []}
        if self.path and self.path.exists():
            self.content = json.loads(self.path.read_text())
            if self.content["seed"] != options.random:
                raise ValueError(f"{path} has figures of seed {self.content['seed']}")

    def begin(self, command, versions, options):
        run = {"date": datetime.date.today().isoformat(), "machine": report.machine(), "command": command}
        self.content["runs"].append({**run, "peers": versions, "clock": options.clock})

    def add(self, record):
        def key(each):
            return each["plan"], each["threads"]

        kept = [each for each in self.content["plans"] if key(each) != key(record)]
        self.content["plans"] = sorted([*kept, record], key=key)

    def write(self):
        if self.path:
            self.path.write_text(json.dumps(self.content, indent=1) + "\n")

    @property
    def records(self):
        return self.content["plans"]

    def report(self):
        """What the runs would have printed as one."""
        runs = self.content["runs"]
        for what in ("machine", "date", "clock"):
            yield f"{what.capitalize()}: {', '.join(dict.fromkeys(run[what] for run in runs))}\n"
        yield "Commands: " + ", ".join(f"`{run['command']}`" for run in runs) + "\n"
        yield "Peers: " + ", ".join(dict.fromkeys(title for run in runs for title in run["peers"]))
        threads = sorted({record["threads"] for record in self.records})
        table = Table(threads, any(record["best"] for record in self.records))
        yield from ("", *table.head(), *table.rows(self.records), *targets.summary(self.records))
