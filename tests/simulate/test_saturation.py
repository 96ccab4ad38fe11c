"""Effort limits: laws end there in simulations, with events; motions that need more are warned of."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import denoc
import yamls
from denoc.machine.backend import using_backend
from denoc.robot.read import build_robot
from denoc.scenario import prepare_scenario
from denoc.simulate.saturation import LEAVES, REACHES
from denoc.text import document_from_mapping

pytestmark = pytest.mark.smoke

SLIDER = {"type": "prismatic", "name": "x", "axis": [1, 0, 0]}
ROD = {"mass": 1, "com": [0.25, 0, 0], "inertia": {"xx": 0.001, "yy": 0.02, "zz": 0.02}}


def slider(effort=None, mass=2.0, actuated=True):
    """A mass on a horizontal line."""
    joint = {**SLIDER, "actuated": actuated, **({"effort": {"limits": effort}} if effort else {})}
    link = {"name": "block", "joint": joint, "mass": mass, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return build_robot(document_from_mapping({"name": "slider", "convention": "frames", "links": [link]}))


def arm(*efforts):
    """A double pendulum with effort limits."""
    links = []
    for k, effort in enumerate(efforts, start=1):
        joint = {"type": "revolute", "name": f"j{k}", "axis": [0, 1, 0], "xyz": [0.5 * (k > 1), 0, 0]}
        links.append({"name": f"l{k}", "joint": joint | ({"effort": {"limits": effort}} if effort else {}), **ROD})
    return build_robot(document_from_mapping({"name": "arm", "convention": "frames", "links": links}))


def simulated(robot, forces, end=1.0, step=0.05, **more):
    return denoc.run({"task": "simulate", "time": {"end": end, "step": step}, "forces": forces, **more}, robot)


def instants(result, event):
    return [one["t"] for one in result.record["events"] if one["event"] == event]


def test_a_harmonic_force_is_cut_off_where_it_passes_its_limits():
    """The speed is the integral of the clipped sine, and the events are where the sine is half its amplitude."""
    turn = 2 * np.pi
    result = simulated(slider([-1, 1]), {"x": {"law": "harmonic", "amplitude": 2, "frequency": 1}})
    first = np.arcsin(0.5) / turn
    assert instants(result, REACHES) == pytest.approx([first, first + 0.5], abs=1e-9)
    assert instants(result, LEAVES) == pytest.approx([0.5 - first, 1 - first], abs=1e-9)
    np.testing.assert_allclose(result.table["x.tau"], np.clip(2 * np.sin(turn * result.t), -1, 1), atol=1e-12)
    half = 2 * (2 * (1 - np.cos(turn * first)) / turn) + (0.5 - 2 * first)  # the integral over half a period
    assert result.table["x.qd"][10] == pytest.approx(half / 2.0, rel=1e-9)
    assert result.table["x.qd"][-1] == pytest.approx(0.0, abs=1e-9)
    assert result.audit["energy"] < 1e-9


def test_a_controller_at_its_limits_against_another_integrator():
    robot, limits, law = arm([-1, 1], [-0.3, 0.4]), ((-1, 1), (-0.3, 0.4)), {"law": "pd", "to": 0.5, "kp": 40, "kd": 2}
    result = simulated(robot, {"all": law}, end=0.5)

    def clipped(q, qd):
        return [float(np.clip(40 * (0.5 - x) - 2 * v, *one)) for x, v, one in zip(q, qd, limits)]

    def rate(t, y):
        return np.concatenate([y[2:], denoc.forward(robot, y[:2], y[2:], clipped(y[:2], y[2:]))])

    free = arm(None, None)
    loose = simulated(free, {"all": law}, end=0.5)
    right = solve_ivp(rate, (0, 0.5), np.zeros(4), "DOP853", result.t, rtol=1e-9, atol=1e-11, max_step=2e-3).y.T
    q = np.column_stack([result.table["j1.q"], result.table["j2.q"]])
    qd = np.column_stack([result.table["j1.qd"], result.table["j2.qd"]])
    np.testing.assert_allclose(np.hstack([q, qd]), right, atol=1e-6)
    assert abs(loose.table["j1.q"] - result.table["j1.q"]).max() > 0.1
    tau = [clipped(*row) for row in zip(q, qd)]
    np.testing.assert_allclose(np.column_stack([result.table["j1.tau"], result.table["j2.tau"]]), tau, atol=1e-12)
    assert instants(result, REACHES)[0] == 0.0
    assert result.record["warnings"] == []


@pytest.mark.parametrize("method", ["rk45", "rk4", "radau"])
def test_steps_end_at_the_events_whatever_the_method(method):
    solver = {"method": method, **({"step": 1e-3} if method == "rk4" else {})}
    result = simulated(slider([-1, 1]), {"x": {"law": "pd", "to": 1, "kp": 5, "kd": 1}}, end=4.0, solver=solver)
    force = np.clip(5 * (1 - result.table["x.q"]) - result.table["x.qd"], -1, 1)
    np.testing.assert_allclose(result.table["x.tau"], force, atol=1e-12)
    leaves = instants(result, LEAVES)[0]  # with x = t²/4 and v = t/2 until 5 (1 − x) − v = 1
    assert leaves == pytest.approx((-0.5 + np.sqrt(0.25 + 4 * 1.25 * 4)) / 2.5, abs=1e-6)
    assert result.audit["energy"] < 1e-6


def test_feedforward_ends_at_the_limits():
    motion = {"x": {"law": "cycloid", "to": 1}}
    robot = slider([-3, 3])
    result = simulated(robot, {"x": {"law": "feedforward"}}, motion=motion)
    force = 2 * 2 * np.pi * np.sin(2 * np.pi * result.t)  # m (2π h / T²) sin
    np.testing.assert_allclose(result.table["x.tau"], np.clip(force, -3, 3), atol=1e-9)
    assert len(instants(result, REACHES)) == 2


def test_a_controller_along_a_motion_ends_at_its_limits():
    """The motion's own rate is part of what the law demands."""
    motion = {"x": {"law": "harmonic", "amplitude": 0.2, "frequency": 1}}
    result = simulated(slider([-1, 2]), {"x": {"law": "pd", "kp": 20, "kd": 4}}, motion=motion, end=2.0)
    turn = 2 * np.pi
    place, rate = 0.2 * np.sin(turn * result.t), 0.2 * turn * np.cos(turn * result.t)
    demand = 20 * (place - result.table["x.q"]) + 4 * (rate - result.table["x.qd"])
    assert demand.min() < -1.2
    assert demand.max() > 2.2
    np.testing.assert_allclose(result.table["x.tau"], np.clip(demand, -1, 2), atol=1e-9)


def test_loops_have_them_too():
    robot = denoc.load("four-bar")
    forces, solver = {"A0": {"law": "pd", "to": 2.0, "kp": 30, "kd": 3}}, {"rtol": 1e-10}
    base = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.5, "step": 0.05}, "solver": solver}
    free, bound = denoc.ensemble(
        {**base, "forces": forces}, [{}, {"robot.links.crank.joint.effort": {"limits": [-2, 2]}}], robot
    )
    assert abs(free.table["A0.tau"]).max() > 4
    wanted = 30 * (2.0 - bound.table["A0.q"]) - 3 * bound.table["A0.qd"]
    np.testing.assert_allclose(bound.table["A0.tau"], np.clip(wanted, -2, 2), atol=1e-9)
    assert bound.record["events"]
    assert bound.audit["energy"] < 1e-6 * bound.audit["exchanged"]


@pytest.mark.parametrize("closure", ["multipliers", "projection-qr", "projection-svd-raw", "penalty"])
@pytest.mark.sampled(2)
def test_loops_have_them_by_every_method(closure):
    change = {"robot.links.crank.joint.effort": {"limits": [-2, 2]}}
    base = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    forces = {"A0": {"law": "pd", "to": 2.0, "kp": 30, "kd": 3}}
    one, other = (
        denoc.ensemble({**base, "forces": forces, "closure": {"method": name}}, [change])[0]
        for name in ("denoc", closure)
    )
    assert one.record["events"][0]["event"] == other.record["events"][0]["event"] == REACHES
    np.testing.assert_allclose(other.table["A0.q"], one.table["A0.q"], atol=1e-3)


def test_plain_and_compiled_runs_agree():
    robot, law = arm([-1, 1], [-0.3, 0.4]), {"law": "pd", "to": 0.5, "kp": 40, "kd": 2}
    results = []
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            results.append(simulated(robot, {"all": law}, end=0.3))
    for name, values in results[0].table.items():
        np.testing.assert_allclose(results[1].table[name], values, atol=1e-8, err_msg=name)
    for one, other in zip(results[0].record["events"], results[1].record["events"], strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_lanes_of_controllers_with_limits_are_runs_alone():
    scenario = {"task": "simulate", "time": {"end": 0.2, "step": 0.05}}
    scenario["forces"] = {"all": {"law": "pd", "to": 0.5, "kp": 40, "kd": 2}}
    variations = [{"forces.all.to": x} for x in (0.2, 0.5, 0.9)]
    with using_backend("compiled"):
        together = denoc.ensemble(scenario, variations, arm([-1, 1], [-0.3, 0.4]))
        alone = [denoc.ensemble(scenario, [one], arm([-1, 1], [-0.3, 0.4]))[0] for one in variations]
    for one, other in zip(together, alone):
        assert one.record["events"]
        for event, same in zip(one.record["events"], other.record["events"], strict=True):
            assert event == same | {"t": pytest.approx(same["t"], rel=1e-12)}
        for name, column in other.table.items():
            assert one.table[name] == pytest.approx(column, rel=1e-11, abs=1e-11), name


def test_a_constant_force_needs_no_events_within_its_limits_and_ends_there_beyond():
    def planned(value):
        forces = {"x": {"law": "constant", "value": value}}
        return prepare_scenario({"task": "simulate", "time": {"end": 1}, "forces": forces}, slider([-1, 1]))

    assert not planned(0.9).system.bounded
    assert planned(1.1).system.bounded
    result = simulated(slider([-1, 1]), {"x": {"law": "constant", "value": 4}})
    assert instants(result, REACHES) == [0.0]
    assert result.table["x.qd"][-1] == pytest.approx(0.5, rel=1e-9)


def test_limits_that_nothing_comes_to_change_nothing():
    law = {"x": {"law": "pd", "to": 1, "kp": 5, "kd": 1}}
    one, other = simulated(slider([-99, 99]), law), simulated(slider(), law)
    assert one.record["events"] == []
    np.testing.assert_allclose(one.table["x.q"], other.table["x.q"], atol=1e-9)


@pytest.mark.parametrize("task", ["inverse", "simulate"])
def test_a_motion_that_needs_more_is_warned_of_with_the_instant(task):
    scenario = {"task": task, "time": {"end": 1, "step": 0.01}, "motion": {"x": {"law": "cycloid", "to": 1}}}
    result = denoc.run(scenario, slider([-3, 3]))
    (text,) = result.record["warnings"]
    first = np.ceil(np.arcsin(3 / (4 * np.pi)) / (2 * np.pi) * 100) / 100  # the first row beyond
    assert f"x.tau is beyond its effort limits [-3, 3] from t = {first:g} s on, most at t = 0.25 s: 12.5664" in text
    assert denoc.run(scenario, slider([-13, 13])).record["warnings"] == []


def test_the_forces_of_a_loop_beyond_their_limits_are_warned_of():
    change = {"robot.links.crank.joint.effort": {"limits": ["-0.1 N m", "0.1 N m"]}}
    turned = {"robot": "four-bar", "task": "inverse", "time": {"end": 1}, "motion": {"A0": {"law": "rate", "rate": 1}}}
    (result,) = denoc.ensemble(turned, [change])
    assert [text for text in result.record["warnings"] if text.startswith("A0.tau is beyond its effort limits")]


def test_an_actuator_of_a_link_beyond_its_limits_is_warned_of():
    """Beside an actuated joint, whose force is larger and has no limits."""
    document = yamls.load(denoc.load("five-bar").document.text)
    document["links"][2]["joint"]["actuated"] = False
    push = {"name": "push", "link": "2^2", "at": [0.3, 0, 0], "direction": [1, 0, 0], "axes": "base"}
    motion = {"J1^1": {"law": "cycloid", "to": "20 deg"}, "J1^2": {"law": "cycloid", "to": "20 deg"}}
    task = {"task": "inverse", "time": {"end": 1, "step": 0.05}, "motion": motion}

    def done(**more):
        return denoc.run(task, build_robot(document_from_mapping({**document, "actuators": [{**push, **more}]})))

    force = done().table["push.force"]
    assert not [text for text in done().record["warnings"] if "effort" in text]
    low, high = np.quantile(force, [0.25, 1.0])
    (warning,) = (text for text in done(effort={"limits": [low, high + 1.0]}).record["warnings"] if "effort" in text)
    beyond = np.flatnonzero(force < low - 1e-6)
    worst = int(np.argmin(force))
    t = 0.05 * np.arange(21)
    assert warning.startswith("push.force is beyond its effort limits")
    assert f"from t = {t[beyond[0]]:.6g} s on, most at t = {t[worst]:.6g} s: {force[worst]:.6g}" in warning


def test_computed_torque_beyond_its_limits_is_warned_of():
    more = {"motion": {"x": {"law": "cycloid", "to": 1}}}
    result = simulated(slider([-3, 3]), {"x": {"law": "computed-torque", "kp": 100, "kd": 20}}, **more)
    assert [text for text in result.record["warnings"] if "x.tau is beyond its effort limits" in text]
