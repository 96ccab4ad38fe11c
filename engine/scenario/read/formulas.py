"""Force laws that are formulas over time and state: their names become places in the state, their tables curves."""

from __future__ import annotations

from ...errors import InputError, allowed_names
from ...laws import ForceLaw, StateFeedback, law_table_polynomials
from ...machine.program import Curve
from ...robot import Actuator, Effort, Joint, Robot
from ...simulate.systems import Driven, FormulaForce, points_for_state_forces
from ...text import Keys, count_with_noun
from ...text.expressions import (
    TIME,
    Formula,
    Lookup,
    formula_with_replaced_names,
    lookups_in_formula,
    names_in_formula,
    total_formula,
)
from .reading import Reading

OWN = "q", "qd"  # the names of a law's own coordinate and speed


def read_formula_forces(reading: Reading, joint: Joint, law: ForceLaw, path: Keys) -> list[Driven]:
    """The force along each speed of the joint."""
    given = law.formulas(joint.type.nv)
    if len(given) not in (1, joint.type.nv):
        raise reading.error(
            (*path, given[0][0]),
            f"`{joint.name}` needs {count_with_noun(joint.type.nv, 'formula')}",
            found=str(len(given)),
            allowed=f"one formula, or [{', '.join('…' * joint.type.nv)}]",
        )
    _refuse_references_of_other_units(reading, joint, law, path)
    made = []
    for place, speed in enumerate(joint.speeds):
        coordinate = joint.coordinates[place] if joint.type.orientation is None else None
        key, formula = given[place if len(given) > 1 else 0]
        at = (*path, key, place) if len(given) > 1 else (*path, key)
        whole = read_formula_force(reading, formula, at, coordinate, speed)
        effort = joint.effort if joint.actuated else Effort()
        made.append(
            Driven(speed, coordinate, no_force_of_formula, None, place, low=effort.low, high=effort.high, whole=whole)
        )
    return made


def _refuse_references_of_other_units(reading: Reading, joint: Joint, law: ForceLaw, path: Keys) -> None:
    """Raises an error if the reference of a coordinate has a unit that isn't the joint's."""
    if not isinstance(law, StateFeedback):
        return
    kinds = dict.fromkeys(formula_column_places(reading.robot)[1], "number") | {OWN[1]: "number"}  # of speeds, in SI
    if len(joint.type.kinds) == 1:
        kinds[OWN[0]] = joint.type.kinds[0]
    for one in reading.robot.moving:
        kinds |= {f"{one.name}.{name}": kind for name, kind in zip(one.type.coordinates, one.type.kinds)}
    for name, value in law.reference.items():
        if name in kinds:
            reading.fits(value, kinds[name], (*path, "reference", name))


def read_actuator_formula(reading: Reading, one: Actuator, law: ForceLaw, path: Keys) -> FormulaForce:
    """The force of an actuator that is no joint's; `q` and `qd` are the sums by which it moves, if it moves joints."""
    given = law.formulas(1)
    if len(given) != 1:
        raise reading.error(
            (*path, given[0][0]), f"`{one.name}` needs 1 formula", found=str(len(given)), allowed="one formula"
        )
    key, formula = given[0]
    if one.joints:
        owners = {k: joint.name for joint in reading.robot.moving for k in joint.speeds}
        ratios = {owners[joint.speed]: joint.ratio for joint in one.joints}
        formula = formula_with_replaced_names(
            formula, {own: total_formula({f"{name}.{own}": x for name, x in ratios.items()}) for own in OWN}
        )
    return read_formula_force(reading, formula, (*path, key), None, None)


def no_force_of_formula(t: float, q: float, qd: float, ref: tuple[float, float] | None) -> float:
    """The part of a force that its joint alone would give: none."""
    return 0.0


def read_formula_force(
    reading: Reading, formula: Formula, path: Keys, coordinate: int | None, speed: int | None
) -> FormulaForce:
    """The force that a formula gives; `coordinate` and `speed` are what `q` and `qd` stand for, if anything."""
    coordinates, speeds = formula_column_places(reading.robot)
    if coordinate is not None:
        coordinates[OWN[0]] = coordinate
    if speed is not None:
        speeds[OWN[1]] = speed
    used = [one.name for one in names_in_formula(formula)]
    points = {name: point for point in points_for_state_forces(reading.robot) for name in point.columns()}
    for one in names_in_formula(formula):
        if one.name not in coordinates and one.name not in speeds and one.name not in points and one.name != TIME:
            known = allowed_names(one.name, [TIME, *coordinates, *speeds, *points])
            raise reading.error(path, f"at character {one.position + 1}: unknown name `{one.name}`", **known)
    return FormulaForce(
        formula,
        tuple((name, coordinates[name]) for name in used if name in coordinates),
        tuple((name, speeds[name]) for name in used if name in speeds),
        TIME in used,
        tuple((one, read_formula_table(reading, one, path)) for one in lookups_in_formula(formula)),
        tuple({point.name: point for name, point in points.items() if name in used}.values()),
    )


def formula_column_places(robot: Robot) -> tuple[dict[str, int], dict[str, int]]:
    """The places of coordinates and of speeds by the names of their columns."""
    coordinates, speeds = {}, {}
    for joint in robot.moving:
        for suffix, k in zip(joint.type.coordinates, joint.coordinates):
            coordinates[f"{joint.name}.{suffix}"] = k
        for suffix, k in zip(joint.type.speeds, joint.speeds):
            speeds[f"{joint.name}.{suffix}"] = k
    return coordinates, speeds


def read_formula_table(reading: Reading, lookup: Lookup, path: Keys) -> Curve:
    """The curve through a table; its mistakes appear at the law's entry."""
    try:
        made = law_table_polynomials(lookup, reading.folder)
    except InputError as error:
        path = (*path[:-1], "file") if path[-1] == "over" else path
        where = f"{error.place}: " if error.place else f"{lookup.file}: "
        raise reading.error(path, where + error.message, **error.words) from None
    return Curve(made.ends, made.coefficients, made.start, lookup.periodic)
