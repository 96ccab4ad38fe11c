"""The kinds of rows of a tie.

A row is a scalar function of the second frame's place in the first's axes, or, if it is one `on_speeds` alone, a linear
function of that place's rates which is no rate of any such function.  Letters as in `ties.py`.

Contacts roll or skate on the first frame's xy-plane.  A contact has one row on positions, which keeps it on the plane,
and rows on speeds alone, which keep the point of the second link that touches the plane from sliding.  With n the
plane's normal, s the disc's axis (the second frame's z) and c the vector from the second's origin to the point that
touches, the speed of that point is

    v + w x c,   c = R (s_z s - n) / sqrt(1 - s_z^2) of a disc,   c = -R n of a ball,   c = 0 of an edge,

and its rate, in which c moves as the contact does, is a + al x c + w x c'.  A disc's rows on speeds are along n x s,
the way that it rolls, and along the level part of s; those of a ball are along the plane's x and y.  An edge lies along
the second's x, and its row is along n x s[0].  So wheels on one axle always have their sideways rows in common,
whichever way the axle points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...machine.program import Scalar, square_root
from ..tree.spatial import Vector, add, cross, dot, scale

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


# ---- contacts that roll or skate

ALONG, ACROSS = 0, 1  # the directions of a disc's rows
X, Z = 0, 2
NORMAL = unit_row_of_tie(Z)


def _nothing(place: TiePlace, row: Row) -> Scalar:
    return 0.0


def _level(place: TiePlace) -> Scalar:
    """The length of the level part of a disc's axis: the sine of the angle between its plane and the ground."""
    x, y, _ = place.s[Z]
    return square_root(x * x + y * y)


# ---- a disc


def _arm(place: TiePlace, row: Row) -> Vector:
    """The vector c from a disc's centre to the point that touches the plane."""
    s = place.s[Z]
    one_over = 1.0 / _level(place)
    return scale(row.radius, scale(one_over, add(scale(s[Z], s), scale(-1.0, NORMAL))))


def _touching(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> tuple[Vector, Vector, Vector]:
    """The speed of a disc's point that touches the plane, the rate of that speed, and the rate of the disc's axis."""
    s, w, c = place.s[Z], speed.turn, _arm(place, row)
    ds = cross(w, s)
    one_over = 1.0 / _level(place)
    shrinking = (s[0] * ds[0] + s[1] * ds[1]) * one_over * one_over  # the level part's rate, relative to itself
    turned = scale(one_over, add(scale(ds[Z], s), scale(s[Z], ds)))
    dc = add(scale(row.radius, turned), scale(-1.0 * shrinking, c))
    return add(speed.shift, cross(w, c)), add(add(rate.shift, cross(rate.turn, c)), cross(w, dc)), ds


def _direction(s: Vector, row: Row) -> Vector:
    """The direction of a disc's row on speeds, or the rate of that direction from the rate of s; not a unit vector."""
    return [-s[1], s[0], 0.0] if row.axes[0] == ALONG else [s[0], s[1], 0.0]


def _rim(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    return _touching(place, row, speed, rate)[1][Z]


def _rolls(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    v, a, ds = _touching(place, row, speed, rate)
    return dot(a, _direction(place.s[Z], row)) + dot(v, _direction(ds, row))


def _push(place: TiePlace, row: Row) -> tuple[Vector, Vector]:
    """The wrench about a disc's centre of a force at the point that touches the plane."""
    f = _direction(place.s[Z], row) if row.axes else NORMAL
    return cross(_arm(place, row), f), f


# ---- a ball, and an edge


def _ball(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    return add(rate.shift, cross(rate.turn, scale(-row.radius, NORMAL)))[row.axes[0]]


def _push_of_ball(place: TiePlace, row: Row) -> tuple[Vector, Vector]:
    f = unit_row_of_tie(row.axes[0])
    return cross(scale(-row.radius, NORMAL), f), f


def _sideways(edge: Vector) -> Vector:
    """The direction across an edge, or its rate from the rate of the edge's direction; not a unit vector."""
    return [-edge[1], edge[0], 0.0]


def _skates(place: TiePlace, row: Row, speed: TieRate, rate: TieRate) -> Scalar:
    edge = place.s[X]
    return dot(rate.shift, _sideways(edge)) + dot(speed.shift, _sideways(cross(speed.turn, edge)))


CONTACTS = {
    "rim": RowKind(
        lambda at, row: at.p[Z] - row.radius * _level(at),
        _rim,
        _push,
        about=lambda row: "the force along z",
    ),
    "rolls": RowKind(
        _nothing,
        _rolls,
        _push,
        on_speeds=True,
        about=lambda row: f"the force {'along' if row.axes[0] == ALONG else 'across'} its way",
    ),
    "ball": RowKind(
        lambda at, row: at.p[Z] - row.radius,
        lambda at, row, speed, rate: rate.shift[Z],
        lambda at, row: (AT_REST, NORMAL),
        about=lambda row: "the force along z",
    ),
    "ball rolls": RowKind(
        _nothing,
        _ball,
        _push_of_ball,
        on_speeds=True,
        about=lambda row: f"the force along {'xy'[row.axes[0]]}",
    ),
    "skates": RowKind(
        _nothing,
        _skates,
        lambda at, row: (AT_REST, _sideways(at.s[X])),
        on_speeds=True,
        about=lambda row: "the force across its edge",
    ),
}
