"""What is done for many samples at once, or by compiled code for one, is what is done for each by the plain text."""

from dataclasses import replace

import numpy as np
import pytest

import denoc
from balanced import whole
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.assembly.search import closing_position_moved_along_speeds
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.rank import constraint_null_space
from denoc.mechanics.mechanisms.balance import Balance
from denoc.scenario import prepare_scenario
from denoc.simulate import Runner, coordinates, integrate_run, runner_with_feedforward

CLOSED = ["andrews", "bricard", "carpet-scraper", "five-bar", "four-bar", "n-four-bar", "three-rrr"]


def positions(robot, count, size=0.05):
    rng, start = np.random.default_rng(1), denoc.assemble(robot, robot.q0)
    return np.array([denoc.assemble(robot, start + size * rng.standard_normal(robot.nq)) for _ in range(count)])


def consistent(robot, q):
    """Speeds that keep the loops closed."""
    rng, loops = np.random.default_rng(2), loop_closure(robot)
    found = []
    for row in q:
        Z = constraint_null_space(loops.scaled(loops.jacobian(row)[0]))
        found.append(loops.column_scale * (Z @ rng.standard_normal(Z.shape[1])))
    return np.array(found)


@pytest.mark.parametrize("name", CLOSED)
def test_multipliers_of_dependent_rows_have_the_least_norm(name):
    robot = denoc.load(name)
    balance = Balance(robot, positions(robot, 7))
    tau = np.random.default_rng(3).standard_normal((7, robot.nv))
    if not robot.driven:
        pytest.skip("nothing is actuated")
    found = balance.solve(tau)
    expected = whole(balance, tau)
    assert off(found.actuated, expected.actuated) < 1e-11
    assert off(found.multipliers, expected.multipliers) < 1e-11


@pytest.mark.parametrize("name", ["five-bar", "rssr"])
def test_compiled_constraints_are_the_plain_ones(name):
    robot = denoc.load(name)
    loops, q = loop_closure(robot), positions(robot, 1)[0]
    qd = np.random.default_rng(5).standard_normal(robot.nv)
    with using_backend("plain"):
        expected = (*loops.jacobian(q, qd), loops.near(q)[0])
    with using_backend("compiled"):
        found = (*loops.jacobian(q, qd), loops.near(q)[0])
    assert abs(expected[1]).max() > 0.1
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["five-bar", "three-rrr", "andrews", "suspension"])
@pytest.mark.sampled(2)
def test_one_sample_by_compiled_code(name):
    robot = denoc.load(name)
    q = positions(robot, 5, 0.02)
    qd, tau = consistent(robot, q), np.random.default_rng(4).standard_normal((5, robot.nv))
    with using_backend("plain"):
        expected = denoc.forward(robot, q, qd, tau)
    with using_backend("compiled"):
        for _ in range(2):  # the second time nothing is looked for any more
            assert off(np.array([denoc.forward(robot, *row) for row in zip(q, qd, tau)]), expected) < 1e-9
        assert off(denoc.forward(robot, q, qd, tau), expected) < 1e-9
        assert off(denoc.forward(robot, q[0].tolist(), qd[0].tolist(), tau[0].tolist()), expected[0]) < 1e-9


@pytest.mark.parametrize("name", [*CLOSED, "suspension", "gough-stewart", "hoeken", "rssr", "slider-crank"])
@pytest.mark.sampled(4)
def test_inverse_dynamics_by_compiled_code(name):
    """By the speeds of the actuated joints in place of the multipliers."""
    robot = denoc.load(name)
    q = positions(robot, 5, 0.02)
    qd, qdd = consistent(robot, q), np.random.default_rng(4).standard_normal((5, robot.nv))
    if not robot.driven and not robot.actuators:  # nothing is actuated: both ways say so
        for way in ("plain", "compiled"):
            with using_backend(way), pytest.raises(denoc.DenocError, match="freedom"):
                denoc.inverse(robot, q, qd, qdd)
        return
    with using_backend("plain"):
        expected = denoc.inverse(robot, q, qd, qdd)
    with using_backend("compiled"):
        assert off(denoc.inverse(robot, q, qd, qdd), expected) < 1e-11
        for _ in range(2):
            assert off(np.array([denoc.inverse(robot, *row) for row in zip(q, qd, qdd)]), expected) < 1e-11
        with pytest.raises(denoc.DenocError, match="aren't closed"):
            denoc.inverse(robot, q[0] + np.eye(robot.nq)[-1] * 1e-2, qd[0], qdd[0])


def test_compiled_code_leaves_open_loops_to_the_plain_text():
    robot = denoc.load("three-rrr")
    q = positions(robot, 1)[0]
    qd = consistent(robot, q[None])[0]
    with using_backend("compiled"):
        for _ in range(2):
            denoc.forward(robot, q, qd, qd)
            with pytest.raises(denoc.DenocError, match="aren't closed"):
                denoc.forward(robot, q + 1e-3, qd, qd)
            with pytest.raises(denoc.DenocError, match="aren't closed"):
                denoc.forward(robot, q + 1e-3, 0.0 * qd, qd)
            with pytest.raises(denoc.DenocError, match="open the loops"):
                denoc.forward(robot, q, qd + 1e-3, qd)
            with pytest.raises(denoc.DenocError, match="not finite"):
                denoc.forward(robot, q, qd * np.nan, qd)
            with pytest.raises(denoc.DenocError, match="wrong shape"):
                denoc.forward(robot, q[:-1], qd, qd)


def test_coordinates_change_from_call_to_call():
    """A four-bar linkage all around: no coordinates are good everywhere."""
    robot = denoc.load("four-bar")
    q, found = denoc.assemble(robot, robot.q0), []
    loops = loop_closure(robot)
    for _ in range(60):
        Z = constraint_null_space(loops.scaled(loops.jacobian(q)[0]))[:, 0]
        along = Z if not found or Z @ found[-1][1] > 0 else -Z
        found.append((q, along))
        q = denoc.assemble(robot, closing_position_moved_along_speeds(robot, q, 0.1 * loops.column_scale * along))
    q = np.array([one for one, _ in found])
    qd = consistent(robot, q)
    tau = np.random.default_rng(5).standard_normal(qd.shape)
    with using_backend("plain"):
        expected = np.array([denoc.forward(robot, *row) for row in zip(q, qd, tau)])
    with using_backend("compiled"):
        assert off(np.array([denoc.forward(robot, *row) for row in zip(q, qd, tau)]), expected) < 1e-9


FALLS = ["four-bar", "five-bar", "three-rrr", "n-four-bar", "gough-stewart", "rssr", "bricard", "slider-crank"]


@pytest.mark.parametrize("name", FALLS)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-6, 1e-4, 1e-2])
@pytest.mark.sampled(2)
def test_rows_are_settled_as_each_would_be(name, size):
    plan = prepare_scenario(f"{name}-fall")
    run, loops, nq = Runner(plan.system, plan.q0), plan.system.loops, plan.robot.nq
    y = np.concatenate([plan.q0, plan.qd0, [0.0, 0.0]])
    states = y + size * np.random.default_rng(6).uniform(-1, 1, (6, len(y)))
    found = run.settled_rows(np.zeros(6), states)
    assert off(found, np.array([run.settled(0.0, one) for one in states]), 1.0) < 1e-12
    assert abs(loops.gap(found[:, :nq]) * loops.row_scale).max() < 1e-14


@pytest.mark.parametrize("name", ["andrews-drive", "suspension-bounce", "five-bar", "2^1", "gough-stewart"])
def test_rows_of_given_motions_are_settled_as_each_would_be(name):
    """With motions, drives and held joints, which differ from row to row or leave fewer speeds to be found."""
    swing = {"law": "rate", "rate": 0.5}
    scenario = {"robot": name, "task": "simulate", "time": {"end": 1, "step": 0.1}}
    drive = {"name": "way", "link": "2^1", "along": [1, 0, 0], "motion": swing}
    leads = {
        "five-bar": {"motion": {"J1^1": swing}},
        "2^1": {"drives": [drive], "robot": "five-bar"},
        "gough-stewart": {},
    }
    plan = prepare_scenario(scenario | leads[name] if name in leads else name)
    run = Runner(plan.system, plan.q0)
    held = dict.fromkeys(run.discrete.partition.independent[:1], (-1.0, 1.0)) if name == "gough-stewart" else {}
    if held:
        part = coordinates.partition_at_run_positions(plan.system, np.array(plan.q0), (), tuple(held))
        run.discrete = replace(run.discrete, held=held, partition=part)
    times = plan.grid[0] + np.linspace(0.0, 2e-3, 6)
    y = run.start(plan.q0, plan.qd0)
    states = y + 1e-6 * np.random.default_rng(7).uniform(-1, 1, (6, len(y)))
    found = coordinates._settled_together(plan.system, run.discrete, times, states)
    right = np.array([run.settled(float(t), one) for t, one in zip(times, states)])
    assert off(found, right, 1.0) < 1e-12
    assert (found[:, [plan.system.place_of(k) for k in held]] == 0.0).all()


LED = {
    "robot": "five-bar",
    "task": "simulate",
    "time": {"end": 1, "step": 0.025},
    "motion": {"J1^1": {"law": "cycloid", "from": "30 deg", "to": "90 deg", "over": 1}},
}


@pytest.mark.parametrize("scenario, rtol", [("four-bar-fall", 1e-6), (LED, 1e-6), ("four-bar-fall", 1e-1)])
def test_the_compiled_loop_leaves_rows_that_are_closed(scenario, rtol, monkeypatch):
    """As Newton's method would close them, row by row; where two steps of it are too few, it does."""
    plan = prepare_scenario(scenario)
    solver, grid = replace(plan.solver, rtol=rtol, atol=rtol / 100), plan.grid[:40]
    kept, opened = [], []
    whole, one_by_one = Runner.held_still, Runner.settled_rows
    monkeypatch.setattr(Runner, "held_still", lambda *given: kept.append(given[1]) or whole(*given))
    monkeypatch.setattr(Runner, "settled_rows", lambda *given: opened.append(given[1]) or one_by_one(*given))
    run = runner_with_feedforward(plan.system, plan.q0)
    with using_backend("compiled"):
        trace = integrate_run(run, plan.q0, plan.qd0, grid, solver, list(plan.kinks), lambda t: None)
    assert bool(opened) == (rtol > 1e-2)
    assert bool(kept) == (rtol < 1e-2)
    states = np.array(trace.states)
    assert off(states, np.array([run.settled(t, y) for t, y in zip(trace.t, states)]), 1.0) < 1e-12
    gaps = plan.system.loops.gap(np.array([run.complete(t, y)[0] for t, y in zip(trace.t, states)]))
    assert abs(gaps * plan.system.loops.row_scale).max() < 1e-14
