"""Values that a scenario gives beyond a mechanism's freedoms: refused, or changed slightly with a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...errors import AssemblyError
from ...mechanics.assembly import joint_distance
from ...mechanics.closure import Closure, independent_constraint_rows
from ...robot import Joint
from .motion import Motions
from .reading import Reading, follows_from_ties

SLACK = 1e-3  # rad or lengths of the mechanism (for speeds, per second): the largest change of a given value
ROUNDING = 1e-9  # in the same units: changes up to this aren't reported

Closing = Callable[
    [Closure, Sequence[float], Sequence[int]], list[float]
]  # finds closed coordinates while some speeds are kept


def scenario_joints_decided_before(
    loops: Closure, q: Sequence[float], joints: Sequence[Joint], *, places: bool = False
) -> list[Joint]:
    """The joints whose motion, or whose place, follows from the loops and from the joints before them."""
    J, _ = loops.jacobian(np.array(q))
    scaled = loops.scaled(loops.holding(J) if places else J)
    rows = independent_constraint_rows(scaled, loops.row_groups())
    named = {k for joint in joints for k in joint.speeds}
    others = [k for k in range(loops.robot.nv) if k not in named]
    dependent = set(
        independent_constraint_rows(scaled[rows].T, [others, *(joint.speeds for joint in reversed(joints))])
    )
    return [joint for joint in joints if dependent & set(joint.speeds)]


def read_surplus_coordinates(
    reading: Reading,
    loops: Closure,
    close: Closing,
    q0: Sequence[float],
    order: Sequence[Joint],
    held: Sequence[Joint],
    asked: Sequence[float],
) -> tuple[list[float], list[str]]:
    """The closed coordinates, and warnings about moved values; joints stay at q0, the earlier ones of `order` first.

    `asked` holds the values under `initial`; those that don't fit are refused. Joints of `held` give way.
    """
    named = [reading.robot.joint(name) for name in reading.file.initial]
    q = close(loops, q0, [k for joint in order for k in joint.speeds])
    if _moved(loops, held, q, q0, ROUNDING):
        q = _with_held(loops, close, q0, q, order, held)
    if not (_moved(loops, order, q, q0, ROUNDING) or _moved(loops, named, q, asked, ROUNDING)):
        return q, []
    follow = scenario_joints_decided_before(loops, q, order, places=True)
    kept = [k for joint in order if joint not in follow for k in joint.speeds]
    q = close(loops, q0, kept)
    if astray := _moved(loops, named, q, asked, SLACK):
        raise _misplaced(reading, loops, astray, asked, _by_assembly(loops, close, q0, q, follow, kept))
    return q, [
        f"`{joint.name}` starts at {_numbers(q, joint.coordinates)} instead of {_numbers(asked, joint.coordinates)}: "
        f"its place {follows_from_ties(loops.robot)} given"
        for joint in _moved(loops, named, q, asked, ROUNDING)
    ]


def _with_held(
    loops: Closure, close: Closing, q0: Sequence[float], q: list[float], order: Sequence[Joint], held: Sequence[Joint]
) -> list[float]:
    """The position in which the held joints stay as far as they can, or q if the loops don't close so."""
    both = [*order, *(joint for joint in held if joint not in order)]
    follow = scenario_joints_decided_before(loops, q, both, places=True)
    try:
        return close(loops, q0, [k for joint in both if joint not in follow for k in joint.speeds])
    except AssemblyError:
        return q


def _by_assembly(
    loops: Closure, close: Closing, q0: Sequence[float], q: list[float], follow: Sequence[Joint], kept: Sequence[int]
) -> list[float]:
    """The position in which the loops close from the robot file's guess, or q if they don't close."""
    guess = list(q0)
    for joint in follow:
        for k in joint.coordinates:
            guess[k] = loops.robot.q0[k]
    try:
        return close(loops, guess, kept)
    except AssemblyError:
        return q


def _misplaced(
    reading: Reading, loops: Closure, astray: Sequence[Joint], asked: Sequence[float], fit: Sequence[float]
) -> Exception:
    """The error for a start that doesn't close the loops, with values that would."""
    first = astray[0]
    fitting = _moved(loops, astray, fit, asked, ROUNDING) or astray
    return reading.error(
        ("initial", first.name),
        f"`{first.name}` can't start there: its place {follows_from_ties(loops.robot)} given",
        found=_numbers(asked, first.coordinates),
        allowed=", ".join(f"{joint.name}: {_numbers(fit, joint.coordinates)}" for joint in fitting) + ", or no entry",
        hint="a guess that decides on the branch is `assembly` in the robot's file" if loops.ties else "",
    )


def refuse_surplus_motions(
    reading: Reading, loops: Closure, q0: Sequence[float], joints: Sequence[Joint], given: Motions
) -> None:
    """Raises an error if a motion follows from the loops and from the motions of the joints before it."""
    for joint in scenario_joints_decided_before(loops, q0, joints):
        raise reading.error(
            given[joint][1],
            f"the motion of `{joint.name}` {follows_from_ties(loops.robot)} prescribed",
            allowed="as many prescribed motions as there are freedoms, or fewer",
            hint="one of them contradicts the others, or says the same twice",
        )


def read_given_rates(reading: Reading, qd0: Sequence[float]) -> dict[Joint, dict[int, float]]:
    """The given rates by joint and speed; a 0 in a list of several counts as not given."""
    joints = [reading.robot.joint(name) for name in reading.file.rates]
    return {joint: {k: qd0[k] for k in joint.speeds if qd0[k] or joint.type.nv == 1} for joint in joints}


def surplus_rate_warnings(
    reading: Reading, loops: Closure, qd: Sequence[float], asked: Mapping[Joint, Mapping[int, float]]
) -> list[str]:
    """Warnings about values under `rates` that were changed; those that don't fit are refused."""
    warnings = []
    for joint, values in asked.items():
        off = max((abs(qd[k] - x) / max(loops.column_scale[k], abs(x)) for k, x in values.items()), default=0.0)
        if off <= ROUNDING:
            continue
        now, before = _numbers(qd, joint.speeds), _numbers({k: values.get(k, 0.0) for k in joint.speeds}, joint.speeds)
        if off > SLACK:
            raise reading.error(
                ("rates", joint.name),
                f"`{joint.name}` can't move so: its speed {follows_from_ties(loops.robot)} given",
                found=before,
                allowed=f"{joint.name}: {now}, or no entry",
            )
        warnings.append(
            f"`{joint.name}` starts with the speed {now} instead of {before}: it {follows_from_ties(loops.robot)} given"
        )
    return warnings


def _moved(
    loops: Closure, joints: Sequence[Joint], q: Sequence[float], asked: Sequence[float], far: float
) -> list[Joint]:
    """The joints that are farther than `far` from their given positions."""
    return [joint for joint in joints if joint_distance(loops, joint, q, asked) > far]


def _numbers(values: Sequence[float] | Mapping[int, float], places: Sequence[int]) -> str:
    """One number or a list of them, as text."""
    texts = [f"{float(values[k]):.9g}" for k in places]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
