"""Section `motion`: the joints whose motion is given, and their laws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...laws import Hold, MotionLaw, Profiled, Turn, profiled_motion_laws
from ...robot import Joint
from ...simulate.systems import HeldJoint, Motion, Reference, Turning
from ...text import Keys, yaml_value_in_words
from ...text.expressions import DIMENSIONS
from .reading import Reading

Motions = dict[Joint, tuple[MotionLaw, Keys]]  # a joint's law, and the path of its entry


def read_motion_laws(reading: Reading) -> Motions:
    """The law of each joint that has one; in inverse dynamics actuated joints without an entry are held."""
    laws = reading.each("motion", reading.file.motion)
    if reading.simulating:
        return laws
    for joint in reading.robot.moving:
        if joint.actuated and joint not in laws:
            laws[joint] = (Hold(law="hold"), ("motion",))
    return laws


def read_motion_of_joint(reading: Reading, joint: Joint, law: MotionLaw, path: Keys, q0: Sequence[float]) -> Motion:
    """The joint's motion by its law from the coordinates q0; `path` is that of the law's entry."""
    t0, t1 = reading.span
    place = tuple(q0[k] for k in joint.coordinates)
    if misfitting := law.misfit(t0, t1):
        key, message, allowed = misfitting
        raise reading.error((*path, key), message, found=yaml_value_in_words(getattr(law, key)), allowed=allowed)
    kinks = tuple(law.kinks(t0, t1))
    if isinstance(law, Hold) and law.from_ is None:
        return HeldJoint(joint, place)
    if joint.type.orientation is not None:
        return _turning(reading, joint, law, path, place, kinks)
    _refuse_turns(reading, joint, law, path)
    reading.law_fits(law, path, joint)
    made = partial(law.curves, place, t0, t1, reading.folder)
    return Reference(joint, tuple(reading.tabled(law, path, joint.type.kinds, joint.name, made)), kinks)


def _turning(
    reading: Reading, joint: Joint, law: MotionLaw, path: Keys, place: tuple[float, ...], kinks: tuple[float, ...]
) -> Turning:
    """The turn about an axis of a joint that has Euler parameters."""
    free = joint.type.nq != 4
    if free or not (isinstance(law, Profiled) and isinstance(law.to, Turn)) or law.from_ is not None:
        raise reading.error(
            path,
            f"the {joint.type.name} joint `{joint.name}` can't follow this",
            found=f"law: {getattr(law, 'law', '')}",
            allowed="hold"
            if free
            else f"{' or '.join(profiled_motion_laws())} with `to: {{axis: […], angle: …}}`, hold",
        )
    axis = np.array([float(x) for x in law.to.axis])
    axis = axis / abs(axis).max()
    axis = axis / np.linalg.norm(axis)
    share = law.share(*reading.span)
    angle = float(law.to.angle)

    def turned(t: Any) -> tuple[Any, Any, Any]:
        s, rate, second = share(t)
        return angle * s, angle * rate, angle * second

    return Turning(joint, turned, (float(axis[0]), float(axis[1]), float(axis[2])), place, kinks)


def _refuse_turns(reading: Reading, joint: Joint, law: MotionLaw, path: Keys) -> None:
    """Raises an error if the law has a turn about an axis, which only Euler parameters can follow."""
    for key, _, value in law.measured():
        if isinstance(value, Turn):
            raise reading.error(
                (*path, key),
                f"`{joint.name}` has no Euler parameters, so it can't turn about an axis that a law names",
                found=yaml_value_in_words({"axis": 0, "angle": 0}),
                allowed=", ".join(DIMENSIONS[kind][1] for kind in joint.type.kinds)
                + "; an axis and an angle are for spherical joints",
            )
