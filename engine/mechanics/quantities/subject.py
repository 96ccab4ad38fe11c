"""What a row of the table of programs is, and what its text is about: a robot with the inertias and choices to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...machine.program import MatrixColumns, Part, Program, Recording, Scalar
from ...robot import Body, Robot, Three, Tree
from ..tree.sweeps import Load, Wrenches
from ..tree.wrenches import constant_wrenches, wrenches_on_bodies
from .derivatives import Unsolved

Given = Mapping[str, list[Scalar]]


class SubjectNumbers(NamedTuple):
    """The numbers of a program's subject: of the bodies to use, of those of both trees, and the least usual pivots."""

    bodies: tuple[Body, ...]
    tree: tuple[Body, ...]
    parts: tuple[Body, ...]
    gravity: Three
    least: tuple[float, ...]

    def of(self, robot: Robot) -> Robot:
        """The robot with these numbers."""
        tree, parts = replace(robot.tree, bodies=self.tree), replace(robot.parts, bodies=self.parts)
        return replace(robot, tree=tree, parts=parts, gravity=self.gravity, vouched=True)


@dataclass(frozen=True)
class Subject:
    """The subject of a program: a robot, its bodies with the inertias to use, and further choices."""

    robot: Robot
    bodies: tuple[Body, ...]
    wrenched: tuple[str, ...] = ()  # links on which the caller's wrenches act, [n; f] at their origins in their axes
    link: str = ""  # the link whose Jacobian is computed
    at: str = "link"  # `link` for frames of links, `end` for those at their far ends
    square: bool = False  # whether frames have the last row 0 0 0 1
    least: tuple[float, ...] | None = None  # for each speed the least usual pivot; None: to be computed

    @property
    def numbers(self) -> SubjectNumbers:
        """The numbers of the subject that may be symbols."""
        robot = self.robot
        return SubjectNumbers(self.bodies, robot.tree.bodies, robot.parts.bodies, robot.gravity, self.least or ())

    def with_numbers(self, numbers: SubjectNumbers) -> Subject:
        """The subject with other numbers."""
        return replace(self, robot=numbers.of(self.robot), bodies=numbers.bodies, least=numbers.least)

    def acting(self, tree: Tree, given: Given) -> tuple[Wrenches, list[Load]]:
        """All wrenches on the bodies of a tree, the robot's own and the caller's."""
        w = given.get("w", [])
        own = [(link, list(w[6 * k : 6 * k + 6]), (0.0, 0.0, 0.0), "link") for k, link in enumerate(self.wrenched)]
        return wrenches_on_bodies(tree, [*constant_wrenches(self.robot), *own])


@dataclass(frozen=True)
class ProgramRow:
    """A quantity of the table: its inputs, the name and shape of its output, and the text that computes it.

    `inputs` are names of `WIDTHS`; `w` is there besides where wrenches act.  `regroups` says that regrouped inertias
    give the same numbers.  Where an inertia is divided by, `watched` are numbers that are enormous if next to nothing
    is left of it.  Robots of more than `most` bodies have it as plain text only, because straight code for so
    many takes seconds to compile.  `parts` are those into which calls divide the numbers;
    without them, a call's result is one array of the shape.  `unsolved` is the text up to the solving of a linear
    system for many columns, which compiled code of large robots does in a loop.  A row that is for one sample `alone`
    has there what an error says of several.  Of robots for which `loops` holds, one sample, and samples of more than
    `most` bodies, are left to loops over bodies, whose machine code serves all trees (`body_tables.py`).
    For robots for which `beyond` holds, calls have it from `loops/`, and what is here is that of their spanning trees.
    """

    about: str
    inputs: tuple[str, ...]
    output: str
    shape: Callable[[Subject], tuple[int, ...]]
    text: Callable[[Subject, Given], list[Scalar]]
    regroups: bool = True
    most: int = 200
    watched: Callable[[Subject, Given], list[Scalar]] | None = None
    parts: Callable[[Subject], Sequence[Part]] | None = None
    unsolved: Callable[[Subject, Given], Unsolved] | None = None
    alone: str = ""
    loops: Callable[[Robot], bool] | None = None
    beyond: Callable[[Robot], bool] | None = None

    def is_beyond(self, robot: Robot) -> bool:
        """Whether this robot's calls have it from `loops/`."""
        return self.beyond is not None and self.beyond(robot)

    def widths(self, subject: Subject) -> dict[str, int]:
        """The number of columns of each group of inputs."""
        names = (*self.inputs, "w") if subject.wrenched else self.inputs
        return {name: WIDTHS[name](subject) for name in names}

    def program(self, subject: Subject, name: str) -> Program:
        """The recorded program of the text."""
        return self.recorded(Recording(name), subject)

    def recorded(self, recording: Recording, subject: Subject) -> Program:
        """The program of the text in a recording that was begun."""
        given, watched = self._begun(recording, subject)
        return recording.program(watched, **{self.output: self.text(subject, given)})

    def compilable(self, recording: Recording, subject: Subject) -> Program:
        """The program for compiled code, to which that of a large robot leaves the columns to be solved for."""
        if self.unsolved is None or subject.robot.nv < MANY:
            return self.recorded(recording, subject)
        given, watched = self._begun(recording, subject)
        of = self.unsolved(subject, given)
        inner, numbers = Recording("columns"), of.factors.numbers()
        factors = of.factors.with_numbers(inner.input("shared", len(numbers)))
        solving = inner.program(solved=factors.solve(inner.input("column", subject.robot.nv)))
        made = recording.program(watched, **{self.output: of.yet_to_be_solved()})
        shared = [recording.graph.node(x) for x in numbers]
        return replace(made, columns=MatrixColumns(solving, shared, tuple(of.places)))

    def _begun(self, recording: Recording, subject: Subject) -> tuple[Given, Sequence[Scalar]]:
        """The inputs, and what is watched."""
        given: Given = {group: list(recording.input(group, width)) for group, width in self.widths(subject).items()}
        return given, self.watched(subject, given) if self.watched is not None else ()


MANY = 24  # speeds from which on columns are solved for in a loop; below, batches are quicker without


WIDTHS: dict[str, Callable[[Subject], int]] = {
    "q": lambda subject: subject.robot.nq,
    "qd": lambda subject: subject.robot.nv,
    "qdd": lambda subject: subject.robot.nv,
    "tau": lambda subject: subject.robot.nv,
    "costate": lambda subject: subject.robot.nv,
    "at": lambda subject: 3,
    "w": lambda subject: 6 * len(subject.wrenched),
}
