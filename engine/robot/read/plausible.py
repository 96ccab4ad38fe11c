"""What reads well but hardly anybody means: bare angles, a mass centre in millimetres, keys without effect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from ...text import Keys
from ...text.expressions import PLAIN, Quantity
from .bodies import ReadLink
from .schema import LinkEntry, RobotFile, SpringEntry
from .values import Complain

FULL_TURN = 2 * math.pi * (1 + 1e-9)
BEYOND = 10  # times the robot's longest distance: nothing of a robot lies so far from its link, or turns so heavily
HUGE = 1e15  # in SI units: beyond every length, mass, stiffness and force of anything that is built
UNBOUNDED = ("axis", "direction", "limits")  # keys whose numbers have no size, or may stand for no limit
DEGREES = 30, 720  # whole numbers of limits in this range look like degrees
ROUNDING = 1e-12  # of mass times the longest distance squared: moments of inertia below are rounding


def doubts_about_robot_numbers(
    file: RobotFile, links: Sequence[ReadLink], complain: Callable[..., Complain]
) -> Iterator[str]:
    """Warnings about the numbers of a robot's file, each at its place."""
    length, turning = longest_distance_in_robot(links), _turning(links)
    for k, (entry, read) in enumerate(zip(file.links, links)):
        at = complain("links", k)
        yield from (str(at(*path, words)) for path, x in _angles(entry, read) if (words := unbelievable_robot_angle(x)))
        yield from (str(at(*path, words)) for path, words in _inertias(entry, read, length, read.link.name in turning))
    yield from (str(complain("links", k)("r", words)) for k, words in _ends(file, links))
    turns = {read.link.joint.name: any(read.link.joint.type.turning) for read in links}
    angles = _angles_elsewhere(file, turns)
    doubts = ((path, words) for path, x in angles if (words := unbelievable_robot_angle(x)))
    yield from (str(complain()(*path, words)) for path, words in (*doubts, *enormous_robot_numbers(file)))
    x, y, z = file.gravity
    if z > 0 and not (x or y):
        yield str(complain()("gravity", f"gravity points upwards: {z:g} m/s² along z of the base"))


def longest_distance_in_robot(links: Sequence[ReadLink]) -> float:
    """The longest distance that placements and points of the robot's links have; 0 if all are 0."""
    of_links = (read.link for read in links)
    places = [at for link in of_links for at in (link.before.origin, link.end.origin, *link.points.values())]
    return max((math.hypot(*at) for at in places), default=0.0)


def unbelievable_robot_angle(value: Any) -> str:
    """What is wrong with an angle: a bare number of more than a turn; empty if nothing is."""
    if not isinstance(value, Quantity) or value.dimension != PLAIN or abs(value) <= FULL_TURN or "pi" in value.written:
        return ""
    turns = abs(value) / (2 * math.pi)
    return f"{value:g} without a unit is in radians, which are {turns:.3g} turns; write `{value:g} deg` for degrees"


def _angles(entry: LinkEntry, read: ReadLink) -> Iterator[tuple[Keys, Any]]:
    """The numbers of a link that are angles, of limits those that look like degrees."""
    joint, kinds = entry.joint, read.link.joint.type.kinds
    yield from ((("joint", key), getattr(joint, key, 0.0)) for key in ("alpha", "theta", "gamma"))
    for owner, path in ((joint, ("joint", "rpy")), (entry.offset, ("offset", "rpy"))):
        yield from (((*path, k), angle) for k, angle in enumerate(getattr(owner, "rpy", ())))
    if kinds == ("angle",):
        if joint.spring is not None:
            yield ("joint", "spring", "rest"), joint.spring.rest
        for k, limit in enumerate(joint.range or ()):
            if DEGREES[0] <= abs(limit) <= DEGREES[1] and limit == round(limit):
                yield ("joint", *joint.range_key, k), limit
    initial = joint.initial if isinstance(joint.initial, tuple) else (joint.initial,)
    yield from ((("joint", "initial"), value) for value, kind in zip(initial, kinds) if kind == "angle")


def _angles_elsewhere(file: RobotFile, turns: Mapping[str, bool]) -> Iterator[tuple[Keys, Any]]:
    """The angles in cuts, in the guess for the assembly, in couplings and springs."""
    for k, cut in enumerate(file.loops):
        for side in ("first", "second"):
            frame = getattr(cut, side)
            yield from ((("loops", k, side, key), getattr(frame, key)) for key in ("gamma", "alpha", "theta"))
            yield from ((("loops", k, side, "rpy", i), angle) for i, angle in enumerate(frame.rpy))
    guesses = file.assembly.items()
    yield from ((("assembly", name), q[0]) for name, q in guesses if turns.get(name) and len(q) == 1)
    followers = enumerate(file.couplings)
    yield from ((("couplings", k, "offset"), one.offset) for k, one in followers if turns.get(one.joint))
    for k, spring in enumerate(file.springs):
        for key in ("rest", "slack") if all(turns.get(name) for name in spring.joints) else ():
            yield ("springs", k, key), getattr(spring, key)


def enormous_robot_numbers(entry: Any, path: Keys = ()) -> Iterator[tuple[Keys, str]]:
    """Numbers that are too large for anything that is built."""
    if isinstance(entry, float):
        if abs(entry) > HUGE:
            yield path, f"{float(entry):g} in SI units is more than there is in anything that is built"
        return
    if isinstance(entry, BaseModel):
        kept = ((field.alias or name, name) for name, field in type(entry).model_fields.items() if not field.exclude)
        parts: Iterator[tuple[Any, Any]] = ((key, getattr(entry, name)) for key, name in kept if key not in UNBOUNDED)
    elif isinstance(entry, dict):
        parts = iter(entry.items())
    elif isinstance(entry, list | tuple):
        parts = iter(enumerate(entry))
    else:
        return
    for key, part in parts:
        yield from enormous_robot_numbers(part, (*path, key))


def _ends(file: RobotFile, links: Sequence[ReadLink]) -> Iterator[tuple[int, str]]:
    """Links whose `r` puts the mass centre beyond the end, and its opposite before it, if they are most with `r`."""
    beyond, among = [], 0
    for k, (entry, read) in enumerate(zip(file.links, links)):
        end, com = np.array(read.link.end.origin), np.array(read.link.com)
        far = float(end @ end)
        if entry.r is None or not far or not float(abs(end - com).max()):
            continue
        there, opposite = float(com @ end) / far, float((2 * end - com) @ end) / far
        among += 0.0 <= there <= 1.0
        if there > 1 + 1e-9 and opposite >= 0.0:
            beyond.append(k)
    for k in beyond if len(beyond) > among else []:
        yield (
            k,
            "the mass centre lies beyond the link's end. `r` points from it to the end frame's origin, with the "
            "opposite sign of most toolboxes' `r`; these are `com` with `com_from: end`",
        )


def _turning(links: Sequence[ReadLink]) -> set[str]:
    """The names of the links that can turn: those with a joint that turns on their way to the base."""
    by_name = {read.link.name: read.link for read in links}
    result = set()
    for name, link in by_name.items():
        way = link
        while not any(way.joint.type.turning) and way.parent in by_name:
            way = by_name[way.parent]
        if any(way.joint.type.turning):
            result.add(name)
    return result


def _inertias(entry: LinkEntry, read: ReadLink, length: float, turns: bool) -> Iterator[tuple[Keys, str]]:
    """Masses and inertias that don't fit each other or the robot."""
    link = read.link
    moments = np.linalg.eigvalsh(np.array(link.inertia))
    if link.mass and entry.inertia is None and turns:
        yield (
            (),
            f"a link of {link.mass:g} kg without `inertia` is a point mass; zeros under `inertia` say so on purpose",
        )
    if not (length and link.mass):
        return
    usual, largest, far = link.mass * length * length, float(moments.max()), math.hypot(*link.com)
    if largest > BEYOND**2 * usual:
        ratio = largest / usual if usual else math.inf
        yield (
            ("inertia",),
            f"a moment of inertia is {ratio:.2g} times mass x length², with the longest length, {length:g} m",
        )
    if far > BEYOND * length:
        yield (
            ("com",),
            f"the mass centre is {far:g} m from the link's origin; the robot's longest length is {length:g} m",
        )


# ---- what does nothing


def doubts_about_unused_robot_keys(
    file: RobotFile, links: Sequence[ReadLink], complain: Callable[..., Complain]
) -> Iterator[str]:
    """Warnings about keys without effect: of inertias, actuators and springs that aren't there."""
    alone = not (file.loops or file.couplings or file.actuators)
    for k, (entry, read) in enumerate(zip(file.links, links)):
        at = complain("links", k)
        yield from (
            str(at(*path, f"does nothing: {words}", key=True)) for path, words in _idle_in_link(entry, read, alone)
        )
    for k, spring in enumerate(file.springs):
        at = complain("springs", k)
        yield from (str(at(*path, f"does nothing: {words}", key=True)) for path, words in _idle_in_spring(spring))


def _idle_in_link(entry: LinkEntry, read: ReadLink, alone: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """The keys of one link that do nothing, and why; `alone` says that no two actuators of the robot share work."""
    joint, effort = read.link.joint, entry.joint.effort
    if entry.inertia is None:
        for key in ("about", "frame"):
            if key in entry.model_fields_set:
                yield (key,), "the link has no `inertia`"
    if effort is not None and not joint.actuated:
        yield ("joint", "effort"), f"`{joint.name}` isn't actuated; `actuated: true` gives it an actuator"
    elif effort is not None and "weight" in effort.model_fields_set and alone and not joint.hooke:
        yield ("joint", "effort", "weight"), "each actuator of a robot without loops and couplings has its own freedom"


def _idle_in_spring(entry: SpringEntry) -> Iterator[tuple[tuple[str, ...], str]]:
    """What of a spring over several joints does nothing, and why."""
    if not entry.stiffness and not entry.damping:
        yield (), "the spring has neither `stiffness` nor `damping`"
    elif not entry.stiffness:
        for key in ("rest", "slack"):
            if getattr(entry, key):
                yield (key,), "the spring has no `stiffness`"
    yield from ((("joints", name), "its coefficient is 0") for name, ratio in entry.joints.items() if not ratio)
