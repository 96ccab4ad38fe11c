"""What a search sees: a study's outputs over the unit cube, each point of which is one run that is kept.

Whether the best point is a minimum is judged by the gradient, by what holds it, and by points around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...simulate import NoTangentsError
from ...text.expressions import PLAIN, Dimension, dimension_in_words
from ..minimisers import FAILED, OUTSIDE
from ..sweep import Engine, Probed, Runs, Table, dimension_of_sweep_column, si_unit_of_study_dimension
from .gradients import Derivatives

AROUND = 1e-3  # of the points around the best one, as a share of the range
BETTER = 1e-5  # by which one of them has to be better, as a share of what is minimised
FLAT = 1e-2  # largest derivative over the range at a minimum, likewise
DOWN = 1e-5  # of a step along the gradient that shows whether it is that of a kink
AT_BOUND = 1e-6  # share of the range within which a number is at its bound
ACTIVE = 1e-5  # share of a limit's size within which it is reached


@dataclass(frozen=True)
class Verdict:
    """What is known of the best point; `minimum` is True if nothing speaks against it."""

    minimum: bool
    words: str
    gradient: dict[str, float] | None  # of what is minimised, along each number in SI units; None: not known
    projected: float | None  # what bounds and limits leave of it: over the range, as a share of what is minimised
    held: dict[str, str]  # numbers at their bounds: `lower` or `upper`
    active: list[str]  # limits that are reached
    nearby: float | None  # the least of the points around the best one, less the best, likewise; None: none is allowed


def search_verdict(land: Landscape, best: np.ndarray) -> Verdict:
    """The verdict on a point whose run has sound numbers; its neighbours are evaluated for that."""
    here = land.at(best)
    ends = {0: "lower", 1: "upper"}
    at = [0 if x <= AT_BOUND else 1 if x >= 1 - AT_BOUND else None for x in best.tolist()]
    held = {name: ends[side] for name, side in zip(land.names, at) if side is not None}
    reached = [k for k, room in enumerate(here.rooms) if room <= ACTIVE]
    active = [land.goal.limits[k].words for k in reached]
    around = land.ranks(search_neighbours(best, land.seed))
    allowed = around[around < OUTSIDE]
    nearby = float(allowed.min() - here.rank) if len(allowed) and here.allowed else None
    gradient, rest, why = None, None, ""
    try:
        land.derivatives.at(land.place(best))
    except NoTangentsError as error:
        why = str(error)
    else:
        slope, rooms = land.slopes(best)
        gradient = dict(zip(land.names, (slope * land.size / (land.high - land.low)).tolist()))
        rest = projected_search_slope(slope, rooms[reached], at)  # what bounds and reached limits leave of it
    projected = None if rest is None else float(abs(rest).max())

    def judged(minimum: bool, words: str) -> Verdict:
        return Verdict(minimum, words, gradient, projected, held, active, nearby)

    if not here.allowed:
        missed = [limit.words for limit, room in zip(land.goal.limits, here.rooms) if not room >= -ACTIVE]
        return judged(False, "no point within the limits: " + ", ".join(missed))
    against = []
    if nearby is not None and nearby < -BETTER:
        against.append(f"a point {AROUND:g} of the ranges away is better by {-nearby:.2g} of the value")
    steep = rest is not None and projected is not None and projected > FLAT
    if steep and rest is not None and not against:
        below = land.ranks((best - DOWN * rest / np.hypot.reduce(rest))[None])[0]
        if below >= FAILED:
            return judged(True, "a minimum at an edge: along its gradient runs fail or are refused")
        if below >= here.rank:
            return judged(True, "a minimum at a kink: what is minimised grows along its gradient, too")
    if steep:
        against.append(f"the projected gradient is {projected:.2g} of the value over the ranges")
    if against:
        return judged(False, "not shown to be a minimum: " + "; ".join(against))
    if projected is None:
        return judged(True, f"a minimum as far as the points around it show (no derivatives: {why})")
    return judged(True, "a minimum")


def search_neighbours(best: np.ndarray, seed: int) -> np.ndarray:
    """Points around the best one: to both sides along each number, and as many in other directions."""
    width = len(best)
    along = np.concatenate([np.eye(width), -np.eye(width)])
    if width > 1:
        other = np.random.default_rng(seed).normal(size=(width, width))
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        along = np.concatenate([along, other, -other])
    points: np.ndarray = np.clip(best + AROUND * along, 0.0, 1.0)
    apart = points[(points != best).any(axis=1)]
    return np.asarray(apart)


def projected_search_slope(slope: np.ndarray, rooms: np.ndarray, at: Sequence[int | None]) -> np.ndarray:
    """The part of a gradient that neither bounds nor reached limits hold.

    Its part along the slopes of these is the one with multipliers that aren't negative and leaves the least (Karush,
    Kuhn and Tucker): at a minimum, nothing.
    """
    from scipy.optimize import nnls

    walls = [np.eye(len(slope))[k] * (1.0 if side == 0 else -1.0) for k, side in enumerate(at) if side is not None]
    columns = np.array([*walls, *rooms]).reshape(-1, len(slope)).T
    if not columns.size:
        return slope
    multipliers, _ = nnls(columns, slope)
    return np.asarray(slope - columns @ multipliers)


ALLOWED = 1e-6  # by how much a limit may be missed, as a share of its size


@dataclass(frozen=True)
class Limit:
    """A limit of an output; `sign` is 1 for a largest value that is allowed, and −1 for a smallest one."""

    output: str
    sign: float
    value: float
    words: str


class Goal:
    """A weighted sum of outputs that is to be small, and limits of outputs."""

    def __init__(self, ready: Probed):
        file = ready.study.file
        self._ready = ready
        self.weights = {name: float(weight) for name, weight in (file.minimise or {}).items()}
        (name, weight), *others = (file.minimise or {}).items()
        self.unit = si_unit_of_study_dimension(self._dimension())
        if not others and weight.dimension == PLAIN:
            self.unit = ready.units[name]
        self.limits = [
            Limit(name, sign, float(limit), f"{name} {words} {limit.written}")
            for name, limits in file.subject_to.items()
            for limit, sign, words in ((limits.at_least, -1.0, "at least"), (limits.at_most, 1.0, "at most"))
            if limit is not None
        ]

    @cached_property
    def name(self) -> str:
        """The sum in words."""
        factors = {1.0: "", -1.0: "-"}
        parts = [factors.get(weight, f"{weight:g} ") + name for name, weight in self.weights.items()]
        return " + ".join(parts).replace("+ -", "- ")

    def _dimension(self) -> Dimension:
        """The dimension of all parts of the sum, which is the same."""
        study, units = self._ready.study, self._ready.units
        parts: dict[str, Dimension] = {}
        for name, weight in (study.file.minimise or {}).items():
            a, b = weight.dimension, dimension_of_sweep_column(units[name])
            parts[name] = (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
        (first, dimension), *others = parts.items()
        for name, other in others:
            if other != dimension:
                words = f"`{name}` is {dimension_in_words(other)}, `{first}` {dimension_in_words(dimension)}"
                hint = "a weight may have a unit, such as `2 m/N`"
                raise study.document.error(("minimise", name), words, hint=hint, allowed="parts of one kind")
        return dimension

    def values(self, made: Table) -> np.ndarray:
        """The sum for each run; NaN where a run has no sound numbers, or didn't end as expected."""
        total = sum(weight * np.asarray(made[name]) for name, weight in self.weights.items())
        return np.where(made.as_expected, total, np.nan)

    def rooms(self, made: Table) -> np.ndarray:
        """How far each run is inside of each limit, (runs, limits); negative outside."""
        columns = [one.sign * (one.value - np.asarray(made[one.output])) for one in self.limits]
        return np.column_stack([np.zeros((len(made), 0)), *columns])

    def slopes(self, outputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of the sum, and of the rooms of all limits, from those of the outputs."""
        total = np.array([weight * outputs[name] for name, weight in self.weights.items()]).sum(axis=0)
        rooms = [-one.sign * outputs[one.output] for one in self.limits]
        return total, np.array(rooms).reshape(-1, len(total))


class SpentError(Exception):
    """The search has had all evaluations that it may have."""


class LostError(Exception):
    """A run with sound numbers that has no derivatives, and why; the landscape is high there from then on."""


@dataclass(frozen=True)
class Seen:
    """What is known of a point: what is minimised, how far inside of each limit it is, and whether it is allowed."""

    value: float
    rooms: np.ndarray  # as shares of the limits' sizes
    rank: float

    @property
    def allowed(self) -> bool:
        return self.rank < OUTSIDE


Report = Callable[["Landscape"], None]


class Landscape:
    """The outputs of a study over the unit cube, scaled so that what is minimised is about 1 at the start."""

    def __init__(self, runs: Runs, goal: Goal, engine: Engine, derivatives: Derivatives, most: int, report: Report):
        self._runs, self.goal, self._engine, self.derivatives = runs, goal, engine, derivatives
        self.most, self._report = most, report
        vary = runs.study.file.vary
        self.names, self.width, self.seed = list(vary), len(vary), runs.study.file.seed
        bounds = [one.between for one in vary.values() if one.between is not None]
        self.low, self.high = np.array(bounds, dtype=float).reshape(-1, 2).T
        self.limited = bool(goal.limits)
        self.size, self.sizes = 0.0, np.ones(len(goal.limits))  # of what is minimised, and of the limits
        self.seen: dict[tuple[float, ...], Seen] = {}
        self.points: list[np.ndarray] = []  # in the order in which they were asked for
        self.best: np.ndarray | None = None  # None as long as no run has sound numbers
        self.worst = 0.0  # what is minimised, at the worst point so far
        self.rough: set[tuple[float, ...]] = set()  # points of which it is known that they have no derivatives
        self.heights: dict[tuple[float, ...], float] = {}  # of points that are to be higher than all others
        self.computed = 0

    # ---- points

    def place(self, u: np.ndarray) -> dict[str, float]:
        """The values of the numbers at a point of the cube."""
        x = np.where(u >= 1.0, self.high, self.low + (self.high - self.low) * np.clip(u, 0.0, 1.0))
        return dict(zip(self.names, x.tolist()))

    def _mark(self, u: np.ndarray) -> tuple[float, ...]:
        """What is the same for points with the same values."""
        return tuple(self.place(u).values())

    def start(self) -> np.ndarray:
        """The point at which the study begins."""
        vary = self._runs.study.file.vary.values()
        given = [np.nan if one.start is None else float(one.start) for one in vary]
        u = (np.array(given) - self.low) / (self.high - self.low)
        return np.where(np.isnan(u), 0.5, u)

    def look(self, points: np.ndarray) -> list[Seen]:
        """What is known of many points, after the runs of new ones have been carried out together."""
        points = np.clip(points, 0.0, 1.0)
        marks = [self._mark(u) for u in points]
        new = list({mark: u for mark, u in zip(marks, points) if mark not in self.seen}.values())
        left = self.most - len(self.points)
        if new[:left]:
            self._carry_out(new[:left])
        if len(new) > left:
            raise SpentError
        return [self.seen[mark] for mark in marks]

    def _carry_out(self, points: Sequence[np.ndarray]) -> None:
        runs = self._runs.at([self.place(u) for u in points])
        self.computed += len(runs.missing)
        runs.complete(self._engine)
        self._note(points, runs.table())
        self._report(self)

    def _note(self, points: Sequence[np.ndarray], made: Table) -> None:
        values, rooms = self.goal.values(made), self.goal.rooms(made)
        if not self.size:
            self._measure(values[0], made)
        for u, value, room in zip(points, values.tolist(), rooms / self.sizes):
            missed = float(np.maximum(-room - ALLOWED, 0.0).sum())  # NaN where an output has no value
            rank = FAILED if not np.isfinite(value) or missed != missed else value / self.size
            seen = Seen(value, room, OUTSIDE * (1.0 + missed) if missed > 0 else rank)
            self.seen[self._mark(u)] = seen
            self.points.append(u)
            if np.isfinite(value):
                self.worst = max(self.worst, value / self.size)
            if seen.rank < (FAILED if self.best is None else self.at(self.best).rank):
                self.best = u

    def _measure(self, value: float, made: Table) -> None:
        """Takes sizes from the limits and from the first run."""
        self.size = abs(value) if np.isfinite(value) and value else 1.0
        for k, limit in enumerate(self.goal.limits):
            there = abs(float(np.asarray(made[limit.output])[0]))
            self.sizes[k] = abs(limit.value) or (there if np.isfinite(there) and there else 1.0)

    def is_rough(self, u: np.ndarray) -> bool:
        """Whether a point's run is known to have no derivatives."""
        return self._mark(u) in self.rough

    def at(self, u: np.ndarray) -> Seen:
        """What is known of a point that has been looked at."""
        return self.seen[self._mark(u)]

    def table(self) -> Table:
        """The table of all points that have been looked at, in order."""
        return self._runs.at([self.place(u) for u in self.points]).table()

    # ---- for methods

    def ranks(self, points: np.ndarray) -> np.ndarray:
        """For each point a number by which they are compared: limits first, then what is minimised."""
        return np.array([one.rank for one in self.look(points)])

    def value(self, u: np.ndarray) -> float:
        """What is minimised, whatever the limits; where there is no number, or no derivatives, more than anywhere.

        It isn't far more, for a line search takes lengths from values; and it stays the same, so that a search that
        begins anew takes the same way.
        """
        (one,) = self.look(np.atleast_2d(u))
        if np.isfinite(one.value) and not self.is_rough(u):
            return one.value / self.size
        return self.heights.setdefault(self._mark(u), self.worst + 1.0)

    def rooms(self, u: np.ndarray) -> np.ndarray:
        """How far a point is inside of each limit."""
        (one,) = self.look(np.atleast_2d(u))
        return np.where(np.isfinite(one.rooms), one.rooms, -1.0)

    def slope(self, u: np.ndarray) -> np.ndarray:
        """The derivatives of what is minimised."""
        return self.slopes(u)[0]

    def room_slopes(self, u: np.ndarray) -> np.ndarray:
        """The derivatives of the rooms of all limits, (limits, numbers)."""
        return self.slopes(u)[1]

    def slopes(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both derivatives; 0 where a run has failed, or has none, from which a search can only turn back."""
        u = np.clip(u, 0.0, 1.0)
        (one,) = self.look(u[None])
        if not np.isfinite(one.value) or self.is_rough(u):
            return np.zeros(self.width), np.zeros((len(self.sizes), self.width))
        try:
            outputs = self.derivatives.at(self.place(u))
        except NoTangentsError as error:
            self.rough.add(self._mark(u))
            raise LostError(str(error)) from None
        value, rooms = self.goal.slopes(outputs)
        span = self.high - self.low
        return value * span / self.size, rooms * span / self.sizes[:, None]
