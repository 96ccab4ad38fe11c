"""A mechanism along motions that leave it no freedom: positions by continuation, so that the branch never flips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..loops.assembly import moved, newton
from .coordinates import completed
from .runner import Runner
from .signals import wanted
from .singular import Singular, described, margin
from .system import constraints_of

CLOSE = 1e-10  # scaled gap of a closed position
END = 1e-5  # smallest singular value: here the position does not follow from the motion any more
FARTHEST = 0.1  # correction of a prediction, in radians and lengths of the mechanism
NEARLY = 1e-4  # correction of a prediction after which two iterations are exact
FINEST = 1e-9  # part of the run: a shorter step is a singular position


@dataclass
class Followed:
    """Rows up to where the motion can be followed."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    singular: Singular | None = None


def follow(run: Runner, q0: np.ndarray, grid: np.ndarray, tell: Callable[[float], None]) -> Followed:
    """Positions, speeds and accelerations on the grid."""
    t, q = float(grid[0]), np.array(q0, dtype=float)
    rows = [_rates(run, t, q)]
    finest = FINEST * (float(grid[-1]) - t)
    for end in map(float, grid[1:]):
        step = end - t
        while t < end:
            step = min(step, end - t)
            q, qd, qdd = rows[-1] if t == float(grid[len(rows) - 1]) else _rates(run, t, q)
            found = _step(run, t + step if step < end - t else end, q, qd, qdd, step)
            if found is not None:
                t, q = (t + step if step < end - t else end), found
                step *= 2
            elif step > finest:
                step /= 4
            else:
                return _rows(rows, described(run.system, run.discrete, t, q))
        rows.append(_rates(run, t, q))
        tell(t)
    return _rows(rows, None)


class Path:
    """Where the motions lead, at instants in any order: from the nearer of the first instant and the last one asked."""

    def __init__(self, run: Runner, t: float, q: np.ndarray):
        system = run.system
        q, _ = newton(constraints_of(system).at(wanted(system, t)[0]), _placed(run, t, q), system.prescribed)
        self._run, self._first = run, (t, *_rates(run, t, q), None)
        self._last: tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] = self._first

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Positions, speeds, accelerations at t, and the forces of the joints that are led where they are known.

        Where the motion can't be followed as far, those before it.
        """
        here, q, qd, qdd, tau = min(self._last, self._first, key=lambda row: abs(row[0] - t))
        step = t - here
        finest = FINEST * abs(step)
        while here != t:
            last = abs(step) >= abs(t - here)
            step, there = (t - here, t) if last else (step, here + step)
            found = self._reached(there, q, qd, qdd, step)
            if found is not None:
                here, (q, qd, qdd, tau) = there, found
                step *= 2
            elif abs(step) > finest:
                step /= 4
            else:
                break
        self._last = here, q, qd, qdd, tau
        return q, qd, qdd, tau

    def _reached(
        self, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, step: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] | None:
        run = self._run
        if not run.unknown:  # its equations close the loops where they are nearly closed, and may be compiled
            guess = _placed(run, t, moved(run.robot, q, qd * step + qdd * step * step / 2))
            now = run.evaluate(t, run.start(guess.tolist(), qd.tolist()))
            rows = tuple(np.array(x, dtype=float) for x in (now.q, now.qd, now.qdd, now.tau))
            if abs(rows[0] - guess).max(initial=0.0) < NEARLY * min(constraints_of(run.system).column_scale.min(), 1.0):
                return (rows[0], rows[1], rows[2], rows[3]) if all(np.isfinite(x).all() for x in rows) else None
        found = _step(run, t, q, qd, qdd, step)
        return (*_rates(run, t, found), None) if found is not None else None


def _rows(rows: Sequence[tuple[np.ndarray, ...]], singular: Singular | None) -> Followed:
    q, qd, qdd = (np.array(part) for part in zip(*rows))
    return Followed(q, qd, qdd, singular)


def _step(run: Runner, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, step: float) -> np.ndarray | None:
    """The closed position at t near the one that is predicted; None if the step was too long, or there is none."""
    system, loops = run.system, constraints_of(run.system)
    guess = _placed(run, t, moved(run.robot, q, qd * step + qdd * step * step / 2))
    found, left = newton(loops.at(wanted(system, t)[0]), guess, system.prescribed, near=True)
    scale = loops.column_scale.max()
    if left > CLOSE or abs(found - guess).max(initial=0.0) > FARTHEST * max(scale, 1.0):
        return None
    before, after = (margin(system, run.discrete, x) for x in (q, found))
    return found if abs(after) > END and before * after > 0 else None


def _placed(run: Runner, t: float, q: np.ndarray) -> np.ndarray:
    """Q with the prescribed joints where they are at t."""
    q = q.copy()
    for motion in run.system.inputs.prescribed:
        for k, x in zip(motion.joint.coordinates, motion.at(t)[0]):
            q[k] = x
    return q


def _rates(run: Runner, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, its speeds and accelerations at t."""
    qd, qdd = np.zeros(run.robot.nv), np.zeros(run.robot.nv)
    for motion in run.system.inputs.prescribed:
        _, rates, seconds = motion.at(t)
        for k, v, a in zip(motion.joint.speeds, rates, seconds):
            qd[k], qdd[k] = v, a
    return q, *completed(run.system, run.discrete, t, q, qd, qdd)
