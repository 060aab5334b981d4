"""Relayouts by Tilework and its rivals, measured in one process: `cargo xtask bench relayout`.

The goals are shares of memcpy's speed, for two-dimensional and higher moves: 1.0 where both sides have runs of 64 bytes or
more, 0.8 where the minor dimension changes and elements have 4 bytes or more, 0.6 where they have fewer, 0.7 between NCHW
and NHWC.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import peers
import report
import rounds
import workloads
from data import Data, needed
from engine import Library
from memory import Memory, room


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench relayout", description=__doc__)
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="WORDS", help="workloads whose name or type holds all these words")
    add("--quick", action="store_true", help="a third of the workloads, few rounds: about two minutes")
    add("--threads", default="1,2", metavar="1,2", help="how many threads, one table column group each")
    add("--peers", default="all", metavar="NAMES", help=f"none, or some of {','.join(peers.NAMES)}")
    add("--seconds", type=float, help="to measure each workload for; 2 by default, with --quick 1, without peers 0.4")
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
        words = options.threads.split(",")
        if not all(word.isdecimal() and int(word) for word in words):
            raise ValueError("--threads wants numbers from 1 on, as in 1,2")
        options.threads = [int(word) for word in words]
    except ValueError as error:
        parser.error(str(error))
    return options


def chosen(options):
    found = []
    for workload in workloads.everything():
        words = [all(word.lower() in workload.label.lower() for word in only.split()) for only in options.only]
        if words and not any(words) or options.quick and not workload.quick and not words:
            continue
        if workload.bytes / 2**20 <= options.at_most:
            found.append(workload)
    return found


def main():
    options = arguments()
    selection = chosen(options)
    if not selection:
        sys.exit("no workload has these words; --list prints all of them")
    if options.list:
        for workload in selection:
            print(f"{workload.group}  {workload.label}  {workload.bytes / 2**20:.1f} MiB  {'  ->  '.join(workload.texts())}")
        return
    if not options.engine_library:
        sys.exit("--engine-library is missing; `cargo xtask bench relayout` builds it")
    threads = options.threads
    rivals, absent = peers.load(options, max(threads))
    seconds = options.seconds or (0.4 if not rivals else 1.0 if options.quick else 2.0)
    library = Library(options.engine_library)
    memory = Memory(max(sum(map(room, needed(workload))) for workload in selection))

    versions = [rival.title for rival in rivals]
    command = " ".join(["cargo xtask bench relayout", *shown(sys.argv[1:])])
    print(*report.heading(command, versions), sep="\n")
    for name, why in absent.items():
        print(f"Without {name}: {why}")
    table = report.Table(threads, bool(rivals))
    print("", *table.head(), sep="\n", flush=True)
    records = []
    Path(options.lines).parent.mkdir(parents=True, exist_ok=True)
    with open(options.lines, "a") as lines:
        for workload in selection:
            data = Data(workload, memory)
            by_threads = {}
            for count in threads:
                peers.limit(count, pinned=bool(rivals))
                record = figure(workload, data, library, rivals, count, seconds, options.clock)
                by_threads[count] = record
                lines.write(json.dumps(record) + "\n")
            print(table.row(workload, by_threads), flush=True)
            if options.details:
                details(by_threads)
            records += by_threads.values()
    print(*report.summary(records), sep="\n")
    # Libraries with threads of their own do not always end in peace.
    sys.stdout.flush()
    os._exit(0)


def shown(words):
    """The arguments without what the chore adds."""
    hidden = ("--engine-library", "--peers-library", "--lines")
    pairs = list(zip([""] + words, words))
    return [word for before, word in pairs if word not in hidden and before not in hidden]


def figure(workload, data, library, rivals, threads, seconds, clock):
    """Measures one workload with so many threads."""
    source, destination = data.addresses
    contenders, failures = [], {}

    def enter(name, role, prepare, result=lambda: None, padding_free=False):
        data.spoil()
        try:
            run = prepare()
            if run is None:
                return
            start = time.perf_counter()
            run(1)
            first = time.perf_counter() - start
            if role != "limit" and not data.right(result(), padding_free):
                failures[name] = "wrong result"
                return
        except NotImplementedError:
            return
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {error}"[:200]
            return
        contenders.append(rounds.Contender(name, run, role, first))

    enter("Tilework", "engine", lambda: library.plan(*workload.texts()).run(source, destination, threads))
    enter("limit", "limit", lambda: library.copy(source, destination, workload.bytes, threads, streaming=True))
    for rival in rivals:
        for peer in rival.peers(workload, data, threads):
            enter(peer.name, "peer", peer.prepare, peer.result, peer.padding_free)
    memcpy = library.copy(source, destination, workload.bytes, threads)
    tick = time.process_time if clock == "processor" and threads == 1 else time.perf_counter
    others = report.Others()
    plain = rounds.measure(memcpy, contenders, seconds, 61, tick)
    named = {contender.name: contender for contender in contenders}
    ours = named.get("Tilework")
    best = max((each for each in contenders if each.role == "peer"), key=lambda each: each.ratio, default=None)
    return {
        "group": workload.group,
        "label": workload.label,
        "from": workload.texts()[0],
        "to": workload.texts()[1],
        "bytes": workload.bytes,
        "threads": threads,
        "goal": workload.goal,
        "memcpy_gbs": 2 * workload.bytes / plain / 1e9,
        "limit": max(1.0, named["limit"].ratio),
        "engine": ours and ours.ratio,
        "engine_gbs": ours and workload.traffic / ours.second / 1e9,
        "best": best and best.ratio,
        "best_name": best and best.name,
        "lead": ours and best and ours.ratio / best.ratio,
        "failures": failures,
        "others": round(others.share(), 2),
        "peers": {each.name: [round(each.ratio, 4), each.second, len(each.seconds)] for each in contenders},
    }


def details(by_threads):
    for count, record in by_threads.items():
        order = sorted(record["peers"].items(), key=lambda each: -each[1][0])
        print(f"<!-- ×{count}: " + "; ".join(f"{name} {ratio:.2f} ({n})" for name, (ratio, _, n) in order) + " -->")
        for name, why in record["failures"].items():
            print(f"<!-- ×{count}: {name}: {why} -->")


main()
