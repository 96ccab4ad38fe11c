"""The joint types: rows of one table.

A joint is a chain of parts.  A part is a body with a set of directions out of six in its own axes (turns about x, y, z
are 0, 1, 2, slides along them 3, 4, 5) and the moves that its coordinates make, outermost first.  The parts before the
last have no mass.  A new joint type is a new row here and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

ANGLE, LENGTH, NUMBER = "angle", "length", "number"
RATE_OF = {ANGLE: "rate", LENGTH: "speed"}


@dataclass(frozen=True)
class JointPart:
    """The moves as (what, axis, place among the part's coordinates), and the directions, one for each speed."""

    moves: tuple[tuple[str, int, int], ...]
    directions: tuple[int, ...]
    coordinates: int


@dataclass(frozen=True)
class JointType:
    """A joint type: its parts, the suffixes of its columns, and the kinds of its coordinates and speeds."""

    name: str
    about: str
    parts: tuple[JointPart, ...]
    coordinates: tuple[str, ...]  # column suffixes
    speeds: tuple[str, ...]
    accelerations: tuple[str, ...]
    forces: tuple[str, ...]
    kinds: tuple[str, ...]  # of each coordinate: angle, length, number
    turning: tuple[bool, ...]  # of each speed: a turn (its force is a moment) or a slide
    has_axis: bool = False  # `axis` may turn its z in the convention `frames`
    orientation: int | None = None  # place of the first Euler parameter
    form_of: str = ""  # the type that this row is another form of

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.speeds)

    @property
    def start(self) -> tuple[float, ...]:
        """The coordinates of the joint at rest in its zero position."""
        return tuple(float(self.orientation is not None and k == self.orientation) for k in range(self.nq))


TURN_X = JointPart((("turn", 0, 0),), (0,), 1)
TURN_Y = JointPart((("turn", 1, 0),), (1,), 1)
TURN_Z = JointPart((("turn", 2, 0),), (2,), 1)
SLIDE_Z = JointPart((("slide", 2, 0),), (5,), 1)
SCREW_Z = JointPart((("screw", 2, 0),), (2,), 1)
TURN_AND_SLIDE_Z = JointPart((("slide", 2, 1), ("turn", 2, 0)), (2, 5), 2)
SLIDE_XY = JointPart((("slide", 0, 0), ("slide", 1, 1)), (3, 4), 2)
ORIENT = JointPart((("orient", 0, 0),), (0, 1, 2), 4)
PLACE_AND_ORIENT = JointPart((("place", 0, 0), ("orient", 0, 3)), (3, 4, 5, 0, 1, 2), 7)


class _Rates(TypedDict):
    speeds: tuple[str, ...]
    accelerations: tuple[str, ...]
    forces: tuple[str, ...]


class _Suffixes(_Rates):
    coordinates: tuple[str, ...]


def _numbered(n: int) -> _Suffixes:
    """The column suffixes of a joint with n plain coordinates."""
    end = [str(k) for k in range(1, n + 1)] if n > 1 else [""]
    return {
        "coordinates": tuple("q" + k for k in end),
        "speeds": tuple("qd" + k for k in end),
        "accelerations": tuple("qdd" + k for k in end),
        "forces": tuple("tau" + k for k in end),
    }


_TURNS: _Rates = {
    "speeds": ("wx", "wy", "wz"),
    "accelerations": ("alx", "aly", "alz"),
    "forces": ("nx", "ny", "nz"),
}

# what `type:` may say
TYPES = {
    row.name: row
    for row in (
        JointType(
            "revolute", "turns about z", (TURN_Z,), **_numbered(1), kinds=(ANGLE,), turning=(True,), has_axis=True
        ),
        JointType(
            "prismatic", "slides along z", (SLIDE_Z,), **_numbered(1), kinds=(LENGTH,), turning=(False,), has_axis=True
        ),
        JointType(
            "helical",
            "turns about z and slides along it, `pitch` metres a radian",
            (SCREW_Z,),
            **_numbered(1),
            kinds=(ANGLE,),
            turning=(True,),
            has_axis=True,
        ),
        JointType(
            "cylindrical",
            "turns about z (1) and slides along it (2)",
            (TURN_AND_SLIDE_Z,),
            **_numbered(2),
            kinds=(ANGLE, LENGTH),
            turning=(True, False),
            has_axis=True,
        ),
        JointType(
            "universal",
            "turns about x (1), then about its own y (2)",
            (TURN_X, TURN_Y),
            **_numbered(2),
            kinds=(ANGLE, ANGLE),
            turning=(True, True),
        ),
        JointType(
            "planar",
            "slides along x (1) and y (2), then turns about z (3)",
            (SLIDE_XY, TURN_Z),
            **_numbered(3),
            kinds=(LENGTH, LENGTH, ANGLE),
            turning=(False, False, True),
        ),
        JointType(
            "spherical",
            "turns freely; Euler parameters, scalar first; speeds are the relative angular velocity in link axes",
            (ORIENT,),
            coordinates=("e0", "e1", "e2", "e3"),
            **_TURNS,
            kinds=(NUMBER,) * 4,
            turning=(True,) * 3,
            orientation=0,
        ),
        JointType(
            "free",
            "moves freely; position, Euler parameters; speeds are the origin's velocity and the angular velocity, "
            "in link axes",
            (PLACE_AND_ORIENT,),
            coordinates=("x", "y", "z", "e0", "e1", "e2", "e3"),
            speeds=("vx", "vy", "vz", *_TURNS["speeds"]),
            accelerations=("ax", "ay", "az", *_TURNS["accelerations"]),
            forces=("fx", "fy", "fz", *_TURNS["forces"]),
            kinds=(LENGTH,) * 3 + (NUMBER,) * 4,
            turning=(False,) * 3 + (True,) * 3,
            orientation=3,
        ),
        JointType("fixed", "does not move", (), (), (), (), (), kinds=(), turning=()),
    )
}

# what `as:` may say
FORMS = {
    row.name: row
    for row in (
        JointType(
            "three-revolutes",
            "three turns about z, y, x",
            (TURN_Z, TURN_Y, TURN_X),
            **_numbered(3),
            kinds=(ANGLE,) * 3,
            turning=(True,) * 3,
            form_of="spherical",
        ),
    )
}
