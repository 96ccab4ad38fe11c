"""A mechanism along prescribed motions that leave it no freedom: continuation keeps its positions on one branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from ..mechanics.assembly import (
    close_loops_by_newton,
    closing_position_moved_along_speeds,
    closing_positions_moved_along_speeds,
)
from ..robot import LENGTH
from .coordinates import complete_state_rates, complete_state_rates_over_time, positions_closed_at_instants
from .runner import Runner
from .singular import Singular, describe_singular_position, singularity_margin, singularity_margins
from .systems.signals import wanted_row_signals

CLOSE = 1e-10  # scaled gap of a closed position
END = 1e-5  # smallest singular value below which the position doesn't follow from the motion any more
MOST_LEAPS = 64  # that are made before what lies between them is closed
NEAR_ENOUGH = 2e-3  # error of the prediction of a leap that is long enough
TOO_FAR = 0.01  # error of that of a leap that is too long, beyond which another branch may be near
FARTHEST_APART = 64  # instants, of which one is reached by a leap
FARTHEST = 0.1  # largest correction of a prediction, in radians and lengths of the mechanism
NEARLY = 1e-4  # correction of a prediction below which two iterations are exact
APART = 8  # instants, of which one is reached from the one before
FINEST = 1e-9  # part of the run; shorter steps mean a singular position
Row = tuple[np.ndarray, np.ndarray, np.ndarray]  # coordinates, speeds, accelerations
Forced = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]  # and forces of joints, where they are known
Made = TypeVar("Made", Row, Forced)


@dataclass
class Followed:
    """Rows of a motion, as far as it can be followed."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    singular: Singular | None = None


def follow_prescribed_motion(run: Runner, q0: np.ndarray, grid: np.ndarray, tell: Callable[[float], None]) -> Followed:
    """The motion on the grid, from positions near q0.

    A few of the instants are reached one after the other, by steps that are as long as predictions allow; those in
    between are closed all together.  Where that fails, each instant is reached by itself.
    """
    rows, stride = [_rates(run, float(grid[0]), np.array(q0, dtype=float))], APART
    while len(rows) < len(grid):
        k = len(rows) - 1
        ends, stride = _leaps(run, grid[k:], rows[-1], stride)
        rows += _between_leaps(run, grid[k:], ends)
        if len(rows) <= k + max(ends):
            stride = 1  # something lies between that no leap has seen
        if len(rows) == k + 1:  # none of them
            t, end = grid[k : k + 2].tolist()
            here, finest = _rates(run, t, rows[-1][0]), FINEST * float(grid[-1] - grid[0])
            t, row = _continued(t, end, here, partial(_next_row, run), finest)
            if t != end:
                return _rows(rows, describe_singular_position(run.system, run.discrete, t, row[0]))
            rows.append(row)
        tell(float(grid[len(rows) - 1]))
    return _rows(rows, None)


def _continued(
    here: float, t: float, row: Made, reached: Callable[[float, Made, float], Made | None], finest: float
) -> tuple[float, Made]:
    """The instant to which steps lead from `here`, which is t or as far as the motion can be followed, and its row.

    `reached` gives the row at an instant from the one a step before, or None; steps are no shorter than the finest.
    """
    step = t - here
    while here != t:
        last = abs(step) >= abs(t - here)
        step, there = (t - here, t) if last else (step, here + step)
        found = reached(there, row, step)
        if found is not None:
            here, row = there, found
            step *= 2
        elif abs(step) > finest:
            step /= 4
        else:
            break
    return here, row


def _leaps(run: Runner, grid: np.ndarray, row: Row, stride: int) -> tuple[dict[int, Row], int]:
    """The rows of some instants, by their places on the grid, as far as some leaps lead; and how many to leap next.

    What lies between is foretold from both ends, so it is off by an eighth of what the leap's own prediction is off.
    """
    at, rows, last = 0, {0: row}, len(grid) - 1
    while at < last and len(rows) <= MOST_LEAPS:
        there = min(at + stride, last)
        q, qd, qdd = rows[at]
        step = float(grid[there] - grid[at])
        closed = _step(run, float(grid[there]), q, qd, qdd, step)
        if closed is None and stride == 1:
            break
        off = np.inf if closed is None else _off(run, closed, q, qd, qdd, step)
        if closed is not None and (off < TOO_FAR or stride == 1):
            at, rows[there] = there, _rates(run, float(grid[there]), closed)
        if off > NEAR_ENOUGH:
            stride = max(stride // 2, 1)
        elif off < NEAR_ENOUGH / 10:
            stride = min(2 * stride, FARTHEST_APART)
    return rows, stride


def _off(run: Runner, closed: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, step: float) -> float:
    """How far the closed position is from where the motion a step before had it, in radians and lengths."""
    guess = closing_position_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2)
    unit = np.ones(run.robot.nq)
    for joint in run.robot.moving:
        sliding = [c for c, kind in zip(joint.coordinates, joint.type.kinds) if kind == LENGTH]
        unit[sliding] = run.system.loops.length
    return float((abs(closed - guess) / unit).max(initial=0.0))


def _between_leaps(run: Runner, grid: np.ndarray, ends: dict[int, Row]) -> list[Row]:
    """The rows behind the first instant, up to the last one that was reached or to the first that isn't closed."""
    places = sorted(ends)
    between = np.array([k for k in range(places[-1]) if k not in ends], dtype=int)
    q, qd, qdd, good = _closed_between(run, grid, places, ends, between)
    rows = dict(ends) | {k: (q[n], qd[n], qdd[n]) for n, k in enumerate(between.tolist()) if good[n]}
    result: list[Row] = []
    while (row := rows.get(len(result) + 1)) is not None:
        result.append(row)
    return result


def _closed_between(
    run: Runner, grid: np.ndarray, places: Sequence[int], ends: dict[int, Row], between: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds and accelerations at instants between leaps, and which of them are closed and not singular."""
    system, t, after = run.system, grid[between], np.searchsorted(places, between)
    said = [(grid[list(side)], np.array([np.concatenate(ends[k]) for k in side])) for side in _sides(places, after)]
    guess, _ = _foretold(run, t, *said) if len(t) else (np.zeros((0, run.robot.nq)), None)
    for motion in system.inputs.prescribed:
        guess[:, list(motion.joint.coordinates)] = np.transpose(motion.at(t)[0])
    loops = system.loops
    with np.errstate(all="ignore"):
        try:
            q, left = positions_closed_at_instants(system, run.discrete, t, guess)
            qd, qdd = complete_state_rates_over_time(system, run.discrete, t, q)
            margins = singularity_margins(system, run.discrete, q)
        except np.linalg.LinAlgError:
            return guess, guess, guess, np.zeros(len(t), dtype=bool)
    turned = np.sign(singularity_margin(system, run.discrete, ends[0][0]))
    near = abs(q - guess).max(axis=1, initial=0.0) <= FARTHEST * max(loops.column_scale.max(), 1.0)
    return q, qd, qdd, (left <= CLOSE) & near & (margins * turned > END)


def _sides(places: Sequence[int], after: np.ndarray) -> tuple[list[int], list[int]]:
    """The leaps' places before and behind."""
    return [places[k - 1] for k in after], [places[k] for k in after]


@dataclass
class Motion:
    """A motion at many instants, a row for each, with the forces of joints where these are known."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


class Path:
    """A mechanism's motion at instants in any order, continued from the first or the last one, whichever is nearer."""

    def __init__(self, run: Runner, t: float, q: np.ndarray):
        system = run.system
        q, _ = close_loops_by_newton(
            system.loops.at(wanted_row_signals(system, t)[0]), _placed(run, t, q), system.prescribed
        )
        self._run, self._first = run, (t, self._at_start(run, t, q))
        self._last = self._first
        self._times, self._rows = np.zeros(0), np.zeros((0, run.robot.nq + 3 * run.robot.nv))

    @staticmethod
    def _at_start(run: Runner, t: float, q: np.ndarray) -> Forced:
        """The motion at the first instant, by the run's equations where these know the forces as well."""
        _, qd, qdd = _rates(run, t, q)
        if run.unknown:
            return q, qd, qdd, None
        now = run.evaluate(t, run.start(q.tolist(), qd.tolist()))
        rows = [np.array(x, dtype=float) for x in (now.q, now.qd, now.qdd, now.tau)]
        if not all(np.isfinite(x).all() for x in rows):
            return q, qd, qdd, None
        return rows[0], rows[1], rows[2], rows[3]

    @property
    def reached(self) -> float:
        """The instant that was reached last."""
        return self._last[0]

    def at(self, t: float) -> Forced:
        """Positions, speeds and accelerations at t, and joint forces where they are known.

        Where the motion can't be followed as far as t, they are those at the last instant that was reached.
        """
        here, row = min(self._last, self._first, key=lambda one: abs(one[0] - t))
        self._last = _continued(here, t, row, self._reached, FINEST * abs(t - here))
        return self._last[1]

    def many(self, times: np.ndarray) -> Motion:
        """The same at many instants; rows are NaN where the motion can't be followed.

        Those between known instants are closed all at once. One of several is reached by itself where these are far.
        """
        nq, nv = self._run.robot.nq, self._run.robot.nv
        t, places = np.unique(times, return_inverse=True)
        rows = self._known(t)
        new = np.flatnonzero(np.isnan(rows[:, 0]))
        rows[new] = self._between_known(t[new])
        far = np.flatnonzero(np.isnan(rows[:, 0]))
        if len(far):
            ends = np.unique([*far[::APART], far[-1]])
            self._know(t[ends], self._each(t[ends]))
            rows[far] = self._between_known(t[far])
        left = np.flatnonzero(np.isnan(rows[:, 0]))
        rows[left] = self._each(t[left])
        forceless = np.flatnonzero(np.isnan(rows).any(axis=1) & ~np.isnan(rows[:, 0]))
        if len(forceless) and not self._run.unknown:
            rows[forceless] = self._closed(t[forceless], rows[forceless, :nq], rows[forceless, nq : nq + nv])
        self._know(t, rows)
        q, qd, qdd, tau = np.split(rows[places.ravel()], [nq, nq + nv, nq + 2 * nv], axis=1)
        return Motion(q, qd, qdd, tau)

    def _known(self, t: np.ndarray) -> np.ndarray:
        """The rows of instants that have been asked for before, which are the same again; NaN for others."""
        rows = np.full((len(t), self._rows.shape[1]), np.nan)
        if len(self._times):
            at = np.minimum(np.searchsorted(self._times, t), len(self._times) - 1)
            same = self._times[at] == t
            rows[same] = self._rows[at[same]]
        return rows

    def _know(self, t: np.ndarray, rows: np.ndarray) -> None:
        """Add the rows of instants to those that are known, or put them in their places."""
        good = ~np.isnan(rows[:, 0])
        self._times, first = np.unique(np.append(t[good], self._times), return_index=True)
        self._rows = np.concatenate([rows[good], self._rows])[first]

    def _between_known(self, t: np.ndarray) -> np.ndarray:
        """The rows of instants, as far as known ones are near on both sides; NaN for others."""
        run, nq, nv = self._run, self._run.robot.nq, self._run.robot.nv
        rows = np.full((len(t), nq + 3 * nv), np.nan)
        after = np.searchsorted(self._times, t)
        within = np.flatnonzero((after < len(self._times)) & ((after > 0) | np.isin(t, self._times[:1])))
        if run.unknown or not len(within):
            return rows
        after, before = after[within], np.maximum(after[within] - 1, 0)
        ends = [(self._times[k], self._rows[k]) for k in (before, after)]
        guess, speeds = _foretold(run, t[within], *ends)
        near = NEARLY * min(run.system.loops.column_scale.min(), 1.0)
        found = self._closed(t[within], guess, speeds)
        good = (abs(found[:, :nq] - guess) < near).all(axis=1)
        again = self._closed(t[within], found[:, :nq], found[:, nq : nq + nv])  # to the last digit
        rows[within[good]] = again[good]
        return rows

    def _closed(self, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Rows of positions, speeds, accelerations and forces by the run's equations, from nearly closed positions."""
        run, system = self._run, self._run.system
        states = np.column_stack([q[:, system.state_coordinates], qd[:, system.state_speeds], np.zeros((len(t), 2))])
        found = run.many(run.signal_rows(t), states, run.discrete)
        return np.concatenate([found[name] for name in ("q", "qd", "qdd", "tau")], axis=1)

    def _each(self, times: np.ndarray) -> np.ndarray:
        """Positions, speeds, accelerations and forces, one instant after the other, as far as these can be reached.

        NaN stands for forces that aren't known, and for rows of instants that aren't reached.
        """
        nq, nv = self._run.robot.nq, self._run.robot.nv
        rows = np.full((len(times), nq + 3 * nv), np.nan)
        for row, t in zip(rows, times.tolist()):
            *motion, tau = self.at(t)
            if self.reached != t:
                break
            row[: nq + 2 * nv] = np.concatenate(motion)
            if tau is not None:
                row[nq + 2 * nv :] = tau
        return rows

    def _reached(self, t: float, row: Forced, step: float) -> Forced | None:
        """The state one step beyond the last one, or None where the motion can't be followed so far."""
        run, (q, qd, qdd, _) = self._run, row
        if not run.unknown:  # the run's equations close loops that are nearly closed, and may be compiled
            guess = _placed(
                run, t, closing_position_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2)
            )
            now = run.evaluate(t, run.start(guess.tolist(), qd.tolist()))
            rows = tuple(np.array(x, dtype=float) for x in (now.q, now.qd, now.qdd, now.tau))
            if abs(rows[0] - guess).max(initial=0.0) < NEARLY * min(run.system.loops.column_scale.min(), 1.0):
                return (rows[0], rows[1], rows[2], rows[3]) if all(np.isfinite(x).all() for x in rows) else None
        found = _next_row(run, t, (q, qd, qdd), step)
        return (*found, None) if found is not None else None


def _foretold(run: Runner, t: np.ndarray, *ends: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds at instants between two others each, from what the motion there says of those nearby."""
    nq, nv, said = run.robot.nq, run.robot.nv, []
    for at, rows in ends:
        step = (t - at)[:, None]
        q, qd, qdd = rows[:, :nq], rows[:, nq : nq + nv], rows[:, nq + nv : nq + 2 * nv]
        moved = closing_positions_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2)
        said.append((moved, qd + qdd * step))
    (q0, v0), (q1, v1) = said
    begin, length = ends[0][0], ends[1][0] - ends[0][0]
    x = ((t - begin) / np.where(length > 0.0, length, 1.0))[:, None]
    blend = x * x * x * (10 - 15 * x + 6 * x * x)
    return q0 + blend * (q1 - q0), v0 + blend * (v1 - v0)


def _rows(rows: Sequence[tuple[np.ndarray, ...]], singular: Singular | None) -> Followed:
    q, qd, qdd = (np.array(part) for part in zip(*rows))
    return Followed(q, qd, qdd, singular)


def _step(run: Runner, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, step: float) -> np.ndarray | None:
    """The closed position at t near the predicted one; None if the step was too long or there is no such position."""
    system, loops = run.system, run.system.loops
    guess = _placed(run, t, closing_position_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2))
    closed, gap = close_loops_by_newton(loops.at(wanted_row_signals(system, t)[0]), guess, system.prescribed, near=True)
    scale = loops.column_scale.max()
    if gap > CLOSE or abs(closed - guess).max(initial=0.0) > FARTHEST * max(scale, 1.0):
        return None
    before, after = (singularity_margin(system, run.discrete, x) for x in (q, closed))
    return closed if abs(after) > END and before * after > 0 else None


def _next_row(run: Runner, t: float, row: Row, step: float) -> Row | None:
    """The row at t, from the one a step before; None likewise."""
    closed = _step(run, t, *row, step)
    return None if closed is None else _rates(run, t, closed)


def _placed(run: Runner, t: float, q: np.ndarray) -> np.ndarray:
    """The coordinates q with the prescribed joints in their places at t."""
    q = q.copy()
    for motion in run.system.inputs.prescribed:
        for k, x in zip(motion.joint.coordinates, motion.at(t)[0]):
            q[k] = x
    return q


def _rates(run: Runner, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The coordinates q with their speeds and accelerations at t."""
    qd, qdd = np.zeros(run.robot.nv), np.zeros(run.robot.nv)
    for motion in run.system.inputs.prescribed:
        _, rates, seconds = motion.at(t)
        for k, v, a in zip(motion.joint.speeds, rates, seconds):
            qd[k], qdd[k] = v, a
    return q, *complete_state_rates(run.system, run.discrete, t, q, qd, qdd)
