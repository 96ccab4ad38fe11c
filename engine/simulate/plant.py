"""A robot under its drives as y' = f(t, y), with the modes of its contacts.

The state y is the coordinates and speeds of the joints whose motion isn't prescribed, then two quadratures: the work
of actuators and external wrenches, and what friction and damping have taken.  Which speeds have their motion given
(prescribed, commanded by computed torque, held by friction or by a stop) is the pattern that the recursion is asked
with; the rest is forward dynamics.

What depends on time alone (references, force laws of time, wrenches, the directions of slipping) comes into the
equations as `signals`, so that the equations are a text on scalars that can be recorded and compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..machine.scalars import Scalar, sign, square_root
from ..machine.trace import Program, Recording
from ..motion.forces import ComputedTorque, Force
from ..recursion.calls import bare
from ..recursion.kinematics import coordinate_rates
from ..recursion.numbers import Path, with_symbols
from ..recursion.regroup import regrouped
from ..recursion.samples import Applied, constant_wrenches, on_bodies
from ..recursion.sweeps import Load, dynamics
from ..robot.model import ZERO, Body, Joint, Robot
from .compiled import Compiled
from .events import Event
from .reference import Held, Reference, Turning

Motion = Reference | Turning | Held
Symbol = tuple[int, Path]  # a body and the place of one of its numbers


@dataclass(frozen=True)
class Driven:
    """A speed under a force law; `timed` where the law is one of time alone, `steady` where not even that."""

    speed: int
    coordinate: int | None
    force: Force
    reference: Motion | None
    place: int  # of the speed in its joint
    timed: bool = False
    steady: bool = False
    law: Any = None  # what `force` was made from: tells programs apart


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

    q: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]
    tau: list[Scalar]
    support: dict[int, Scalar]
    power: Scalar
    loss: Scalar
    guard: Scalar = None  # positive as long as the state can be computed from its coordinates; None: always
    slots: list[Scalar] | None = None  # rates of the state's speeds, where it holds others than those of joints


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
        self.autonomous = not (
            self.prescribed
            or self.commanded
            or self.feedforward
            or self.wrenches
            or any((one.timed and not one.steady) or one.reference is not None for one in self.driven)
        )
        self.loops: Any = None
        self.through = False  # everything by rank-revealing solves, for now
        self.evaluations = 0
        self.numeric = False  # the equations take numbers only: nothing to compile, and one sample at a time
        self.compiled = Compiled(self)

    @property
    def unknown(self) -> bool:
        """Whether there is anything to integrate."""
        return bool(self.free)

    # ---- the state

    def start(self, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
        """Y from all coordinates and speeds of the robot."""
        return np.array([q[k] for k in self.cq] + [qd[k] for k in self.cv] + [0.0, 0.0])

    def complete(self, t: float, y: np.ndarray) -> tuple[list[float], list[float]]:
        """All coordinates and speeds of the robot."""
        q, qd, _ = self._state(iter(self._motion_signals(t)), y.tolist())
        return q, qd

    def _state(self, signals: Iterator[Scalar], y: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """All coordinates, speeds, and the accelerations that are prescribed (0 elsewhere)."""
        q: list[Scalar] = [0.0] * self.robot.nq
        qd: list[Scalar] = [0.0] * self.robot.nv
        qdd: list[Scalar] = [0.0] * self.robot.nv
        for place, k in enumerate(self.cq):
            q[k] = y[place]
        for place, k in enumerate(self.cv, start=len(self.cq)):
            qd[k] = y[place]
        for motion in self.prescribed:
            joint = motion.joint
            for target, places in ((q, joint.coordinates), (qd, joint.speeds), (qdd, joint.speeds)):
                for k in places:
                    target[k] = next(signals)
        return q, qd, qdd

    @property
    def units(self) -> list[int]:
        """Where in y each set of Euler parameters begins."""
        joints = [joint for joint in self.free if joint.type.orientation is not None]
        return [self.cq.index(joint.coordinates[joint.type.orientation or 0]) for joint in joints]

    def place_of(self, speed: int) -> int:
        """Where a speed stands in y."""
        return len(self.cq) + self.cv.index(speed)

    def unit(self, y: np.ndarray) -> np.ndarray:
        """Y with Euler parameters of norm 1."""
        for first in self.units:
            y = y.copy()
            y[first : first + 4] /= math.sqrt(float(y[first : first + 4] @ y[first : first + 4]))
        return y

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state that a step's end, or a row, is made into."""
        return self.unit(y)

    def settled_rows(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Likewise of many instants."""
        return np.array([self.settled(float(t), y) for t, y in zip(times, states)]).reshape(states.shape)

    @property
    def guard(self) -> Event | None:
        """An event function that runs out where the state's coordinates come to the end of their use."""
        return None

    def mode(self) -> tuple[int, ...]:
        """Which equations hold at present."""
        return tuple(sorted(self.modes.held))

    # ---- signals: what depends on time alone

    def signals(self, t: float, modes: Modes) -> list[float]:
        """In the order in which `equations` takes them."""
        found = self._motion_signals(t)
        for one in self.commanded:
            for values in one.reference.at(t):
                found += map(float, values)
        for driven in self.driven:
            if driven.timed:
                found.append(float(driven.force(t, 0.0, 0.0, None)))
            elif driven.reference is not None:
                places, rates, _ = driven.reference.at(t)
                found += (float(places[driven.place]), float(rates[driven.place]))
        if self.feedforward:
            wanted = self.planned(t)
            found += (wanted[k] for motion in self.feedforward for k in motion.joint.speeds)
        for wrench in self.wrenches:
            found += (float(component(t)) for component in wrench.components)
        if not self.smooth:
            found += (modes.slip.get(k, 0.0) for k in self.coulomb)
        return found

    def _motion_signals(self, t: float) -> list[float]:
        return [float(x) for motion in self.prescribed for values in motion.at(t) for x in values]

    def planned(self, t: float) -> list[float]:
        """Inverse dynamics of the planned motion, wrenches and dry friction included."""
        q, qd, qdd = [0.0] * self.robot.nq, [0.0] * self.robot.nv, [0.0] * self.robot.nv
        for motion in (*self.feedforward, *self.prescribed):
            joint = motion.joint
            for target, source, places in zip(
                (q, qd, qdd), motion.at(t), (joint.coordinates, joint.speeds, joint.speeds)
            ):
                for k, x in zip(places, source):
                    target[k] = float(x)
        on, loads = self._wrenches_from(float(component(t)) for w in self.wrenches for component in w.components)
        everything = [True] * self.robot.nv
        tau, _ = dynamics(self.robot.tree.bodies, self.robot.gravity, q, qd, qdd, everything, on, loads)
        return tau

    # ---- the equations, on any scalars

    def equations(
        self, signals: Sequence[Scalar], y: Sequence[Scalar], held: Sequence[int], bodies: tuple[Body, ...]
    ) -> Evaluation:
        """Accelerations, actuator forces and powers; the speeds in `held` don't move."""
        n, given_signals = self.robot.nv, iter(signals)
        q, qd, qdd = self._state(given_signals, y)
        motion_given, given = [False] * n, list(qdd)
        for motion in self.prescribed:
            for k in motion.joint.speeds:
                motion_given[k] = True
        for k in held:
            motion_given[k] = True
        for one in self.commanded:
            self._command(one, given_signals, q, qd, motion_given, given)
        applied = self._applied(given_signals, q, qd)
        on, loads = self._wrenches_from(given_signals)
        friction = self._friction(given_signals, qd, motion_given)
        for k in range(n):
            if not motion_given[k]:
                given[k] = applied[k] - friction.get(k, 0.0)
        sought, _ = dynamics(bodies, self.robot.gravity, q, qd, given, motion_given, on, loads)
        tau = list(applied)
        for k in range(n):
            if not motion_given[k]:
                qdd[k] = sought[k]
                continue
            qdd[k] = given[k]
            if k not in held:
                tau[k] = sought[k] + friction.get(k, 0.0)
        power: Scalar = 0.0
        for k in range(n):
            power = power + tau[k] * qd[k]
        power = power + self._wrench_power(q, qd, on, loads)
        loss: Scalar = 0.0
        for k, c in self.viscous.items():
            loss = loss + c * qd[k] * qd[k]
        for k, force in friction.items():
            loss = loss + force * qd[k]
        return Evaluation(q, qd, qdd, tau, {k: sought[k] - applied[k] for k in held}, power, loss)

    def _command(
        self,
        one: Commanded,
        signals: Iterator[Scalar],
        q: list[Scalar],
        qd: list[Scalar],
        motion_given: list[bool],
        given: list[Scalar],
    ) -> None:
        """The acceleration that computed torque makes: that of the reference, corrected by the error."""
        n = len(one.joint.speeds)
        places, rates, seconds = ([next(signals) for _ in range(n)] for _ in range(3))
        for i, (c, k) in enumerate(zip(one.joint.coordinates, one.joint.speeds)):
            motion_given[k] = True
            given[k] = seconds[i] + one.law.kd * (rates[i] - qd[k]) + one.law.kp * (places[i] - q[c])

    def _applied(self, signals: Iterator[Scalar], q: list[Scalar], qd: list[Scalar]) -> list[Scalar]:
        """What the force laws ask of the actuators."""
        applied: list[Scalar] = [0.0] * self.robot.nv
        for one in self.driven:
            if one.timed:
                applied[one.speed] = applied[one.speed] + next(signals)
                continue
            reference = (next(signals), next(signals)) if one.reference is not None else None
            place = q[one.coordinate] if one.coordinate is not None else 0.0
            applied[one.speed] = applied[one.speed] + one.force(0.0, place, qd[one.speed], reference)
        for motion in self.feedforward:
            for k in motion.joint.speeds:
                applied[k] = applied[k] + next(signals)
        return applied

    def _friction(self, signals: Iterator[Scalar], qd: list[Scalar], motion_given: list[bool]) -> dict[int, Scalar]:
        """Dry friction against the motion, as the actuators feel it: by direction of slipping, or smooth."""
        friction: dict[int, Scalar] = {}
        for k, coulomb in self.coulomb.items():
            direction = next(signals) if not self.smooth else None
            if motion_given[k]:
                friction[k] = coulomb * sign(qd[k])
            elif direction is None:
                friction[k] = coulomb * qd[k] / square_root(qd[k] * qd[k] + self.smooth * self.smooth)
            else:
                friction[k] = coulomb * direction
        return friction

    def _wrenches_from(self, signals: Iterator[Scalar]) -> tuple[dict[int, Any], list[Load]]:
        constant, loads = self._constant
        if not self.wrenches:
            return dict(constant), loads
        timed: list[Applied] = [(w.link, [next(signals) for _ in range(6)], w.at, w.axes) for w in self.wrenches]
        on, more = on_bodies(self.robot.tree, timed)
        merged = dict(on)
        for body, six in constant.items():
            merged[body] = [a + b for a, b in zip(six, merged[body])] if body in merged else list(six)
        return merged, [*loads, *more]

    def _wrench_power(self, q: list[Scalar], qd: list[Scalar], on: dict[int, Any], loads: list[Load]) -> Scalar:
        """wᵀ t of all external wrenches: the joint forces that balance them, times the speeds."""
        power: Scalar = 0.0
        if on or loads:
            n = self.robot.nv
            tau, _ = dynamics(_massless(self.bodies), ZERO, q, [0.0] * n, [0.0] * n, [True] * n, on, loads)
            for force, speed in zip(tau, qd):
                power = power - force * speed
        return power

    def _rates(self, now: Evaluation) -> list[Scalar]:
        """Y' of an evaluation."""
        rates = coordinate_rates(self.robot, now.q, now.qd)
        speeds = now.slots if now.slots is not None else [now.qdd[k] for k in self.cv]
        return [rates[k] for k in self.cq] + speeds + [now.power, now.loss]

    def program(self, held: tuple[int, ...], signals: int, symbols: Sequence[Symbol] = ()) -> Program:
        """The equations recorded: `rate` is y', `row` the rest of an evaluation.

        The bodies' numbers in `symbols` are inputs, too, behind the signals.
        """
        recording = Recording("plant")
        u, y = recording.input("u", signals + len(symbols)), recording.input("y", self.measured)
        bodies = regrouped(self.bodies)
        for i, body in enumerate(bodies):
            own = {path: u[signals + k] for k, (place, path) in enumerate(symbols) if place == i}
            bodies = (*bodies[:i], with_symbols(body, own) if own else body, *bodies[i + 1 :])
        now = self.equations(u[:signals], [*y, 0.0, 0.0], held, bodies)
        support = [now.support[k] for k in held]
        guard = {} if now.guard is None else {"guard": [now.guard]}
        row = [*now.q, *now.qd, *now.qdd, *now.tau, *support]
        return recording.program(rate=self._rates(now), row=row, **guard)

    # ---- evaluations

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        """Y' for the integrator."""
        self.evaluations += 1
        held = tuple(sorted(self.modes.held))
        signals = self.signals(t, self.modes)
        single = self.compiled.single(held, len(signals))
        if single is not None:
            rate = single(signals, y[: self.measured])
            if rate is not None:
                return rate
        return np.array(self._rates(self._plain(signals, y, held)))

    def evaluate(self, t: float, y: np.ndarray, modes: Modes | None = None) -> Evaluation:
        """Everything at one instant."""
        self.evaluations += 1
        modes = modes or self.modes
        held = tuple(sorted(modes.held))
        signals = self.signals(t, modes)
        single = self.compiled.single(held, len(signals))
        if single is not None and single(signals, y[: self.measured]) is not None:
            rate, row = (part.tolist() for part in single.parts[2:4])
            cuts = np.cumsum([0, self.robot.nq, self.robot.nv, self.robot.nv, self.robot.nv])
            q, qd, qdd, tau = (row[a:b] for a, b in pairwise(cuts))
            return Evaluation(q, qd, qdd, tau, dict(zip(held, row[cuts[-1] :])), rate[-2], rate[-1])
        return self._plain(signals, y, held)

    def _plain(self, signals: list[float], y: np.ndarray, held: tuple[int, ...]) -> Evaluation:
        try:
            return self.equations(signals, y.tolist(), held, self.bodies)
        except (ZeroDivisionError, OverflowError):
            return self._lost(signals, y.tolist(), held)

    def _lost(self, signals: Sequence[Scalar], y: Sequence[Scalar], held: Sequence[int]) -> Evaluation:
        """A state in which nothing can be computed but where things are."""
        n, lost = self.robot.nv, math.nan
        q, qd, _ = self._state(iter(signals), y)
        return Evaluation(q, qd, [lost] * n, [lost] * n, dict.fromkeys(held, lost), lost, lost)

    def many(self, signals: np.ndarray, states: np.ndarray, held: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Q, qd, qdd, tau of many instants with the same modes, one row each."""
        columns = [np.ascontiguousarray(x) for x in signals.T], [np.ascontiguousarray(x) for x in states.T]
        with np.errstate(all="ignore"):
            try:
                now = self.equations(*columns, held, self.bodies)
            except (ZeroDivisionError, OverflowError):
                now = self._lost(*columns, held)
        found = {}
        for name in ("q", "qd", "qdd", "tau"):
            values = getattr(now, name)
            found[name] = np.empty((len(states), len(values)))
            for k, x in enumerate(values):
                found[name][:, k] = x
        return found

    def identity(self) -> tuple:
        """All that the recorded equations depend on."""
        return (self.bodies, self.robot.gravity, *self.structure())

    def structure(self) -> tuple:
        """All of that but the bodies and gravity."""
        robot = self.robot
        return (
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [motion.joint.name for motion in (*self.prescribed, *self.feedforward)],
            [(one.joint.name, one.law) for one in self.commanded],
            [(one.speed, one.coordinate, one.timed, one.reference is not None, one.law) for one in self.driven],
            [(w.link, w.at, w.axes, robot.tree.seats[w.link]) for w in self.wrenches],
            self._constant,
            self.smooth,
            self.coulomb,
            self.viscous,
        )

    def impact(self, t: float, y: np.ndarray, stopped: int) -> tuple[np.ndarray, float]:
        """Y after speed `stopped` was brought to rest at a blow, and the kinetic energy that this took.

        The same recursion with impulses for forces and jumps of speeds for accelerations: no gravity, no velocity
        terms, springs and friction too weak to matter in no time. Other joints that lie at a stop stay there if the
        blow drives them into it.
        """
        q, qd = self.complete(t, y)
        n = self.robot.nv
        fixed = {stopped, *(k for motion in self.prescribed for k in motion.joint.speeds)}
        pushing = {  # the direction in which a stop can push
            k: 1.0 if math.isinf(high) else -1.0
            for k, (low, high) in self.modes.held.items()
            if math.isinf(low) or math.isinf(high)
        }
        while True:
            jumps = [0.0] * n
            jumps[stopped] = -qd[stopped]
            given = [k in fixed or k in pushing for k in range(n)]
            sought, _ = dynamics(bare(self.robot.tree.bodies), ZERO, q, [0.0] * n, jumps, given)
            pulled = [k for k, direction in pushing.items() if sought[k] * direction < 0]
            if not pulled:
                break
            del pushing[max(pulled, key=lambda k: abs(sought[k]))]
        for k in range(n):
            jumps[k] = jumps[k] if given[k] else sought[k]
        after = y.copy()
        for k in self.cv:
            after[self.place_of(k)] += jumps[k]
        after[self.place_of(stopped)] = 0.0
        return after, self._kinetic(q, qd) - self._kinetic(q, self.complete(t, after)[1])

    def _kinetic(self, q: list[float], qd: list[float]) -> float:
        n = self.robot.nv
        momenta, _ = dynamics(bare(self.robot.tree.bodies), ZERO, q, [0.0] * n, qd, [True] * n)
        return sum(p * v for p, v in zip(momenta, qd)) / 2


def _massless(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    return tuple(replace(body, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0) for body in bare(bodies))
