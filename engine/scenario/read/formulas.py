"""Force laws that are formulas over time and state: their names become places in the state, their tables curves."""

from __future__ import annotations

import math

from ...errors import InputError, did_you_mean
from ...laws.forces import ForceLaw
from ...laws.lookup import pieces
from ...machine.program.formulas import Curve
from ...robot.model import Joint, Robot
from ...robot.values import counted
from ...simulate.inputs import Driven
from ...simulate.state_force import FormulaForce
from ...text.document import Keys
from ...text.formula_tree import TIME, Formula, Lookup, lookups, names
from .reading import Reading

OWN = "q", "qd"  # the names of a law's own coordinate and speed


def driven(reading: Reading, joint: Joint, law: ForceLaw, path: Keys) -> list[Driven]:
    """The force along each speed of the joint."""
    given = law.formulas(joint.type.nv)
    if len(given) not in (1, joint.type.nv):
        raise reading.error(
            (*path, given[0][0]),
            f"`{joint.name}` needs {counted(joint.type.nv, 'formula')}",
            found=str(len(given)),
            allowed=f"one formula, or [{', '.join('…' * joint.type.nv)}]",
        )
    made = []
    for place, speed in enumerate(joint.speeds):
        coordinate = joint.coordinates[place] if joint.type.orientation is None else None
        key, formula = given[place if len(given) > 1 else 0]
        at = (*path, key, place) if len(given) > 1 else (*path, key)
        whole = resolved(reading, formula, at, coordinate, speed)
        low, high = (joint.effort.low, joint.effort.high) if joint.actuated else (-math.inf, math.inf)
        made.append(Driven(speed, coordinate, silent, None, place, low=low, high=high, whole=whole))
    return made


def silent(t: float, q: float, qd: float, ref: tuple[float, float] | None) -> float:
    """The part of a force that its joint alone would give: none."""
    return 0.0


def resolved(reading: Reading, formula: Formula, path: Keys, coordinate: int | None, speed: int | None) -> FormulaForce:
    """The force that a formula gives; `coordinate` and `speed` are what `q` and `qd` stand for, if anything."""
    coordinates, speeds = columns(reading.robot)
    if coordinate is not None:
        coordinates[OWN[0]] = coordinate
    if speed is not None:
        speeds[OWN[1]] = speed
    for one in names(formula):
        if one.name not in coordinates and one.name not in speeds and one.name != TIME:
            known = [TIME, *coordinates, *speeds]
            raise reading.error(
                path,
                f"at character {one.position + 1}: unknown name `{one.name}`",
                allowed=", ".join(known),
                hint=did_you_mean(one.name, known),
            )
    used = [one.name for one in names(formula)]
    return FormulaForce(
        formula,
        tuple((name, coordinates[name]) for name in used if name in coordinates),
        tuple((name, speeds[name]) for name in used if name in speeds),
        TIME in used,
        tuple((one, curve(reading, one, path)) for one in lookups(formula)),
    )


def columns(robot: Robot) -> tuple[dict[str, int], dict[str, int]]:
    """The places of coordinates and of speeds by the names of their columns."""
    coordinates, speeds = {}, {}
    for joint in robot.moving:
        for suffix, k in zip(joint.type.coordinates, joint.coordinates):
            coordinates[f"{joint.name}.{suffix}"] = k
        for suffix, k in zip(joint.type.speeds, joint.speeds):
            speeds[f"{joint.name}.{suffix}"] = k
    return coordinates, speeds


def curve(reading: Reading, lookup: Lookup, path: Keys) -> Curve:
    """The curve through a table; its mistakes appear at the law's entry."""
    try:
        made = pieces(lookup, reading.folder)
    except InputError as error:
        where = f"{error.place}: " if error.place else f"{lookup.file}: "
        raise reading.error(
            path, where + error.message, found=error.found, allowed=error.allowed, hint=error.hint
        ) from None
    return Curve(made.ends, made.coefficients, made.start, lookup.periodic)
