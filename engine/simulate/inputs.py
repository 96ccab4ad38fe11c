"""What acts on a system from outside, and when: given motions, force laws, wrenches, drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..laws.forces import ComputedTorque, Force
from ..laws.motions import Curve
from ..robot.model import Joint
from .reference import Held, Reference, Turning

Motion = Reference | Turning | Held


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


@dataclass(frozen=True)
class Driving:
    """A drive of the scenario: the motion of one row of the constraints."""

    name: str
    curve: Curve


@dataclass(frozen=True)
class Inputs:
    """All that acts on one system; joints that nothing here names are free, and no force acts in them."""

    prescribed: tuple[Motion, ...] = ()
    driven: tuple[Driven, ...] = ()
    commanded: tuple[Commanded, ...] = ()
    feedforward: tuple[Motion, ...] = ()
    wrenches: tuple[TimedWrench, ...] = ()
    drives: tuple[Driving, ...] = ()

    @property
    def timeless(self) -> bool:
        """Whether the time itself doesn't matter to the equations."""
        timed = any((one.timed and not one.steady) or one.reference is not None for one in self.driven)
        return not (timed or self.prescribed or self.commanded or self.feedforward or self.wrenches or self.drives)
