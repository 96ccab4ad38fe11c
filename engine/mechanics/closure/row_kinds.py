"""The kinds of rows of a tie that hold between positions; those of contacts that roll or skate are in `contacts.py`.

A row is a scalar function of the second frame's place in the first's axes, or, if it is one `on_speeds` alone, a linear
function of that place's rates which is no rate of any such function.  Letters as in `ties.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...machine.program.scalars import Scalar, square_root
from ..tree.spatial import Vector, cross, dot, scale

AT_REST: Vector = [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class Row:
    """One scalar constraint of a tie: a kind of row, its axes, and the radius of what rolls."""

    kind: str
    axes: tuple[int, ...] = ()
    radius: float = 0.0


@dataclass
class TiePlace:
    """The place of the second frame in the first: origin p and axes s."""

    p: Vector
    s: list[Vector]


@dataclass
class TieRate:
    """A first or second rate of that place: of its turn and of its shift."""

    turn: Vector
    shift: Vector


@dataclass(frozen=True)
class RowKind:
    """A kind of row: functions of the second frame's place and its rates."""

    value: Callable[[TiePlace, Row], Scalar]  # 0 everywhere for a row on speeds alone
    # the value's second rate, from v and w, a and al; the rate of a row on speeds alone
    second: Callable[[TiePlace, Row, TieRate, TieRate], Scalar]
    push: Callable[[TiePlace, Row], tuple[Vector, Vector]]  # [n; f] of a unit multiplier on the second link
    turning: bool = False  # whether the value is a number without a length
    on_speeds: bool = False
    # what its multiplier is, where that isn't a force or a moment along an axis
    about: Callable[[Row], str] = lambda row: ""


def unit_row_of_tie(k: int) -> Vector:
    """The unit vector along axis k."""
    return [float(r == k) for r in range(3)]


def _slide(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    return rate.shift[row.axes[0]]


def _aligned(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    j, k = row.axes
    s, w = place.s[j], speed.turn
    return cross(rate.turn, s)[k] + cross(w, cross(w, s))[k]


def _distance(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    p, v = place.p, speed.shift
    one_over = 1.0 / square_root(dot(p, p))
    along = dot(p, v) * one_over
    return (dot(p, rate.shift) + dot(v, v) - along * along) * one_over


ON_POSITIONS = {
    "slide": RowKind(
        lambda at, row: at.p[row.axes[0]], _slide, lambda at, row: (AT_REST, unit_row_of_tie(row.axes[0]))
    ),
    "aligned": RowKind(
        lambda at, row: at.s[row.axes[0]][row.axes[1]],
        _aligned,
        lambda at, row: (cross(at.s[row.axes[0]], unit_row_of_tie(row.axes[1])), AT_REST),
        turning=True,
    ),
    "distance": RowKind(
        lambda at, row: square_root(dot(at.p, at.p)),
        _distance,
        lambda at, row: (AT_REST, scale(1.0 / square_root(dot(at.p, at.p)), at.p)),
        about=lambda row: "the force along the way between its points",
    ),
}
