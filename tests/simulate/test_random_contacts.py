"""Dry friction and stops in random trees and mechanisms: limits hold, loops stay closed, the energy balance is kept."""

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from random_contacts import drawn, with_contacts

METHODS = ["rk45", "rkck", "dop853", "radau", "bdf"]
ACCURATE = 1e-6  # of a joint's range, or of the energy at hand


LONG = (("spatial", 3),)  # as long as ten others
CASES = [
    pytest.param(kind, seed, marks=[pytest.mark.full] * ((kind, seed) in LONG))
    for kind in ("tree", "planar", "spatial")
    for seed in range(30)
]


@pytest.mark.sampled(100)
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_contacts_of_a_random_robot(kind, seed):
    robot = with_contacts(drawn(kind, seed), seed)
    solver = {"method": METHODS[seed % len(METHODS)], "max_steps": 20000}
    with using_backend("plain"):
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
