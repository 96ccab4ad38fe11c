"""Every row of drawn robots with dry friction and stops, judged by its conditions alone; no trajectory is needed.

M a + h − F is balanced by loops, by friction that is within its bounds or slides against its direction, and by stops that
push.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from denoc.machine.backend import using_backend
from denoc.mechanics.tree import sweep_tree
from denoc.scenario import prepare_scenario
from denoc.simulate.feedforward import runner_with_feedforward
from denoc.simulate.loop import integrate_run
from random_contacts import drawn, with_contacts

AT_REST = 1e-9
NEAR = 1e-7  # of a joint's range
WITHIN = 1e-6  # of the forces at hand


def rows_of(robot):
    """The system, and q, qd, qdd and the actuators' forces in all rows of a run."""
    plan = prepare_scenario({"task": "simulate", "time": {"end": 0.4, "step": 0.02}}, robot)
    run = runner_with_feedforward(plan.system, plan.q0)
    trace = integrate_run(run, plan.q0, plan.qd0, plan.grid, plan.solver, plan.kinks, lambda t: None)
    assert trace.ended in ("done", "singularity")
    rows = []
    for signals, y, discrete in zip(trace.signals, trace.states, trace.discrete):
        if not discrete.passing:
            found = run.many(np.array([signals]), np.array([y]), discrete)
            rows.append([found[name][0] for name in ("q", "qd", "qdd", "tau")])
    return plan.system, rows


def ranges_of_contact_forces(system, q, qd):
    """What friction and stops can give in a row: friction against the motion, or anything within it at rest."""
    low, high = np.zeros((2, system.robot.nv))
    for k, coulomb in system.coulomb.items():
        moves = abs(qd[k]) > AT_REST
        low[k], high[k] = [-coulomb * np.sign(qd[k])] * 2 if moves else (-coulomb, coulomb)
    for k, stop in system.stopped.items():
        near = NEAR * (stop.high - stop.low)
        if abs(qd[k]) <= AT_REST:
            high[k] = np.inf if q[stop.coordinate] <= stop.low + near else high[k]
            low[k] = -np.inf if q[stop.coordinate] >= stop.high - near else low[k]
    return low, high


def breach(system, q, qd, qdd, tau):
    """How far contact forces have to leave their ranges, for the equations of motion to hold along all freedoms."""
    n, model = system.robot.nv, system.model
    needed = np.array(sweep_tree(model.bodies, model.gravity, q, qd, qdd, [True] * n, *system.constant)[0], dtype=float)
    ways = np.eye(n)
    if system.loops is not None:
        _, size, V = np.linalg.svd(system.loops.scaled(system.loops.jacobian(q)[0]))
        ways = V[(size > 1e-7).sum() :].T * system.loops.column_scale[:, None]
    low, high = ranges_of_contact_forces(system, q, qd)
    scale = 1.0 + abs(needed) + abs(tau)
    finite = np.isfinite(low), np.isfinite(high)
    one = np.eye(n)
    bounds = np.concatenate([np.c_[-one, -scale][finite[0]], np.c_[one, -scale][finite[1]]])
    limits = np.concatenate([-low[finite[0]], high[finite[1]]])
    found = linprog(
        np.eye(n + 1)[n], bounds, limits, np.c_[ways.T, np.zeros(ways.shape[1])], ways.T @ (needed - tau),
        bounds=[(None, None)] * n + [(0, None)],
    )  # fmt: skip
    assert found.status == 0
    return found.x[n]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("kind", ["tree", "planar", "spatial"])
@pytest.mark.parametrize("seed", range(20))
def test_rows_of_drawn_robots_with_contacts_meet_their_conditions(kind, seed, backend):
    with using_backend(backend):
        system, rows = rows_of(with_contacts(drawn(kind, seed), seed))
    assert max(breach(system, *row) for row in rows) < WITHIN
