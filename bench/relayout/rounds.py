"""How a figure is measured: all contenders take turns, round after round, in a new order each time.

Each stands directly behind a memcpy of the same bytes, and the ratio is taken within the pair: what else the machine does
slows both alike. The medians are reported.
"""

import random
import statistics
import time
from dataclasses import dataclass, field

# One figure of a small workload repeats it until it takes so long, in seconds.
SHORTEST = 3e-4

# Fewer rounds than this have no median worth the name.
LEAST = 5

# Except for those that are so slow, memcpy being 1, that they cannot be the best: their third digit interests nobody.
HOPELESS = 0.1

# From here on, in seconds, the first run tells well enough how slow something is.
SLOW = 0.05


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
    share = budget / len(contenders)
    wanted = {}
    for contender in contenders:
        # The first run touched everything for the first time; but a slow one is not worth a second for that.
        once = contender.first if contender.first > SLOW else seconds(contender.run, 1)
        repeats = max(1, min(times, round(SHORTEST * 4 / once)))
        cost = once * repeats + quick * times
        least = 1 if quick / once < HOPELESS else LEAST
        wanted[contender.name] = repeats, max(least, min(rounds, round(share / cost)))
    taken = []
    for number in range(max(count for _, count in wanted.values())):
        order = [contender for contender in contenders if number < wanted[contender.name][1]]
        random.shuffle(order)
        for contender in order:
            repeats = wanted[contender.name][0]
            plain = seconds(memcpy, times) / times
            second = seconds(contender.run, repeats) / repeats
            taken.append(plain)
            contender.seconds.append(second)
            contender.ratios.append(plain / second)
    return statistics.median(taken)
