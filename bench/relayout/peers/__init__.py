"""The rivals. Each module has a class `Rival` with a `title` and `peers(workload, data, threads)`."""

import glob
import importlib
import os

NAMES = ("numpy", "jax", "torch", "onednn", "openblas", "rust")

# What they can be told before they start.
VARIABLES = {
    "JAX_PLATFORMS": "cpu",
    "OMP_WAIT_POLICY": "PASSIVE",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}


class Peer:
    """One way to do a relayout.

    `prepare` returns a call that repeats it as often as it is asked to, or None (or NotImplementedError) where it cannot.
    `result` returns the result where it is not in the destination. Some write zeros into padding, which is their right.
    """

    def __init__(self, name, prepare, result=lambda: None, padding_free=False):
        self.name, self.prepare, self.result, self.padding_free = name, prepare, result, padding_free


def repeated(once):
    """A call that does it so many times."""

    def run(times):
        for _ in range(times):
            once()

    return run


def names(text):
    """The names in an option such as `numpy,jax`."""
    found = {"none": [], "all": list(NAMES)}.get(text, text.split(","))
    for name in found:
        if name not in NAMES:
            raise ValueError(f"no peer `{name}`; there are all, none and {', '.join(NAMES)}")
    return found


def load(options, threads):
    """The rivals that can be had, and why the others cannot."""
    os.environ.update(VARIABLES, OMP_NUM_THREADS=str(threads))
    found, absent = [], {}
    for name in names(options.peers):
        try:
            found.append(importlib.import_module(f"peers.{name}_").Rival(options))
        except Exception as error:
            absent[name] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return found, absent


def limit(threads, pinned):
    """Keeps every thread of this process, whoever started it, on so many processors.

    Not all rivals can be told how many threads to use. Without rivals nothing is pinned, and the system may choose.
    """
    if not pinned or not hasattr(os, "sched_setaffinity"):
        return
    limit.all = getattr(limit, "all", sorted(os.sched_getaffinity(0)))
    allowed = set(limit.all[-threads:])
    for task in glob.glob("/proc/self/task/*"):
        try:
            os.sched_setaffinity(int(os.path.basename(task)), allowed)
        except OSError:
            pass  # it ended meanwhile
