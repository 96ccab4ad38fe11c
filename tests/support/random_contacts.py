"""Random trees and mechanisms with dry friction and stops."""

from __future__ import annotations

import numpy as np

import denoc
from random_mechanisms import closed_robot, loaded
from random_robots import random_robot


def drawn(kind, seed):
    """A robot file of random structure."""
    if kind == "tree":
        return random_robot(
            seed, types=("revolute", "prismatic"), conventions=("frames",), links=(1, 5), wrenches=False
        )
    if kind == "planar":
        return closed_robot(seed, planar=True, cuts=("revolute",))[0]
    return closed_robot(seed, types=("revolute", "prismatic", "spherical", "cylindrical"), links=(4, 6))[0]


def with_contacts(file, seed):
    """The robot with dry friction and limits in joints by chance, around where it starts, or just there."""
    rng = np.random.default_rng([seed, 7])
    robot = loaded(file)
    start = denoc.assemble(robot, robot.q0) if robot.loops else robot.q0
    for link in file["links"]:
        joint = link["joint"]
        if joint["type"] not in ("revolute", "prismatic"):
            continue
        place = float(start[robot.joint(joint["name"]).coordinates[0]])
        if rng.random() < 0.7:
            joint["friction"] = {"coulomb": float(10 ** rng.uniform(-2, 1)), "viscous": float(0.1 * rng.random())}
        if rng.random() < 0.5:
            width = 10 ** rng.uniform(-2, 0)
            low, high = place - width * rng.random(), place + width * rng.random()
            side = rng.random()
            low, high = (place, high) if side < 0.2 else (low, place) if side < 0.4 else (low, high)
            joint["limits"] = [float(low), float(max(high, low + 0.01))]
    return loaded(file)
