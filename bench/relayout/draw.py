"""Random numbers that are the same on every machine and in every version of Python."""

from math import sqrt

MASK = (1 << 64) - 1


class Draw:
    """SplitMix64 (Steele, Lea and Flood, 2014). Only arithmetic that IEEE 754 rounds exactly."""

    def __init__(self, *seeds):
        self.state = 0
        for seed in seeds:
            self.state = (self._next() ^ seed) & MASK

    def _next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return mixed ^ mixed >> 31

    def unit(self):
        """From 0 up to 1, without 1."""
        return (self._next() >> 11) / (1 << 53)

    def below(self, count):
        return int(self.unit() * count)

    def whole(self, low, high):
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share):
        return self.unit() < share

    def one(self, choices):
        return choices[self.below(len(choices))]

    def weighted(self, pairs):
        """One of the pairs (choice, weight)."""
        left = self.unit() * sum(weight for _, weight in pairs)
        for choice, weight in pairs:
            left -= weight
            if left < 0:
                break
        return choice

    def log(self, low, high):
        """Log-uniform between two numbers."""
        return low * power(self.unit() * exponent(high / low))

    def shuffled(self, count):
        order = list(range(count))
        for place in range(count - 1, 0, -1):
            other = self.below(place + 1)
            order[place], order[other] = order[other], order[place]
        return order


def power(exponent):
    """Two to this power, to 24 bits behind the point. `2 ** x` differs in the last bit between systems, a root does not."""
    whole, root = int(exponent // 1), 2.0
    result, rest = 2.0**whole, exponent - whole
    for _ in range(24):
        root, rest = sqrt(root), rest * 2
        if rest >= 1:
            result, rest = result * root, rest - 1
    return result


def exponent(number):
    """The power of two that a number from 1 on is, to 24 bits behind the point."""
    result, bit = 0.0, 1.0
    while number >= 2:
        number, result = number / 2, result + 1
    for _ in range(24):
        number, bit = number * number, bit / 2
        if number >= 2:
            number, result = number / 2, result + bit
    return result
