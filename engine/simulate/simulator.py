"""A robot, or many alike, that moves step by step under forces which its user gives: for controllers and learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, NumericalError, given_in_words
from ..mechanics.assembly import assemble
from ..mechanics.quantities import doubles_of_argument
from ..robot import Robot
from . import coordinates
from .one_step import (
    Stepping,
    simulator_force_columns,
    simulator_pivot_limits,
    simulator_start_coordinates,
    simulator_system,
)

MOST = 10**9  # robots, and parts of a step
LARGE = 1e60  # speeds


class Simulator:
    """A robot that moves by `step(dt, tau)`, with its state in `q` and `qd`; with `count`, that many robots alike.

    `tau` has a number for each of `forces`, the columns of the actuated joints and of the robot's `actuators`; they are
    held through the step and limited to the actuators' efforts. A step is one of Runge and Kutta's classical method, or
    `substeps` of them.
    """

    def __init__(self, robot: Robot, count: int | None = None, *, substeps: int = 1, friction_rate: float = 0.01):
        if not isinstance(robot, Robot):
            raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
        for name, value in (("count", count), ("substeps", substeps)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST):
                raise InputError(f"`{name}` must be a whole number from 1 on", key=name, found=given_in_words(value))
        if not isinstance(friction_rate, int | float) or friction_rate is True or not 0 < friction_rate < LARGE:
            result = given_in_words(friction_rate)
            raise InputError("a rate is a positive number", key="friction_rate", found=result, allowed="rad/s or m/s")
        self.robot, self.count, self.substeps = robot, count, substeps
        self._system = simulator_system(robot, float(friction_rate))
        self.forces = simulator_force_columns(robot)
        self._many = count is not None
        self._steppings: dict[str, Stepping] = {}
        self._nq, rows = robot.nq, count or 1
        self._own = np.empty(rows, dtype=object)  # each robot's step
        self._y = np.zeros((rows, robot.nq + robot.nv))
        self._rest = np.zeros((rows, self._system.pivots))
        self._length = (np.nan, np.zeros(1))  # the last step's length, and its array
        self._lengths = np.zeros((1, 1))  # the same for many
        self.t = 0.0
        self.reset()

    # ---- the state

    @property
    def q(self) -> np.ndarray:
        """The coordinates of all joints; of many robots, a row for each."""
        return self._y[..., : self._nq]

    @property
    def qd(self) -> np.ndarray:
        """The speeds of all joints."""
        return self._y[..., self._nq :]

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds, for reading; they stay as they are when the robot moves on."""
        return self._y[..., : self._nq], self._y[..., self._nq :]

    def reset(self, q: Any = None, qd: Any = None, which: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Put the robot at q with speeds qd, by default its initial position at rest, and close its loops.

        Of many robots, `which` are those that are put there, as indices or as a mask; q and qd hold for all of them, or
        have a row for each.
        """
        robot = self.robot
        if which is None:
            self.t = 0.0
        all_of_them = np.arange(len(self._own))
        try:
            rows = np.atleast_1d(all_of_them if which is None or not self._many else all_of_them[which])
            if rows.ndim != 1:
                raise IndexError
        except (IndexError, TypeError, ValueError):
            raise InputError(
                "`which` has to say which robots",
                key="which",
                found=type(which).__name__,
                allowed=f"indices below {len(all_of_them)}, or a mask of {len(all_of_them)}",
            ) from None
        places = self._given("q", robot.q0 if q is None else q, robot.nq, len(rows))
        speeds = self._given("qd", np.zeros(robot.nv) if qd is None else qd, robot.nv, len(rows))
        y, rest = np.atleast_2d(self._y).copy(), np.atleast_2d(self._rest).copy()
        started: dict[bytes, tuple[np.ndarray, Stepping, list[float]]] = {}
        changed = False
        for row, state in zip(rows, np.hstack([places, speeds])):
            key = state.tobytes()
            if key not in started:
                started[key] = self._started(state)
            y[row], stepping, rest[row] = started[key]
            changed |= self._own[row] is not stepping
            self._own[row] = stepping
        self._y, self._rest = (y, rest) if self._many else (y[0], rest[0])
        self._y.setflags(write=False)  # views of it are given away, and it is what the next step starts from
        if changed:
            self._sort()
        return self.state

    def _given(self, name: str, values: Any, width: int, count: int) -> np.ndarray:
        """Rows of numbers from one row for all or one for each."""
        array = doubles_of_argument(name, values)
        try:
            if array.shape[-1:] != (width,) and (array.ndim or width != 1):
                raise ValueError
            rows = np.broadcast_to(array, (count, width)).copy()
        except ValueError:
            raise InputError(
                f"`{name}` doesn't fit the robot", key=name, found=str(array.shape), allowed=f"({width},)"
            ) from None
        if not np.isfinite(rows).all():
            raise InputError(f"`{name}` has a number that isn't finite", key=name)
        return rows

    def _started(self, state: np.ndarray) -> tuple[np.ndarray, Stepping, list[float]]:
        """The state with loops closed, with the step and its signals in the independent coordinates there."""
        system, nq = self._system, self._nq
        if not system.loops.m:
            return system.unit(state), *self._stepping(state, anywhere=False)
        state = np.concatenate([assemble(self.robot, state[:nq]), state[nq:]])
        stepping, rest = self._stepping(state, anywhere=False)
        whole = np.concatenate([state, [0.0, 0.0]])
        return coordinates.settled_state(system, stepping.discrete, 0.0, whole)[:-2], stepping, rest

    def _stepping(self, state: np.ndarray, *, anywhere: bool) -> tuple[Stepping, list[float]]:
        """The step in the independent coordinates of this position, and its signals behind the forces."""
        discrete = simulator_start_coordinates(self._system, state[: self._nq], anywhere=anywhere)
        made = self._steppings.setdefault(repr(discrete.program), Stepping(self._system, discrete))
        return made, simulator_pivot_limits(discrete)

    def _sort(self) -> None:
        """The robots by the steps that they take."""
        kinds = list({id(one): one for one in self._own}.values())
        self._guarded = kinds[0].guarded
        self._code = None if self._many else kinds[0].single
        self._groups = [(one, np.flatnonzero([own is one for own in self._own])) for one in kinds]

    # ---- steps

    def step(self, dt: float, tau: Any = ()) -> tuple[np.ndarray, np.ndarray]:
        """Move on by dt under the forces tau, and return the new state."""
        try:
            if self.substeps > 1:
                dt = dt / self.substeps
            if self._length[0] != dt:
                if not 0 < dt < np.inf:
                    raise ValueError
                self._length = (float(dt), np.array([float(dt)]))
        except (ArithmeticError, TypeError, ValueError):
            result = given_in_words(dt)
            raise InputError("a step has a positive length", key="dt", found=result, allowed="seconds") from None
        dt = self._length[0]
        for _ in range(self.substeps):
            if self._many:
                self._y = self._step_many(tau, dt)
            else:
                code = self._code
                made = code.quick(self._y, tau, self._rest, self._length[1]) if code is not None else None
                if made is None and code is not None:
                    made = code.quick(self._y, self._forces(tau)[0], self._rest, self._length[1])
                if made is None:
                    made = self._step_plain(tau, dt)
                elif self._guarded:
                    made = made[:-1] if made[-1] > 0 else self._elsewhere(self._y, self._forces(tau)[0], dt, 0)
                self._y = made
            self._y.setflags(write=False)
            self.t += dt
        return self._y[..., : self._nq], self._y[..., self._nq :]

    def _forces(self, tau: Any) -> np.ndarray:
        """The forces as rows, checked."""
        return self._given("tau", tau, len(self.forces), self.count or 1)

    def _step_plain(self, tau: Any, dt: float) -> np.ndarray:
        """One robot's step by the plain text."""
        forces = self._forces(tau)[0]
        stepping: Stepping = self._own[0]
        made = stepping.plain(self._y, forces, self._rest, dt)
        if not np.isfinite(made).all() or (stepping.guarded and not made[-1] > 0):
            return self._elsewhere(self._y, forces, dt, 0)
        return made[: len(self._y)]

    def _step_many(self, tau: Any, dt: float) -> np.ndarray:
        """The step of all robots, in groups with the same independent coordinates."""
        count, width = self._y.shape
        fits = type(tau) is np.ndarray and tau.dtype == float and tau.shape == (count, len(self.forces))
        forces = np.ascontiguousarray(tau) if fits else self._forces(tau)
        if len(self._groups) == 1:
            made = self._group(self._groups[0][0], self._y, forces, self._rest, dt)
        else:
            made = np.empty((count, width + 1))
            for one, rows in self._groups:
                made[rows] = self._group(one, self._y[rows], forces[rows], self._rest[rows], dt)
        if made.shape[1] == width:
            lost = None if np.isfinite(made.sum()) else ~np.isfinite(made).all(axis=1)
        else:
            lost = None if made[:, -1].min() > 0 else ~(made[:, -1] > 0)
            made = np.ascontiguousarray(made[:, :width])
        if lost is not None and lost.any():
            for row in np.flatnonzero(lost):
                made[row] = self._elsewhere(self._y[row], forces[row], dt, int(row))
        return made

    def _group(self, one: Stepping, y: np.ndarray, forces: np.ndarray, rest: np.ndarray, dt: float) -> np.ndarray:
        """The step of robots with the same independent coordinates."""
        code = one.lanes
        if code is None:
            return one.plain(y, forces, rest, dt)
        if self._lengths.shape[0] != len(y) or self._lengths[0, 0] != dt:
            self._lengths = np.full((len(y), 1), dt)
        (made,), _, _ = code(y, forces, rest, self._lengths)
        return made

    def _elsewhere(self, y: np.ndarray, forces: np.ndarray, dt: float, row: int) -> np.ndarray:
        """The step of one robot whose independent coordinates don't serve any more, in others."""
        if not np.isfinite(forces).all():
            raise InputError("`tau` has a number that isn't finite", key="tau")
        if self._system.loops.m:
            stepping, rest = self._stepping(y, anywhere=True)
            made = stepping.plain(y, forces, np.array(rest), dt)
            if np.isfinite(made).all() and made[-1] > 0:
                self._own[row] = stepping
                np.atleast_2d(self._rest)[row] = rest
                self._sort()
                return made[:-1]
        which = f" of robot {row}" if self._many else ""
        raise NumericalError(
            f"the step{which} at t = {self.t:.9g} s has no finite result: the forces or the step are too large, or the "
            "position is singular"
        )


def simulator(robot: Robot, count: int | None = None, *, substeps: int = 1, friction_rate: float = 0.01) -> Simulator:
    """A robot, or `count` of them, to move step by step; compiled here and now, as `denoc.function` is."""
    return Simulator(robot, count, substeps=substeps, friction_rate=friction_rate)
