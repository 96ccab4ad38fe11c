"""Forces of friction and stops, and impulses of blows: one convex problem, one text for one run and for many.

Of all accelerations that loops and prescribed motions allow, a system takes those with the least
½ (a − a_free)ᵀ M (a − a_free) + Σ μ |aᵢ|, with aᵢ ≥ 0 at lower and aᵢ ≤ 0 at upper stops (Gauss's principle). The dual
problem, in the supports s of the joints at rest, is

    a = b + G s,   low ≤ s ≤ high,   aᵢ > 0 only where sᵢ = lowᵢ,   aᵢ < 0 only where sᵢ = highᵢ.

G, the compliance, is symmetric and has no negative eigenvalue, but may be singular: a is unique, s need not be. A blow
is the same problem in speeds and impulses.

The method is a dual active set: the support that is most wrong is changed, and those that bear follow so that their
joints stay at rest, until its own joint is at rest or a support is at a bound. The objective falls with every pivot, so
that no set of bearing supports occurs twice. Numbers are floats, or arrays with an entry for each run.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

ROUNDING = 1e-12  # of the magnitudes that meet in a row: less is 0
RANK = 1e-10  # of a support's compliance (a sine squared): what others leave of it; less is dependent on them
ALIKE = 1.0 + 1e-6  # of magnitudes that are no reason to prefer one joint to another before it, for rounding may differ

Number = Any  # a float, or an array with an entry for each run
Truth = Number  # a bool, or an array of these


class One:
    """The words of the text for one run: numbers are floats."""

    zero, inf, false = 0.0, math.inf, False
    root, no, some = staticmethod(math.sqrt), staticmethod(operator.not_), staticmethod(bool)

    @staticmethod
    def select(truth: Truth, yes: Number, no: Number) -> Number:
        """One of two numbers."""
        return yes if truth else no

    @staticmethod
    def pick(numbers: Sequence[Number], place: Number) -> Number:
        """The number at this place."""
        return numbers[int(place)]


class Many:
    """The words of the text for many runs: numbers are arrays."""

    root, no = staticmethod(np.sqrt), staticmethod(np.logical_not)
    some = staticmethod(np.any)

    def __init__(self, count: int):
        self.zero, self.inf, self.false = np.zeros(count), np.full(count, np.inf), np.zeros(count, dtype=bool)

    @staticmethod
    def select(truth: Truth, yes: Number, no: Number) -> Number:
        """One of two numbers in each run."""
        return np.where(truth, yes, no)

    @staticmethod
    def pick(numbers: Sequence[Number], place: Number) -> Number:
        """The number at each run's place."""
        return np.array(numbers)[place.astype(int), np.arange(len(place))]


Words = One | Many


class Balanced(NamedTuple):
    """Supports, accelerations (0 exactly where a joint is held), who is held, and who bears.

    Those that `bear` are as many of the held ones as are independent of each other.
    """

    s: np.ndarray
    a: np.ndarray
    held: np.ndarray
    bear: np.ndarray


def balance_contacts(
    G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, size: np.ndarray | None = None
) -> Balanced:
    """The forces of many runs, which are the first axis of all arrays.

    `size` is that of what met in b, where more did than is left of it.
    """
    count, m = b.shape
    size = abs(b) if size is None else size
    if count == 1:
        found = balance(One(), G[0].tolist(), *(x[0].tolist() for x in (b, low, high, size)))
        return Balanced(*(np.array(x).reshape(1, m) for x in found))
    with np.errstate(all="ignore"):
        rows = [[G[:, i, j] for j in range(m)] for i in range(m)]
        found = balance(Many(count), rows, *(list(x.T) for x in (b, low, high, size)))
    return Balanced(*(np.array(x).reshape(m, count).T for x in found))


def balance(w: Words, *numbers: Number) -> tuple[list[Number], list[Number], list[Truth], list[Truth]]:
    """The forces, accelerations, and truths of `Balanced`, joint by joint, from the arguments of `Problem`."""
    problem = Problem(w, *numbers)
    driver = w.zero - 1.0  # the place of the support that is changed, −1: none
    for _ in range(20 * len(problem.b) + 10):
        driver = problem.most_wrong(driver)
        active = driver >= 0.0
        if not w.some(active):
            break
        driver = problem.pivot(w.select(active, driver, w.zero), active)
    return problem.solution()


class Problem:
    """The problem of one run, or of many, and how far its solution has come; all supports are scaled to one size."""

    def __init__(
        self,
        w: Words,
        G: list[list[Number]],
        b: list[Number],
        low: list[Number],
        high: list[Number],
        size: list[Number],
    ):
        self.w, self.b, self.bounds = w, b, (low, high)
        m = len(b)
        unit = self.unit = [1.0 / w.root(w.select(G[i][i] > 0.0, G[i][i], 1.0 + w.zero)) for i in range(m)]
        self.G = [[G[max(i, j)][min(i, j)] * (unit[max(i, j)] * unit[min(i, j)]) for j in range(m)] for i in range(m)]
        self.table, self.size = [[*row] for row in self.G], [x * d for x, d in zip(size, unit)]
        self.low, self.high = [x / d for x, d in zip(low, unit)], [x / d for x, d in zip(high, unit)]
        self.s = [w.select(lo > 0.0, lo, w.select(hi < 0.0, hi, w.zero)) for lo, hi in zip(self.low, self.high)]
        self.b = [x * d for x, d in zip(b, unit)]
        self.a = [x for x, _ in map(self.met, range(m))]
        self.bear: list[Truth] = [w.false] * m
        self.refused: list[Truth] = [w.false] * m

    def met(self, i: int) -> tuple[Number, Number]:
        """The acceleration of a joint by the problem's own numbers, and the magnitudes that meet in it."""
        x, met = self.b[i], self.size[i]
        for g, force in zip(self.G[i], self.s):
            x, met = x + g * force, met + abs(g * force)
        return x, met

    def most_wrong(self, driver: Number) -> Number:
        """The place of the support that is farthest from the bound to which its acceleration belongs.

        A support that is being changed already stays the one, and −1 says that all are right.
        """
        w, known, worst = self.w, driver >= 0.0, self.w.zero
        if not w.some(w.no(known)):
            return driver
        for i, x in enumerate(self.a):
            noise = ROUNDING * self.met(i)[1]
            wrong = ((x < -noise) & (self.s[i] < self.high[i])) | ((x > noise) & (self.s[i] > self.low[i]))
            worse = wrong & w.no(known | self.bear[i] | self.refused[i]) & (abs(x) > worst)
            worst, driver = w.select(worse, ALIKE * abs(x), worst), w.select(worse, w.zero + i, driver)
        return driver

    def pivot(self, k: Number, active: Truth) -> Number:
        """Change the support at k until its joint rests, and it bears, or until a support is at a bound.

        Returns the place of the support to go on with, or −1. A support that depends on bearing ones goes to the next
        bound; where there is none, supports without bound contradict each other, and it is refused.
        """
        w, s, low, high, none = self.w, self.s, self.low, self.high, self.w.zero - 1.0
        column = [w.pick(row, k) for row in self.table]
        now, pivot = w.pick(self.a, k), w.pick(column, k)
        way, firm = w.select(now > 0.0, none, -none), pivot > RANK
        step, block = w.select(firm, abs(now) / w.select(firm, pivot, -none), w.inf), none
        rates = [w.select(k == j, way, w.select(self.bear[j], -x * way, w.zero)) for j, x in enumerate(column)]
        for j, rate in enumerate(rates):
            room = w.select(rate > 0.0, high[j] - s[j], s[j] - low[j])
            far = room / w.select(rate != 0.0, abs(rate), -none)
            nearer = (rate != 0.0) & (far < step)
            step, block = w.select(nearer, far, step), w.select(nearer, w.zero + j, block)
        endless = active & (step == w.inf)
        moves = active & w.no(endless)
        step, blocked = w.select(moves, step, w.zero), moves & (block >= 0.0)
        for j, rate in enumerate(rates):
            mine = active & (k == j)
            bound = w.select(rate > 0.0, high[j], low[j])
            s[j] = w.select(blocked & (block == j), bound, s[j] + rate * step)
            still = self.bear[j] | (mine & moves & w.no(blocked))
            self.a[j] = w.select(still, w.zero, self.a[j] + column[j] * way * step)
            self.refused[j] = self.refused[j] | (mine & endless)
        other = blocked & (block != k)
        sweep(w, self.table, self.bear, w.select(blocked, block, k), (moves & w.no(blocked)) | other)
        return w.select(other, k, none)

    def solution(self) -> tuple[list[Number], list[Number], list[Truth], list[Truth]]:
        """The supports, the accelerations by the problem's own numbers, who is held, and who bears."""
        w, a, held = self.w, list[Number](), list[Truth]()
        idle: Truth = w.false
        for i, (lo, hi) in enumerate(zip(self.low, self.high)):
            x, met = self.met(i)
            holds = (hi > lo) & w.no(self.refused[i]) & (self.bear[i] | (abs(x) <= 4.0 * ROUNDING * met))
            a.append(w.select(holds, w.zero, x / self.unit[i]))
            held.append(holds)
            idle = idle | (holds & w.no(self.bear[i]))
        if w.some(idle):  # more are held than there are freedoms, or some without load
            self.bear = [(idle & x) | (w.no(idle) & y) for x, y in zip(self.independent(held), self.bear)]
        own = zip(self.s, self.low, self.high, *self.bounds, self.unit)
        s = [w.select(x <= lo, low, w.select(x >= hi, high, x * d)) for x, lo, hi, low, high, d in own]
        return s, a, held, self.bear

    def independent(self, held: list[Truth]) -> list[Truth]:
        """The held supports that bear: a largest independent set, those first that can take most load up to a bound."""
        w, table = self.w, [[*row] for row in self.G]
        rooms = [w.select(hi - x < x - lo, hi - x, x - lo) for x, lo, hi in zip(self.s, self.low, self.high)]
        bear: list[Truth] = [w.false for _ in held]
        for _ in held:
            most, k = w.zero - 1.0, w.zero - 1.0
            for i, room in enumerate(rooms):
                firm = table[i][i] > RANK
                load = room * w.root(w.select(firm, table[i][i], w.zero))
                more = held[i] & w.no(bear[i]) & firm & (load > most)
                most, k = w.select(more, ALIKE * load, most), w.select(more, w.zero + i, k)
            if not w.some(k >= 0.0):
                break
            sweep(w, table, bear, w.select(k >= 0.0, k, w.zero), k >= 0.0)
        return bear


def sweep(w: Words, table: list[list[Number]], bear: list[Truth], k: Number, swept: Truth) -> None:
    """Exchange force and acceleration of the support at k, which begins or ends to bear."""
    if not w.some(swept):
        return
    column = [w.pick(row, k) for row in table]
    pivot = w.select(swept, w.pick(column, k), 1.0 + w.zero)
    sign = w.select(w.pick(bear, k), w.zero - 1.0, 1.0 + w.zero)
    mine = [k == j for j in range(len(table))]
    for i, x in enumerate(column):
        for j, y in enumerate(column[: i + 1]):  # symmetric to the last bit
            new = w.select(mine[i], sign * y / pivot, w.select(mine[j], sign * x / pivot, table[i][j] - x * y / pivot))
            new = w.select(mine[i] & mine[j], -1.0 / pivot, new)
            table[i][j] = table[j][i] = w.select(swept, new, table[i][j])
        bear[i] = bear[i] ^ (swept & mine[i])
