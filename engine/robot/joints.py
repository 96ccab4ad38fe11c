"""The joint types: rows of one table.

A joint is a chain of parts.  A part is a body with a set of directions out of six in its own axes (turns about x, y, z
are 0, 1, 2, slides along them 3, 4, 5) and the moves that its coordinates make, outermost first.  The parts before the
last have no mass.  A new joint type is a new row here and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def _plain(
    name: str, about: str, parts: tuple[JointPart, ...], *kinds: str, axis: bool = True, of: str = ""
) -> JointType:
    """The row of a joint whose coordinates are angles and lengths, numbered if there are several."""
    ends = [str(k) for k in range(1, len(kinds) + 1)] if len(kinds) > 1 else [""]
    q, qd, qdd, tau = (tuple(word + end for end in ends) for word in ("q", "qd", "qdd", "tau"))
    turning = tuple(kind == ANGLE for kind in kinds)
    return JointType(name, about, parts, q, qd, qdd, tau, kinds, turning, axis, form_of=of)


TURNS = (("wx", "wy", "wz"), ("alx", "aly", "alz"), ("nx", "ny", "nz"))  # suffixes of what turns freely

# what `type:` may say
TYPES = {
    row.name: row
    for row in (
        _plain("revolute", "turns about z", (TURN_Z,), ANGLE),
        _plain("prismatic", "slides along z", (SLIDE_Z,), LENGTH),
        _plain("helical", "turns about z and slides along it, `pitch` metres a radian", (SCREW_Z,), ANGLE),
        _plain("cylindrical", "turns about z (1) and slides along it (2)", (TURN_AND_SLIDE_Z,), ANGLE, LENGTH),
        _plain("universal", "turns about x (1), then about its own y (2)", (TURN_X, TURN_Y), ANGLE, ANGLE, axis=False),
        _plain(
            "planar",
            "slides along x (1) and y (2), then turns about z (3)",
            (SLIDE_XY, TURN_Z),
            *(LENGTH, LENGTH, ANGLE),
            axis=False,
        ),
        JointType(
            "spherical",
            "turns freely; Euler parameters, scalar first; speeds are the relative angular velocity in link axes",
            (ORIENT,),
            ("e0", "e1", "e2", "e3"),
            *TURNS,
            kinds=(NUMBER,) * 4,
            turning=(True,) * 3,
            orientation=0,
        ),
        JointType(
            "free",
            "moves freely; position, Euler parameters; speeds are the origin's velocity and the angular velocity, "
            "in link axes",
            (PLACE_AND_ORIENT,),
            ("x", "y", "z", "e0", "e1", "e2", "e3"),
            speeds=("vx", "vy", "vz", *TURNS[0]),
            accelerations=("ax", "ay", "az", *TURNS[1]),
            forces=("fx", "fy", "fz", *TURNS[2]),
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
        _plain(
            "three-revolutes",
            "three turns about z, y, x",
            (TURN_Z, TURN_Y, TURN_X),
            *(ANGLE, ANGLE, ANGLE),
            axis=False,
            of="spherical",
        ),
    )
}
