"""The inputs of a system: given motions, force laws, wrenches and drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from ...laws import ComputedTorque, Curve, Force
from ...machine.program import Scalar, as_float
from ...machine.stepping import PastSteps
from ...robot import Joint
from .reference import HeldJoint, Reference, Turning
from .state_force import StateForce

Motion = Reference | Turning | HeldJoint


@dataclass(frozen=True)
class Driven:
    """A speed, or an actuator that is no joint's, under a force law.

    `timed` if the force depends on time alone, `steady` if it is constant.
    """

    speed: int  # from the number of the robot's speeds on: of its actuators that are no joint's
    coordinate: int | None
    force: Force
    reference: Motion | None
    place: int  # of the speed in its joint
    timed: bool = False
    steady: bool = False
    law: Any = None  # the law that `force` evaluates, for the identity of programs
    low: float = -math.inf  # of the actuator's force
    high: float = math.inf
    whole: StateForce | None = None  # the force, where it is a function of time and the state of all joints
    dead_time: float = 0.0  # how long ago the state was that the law sees
    gains: tuple[float, ...] = ()  # parameters of a law, and the force that has other ones
    tuned: Callable[[Sequence[Any]], Force] | None = None
    course: Callable[[float], float] | None = None  # of a law of time that has gains: what takes the time's place then

    @property
    def varies(self) -> bool:
        """Whether the force may vary while the state doesn't."""
        if self.whole is not None:
            return self.whole.timed
        return (self.timed and not self.steady) or self.reference is not None

    @property
    def bounded(self) -> bool:
        """Whether the force may come to a limit of its actuator."""
        if self.steady and self.low < self.force(0.0, 0.0, 0.0, None) < self.high:
            return False
        return math.isfinite(self.low) or math.isfinite(self.high)

    def demand(self, t: float, q: Sequence[float], qd: Sequence[float]) -> float:
        """The law's force at t, whatever the limits."""
        if self.timed:
            return float(self.force(t, 0.0, 0.0, None))
        if self.whole is not None:
            return as_float(self.whole(t, q, qd))
        reference = None
        if self.reference is not None:
            places, rates, _ = self.reference.at(t)
            reference = float(places[self.place]), float(rates[self.place])
        place = q[self.coordinate] if self.coordinate is not None else 0.0
        return float(self.force(t, place, qd[self.speed], reference))

    def in_state(
        self,
        position: Scalar,
        rate: Scalar,
        reference: tuple[Scalar, Scalar] | None,
        gains: Sequence[Scalar] | None = None,
    ) -> Scalar:
        """The force of a law that doesn't depend on time: laws are declared for numbers, and run on all scalars.

        `gains` take the place of its own.
        """
        force = self.force if gains is None or self.tuned is None else self.tuned(gains)
        return cast(Callable[..., Scalar], force)(0.0, position, rate, reference)

    def at_time(self, t: Any, tuned: bool) -> Any:
        """What programs read of a law of time: its force, or its course where its gains are inputs, too."""
        if tuned and self.course is not None:
            return self.course(t)
        return self.force(t, 0.0, 0.0, None)

    @property
    def form(self) -> Any:
        """The law without its gains, for the identity of programs to which these are inputs.

        Of a law of time the course is an input, too.
        """
        if self.timed:
            return type(self.law).__name__
        if self.whole is not None or self.tuned is None:
            return self.whole or self.law
        return type(self.law).__name__, self.law.model_copy(update=dict.fromkeys(self.law.gains(), 0.0))


@dataclass(frozen=True)
class Commanded:
    """A joint under computed torque along a reference."""

    joint: Joint
    reference: Motion
    law: ComputedTorque

    @property
    def gains(self) -> tuple[float, float]:
        """Those of the error and of its rate."""
        return self.law.kp, self.law.kd


@dataclass(frozen=True)
class TimedWrench:
    """A wrench on a link with six functions of time, [n; f]; one that depends on the state gives the time itself."""

    link: str
    components: tuple[Callable[[Any], Any], ...]
    at: tuple[float, float, float]
    axes: str
    whole: tuple[tuple[int, StateForce], ...] = ()  # places of components that depend on the state, and their functions
    steady: tuple[int, ...] = ()  # places of components that are constant

    def with_state(self, six: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The six components, from the functions of time."""
        made = list(six)
        for place, force in self.whole:
            made[place] = force(made[place], q, qd)
        return made


@dataclass(frozen=True)
class Driving:
    """A drive of the scenario: the motion of one row of the constraints."""

    name: str
    curve: Curve


class Sampled(Protocol):
    """An input that reads the state at the beginning of each step and keeps what it finds until the next one."""

    def sample(self, t: float, q: Sequence[float], qd: Sequence[float]) -> None: ...


class Recalled(Protocol):
    """What a run remembers of its states (`memory.py`)."""

    @property
    def start(self) -> float:
        """The instant at which the run began."""
        ...

    @property
    def dead_times(self) -> tuple[float, ...]: ...

    def begin(self, t: float, y: np.ndarray, places: Sequence[int]) -> None: ...

    def add(self, begin: float, course: Callable[[float], np.ndarray] | PastSteps) -> None: ...

    def at(self, t: Any) -> np.ndarray: ...

    def known(self, t: float, powers: int) -> PastSteps: ...

    def breaks_behind(self, t: float) -> list[float]: ...


@dataclass(frozen=True)
class Inputs:
    """All inputs of one system; joints that no input names are free and without actuator force."""

    prescribed: tuple[Motion, ...] = ()
    driven: tuple[Driven, ...] = ()
    commanded: tuple[Commanded, ...] = ()
    feedforward: tuple[Motion, ...] = ()
    wrenches: tuple[TimedWrench, ...] = ()
    drives: tuple[Driving, ...] = ()
    sampled: tuple[Sampled, ...] = ()  # what is found anew at the beginning of each step
    memory: Recalled | None = None  # of the states that laws with dead time see
    breaks: tuple[float, ...] = ()  # instants at which derivatives of what is given in time may jump

    @property
    def recordable(self) -> bool:
        """Whether the equations with these inputs can be recorded."""
        return all(one.whole is None or one.whole.recordable for one in self.driven)

    @property
    def stepwise(self) -> bool:
        """Whether an input looks at the state as it is at the beginning of a step."""
        return bool(self.sampled)

    @cached_property
    def timeless(self) -> bool:
        """Whether the equations don't depend on time."""
        timed = any(one.varies for one in self.driven)
        return not (timed or self.prescribed or self.commanded or self.feedforward or self.wrenches or self.drives)
