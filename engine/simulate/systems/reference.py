"""Motions in time: a joint's coordinates, speeds and accelerations as functions of t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...laws import Curve
from ...robot import Joint

Sampled = tuple[list[Any], list[Any], list[Any]]


@dataclass(frozen=True)
class Reference:
    """The motion of a joint whose coordinates are one curve each."""

    joint: Joint
    curves: Sequence[Curve]
    kinks: tuple[float, ...] = ()

    def at(self, t: Any) -> Sampled:
        """Coordinates, speeds and accelerations at one instant, or at an array of instants."""
        samples = [curve(t) for curve in self.curves]
        return [s[0] for s in samples], [s[1] for s in samples], [s[2] for s in samples]


@dataclass(frozen=True)
class Turning:
    """A spherical joint that turns about one axis, from an initial orientation, by an angle that is a curve."""

    joint: Joint
    curve: Curve  # of the angle
    axis: tuple[float, float, float]  # unit vector in link axes, and so in those of the initial orientation
    start: tuple[float, ...]  # Euler parameters
    kinks: tuple[float, ...] = ()

    def at(self, t: Any) -> Sampled:
        angle, rate, second = self.curve(t)
        c, s = np.cos(angle / 2), np.sin(angle / 2)
        turn = [c, *(x * s for x in self.axis)]
        return (
            reference_signal_turn_product(list(self.start), turn),
            [x * rate for x in self.axis],
            [x * second for x in self.axis],
        )


@dataclass(frozen=True)
class HeldJoint:
    """A joint of any type that stays in its place."""

    joint: Joint
    place: tuple[float, ...]
    kinks: tuple[float, ...] = ()

    def at(self, t: Any) -> Sampled:
        nothing = 0.0 * t
        still = [nothing] * self.joint.type.nv
        return [x + nothing for x in self.place], still, still


def reference_signal_turn_product(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """The Euler parameters of rotation a, followed by rotation b about the axes that a has turned."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    return [
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 + a2 * b0 + a3 * b1 - a1 * b3,
        a0 * b3 + a3 * b0 + a1 * b2 - a2 * b1,
    ]
