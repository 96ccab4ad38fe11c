"""The immutable model of a robot: links, joints, and the bodies that the recursion reads. Nothing here computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InputError
from ..text import count_with_noun
from .cuts import CutType
from .joints import JointType
from .placement import Factor, Placement

if TYPE_CHECKING:
    from ..text import Document

Three = tuple[float, float, float]
Made = TypeVar("Made")
Six = tuple[float, float, float, float, float, float]
ZERO: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PoseStretch:
    """How far a spherical or a free joint is from where its spring is relaxed, along one of its speeds.

    For a speed that turns the link it is the component of the rotation vector, for others that of the way, both along
    an axis of the link.
    """

    axis: int
    orientation: tuple[int, ...]  # the places of the Euler parameters in q
    place: tuple[int, ...]  # the places of x, y, z, or none for a speed that turns the link
    rest: tuple[float, ...]  # the Euler parameters, or x, y, z, where the spring is relaxed

    def moved(self, where: Callable[[int], int]) -> PoseStretch:
        """The same with coordinates at other places."""
        return replace(self, orientation=tuple(map(where, self.orientation)), place=tuple(map(where, self.place)))


@dataclass(frozen=True)
class Leader:
    """One of several joints: `ratio` times its coordinate counts."""

    coordinate: int
    speed: int
    ratio: float


@dataclass(frozen=True)
class Cord:
    """A spring with a damper over a weighted sum of joints, as in a tendon or a shaft between gears."""

    joints: tuple[Leader, ...]
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    slack: float = 0.0  # how far beyond `rest` there is no force


@dataclass(frozen=True)
class Pull:
    """What a cord does along one speed: `ratio` times its tension; its energy is counted once."""

    cord: Cord
    ratio: float
    counted: bool


@dataclass(frozen=True)
class Drive:
    """The forces along one speed besides the actuator's."""

    rotor: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    coordinate: int = -1
    pose: PoseStretch | None = None  # what a spring of a joint with Euler parameters measures
    pulls: tuple[Pull, ...] = ()  # of springs over several joints

    def moved(self, where: Callable[[int], int]) -> Drive:
        """The drive with coordinates at other places."""
        pose = self.pose.moved(where) if self.pose is not None else None
        return replace(self, coordinate=where(self.coordinate) if self.coordinate >= 0 else -1, pose=pose)


@dataclass(frozen=True)
class Body:
    """One body of the tree in its near frame; names as in mechanics/tree/sweeps.py."""

    parent: int | None
    rotation: tuple[Factor, ...]
    origin: Three
    moves: tuple[tuple[str, int, int], ...] = ()
    directions: tuple[int, ...] = ()
    pitch: float = 0.0
    coordinates: tuple[int, ...] = ()
    speeds: tuple[int, ...] = ()
    drives: tuple[Drive, ...] = ()
    E: tuple[Three, Three, Three] = (ZERO, ZERO, ZERO)
    h: Three = ZERO
    m: float = 0.0
    beyond: float = 0.0  # how far the body's origin is beyond `origin`, along the axis of its only turn


@dataclass(frozen=True)
class Effort:
    """The limits of an actuator's force, and its weight where it shares the work with others."""

    low: float = -math.inf
    high: float = math.inf
    weight: float = 1.0

    @property
    def limited(self) -> bool:
        """Whether there is a limit to either side."""
        return math.isfinite(self.low) or math.isfinite(self.high)


@dataclass(frozen=True)
class Joint:
    """A joint of the file; `coordinates` and `speeds` are places in q and qd."""

    name: str
    type: JointType
    link: str
    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]
    actuated: bool
    drives: tuple[Drive, ...] = ()
    limits: tuple[float, float] | None = None
    largest_speed: float = math.inf
    initial: tuple[float, ...] = ()
    placed: str = ""  # the key of the file that says so, if one does
    effort: Effort = Effort()
    hooke: bool = False  # a spherical joint whose link's y stays square to its parent's x

    @property
    def elastic(self) -> bool:
        """Whether the joint has a spring and no actuator."""
        return not self.actuated and any(drive.stiffness for drive in self.drives)

    def columns(self, what: str) -> list[str]:
        """The names of the columns of its `coordinates`, `speeds`, `accelerations` or `forces`."""
        return [f"{self.name}.{suffix}" for suffix in getattr(self.type, what)]


@dataclass(frozen=True)
class Shape:
    """One body of a link's picture."""

    kind: str  # box, cylinder, sphere, capsule, mesh
    at: Placement  # link axes
    size: tuple[float, ...]  # edges of a box; radius and length; radius; scale of a mesh along its axes
    file: str = ""  # of a mesh
    name: str = ""
    colour: tuple[float, float, float, float] | None = None  # red, green, blue, opacity
    spare: bool = False  # drawn where meshes of the link can't be


@dataclass(frozen=True)
class Link:
    """A link of the file; `Tree.seats` says on which body of the tree it sits."""

    name: str
    parent: str
    joint: Joint
    mass: float
    com: Three  # link axes, from the link's origin
    inertia: tuple[Three, Three, Three]  # about the mass centre, link axes
    end: Placement  # the papers' end frame (i + 1) in the link's
    points: dict[str, Three] = field(default_factory=dict)
    before: Placement = field(default_factory=Placement)  # the joint in the parent link's frame, in zero position
    shape: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Tree:
    """The bodies, parents first, and the seat of each link: its body (None for the base), and its placement there."""

    bodies: tuple[Body, ...]
    seats: dict[str, tuple[int | None, Placement]]


def way_from_base(bodies: Sequence[Body], body: int | None) -> list[int]:
    """The bodies on the way from the base to this one, which is the last of them."""
    way: list[int] = []
    while body is not None:
        way.append(body)
        body = bodies[body].parent
    return way[::-1]


@dataclass(frozen=True)
class Wrench:
    """A constant wrench on a link."""

    link: str
    wrench: Six  # [n; f] at the link's origin, n without the force's moment
    at: Three
    axes: str  # link or base


@dataclass(frozen=True)
class Loop:
    """A cut joint between two links, with a frame in each of them."""

    name: str
    type: CutType
    between: tuple[str, str]
    first: Placement
    second: Placement
    hooke: bool = False  # the second's y stays square to the first's x
    radius: float = 0.0  # of what rolls
    doubled: bool = False  # whether the first link is a double of the second, on a joint of the loop's name


@dataclass(frozen=True)
class Coupling:
    """A coordinate that is the sum of `ratio` × coordinate over its leaders + `offset`; likewise its speed."""

    coordinate: int
    speed: int
    leaders: tuple[Leader, ...]
    offset: float

    @property
    def speeds(self) -> tuple[int, ...]:
        """The places of all speeds that it ties."""
        return (self.speed, *(one.speed for one in self.leaders))


@dataclass(frozen=True)
class Actuator:
    """An actuator that is no single joint's, whose force is sought.

    It acts on a link, with a force along `direction` at a point or a moment about it; or on joints, along each of them
    with its force times a ratio, as a tendon that runs over pulleys on them does.
    """

    name: str
    link: str = ""
    at: Three = ZERO
    direction: Three = ZERO
    axes: str = "link"  # or base
    moment: bool = False
    effort: Effort = Effort()
    joints: tuple[Leader, ...] = ()

    @property
    def on_link(self) -> bool:
        """Whether it acts on a link rather than along joints."""
        return not self.joints


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A robot; callers need `name`, `nq`, `nv`, `joints`, `q0` and `gravity`."""

    name: str
    about: str
    gravity: Three
    links: tuple[Link, ...]
    tree: Tree  # links on fixed joints merged into their parents
    parts: Tree  # every link a body of its own: for reactions
    q0: tuple[float, ...]
    nv: int
    wrenches: tuple[Wrench, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    springs: tuple[tuple[str, Cord], ...] = ()  # over several joints, by name
    notes: tuple[str, ...] = ()  # on choices made while reading, such as cuts
    warnings: tuple[str, ...] = ()
    document: Document | None = None
    # a cache of what was made from this robot, such as compiled programs; no part of the model
    derived: dict[Any, Any] = field(default_factory=dict, init=False)
    # that links, bodies and file fit each other, by whoever makes one of parts: `dataclasses.replace` can't know it
    vouched: bool = False

    def __post_init__(self) -> None:
        if not self.vouched:
            raise InputError(
                "parts of a robot can't be replaced: its bodies are made of its file, and would keep the old numbers",
                hint="change the file's data, and build the robot anew: `denoc.loads(text)`, or `changes` of a run",
            )
        object.__setattr__(self, "vouched", False)  # of its copies nobody has said it

    def __repr__(self) -> str:
        counts = {"link": len(self.links), "speed": self.nv, "cut": len(self.loops), "coupling": len(self.couplings)}
        parts = (count_with_noun(count, what) for what, count in counts.items() if count)
        return f"Robot({self.name!r}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the joints, their links and masses, and a sketch."""
        # by its name: a model knows none of the rooms that compute and draw
        made: str = import_module("denoc.study.report").robot_html(self)
        return made

    def made_once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, which this robot keeps under the key and gives again when it is asked for anew."""
        known: Made | None = self.derived.get(key)
        return known if known is not None else self.derived.setdefault(key, make())

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "derived": {}}  # compiled programs stay where they are

    @property
    def nq(self) -> int:
        return len(self.q0)

    @cached_property
    def closed(self) -> bool:
        """Whether the robot is more than its tree: joints are tied to each other, or forces are sought elsewhere."""
        return self.tied or bool(self.actuators)

    @cached_property
    def tied(self) -> bool:
        """Whether the joints of the tree can't all move independently."""
        return bool(self.loops or self.couplings or any(joint.hooke for joint in self.moving))

    @property
    def ties_in_words(self) -> str:
        """What ties joints to each other, as messages call it."""
        loops = bool(self.loops) or any(joint.hooke for joint in self.moving)
        there = [word for word, some in (("loops", loops), ("couplings", bool(self.couplings))) if some]
        return " and ".join(there) or "constraints"

    @cached_property
    def rolls(self) -> bool:
        """Whether something rolls or skates, so that more positions than speeds are independent."""
        return any(loop.type.contacts for loop in self.loops)

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """The places of the actuated speeds in qd."""
        return tuple(k for joint in self.moving if joint.actuated for k in joint.speeds)

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that move, in the file's order."""
        return tuple(link.joint for link in self.links if link.joint.type.nv)

    def columns(self, what: str) -> list[str]:
        """The names of the columns of all joints' `coordinates`, `speeds`, `accelerations` or `forces`."""
        return [name for joint in self.moving for name in joint.columns(what)]

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints that move, in the file's order."""
        return tuple(joint.name for joint in self.moving)

    def joint(self, name: str) -> Joint:
        return next(link.joint for link in self.links if link.joint.name == name)

    def link(self, name: str) -> Link:
        return next(link for link in self.links if link.name == name)
