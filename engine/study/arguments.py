"""Programs in which numbers of a robot's file are arguments: the robot is built again from symbols in their places.

The builder runs on symbols as it does on numbers.  What it makes of them, the numbers of bodies and ties, become inputs
while the program is recorded, for a text may ask of a number whether it is there at all; in the end, each of these
inputs is replaced by what it was made of.
"""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ..errors import InputError
from ..machine.program import CONSTANT, Node, Program, Recording, substituted_nodes
from ..mechanics.closure import Tie, ties_of_mechanism
from ..mechanics.mechanisms import TEXTS, mechanism_text_at_assembly, recorded_mechanism_program
from ..mechanics.numbers import inertias_moved_towards_base
from ..mechanics.quantities import PROGRAMS, Given, Subject, link_named_in_tree
from ..robot import Robot
from ..robot.read import Draft, LinkEntry
from ..text import ROBOT, Keys
from ..text.fields import Strict

NUMBERS = (  # where a robot has them
    *("tree", "parts", "links", "gravity", "wrenches", "loops", "couplings", "actuators", "springs"),
)
GROUP = "p"  # the name of the arguments
OF_LINK = ("mass", "com", "r", "first_moments", "inertia", "offset", "points")
OF_JOINT = (
    *("a", "b", "alpha", "theta", "gamma", "d", "r", "xyz", "rpy", "first", "second", "pitch"),
    *("rotor_inertia", "friction", "spring"),
)
OF_CUT = ("first", "second", "radius", "rotor_inertia", "friction", "spring")
ALLOWED = (
    "gravity",
    *(f"links.*.{key}" for key in OF_LINK),
    *(f"links.*.joint.{key}" for key in OF_JOINT),
    *(f"loops.*.{key}" for key in OF_CUT),
    *(f"couplings.*.{key}" for key in ("ratio", "offset")),
    *(f"wrenches.*.{key}" for key in ("force", "moment", "at")),
    "actuators.*.at",
    *(f"springs.*.{key}" for key in ("joints", "stiffness", "rest", "slack", "damping")),
)


@dataclass(frozen=True)
class Argument:
    """A number of a robot's file that is an argument: its dotted key, its path in the checked file, its value there."""

    key: str
    path: Keys
    value: float


def numbers_named_by_patterns(robot: Robot, patterns: Sequence[str]) -> list[Argument]:
    """The numbers of the file that the patterns name, in the file's order; `*` stands for every entry."""
    file = codegen_draft_with_arguments(robot).file
    posed = "links.*.joint.spring.pose"  # a direction in four numbers, of norm 1
    known = [
        one
        for one in _numbers(file)
        if not _matches(one.key, posed) and any(_matches(one.key, pattern) for pattern in ALLOWED)
    ]
    result: dict[Keys, Argument] = {}
    for pattern in patterns:
        short = pattern.strip().removeprefix(ROBOT)
        meant = [one for one in known if _matches(one.key, short) or _matches(_by_place(one), short)]
        if not meant:
            raise InputError(
                "no number of the robot's file that its equations have",
                key="--parameters",
                found=f"`{pattern}`",
                allowed=", ".join(ALLOWED),
                hint="only numbers that the file gives can be arguments",
            )
        result.update((one.path, one) for one in meant)
    return [one for one in known if one.path in result]


def numbers_of_robot_file(robot: Robot) -> list[Argument]:
    """All numbers of the file, in its order."""
    return list(_numbers(codegen_draft_with_arguments(robot).file))


def number_with_key(robot: Robot, key: str) -> Argument | None:
    """The number of the file with this key, with names or places in lists, in SI units; None if there is none."""
    short = key.removeprefix(ROBOT)
    return next((one for one in numbers_of_robot_file(robot) if short in (one.key, _by_place(one))), None)


def codegen_program_with_arguments(
    robot: Robot, what: str, arguments: Sequence[Argument], *, regroup: bool = False, link: str = ""
) -> Program:
    """The recorded program of this name, with the arguments as its last group of inputs."""
    recording = Recording(what)
    symbols = recording.input(GROUP, len(arguments))
    whole = robot_with_argument_symbols(robot, [one.path for one in arguments], symbols)
    if regroup and PROGRAMS[what].regroups:
        tree = replace(whole.tree, bodies=inertias_moved_towards_base(whole.tree.bodies))
        whole = replace(whole, tree=tree, vouched=True)
    instead: dict[int, Node] = {}

    def planted(x: Node) -> Any:
        if x.op == CONSTANT:
            return x.value
        symbol = recording.graph.input(f"({len(instead)})")
        instead[symbol.id] = x
        return symbol

    numbers = {name: codegen_structure_with_scalars(getattr(whole, name), planted) for name in NUMBERS}
    plain = replace(whole, **numbers, vouched=True)
    ties = codegen_structure_with_scalars(ties_of_mechanism(whole), planted)
    result = _recorded(robot, plain, ties, what, recording, link)
    group = recording.inputs.pop(GROUP)
    nodes = {name: substituted_nodes(one, instead) for name, one in result.outputs.items()}
    return replace(result, inputs={**recording.inputs, GROUP: group}, outputs=nodes, watched=[])


def _recorded(robot: Robot, plain: Robot, ties: tuple[Tie, ...], what: str, recording: Recording, link: str) -> Program:
    """The program of a robot with symbols; choices of coordinates are those of the robot with the file's numbers."""
    row = PROGRAMS[what]
    if robot.tied and what in TEXTS:
        text = copy.copy(mechanism_text_at_assembly(robot, what))
        text.loops = text.loops.with_numbers(plain.tree.bodies, ties, plain.couplings)
        text.loops.robot = plain
        return recorded_mechanism_program(text, what, regroup=False, recording=recording)
    subject = Subject(plain, plain.tree.bodies, link=link_named_in_tree(robot, link or robot.links[-1].name))
    given: Given = {group: list(recording.input(group, width)) for group, width in row.widths(subject).items()}
    return recording.program(**{row.output: row.text(subject, given)})


# ---- the robot with symbols


def robot_with_argument_symbols(robot: Robot, paths: Sequence[Keys], symbols: Sequence[Node]) -> Robot:
    """The robot that a file with symbols in the places of these numbers describes."""
    draft = codegen_draft_with_arguments(robot)
    file = draft.file
    for path, symbol in zip(paths, symbols):
        file = codegen_file_part_with_value(file, path, symbol)
    try:
        return draft.reread(file).robot()
    except (TypeError, AttributeError):
        raise InputError(
            f"{robot.name}: something in its file is decided by the sizes of these numbers",
            key="--parameters",
            found=", ".join(".".join(map(str, path)) for path in paths),
            allowed="numbers that only enter the equations",
        ) from None


def codegen_structure_with_scalars(x: Any, planted: Callable[[Node], Any]) -> Any:
    """The structure with other scalars in the places of symbols."""
    if type(x) is Node:
        return planted(x)
    if isinstance(x, dict):
        return {key: codegen_structure_with_scalars(one, planted) for key, one in x.items()}
    if isinstance(x, tuple):
        parts = [codegen_structure_with_scalars(one, planted) for one in x]
        same = all(new is old for new, old in zip(parts, x))
        return x if same else type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if not is_dataclass(x) or isinstance(x, type):
        return x
    parts_of = {field.name: getattr(x, field.name) for field in fields(x) if field.init}
    new = {name: codegen_structure_with_scalars(one, planted) for name, one in parts_of.items()}
    return x if all(new[name] is one for name, one in parts_of.items()) else replace(x, **new)


# ---- numbers of the checked file


def codegen_draft_with_arguments(robot: Robot) -> Draft:
    if robot.document is None:
        raise InputError(f"{robot.name} has no file whose numbers could be arguments", key="--parameters")
    document = robot.document
    return robot.made_once(Draft, lambda: Draft.of(document))


def _numbers(x: Any, key: tuple[str, ...] = (), path: Keys = ()) -> Iterator[Argument]:
    """All numbers of a checked file, each with its key and its path."""
    if isinstance(x, float):
        yield Argument(".".join(key), path, float(x))
    elif isinstance(x, Strict):
        # a link without mass has no mass centre either
        empty = isinstance(x, LinkEntry) and not x.mass and not (x.com or x.r or x.first_moments)
        for name in type(x).model_fields:
            if name in x.model_fields_set and not (name == "mass" and empty):
                yield from _numbers(getattr(x, name), (*key, name), (*path, name))
    elif isinstance(x, dict):
        for name, one in x.items():
            yield from _numbers(one, (*key, name), (*path, name))
    elif isinstance(x, list | tuple):
        for at, one in enumerate(x):
            own = getattr(one, "name", None) or getattr(one, "joint", None)
            yield from _numbers(one, (*key, own if isinstance(own, str) else str(at)), (*path, at))


def _by_place(one: Argument) -> str:
    """The key with places in lists instead of names."""
    return ".".join(str(step) for step in one.path)


def _matches(key: str, pattern: str) -> bool:
    """Whether a key is what a pattern names, or lies in it."""
    steps, wanted = key.split("."), pattern.split(".")
    return len(steps) >= len(wanted) and all(map(fnmatch.fnmatchcase, steps, wanted))


def codegen_file_part_with_value(part: Any, path: Keys, value: Any) -> Any:
    """A part of a file with another value at a path."""
    if not path:
        return value
    step, *rest = path
    if isinstance(part, Strict):
        return part.model_copy(
            update={str(step): codegen_file_part_with_value(getattr(part, str(step)), tuple(rest), value)}
        )
    if isinstance(part, dict):
        return {**part, step: codegen_file_part_with_value(part[step], tuple(rest), value)}
    items = [
        codegen_file_part_with_value(one, tuple(rest), value) if at == step else one for at, one in enumerate(part)
    ]
    return type(part)(items)
