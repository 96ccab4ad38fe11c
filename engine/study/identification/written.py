"""The file of a robot with other numbers."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...mechanics.numbers import INERTIAL_NAMES, regressor_speeds
from ...robot import Robot
from ...text import yaml_text
from .least_squares import POSITIVE

REPLACED = ("com", "com_from", "r", "first_moments", "inertia", "about", "frame", "mass")


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
