"""The loops that move an array from one layout to another, for rivals that only know strides."""

from dataclasses import dataclass
from itertools import pairwise, product
from math import lcm

from layouts import bounds, offset


@dataclass(frozen=True)
class Nest:
    """Loops (extent, source stride, destination stride), outermost first, and where they start."""

    start_from: int
    start_to: int
    loops: tuple

    @property
    def extents(self):
        return tuple(loop[0] for loop in self.loops)

    def strides(self, side):
        return tuple(loop[1 + side] for loop in self.loops)

    def start(self, side):
        return self.start_to if side else self.start_from

    @property
    def backwards(self):
        """Whether one side goes back where the other goes on."""
        return any(stride < 0 for _, *strides in self.loops for stride in strides)

    def lowest(self, side):
        """The lowest place: where a side that goes back ends."""
        return self.start(side) + sum((loop[0] - 1) * min(0, loop[1 + side]) for loop in self.loops)


def nests(sizes, source, destination):
    """The loops that move every element, outermost first by the stride in the destination, merged where they can be."""
    pieces = [_pieces(*each) for each in zip(sizes, source.factors, destination.factors)]
    found = []
    for choice in product(*pieces):
        starts = [side.first + sum(piece[at] for piece in choice) for at, side in enumerate((source, destination))]
        loops = [loop for piece in choice for loop in piece[2] if loop[0] > 1]
        for place, (extent, *strides) in enumerate(loops):
            if strides[1] < 0:
                # Always forwards in the destination.
                starts = [start + (extent - 1) * stride for start, stride in zip(starts, strides)]
                loops[place] = (extent, *(-stride for stride in strides))
        loops.sort(key=lambda loop: (-loop[2], -loop[1]))
        found.append(Nest(*starts, tuple(_merged(loops))))
    return found


def _pieces(size, source, destination):
    """One dimension as pieces (start in the source, start in the destination, loops)."""
    found = []
    for start, steps in _cut(0, size, {1, *bounds(source), *bounds(destination)}):
        loops = [(extent, offset(source, step), offset(destination, step)) for extent, step in steps]
        found.append((offset(source, start), offset(destination, start), loops))
    return found


def _cut(start, end, all_steps):
    """Pieces of the indices from `start` to `end`, each with loops (extent, indices that one turn is worth)."""
    steps = sorted(all_steps, reverse=True)
    if all(large % small == 0 for large, small in pairwise(steps)):
        return _whole(start, end, steps)
    # Tiles such as 8 and 12: what repeats is as long as both, and is cut wherever one of them ends.
    period = lcm(*steps)
    found, first = [], start
    if end - start >= 2 * period:
        turns = (end - start) // period
        inner = _cut(0, period, all_steps)
        found = [(start + at, [(turns, period), *loops]) for at, loops in inner]
        first += turns * period
    cuts = {first, end}
    for step in steps[:-1]:
        cuts.update(range(-(-first // step) * step, end, step))
    return found + [(low, [(high - low, 1)]) for low, high in pairwise(sorted(cuts))]


def _whole(start, end, steps):
    """Where each step divides the one before: the whole blocks of the largest, what is left in blocks of the next, and so
    on."""
    found = []
    for place, step in enumerate(steps):
        blocks = (end - start) // step
        if blocks:
            inner = [(large // small, small) for large, small in pairwise(steps[place:])]
            found.append((start, [(blocks, step), *inner]))
        start += blocks * step
    return found


def _merged(loops):
    merged = []
    for extent, source, destination in loops:
        if merged and merged[-1][1:] == (source * extent, destination * extent):
            merged[-1] = (merged[-1][0] * extent, source, destination)
        else:
            merged.append((extent, source, destination))
    return merged or [(1, 1, 1)]
