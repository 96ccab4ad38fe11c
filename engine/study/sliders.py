"""Numbers of a robot's file that a page lets its reader change, and how everything that the page reads follows them.

Keys and ranges are asked for, or chosen for a scenario, or for a robot that falls freely.

What follows is a vector of numbers, f(s), which is fitted once by Chebyshev polynomials over the sliders' ranges, as
the sum of what each slider does alone and of what two of them do together. Whether that is all is tried where all of
them are somewhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..formats import load
from ..robot import TYPES, Robot
from ..robot.read import JointEntry
from ..scenario import Plan, changed_robot_of_scenario, prepare_scenario
from ..text import ROBOT, Change, Keys, find_library_file, parted_changes, read_yaml_document, yaml_flow_text
from ..text.expressions import DIMENSIONS
from ..text.fields import Strict, reader_of_quantity_field
from .arguments import codegen_draft_with_arguments, number_with_key, numbers_of_robot_file

FALL = "robot.gravity"  # the slider for the size of gravity, whose direction stays
MOST_SLIDERS = 8  # that a page has by itself
MOST_LENGTHS, MOST_TRIED = 5, 10  # of these, and of lengths that are tried for them
MASS, GRAVITY = 3.0, 2.0  # times the file's value, up to which the sliders of a page reach by themselves
REACHES = (0.5, 0.2, 0.1, 0.05)  # of a length, by which its slider reaches to both sides: the first that serves
DH = ("a", "b", "d", "r")  # the lengths among a joint's parameters
IN_WORDS = {"com": "mass centre", "rotor_inertia": "rotor inertia", "first_moments": "first moment", "r": "mass centre"}
# what a number of a joint is if that turns, and if it slides
OF_JOINT = {
    "position": ("angle", "length"),
    "velocity": ("rate", "speed"),
    "effort": ("moment", "force"),
    **{kind: (f"turn {kind}", f"slide {kind}") for kind in ("stiffness", "damping", "rotor")},
}
DURATION = 10.0  # seconds of a robot's free fall


def page_own_sliders(
    plan: Plan, closes: Callable[[Slider], bool], serves: Callable[[Slider], bool], most: int = MOST_LENGTHS
) -> list[Slider]:
    """The sliders of a page by itself: lengths as far as loops close, gravity, and the masses of the heaviest links."""
    lengths: list[Slider] = []
    for one in [*page_length_sliders(plan)][:MOST_TRIED]:
        ends = ((one.value - k * abs(one.value), one.value + k * abs(one.value)) for k in REACHES)
        wide = (replace(one, low=float(f"{low:.9g}"), high=float(f"{high:.9g}")) for low, high in ends)
        found = next(filter(closes, wide), None) if len(lengths) < most else None
        lengths += [found] if found is not None and serves(found) else []
    document = plan.robot.document
    data = document.data if document is not None and isinstance(document.data, dict) else {}
    masses: list[Slider] = []
    links = {link.name: link for link in plan.robot.links}
    for entry in data.get("links", []) if isinstance(data.get("links"), list) else []:
        name = entry.get("name") if isinstance(entry, dict) else None
        if name in links and "mass" in entry and links[name].mass:
            mass = links[name].mass
            masses.append(Slider(f"robot.links.{name}.mass", mass / 10, MASS * mass, mass, "kg", f"{name}: mass"))
    masses.sort(key=lambda one: -one.value)
    size = float(np.linalg.norm(plan.robot.gravity))
    gravity = [Slider(FALL, 0.0, GRAVITY * size, size, "m/s²", "gravity")] if size else []
    return (lengths + gravity + masses)[:MOST_SLIDERS]


def page_length_sliders(plan: Plan) -> Iterator[Slider]:
    """Sliders, without ranges yet, of the lengths between a machine's joints; those of the base come last."""
    if plan.robot.document is None:
        return
    file = codegen_draft_with_arguments(plan.robot).file
    named = {(loop.between[k], str(at)) for loop in file.loops for k, at in enumerate((loop.first.at, loop.second.at))}
    found: list[Slider] = []
    for one in numbers_of_robot_file(plan.robot):
        kind = (one.path[0], *one.path[2:-1])
        between = kind == ("links", "joint", "xyz") or (kind[0] == "loops" and kind[2:] == ("at",))
        between |= kind == ("links", "joint") and one.path[-1] in DH
        if one.path[0] == "links" and one.path[2] == "points":
            between = (file.links[int(one.path[1])].name, str(one.path[3])) in named
        if between and one.value:
            key, words = f"robot.{one.key}", page_words_of_key(plan.robot, one.path)
            found.append(Slider(key, one.value, one.value, one.value, unit_at(plan.robot, key), words))
    yield from sorted(found, key=lambda one: one.words.startswith("base:"))


def page_words_of_key(robot: Robot, path: Keys) -> str:
    """What a number of the robot's file is, in words: whose it is, and what."""
    file = codegen_draft_with_arguments(robot).file
    entry: Any = getattr(file, str(path[0]))
    owner, rest = str(path[0]), list(path[1:])
    if isinstance(entry, list | tuple) and rest and isinstance(rest[0], int) and rest[0] < len(entry):
        entry, rest = entry[rest[0]], rest[1:]
        owner = str(getattr(entry, "name", "") or owner)
    place, to = "", ""
    if path[0] == "links" and rest[:1] == ["joint"]:
        joint = next((link.joint.name for link in robot.links if link.name == owner), owner)
        rest = rest[1:]
        if rest[:1] == ["xyz"]:
            owner, to = next(link.parent for link in robot.links if link.name == owner), joint
            place = "distance" if owner == "base" else "length"
            entry, rest = entry.joint.xyz, rest[1:]
        else:
            owner = joint
            rest = [f"length {rest[0]}"] if len(rest) == 1 and rest[0] in DH else rest
    elif path[0] == "links" and rest[:1] == ["points"]:
        entry, to, place, rest = entry.points[rest[1]], str(rest[1]), "length", rest[2:]
    elif path[0] == "loops" and rest[1:2] == ["at"]:
        side = ("first", "second").index(str(rest[0]))
        entry, to, owner, place = getattr(entry, str(rest[0])).at, owner, entry.between[side], "length"
        rest = rest[2:]
    if place and rest:  # the number is the whole length if it is the only one of its place
        alone = sum(1 for x in entry if x) == 1
        return f"{owner}: {place} to {to}" if alone else f"{owner}: {'xyz'[int(rest[0])]} of {to}"
    words = [IN_WORDS.get(str(one), str(one).replace("_", " ")) for one in rest]
    if words and isinstance(rest[-1], int):
        words[-1] = "xyz"[rest[-1]] if rest[-1] < 3 else words[-1]
    return f"{owner}: {' '.join(words)}" if words else owner


def page_slider_of_key(plan: Plan, key: str, low: float | None, high: float | None) -> Slider:
    """The slider of a key, whose range is by default from a tenth to three times its value."""
    value = float(np.linalg.norm(plan.robot.gravity)) if key == FALL else page_slider_number(plan.robot, key)
    low = low if low is not None else min(0.1 * value, MASS * value)
    high = high if high is not None else max(0.1 * value, MASS * value)
    if not low < high or not low <= value <= high:
        raise InputError(
            "not a range around the number's own value",
            key=key,
            found=f"{low:g}..{high:g}",
            allowed=f"{key}=LOW..HIGH with {value:g} between them",
        )
    if key == FALL:
        return Slider(key, low, high, value, "m/s²", "gravity")
    number = number_with_key(plan.robot, key)
    assert number is not None
    return Slider(key, low, high, value, unit_at(plan.robot, key), page_words_of_key(plan.robot, number.path))


def page_slider_number(robot: Robot, key: str) -> float:
    """The number of a robot's file at a key such as `robot.links.crank.mass`."""
    value: Any = robot.document.data if robot.document is not None else None
    for step in key.removeprefix("robot.").split("."):
        if isinstance(value, list):
            named = [one for one in value if isinstance(one, dict) and one.get("name") == step]
            names = [str(one["name"]) for one in value if isinstance(one, dict) and "name" in one]
            inner = named[0] if named else value[int(step)] if step.isdigit() and int(step) < len(value) else None
        else:
            names = list(map(str, value)) if isinstance(value, dict) else []
            inner = value.get(step) if isinstance(value, dict) else None
        if inner is None:
            hint = did_you_mean(step, names) or "a number that isn't in the file has to be written there first"
            raise InputError("no such number in the robot's file", key=key, found=f"`{step}`", hint=hint)
        value = inner
    number = None if isinstance(value, dict | list) else number_with_key(robot, key)
    if number is None:
        raise InputError(
            "not a number of the robot's file",
            key=key,
            found=yaml_flow_text(value),
            allowed="such as robot.links.crank.mass",
        )
    return number.value


def page_robot_changed(robot: Robot, sliders: Sequence[Slider], values: Sequence[float]) -> Robot:
    """The robot with these values of its file."""
    from ..scenario import changed_robot_of_scenario

    changes = []
    for one, value in zip(sliders, values):
        if value != one.value:
            given = [float(value) / one.value * g for g in robot.gravity] if one.key == FALL else float(value)
            changes.append(Change(one.key.removeprefix("robot."), given, one.key, f"{one.key}={value:g}"))
    return changed_robot_of_scenario(robot, changes)


def unit_at(robot: Robot, key: str) -> str:
    """The SI unit of the number at a key such as `robot.links.crank.mass`; empty for a plain number."""
    here: Any = codegen_draft_with_arguments(robot).file
    kind, turning = "number", True
    for step in key.removeprefix(ROBOT).split("."):
        if isinstance(here, JointEntry):
            row = TYPES[here.type]
            turning = "angle" in row.kinds or row.orientation is not None
        if isinstance(here, Strict) and (reader := reader_of_quantity_field(type(here), step)) is not None:
            kind = reader.kind  # of an item of a list, too
            break
        here = _part(here, step)
    words = DIMENSIONS[OF_JOINT[kind][not turning] if kind in OF_JOINT else kind][1]
    found = re.search(r"\(([^,)]+)", words)
    return found[1].replace("^2", "²") if found is not None else ""


def _part(here: Any, step: str) -> Any:
    """What is at a step of a key: a field, an entry of a mapping, or one of a list by its name or its place."""
    if isinstance(here, Strict):
        return getattr(here, step, None)
    if isinstance(here, dict):
        return here.get(step)
    if isinstance(here, list | tuple):
        named = [one for one in here if step in (getattr(one, "name", None), getattr(one, "joint", None))]
        return named[0] if named else here[int(step)] if step.isdigit() and int(step) < len(here) else None
    return None


def plan_of_page(what: str, changes: Sequence[Change]) -> Plan:
    """The plan of a scenario, or of the free fall of a robot."""
    try:
        document = read_yaml_document(find_library_file(what, "scenarios"))
    except InputError:
        data = None
    else:
        data = document.data
    if isinstance(data, dict) and "task" in data:
        return prepare_scenario(what, changes=list(changes))
    rest, of_robot = parted_changes(list(changes))
    robot = changed_robot_of_scenario(load(what), of_robot)
    fall = {"robot": what, "name": f"{robot.name}-fall", "task": "simulate", "time": {"end": DURATION, "step": 0.02}}
    return prepare_scenario(fall, robot, list(rest))


def page_slider_ranges(texts: Sequence[str]) -> list[tuple[str, float | None, float | None]]:
    """Keys and ranges of sliders, from texts such as `robot.links.crank.mass=1..5`; without a range it has None."""
    made: list[tuple[str, float | None, float | None]] = []
    for text in texts:
        key, sign, span = text.partition("=")
        low, _, high = span.partition("..")
        try:
            ends = (float(low), float(high)) if sign else None
        except ValueError:
            ends = (math.nan, math.nan)
        if ends is not None and not all(map(math.isfinite, ends)):
            allowed = "KEY or KEY=LOW..HIGH, in SI units"
            raise InputError("not a range", key="--slider", found=f"`{text}`", allowed=allowed)
        made.append((key.strip(), *(ends or (None, None))))
        if any(key.strip() == one for one, _, _ in made[:-1]):
            raise InputError("a number has one slider", key="--slider", found=f"`{key.strip()}` twice", allowed="once")
        if not key.strip().startswith("robot."):
            raise InputError(
                "not a number of the robot's file",
                key="--slider",
                found=f"`{text}`",
                allowed="such as robot.links.crank.mass",
            )
    return made


NODES = 12  # of each slider's range
EXACT = 1e-12  # by which the fit may differ from the numbers, relative to the largest of their kind in the vector
SMALL = 1e-15  # of coefficients, relative to the number, that are left out

Function = Callable[[Sequence[float]], np.ndarray]

_TURNS = np.pi * (np.arange(NODES) + 0.5) / NODES
_PLACES = np.cos(_TURNS)
_TO_CHEBYSHEV = np.cos(np.outer(np.arange(NODES), _TURNS)) * np.where(np.arange(NODES) == 0, 1.0, 2.0)[:, None] / NODES


@dataclass(frozen=True)
class Slider:
    """A number of the file: its key, its range, its value there, its unit, and what it is in words."""

    key: str
    low: float
    high: float
    value: float
    unit: str = ""
    words: str = ""

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The value at a place between −1 and 1."""
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / 2 * x)


def fit_slider_polynomials(sliders: Sequence[Slider], f: Function) -> dict[str, Any]:
    """The vector at the sliders' own values, and the polynomials of those of its numbers that change.

    `alone[i]` has pairs of a place in the vector and the coefficients of what slider i adds there; `together` has the
    same for pairs of sliders, with a matrix of coefficients.
    """
    own = [one.value for one in sliders]
    base = f(own)

    def changed(values: dict[int, float]) -> np.ndarray:
        return f([values.get(k, x) for k, x in enumerate(own)]) - base

    alone = [
        np.array([changed({i: float(x)}) for x in one.at(_PLACES)])
        if one.high > one.low
        else np.zeros((NODES, len(base)))
        for i, one in enumerate(sliders)
    ]
    for i, one in enumerate(sliders):  # so that nothing is added at the slider's own value
        if one.high > one.low:
            place = (2 * one.value - one.low - one.high) / (one.high - one.low)  # between −1 and 1
            alone[i] = alone[i] - _series(_TO_CHEBYSHEV @ alone[i], place)
    polynomials = [_TO_CHEBYSHEV @ values for values in alone]
    together = {}
    for i, j in combinations(range(len(sliders)), 2):
        away = {i: float(sliders[i].at(0.83)), j: float(sliders[j].at(-0.71))}
        rest = changed(away) - _series(polynomials[i], 0.83) - _series(polynomials[j], -0.71)
        if (abs(rest) > EXACT * _sizes(base)).any():
            together[i, j] = _pair(sliders, i, j, changed, polynomials)
    _check(sliders, f, base, polynomials, together)
    return {
        "base": base.tolist(),
        "alone": [_kept(table, base) for table in polynomials],
        "together": [[i, j, _kept(table.reshape(-1, len(base)), base)] for (i, j), table in together.items()],
    }


def _pair(
    sliders: Sequence[Slider],
    i: int,
    j: int,
    changed: Callable[[dict[int, float]], np.ndarray],
    polynomials: Sequence[np.ndarray],
) -> np.ndarray:
    """The coefficients of what two sliders do together, beyond what each does alone."""
    values = np.array(
        [[changed({i: float(x), j: float(y)}) for y in sliders[j].at(_PLACES)] for x in sliders[i].at(_PLACES)]
    )
    for n, place in enumerate(_PLACES):
        values[n] -= _series(polynomials[i], place)
        values[:, n] -= _series(polynomials[j], place)
    coefficients: np.ndarray = np.einsum("ka,lb,abn->kln", _TO_CHEBYSHEV, _TO_CHEBYSHEV, values)
    return coefficients


def _check(
    sliders: Sequence[Slider],
    f: Function,
    base: np.ndarray,
    polynomials: Sequence[np.ndarray],
    together: dict[tuple[int, int], np.ndarray],
) -> None:
    """Raises an error if the fit isn't the function where all sliders are somewhere else."""
    random = np.random.default_rng(5)
    for _ in range(3):
        places = random.uniform(-1, 1, len(sliders))
        fit = base + sum((_series(table, x) for table, x in zip(polynomials, places)), np.zeros(len(base)))
        for (i, j), table in together.items():
            fit = fit + np.polynomial.chebyshev.chebval2d(places[i], places[j], table)
        off = abs(fit - f([float(one.at(x)) for one, x in zip(sliders, places)])) / _sizes(base)
        if off.max(initial=0.0) > 1e3 * EXACT:
            raise InputError(
                "these numbers change the machine in a way that a page can't follow",
                found=", ".join(one.key for one in sliders),
                hint="fewer sliders, shorter ranges, or bodies under `shape` for links whose rods or plates change",
            )


def _series(table: np.ndarray, place: float) -> np.ndarray:
    values: np.ndarray = np.polynomial.chebyshev.chebval(place, table)
    return values


def _sizes(base: np.ndarray) -> np.ndarray:
    sizes: np.ndarray = np.maximum(abs(base), 1e-3 * abs(base).max(initial=1e-30))
    return sizes


def _kept(table: np.ndarray, base: np.ndarray) -> list[tuple[int, list[float]]]:
    """The columns of a table that aren't zero, with their places, down to their last coefficient that counts."""
    made = []
    for place in np.flatnonzero((abs(table) > SMALL * np.maximum(_sizes(base), abs(table).max(axis=0))).any(axis=0)):
        column = table[:, place]
        made.append((int(place), np.where(abs(column) > SMALL * abs(column).max(), column, 0.0).tolist()))
    return made
