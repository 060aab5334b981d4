"""One line in, a shape; one line out, the nanoseconds that jaxlib takes to read it."""

import sys
from time import perf_counter_ns

import jaxlib
from jaxlib import xla_client

ROUND = 4_000_000  # nanoseconds, as on the other side


def measure(text, read=xla_client.Shape):
    # The loop costs a few nanoseconds each time round, next to more than a thousand for the call.
    calls, start, now = 0, perf_counter_ns(), 0
    while now < ROUND:
        for _ in range(64):
            read(text)
        calls += 64
        now = perf_counter_ns() - start
    return now / calls


print(jaxlib.__version__, flush=True)
for line in sys.stdin:
    print(measure(line.strip()), flush=True)
