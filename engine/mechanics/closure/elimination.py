"""Solution of K x = b and Kᵀ y = b on any scalars, by Gaussian elimination with a fixed order of pivots.

The order is chosen beforehand with numbers, by complete pivoting; the text then follows it without decisions, so that
it can be recorded.  The values of the pivots show whether the order is still good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...machine.program import Scalar, smaller

Pivots = tuple[tuple[int, int], ...]  # (row, column), the first eliminated first
# (k, j, s): the unknowns are x_k + s x_j and not x_k, because columns k and j have much in common; s is 1 or −1
Sums = tuple[tuple[int, int, int], ...]
NOTHING = 1e-12  # of the largest entry
EQUAL = 1e-6


def pivot_order_of_constraints(K: np.ndarray) -> Pivots:
    """A good order of pivots for matrices like K; rows and columns with one entry come first, as they cost nothing.

    Rounding errors decide nothing: what they leave in the place of a zero is none, and of equal entries the first is
    taken. So all runs of a mechanism through the same positions take the same pivots.
    """
    return tuple((r, c) for r, c in pivot_orders_of_many_constraints(np.array(K, dtype=float)[None])[0].tolist())


def pivot_orders_of_many_constraints(K: np.ndarray) -> np.ndarray:
    """The order of pivots that is good for each of many matrices by itself: (matrices, pivots, 2)."""
    K, (count, n) = K.copy(), K.shape[:2]
    every, result = np.arange(count), np.zeros((count, n, 2), dtype=int)
    least = NOTHING * abs(K).max(axis=(1, 2), initial=0.0)[:, None, None]
    rows, columns = np.ones((2, count, n), dtype=bool)
    going = np.ones(count, dtype=bool)
    for place in range(n):
        part = abs(K) * (rows[:, :, None] & columns[:, None])
        part[(part <= least) & (part > least).any(axis=(1, 2), keepdims=True)] = 0.0
        there = part > 0.0
        alone, single = rows & (there.sum(axis=2) == 1), columns & (there.sum(axis=1) == 1)
        large = part >= part.max(axis=(1, 2), initial=0.0, keepdims=True) * (1 - EQUAL)
        large &= rows[:, :, None] & columns[:, None]
        r, c = divmod(large.reshape(count, -1).argmax(axis=1), n)
        by_column = single.any(axis=1)
        c = np.where(by_column, single.argmax(axis=1), c)
        r = np.where(by_column, part[every, :, c].argmax(axis=1), r)
        by_row = alone.any(axis=1)
        r = np.where(by_row, alone.argmax(axis=1), r)
        c = np.where(by_row, part[every, r].argmax(axis=1), c)
        going &= K[every, r, c] != 0.0  # else what is left follows in its order
        r, c = np.where(going, r, rows.argmax(axis=1)), np.where(going, c, columns.argmax(axis=1))
        result[:, place, 0], result[:, place, 1] = r, c
        rows[every, r] = columns[every, c] = False
        with np.errstate(all="ignore"):
            factors = np.where(rows & going[:, None], K[every, :, c] / K[every, r, c][:, None], 0.0)
            K = K - np.where(factors[:, :, None] != 0.0, factors[:, :, None] * K[every, r][:, None], 0.0)
        K[every, :, c] = np.where(rows, 0.0, K[every, :, c])
    return result


def pivot_margin_of_constraints(pivots: Sequence[Scalar], limits: Sequence[Scalar]) -> Scalar:
    """A number that is positive as long as the product of every pivot and its limit is above 1."""
    least: Scalar = 1.0
    for pivot, limit in zip(pivots, limits):
        if not (isinstance(pivot, float) and not isinstance(limit, float)):  # constant pivots need no check
            least = smaller(least, pivot * limit - 1.0)
    return least


def pivot_size_margin_of_constraints(pivots: Sequence[Scalar], limits: Sequence[float]) -> Scalar:
    """A number that is positive as long as the size of every pivot is above its limit.

    Signs don't matter here: only in a run do pivots change continuously, and so pass 0 before they change sign.
    """
    return pivot_margin_of_constraints([pivot * pivot for pivot in pivots], [1.0 / (limit * limit) for limit in limits])


def combined(row: Sequence[Scalar], sums: Sums) -> list[Scalar]:
    """A row whose unknowns are sums: what stood for x_k, which is its sum less x_j, is taken off column j."""
    result = list(row)
    for k, j, sign in sums:
        if not _nothing(row[k]):
            result[j] = result[j] - row[k] if sign > 0 else result[j] + row[k]
    return result


def taken_apart(x: Sequence[Scalar], sums: Sums) -> list[Scalar]:
    """The unknowns themselves, from their sums."""
    result = list(x)
    for k, j, sign in sums:
        if not _nothing(x[j]):
            result[k] = result[k] - x[j] if sign > 0 else result[k] + x[j]
    return result


class Elimination:
    """The factors of K, with its pivots in their order; rows without a pivot are left out.

    With `sums`, it is the matrix for these in the place of the unknowns that has the pivots.
    """

    def __init__(self, K: Sequence[Sequence[Scalar]], order: Pivots, sums: Sums = ()):
        self._order, self._sums, self._rows = order, sums, [combined(row, sums) for row in K]
        self._factors: list[list[tuple[int, Scalar]]] = []
        self._one_over: list[Scalar] = []
        self.pivots: list[Scalar] = []
        for place, (r, c) in enumerate(order):
            pivot = self._rows[r][c]
            one_over = 1.0 / pivot
            self.pivots.append(pivot)
            factors = []
            for s, _ in order[place + 1 :]:
                if _nothing(self._rows[s][c]):
                    continue
                factor = self._rows[s][c] * one_over
                factors.append((s, factor))
                for _, d in order[place + 1 :]:
                    if not _nothing(self._rows[r][d]):
                        self._rows[s][d] = self._rows[s][d] - factor * self._rows[r][d]
            self._factors.append(factors)
            self._one_over.append(one_over)

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x of K x = b."""
        return taken_apart(self.solve_for_sums(b), self._sums)

    def solve_for_sums(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution of K x = b with sums of unknowns in their places."""
        b = list(b)
        x: list[Scalar] = [0.0] * len(self._order)
        for (r, _), factors in zip(self._order, self._factors):
            for s, factor in factors:
                if not _nothing(b[r]):
                    b[s] = b[s] - factor * b[r]
        for place in reversed(range(len(self._order))):
            r, c = self._order[place]
            value = b[r]
            for _, d in self._order[place + 1 :]:
                if not (_nothing(self._rows[r][d]) or _nothing(x[d])):
                    value = value - self._rows[r][d] * x[d]
            x[c] = value * self._one_over[place] if not _nothing(value) else 0.0
        return x

    def transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution y of Kᵀ y = b, with an entry for each row of K."""
        y: list[Scalar] = [0.0] * len(self._rows)
        b = combined(b, self._sums)
        for place, (r, c) in enumerate(self._order):
            value = b[c]
            for s, _ in self._order[:place]:
                if not (_nothing(self._rows[s][c]) or _nothing(y[s])):
                    value = value - self._rows[s][c] * y[s]
            y[r] = value * self._one_over[place] if not _nothing(value) else 0.0
        for (r, _), factors in reversed(list(zip(self._order, self._factors))):
            for s, factor in factors:
                if not _nothing(y[s]):
                    y[r] = y[r] - factor * y[s]
        return y


class Blockwise:
    """The factors of a K whose rows fall into groups with speeds of their own, group by group.

    `groups` has for each group the places of its rows and columns in K, the order of its pivots, and the places of
    these pivots in the order of all.
    """

    def __init__(self, K: Sequence[Sequence[Scalar]], groups: Sequence[BlockPlaces]):
        self._groups, self._n = groups, len(K)
        self.parts = [
            Elimination([[K[r][c] for c in one.columns] for r in one.rows], one.order, one.sums) for one in groups
        ]

    @property
    def pivots(self) -> list[Scalar]:
        """All pivots, in the order of the whole."""
        result: list[Scalar] = [0.0] * self._n
        for one, part in zip(self._groups, self.parts):
            for place, pivot in zip(one.pivots, part.pivots):
                result[place] = pivot
        return result

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x of K x = b."""
        x: list[Scalar] = [0.0] * self._n
        for one, part in zip(self._groups, self.parts):
            own = [b[r] for r in one.rows]
            if not all(_nothing(value) for value in own):
                for c, value in zip(one.columns, part.solve(own)):
                    x[c] = value
        return x

    def transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution y of Kᵀ y = b."""
        y: list[Scalar] = [0.0] * self._n
        for one, part in zip(self._groups, self.parts):
            for r, value in zip(one.rows, part.transposed([b[c] for c in one.columns])):
                y[r] = value
        return y


class BlockPlaces(Protocol):
    """Where one group of rows and columns is in K."""

    @property
    def rows(self) -> Sequence[int]: ...
    @property
    def columns(self) -> Sequence[int]: ...
    @property
    def order(self) -> Pivots: ...
    @property
    def sums(self) -> Sums: ...
    @property
    def pivots(self) -> Sequence[int]: ...


def _nothing(x: Scalar) -> bool:
    """Whether a scalar is zero in all states."""
    return isinstance(x, float | int) and x == 0.0
