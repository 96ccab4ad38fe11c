"""Forces by functions of Python's are as good as the laws of files, at each stage or once a step."""

import math

import numpy as np
import pytest

import denoc
from denoc.errors import DenocError
from denoc.machine.backend import using_backend

RK4 = {"task": "simulate", "time": {"end": 0.1, "step": 0.02}, "solver": {"method": "rk4", "step": 0.005}}
PD = {"law": "pd", "kp": 30, "kd": 2, "to": 0.4}


def pd(name):
    def force(t, state):
        return 30.0 * (0.4 - state[f"{name}.q"]) + 2.0 * (0.0 - state[f"{name}.qd"])

    return force


@pytest.mark.parametrize("robot, joint", [("planar3r", "joint2"), ("four-bar", "A0")])
def test_a_function_gives_the_same_run_as_the_law_to_the_last_bit(robot, joint):
    with using_backend("plain"):
        own = denoc.run({"robot": robot, **RK4, "forces": {joint: PD}})
        called = denoc.run({"robot": robot, **RK4}, forces={joint: pd(joint)})
    for name in own.table:
        np.testing.assert_array_equal(called[name], own[name])


@pytest.mark.parametrize("robot, joint", [("planar3r", "joint2"), ("four-bar", "A0")])
@pytest.mark.sampled(2)
def test_with_adaptive_steps_too_and_beside_compiled_code(robot, joint):
    scenario = {"robot": robot, "task": "simulate", "time": {"end": 0.5, "step": 0.1}}
    with using_backend("compiled"):
        own = denoc.run({**scenario, "forces": {joint: PD}})
        called = denoc.run(scenario, forces={joint: pd(joint)})
    for name in own.table:
        if not name.startswith("energy.residual"):
            np.testing.assert_allclose(called[name], own[name], rtol=0, atol=1e-12 * max(1, abs(own[name]).max()))
    assert called.audit["energy_share"] < 1e-7


def test_once_a_step_a_force_is_held():
    """A mass of 2 kg under a force that is found every 10 ms: a chain of parabolas; the function is called in turn."""
    robot = denoc.loads(
        "{name: b, convention: frames, gravity: [0, 0, 0], links: [{name: b, joint: {type: prismatic, name: s, actuated: true}, mass: 2, com: [0, 0, 0]}]}"
    )
    asked = []

    def force(t, state):
        asked.append(t)
        return -50.0 * state.q[0] + 3.0 * math.sin(9.0 * t)

    scenario = {
        "task": "simulate",
        "time": {"end": 0.2, "step": 0.02},
        "solver": {"method": "rk4", "step": 0.01},
        "initial": {"s": 0.3},
    }
    run = denoc.run(scenario, robot, forces={"s": force}, when="step")
    q, qd, rows = 0.3, 0.0, []
    for k in range(20):
        u = -50.0 * q + 3.0 * math.sin(9.0 * 0.01 * k)
        q, qd = q + 0.01 * qd + u / 4 * 1e-4, qd + 0.01 * u / 2
        rows += [(q, qd, u)] * (k % 2)
    np.testing.assert_allclose(np.array(rows).T, [run["s.q"][1:], run["s.qd"][1:], run["s.tau"][1:]], rtol=1e-12)
    np.testing.assert_allclose(sorted(set(asked)), 0.01 * np.arange(20), atol=1e-12)
    assert len(asked) == 20
    assert run.audit["energy_share"] < 1e-12


def test_limits_and_several_speeds():
    robot = denoc.loads(
        "{name: b, convention: frames, gravity: [0, 0, 0], links: [{name: b, joint: {type: cylindrical, name: s, actuated: true, effort: {limits: [-4, 4]}}, mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]}"
    )
    for when in ("stage", "step"):
        run = denoc.run(RK4, robot, forces={"s": lambda t, state: (9.0 - state["s.qd1"], 1.0)}, when=when)
        np.testing.assert_allclose(run["s.tau1"], 4.0)
        np.testing.assert_allclose(run["s.tau2"], 1.0)


@pytest.mark.parametrize(
    "scenario, forces, when, message",
    [
        ({}, {"joint9": pd("joint1")}, "stage", "no joint `joint9`"),
        ({}, {"joint1": 3.0}, "stage", "is no function"),
        ({}, {"joint1": pd("joint1")}, "row", "not a time to call"),
        ({"solver": {}}, {"joint1": pd("joint1")}, "step", "chooses its steps itself"),
        ({"forces": {"joint1": PD}}, {"joint1": pd("joint1")}, "stage", "has an entry in the scenario already"),
        ({}, {"joint1": lambda t, state: [1.0, 2.0]}, "stage", "a number is needed"),
        ({}, {"joint1": lambda t, state: "much"}, "step", "a number is needed"),
    ],
)
def test_mistakes(scenario, forces, when, message):
    with pytest.raises(DenocError, match=message):
        denoc.run({"robot": "planar3r", **RK4, **scenario}, forces=forces, when=when)


def test_a_function_s_own_error_is_its_own():
    with pytest.raises(RuntimeError, match="the function of `joint1` failed at t = 0 s"):
        denoc.run({"robot": "planar3r", **RK4}, forces={"joint1": lambda t, state: 1 / 0})
    with pytest.raises(KeyError):
        denoc.run({"robot": "planar3r", **RK4}, forces={"joint1": lambda t, state: state["joint9.q"]})
