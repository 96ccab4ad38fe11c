"""The table of a tree's programs, each of which is one text that is run, counted, compiled and exported.

Inverse and forward dynamics are run by `mixed.py`, for any mixture of both; all other rows by `offered.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from ..errors import InputError, did_you_mean
from ..machine.program.scalars import Scalar
from ..machine.program.trace import Program, Recording
from ..robot.model import Body, Robot, Tree
from .dense import inertia_matrix
from .derivatives import slopes
from .energy import energies
from .kinematics import body_placements, jacobian, link_placements
from .regroup import regrouped
from .spatial import Vector, dot
from .sweeps import Load, Wrenches, dynamics
from .wrenches import constant_wrenches, on_bodies

Given = Mapping[str, list[Scalar]]


@dataclass(frozen=True)
class Subject:
    """The subject of a program: a robot, its bodies with the inertias to use, and further choices."""

    robot: Robot
    bodies: tuple[Body, ...]
    wrenched: tuple[str, ...] = ()  # links on which the caller's wrenches act, [n; f] at their origins in their axes
    link: str = ""  # the link whose Jacobian is computed
    at: str = "link"  # `link` for frames of links, `end` for those at their far ends

    def acting(self, tree: Tree, given: Given) -> tuple[Wrenches, list[Load]]:
        """All wrenches on the bodies of a tree, the robot's own and the caller's."""
        w = given.get("w", [])
        own = [(link, list(w[6 * k : 6 * k + 6]), (0.0, 0.0, 0.0), "link") for k, link in enumerate(self.wrenched)]
        return on_bodies(tree, [*constant_wrenches(self.robot), *own])


@dataclass(frozen=True)
class ProgramRow:
    """A quantity of the table: its inputs, the name and shape of its output, and the text that computes it.

    `inputs` are names of `WIDTHS`; `w` is there besides where wrenches act.  `regroups` says that regrouped inertias
    give the same numbers.  Robots of more than `most` bodies have it as plain text only, because straight code for so
    many takes seconds to compile.
    """

    about: str
    inputs: tuple[str, ...]
    output: str
    shape: Callable[[Subject], tuple[int, ...]]
    text: Callable[[Subject, Given], list[Scalar]]
    regroups: bool = True
    most: int = 200

    def widths(self, subject: Subject) -> dict[str, int]:
        """The number of columns of each group of inputs."""
        names = (*self.inputs, "w") if subject.wrenched else self.inputs
        return {name: WIDTHS[name](subject) for name in names}

    def program(self, subject: Subject, name: str) -> Program:
        """The recorded program of the text."""
        recording = Recording(name)
        given: Given = {group: list(recording.input(group, width)) for group, width in self.widths(subject).items()}
        return recording.program(**{self.output: self.text(subject, given)})


WIDTHS: dict[str, Callable[[Subject], int]] = {
    "q": lambda subject: subject.robot.nq,
    "qd": lambda subject: subject.robot.nv,
    "qdd": lambda subject: subject.robot.nv,
    "tau": lambda subject: subject.robot.nv,
    "at": lambda subject: 3,
    "w": lambda subject: 6 * len(subject.wrenched),
}


# ---- texts


def _mixed(subject: Subject, given: Given, x: list[Scalar], motion: bool) -> list[Scalar]:
    robot = subject.robot
    acting = subject.acting(robot.tree, given)
    pattern = (motion,) * robot.nv
    return dynamics(subject.bodies, robot.gravity, given["q"], given["qd"], x, pattern, *acting)[0]


def _idyn(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, given["qdd"], True)


def _fdyn(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, given["tau"], False)


def _bias(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, [0.0] * subject.robot.nv, True)


def _inertia(subject: Subject, given: Given) -> list[Scalar]:
    return [x for row in inertia_matrix(subject.bodies, given["q"], subject.robot.nv) for x in row]


def _kinematics(subject: Subject, given: Given) -> list[Scalar]:
    result: list[Scalar] = []
    for R, p in link_placements(subject.robot, given["q"], subject.at):
        for r in range(3):
            result += [*R[r], p[r]]
    return result


def _jacobian(subject: Subject, given: Given) -> list[Scalar]:
    return [x for row in jacobian(subject.robot, given["q"], subject.link, given["at"]) for x in row]


def _energy(subject: Subject, given: Given) -> list[Scalar]:
    return list(energies(subject.robot, given["q"], given["qd"]))


def _reactions(subject: Subject, given: Given) -> list[Scalar]:
    motion = (given["q"], given["qd"], given["qdd"])
    result = link_reactions(subject.robot, *motion, *subject.acting(subject.robot.parts, given))
    return [x for six in result for x in six]


def _slopes(subject: Subject, given: Given) -> list[Scalar]:
    robot = subject.robot
    state = given["q"], given["qd"], given["tau"]
    return slopes(robot, subject.bodies, *state, *subject.acting(robot.tree, given))


def link_reactions(
    robot: Robot,
    q: list[Scalar],
    qd: list[Scalar],
    qdd: list[Scalar],
    wrenches: Wrenches,
    loads: list[Load],
) -> list[Vector]:
    """Wrenches [n; f] of the parents on all links at the links' origins, base axes; given ones act on `parts`."""
    parts = robot.parts
    _, W = dynamics(parts.bodies, robot.gravity, q, qd, qdd, (True,) * robot.nv, wrenches, loads)
    placed = body_placements(parts.bodies, q)
    result = []
    for link in robot.links:
        i, _ = parts.seats[link.name]
        assert i is not None  # every link is a body of its own there, whose origin is the link's
        R, _ = placed[i]
        result.append([dot(row, six) for six in (W[i][:3], W[i][3:]) for row in R])
    return result


# ---- the table

_SPEEDS: Callable[[Subject], tuple[int, ...]] = lambda subject: (subject.robot.nv,)  # noqa: E731

PROGRAMS = {
    "idyn": ProgramRow("joint forces of a motion (inverse dynamics)", ("q", "qd", "qdd"), "tau", _SPEEDS, _idyn),
    "fdyn": ProgramRow(
        "accelerations under joint forces (forward dynamics)", ("q", "qd", "tau"), "qdd", _SPEEDS, _fdyn
    ),
    "fdyn-derivatives": ProgramRow(
        "accelerations, then their derivatives along the coordinates, speeds and forces, each matrix row by row",
        ("q", "qd", "tau"),
        "derivatives",
        lambda subject: (subject.robot.nv * (1 + 3 * subject.robot.nv),),
        _slopes,
    ),
    "inertia": ProgramRow(
        "generalized inertia matrix, row by row",
        ("q",),
        "inertia",
        lambda subject: (subject.robot.nv, subject.robot.nv),
        _inertia,
        most=50,  # its operations grow with the square
    ),
    "bias": ProgramRow("Coriolis, centrifugal, gravity, friction and spring forces", ("q", "qd"), "h", _SPEEDS, _bias),
    "kinematics": ProgramRow(
        "of each link the rows of [R | p] in the base, 12 numbers",
        ("q",),
        "frames",
        lambda subject: (len(subject.robot.links), 3, 4),
        _kinematics,
    ),
    "jacobian": ProgramRow(
        "from the speeds to [omega; v] of a link's point `at` (link axes), base-frame axes, row by row",
        ("q", "at"),
        "jacobian",
        lambda subject: (6, subject.robot.nv),
        _jacobian,
    ),
    "energy": ProgramRow(
        "kinetic, potential and elastic energy", ("q", "qd"), "energy", lambda subject: (3,), _energy, regroups=False
    ),
    "reactions": ProgramRow(
        "of each link [n; f] from its parent at its origin, base-frame axes, 6 numbers",
        ("q", "qd", "qdd"),
        "reactions",
        lambda subject: (len(subject.robot.links), 6),
        _reactions,
        regroups=False,
    ),
}


def program(robot: Robot, what: str, *, regroup: bool = True, link: str = "") -> Program:
    """The recorded program of this name; with `regroup`, from fewer inertial numbers if these give the same results.

    `link` is the link whose Jacobian is computed, by default the last one.
    """
    row = PROGRAMS[what]
    bodies = regrouped(robot.tree.bodies) if regroup and row.regroups else robot.tree.bodies
    return row.program(Subject(robot, bodies, link=link_named(robot, link or robot.links[-1].name)), what)


def output_width(row: ProgramRow, subject: Subject) -> int:
    """The number of scalars that the row computes."""
    return prod(row.shape(subject))


def link_named(robot: Robot, link: object) -> str:
    """The link's name, or an error that lists the names of all links."""
    names = [one.name for one in robot.links]
    if not isinstance(link, str) or link not in names:
        result, link = (f"`{link}`", link) if isinstance(link, str) else (type(link).__name__, "")
        raise InputError("no such link", found=result, allowed=", ".join(names), hint=did_you_mean(link, names))
    return link
