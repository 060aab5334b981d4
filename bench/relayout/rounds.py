"""How a figure is measured: all contenders take turns, round after round, in a new order each time.

Each stands directly behind a memcpy of the same bytes, and the ratio is taken within the pair: what else the machine does
slows both alike. The medians are reported. All take part in the first third of the time, and Tilework, the streaming copy and
the best few peers in the rest.
"""

import random
import statistics
import time
from dataclasses import dataclass, field

# One figure of a small workload repeats it until it takes so long, in seconds.
SHORTEST = 3e-4

# Fewer rounds than this have no median worth the name.
LEAST = 5

# The number of peers that take part to the end: the best ones.
FINALISTS = 3

# Except for those that are so slow, memcpy being 1, that they cannot be the best: their third digit interests nobody.
HOPELESS = 0.1

# From here on, in seconds, the first run tells well enough how slow something is.
SLOW = 0.05


# A first run is as good as its fresh plans, and is held against the run of this number.
FRESH = 5
SETTLED = 10


def first_run(fresh, memcpy, clock=time.perf_counter):
    """How fast the first run of a plan is, the tenth being 1: medians over plans that are made anew, behind a memcpy."""

    def seconds(run):
        start = clock()
        run(1)
        return max(clock() - start, 1e-9)

    firsts, settled = [], []
    for _ in range(FRESH):
        run = fresh()
        memcpy(1)
        times = [seconds(run) for _ in range(SETTLED)]
        firsts.append(times[0])
        settled.append(times[-1])
    return statistics.median(settled) / statistics.median(firsts)


@dataclass
class Contender:
    name: str
    run: object  # called with how often
    role: str  # "engine", "limit" or "peer"
    first: float  # seconds of the first run
    seconds: list = field(default_factory=list)
    ratios: list = field(default_factory=list)

    @property
    def second(self):
        """The median time of one relayout."""
        return statistics.median(self.seconds)

    @property
    def ratio(self):
        """How fast, memcpy being 1."""
        return statistics.median(self.ratios)


def measure(memcpy, contenders, budget, rounds, clock=time.perf_counter):
    """Measures all contenders for about `budget` seconds and returns memcpy's median time."""

    def seconds(run, times):
        start = clock()
        run(times)
        return max(clock() - start, 1e-9)

    memcpy(1)
    quick = min(seconds(memcpy, 1) for _ in range(3))
    times = max(1, round(SHORTEST / quick))
    taken = []

    def turns(some, budget):
        """Some of the contenders, for about `budget` seconds."""
        wanted = {}
        for contender in some:
            # The first run touched everything for the first time; but a slow one is not worth a second for that.
            known = contender.seconds and contender.second
            once = known or (contender.first if contender.first > SLOW else seconds(contender.run, 1))
            repeats = max(1, min(times, round(SHORTEST * 4 / once)))
            cost = once * repeats + quick * times
            fewest = 1 if quick / once < HOPELESS and contender.role == "peer" else LEAST
            wanted[contender.name] = repeats, max(fewest, min(rounds, round(budget / len(some) / cost)))
        for number in range(max(count for _, count in wanted.values())):
            order = [contender for contender in some if number < wanted[contender.name][1]]
            random.shuffle(order)
            for contender in order:
                repeats = wanted[contender.name][0]
                plain = seconds(memcpy, times) / times
                second = seconds(contender.run, repeats) / repeats
                taken.append(plain)
                contender.seconds.append(second)
                contender.ratios.append(plain / second)

    peers = [contender for contender in contenders if contender.role == "peer"]
    if len(peers) <= FINALISTS:
        turns(contenders, budget)
        return statistics.median(taken)
    # The best of many is the luckiest of them, unless the best few are measured longer.
    turns(contenders, budget / 3)
    peers.sort(key=lambda contender: -contender.ratio)
    turns([contender for contender in contenders if contender not in peers[FINALISTS:]], budget * 2 / 3)
    return statistics.median(taken)
