"""Section `forces`: the laws of actuators that are no joint's."""

from __future__ import annotations

from functools import partial

from ...laws import FORCE_LAWS, OF_JOINT, ForceLaw, laws_of_state, laws_of_time
from ...robot import Actuator
from ...simulate.inputs import Driven
from ...simulate.state_force import AlongForce
from ...text import Keys, yaml_value_in_words
from . import formulas
from .reading import Reading

Laws = dict[str, tuple[ForceLaw, Keys]]  # of an actuator, and the path of its entry


def read_actuator_laws(reading: Reading) -> Laws:
    """The law of each actuator that has one; in inverse dynamics the forces of all of them are sought."""
    entries = reading.file.forces
    names = [one.name for one in reading.robot.actuators if one.name in entries]
    named: Laws = {name: (entries[name], ("forces", name)) for name in names}
    if named and not reading.simulating:
        name, (_, path) = next(iter(named.items()))
        raise reading.error(
            path,
            f"in inverse dynamics the force of `{name}` is sought",
            allowed="joints without an actuator",
            hint="`task: simulate` takes forces",
        )
    return named


def actuators_driven_by_laws(reading: Reading, given: Laws) -> list[Driven]:
    """The actuators under their laws, at the places behind the robot's speeds."""
    return [
        _driven(reading, one, place, *given[one.name])
        for place, one in enumerate(reading.robot.actuators, start=reading.robot.nv)
        if one.name in given
    ]


def _driven(reading: Reading, one: Actuator, place: int, law: ForceLaw, path: Keys) -> Driven:
    """One actuator under its law: of time, of the state, or of the sum of joints by which it moves."""
    _refuse(reading, one, law, path)
    for key, kind, value in law.measured():
        if isinstance(value, tuple):
            raise reading.error(
                (*path, key), f"`{one.name}` needs 1 number", found=yaml_value_in_words(value), allowed="one"
            )
        reading.fits(value, OF_JOINT[kind][0 if one.moment else 1], (*path, key))
    low, high = one.effort.low, one.effort.high
    limited = partial(Driven, place, None, reference=None, place=0, low=low, high=high, dead_time=law.delay())
    if law.reads_all():
        return limited(
            force=formulas.no_force_of_formula, whole=formulas.read_actuator_formula(reading, one, law, path)
        )
    function = reading.tabled(law, path, ["effort"], one.name, partial(law.forces, 1, reading.folder))[0]
    if law.reads_state():
        return limited(force=formulas.no_force_of_formula, whole=AlongForce(law, function, one.joints))
    return limited(force=function, timed=True, steady=law.steady())


def _refuse(reading: Reading, one: Actuator, law: ForceLaw, path: Keys) -> None:
    """Raises an error if an actuator has nothing that the law could read or follow."""
    if law.of_time() or law.reads_all() or (law.reads_state() and one.joints and not law.follows_motion()):
        return
    able = [*laws_of_time(), *laws_of_state()]
    if one.joints:
        able += [name for name, row in FORCE_LAWS.items() if row.exemplary().reads_state() and name not in able]
    why = "has no motion to follow" if law.follows_motion() else "acts on a link, so it has no coordinate"
    hint = "give `to`, the sum of the joints that it pulls to" if one.joints and "to" in type(law).model_fields else ""
    raise reading.error(
        path, f"`{one.name}` {why}", found=f"law: {getattr(law, 'law', '')}", allowed=", ".join(able), hint=hint
    )
