"""Forces that are functions of time and of the whole state of a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from ..dynamics.spatial import dot
from ..laws.forces import ForceLaw
from ..machine.program.formulas import Curve, value
from ..machine.program.scalars import Scalar
from ..robot.model import Leader
from ..text.formula_tree import TIME, Formula, Lookup


class StateForce(Protocol):
    """A force from the time, all coordinates and all speeds; `timed` if it reads the time."""

    @property
    def timed(self) -> bool: ...

    @property
    def recordable(self) -> bool:
        """Whether it runs on all scalars, so that equations with it can be compiled."""
        ...

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar: ...


@dataclass(frozen=True)
class AlongForce:
    """A law of one coordinate and its rate, for an actuator that moves by the weighted sum of several joints."""

    law: ForceLaw
    force: Callable[..., Scalar] = field(repr=False, compare=False)
    joints: tuple[Leader, ...]

    @property
    def timed(self) -> bool:
        return False

    @property
    def recordable(self) -> bool:
        return True

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        place = dot([one.ratio for one in self.joints], [q[one.coordinate] for one in self.joints])
        rate = dot([one.ratio for one in self.joints], [qd[one.speed] for one in self.joints])
        return self.force(0.0, place, rate, None)


@dataclass(frozen=True)
class FormulaForce:
    """A formula whose names are places among the coordinates and the speeds; it runs on all scalars."""

    formula: Formula
    coordinates: tuple[tuple[str, int], ...]
    speeds: tuple[tuple[str, int], ...]
    timed: bool
    tables: tuple[tuple[Lookup, Curve], ...] = field(default=())

    @property
    def recordable(self) -> bool:
        return True

    @cached_property
    def _curves(self) -> dict[Lookup, Curve]:
        return dict(self.tables)

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        known = {name: q[k] for name, k in self.coordinates} | {name: qd[k] for name, k in self.speeds}
        return value(self.formula, {**known, TIME: t}, self._curves)
