"""The first events in the steps of many runs, by the rules of their watches, as `events.py` finds one run's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..machine.loops.dense import PARTS, crossing, dip

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

    @cached_property
    def h(self) -> np.ndarray:
        """The lengths of the steps."""
        return np.asarray(self.t - self.t_old)

    @cached_property
    def curves(self) -> list[np.ndarray]:
        """What is added to a step's first state, in ascending powers of the place within the step."""
        stages, total, part = np.ascontiguousarray(self.stages.transpose(1, 0, 2)), [], np.empty_like(self.y)
        for power in self.P.T.tolist():  # not as a product of matrices, whose rounding depends on their sizes
            curve = np.zeros_like(self.y)
            for weight, stage in zip(power, stages):
                if weight:
                    curve += np.multiply(stage, weight, out=part)
            total.append(curve * self.h[:, None])
        return total

    def between(self, these: np.ndarray | slice, t: np.ndarray) -> np.ndarray:
        """The states of these steps at instants within them."""
        before, last = self.y_old[these], self.t[these]
        x, state = ((t - self.t_old[these]) / self.h[these])[:, None], np.zeros_like(before)
        for curve in reversed(self.curves):
            state += curve[these]
            state *= x
        state += before
        ends = np.flatnonzero(t == last)
        state[ends] = self.y[these][ends]
        return state

    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Instants within the steps, (instants, steps), and the values of all watches there: (…, watches)."""
        inner = self.places >= self.y.shape[1]
        outer, factors = self.places[~inner], self.rules[:, inner, 0]
        deep = np.flatnonzero((factors != 0.0).any(axis=1))
        t = self.t_old + self.h * np.arange(PARTS + 1)[:, None] / PARTS
        t[-1] = self.t
        numbers = np.ascontiguousarray(np.moveaxis(self.rules, -1, 0))
        g, x = np.empty((PARTS + 1, *self.rules.shape[:2])), np.zeros(self.rules.shape[:2])
        for k in range(PARTS + 1):
            y = self.y_old if k == 0 else self.y if k == PARTS else self.between(slice(None), t[k])
            x[:, ~inner] = y[:, outer]
            if len(deep):
                x[np.ix_(deep, inner)] = self.behind(deep, t[k, deep], y[deep])[:, self.places[inner] - y.shape[1]]
            g[k] = _ruled(numbers, x)
        return t, g

    def behind(self, these: np.ndarray, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The quantities behind these states."""
        return self.quantities(these, t, y)


class Functions:
    """The functions of watches, one of each of these steps, which may be named several times."""

    def __init__(self, steps: Steps, these: np.ndarray, watches: np.ndarray):
        self.steps, self.these, places = steps, these, steps.places[watches]
        self.deep = places >= steps.y.shape[1]
        self.places = np.where(self.deep, places - steps.y.shape[1], places)
        component = np.where(self.deep, 0, places)
        self.rules = np.ascontiguousarray(steps.rules[these, watches].T)
        self.curves = np.array([curve[these, component] for curve in reversed(steps.curves)])
        self.ends = np.array([x[these, component] for x in (steps.y_old, steps.y)])
        self.t = np.array([x[these] for x in (steps.t_old, steps.t, steps.h)])

    def where(self, t: np.ndarray, going: np.ndarray) -> np.ndarray:
        """The values of those that are `going`, and no numbers elsewhere."""
        found, some = np.full(len(t), np.nan), np.flatnonzero(going)
        found[some] = self(some, t[some])
        return found

    def __call__(self, some: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The values of some of them at instants within their steps."""
        (begin, end, h), (first, last) = self.t[:, some], self.ends[:, some]
        place, x = (t - begin) / h, np.zeros(len(some))
        for curve in self.curves[:, some]:
            x = (x + curve) * place
        x = np.where(t == end, last, first + x)
        deep = np.flatnonzero(self.deep[some])
        if len(deep):
            one, steps = some[deep], self.steps
            these, instants = self.these[one], t[deep]
            found = steps.behind(these, instants, steps.between(these, instants))
            x[deep] = found[np.arange(len(deep)), self.places[one]]
        return _ruled(self.rules[:, some], x)


def _ruled(rules: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The rules' functions, `events.Rule`, of these quantities; rules have their numbers in the first axis."""
    factor, zero, slack, share, floor = rules
    return np.asarray(factor * (x - zero) + slack + share * np.maximum(abs(x), floor))


def first_event_crossings(steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """The instants of the first events and the watches that have them; NaN and −1 where a step has none."""
    count = len(steps.t)
    instants, watches = np.full(count, np.nan), np.full(count, -1)
    t, g = steps.samples()
    positive = np.asarray(g > 0)
    falls = np.asarray(positive[:-1] & ~positive[1:])
    parts = _first(np.any(falls, axis=2))
    middle, bent, ones = _bent(g, positive, parts)
    near = middle[:, None] + np.arange(-1, 2)
    dips = _dips(Functions(steps, bent, ones), t[near, bent[:, None]], g[near, bent[:, None], ones[:, None]])
    np.minimum.at(parts, bent[dips.places], middle[dips.places])

    part, these, which = np.nonzero(falls & (parts == np.arange(PARTS)[:, None])[:, :, None])
    above, below = (t[part, these], g[part, these, which]), (t[part + 1, these], g[part + 1, these, which])
    first = np.flatnonzero(middle[dips.places] == parts[bent[dips.places]])
    dipped = dips.places[first]
    these, which = np.append(these, bent[dipped]), np.append(which, ones[dipped])
    above, below = (
        (np.append(one[0], other[0][first]), np.append(one[1], other[1][first]))
        for one, other in ((above, dips.above), (below, dips.below))
    )
    everywhere, exactly = np.ones(len(these), dtype=bool), np.zeros(len(these))
    at = crossing(Functions(steps, these, which).where, *above, *below, everywhere, exactly)
    order = np.lexsort((which, at, these))
    firsts = order[np.unique(these[order], return_index=True)[1]]
    instants[these[firsts]], watches[these[firsts]] = at[firsts], which[firsts]
    return instants, watches


def _first(found: np.ndarray) -> np.ndarray:
    """The first row in which something is found, for each column; behind the last one where there is nothing."""
    return np.asarray(np.where(found.any(axis=0), found.argmax(axis=0), len(found)))


def _bent(g: np.ndarray, positive: np.ndarray, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The middles, steps and watches of three positive values that may bend towards a dip, before any fall.

    The lowest point of a parabola through them lies between the outer ones, with a margin for rounding.
    """
    a, b, c = g[:-2], g[1:-1], g[2:]
    bend = a - b + (c - b)
    low = (bend > 0) & (abs(c - a) <= 2.001 * bend) & positive[:-2] & positive[1:-1] & positive[2:]
    middle, bent, ones = np.nonzero(low & (np.arange(1, PARTS)[:, None] <= parts)[:, :, None])
    return middle + 1, bent, ones


class Dips(NamedTuple):
    """Watches that have a dip below zero between three samples; instants and values just above it, and within."""

    places: np.ndarray
    above: tuple[np.ndarray, np.ndarray]
    below: tuple[np.ndarray, np.ndarray]


def _dips(functions: Functions, t: np.ndarray, g: np.ndarray) -> Dips:
    """The dips to which parabolas through three positive values lead, as `events.py` looks for one."""
    (ta, tb, tc), (ga, gb, gc) = t.T.copy(), g.T.copy()
    under, at, depth = dip(functions.where, ta, ga, tb, gb, tc, gc, np.ones(len(t), dtype=bool))
    places = np.flatnonzero(under)
    before = (t[places] < at[places, None]).sum(axis=1) - 1
    above = t[places, before], g[places, before]
    return Dips(places, above, (at[places], depth[places]))
