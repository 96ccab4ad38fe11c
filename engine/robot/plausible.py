"""Numbers that read well but that hardly anybody means: angles without a unit, a mass centre in millimetres, …"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..text.document import Keys
from ..text.expression import Quantity
from ..text.units import PLAIN
from .bodies import ReadLink
from .schema import LinkEntry, RobotFile
from .values import Complain

FULL_TURN = 2 * math.pi * (1 + 1e-9)
BEYOND = 10  # times the robot's longest distance: nothing of a robot lies so far from its link, or turns so heavily
ROUNDING = 1e-12  # of mass times the longest distance squared: moments of inertia below are rounding


def doubts(file: RobotFile, links: Sequence[ReadLink], complain: Callable[..., Complain]) -> Iterator[str]:
    """Warnings about the numbers of a robot's file, each at its place."""
    length, turning = longest(links), _turning(links)
    for k, (entry, read) in enumerate(zip(file.links, links)):
        at = complain("links", k)
        yield from (str(at(*path, words)) for path, words in _angles(entry, read))
        yield from (str(at(*path, words)) for path, words in _inertias(entry, read, length, read.link.name in turning))
    x, y, z = file.gravity
    if z > 0 and not (x or y):
        yield str(complain()("gravity", f"gravity points upwards: {z:g} m/s² along z of the base"))


def longest(links: Sequence[ReadLink]) -> float:
    """The longest distance that placements and points of the robot's links have; 0 if all are 0."""
    of_links = (read.link for read in links)
    places = [at for link in of_links for at in (link.before.origin, link.end.origin, *link.points.values())]
    return max((math.hypot(*at) for at in places), default=0.0)


def unbelievable(value: Any) -> str:
    """What is wrong with an angle: a bare number of more than a turn; empty if nothing is."""
    if not isinstance(value, Quantity) or value.dimension != PLAIN or abs(value) <= FULL_TURN or "pi" in value.written:
        return ""
    turns = abs(value) / (2 * math.pi)
    return f"{value:g} without a unit is in radians, which are {turns:.3g} turns; write `{value:g} deg` for degrees"


def _angles(entry: LinkEntry, read: ReadLink) -> Iterator[tuple[Keys, str]]:
    """Bare numbers of more than a turn among the angles of a joint."""
    joint, kinds = entry.joint, read.link.joint.type.kinds
    for key in ("alpha", "theta", "gamma"):
        if words := unbelievable(getattr(joint, key, 0.0)):
            yield ("joint", key), words
    for owner, path in ((joint, ("joint", "rpy")), (entry.offset, ("offset", "rpy"))):
        for k, angle in enumerate(getattr(owner, "rpy", ())):
            if words := unbelievable(angle):
                yield (*path, k), words
    initial = joint.initial if isinstance(joint.initial, tuple) else (joint.initial,)
    for value, kind in zip(initial, kinds):
        if kind == "angle" and (words := unbelievable(value)):
            yield ("joint", "initial"), words


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
    ratio, far = float(moments.max()) / (link.mass * length**2), math.hypot(*link.com)
    if ratio > BEYOND**2:
        yield (
            ("inertia",),
            f"a moment of inertia is {ratio:.2g} times mass x length², with the longest length, {length:g} m",
        )
    if far > BEYOND * length:
        yield (
            ("com",),
            f"the mass centre is {far:g} m from the link's origin; the robot's longest length is {length:g} m",
        )
