"""Relayouts by Tilework and its rivals, measured in one process: `cargo xtask bench relayout`.

The goals are shares of memcpy's speed, for two-dimensional and higher moves: 1.0 where both sides have runs of 64 bytes or
more, 0.8 where the minor dimension changes and elements have 4 bytes or more, 0.6 where they have fewer, 0.7 between NCHW
and NHWC.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import lottery
import peers
import report
import targets
import workloads
from data import Data, needed, used
from engine import Library
from figure import figure
from memory import Memory, room


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench relayout", description=__doc__)
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="WORDS", help="those whose name, type or family has all these words")
    add("--quick", action="store_true", help="a third of the workloads, few rounds: about two minutes")
    lottery.add_options(add)
    add("--threads", metavar="1,2", help="how many threads, one after the other: 1,2, and 1 with --random")
    add("--peers", default="all", metavar="NAMES", help=f"none, or some of {','.join(peers.NAMES)}")
    add("--seconds", type=float, help="to measure each workload for: 2, with --quick 1, with --random 0.6, without peers 0.4")
    clock = "`processor` leaves out, with one thread, what other processes take: to tune on a busy machine"
    add("--clock", choices=("wall", "processor"), default="wall", help=clock)
    add("--at-most", type=float, default=1e9, metavar="MIB", help="leave out larger workloads")
    add("--details", action="store_true", help="also print every peer's ratio")
    add("--list", action="store_true", help="print the workloads and their layouts, and measure nothing")
    add("--with-torch", action="store_true", help="install PyTorch if it is not there (it is large)")
    add("--with-onednn", action="store_true", help="install the newest oneDNN beside the small one (2 GB)")
    add("--engine-library", metavar="PATH", help="measure this build of bench/engine")
    add("--peers-library", metavar="PATH", help=argparse.SUPPRESS)
    add("--lines", metavar="PATH", default="target/bench-relayout.jsonl", help="where every figure is appended as JSON")
    options = parser.parse_args()
    try:
        peers.names(options.peers)
        if options.random is None and (options.plan or options.json):
            raise ValueError("--plan and --json want --random")
        if options.report and not options.json:
            raise ValueError("--report wants --json, and --json --random")
        options.selection = chosen(options)
        if options.only_tilework:
            options.peers = "none"
        words = (options.threads or ("1,2" if options.random is None else "1")).split(",")
        if not all(word.isdecimal() and int(word) for word in words):
            raise ValueError("--threads wants numbers from 1 on, as in 1,2")
        options.threads = [int(word) for word in words]
        options.file = lottery.File(options.json, options)
    except ValueError as error:
        parser.error(str(error))
    return options


def chosen(options):
    """What is measured: pairs of a number and a workload."""
    drawn = options.random is not None
    found = []
    for number, workload in lottery.chosen(options) if drawn else enumerate(workloads.everything()):
        label = f"{workload.group} {workload.label}" if drawn else workload.label
        words = [all(word.lower() in label.lower() for word in only.split()) for only in options.only]
        if words and not any(words) or options.quick and not (drawn or workload.quick or words):
            continue
        if workload.bytes / 2**20 <= options.at_most:
            found.append((number, workload))
    return found


def main():
    options = arguments()
    selection, drawn = options.selection, options.random is not None
    if not selection:
        sys.exit("no workload has these words; --list prints all of them")
    if options.list:
        for number, workload in selection:
            print(lottery.line(number, workload) if drawn else listed(workload))
        return
    if options.report:
        print(*options.file.report(), sep="\n")
        return
    if not options.engine_library:
        sys.exit("--engine-library is missing; `cargo xtask bench relayout` builds it")
    threads = options.threads
    rivals, absent = peers.load(options, max(threads))
    seconds = options.seconds or (0.4 if not rivals else 0.6 if drawn else 1.0 if options.quick else 2.0)
    library = Library(options.engine_library)
    memory = Memory(max(sum(map(room, needed(workload))) for _, workload in selection))

    versions = [rival.title for rival in rivals]
    command = " ".join(["cargo xtask bench relayout", *shown(sys.argv[1:])])
    print(*report.heading(command, versions), sep="\n")
    for name, why in absent.items():
        print(f"Without {name}: {why}")
    table = (lottery if drawn else report).Table(threads, bool(rivals))
    print("", *table.head(), sep="\n", flush=True)
    file = options.file
    file.begin(command, versions, options)
    Path(options.lines).parent.mkdir(parents=True, exist_ok=True)
    with open(options.lines, "a") as lines:
        for number, workload in selection:
            data = Data(workload, memory)
            place = lottery.memory_class(sum(used(workload)))
            by_threads = {}
            for count in threads:
                peers.limit(count, pinned=bool(rivals))
                record = figure(workload, data, library, rivals, count, seconds, options.clock)
                record |= {"plan": number, "seed": options.random, "in": place}
                by_threads[count] = record
                lines.write(json.dumps(record) + "\n")
                file.add(record)
            rows = table.rows(by_threads.values()) if drawn else [table.row(workload, by_threads)]
            print(*rows, sep="\n", flush=True)
            if options.details:
                details(by_threads)
            file.write()
    print(*(targets if drawn else report).summary(file.records), sep="\n")
    # Libraries with threads of their own do not always end in peace.
    sys.stdout.flush()
    os._exit(0)


def listed(workload):
    return f"{workload.group}  {workload.label}  {workload.bytes / 2**20:.1f} MiB  {'  ->  '.join(workload.texts())}"


def shown(words):
    """The arguments without what the chore adds."""
    hidden = ("--engine-library", "--peers-library", "--lines")
    pairs = list(zip([""] + words, words))
    return [word for before, word in pairs if word not in hidden and before not in hidden]


def details(by_threads):
    for count, record in by_threads.items():
        order = sorted(record["peers"].items(), key=lambda each: -each[1][0])
        print(f"<!-- ×{count}: " + "; ".join(f"{name} {ratio:.2f} ({n})" for name, (ratio, _, n) in order) + " -->")
        for name, why in record["failures"].items():
            print(f"<!-- ×{count}: {name}: {why} -->")


main()
