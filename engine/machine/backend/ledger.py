"""What the plain text of a program has cost in this process, and what that says about compiling it."""

from __future__ import annotations

import math
import sys
from functools import lru_cache

# seconds on a present-day machine
IMPORT, LOOK = 0.04, 0.002  # to look into the cache: with the import of llvmlite, and without
LOOP = 0.05  # to compile a loop, whatever the number of bodies

RUNS = 100  # number of plain runs of one sample that take as long as compiling
FEWER = 40  # the same where the code generator is the quick one
WIDE = 64  # samples for which a plain run on arrays takes twice as long as for one sample
MANY = 256  # samples from which on the cost of one more can be measured


class Ledger:
    """The cost of one program's plain text in this process, in seconds: in total, of one run, and of one sample."""

    def __init__(self) -> None:
        self.spent, self.run, self.sample = 0.0, math.inf, 0.0

    def charge(self, seconds: float, samples: int) -> None:
        """Adds a plain run of this number of samples."""
        self.spent += seconds
        self.run = min(self.run, seconds / (1.0 + (samples - 1) / WIDE))
        if samples >= MANY:
            self.sample = seconds / samples

    def wants(self, samples: int, price: float | None, ahead: float = 0.0) -> str:
        """The cheapest way for this number of samples: `plain`, `cached` (compiled if in the cache) or `compiled`.

        `ahead` is the number of runs of one sample that are sure to come.
        """
        due = self.spent + self.sample * samples + (self.run * ahead if self.run < math.inf else 0.0)
        load = LOOK if "llvmlite" in sys.modules else IMPORT
        if due < load:
            return "plain"
        return "cached" if due < load + (RUNS * self.run if price is None else price) else "compiled"


@lru_cache(maxsize=4096)
def compile_ledger(name: str) -> Ledger:
    """The ledger of the program of this name."""
    return Ledger()
