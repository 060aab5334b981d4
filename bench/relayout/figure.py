"""One workload, measured: Tilework, the copies and every rival."""

import time

import report
import rounds


def figure(workload, data, library, rivals, threads, seconds, clock):
    """Measures one workload on one or more threads."""
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

    def fresh():
        return library.plan(*workload.texts()).run(source, destination, threads)

    enter("Tilework", "engine", fresh)
    enter("limit", "limit", lambda: library.copy(source, destination, workload.bytes, threads, streaming=True))
    for rival in rivals:
        try:
            for peer in rival.peers(workload, data, threads):
                enter(peer.name, "peer", peer.prepare, peer.result, peer.padding_free)
        except Exception as error:
            # It cannot even say what it would do: its own problem, and no reason to measure nothing.
            failures[rival.title] = f"{type(error).__name__}: {error}"[:200]
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
        "stream": named["limit"].ratio,
        "engine": ours and ours.ratio,
        "engine_of_stream": ours and ours.ratio / named["limit"].ratio,
        "engine_gbs": ours and workload.traffic / ours.second / 1e9,
        "first": ours and rounds.first_run(fresh, memcpy),
        "best": best and best.ratio,
        "best_name": best and best.name,
        "lead": ours and best and ours.ratio / best.ratio,
        "failures": failures,
        "others": round(others.share(), 2),
        "peers": {each.name: [round(each.ratio, 4), each.second, len(each.seconds)] for each in contenders},
    }
