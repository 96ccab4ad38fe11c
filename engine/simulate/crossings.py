"""The first events in the steps of many runs, by the rules of their watches, as `events.py` finds one run's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..machine.jit.march_watch import SAMPLES

PARABOLAS = 6  # that lead to a dip, at most
ROUNDS = 200  # of the search for a zero, which halves its bracket at least in every second one

# (steps, instants, states) → the quantities behind the state, (steps, quantities)
Quantities = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Steps:
    """A step of each of many runs: its ends, its stages for dense output, and the rules of its watches."""

    t_old: np.ndarray
    t: np.ndarray
    y_old: np.ndarray
    y: np.ndarray
    stages: np.ndarray  # (steps, stages, components)
    P: np.ndarray
    places: np.ndarray  # what each watch reads: a component of the state, or a quantity behind these
    rules: np.ndarray  # (steps, watches, numbers)
    quantities: Quantities

    def between(self, these: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The states of these steps at instants within them."""
        return self._dense(these, t, self.y_old[these], self.y[these], self.stages[these])

    def values(self, these: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The values of all watches of these steps."""
        rules = self.rules[these]
        x = self._quantities(these, t, bool((rules[:, self.places >= self.y.shape[1], 0] != 0.0).any()))
        return _ruled(rules, x[:, self.places])

    def value(self, these: np.ndarray, watches: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The values of one watch of each of these steps."""
        places, x = self.places[watches], np.empty(len(these))
        inner = places >= self.y.shape[1]
        deep, flat = np.flatnonzero(inner), np.flatnonzero(~inner)
        x[deep] = self._quantities(these[deep], t[deep], bool(len(deep)))[np.arange(len(deep)), places[deep]]
        one, c = these[flat], places[flat]
        x[flat] = self._dense(
            one, t[flat], self.y_old[one, c][:, None], self.y[one, c][:, None], self.stages[one, :, c][:, :, None]
        )[:, 0]
        return _ruled(self.rules[these, watches], x)

    def _dense(
        self, these: np.ndarray, t: np.ndarray, before: np.ndarray, after: np.ndarray, stages: np.ndarray
    ) -> np.ndarray:
        """Components of these steps at instants within them, from their values at both ends and their stages."""
        h = self.t[these] - self.t_old[these]
        x, share = (t - self.t_old[these]) / h, np.zeros(before.shape)
        for j, row in enumerate(self.P.tolist()):  # not as a product of matrices, whose rounding depends on their sizes
            weight = np.zeros_like(x)
            for factor in reversed(row):
                weight = (weight + factor) * x
            share += weight[:, None] * stages[:, j]
        return np.where((t == self.t[these])[:, None], after, before + h[:, None] * share)

    def _quantities(self, these: np.ndarray, t: np.ndarray, deep: bool) -> np.ndarray:
        """The states of these steps and, if wanted, the quantities behind them; else zeros."""
        states = self.between(these, t)
        if deep:
            return np.concatenate([states, self.quantities(these, t, states)], axis=1)
        return np.concatenate([states, np.zeros((len(states), self.places.max(initial=0) + 1))], axis=1)


def _ruled(rules: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The rules' functions, `events.Rule`, of these quantities."""
    factor, zero, slack, share, floor = np.moveaxis(rules, -1, 0)
    return np.asarray(factor * (x - zero) + slack + share * np.maximum(abs(x), floor))


def first_event_crossings(steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """The instants of the first events and the watches that have them; NaN and −1 where a step has none."""
    count = len(steps.t)
    instants, watches = np.full(count, np.nan), np.full(count, -1)
    open_, everyone = np.ones(count, dtype=bool), np.arange(count)
    t = steps.t_old[:, None] + (steps.t - steps.t_old)[:, None] * np.arange(SAMPLES + 1) / SAMPLES
    t[:, -1] = steps.t
    g = np.stack([steps.values(everyone, t[:, k]) for k in range(SAMPLES + 1)], axis=-1)  # (steps, watches, samples)
    for k in range(SAMPLES):
        these, which = np.nonzero(open_[:, None] & (g[..., k] > 0) & ~(g[..., k + 1] > 0))
        above, below = (t[these, k], g[these, which, k]), (t[these, k + 1], g[these, which, k + 1])
        if k:
            bent, ones = np.nonzero(open_[:, None] & (g[..., k - 1 : k + 2] > 0).all(axis=-1))
            near = slice(k - 1, k + 2)
            dips = _dips(steps, bent, ones, t[bent, near], g[bent, ones, near])
            these, which = np.append(these, bent[dips.places]), np.append(which, ones[dips.places])
            above = np.append(above[0], dips.above[0]), np.append(above[1], dips.above[1])
            below = np.append(below[0], dips.below[0]), np.append(below[1], dips.below[1])
        at = _located(steps, these, which, *above, *below)
        order = np.lexsort((which, at, these))
        firsts = order[np.unique(these[order], return_index=True)[1]]
        instants[these[firsts]], watches[these[firsts]] = at[firsts], which[firsts]
        open_[these] = False
    return instants, watches


class Dips(NamedTuple):
    """Watches that have a dip below zero between three samples; instants and values just above it, and within."""

    places: np.ndarray
    above: tuple[np.ndarray, np.ndarray]
    below: tuple[np.ndarray, np.ndarray]


def _dips(steps: Steps, these: np.ndarray, watches: np.ndarray, t: np.ndarray, g: np.ndarray) -> Dips:
    """The dips to which parabolas through three positive values lead, as `events.py` looks for one."""
    samples, values, lowest = t, g, g.min(axis=1, initial=np.inf)
    t, g, open_ = t.copy(), g.copy(), np.arange(len(these))
    found, instants, depths = np.zeros(len(these), dtype=bool), np.zeros(len(these)), np.zeros(len(these))
    for _ in range(PARABOLAS):
        (ta, tb, tc), (ga, gb, gc) = t[open_].T, g[open_].T
        slope = (gb - ga) / (tb - ta)
        bend = ((gc - gb) / (tc - tb) - slope) / (tc - ta)
        place = (ta + tb - slope / bend) / 2  # the parabola's lowest point
        promising = np.maximum(lowest[open_] / 2, 0.2 * (g[open_].max(axis=1, initial=0.0) - lowest[open_]))
        deep = ga + (slope + bend * (place - tb)) * (place - ta) < promising
        going = (bend > 0) & (ta < place) & (place < tc) & (place != tb) & deep
        open_, place = open_[going], place[going]
        if not len(open_):
            break
        value = steps.value(these[open_], watches[open_], place)
        under = ~(value > 0)
        found[open_[under]], instants[open_[under]], depths[open_[under]] = True, place[under], value[under]
        lower = ~under & (value < lowest[open_])
        open_, place, value = open_[lower], place[lower], value[lower]
        lowest[open_] = value
        left = (place < t[open_, 1])[:, None]
        for row, new in ((t, place), (g, value)):
            a, b, c = row[open_].T
            row[open_] = np.where(left, np.stack([a, new, b], axis=1), np.stack([b, new, c], axis=1))
    places = np.flatnonzero(found)
    before = (samples[places] < instants[places, None]).sum(axis=1) - 1
    above = samples[places, before], values[places, before]
    return Dips(places, above, (instants[places], depths[places]))


def _located(
    steps: Steps, these: np.ndarray, watches: np.ndarray, a: np.ndarray, fa: np.ndarray, b: np.ndarray, fb: np.ndarray
) -> np.ndarray:
    """The instants just behind the falls of these watches from positive to not positive between a and b.

    Regula falsi with the weights of the Illinois rule, and halves where that doesn't shrink the bracket.
    """
    a, fa, b, fb = a.copy(), fa.copy(), b.copy(), fb.copy()
    kept, halve = np.zeros(len(a)), np.zeros(len(a), dtype=bool)
    for _ in range(ROUNDS):
        tolerance = 2 * np.spacing(np.maximum(abs(a), abs(b)))
        going = np.flatnonzero(b - a > tolerance)
        if not len(going):
            break
        low, high, width = a[going], b[going], b[going] - a[going]
        with np.errstate(all="ignore"):
            x = low + width * (fa[going] / (fa[going] - fb[going]))
        x = np.where(halve[going] | ~np.isfinite(x), low + width / 2, x)
        x = np.clip(x, low + tolerance[going] / 2, high - tolerance[going] / 2)
        x = np.where((low < x) & (x < high), x, low + width / 2)
        f = steps.value(these[going], watches[going], x)
        up = f > 0
        side = np.where(up, 1.0, -1.0)
        again = kept[going] == side  # the other end stays for the second time
        fb[going] = np.where(up, np.where(again, fb[going] / 2, fb[going]), f)
        fa[going] = np.where(up, f, np.where(again, fa[going] / 2, fa[going]))
        a[going], b[going], kept[going] = np.where(up, x, low), np.where(up, high, x), side
        halve[going] = b[going] - a[going] > width / 2
    return b
