"""What was identified: its numbers with what is known of them, as rows, as CSV files, and as the file of a robot."""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from ...errors import InputError
from ...formats import loads
from ...mechanics.numbers import INERTIAL_NAMES, parameters, regressor_speeds
from ...robot import Robot
from ...text import yaml_text
from .columns import unit_of_identified_number
from .least_squares import POSITIVE

REPLACED = ("com", "com_from", "r", "first_moments", "inertia", "about", "frame", "mass")


@dataclass(frozen=True, eq=False)
class Identified:
    """What data tell about a robot's numbers.

    `values`, `errors` (standard errors, not a number where the data tell nothing) and `of_file` belong to the base
    parameters `names`; `determined` says which of them the data tell. `numbers` are those of links and joints that have
    these values and are nearest to the robot's file.
    """

    robot: Robot
    names: tuple[str, ...]
    words: tuple[str, ...]  # the groups that the names stand for
    values: np.ndarray
    errors: np.ndarray
    of_file: np.ndarray
    determined: np.ndarray
    silent: tuple[str, ...]  # numbers that no force shows
    condition: float
    deviations: dict[str, float]  # of the residuals, by effort
    correlated: bool  # whether the standard errors allow for the residuals' autocorrelation
    lags: int
    physical: bool
    numbers: dict[str, float]
    distances: dict[str, float]  # on which dry friction builds up after reversals (63 %), with the law `dahl`
    train: dict[str, dict[str, float]]  # error in % of RMS effort, by file and effort
    test: dict[str, dict[str, float]]
    unwritable: tuple[str, ...]  # why no file of a robot has these numbers
    sources: tuple[str, ...]

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the base parameters."""
        return tuple(unit_of_identified_number(self.robot, name) for name in self.names)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The base parameters that the data don't tell."""
        return tuple(name for name, there in zip(self.names, self.determined) if not there)

    def robot_text(self) -> str:
        """The identified robot as the text of a robot's file."""
        if self.unwritable:
            raise InputError(
                "no robot's file has these numbers", found="; ".join(self.unwritable[:3]), hint="`physical: true`"
            )
        data = robot_data_with_identified_numbers(self.robot, self.numbers, parameters(self.robot))
        data["name"] = f"{self.robot.name}-identified"
        head = [f"{self.robot.name} with numbers identified by `denoc identify` from {', '.join(self.sources)}."]
        if self.physical:
            head.append("Every link's pseudo-inertia is positive definite.")
        head.append("What the data don't tell has the values nearest to the robot's file; unknown from the data:")
        head.append(f"  {', '.join((*self.silent, *self.unknown)) or 'none'}")
        constant = identified_force_offsets(self.robot, self.numbers)
        if self.distances:
            head.append("Paths on which dry friction builds up (63 %), which a robot's file doesn't have:")
            head += [f"  {name}: {x:.17g}" for name, x in self.distances.items()]
        if constant:
            head.append("Constant forces, which a robot's file doesn't have:")
            head += [f"  {name}: {x:.17g}" for name, x in constant.items()]
        return identified_robot_text(data, head)

    def to_robot(self) -> Robot:
        """The identified robot."""
        return loads(self.robot_text(), f"{self.robot.name}-identified")


# ---- the file of a robot with other numbers


def unwritable_identified_numbers(robot: Robot, numbers: Mapping[str, float], source: Mapping[str, float]) -> list[str]:
    """Why no file has these numbers, in words; empty where one has."""
    reasons = []
    document = robot.document
    data = document.data if document is not None else {}
    entries = data.get("links", [])
    if "joints" in data or any("repeat" in one for one in entries) or len(entries) != len(robot.links):
        reasons.append("its file doesn't list every link with its joint (`repeat`, `joints`)")
    for name, x in numbers.items():
        kind = name.rsplit(".", 1)[1]
        if x < 0.0 and kind in (*POSITIVE, "m"):
            reasons.append(f"{name} would be negative: {x:.4g}")
        if kind == "m" and x == 0.0 and any(numbers[f"{name[:-1]}{other}"] for other in INERTIAL_NAMES[1:]):
            reasons.append(f"{name} would be 0")
    several = {joint.name for joint in robot.moving if len(joint.speeds) > 1}
    for prefix, _, _ in regressor_speeds(robot):
        changed = [k for k in numbers if k.rpartition(".")[0] == prefix and numbers[k] != source[k]]
        if prefix.rpartition(".")[0] in several and changed:
            reasons.append(f"the speeds of {prefix.rpartition('.')[0]} have one entry for all")
    return list(dict.fromkeys(reasons))


def identified_force_offsets(robot: Robot, numbers: Mapping[str, float]) -> dict[str, float]:
    """Constant forces that no robot's file has, by joint: those of joints without a spring."""
    return {
        prefix: numbers[f"{prefix}.offset"]
        for prefix, _, drive in regressor_speeds(robot)
        if not drive.stiffness and numbers.get(f"{prefix}.offset")
    }


def robot_data_with_identified_numbers(
    robot: Robot, numbers: Mapping[str, float], source: Mapping[str, float]
) -> dict[str, Any]:
    """The data of the robot's file with those of these numbers that differ from its own."""
    if robot.document is None:
        raise InputError("this robot has no file", allowed="a robot from `denoc.load`")
    data = copy.deepcopy(robot.document.data)
    for entry, link in zip(data["links"], robot.links):
        own = {name: numbers[f"{link.name}.{name}"] for name in INERTIAL_NAMES}
        if any(own[name] != source[f"{link.name}.{name}"] for name in INERTIAL_NAMES):
            for key in REPLACED:
                entry.pop(key, None)
            entry["mass"] = own["m"]
            entry["first_moments"] = [own["mx"], own["my"], own["mz"]]
            entry["inertia"] = {name[1:]: own[name] for name in INERTIAL_NAMES[4:]}
            entry |= {"about": "origin", "frame": "link"}
        if link.joint.type.nv == 1:
            _joint(entry["joint"], link.joint.name, numbers, source)
    return dict(data)


def _joint(entry: dict[str, Any], name: str, numbers: Mapping[str, float], source: Mapping[str, float]) -> None:
    """Puts the numbers of a joint into its entry."""

    def changed(kind: str) -> bool:
        return numbers.get(f"{name}.{kind}") != source.get(f"{name}.{kind}")

    if changed("rotor"):
        entry["rotor_inertia"] = numbers[f"{name}.rotor"]
    spring, damped = entry.get("spring"), 0.0
    if spring is not None and (changed("stiffness") or changed("offset")):
        spring["stiffness"] = numbers[f"{name}.stiffness"]
        spring["rest"] = -numbers[f"{name}.offset"] / spring["stiffness"] if spring["stiffness"] else 0.0
    if changed("viscous") or changed("coulomb"):
        if spring is not None and "damping" in spring:
            del spring["damping"]  # which acts as viscous friction does, and is in that number
        entry["friction"] = {kind: numbers[f"{name}.{kind}"] + damped for kind in ("coulomb", "viscous")}


def identified_robot_text(data: Mapping[str, Any], head: Sequence[str]) -> str:
    """The text of a robot's file, with its source as comments."""
    return yaml_text(_plain(data), head)


def _plain(value: Any) -> Any:
    """The data with numbers of Python's in place of numpy's."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return float(value) if isinstance(value, np.floating) else value


# ---- tables


class ReportRow(TypedDict):
    """A base parameter, identified."""

    name: str
    group: str
    unit: str
    value: float
    error: float | None
    file: float
    determined: bool


def identified_parameter_rows(result: Identified) -> list[ReportRow]:
    """A row for each base parameter."""
    listed = zip(
        result.names, result.words, result.units, result.values, result.errors, result.of_file, result.determined
    )
    return [
        {
            "name": name,
            "group": words,
            "unit": unit,
            "value": float(value),
            "error": float(error) if determined else None,
            "file": float(of_file),
            "determined": bool(determined),
        }
        for name, words, unit, value, error, of_file, determined in listed
    ]


def identified_parameters_csv(result: Identified) -> str:
    """The base parameters as CSV."""
    rows = identified_parameter_rows(result)
    return _csv(list(ReportRow.__annotations__), (list(row.values()) for row in rows))


def identified_numbers_csv(result: Identified) -> str:
    """The numbers of links and joints as CSV."""
    own = parameters(result.robot)
    rows = ([name, unit_of_identified_number(result.robot, name), x, own[name]] for name, x in result.numbers.items())
    return _csv(("name", "unit", "value", "file"), rows)


def _csv(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(["" if x is None else f"{x:.17g}" if isinstance(x, float) else x for x in row])
    return text.getvalue()
