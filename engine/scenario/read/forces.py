"""Section `forces`: the joints with a force law, actuators that are no joint's, and their laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...laws import FORCE_LAWS, OF_JOINT, ComputedTorque, Feedforward, Force, ForceLaw, laws_of_state, laws_of_time
from ...robot import Actuator, Effort, Joint
from ...simulate.systems import AlongForce, Commanded, Driven, Motion, StateForce
from ...text import Keys, yaml_value_in_words
from . import formulas
from .motion import Motions
from .reading import Reading

Forces = dict[Joint, tuple[ForceLaw, Keys]]  # a joint's law, and the path of its entry
Laws = dict[str, tuple[ForceLaw, Keys]]  # of an actuator, and the path of its entry


@dataclass(frozen=True)
class ForceLaws:
    """The force laws of a scenario, grouped by what they need at run time."""

    driven: list[Driven]
    commanded: list[Commanded]
    feedforward: list[Motion]


def read_force_section(reading: Reading, motions: Motions) -> Forces:
    """The force law of each joint that has one; joints whose force overrides `motion: all` leave `motions`."""
    actuators = [one.name for one in reading.robot.actuators]
    entries = {name: law for name, law in reading.file.forces.items() if name not in actuators}
    laws = reading.each("forces", entries, actuators)
    for joint in list(laws):
        law, path = laws[joint]
        if not reading.simulating and joint.actuated:
            every = path[1] == "all"
            raise reading.error(
                path,
                f"in inverse dynamics the force of {'every actuated joint' if every else f'`{joint.name}`'} is sought",
                key=every,
                allowed="joints without an actuator" + ", by their names" * every,
                hint="`task: simulate` takes forces",
            )
        if law.follows_motion():
            if joint not in motions:
                raise reading.error(
                    path,
                    f"`{joint.name}` has nothing to follow",
                    found=f"law: {getattr(law, 'law', '')}, and no entry for `{joint.name}` under `motion`",
                    hint="say what to follow under `motion`" + ", or give `to`" * ("to" in type(law).model_fields),
                )
        elif joint in motions:
            if motions[joint][1][-1] == "all" and path[-1] != "all":
                del motions[joint]
            elif path[-1] == "all":
                del laws[joint]
            else:
                raise reading.error(
                    path,
                    f"the motion of `{joint.name}` is prescribed, so its force is an output",
                    hint="keep one of the two",
                )
    return laws


def read_force_laws(reading: Reading, laws: Forces, references: Mapping[str, Motion]) -> ForceLaws:
    """The force laws, each with the motion that it follows."""
    made = ForceLaws([], [], [])
    for joint, (law, path) in laws.items():
        if law.reads_state() and joint.type.orientation is not None:
            raise reading.error(
                path,
                f"`{joint.name}` has Euler parameters, which this law can't read",
                allowed=", ".join(name for name, row in FORCE_LAWS.items() if not row.exemplary().reads_state()),
            )
        if isinstance(law, ComputedTorque):
            made.commanded.append(Commanded(joint, references[joint.name], law))
        elif isinstance(law, Feedforward):
            made.feedforward.append(references[joint.name])
        else:
            made.driven.extend(_driven_speeds(reading, joint, law, path, references))
    if made.feedforward:
        _all_planned(reading, laws, references, made.feedforward)
    return made


def _driven_speeds(
    reading: Reading, joint: Joint, law: ForceLaw, path: Keys, references: Mapping[str, Motion]
) -> list[Driven]:
    """The function of the law for each speed of the joint."""
    reading.law_fits(law, path, joint)
    if law.reads_all():
        return [replace(one, dead_time=law.delay()) for one in formulas.read_formula_forces(reading, joint, law, path)]
    nv = joint.type.nv
    kinds = ["moment" if turning else "force" for turning in joint.type.turning]
    functions = reading.tabled(law, path, kinds, joint.name, partial(law.forces, nv, reading.folder))
    reference = references.get(joint.name) if law.follows_motion() else None
    effort = joint.effort if joint.actuated else Effort()
    return [
        Driven(
            speed,
            joint.coordinates[place] if joint.type.orientation is None else None,
            function,
            reference,
            place,
            not law.reads_state(),
            law.steady(),
            law if law.reads_state() or law.gains() else None,
            effort.low,
            effort.high,
            dead_time=law.delay(),
            gains=tuple(float(getattr(law, name)) for name in law.gains()),
            tuned=partial(_tuned, law, nv, place) if law.gains() else None,
            course=law.course() if law.gains() else None,
        )
        for place, (speed, function) in enumerate(zip(joint.speeds, functions))
    ]


def _tuned(law: ForceLaw, count: int, place: int, gains: Sequence[Any]) -> Force:
    """The force of the law with other gains, on one of the joint's speeds; of a law of time, on its course."""
    other = law.model_copy(update=dict(zip(law.gains(), gains)))
    return (lambda x, q, qd, ref: other.on_course(x)) if law.of_time() else other.forces(count, Path())[place]


def _all_planned(reading: Reading, laws: Forces, references: Mapping[str, Motion], feedforward: list[Motion]) -> None:
    """Raises an error if feedforward is wanted but the motion of a joint isn't planned."""
    if reading.robot.rolls:
        raise reading.error(
            ("forces",),
            "the positions of what rolls or skates don't follow from a planned motion at an instant; feedforward "
            "needs that",
            allowed="computed-torque, pd, or a motion without a force law",
        )
    planned = {motion.joint.name for motion in feedforward} | {
        name for name in references if name not in {joint.name for joint in laws}
    }
    mechanism = reading.robot.tied or bool(reading.file.drives)
    for joint in reading.robot.moving:
        if joint.name not in planned and (joint.actuated or not mechanism):
            raise reading.error(
                ("forces",),
                f"feedforward needs the planned motion of every joint; `{joint.name}` has none",
                hint=f"give `{joint.name}` an entry under `motion`, and none or feedforward under `forces`",
            )


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
    """The actuators under their laws, of time, of the state, or of the sum of joints by which they move.

    Their places are behind the robot's speeds.
    """
    driven = []
    for place, one in enumerate(reading.robot.actuators, start=reading.robot.nv):
        if one.name not in given:
            continue
        law, path = given[one.name]
        _refuse(reading, one, law, path)
        for key, kind, value in law.measured():
            if isinstance(value, tuple):
                message, found = f"`{one.name}` needs 1 number", yaml_value_in_words(value)
                raise reading.error((*path, key), message, found=found, allowed="one")
            reading.fits(value, OF_JOINT[kind][0 if one.moment else 1], (*path, key))
        low, high = one.effort.low, one.effort.high
        limited = partial(Driven, place, None, reference=None, place=0, low=low, high=high, dead_time=law.delay())
        if law.reads_all():
            whole: StateForce = formulas.read_actuator_formula(reading, one, law, path)
            driven.append(limited(force=formulas.no_force_of_formula, whole=whole))
            continue
        function = reading.tabled(law, path, ["effort"], one.name, partial(law.forces, 1, reading.folder))[0]
        if law.reads_state():
            whole = AlongForce(law, function, one.joints)
            driven.append(limited(force=formulas.no_force_of_formula, whole=whole))
        else:
            driven.append(limited(force=function, timed=True, steady=law.steady()))
    return driven


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
