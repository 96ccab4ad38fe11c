"""Constant placements of one frame in another, from elementary turns and shifts.

A placement remembers its turns, so that the recursion can apply them one by one: a turn about an axis costs less than
a matrix, and a right angle costs nothing, because its cosine and sine are exactly 0 and ±1 (cos 90° is 6e-17 in
floating point, which would keep dozens of dead products alive).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

X, Y, Z = 0, 1, 2
TURN_PLANES = ((Y, Z), (Z, X), (X, Y))  # a turn about x takes y towards z, and so on
Turns = tuple[tuple[int, float], ...]  # (axis, angle), the first outermost
Factor = tuple[int, int, float, float]  # a plane turn: axis i towards axis j, cosine, sine
_TINY = 1e-15
_PLAIN = (float, int)


def placement_number(x: Any) -> float:
    """A plain number; a symbol in the place of one stays as it is, for programs with such numbers as arguments."""
    return float(x) if isinstance(x, _PLAIN) else x


def _nothing(angle: float) -> bool:
    return isinstance(angle, _PLAIN) and angle == 0.0


def exact_cosine_sine(angle: float) -> tuple[float, float]:
    """The cosine and sine of an angle, exact for right angles."""
    if not isinstance(angle, _PLAIN):
        c, s = angle.cosine_sine()
        return c, s
    c, s = math.cos(angle), math.sin(angle)
    if abs(c) > 1e-7 < abs(s):  # far from all right angles
        return c, s
    c, s = (0.0 if abs(v) < _TINY else math.copysign(1.0, v) if abs(abs(v) - 1.0) < _TINY else v for v in (c, s))
    return (c, 0.0) if abs(c) == 1.0 and abs(s) < _TINY else (0.0, s) if abs(s) == 1.0 and abs(c) < _TINY else (c, s)


@dataclass(frozen=True)
class Placement:
    """A frame in an outer one: turns (axis, angle), the first outermost, and the origin in the outer axes."""

    turns: Turns = ()
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def then(self, inner: Placement) -> Placement:
        """The placement of `inner`, given in this frame, in this frame's outer one."""
        shift = self.rotation() @ np.array(inner.origin) + np.array(self.origin)
        return Placement(
            _joined(self.turns, inner.turns),
            (placement_number(shift[0]), placement_number(shift[1]), placement_number(shift[2])),
        )

    def turn(self, axis: int, angle: float) -> Placement:
        return self if _nothing(angle) else self.then(Placement(turns=((axis, placement_number(angle)),)))

    def shift(self, x: float, y: float, z: float) -> Placement:
        return self.then(Placement(origin=(placement_number(x), placement_number(y), placement_number(z))))

    def rotation(self) -> np.ndarray:
        """The 3 × 3 rotation matrix from inner axes to outer axes."""
        return turn_matrix_of([(*TURN_PLANES[axis], *exact_cosine_sine(angle)) for axis, angle in self.turns])

    def matrix(self) -> np.ndarray:
        """The 4 × 4 homogeneous matrix."""
        R, p = self.rotation(), np.array(self.origin)
        T: np.ndarray = np.eye(4, dtype=np.result_type(R, p))
        T[:3, :3], T[:3, 3] = R, p
        return T

    def inverse(self) -> Placement:
        back = Placement(tuple((axis, -angle) for axis, angle in reversed(self.turns)))
        return back.shift(*(-x for x in self.origin))

    def factors(self) -> tuple[Factor, ...]:
        """The rotation as at most three plane turns, for the recursion."""
        plain = all(isinstance(angle, _PLAIN) for _, angle in self.turns)
        turns = self.turns if len(self.turns) <= 3 or not plain else zxz_turns(self.rotation())
        return tuple((*TURN_PLANES[axis], *exact_cosine_sine(angle)) for axis, angle in turns)


def turn_matrix(axis: int, angle: float) -> np.ndarray:
    return _plane_turn(*TURN_PLANES[axis], *exact_cosine_sine(angle))


def turn_matrix_of(factors: Sequence[Factor]) -> np.ndarray:
    """The 3 × 3 rotation matrix of plane turns."""
    R = np.eye(3)
    for factor in factors:
        R = R @ _plane_turn(*factor)
    return R


def _plane_turn(i: int, j: int, c: float, s: float) -> np.ndarray:
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    rows[i][i], rows[i][j], rows[j][i], rows[j][j] = c, -s, s, c
    return np.array(rows)


def _joined(first: Turns, second: Turns) -> Turns:
    """The turns in one list, with neighbours about the same axis combined and zero turns left out."""
    turns = list(first)
    for axis, angle in second:
        if turns and turns[-1][0] == axis:
            angle = turns.pop()[1] + angle
        if not _nothing(angle):
            turns.append((axis, angle))
    return tuple(turns)


def zxz_turns(R: np.ndarray) -> Turns:
    """The turns about z, x and z whose product is R."""
    s = math.hypot(R[0, 2], R[1, 2])
    if s < _TINY:
        return _joined((), ((Z, math.atan2(R[1, 0], R[0, 0])), (X, math.atan2(0.0, R[2, 2]))))
    first = math.atan2(R[0, 2], -R[1, 2])
    # from R without the first turn, not from R's last row: if s is mere rounding, both angles are, and have to match
    c, d = math.cos(first), math.sin(first)
    last = math.atan2(-c * R[0, 1] - d * R[1, 1], c * R[0, 0] + d * R[1, 0])
    return _joined((), ((Z, first), (X, math.atan2(s, R[2, 2])), (Z, last)))


def frame_pointing_along_axis(axis: tuple[float, float, float]) -> Placement:
    """A frame whose z axis is `axis`; it is the outer frame itself if `axis` is that frame's z."""
    x, y, z = axis
    if x == 0.0 and y == 0.0:
        return Placement() if z > 0 else Placement(((X, math.pi),))
    if y == 0.0 and z == 0.0:
        return Placement(((Y, math.copysign(math.pi / 2, x)),))
    if x == 0.0 and z == 0.0:
        return Placement(((X, -math.copysign(math.pi / 2, y)),))
    return Placement(((Z, math.atan2(y, x)), (Y, math.atan2(math.hypot(x, y), z))))


def rpy_of_placement(placement: Placement) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a placement, inverse to `placement_from_rpy`; at a pitch of 90 degrees, the yaw is 0."""
    R = placement.rotation()
    yaw = math.atan2(R[1, 0], R[0, 0]) if math.hypot(R[0, 0], R[1, 0]) > _TINY else 0.0
    # from R without the yaw: near a pitch of 90 degrees the yaw may be mere rounding, and the others have to match it
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    return math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1]), pitch, yaw


def placement_from_rpy(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> Placement:
    """The placement Rz(yaw) Ry(pitch) Rx(roll) at xyz, in URDF's order."""
    turns = tuple((axis, angle) for axis, angle in ((Z, rpy[2]), (Y, rpy[1]), (X, rpy[0])) if not _nothing(angle))
    return Placement(turns, (placement_number(xyz[0]), placement_number(xyz[1]), placement_number(xyz[2])))
