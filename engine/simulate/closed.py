"""The plant of a robot with loops: the same state and signals as a tree's, with the loops kept closed by a method.

The state has all coordinates and speeds of the spanning tree, whatever the method integrates: which of them are
believed is the method's business, so that changing the independent coordinates changes nothing in the state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..closure.assemble import moved, newton
from ..closure.closure import Closure
from ..closure.elimination import Elimination, Pivots, pivots
from ..closure.forces import Balance
from ..closure.methods import METHODS, Parameters, Problem
from ..closure.rank import independent, null_space
from ..machine.scalars import Scalar, square_root
from ..motion.laws import Curve
from ..recursion.calls import bare
from ..recursion.kinematics import coordinate_rates
from ..recursion.spatial import add, dot
from ..recursion.sweeps import dynamics
from ..robot.model import ZERO, Body, Robot
from .compiled import Compiled
from .events import Event, crossing
from .plant import Evaluation, Plant

NEAR = 1e-3  # of the determinant, relative to where the coordinates were chosen: a singular position may be ahead
ITERATIONS = 2  # of Newton's method in the equations, from what was integrated


@dataclass(frozen=True)
class Partition:
    """Independent rows, the given speeds, the rows N, the order of elimination, and the determinant where chosen."""

    rows: tuple[int, ...]
    given: tuple[int, ...]
    N: tuple[tuple[float, ...], ...]
    order: Pivots
    determinant: float


@dataclass(frozen=True)
class Driving:
    """A drive's motion, and what tells its law from others."""

    name: str
    curve: Curve


@dataclass(frozen=True)
class Singular:
    """A singular position: when, in which loop, and which joints' coordinates would carry on."""

    t: float
    loop: str
    coordinates: tuple[str, ...]

    def __str__(self) -> str:
        where = f" in the loop `{self.loop}`" if self.loop else ""
        if not self.coordinates:
            return f"singular position{where}: there the loops lose a constraint (`at_singularity: through` passes it)"
        return (
            f"singular position{where}: the motion does not follow from the independent coordinates any more; "
            f"{', '.join(self.coordinates)} would carry on (`closure: {{independent: …}}`, or "
            "`at_singularity: switch`)"
        )


class ClosedPlant(Plant):
    """The equations of motion of one run of a robot with loops."""

    def __init__(
        self,
        robot: Robot,
        loops: Closure,
        *,
        method: str = "denoc",
        parameters: Parameters = Parameters(),
        preferred: Sequence[int] = (),
        drives: Sequence[Driving] = (),
        **laws: Any,
    ):
        super().__init__(robot, stops=False, **laws)
        self.drives = tuple(drives)
        self.autonomous = self.autonomous and not drives
        self.loops, self.method_name, self.method = loops, method, METHODS[method]
        self.parameters, self.preferred = parameters, tuple(preferred)
        self.given = tuple(k for motion in self.prescribed for k in motion.joint.speeds)
        self.commanding = tuple(k for one in self.commanded for k in one.joint.speeds)
        self._compiled: dict[Partition, Compiled] = {}
        self.partition: Partition
        self.near = NEAR
        self._plan = np.array(robot.q0)
        self._following = self

    def begin(self, q: np.ndarray) -> None:
        """Takes the coordinates for a run from these positions."""
        self.choose(q)
        self._plan = q
        if self.feedforward:
            motions = (*self.feedforward, *self.prescribed)
            self._following = ClosedPlant(
                self.robot, self.loops, prescribed=motions, drives=self.drives, smooth=self.smooth
            )
            self._following.choose(q)

    # ---- which coordinates are independent

    def choose(self, q: np.ndarray, preferred: Sequence[int] | None = None) -> None:
        """Takes the best coordinates at these positions, preferred ones before others."""
        wanted = self.preferred if preferred is None else preferred
        J, _ = self.loops.jacobian(q)
        scaled = self.loops.scaled(J)
        ruled = [*self.given, *(k for k in self.commanding if k not in self.given)]
        rows = sorted(independent(scaled, [range(self.loops.m)]))
        groups = [
            [k for k in range(self.robot.nv) if k not in wanted and k not in ruled],
            [k for k in wanted if k not in ruled],
            ruled,
        ]
        dependent = independent(scaled[rows].T, groups)
        N = self._basis(scaled[rows], [k for k in range(self.robot.nv) if k not in dependent and k not in ruled], ruled)
        K = np.concatenate([J[rows], np.eye(self.robot.nv)[ruled], N])
        order = pivots(self._scaled(K, rows))
        determinant = Elimination(K.tolist(), order).determinant if len(K) == self.robot.nv else 0.0
        self.partition = Partition(
            tuple(rows), tuple(ruled), tuple(tuple(row) for row in N.tolist()), order, float(determinant)
        )
        self.compiled = self._compiled.setdefault(self.partition, Compiled(self))
        self.near = NEAR

    @property
    def unknown(self) -> bool:
        return bool(self.partition.N)

    @property
    def independent(self) -> list[int]:
        """The speeds that are integrated for themselves, where N is made of single ones."""
        return [row.index(1.0) for row in self.partition.N if row.count(0.0) == len(row) - 1]

    def _basis(self, scaled: np.ndarray, chosen: list[int], ruled: list[int]) -> np.ndarray:
        nv = self.robot.nv
        if self.method.basis in ("independent", "strongest"):
            return np.eye(nv)[chosen]
        A = np.concatenate([scaled, np.eye(nv)[ruled]])
        if self.method.basis == "qr":
            N = np.linalg.qr(A.T, mode="complete")[0][:, len(A) :].T
        else:
            N = null_space(A).T
        return N / self.loops.column_scale

    def _scaled(self, K: np.ndarray, rows: list[int]) -> np.ndarray:
        """K without units."""
        K = K * self.loops.column_scale
        K[: len(rows)] *= self.loops.row_scale[rows][:, None]
        return K / np.maximum(abs(K).max(axis=1, initial=0.0), 1e-300)[:, None]

    def _K(self, q: np.ndarray) -> np.ndarray:
        J, _ = self.loops.jacobian(q)
        part = self.partition
        return np.concatenate([J[list(part.rows)], np.eye(self.robot.nv)[list(part.given)], self._N])

    @property
    def _N(self) -> np.ndarray:
        return np.array(self.partition.N).reshape(-1, self.robot.nv)

    # ---- singular positions

    @property
    def guard(self) -> Event | None:
        """An event function that runs out where the coordinates come near the end of their use."""
        return lambda t, y: self.share(np.array(self.complete(t, y)[0])) / self.near - 1.0

    def share(self, q: np.ndarray) -> float:
        """The determinant of K, relative to where the coordinates were chosen; 0 in a singular position."""
        with np.errstate(all="ignore"):
            try:
                return float(Elimination(self._K(q).tolist(), self.partition.order).determinant) / (
                    self.partition.determinant
                )
            except ZeroDivisionError:
                return 0.0

    def ahead(self, t: float, y: np.ndarray) -> Singular | None:
        """The singular position that the motion runs into from here, if it does; else the guard moves nearer."""
        q = np.array(self.complete(t, y)[0])
        now = self.evaluate(t, y)
        qd, qdd = np.array(now.qd, dtype=float), np.array(now.qdd, dtype=float)

        def share(time: float) -> float:
            return self.share(moved(self.robot, q, qd * time + qdd * time * time / 2))

        here = share(0.0)
        tiny = 1e-6 * here / max(abs(share(1e-9) - here) / 1e-9, 1e-12)
        slope = (share(tiny) - share(-tiny)) / (2 * tiny)
        if slope < 0:
            guess = -here / slope
            for reach in (1.2, 2.0, 4.0):
                if share(reach * guess) <= 0:
                    time = crossing(share, 0.0, here, reach * guess, share(reach * guess), 1e-12)
                    return self.told(t + time, moved(self.robot, q, qd * time + qdd * time * time / 2))
        if self.near < 1e-6:
            return self.told(t, q)
        self.near /= 10
        return None

    def switched(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state, with the best coordinates at this position from here on."""
        y = self.settled(t, y)
        self.choose(np.array(self.complete(t, y)[0]), ())
        return y

    def names(self) -> list[str]:
        return [j.name for j in self.robot.moving if any(k in self.independent for k in j.speeds)]

    def told(self, t: float, q: np.ndarray) -> Singular:
        """What is known of a singular position."""
        part, loops = self.partition, self.loops
        K = self._K(q) * loops.column_scale
        K[: len(part.rows)] *= loops.row_scale[list(part.rows)][:, None]
        weakest = np.linalg.svd(K)[0][:, -1][: len(part.rows)]
        row = part.rows[int(np.argmax(abs(weakest)))] if part.rows else 0
        names = [one.name for one, place in zip(loops.ties, loops.places) if place.start <= row < place.stop]
        J, _ = loops.jacobian(q)
        scaled = loops.scaled(J)[list(part.rows)]
        s = np.linalg.svd(scaled, compute_uv=False) if part.rows else np.ones(1)
        if s.min() < 1e-4 * s.max():
            return Singular(t, names[0] if names else "", ())  # the loops themselves lose a constraint
        dependent = independent(scaled.T, [range(self.robot.nv)])
        carry_on = [j.name for j in self.robot.moving if any(k not in dependent for k in j.speeds)]
        return Singular(t, names[0] if names else "", tuple(carry_on))

    # ---- the state

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
        q, _ = newton(self.loops.at(values), q, [*part.given, *self.independent])
        right = np.concatenate([rates[list(part.rows)], qd[list(part.given)], self._N @ qd])
        with contextlib.suppress(np.linalg.LinAlgError):
            qd = np.linalg.solve(self._K(q), right)
        y = y.copy()
        y[: len(self.cq)] = q[self.cq]
        y[len(self.cq) : self.measured] = qd[self.cv]
        return y

    def completed(self, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds and accelerations of all joints from those that are given and independent."""
        part, K = self.partition, self._K(q)
        given, rows = list(part.given), list(part.rows)
        _, rates, seconds = self.wanted(t)
        speeds = np.linalg.solve(K, np.concatenate([rates[rows], qd[given], self._N @ qd]))
        _, drift = self.loops.jacobian(q, speeds)
        right = np.concatenate([(seconds - drift)[rows], qdd[given], self._N @ qdd])
        return speeds, np.linalg.solve(K, right)

    def planned(self, t: float) -> list[float]:
        """Inverse dynamics of the planned motion, from where it was last asked for."""
        motions = (*self.feedforward, *self.prescribed)
        kept = [k for motion in motions for k in motion.joint.speeds]
        q, qd, qdd = self._plan.copy(), np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        for motion in motions:
            joint = motion.joint
            for target, source, places in zip(
                (q, qd, qdd), motion.at(t), (joint.coordinates, joint.speeds, joint.speeds)
            ):
                for k, x in zip(places, source):
                    target[k] = float(x)
        q, _ = newton(self.loops.at(self.wanted(t)[0]), q, kept)
        self._plan = q
        speeds, accelerations = self._following.completed(t, q, qd, qdd)
        on, loads = self._wrenches_from(float(component(t)) for w in self.wrenches for component in w.components)
        tau, _ = dynamics(
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
        for k, x in zip(self.robot.driven, Balance(self.robot, q).solve(np.array(tau)).actuated[0]):
            found[k] = float(x)
        return found

    # ---- signals

    def signals(self, t: float, modes: Any) -> list[float]:
        reference = self.partition.determinant * self.near
        rows = self.loops.driven_rows()
        driven = [float(x) for part in self.wanted(t) for x in part[rows]] if rows else []
        return [*super().signals(t, modes), *driven, 1.0 / reference if reference else 0.0]

    # ---- the equations, on any scalars

    def equations(
        self, signals: Sequence[Scalar], y: Sequence[Scalar], held: Sequence[int], bodies: tuple[Body, ...]
    ) -> Evaluation:
        n, part, given_signals = self.robot.nv, self.partition, iter(signals)
        q, qd, qdd = self._state(given_signals, y)
        commanded, given = [False] * n, [0.0] * n
        for one in self.commanded:
            self._command(one, given_signals, q, qd, commanded, given)
        applied = self._applied(given_signals, q, qd)
        on, loads = self._wrenches_from(given_signals)
        count = len(self.drives)
        rows = self.loops.driven_rows()
        values, rates, seconds = (
            dict(zip(rows, signals[len(signals) - 1 - (3 - k) * count :][:count])) for k in range(3)
        )
        if self.method.closes:
            q = self._closed(q, values)
        tied = self.loops.tied(q)
        J, _ = self.loops.rates(q, None, tied)
        A = [[J[r].get(k, 0.0) for k in range(n)] for r in part.rows]
        A += [[float(k == g) for k in range(n)] for g in part.given]
        N = [list(row) for row in part.N]
        K = Elimination([*A, *N], part.order)
        rate: list[Scalar] = [rates.get(r, 0.0) for r in part.rows] + [qd[k] for k in part.given]
        gaps = self.loops.gaps(q, tied)
        gap = [gaps[r] - values.get(r, 0.0) for r in part.rows] + [0.0] * len(part.given)
        if self.method.speeds == "independent":
            pulled = [self.parameters.sigma * x for x in gap] if self.method.pulls else [0.0] * len(gap)
            qd = K.solve([*(r - x for r, x in zip(rate, pulled)), *(dot(row, qd) for row in N)])
        _, drift = self.loops.rates(q, qd, tied)
        second = [seconds.get(r, 0.0) - drift[r] for r in part.rows] + [
            given[k] if commanded[k] else qdd[k] for k in part.given
        ]
        friction = self._friction(given_signals, qd, commanded)
        everything, none = [True] * n, [0.0] * n
        fixed = [k in part.given for k in range(n)]
        g = self.robot.gravity
        pushed = [applied[k] - friction.get(k, 0.0) for k in range(n)]

        def bias(x: list[Scalar]) -> list[Scalar]:
            h, _ = dynamics(bodies, g, q, qd, x, everything, on, loads)
            return [h[k] - pushed[k] for k in range(n)]

        def free() -> list[Scalar]:
            start = [second[len(part.rows) + part.given.index(k)] if fixed[k] else pushed[k] for k in range(n)]
            sought, _ = dynamics(bodies, g, q, qd, start, fixed, on, loads)
            return [start[k] if fixed[k] else sought[k] for k in range(n)]

        def response(x: list[Scalar]) -> list[Scalar]:
            start = [0.0 if fixed[k] else x[k] for k in range(n)]
            sought, _ = dynamics(bare(bodies), ZERO, q, none, start, fixed)
            return [0.0 if fixed[k] else sought[k] for k in range(n)]

        problem = Problem(
            n=n,
            closures=len(part.rows),
            A=A,
            gap=gap,
            rate=rate,
            second=second,
            N=N,
            K=K,
            qd=qd,
            bias=bias,
            momentum=lambda x: dynamics(bare(bodies), ZERO, q, none, x, everything)[0],
            response=response,
            free=free,
            scales=[float(self.loops.row_scale[r] * self.loops.length) ** 2 for r in part.rows],
            parameters=self.parameters,
        )
        qdd = self.method.accelerations(problem)
        tau = list(applied)
        power: Scalar = 0.0
        if part.given or self.drives:
            forces = bias(qdd)
            for c, k in enumerate(part.given, start=len(part.rows)):
                tau[k] = tau[k] + dot(K.solve([float(r == c) for r in range(n)]), forces)
            for c, row in enumerate(part.rows):
                if row in rates:
                    power = power + rates[row] * dot(K.solve([float(r == c) for r in range(n)]), forces)
        for k in range(n):
            power = power + tau[k] * qd[k]
        power = power + self._wrench_power(q, qd, on, loads)
        loss: Scalar = 0.0
        for k, c in self.viscous.items():
            loss = loss + c * qd[k] * qd[k]
        for k, force in friction.items():
            loss = loss + force * qd[k]
        return Evaluation(q, qd, qdd, tau, {}, power, loss, K.determinant * signals[len(signals) - 1] - 1.0)

    def _closed(self, q: list[Scalar], values: dict[int, Scalar]) -> list[Scalar]:
        """Dependent coordinates by Newton's method, one Jacobian for all iterations."""
        n, part = self.robot.nv, self.partition
        tied = self.loops.tied(q)
        J, _ = self.loops.rates(q, None, tied)
        A = [[J[r].get(k, 0.0) for k in range(n)] for r in part.rows]
        A += [[float(k == g) for k in range(n)] for g in part.given]
        K = Elimination([*A, *(list(row) for row in part.N)], part.order)
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
            (self.partition.rows, self.partition.given, self.partition.N, self.partition.order),
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            loops.drives,
            loops.length,
        )
