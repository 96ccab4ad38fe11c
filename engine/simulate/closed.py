"""The plant of a robot with loops: the same state and signals as a tree's, with the loops kept closed by a method.

The state has all coordinates and speeds of the spanning tree, whatever the method integrates: which of them are
believed is the method's business, so that changing the independent coordinates changes nothing in the state.  Methods
of `afresh.py` alone have something else in the places of the speeds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..closure.assemble import CLOSED, newton, newton_rows
from ..closure.closure import Closure
from ..closure.equations import Equations, Forces
from ..closure.forces import Balance
from ..closure.methods import METHODS, Parameters
from ..closure.partition import Partition, partition
from ..errors import InputError
from ..machine.scalars import Scalar, square_root
from ..motion.laws import Curve
from ..recursion.kinematics import coordinate_rates
from ..recursion.spatial import add, dot
from ..recursion.sweeps import Load, dynamics
from ..robot.model import Body, Robot
from . import afresh, singular
from .compiled import Compiled
from .events import Event
from .follow import Path
from .plant import Evaluation, Plant

NEAR = 1e-3  # share of a pivot where a singular position may be ahead
EARLY = 0.05  # likewise, where other coordinates are taken without asking
ITERATIONS = 2  # of Newton's method in the equations, from what was integrated


@dataclass(frozen=True)
class Driving:
    """A drive's motion, and what tells its law from others."""

    name: str
    curve: Curve


@dataclass
class Situation:
    """State and signals, read: accelerations are those that are given, the last three belong to rows of drives."""

    q: list[Scalar]
    qd: list[Scalar]
    accelerations: dict[int, Scalar]
    applied: list[Scalar]
    wrenches: dict[int, Any]
    loads: list[Load]
    values: dict[int, Scalar]
    rates: dict[int, Scalar]
    seconds: dict[int, Scalar]
    limits: list[Scalar]


class ClosedPlant(Plant):
    """The equations of motion of one run of a robot with loops."""

    def __init__(
        self,
        robot: Robot,
        loops: Closure,
        *,
        method: str = "denoc",
        parameters: Parameters = Parameters(),
        preferred: Sequence[int] | None = None,
        drives: Sequence[Driving] = (),
        switches: bool = False,
        **laws: Any,
    ):
        super().__init__(robot, stops=False, **laws)
        self.drives = tuple(drives)
        self.autonomous = self.autonomous and not drives
        self.loops, self.method_name, self.method = loops, method, METHODS[method]
        self.parameters, self.preferred = parameters, preferred
        self.numeric = self.method.afresh
        self.given = tuple(k for motion in self.prescribed for k in motion.joint.speeds)
        self.commanding = tuple(k for one in self.commanded for k in one.joint.speeds)
        self.partitions: list[Partition] = []
        self.partition: Partition
        self._compiled: dict[int, Compiled] = {}
        self.switches = self.method.switches or switches
        self.near = EARLY if self.switches else NEAR
        self.through = False  # near a position where constraints lose rank: everything by rank-revealing solves
        self._start = np.array(robot.q0)  # positions from which the plan of feedforward is followed
        self._path: Path | None = None
        self._following = self

    def begin(self, q: np.ndarray) -> None:
        """Takes the coordinates for a run from these positions."""
        self.choose(q, self.robot.driven if self.preferred is None else self.preferred)
        if self.preferred is None and len(self.partition.N) + len(self.partition.given) != len(self.robot.driven):
            self.choose(q, ())  # the actuated ones only where they are as many as the freedoms
        self._start, self._path = q, None
        if self.feedforward:
            motions = (*self.feedforward, *self.prescribed)
            self._following = ClosedPlant(
                self.robot,
                self.loops,
                prescribed=motions,
                drives=self.drives,
                smooth=self.smooth,
                wrenches=self.wrenches,
            )
            self._following.choose(q, ())

    # ---- which coordinates are independent

    def choose(self, q: np.ndarray, preferred: Sequence[int]) -> None:
        """Takes the best coordinates at these positions, preferred ones before others."""
        ruled = [*self.given, *(k for k in self.commanding if k not in self.given)]
        found = partition(self.loops, q, ruled, preferred, self.method.basis)
        if found not in self.partitions:
            self.partitions.append(found)
        self._take(self.partitions.index(found))
        self.near = EARLY if self.switches else NEAR

    def _take(self, place: int) -> None:
        self.partition = self.partitions[place]
        if place not in self._compiled:
            self._compiled[place] = Compiled(self)
        self.compiled = self._compiled[place]

    @property
    def unknown(self) -> bool:
        return bool(self.partition.N or self.commanding)

    def names(self) -> list[str]:
        chosen = self.partition.independent
        return [joint.name for joint in self.robot.moving if any(k in chosen for k in joint.speeds)]

    # ---- singular positions

    @property
    def guard(self) -> Event | None:
        """An event function that runs out where the coordinates come near the end of their use."""
        if self.through:
            return lambda t, y: 1.0 - singular.spread(self, t, y) / self.near
        if self.method.afresh:
            return None
        return lambda t, y: self.share(np.array(self.complete(t, y)[0])) / self.near - 1.0

    def share(self, q: np.ndarray) -> float:
        return self.partition.share(self.loops.jacobian(q)[0])

    def guarded(self, t: float, y: np.ndarray, how: str) -> tuple[np.ndarray, singular.Singular | None, str]:
        """What to do where the guard has run out: the state to go on with, what is ahead, and what was done."""
        q = np.array(self.complete(t, y)[0])
        if self.through:
            self.through = False
            self.choose(q, ())
            return self.settled(t, y), None, "through"
        found = singular.ahead(self, t, y) if not self.switches else None
        if found is None and not self.switches:
            fresh = partition(self.loops, q, self.partition.given, self.partition.independent, self.method.basis)
            if fresh.independent == self.partition.independent and fresh.share(self.loops.jacobian(q)[0]) > 0.1:
                self.choose(q, self.partition.independent)  # the same coordinates, in a better order
                if min(map(abs, self.partition.pivots)) > 0.0 and self.share(q) > self.near:
                    return y, None, ""
            self.near /= 10
            return y, None, ""
        if found is not None and how == "stop":
            return y, found, "stop"
        if found is not None and how == "through" and not found.coordinates:
            self.through = True
            self.near = 2 * max(singular.spread(self, t, y), 10 * NEAR)
            return y, found, "into"
        y = self.settled(t, y)
        self.choose(np.array(self.complete(t, y)[0]), ())
        return y, found, "switch"

    # ---- the state

    def start(self, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
        y = super().start(q, qd)
        if self.method.afresh:
            part = afresh.partition_at(self, np.array(q, dtype=float))
            y[len(self.cq) : self.measured] = afresh.slots(self, part, qd)
        return y

    def wanted(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every row of the constraints, its value at t, its rate and second rate: those of drives aren't 0."""
        found = np.zeros((3, self.loops.m))
        for r, drive in zip(self.loops.driven_rows(), self.drives):
            found[:, r] = [float(x) for x in drive.curve(t)]
        return found[0], found[1], found[2]

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """Y with Euler parameters of norm 1 and, where the method closes them, positions and speeds closed."""
        y = super().settled(t, y)
        if not self.method.closes:
            return y
        q, qd = (np.array(x) for x in self.complete(t, y))
        part = self.partition
        values, rates, _ = self.wanted(t)
        if self.through:
            q, qd = singular.closed(self.loops.at(values), q, qd, rates, part.given)
        else:
            q, _ = newton(self.loops.at(values), q, [*part.given, *part.independent], near=True)
            right = np.concatenate([rates[list(part.rows)], qd[list(part.given)], part.basis(self.robot.nv) @ qd])
            with contextlib.suppress(np.linalg.LinAlgError):
                qd = np.linalg.solve(part.matrix(self.loops.jacobian(q)[0]), right)
        y = y.copy()
        y[: len(self.cq)] = q[self.cq]
        y[len(self.cq) : self.measured] = qd[self.cv]
        return y

    def settled_rows(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """All at once; one by one where that doesn't close them."""
        part, nq, nv = self.partition, self.robot.nq, self.robot.nv
        free = [k for k in range(nv) if k not in part.independent]
        usual = self.autonomous and self.method.closes and not self.through and len(free) == len(part.rows)
        if not usual or not len(times):
            return super().settled_rows(times, states)
        found = np.array([self.unit(y) for y in states]) if self.units else states.copy()
        q, qd = np.empty((len(found), nq)), np.empty((len(found), nv))
        q[:, self.cq], qd[:, self.cv] = found[:, :nq], found[:, nq : self.measured]
        with np.errstate(all="ignore"):
            try:
                q, left = newton_rows(self.loops, q, part.rows, free)
                right = np.concatenate([np.zeros((len(q), len(part.rows))), qd @ part.basis(nv).T], axis=1)
                qd = np.linalg.solve(part.matrix(self.loops.jacobian(q)[0]), right[..., None])[..., 0]
            except (InputError, np.linalg.LinAlgError):
                return super().settled_rows(times, states)
        found[:, :nq], found[:, nq : self.measured] = q[:, self.cq], qd[:, self.cv]
        for n in np.flatnonzero(~(left <= CLOSED)).tolist():
            found[n] = self.settled(float(times[n]), states[n])
        return found

    def completed(self, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds and accelerations of all joints from those that are given and independent."""
        part = self.partition
        K, N = part.matrix(self.loops.jacobian(q)[0]), part.basis(self.robot.nv)
        given, rows = list(part.given), list(part.rows)
        _, rates, seconds = self.wanted(t)
        speeds = np.linalg.solve(K, np.concatenate([rates[rows], qd[given], N @ qd]))
        _, drift = self.loops.jacobian(q, speeds)
        right = np.concatenate([(seconds - drift)[rows], qdd[given], N @ qdd])
        return speeds, np.linalg.solve(K, right)

    def planned(self, t: float) -> list[float]:
        """Inverse dynamics of the planned motion."""
        if self._path is None:
            self._path = Path(self._following, t, self._start)
        q, speeds, accelerations, tau = self._path.at(t)
        if tau is not None and not self.robot.actuators and set(self.robot.driven) <= set(self._following.given):
            return [float(x) if k in self.robot.driven else 0.0 for k, x in enumerate(tau)]
        on, loads = self._wrenches_from(float(component(t)) for w in self.wrenches for component in w.components)
        needed, _ = dynamics(
            self.robot.tree.bodies,
            self.robot.gravity,
            q.tolist(),
            speeds.tolist(),
            accelerations.tolist(),
            [True] * self.robot.nv,
            on,
            loads,
        )
        found = [0.0] * self.robot.nv
        for k, x in zip(self.robot.driven, Balance(self.robot, q).solve(np.array(needed)).actuated[0]):
            found[k] = float(x)
        return found

    # ---- signals

    def signals(self, t: float, modes: Any) -> list[float]:
        near = 1.0 if self.through else self.near
        limits = [1.0 / (x * near) if x else 0.0 for x in self.partition.pivots]
        rows = self.loops.driven_rows()
        driven = [float(x) for part in self.wanted(t) for x in part[rows]] if rows else []
        return [*super().signals(t, modes), *driven, *limits]

    # ---- modes: which coordinates are independent

    def mode(self) -> tuple[int, ...]:
        return (self.partitions.index(self.partition), int(self.through))

    def many(self, signals: np.ndarray, states: np.ndarray, mode: tuple[int, ...]) -> dict[str, np.ndarray]:
        now, through = self.partitions.index(self.partition), self.through
        place, self.through = mode[0], bool(mode[1])
        self._take(place)
        try:
            if self.through:
                return self._each(singular.evaluated, signals, states)
            if self.method.afresh:
                return self._each(lambda plant, row, y: plant._plain(row, y, ()), signals, states)
            return super().many(signals, states, mode)
        finally:
            self._take(now)
            self.through = through

    def _each(
        self, evaluate: Callable[..., Evaluation], signals: np.ndarray, states: np.ndarray
    ) -> dict[str, np.ndarray]:
        rows = [evaluate(self, row.tolist(), y) for row, y in zip(signals, states)]
        names = ("q", "qd", "qdd", "tau")
        return {name: np.array([getattr(row, name) for row in rows], dtype=float) for name in names}

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        if not self.through:
            return super().derivative(t, y)
        self.evaluations += 1
        return np.array(self._rates(singular.evaluated(self, self.signals(t, self.modes), y)), dtype=float)

    # ---- the equations, on any scalars

    def situation(self, signals: Sequence[Scalar], y: Sequence[Scalar]) -> Situation:
        """What the signals and the state say, before anything is closed."""
        n, rest = self.robot.nv, iter(signals)
        q, qd, qdd = self._state(rest, y)
        commanded, given = [False] * n, [0.0] * n
        for one in self.commanded:
            self._command(one, rest, q, qd, commanded, given)
        applied = self._applied(rest, q, qd)
        on, loads = self._wrenches_from(rest)
        count, rows = len(self.drives), self.loops.driven_rows()
        first = len(signals) - n - 3 * count
        values, rates, seconds = (
            dict(zip(rows, signals[first + k * count : first + (k + 1) * count])) for k in range(3)
        )
        accelerations = {k: given[k] if commanded[k] else qdd[k] for k in self.partition.given}
        limits = list(signals[len(signals) - n :])
        return Situation(q, qd, accelerations, applied, on, loads, values, rates, seconds, limits)

    def equations(
        self, signals: Sequence[Scalar], y: Sequence[Scalar], held: Sequence[int], bodies: tuple[Body, ...]
    ) -> Evaluation:
        n, part = self.robot.nv, self.partition
        now = self.situation(signals, y)
        if self.method.afresh:
            part = afresh.partition_at(self, np.array(now.q, dtype=float))
            y = list(y)
            real = afresh.speeds(self, part, now)
            y[len(self.cq) : self.measured] = [real[k] for k in self.cv]
            now = self.situation(signals, y)
        equations = Equations(self.loops, part, bodies)
        q, qd = now.q, now.qd
        if self.method.closes:
            q = self._closed(equations, q, now.values)
        tied = self.loops.tied(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        gaps = self.loops.gaps(q, tied)
        gap = [gaps[r] - now.values.get(r, 0.0) for r in part.rows]
        if self.method.speeds == "independent":
            pull = self.parameters.sigma if self.method.pulls else 0.0
            wanted = [now.rates.get(r, 0.0) - pull * x for r, x in zip(part.rows, gap)]
            qd = K.solve([*wanted, *(qd[k] for k in part.given), *(dot(list(row), qd) for row in part.N)])
        pushed = [force - self.rubbed(qd).get(k, 0.0) for k, force in enumerate(now.applied)]
        forces = Forces(pushed, now.wrenches, now.loads, now.accelerations)
        problem = equations.problem(q, qd, A, K, tied, forces, gap, now.rates, now.seconds, self.parameters)
        qdd = self.method.accelerations(problem)
        tau, power = list(now.applied), 0.0
        if part.given or self.drives:
            left = problem.bias(qdd)
            for c, k in enumerate(part.given, start=len(part.rows)):
                tau[k] = tau[k] + dot(K.solve([float(r == c) for r in range(n)]), left)
            for c, row in enumerate(part.rows):
                if row in now.rates:
                    power = power + now.rates[row] * dot(K.solve([float(r == c) for r in range(n)]), left)
        found = self.evaluation(now, q, qd, qdd, tau, power, equations.guard(K, now.limits))
        if self.method.afresh:
            found.slots = afresh.slots(self, part, qdd)
        return found

    def evaluation(
        self,
        now: Situation,
        q: list[Scalar],
        qd: list[Scalar],
        qdd: list[Scalar],
        tau: list[Scalar],
        power: Scalar,
        guard: Scalar,
    ) -> Evaluation:
        """The evaluation, with powers; `power` is what drives bring in."""
        for force, speed in zip(tau, qd):
            power = power + force * speed
        power = power + self._wrench_power(q, qd, now.wrenches, now.loads)
        loss: Scalar = 0.0
        for k, c in self.viscous.items():
            loss = loss + c * qd[k] * qd[k]
        for k, force in self.rubbed(qd).items():
            loss = loss + force * qd[k]
        return Evaluation(q, qd, qdd, tau, {}, power, loss, guard)

    def rubbed(self, qd: list[Scalar]) -> dict[int, Scalar]:
        """Dry friction, smooth."""
        return self._friction(iter(()), qd, [False] * self.robot.nv)

    def _closed(self, equations: Equations, q: list[Scalar], values: dict[int, Scalar]) -> list[Scalar]:
        """Dependent coordinates by Newton's method, one Jacobian for all iterations."""
        n, part = self.robot.nv, self.partition
        tied = self.loops.tied(q)
        K = equations.factors(equations.rows(q, tied))
        for again in range(ITERATIONS):
            gaps = self.loops.gaps(q, self.loops.tied(q) if again else tied)
            step = K.solve([*(values.get(r, 0.0) - gaps[r] for r in part.rows), *([0.0] * (n - len(part.rows)))])
            q = self._moved(q, step)
        return q

    def _moved(self, q: list[Scalar], step: list[Scalar]) -> list[Scalar]:
        q = add(q, coordinate_rates(self.robot, q, step))
        for joint in self.robot.moving:
            at = joint.type.orientation
            if at is not None:
                e = [joint.coordinates[at + k] for k in range(4)]
                one_over = 1.0 / square_root(dot([q[k] for k in e], [q[k] for k in e]))
                for k in e:
                    q[k] = q[k] * one_over
        return q

    def structure(self) -> tuple:
        loops = self.loops
        return (
            *super().structure(),
            self.method_name,
            self.parameters,
            replace(self.partition, pivots=()),
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            loops.drives,
            loops.length,
        )
