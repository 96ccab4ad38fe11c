"""Contacts that roll or skate on the first frame's xy-plane, as kinds of rows of a tie.

A contact has one row on positions, which keeps it on the plane, and rows on speeds alone, which keep the point of the
second link that touches the plane from sliding.  With n the plane's normal, s the disc's axis (the second frame's z)
and c the vector from the second's origin to the point that touches, the speed of that point is

    v + w x c,   c = R (s_z s - n) / sqrt(1 - s_z^2) of a disc,   c = -R n of a ball,   c = 0 of an edge,

and its rate, in which c moves as the contact does, is a + al x c + w x c'.  A disc's rows on speeds are along n x s,
the way that it rolls, and along the level part of s; those of a ball are along the plane's x and y.  An edge lies along
the second's x, and its row is along n x s[0].  So wheels on one axle always have their sideways rows in common,
whichever way the axle points.
"""

from __future__ import annotations

from ...machine.program.scalars import Scalar, square_root
from ..tree.spatial import Vector, add, cross, dot, scale
from .row_kinds import AT_REST, Row, RowKind, TiePlace, TieRate, unit_row_of_tie

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
