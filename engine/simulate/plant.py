"""A robot under its drives as y' = f(t, y), with the modes of its contacts.

The state y is the coordinates and speeds of the joints whose motion isn't prescribed, then two quadratures: the work
of actuators and external wrenches, and what friction and damping have taken.  Which speeds have their motion given
(prescribed, commanded by computed torque, held by friction or by a stop) is the pattern that the recursion is asked
with; the rest is forward dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..machine.scalars import sign
from ..motion.forces import ComputedTorque, Force
from ..recursion.calls import bare
from ..recursion.kinematics import coordinate_rates
from ..recursion.samples import Applied, constant_wrenches, on_bodies
from ..recursion.sweeps import Load, dynamics
from ..robot.model import ZERO, Body, Joint, Robot
from .reference import Held, Reference, Turning

Motion = Reference | Turning | Held


@dataclass(frozen=True)
class Driven:
    """A speed under a force law that the joint's own state decides."""

    speed: int
    coordinate: int | None
    force: Force
    reference: Motion | None
    place: int  # of the speed in its joint


@dataclass(frozen=True)
class Commanded:
    """A joint under computed torque along a reference."""

    joint: Joint
    reference: Motion
    law: ComputedTorque


@dataclass(frozen=True)
class TimedWrench:
    """A wrench on a link with six functions of time, [n; f]."""

    link: str
    components: tuple[Callable[[Any], Any], ...]
    at: tuple[float, float, float]
    axes: str


@dataclass
class Modes:
    """Of dry friction and stops.

    `slip[k]` is the direction in which speed k slips; `held[k]` the range of the force that friction and the stop can
    add while they hold it.
    """

    slip: dict[int, float] = field(default_factory=dict)
    held: dict[int, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Evaluation:
    """One evaluation of the equations of motion; `support[k]` is what holds speed k besides its actuator."""

    q: list[float]
    qd: list[float]
    qdd: list[float]
    tau: list[float]
    support: dict[int, float]
    power: float
    loss: float


class Plant:
    """The equations of motion of one run."""

    def __init__(
        self,
        robot: Robot,
        *,
        prescribed: Sequence[Motion] = (),
        driven: Sequence[Driven] = (),
        commanded: Sequence[Commanded] = (),
        feedforward: Sequence[Motion] = (),
        wrenches: Sequence[TimedWrench] = (),
        smooth: float = 0.0,
        stops: bool = True,
    ):
        self.robot, self.smooth = robot, smooth
        self.prescribed, self.driven, self.commanded = tuple(prescribed), tuple(driven), tuple(commanded)
        self.feedforward, self.wrenches = tuple(feedforward), tuple(wrenches)
        ruled = {motion.joint.name for motion in self.prescribed}
        self.free = tuple(joint for joint in robot.moving if joint.name not in ruled)
        self.cq = [k for joint in self.free for k in joint.coordinates]
        self.cv = [k for joint in self.free for k in joint.speeds]
        self.measured = len(self.cq) + len(self.cv)
        self.modes = Modes()
        # dry friction enters as a force or as a mode, so that no sign flickers within a step
        self.bodies = tuple(
            replace(body, drives=tuple(replace(drive, coulomb=0.0) for drive in body.drives))
            for body in robot.tree.bodies
        )
        drives = {k: d for joint in robot.moving for k, d in zip(joint.speeds, joint.drives)}
        self.coulomb = {k: d.coulomb for k, d in drives.items() if d.coulomb}
        self.viscous = {k: d.viscous for k, d in drives.items() if d.viscous}
        commanded_speeds = {k for one in self.commanded for k in one.joint.speeds}
        self.stops = {
            joint.speeds[0]: (joint.coordinates[0], *joint.limits)
            for joint in self.free
            if stops and joint.limits and joint.speeds[0] not in commanded_speeds
        }
        self.switching = {
            k: self.coulomb.get(k, 0.0)
            for k in self.cv
            if k not in commanded_speeds and (k in self.coulomb or k in self.stops)
        }
        self._constant = on_bodies(robot.tree, constant_wrenches(robot))
        self.evaluations = 0

    # ---- the state

    def start(self, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
        """Y from all coordinates and speeds of the robot."""
        return np.array([q[k] for k in self.cq] + [qd[k] for k in self.cv] + [0.0, 0.0])

    def complete(self, t: float, y: np.ndarray) -> tuple[list[float], list[float], list[float]]:
        """All coordinates and speeds of the robot, and the accelerations that are prescribed (0 elsewhere)."""
        q, qd, qdd = [0.0] * self.robot.nq, [0.0] * self.robot.nv, [0.0] * self.robot.nv
        values = y.tolist()
        for place, k in enumerate(self.cq):
            q[k] = values[place]
        for place, k in enumerate(self.cv, start=len(self.cq)):
            qd[k] = values[place]
        for motion in self.prescribed:
            for target, source, places in zip(
                (q, qd, qdd), motion.at(t), (motion.joint.coordinates, motion.joint.speeds, motion.joint.speeds)
            ):
                for k, x in zip(places, source):
                    target[k] = float(x)
        return q, qd, qdd

    def place_of(self, speed: int) -> int:
        """Where a speed stands in y."""
        return len(self.cq) + self.cv.index(speed)

    def unit(self, y: np.ndarray) -> np.ndarray:
        """Y with Euler parameters of norm 1."""
        for joint in self.free:
            at = joint.type.orientation
            if at is not None:
                first = self.cq.index(joint.coordinates[at])
                y = y.copy()
                y[first : first + 4] /= math.sqrt(float(y[first : first + 4] @ y[first : first + 4]))
        return y

    # ---- the equations

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        """Y' for the integrator."""
        now = self.evaluate(t, y)
        rates = coordinate_rates(self.robot, now.q, now.qd)
        return np.array([rates[k] for k in self.cq] + [now.qdd[k] for k in self.cv] + [now.power, now.loss])

    def evaluate(self, t: float, y: np.ndarray, modes: Modes | None = None) -> Evaluation:
        """Accelerations, actuator forces and powers at one instant."""
        self.evaluations += 1
        modes = modes or self.modes
        q, qd, qdd = self.complete(t, y)
        n = self.robot.nv
        motion_given = [False] * n
        given = [0.0] * n
        for motion in self.prescribed:
            for k in motion.joint.speeds:
                motion_given[k], given[k] = True, qdd[k]
        for k in modes.held:
            motion_given[k] = True
        for one in self.commanded:
            self._command(one, t, q, qd, motion_given, given)
        applied = self._applied(t, q, qd)
        for k in range(n):
            if not motion_given[k]:
                given[k] = applied[k] - self._friction(k, qd[k], modes)
        on, loads = self._wrenches_at(t)
        try:
            sought, _ = dynamics(self.bodies, self.robot.gravity, q, qd, given, motion_given, on, loads)
        except (ZeroDivisionError, OverflowError):
            sought = [math.nan] * n
        support = {k: sought[k] - applied[k] for k in modes.held}
        tau = list(applied)
        for k in range(n):
            if motion_given[k]:
                qdd[k] = given[k]
                if k not in modes.held:
                    tau[k] = sought[k] + self.coulomb.get(k, 0.0) * sign(qd[k])
            else:
                qdd[k] = sought[k]
        power = sum(tau[k] * qd[k] for k in range(n)) + self._wrench_power(q, qd, on, loads)
        loss = sum(c * qd[k] ** 2 for k, c in self.viscous.items())
        for k in self.coulomb:
            rubbing = self.coulomb[k] * sign(qd[k]) if motion_given[k] else self._friction(k, qd[k], modes)
            loss += rubbing * qd[k]
        return Evaluation(q, qd, qdd, tau, support, power, loss)

    def _friction(self, k: int, speed: float, modes: Modes) -> float:
        """Dry friction against the motion of speed k, as the actuator feels it."""
        coulomb = self.coulomb.get(k, 0.0)
        if not coulomb:
            return 0.0
        if self.smooth:
            return coulomb * math.tanh(speed / self.smooth)
        return coulomb * modes.slip.get(k, 0.0)

    def _applied(self, t: float, q: list[float], qd: list[float]) -> list[float]:
        """What the force laws ask of the actuators."""
        applied = [0.0] * self.robot.nv
        for one in self.driven:
            reference = None
            if one.reference is not None:
                places, rates, _ = one.reference.at(t)
                reference = (float(places[one.place]), float(rates[one.place]))
            place = q[one.coordinate] if one.coordinate is not None else 0.0
            applied[one.speed] += one.force(t, place, qd[one.speed], reference)
        if self.feedforward:
            wanted = self.planned(t)
            for motion in self.feedforward:
                for k in motion.joint.speeds:
                    applied[k] += wanted[k]
        return applied

    def planned(self, t: float) -> list[float]:
        """Inverse dynamics of the planned motion, wrenches and dry friction included."""
        q, qd, qdd = [0.0] * self.robot.nq, [0.0] * self.robot.nv, [0.0] * self.robot.nv
        for motion in (*self.feedforward, *self.prescribed):
            for target, source, places in zip(
                (q, qd, qdd), motion.at(t), (motion.joint.coordinates, motion.joint.speeds, motion.joint.speeds)
            ):
                for k, x in zip(places, source):
                    target[k] = float(x)
        on, loads = self._wrenches_at(t)
        everything = [True] * self.robot.nv
        tau, _ = dynamics(self.robot.tree.bodies, self.robot.gravity, q, qd, qdd, everything, on, loads)
        return tau

    def _command(
        self, one: Commanded, t: float, q: list[float], qd: list[float], motion_given: list[bool], given: list[float]
    ) -> None:
        """The acceleration that computed torque makes: that of the reference, corrected by the error."""
        places, rates, seconds = one.reference.at(t)
        for i, k in enumerate(one.joint.speeds):
            error = float(places[i]) - q[one.joint.coordinates[i]]
            motion_given[k] = True
            given[k] = float(seconds[i]) + one.law.kd * (float(rates[i]) - qd[k]) + one.law.kp * error

    def _wrenches_at(self, t: float) -> tuple[dict[int, Any], list[Load]]:
        constant, loads = self._constant
        if not self.wrenches:
            return dict(constant), loads
        timed: list[Applied] = [
            (w.link, [float(component(t)) for component in w.components], w.at, w.axes) for w in self.wrenches
        ]
        on, more = on_bodies(self.robot.tree, timed)
        merged = dict(on)
        for body, six in constant.items():
            merged[body] = [a + b for a, b in zip(six, merged[body])] if body in merged else list(six)
        return merged, [*loads, *more]

    def _wrench_power(self, q: list[float], qd: list[float], on: dict[int, Any], loads: list[Load]) -> float:
        """wᵀ t of all external wrenches: the joint forces that balance them, times the speeds."""
        if not on and not loads:
            return 0.0
        n = self.robot.nv
        tau, _ = dynamics(_massless(self.bodies), (0.0,) * 3, q, [0.0] * n, [0.0] * n, [True] * n, on, loads)
        return -sum(f * v for f, v in zip(tau, qd))

    def impact(self, t: float, y: np.ndarray, stopped: int) -> tuple[np.ndarray, float]:
        """Y after speed `stopped` was brought to rest at a blow, and the kinetic energy that this took.

        The same recursion with impulses for forces and jumps of speeds for accelerations: no gravity, no velocity
        terms, springs and friction too weak to matter in no time.
        """
        q, qd, _ = self.complete(t, y)
        n = self.robot.nv
        given, jumps = [False] * n, [0.0] * n
        for motion in self.prescribed:
            for k in motion.joint.speeds:
                given[k] = True
        for k in self.modes.held:
            given[k] = True
        given[stopped], jumps[stopped] = True, -qd[stopped]
        sought, _ = dynamics(bare(self.robot.tree.bodies), (0.0,) * 3, q, [0.0] * n, jumps, given)
        for k in range(n):
            jumps[k] = jumps[k] if given[k] else sought[k]
        after = y.copy()
        for k in self.cv:
            after[self.place_of(k)] += jumps[k]
        after[self.place_of(stopped)] = 0.0
        return after, self._kinetic(q, qd) - self._kinetic(q, self.complete(t, after)[1])

    def _kinetic(self, q: list[float], qd: list[float]) -> float:
        n = self.robot.nv
        momenta, _ = dynamics(bare(self.robot.tree.bodies), (0.0,) * 3, q, [0.0] * n, qd, [True] * n)
        return sum(p * v for p, v in zip(momenta, qd)) / 2


def _massless(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    return tuple(replace(body, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0) for body in bare(bodies))
