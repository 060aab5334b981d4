"""`tilework rechunk --scheduler`: the command plans and finishes, and this program gives the tasks to Dask's workers.

It says a line of JSON about the cluster, reads a line with the plan, and says a line whenever tasks are done.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from tilework import __version__
from tilework._jobs import _rounds, _tasks, _worker_memory

# How long a scheduler may take to answer, in seconds.
PATIENCE = 10
# Tasks for each thread of a worker: what is lost with a worker is small, and the last ones end at about the same time.
EACH = 4


def main() -> None:
    """Do what the command asks for, and end."""
    # What others print is not for the command.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**answer: Any) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        say(lacks="distributed")
        return
    address = sys.argv[1]
    named = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        client = distributed.Client(**named, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        say(unreachable=_words(error))
        return
    with client:
        try:
            say(cluster=_cluster(client))
            asked = sys.stdin.readline()
            if asked:
                say(done=_run(client, json.loads(asked), say))
        except Exception as error:  # whatever a worker raised
            say(failed=_words(error))


def _cluster(client: Any) -> dict[str, Any]:
    """What the workers are, and that they have what runs the tasks."""
    threads = sum(client.nthreads().values())
    lacking = {}
    for worker, found in client.run(_version, on_error="return").items():
        if found != __version__:
            lacking[worker] = found if isinstance(found, str) else None
    return {"threads": threads, "memory": _worker_memory(client), "version": __version__, "lacking": lacking}


def _version() -> str | None:
    try:
        import tilework
    except ImportError:
        return None
    return tilework.__version__


def _run(client: Any, asked: Mapping[str, Any], say: Any) -> dict[str, int]:
    """All passes, one after the other."""
    as_completed: Any = importlib.import_module("distributed").as_completed
    parts = max(64, EACH * sum(client.nthreads().values()))
    plan = _tasks(asked["plan"], {"tasks": asked["tasks"]}, asked["memory"], parts)
    written = kept = 0
    for number, futures in _rounds(client, plan, retries=3):
        done = 0
        for future in as_completed(futures):
            found = future.result()
            written, kept, done = written + found["written"], kept + found["kept"], done + 1
            say(progress={"pass": number, "done": done, "of": len(futures)})
    return {"written": written, "kept": kept}


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    main()
