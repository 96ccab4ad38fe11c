"""All numbers that a tree's dynamics is made of, by their places, so that some can be replaced by symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...machine.backend import SOUND
from ...machine.jit import Offer, Shared
from ...machine.program import Program, Recording, Scalar, as_floats
from ...robot import Body, Robot, Three
from ..tree.spatial import Vector, add
from ..tree.sweeps import Load, Wrenches
from ..tree.wrenches import constant_wrenches, wrenches_on_bodies

Six = tuple[float, ...]


class TreeNumbers(NamedTuple):
    """The numbers of a tree: of its bodies, and of gravity and the wrenches of its file on bodies.

    `least` has for each speed the pivot below which a position has to be looked at closely, or 0.
    """

    bodies: tuple[Body, ...]
    gravity: Three
    wrenches: tuple[tuple[int, Six], ...] = ()
    loads: tuple[tuple[int, Six, Six], ...] = ()  # in base axes, with the points where they act
    least: tuple[float, ...] = ()

    def acting(self, more: Wrenches | None = None, loads: list[Load] | None = None) -> tuple[Wrenches, list[Load]]:
        """The wrenches in the recursion's form, with more of them."""
        result: dict[int, Vector] = {body: list(six) for body, six in self.wrenches}
        for body, six in (more or {}).items():
            result[body] = add(result[body], six) if body in result else six
        own: list[Load] = [(body, list(six), list(point)) for body, six, point in self.loads]
        return result, [*own, *(loads or [])]


def tree_numbers(robot: Robot, bodies: tuple[Body, ...], least: tuple[float, ...] = ()) -> TreeNumbers:
    """The numbers of a robot's tree with these bodies."""
    wrenches, loads = wrenches_on_bodies(robot.tree, constant_wrenches(robot))
    on = tuple((body, tuple(as_floats(six))) for body, six in sorted(wrenches.items()))
    own = tuple((body, tuple(as_floats(six)), tuple(as_floats(point))) for body, six, point in loads)
    return TreeNumbers(bodies, robot.gravity, on, own, least)


Path = tuple[Any, ...]
Numbers = TypeVar("Numbers")
DRIVE = ("rotor", "viscous", "coulomb", "stiffness", "rest")


def tree_body_number_paths(body: Body) -> list[Path]:
    """The places of all numbers of a body."""
    result: list[Path] = [("rotation", k, c) for k in range(len(body.rotation)) for c in (2, 3)]
    result += [("origin", r) for r in range(3)] + [("pitch",)]
    result += [("E", r, s) for r in range(3) for s in range(r, 3)] + [("h", r) for r in range(3)] + [("m",)]
    return result + [("drives", k, key) for k in range(len(body.drives)) for key in DRIVE]


def tree_body_number_at(body: Body, path: Path) -> Any:
    """The number at a place of a body."""
    value: Any = body
    for step in path:
        value = getattr(value, step) if isinstance(step, str) else value[step]
    return value


def tree_body_with_symbols(body: Body, symbols: Mapping[Path, Scalar]) -> Body:
    """The body with these scalars in the places of its numbers."""

    def at(*path: Any) -> Any:
        return symbols[path] if path in symbols else tree_body_number_at(body, path)

    turns = enumerate(body.rotation)
    return replace(
        body,
        rotation=tuple((i, j, at("rotation", k, 2), at("rotation", k, 3)) for k, (i, j, _, _) in turns),
        origin=(at("origin", 0), at("origin", 1), at("origin", 2)),
        pitch=at("pitch"),
        drives=tuple(replace(d, **{key: at("drives", k, key) for key in DRIVE}) for k, d in enumerate(body.drives)),
        E=tuple(tuple(at("E", min(r, s), max(r, s)) for s in range(3)) for r in range(3)),  # type: ignore[arg-type]
        h=(at("h", 0), at("h", 1), at("h", 2)),
        m=at("m"),
    )


# ---- any structure of dataclasses and tuples


def number_leaves_of_bodies(x: Any) -> list[tuple[Path, Any]]:
    """All floating-point numbers of a structure, and arrays in the places of numbers, each with its place."""
    found = list[tuple[Path, Any]]()
    _gather(x, (), found)
    return found


def _gather(x: Any, path: Path, found: list[tuple[Path, Any]]) -> None:
    if isinstance(x, float | np.ndarray):
        found.append((path, x))
    else:
        for step, part in _parts(x):
            _gather(part, (*path, step), found)


def planted_bodies(x: Any, symbols: Mapping[Path, Any]) -> Any:
    """The structure with these scalars in the places of its numbers."""
    return _planted(x, symbols, {path[:k] for path in symbols for k in range(len(path))}, ())


def _planted(x: Any, symbols: Mapping[Path, Any], ways: set[Path], path: Path) -> Any:
    """A part of a structure, at this path, with the scalars to which these ways lead."""
    if path in symbols:
        return symbols[path] if isinstance(x, float | np.ndarray) else x
    if path not in ways:
        return x
    parts = [(step, part, _planted(part, symbols, ways, (*path, step))) for step, part in _parts(x)]
    if all(new is old for _, old, new in parts):
        return x
    if is_dataclass(x):
        return replace(x, **{step: new for step, _, new in parts})  # type: ignore[type-var]
    return type(x)(*(new for *_, new in parts)) if hasattr(x, "_fields") else tuple(new for *_, new in parts)


def shape_of_bodies(x: Any) -> Any:
    """A structure without its numbers; two structures of the same shape differ in numbers only."""
    if isinstance(x, float | np.ndarray):
        return float
    parts = [(step, shape_of_bodies(part)) for step, part in _parts(x)]
    return (type(x).__name__, *parts) if parts or isinstance(x, tuple) else repr(x)


# ---- numbers as inputs of code


class Own(NamedTuple):
    """The numbers of a structure that differ from one to another, by their places, and all the rest of it as text."""

    numbers: dict[Path, Any]
    rest: str


def own_numbers(numbers: Any, within: frozenset[str] | None = None) -> Own:
    """What is a structure's own.

    Zeros, and the ones in turns and choices, belong to the structure: they save operations.  With `within`, so does
    all that isn't in one of these fields.
    """
    own = {
        path: x
        for path, x in number_leaves_of_bodies(numbers)
        if x and not (abs(x) == 1.0 and CHOSEN.intersection(path))
    }
    if within is not None:
        own = {path: x for path, x in own.items() if within.intersection(path)}
    return Own(own, repr(planted_bodies(numbers, dict.fromkeys(own, "a number"))))


class ProgramOfNumbers(ABC, Generic[Numbers]):
    """A program as a function of a robot's numbers in their structure.

    With the numbers themselves it is the robot's own; with symbols in their places it serves all robots that have the
    same structure.  What it depends on follows: the numbers as they were read, and everything else.
    """

    title: str  # of the recording
    shareable = True  # whether one program can serve all robots of this structure

    @abstractmethod
    def record(self, recording: Recording, numbers: Numbers) -> Program:
        """The program for these numbers."""

    @abstractmethod
    def leaves(self) -> Numbers:
        """The numbers that the program has, or symbols for them."""

    def read(self) -> object:
        """The numbers from which those follow."""
        return self.leaves()

    @abstractmethod
    def structure(self) -> object:
        """All else that the program depends on."""

    def program(self) -> Program:
        """The robot's own program."""
        return self.record(Recording(self.title), self.leaves())

    def identity(self) -> tuple[str, ...]:
        """Everything that the robot's own program depends on, as strings."""
        return self.title, repr(self.read()), repr(self.structure())

    def own(self, numbers: Numbers) -> Own:
        """Which of the program's numbers are inputs where code is shared, and the rest of them."""
        return own_numbers(numbers)

    def shared(self) -> Shared:
        """The program that all robots of this structure share, each with numbers of its own."""
        numbers = self.leaves()
        known = self.own(numbers)

        def program() -> Program:
            recording = Recording(self.title)
            symbols = dict(zip(known.numbers, recording.numbers(len(known.numbers))))
            return self.record(recording, planted_bodies(numbers, symbols))

        identity = self.title, repr(self.structure()), known.rest
        return Shared(program, identity, tuple(known.numbers.values()))

    def offered(
        self, inputs: Sequence[int], outputs: Sequence[int], level: int = SOUND, *, runs: bool = False
    ) -> Offer:
        """The offer of the program, whose groups of inputs and outputs have these widths."""
        shared = self.shared if self.shareable else None
        return Offer(self.program, inputs, outputs, self.identity, level, shared, runs=runs)


FIELDS_OF_INERTIA = frozenset(("E", "h", "m", "drives"))  # fields of what moves and is moved, but not of where it is
CHOSEN = frozenset(("rotation", "N"))  # fields whose ones are those of right angles and of unit rows


def _parts(x: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(x, tuple):
        return enumerate(x)
    return [(name, getattr(x, name)) for name in _fields(x.__class__)]


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The names of the fields of dataclasses of a kind; none of what is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
