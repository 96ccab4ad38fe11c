"""Closed chains in motion: against independent integrations, against the motion that the torques were made for."""

from dataclasses import replace

import numpy as np
import pytest

import closed
import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.mechanisms import balance
from denoc.mechanics.mechanisms.branches import branch_order_at_position
from denoc.scenario import prepare_scenario
from denoc.simulate import feedforward_force_plan
from denoc.text import library_folder
from fourbar import RODS

TIGHT = {"method": "rk45", "rtol": 1e-12, "atol": 1e-14}
# mechanism, case, end of what is compared (0.9 of the singular time), accuracy that the file states
FREE = [
    ("five_bar", "free_fall_P_below", 1.2, 1e-10),
    ("five_bar", "free_fall_P_above", 0.9, 1e-10),
    ("four_bar", "free_motion_from_60deg_at_rest", 2.0, 1e-9),
]


def robot_of(name, case):
    whole, one = closed.one_case(name, case)
    return one, denoc.loads(closed.planar_text(whole, one))


def falling(robot, one, end, step, **solver):
    """A run from the file's first sample, where the actuated joints begin."""
    begin = {joint.name: one["q"][joint.name][0] for joint in robot.moving if joint.actuated}
    task = {"robot": robot.name, "task": "simulate", "time": {"end": end, "step": step}, "initial": begin}
    return denoc.run(task | {"solver": solver}, robot)


@pytest.mark.parametrize("name, case, end, accuracy", FREE)
def test_free_motion_is_that_of_the_free_bodies(name, case, end, accuracy):
    one, robot = robot_of(name, case)
    t = np.array(one["t"])
    k = int(np.flatnonzero(t <= end + 1e-12)[-1])
    assert end == pytest.approx(t[k], abs=1e-12)
    assert np.allclose(np.diff(t[: k + 1]), t[1], rtol=1e-9)
    result = falling(robot, one, end, float(t[1]), **TIGHT)
    assert result.ended == "done"
    for joint in robot.joints:
        assert off(result.table[f"{joint}.q"], one["q"][joint][: k + 1], 1.0) <= accuracy
        rates = one["qd"][joint][: k + 1]
        assert off(result.table[f"{joint}.qd"], rates, max(1.0, np.abs(rates).max())) <= accuracy
        second = one["qdd"][joint][: k + 1]
        assert off(result.table[f"{joint}.qdd"], second, np.abs(second).max()) <= 10 * accuracy
    assert result.audit["closure"] <= 1e-14
    assert result.audit["energy"] <= 1e-10


@pytest.mark.parametrize("case, singular", [("free_fall_P_below", 1.36672), ("free_fall_P_above", 1.05031)])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-12])
def test_the_singular_position_of_the_five_bar_is_announced(case, singular, rtol):
    """Where the distal links are in one line; found before it is met, at any tolerance that follows the fall."""
    one, robot = robot_of("five_bar", case)
    result = falling(robot, one, 1.6, 0.02, rtol=rtol)
    assert result.ended == "singularity"
    assert result.audit["singular"]["loop"] == "P"
    assert result.audit["singular"]["t"] == pytest.approx(one["singular_time"], abs=1e-4)
    assert one["singular_time"] == pytest.approx(singular, abs=1e-5)
    assert result.t[-1] <= one["singular_time"]
    assert result.t[-1] > one["singular_time"] - 0.021
    assert result.audit["closure"] <= 1e-12
    assert set(result.audit["singular"]["coordinates"]) <= set(robot.joints)


# ---- the torques of inverse dynamics lead the 3-RRR along its motion


@pytest.mark.parametrize("rtol, atol, most", [(1e-12, 1e-14, 1e-8), (1e-10, 1e-12, 1e-6)])
@pytest.mark.sampled(2)
def test_feedforward_returns_the_motion(rtol, atol, most):
    """The motion is unstable: with gravity errors of integration grow a thousand times in its three seconds."""
    whole, one = closed.one_case("three_rrr", "inverse_dynamics_gravity_minus_Y")
    robot = denoc.loads(closed.planar_text(whole, one))
    path = whole["trajectory"]
    motion = {
        joint: {"law": "cycloid", "from": start, "to": start + 2 * np.pi * A}
        for joint, start, A in zip(path["joints"], path["theta0"], path["A"])
    }
    scenario = {
        "robot": robot.name,
        "task": "simulate",
        "time": {"end": path["T"], "step": path["T"] / 30},
        "motion": motion,
        "forces": {"all": {"law": "feedforward"}},
        "solver": {"method": "rk45", "rtol": rtol, "atol": atol},
        "closure": {"method": "denoc"},
    }
    result = denoc.run(scenario, robot)
    assert result.ended == "done"
    for joint in path["joints"]:
        assert off(result.table[f"{joint}.q"], one["q"][joint], 1.0) <= most
        assert off(result.table[f"{joint}.tau"], one["actuator_torque"][joint]) <= 1e-9


@pytest.mark.parametrize("end", [0.5, 3.0, 30.0])
def test_the_plan_of_feedforward_keeps_to_its_branch(end):
    """An integrator's first trial may be far ahead: it must not leave the plan on the loops' other branch."""
    whole, one = closed.one_case("three_rrr", "inverse_dynamics_gravity_minus_Y")
    robot = denoc.loads(closed.planar_text(whole, one))
    path = whole["trajectory"]
    motion = {
        joint: {"law": "cycloid", "from": start, "to": start + 2 * np.pi * A, "over": end}
        for joint, start, A in zip(path["joints"], path["theta0"], path["A"])
    }
    scenario = {"robot": robot.name, "task": "simulate", "time": {"end": end / 10, "step": end / 50}}
    result = denoc.run(scenario | {"motion": motion, "forces": {"all": {"law": "feedforward"}}}, robot)
    inverse = denoc.run(scenario | {"task": "inverse", "motion": motion}, robot)
    for joint in robot.joints:
        assert off(result.table[f"{joint}.q"], inverse.table[f"{joint}.q"], 1.0) <= 1e-4
    for joint in path["joints"]:
        assert off(result.table[f"{joint}.tau"], inverse.table[f"{joint}.tau"]) <= 1e-9


FIVE_BAR = {
    "J1^1": {"law": "cycloid", "from": "30 deg", "to": "90 deg", "over": 4},
    "J1^2": {"law": "cycloid", "from": "30 deg", "to": "70 deg", "over": 4},
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "wrenches": [
                {
                    "link": "2^1",
                    "force": [{"law": "harmonic", "amplitude": 5, "frequency": 0.5}, 3, 0],
                    "at": [1.1, 0, 0],
                }
            ]
        },
    ],
)
@pytest.mark.parametrize("led", [["J1^1", "J1^2"], ["J1^1"]])
@pytest.mark.sampled(4)
def test_feedforward_knows_wrenches_and_what_else_is_prescribed(led, more):
    scenario = {"robot": "five-bar", "task": "simulate", "time": {"end": 2, "step": 0.02}, "motion": FIVE_BAR, **more}
    solver = {"rtol": 1e-10, "atol": 1e-12}
    result = denoc.run(scenario | {"forces": {joint: {"law": "feedforward"} for joint in led}, "solver": solver})
    inverse = denoc.run(scenario | {"task": "inverse"})
    assert result.ended == "done"
    for joint in FIVE_BAR:
        assert off(result.table[f"{joint}.q"], inverse.table[f"{joint}.q"], 1.0) <= 1e-6
        assert off(result.table[f"{joint}.tau"], inverse.table[f"{joint}.tau"]) <= 1e-5


def test_feedforward_knows_the_friction_of_the_simulation():
    text = closed_text("five-bar").replace("actuated: true,", "actuated: true, friction: {coulomb: 0.5, viscous: 0.3},")
    robot = denoc.loads(text)
    scenario = {"robot": "five-bar", "task": "simulate", "time": {"end": 2, "step": 0.02}, "motion": FIVE_BAR}
    result = denoc.run(scenario | {"forces": {"all": {"law": "feedforward"}}, "solver": {"rtol": 1e-10}}, robot)
    inverse = denoc.run(scenario | {"task": "inverse"}, robot)
    for joint in FIVE_BAR:
        assert off(result.table[f"{joint}.q"], inverse.table[f"{joint}.q"], 1.0) <= 1e-6


def test_a_plan_of_feedforward_chooses_its_order_of_solution_once(monkeypatch):
    """And the forces are those of a balance that chooses one at each instant."""
    scenario = {"robot": "five-bar", "task": "inverse", "time": {"end": 2, "step": 0.2}, "motion": FIVE_BAR}
    plan = prepare_scenario(scenario)
    orders = []
    monkeypatch.setattr(
        balance, "branch_order_at_position", lambda *given: orders.append(given) or branch_order_at_position(*given)
    )
    inputs = replace(plan.system.inputs, feedforward=plan.system.inputs.prescribed, prescribed=())
    with using_backend("plain"):
        planned = feedforward_force_plan(replace(plan.system, inputs=inputs), plan.q0)
        forces = np.array([planned(float(t)) for t in plan.grid])
        assert len(orders) == 1
        afresh = denoc.run(scenario).table
    speeds = {joint.name: joint.speeds[0] for joint in plan.robot.moving}
    for joint in FIVE_BAR:
        assert off(forces[:, speeds[joint]], afresh[f"{joint}.tau"]) <= 1e-9


def closed_text(robot):
    return (library_folder("robots") / f"{robot}.yaml").read_text()


def test_computed_torque_brings_a_mechanism_back_that_starts_off_its_way():
    """The error obeys e'' + 10 e' + 25 e = 0."""
    scenario = {"robot": "five-bar", "task": "simulate", "time": {"end": 1, "step": 0.02}, "motion": FIVE_BAR}
    law = {"law": "computed-torque", "kp": 25, "kd": 10}
    result = denoc.run(scenario | {"initial": {"J1^1": "35 deg"}, "forces": {"all": law}})
    inverse = denoc.run(scenario | {"task": "inverse"})
    t, error = result.t, result.table["J1^1.q"] - inverse.table["J1^1.q"]
    assert error[0] == pytest.approx(np.radians(5), abs=1e-12)
    assert off(error, np.radians(5) * (1 + 5 * t) * np.exp(-5 * t)) <= 1e-5
    assert np.abs(result.table["J1^2.q"] - inverse.table["J1^2.q"]).max() <= 1e-6


# ---- a four-bar linkage that others have been measured on


@pytest.mark.parametrize("rtol, energy", [(1e-4, np.inf), (1e-6, 5e-4), (1e-9, 3e-7)])
def test_loops_stay_closed_at_any_tolerance(rtol, energy):
    scenario = {"robot": "rods", "task": "simulate", "time": {"end": 5, "step": 0.01}, "initial": {"crank": 1}}
    scenario |= {"solver": {"method": "rk45", "rtol": rtol, "atol": 1e-10}}
    scenario |= {"closure": {"method": "denoc", "independent": ["crank"]}}
    result = denoc.run(scenario, denoc.loads(RODS))
    assert result.ended == "done"
    assert len(result.t) == 501
    assert result.audit["closure"] <= 1e-10
    whole = result.table["energy.total"]
    assert whole[0] == pytest.approx(18.2, abs=0.05)
    assert np.abs(whole - whole[0]).max() <= energy
    crank, coupler, rocker = (result.table[f"{joint}.q"] for joint in ("crank", "coupler", "rocker"))
    x = 0.4 * np.cos(crank) + np.cos(crank + coupler) - 0.9 - 0.8 * np.cos(rocker)
    y = 0.4 * np.sin(crank) + np.sin(crank + coupler) - 0.8 * np.sin(rocker)
    assert np.hypot(x, y).max() <= 1e-10
    assert np.sin(rocker[0]) > 0  # the coupler starts above the line of centres
