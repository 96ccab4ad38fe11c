"""A mechanism along prescribed motions that leave it no freedom: continuation keeps its positions on one branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..dataclass import dataclass
from ..loops.assembly import close_loops_by_newton
from ..loops.search import closing_position_moved_along_speeds
from .coordinates import complete_state_rates
from .runner import Runner
from .signals import wanted_row_signals
from .singular import Singular, describe_singular_position, singularity_margin
from .system import constraints_of_system

CLOSE = 1e-10  # scaled gap of a closed position
END = 1e-5  # smallest singular value below which the position doesn't follow from the motion any more
FARTHEST = 0.1  # largest correction of a prediction, in radians and lengths of the mechanism
NEARLY = 1e-4  # correction of a prediction below which two iterations are exact
FINEST = 1e-9  # part of the run; shorter steps mean a singular position


@dataclass
class Followed:
    """Rows of a motion, as far as it can be followed."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    singular: Singular | None = None


def follow_prescribed_motion(run: Runner, q0: np.ndarray, grid: np.ndarray, tell: Callable[[float], None]) -> Followed:
    """The motion on the grid, from positions near q0."""
    t, q = float(grid[0]), np.array(q0, dtype=float)
    rows = [_rates(run, t, q)]
    finest = FINEST * (float(grid[-1]) - t)
    for end in map(float, grid[1:]):
        step = end - t
        while t < end:
            step = min(step, end - t)
            q, qd, qdd = rows[-1] if t == float(grid[len(rows) - 1]) else _rates(run, t, q)
            reached = _step(run, t + step if step < end - t else end, q, qd, qdd, step)
            if reached is not None:
                t, q = (t + step if step < end - t else end), reached
                step *= 2
            elif step > finest:
                step /= 4
            else:
                return _rows(rows, describe_singular_position(run.system, run.discrete, t, q))
        rows.append(_rates(run, t, q))
        tell(t)
    return _rows(rows, None)


class Path:
    """A mechanism's motion at instants in any order, continued from the first or the last one, whichever is nearer."""

    def __init__(self, run: Runner, t: float, q: np.ndarray):
        system = run.system
        q, _ = close_loops_by_newton(
            constraints_of_system(system).at(wanted_row_signals(system, t)[0]), _placed(run, t, q), system.prescribed
        )
        self._run, self._first = run, (t, *_rates(run, t, q), None)
        self._last: tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] = self._first

    @property
    def reached(self) -> float:
        """The instant that was reached last."""
        return self._last[0]

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Positions, speeds and accelerations at t, and joint forces where they are known.

        Where the motion can't be followed as far as t, they are those at the last instant that was reached.
        """
        here, q, qd, qdd, tau = min(self._last, self._first, key=lambda row: abs(row[0] - t))
        step = t - here
        finest = FINEST * abs(step)
        while here != t:
            last = abs(step) >= abs(t - here)
            step, there = (t - here, t) if last else (step, here + step)
            reached = self._reached(there, q, qd, qdd, step)
            if reached is not None:
                here, (q, qd, qdd, tau) = there, reached
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
        """The state one step beyond the last one, or None where the motion can't be followed so far."""
        run = self._run
        if not run.unknown:  # the run's equations close loops that are nearly closed, and may be compiled
            guess = _placed(
                run, t, closing_position_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2)
            )
            now = run.evaluate(t, run.start(guess.tolist(), qd.tolist()))
            rows = tuple(np.array(x, dtype=float) for x in (now.q, now.qd, now.qdd, now.tau))
            if abs(rows[0] - guess).max(initial=0.0) < NEARLY * min(
                constraints_of_system(run.system).column_scale.min(), 1.0
            ):
                return (rows[0], rows[1], rows[2], rows[3]) if all(np.isfinite(x).all() for x in rows) else None
        closed = _step(run, t, q, qd, qdd, step)
        return (*_rates(run, t, closed), None) if closed is not None else None


def _rows(rows: Sequence[tuple[np.ndarray, ...]], singular: Singular | None) -> Followed:
    q, qd, qdd = (np.array(part) for part in zip(*rows))
    return Followed(q, qd, qdd, singular)


def _step(run: Runner, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, step: float) -> np.ndarray | None:
    """The closed position at t near the predicted one; None if the step was too long or there is no such position."""
    system, loops = run.system, constraints_of_system(run.system)
    guess = _placed(run, t, closing_position_moved_along_speeds(run.robot, q, qd * step + qdd * step * step / 2))
    closed, gap = close_loops_by_newton(loops.at(wanted_row_signals(system, t)[0]), guess, system.prescribed, near=True)
    scale = loops.column_scale.max()
    if gap > CLOSE or abs(closed - guess).max(initial=0.0) > FARTHEST * max(scale, 1.0):
        return None
    before, after = (singularity_margin(system, run.discrete, x) for x in (q, closed))
    return closed if abs(after) > END and before * after > 0 else None


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
