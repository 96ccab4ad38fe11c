"""Parallel robots as a platform and legs: the choice of the platform's link, and the links and joints of each leg.

A leg is a chain of the spanning tree from the base to the platform, or to a cut on the platform.  A chain without
actuators, such as massless joints that only measure the platform's place, is a leg like the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...robot import Robot, way_from_base
from ..quantities.programs import link_named_in_tree

SHAPE = "legs that hang on the base, and on the platform by one joint each"
OTHERS = "`denoc.inverse`, `denoc.forward`, `denoc.reactions` and `denoc.run` take any mechanism"


@dataclass(frozen=True)
class Leg:
    """A leg from the base on; it includes the platform's own joint if the platform hangs by that joint."""

    links: tuple[str, ...]
    joints: tuple[str, ...]
    actuated: tuple[str, ...]  # of the joints
    hangs: str  # the joint or the cut between the leg and the platform
    loop: int | None  # the cut's place among the robot's loops; None: a joint of the tree
    bodies: tuple[int, ...]  # of the tree, the platform's included if the tree leads to it
    speeds: tuple[int, ...]  # of the joints


@dataclass(frozen=True)
class Parallel:
    """A parallel robot as a platform and its legs."""

    platform: str
    body: int  # the platform's, in the tree
    legs: tuple[Leg, ...]


def legs(robot: Robot, platform: str | None = None) -> Parallel:
    """The robot's platform, by default the link on which most joints and cuts meet, and its legs."""
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    if robot.rolls:
        contact = next(loop for loop in robot.loops if loop.type.contacts)
        raise InputError(
            f"{robot.name}: a parallel robot's legs hold its platform by joints",
            found=f"`{contact.name}`: a {contact.type.name} cut",
            allowed="cuts that are joints; all other calls take what rolls or skates",
        )
    _refuse_springs_over_joints(robot)
    _refuse_what_has_no_legs(robot)
    if platform is None:
        return robot.made_once(("legs", None), lambda: _likely(robot))
    name = link_named_in_tree(robot, platform)
    return robot.made_once(("legs", name), lambda: _named(robot, name))


def _refuse_springs_over_joints(robot: Robot) -> None:
    """Raises an error for springs over several joints, which may be those of several legs."""
    if robot.springs:
        raise InputError(
            f"{robot.name}: springs over several joints aren't divided among legs",
            key="springs",
            found=f"`{robot.springs[0][0]}`",
            allowed="a robot's file without `springs`; all other calls take it",
        )


def _refuse_what_has_no_legs(robot: Robot) -> None:
    """Raises an error for robots that can't be taken apart, whichever link is the platform."""
    if not robot.loops:
        raise InputError(f"{robot.name} is no parallel robot", found="no loops", allowed=SHAPE, hint=OTHERS)
    other = [joint.name for joint in robot.moving if joint.hooke] + [one.name for one in robot.actuators]
    other += [joint.name for joint in robot.moving if any(c.speed in joint.speeds for c in robot.couplings)]
    if other:
        raise InputError(
            f"{robot.name} can't be taken apart into legs and a platform",
            found=f"`{other[0]}`",
            allowed=f"{SHAPE}, without coupled joints, `actuators`, or universal joints made of spherical ones",
            hint=OTHERS,
        )


def bodies_shared_by_legs(robot: Robot) -> tuple[str, list[tuple[int, ...]]]:
    """Bodies that belong together, and what to call such a group: a leg, or else a part, all that one joint of the base
    carries.

    The parts serve where nodes need no leg's own equations: of mobile manipulators that carry a payload, one is a part.
    """
    _refuse_springs_over_joints(robot)
    try:
        return "leg", [leg.bodies for leg in legs(robot).legs]
    except InputError:
        roots: list[int] = []
        for i, body in enumerate(robot.tree.bodies):
            roots.append(i if body.parent is None else roots[body.parent])
        return "part", [tuple(i for i, root in enumerate(roots) if root == first) for first in dict.fromkeys(roots)]


def _named(robot: Robot, platform: str) -> Parallel:
    body = robot.tree.seats[platform][0]
    if body is None:
        raise InputError("the platform has to move", found=f"`{platform}`, which is fixed to the base")
    return _split(robot, platform, body)


def _likely(robot: Robot) -> Parallel:
    """The robot, split at that link on which most joints and cuts meet, among those that can be the platform."""
    meet: dict[int, int] = {}
    links: dict[int, str] = {}
    for link in robot.links:
        body = robot.tree.seats[link.name][0]
        if body is not None and (link.joint.type.nv or body not in links):
            links[body], meet[body] = link.name, meet.get(body, 0)
    ends = [link for loop in robot.loops for link in loop.between]
    ends += [name for link in robot.links if link.joint.type.nv for name in (link.name, link.parent)]
    for name in ends:
        seat = robot.tree.seats[name][0] if name != "base" else None
        if seat is not None:
            meet[seat] += 1
    refused: InputError | None = None
    for body in sorted(meet, key=lambda body: -meet[body]):
        try:
            return _split(robot, links[body], body)
        except InputError as no:
            refused = refused or InputError(
                f"{robot.name} has no link that could be the platform of a parallel robot",
                found=f"`{links[body]}`, where most joints meet, isn't one: {no.found}",
                allowed=SHAPE,
                hint=OTHERS,
            )
    raise refused or InputError(f"{robot.name} has no links")


def _split(robot: Robot, platform: str, body: int) -> Parallel:
    """The robot, split at this link; an error if it can't be the platform."""
    tree = robot.tree
    tips: list[tuple[int | None, int | None]] = [(tree.bodies[body].parent, None)]  # last body, loop
    for number, loop in enumerate(robot.loops):
        ends = [tree.seats[link][0] if link != "base" else None for link in loop.between]
        if ends.count(body) != 1:
            raise _no_platform(robot, platform, f"the cut `{loop.name}`, between {' and '.join(loop.between)}")
        tips.append((ends[1 - ends.index(body)], number))
    seen = {body}
    chains = []
    for tip, cut in tips:
        chain = tuple(way_from_base(tree.bodies, tip))
        if seen.intersection(chain):
            names = [link.name for link in robot.links if tree.seats[link.name][0] in seen.intersection(chain)]
            raise _no_platform(robot, platform, f"`{names[0] if names else platform}` in several legs")
        seen.update(chain)
        chains.append(_leg(robot, chain, body, cut))
    spare = [link.name for link in robot.links if tree.seats[link.name][0] not in {None, *seen}]
    if spare:
        raise _no_platform(robot, platform, f"`{spare[0]}`, which is in no leg")
    return Parallel(platform, body, tuple(chains))


def _no_platform(robot: Robot, platform: str, found: str) -> InputError:
    message = f"{robot.name}: `{platform}` isn't the platform of a parallel robot"
    return InputError(message, found=found, allowed=SHAPE, hint=OTHERS)


def _leg(robot: Robot, chain: tuple[int, ...], platform: int, number: int | None) -> Leg:
    """The leg that this chain of bodies is, up to the platform or to the cut of this number."""
    bodies = chain if number is not None else (*chain, platform)
    speeds = {k for i in bodies for k in robot.tree.bodies[i].speeds}
    joints = [joint for joint in robot.moving if speeds.intersection(joint.speeds)]
    depth = {k: n for n, i in enumerate(bodies) for k in robot.tree.bodies[i].speeds}
    joints.sort(key=lambda joint: depth[joint.speeds[0]])
    return Leg(
        links=tuple(link.name for link in robot.links if robot.tree.seats[link.name][0] in chain),
        joints=tuple(joint.name for joint in joints),
        actuated=tuple(joint.name for joint in joints if joint.actuated),
        hangs=robot.loops[number].name if number is not None else joints[-1].name,
        loop=number,
        bodies=bodies,
        speeds=tuple(k for i in bodies for k in robot.tree.bodies[i].speeds),
    )
