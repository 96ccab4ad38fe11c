"""The system of a run: a robot, its constraints and its inputs, all of them fixed.

The state y of a system consists of the coordinates and speeds of all joints whose motion isn't prescribed, for every
closure method, and of two quadratures: the work of actuators and external wrenches, and the energy lost to friction and
damping.  Quantities that change at events are in `discrete.py`; those that depend on time alone enter the equations as
signals (`signals.py`); the equations themselves are in `equations.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...machine.program import Scalar
from ...mechanics.closure import METHODS, NOTHING_TO_CLOSE, Closure, Method, MethodParameters, Tie
from ...mechanics.numbers import Path, number_leaves_of_bodies, regrouped_bodies
from ...mechanics.tree import Load, Wrenches, constant_wrenches, wrenches_on_bodies
from ...robot import Body, Coupling, Drive, Joint, Robot, Three
from .delayed_state import DelayedInput, seen_of_law
from .inputs import Driven, Inputs


class Model(NamedTuple):
    """All numbers of a robot that its equations read, and their structure; any number may be a symbol."""

    bodies: tuple[Body, ...]
    gravity: Three
    ties: tuple[Tie, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    coulomb: tuple[float, ...] = ()  # dry friction of those speeds that have any


class Stop(NamedTuple):
    """The limits of a joint that has a single coordinate."""

    coordinate: int
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class System:
    """A robot with its inputs; `loops` has no rows where all joints can move independently."""

    robot: Robot
    loops: Closure
    inputs: Inputs = field(default_factory=Inputs)
    closure: str = "denoc"  # the method by which loops are kept closed
    parameters: Mapping[str, float | None] = field(default_factory=dict)  # of closure methods; None: the default
    preferred: tuple[int, ...] | None = None  # speeds that are to be independent; None: the actuated ones
    switches: bool = False  # a run takes other coordinates, without stopping, where these become unusable
    smooth: float = 0.0  # the rate below which dry friction is smooth; 0: joints stick
    stops: bool = True  # limits of joints are stops
    tuned: bool = False  # gains of force laws are inputs of recorded equations
    carried: tuple[int, ...] = ()  # speeds of joints that prescribed motions carry along (`driven_joints.py`)
    planning: bool = False  # the equations find the forces of feedforward, of which signals give the planned motion
    # places in `regrouped` whose numbers differ from run to run, and are inputs of recorded equations; None: one run
    symbols: tuple[Path, ...] | None = None

    @property
    def method(self) -> Method:
        return METHODS[self.closure] if self.loops.m else NOTHING_TO_CLOSE

    @cached_property
    def values(self) -> MethodParameters:
        """The values of the method's own parameters."""
        return self.method.values(self.parameters)

    @cached_property
    def model(self) -> Model:
        """The robot's numbers without dry friction, which enters as a force or a mode so that steps stay smooth."""
        smooth = bodies_without_dry_friction(self.robot.tree.bodies)
        return Model(smooth, self.robot.gravity, self.loops.ties, self.loops.couplings, tuple(self.coulomb.values()))

    @cached_property
    def regrouped(self) -> Model:
        """A model with the same motion and fewer inertial numbers, for compiled code."""
        return self.model._replace(bodies=regrouped_bodies(self.model.bodies))

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers at the places `symbols`, which are the last signals."""
        known = dict(number_leaves_of_bodies(self.regrouped)) if self.symbols else {}
        return [known[path] for path in self.symbols or ()]

    def constraints(self, model: Model) -> Closure:
        """The constraints, made with the numbers of this model."""
        return self.loops if model is self.model else constraints_with_numbers(self.loops, model)

    # ---- given and free motion

    @cached_property
    def free(self) -> tuple[Joint, ...]:
        """The joints whose motion isn't prescribed."""
        ruled = {motion.joint.name for motion in self.inputs.prescribed}
        return tuple(joint for joint in self.robot.moving if joint.name not in ruled)

    @cached_property
    def prescribed(self) -> tuple[int, ...]:
        """Speeds whose motion is a function of time."""
        return tuple(k for motion in self.inputs.prescribed for k in motion.joint.speeds)

    @cached_property
    def commanded(self) -> tuple[int, ...]:
        """Speeds whose accelerations are commanded by computed torque."""
        return tuple(k for one in self.inputs.commanded for k in one.joint.speeds)

    @property
    def ruled(self) -> tuple[int, ...]:
        """Speeds whose motion is given in every mode."""
        return (*self.prescribed, *(k for k in self.commanded if k not in self.prescribed))

    @cached_property
    def led(self) -> bool:
        """Whether feedforward leads all actuators, whose forces then follow from the planned motion alone."""
        motions = (*self.inputs.feedforward, *self.inputs.prescribed)
        return not self.pushing and {*self.robot.driven} <= {k for motion in motions for k in motion.joint.speeds}

    # ---- effort limits, dry friction, damping, stops, wrenches

    @cached_property
    def bounded(self) -> dict[int, tuple[float, float]]:
        """The limits of each actuator whose law may demand more than they allow, by its place (`Driven.speed`)."""
        inputs = self.inputs
        limits = {one.speed: (one.low, one.high) for one in inputs.driven if one.bounded}
        led = (one.joint for one in inputs.feedforward if one.joint.actuated and one.joint.effort.limited)
        return limits | {k: (joint.effort.low, joint.effort.high) for joint in led for k in joint.speeds}

    @cached_property
    def pushing(self) -> tuple[int, ...]:
        """The places of the actuators that are no joint's and follow a law."""
        first = self.robot.nv
        return tuple(sorted({one.speed - first for one in self.inputs.driven if one.speed >= first}))

    @cached_property
    def coulomb(self) -> dict[int, float]:
        """The dry friction of each speed that has any."""
        joints = self.robot.moving
        return {k: d.coulomb for joint in joints for k, d in zip(joint.speeds, joint.drives) if d.coulomb}

    @cached_property
    def stopped(self) -> dict[int, Stop]:
        """The stops of each speed that has any."""
        if not self.stops:
            return {}
        led = {*self.commanded, *self.carried}
        limited = (j for j in self.free if j.limits and j.speeds[0] not in led)
        return {j.speeds[0]: Stop(j.coordinates[0], *(j.limits or (-math.inf, math.inf))) for j in limited}

    @cached_property
    def switching(self) -> dict[int, float]:
        """Speeds that may stick or come to a stop, with the dry friction that then holds them."""
        rough, led = {} if self.smooth else self.coulomb, {*self.commanded, *self.carried}
        candidates = (k for k in self.state_speeds if k not in led and (k in rough or k in self.stopped))
        return {k: rough.get(k, 0.0) for k in candidates}

    @cached_property
    def signalled(self) -> tuple[int, ...]:
        """Speeds of which signals may say whether they are held, so that all modes have one program: those of trees."""
        return () if self.loops.m else tuple(self.switching)

    @cached_property
    def pivots(self) -> int:
        """The number of pivots that are watched, with the inverse bound of each among the signals."""
        return self.robot.nv if self.loops.m else 0

    @cached_property
    def follows(self) -> bool:
        """Whether the planned motion of feedforward has to be followed from step to step, so that loops stay closed."""
        return bool(self.inputs.feedforward) and self.loops.m > 0

    @cached_property
    def keeping(self) -> tuple[int, ...]:
        """The speeds of a mechanism that may be held without bearing; signals say with which supports."""
        return tuple(self.switching) if self.loops.m and len(self.switching) > 1 else ()

    @cached_property
    def constant(self) -> tuple[Wrenches, list[Load]]:
        """The wrenches of the robot's own file, on the bodies."""
        return wrenches_on_bodies(self.robot.tree, constant_wrenches(self.robot))

    # ---- what laws with dead time see

    @cached_property
    def seen(self) -> tuple[DelayedInput | None, ...]:
        """What each force law sees of an earlier state; None for those that see the present one."""
        return tuple(self._seen(one) if one.dead_time else None for one in self.inputs.driven)

    def _seen(self, law: Driven) -> DelayedInput:
        coordinates, speeds = seen_of_law(self.robot, law)
        motion = iter(range(self.motion_signals))
        given: dict[tuple[str, int], int] = {}
        for prescribed in self.inputs.prescribed:
            joint = prescribed.joint
            for kind, places in (("q", joint.coordinates), ("qd", joint.speeds), ("qdd", joint.speeds)):
                given |= {(kind, k): -1 - next(motion) for k in places}
        wanted = [*(("q", k) for k in coordinates), *(("qd", k) for k in speeds)]
        sources = [given[one] if one in given else self.remembered.index(self._component(*one)) for one in wanted]
        return DelayedInput(coordinates, speeds, tuple(sources))

    def _component(self, kind: str, k: int) -> int:
        return self.state_coordinates.index(k) if kind == "q" else self.place_of(k)

    @cached_property
    def remembered(self) -> tuple[int, ...]:
        """The components of the state that laws with dead time see."""
        seen = [seen_of_law(self.robot, one) for one in self.inputs.driven if one.dead_time]
        coordinates = {k for places, _ in seen for k in places if k in self.state_coordinates}
        speeds = {k for _, places in seen for k in places if k in self.state_speeds}
        return tuple(sorted({*(self._component("q", k) for k in coordinates), *(self.place_of(k) for k in speeds)}))

    # ---- the state

    @cached_property
    def state_coordinates(self) -> list[int]:
        """The coordinates in the state, in their order there."""
        return [k for joint in self.free for k in joint.coordinates]

    @cached_property
    def state_speeds(self) -> list[int]:
        """The speeds in the state, behind the coordinates."""
        return [k for joint in self.free for k in joint.speeds]

    @cached_property
    def measured(self) -> int:
        """The number of state components whose error controls the step: all but the quadratures."""
        return len(self.state_coordinates) + len(self.state_speeds)

    @cached_property
    def units(self) -> list[int]:
        """Places in the state at which the sets of Euler parameters begin."""
        joints = [joint for joint in self.free if joint.type.orientation is not None]
        return [self.state_coordinates.index(joint.coordinates[joint.type.orientation or 0]) for joint in joints]

    def place_of(self, speed: int) -> int:
        """The place of a speed in the state."""
        return len(self.state_coordinates) + self.state_speeds.index(speed)

    def state(self, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
        """The state at the run's start, from all coordinates and speeds of the robot."""
        return np.array([q[k] for k in self.state_coordinates] + [qd[k] for k in self.state_speeds] + [0.0, 0.0])

    def unit(self, y: np.ndarray) -> np.ndarray:
        """The state with Euler parameters of norm 1, or many states, along the last axis."""
        for first in self.units:
            y = y.copy()
            e = y[..., first : first + 4]
            e /= np.sqrt((e * e).sum(axis=-1, keepdims=True))
        return y

    def expanded(
        self, motion: Sequence[Scalar], y: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar], dict[int, Scalar]]:
        """All coordinates and speeds, and the prescribed accelerations, from the state and the signals of motions."""
        signals = iter(motion)
        q: list[Scalar] = [0.0] * self.robot.nq
        qd: list[Scalar] = [0.0] * self.robot.nv
        for place, k in enumerate(self.state_coordinates):
            q[k] = y[place]
        for place, k in enumerate(self.state_speeds, start=len(self.state_coordinates)):
            qd[k] = y[place]
        given: dict[int, Scalar] = {}
        for one in self.inputs.prescribed:
            for k in one.joint.coordinates:
                q[k] = next(signals)
            for k in one.joint.speeds:
                qd[k] = next(signals)
            for k in one.joint.speeds:
                given[k] = next(signals)
        return q, qd, given

    @property
    def motion_signals(self) -> int:
        """The number of signals that belong to prescribed motions."""
        return sum(one.joint.type.nq + 2 * one.joint.type.nv for one in self.inputs.prescribed)

    # ---- the identity of recorded equations

    def _seat(self, actuator: int) -> object:
        """The seat of the link on which an actuator acts, if it acts on one."""
        return self.robot.tree.seats.get(self.robot.actuators[actuator].link)

    def structure(self) -> tuple[object, ...]:
        """Everything that the recorded equations depend on, except the numbers of the model."""
        robot, inputs, loops = self.robot, self.inputs, self.loops
        parts: tuple[object, ...] = (
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [motion.joint.name for motion in (*inputs.prescribed, *inputs.feedforward)],
            [(one.joint.name, None if self.tuned else one.law) for one in inputs.commanded],
            [
                (
                    one.speed,
                    one.coordinate,
                    one.timed,
                    one.reference is not None,
                    one.form if self.tuned else one.whole or (None if one.timed else one.law),
                    *((seen,) if seen is not None else ()),
                )
                for one, seen in zip(inputs.driven, self.seen)
            ],
            [(w.link, w.at, w.axes, robot.tree.seats[w.link], w.whole) for w in inputs.wrenches],
            self.constant,
            self.smooth,
            [*self.coulomb],
            [*self.bounded],
            [(k, self.robot.actuators[k], self._seat(k)) for k in self.pushing],
        )
        if self.planning:
            parts = (*parts, "planning")
        if self.carried:
            parts = (*parts, "carried", self.carried)
        if not loops.m:
            return parts
        size = loops.length if self.method.scaled else None
        return (*parts, self.closure, self.values, len(inputs.drives), size)


def bodies_without_dry_friction(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """The bodies without dry friction in their joints."""
    return tuple(
        replace(b, drives=tuple(replace(d, coulomb=0.0) for d in b.drives)) if any(map(_rubs, b.drives)) else b
        for b in bodies
    )


def _rubs(drive: Drive) -> bool:
    """Whether the drive has dry friction, or a symbol or an array in its place."""
    return not isinstance(drive.coulomb, float) or drive.coulomb != 0.0


def dry_friction_of_system(system: System, bodies: Sequence[Body]) -> tuple[float, ...]:
    """The dry friction of those speeds that have any, by other numbers of the bodies."""
    known = {k: drive.coulomb for body in bodies for k, drive in zip(body.speeds, body.drives)}
    return tuple(known[k] for k in system.coulomb)


def constraints_with_numbers(loops: Closure, model: Model) -> Closure:
    """The constraints with the numbers of a model."""
    return loops.with_numbers(model.bodies, model.ties, model.couplings)
