"""Dry friction and stops in random trees and mechanisms: limits hold, loops stay closed, the energy balance is kept."""

import numpy as np
import pytest

import denoc
from denoc.machine.jit.choice import using
from random_mechanisms import closed_robot, loaded
from random_robots import random_robot

METHODS = ["rk45", "rkck", "dop853", "radau"]
ACCURATE = 1e-6  # of a joint's range, or of the energy at hand


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


CASES = [(kind, seed) for kind in ("tree", "planar", "spatial") for seed in range(30)]


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_contacts_of_a_random_robot(kind, seed):
    robot = with_contacts(drawn(kind, seed), seed)
    solver = {"method": METHODS[seed % len(METHODS)], "max_steps": 20000}
    with using("plain"):
        found = denoc.run({"task": "simulate", "time": {"end": 0.4, "step": 0.02}, "solver": solver}, robot)
    assert found.ended in ("done", "singularity"), found.record["reason"]
    table = found.table
    size = max(table["energy.kinetic"].max(), np.ptp(table["energy.total"]), np.ptp(table["energy.potential"]), 1e-3)
    if found.ended == "done":  # coordinates that come to their end lose digits before
        assert found.audit["energy"] < 1e-4 * size
    assert found.audit["closure"] < 1e-9
    for joint in robot.moving:
        if joint.limits:
            low, high = joint.limits
            q, slack = table[f"{joint.name}.q"], ACCURATE * (high - low)
            assert low - slack <= q.min() <= q.max() <= high + slack, joint.name
