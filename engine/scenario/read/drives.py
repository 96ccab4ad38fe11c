"""Sections `drives` and `closure`: points and distances whose motion is given, as ties, and constraints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ...errors import allowed_names
from ...laws import OF_JOINT, Turn
from ...mechanics.closure import (
    METHODS,
    Closure,
    Tie,
    distance_driving_tie,
    independent_constraint_rows,
    loop_closure,
    point_driving_tie,
)
from ...robot import Placement, Three, frame_pointing_along_axis
from ...simulate.systems import Driving
from ...text import Keys, yaml_value_in_words
from ..schema import DriveEntry
from .reading import Reading, follows_from_ties


class Drives:
    """The drives of a scenario for a robot."""

    def __init__(self, reading: Reading):
        self._reading, self._robot, self._entries = reading, reading.robot, reading.file.drives

    def ties(self) -> list[Tie]:
        """The ties of the drives."""
        taken = {*self._robot.joints, *(loop.name for loop in self._robot.loops)}
        taken |= {one.name for one in self._robot.actuators}
        ties: list[Tie] = []
        for k, entry in enumerate(self._entries):
            path = ("drives", k)
            if entry.name in taken:
                raise self._reading.error((*path, "name"), f"the name `{entry.name}` is taken", allowed="its own")
            taken.add(entry.name)
            if (entry.link is None) == (entry.distance is None):
                raise self._reading.error(
                    path, "a drive is a point's coordinate or a distance", allowed="`link` and `at`, or `distance`"
                )
            ties.append(self._coordinate(entry, path) if entry.distance is None else self._distance(entry, path))
        return ties

    def laws(self, loops: Closure, q0: Sequence[float]) -> list[Driving]:
        """The drives' laws, which start at the robot's position unless they have a start of their own."""
        t0, t1 = self._reading.span
        here = loops.gap(np.array(q0))
        driving = []
        for k, (entry, row) in enumerate(zip(self._entries, loops.driven_rows())):
            law, path = entry.motion, ("drives", k)
            for key, kind, value in law.measured():
                wanted = OF_JOINT[kind][1]
                if isinstance(value, Turn | tuple):
                    raise self._reading.error(
                        (*path, key), f"a drive needs one {wanted}", found=yaml_value_in_words(value)
                    )
                self._reading.fits(value, wanted, (*path, key))
            made = partial(law.curves, (float(here[row]),), t0, t1, self._reading.folder)
            driving.append(Driving(entry.name, self._reading.tabled(law, path, ["length"], entry.name, made)[0]))
        return driving

    def values(self, loops: Closure, driving: Sequence[Driving], t: float) -> np.ndarray:
        """The values that the drives prescribe for the rows of the constraints at t."""
        goal = np.zeros(loops.m)
        goal[loops.driven_rows()] = [float(drive.curve(t)[0]) for drive in driving]
        return goal

    def refuse_contradictions(self, loops: Closure, q0: Sequence[float], given: Sequence[int]) -> None:
        """Raises an error if a drive's motion follows from the loops, given coordinates and other drives."""
        J, _ = loops.jacobian(np.array(q0))
        drives = loops.driven_rows()
        rows = np.concatenate([loops.scaled(loops.holding(J)), np.eye(loops.robot.nv)[list(given)]])
        groups = [[r for r in range(len(rows)) if r not in drives], *([row] for row in drives)]
        free_rows = independent_constraint_rows(rows, groups)
        for k in (k for k, row in enumerate(drives) if row not in free_rows):
            raise self._reading.error(
                ("drives", k),
                f"the motion of `{self._entries[k].name}` {follows_from_ties(loops.robot)} prescribed",
                allowed="as many prescribed motions as there are freedoms, or fewer",
                hint="one of them contradicts the others, or says the same twice",
            )

    # ---- links and points

    def _coordinate(self, entry: DriveEntry, path: Keys) -> Tie:
        link, to = self._link(str(entry.link), (*path, "link")), self._link(entry.to, (*path, "to"))
        at = Placement(origin=self._point(entry.at, link, (*path, "at")))
        length = math.hypot(*entry.along)
        if not 1e-9 < length < math.inf:
            raise self._reading.error((*path, "along"), "it has no direction", allowed="[0, 0, 1], say")
        x, y, z = (float(c) / length for c in entry.along)
        return point_driving_tie(self._robot, entry.name, (to, link), (frame_pointing_along_axis((x, y, z)), at))

    def _distance(self, entry: DriveEntry, path: Keys) -> Tie:
        ends = []
        for n, point in enumerate(entry.distance or ()):
            link = self._link(point.link, (*path, "distance", n, "link"))
            ends.append((link, Placement(origin=self._point(point.at, link, (*path, "distance", n, "at")))))
        (one, first), (two, second) = ends
        return distance_driving_tie(self._robot, entry.name, (one, two), (first, second))

    def _link(self, name: str, path: Keys) -> str:
        links = ["base", *(link.name for link in self._robot.links)]
        if name not in links:
            raise self._reading.error(path, f"{self._robot.name} has no link `{name}`", **allowed_names(name, links))
        return name

    def _point(self, at: Three | str, link: str, path: Keys) -> Three:
        if not isinstance(at, str):
            return (float(at[0]), float(at[1]), float(at[2]))
        points = self._robot.link(link).points if link != "base" else {}
        if at not in points:
            raise self._reading.error(path, f"`{link}` has no point `{at}`", allowed=", ".join(points) or "[x, y, z]")
        return points[at]


def read_constraints_of_scenario(reading: Reading, drives: Drives) -> Closure:
    """The constraints of the robot besides its tree's joints, which may be none."""
    method, robot = reading.file.closure.method, reading.robot
    doubled = [loop.name for loop in robot.loops if loop.doubled]
    idle = [name for name in doubled if not all(drive.rotor > 0.0 for drive in robot.joint(name).drives)]
    if idle and METHODS[method].divides:  # by the inertia of a cut joint's double, which has none
        raise reading.error(
            ("closure", "method"),
            f"`{method}` divides by the inertia behind every joint of the spanning tree; behind `{idle[0]}`, a cut "
            "joint with a coordinate of its own, there is none",
            allowed=", ".join(name for name, row in METHODS.items() if not row.divides),
            hint="or cut another joint, or give this one a `rotor_inertia`",
        )
    if reading.file.drives:
        return Closure(reading.robot, drives.ties())
    return loop_closure(reading.robot)


def read_preferred_speeds(reading: Reading) -> list[int] | None:
    """The speeds that the scenario chooses as independent, or None."""
    if reading.file.closure.independent is None:
        return None
    joints = [reading.joint("closure", name) for name in reading.file.closure.independent]
    return [k for joint in joints for k in joint.speeds]
