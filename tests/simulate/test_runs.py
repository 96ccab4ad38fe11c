"""Whole runs against what is known of them: conservation laws, closed solutions, scipy's own steps, inverse dynamics."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.spatial.transform import Rotation

import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.scenario import prepare_scenario
from denoc.simulate import loop
from denoc.simulate.integrators.integrate import stepper_of_integrator
from denoc.simulate.runner import Runner

FALLS = [
    "planar3r-fall",
    "puma-fall",
    "stanford-fall",
    "stanford-2009-fall",
    "spherical-arm-fall",
    "tree-fall",
    "chain-fall",
]


def run(robot, end, *, task="simulate", step=None, **more):
    scenario = {"task": task, "time": {"end": end, "step": step or end / 100}, **more}
    if isinstance(robot, str):
        scenario["robot"], robot = robot, None
    result = denoc.run(scenario, robot)
    assert result.ended == "done", result.record["reason"]
    return result


def columns(result, suffix, joints=None):
    names = joints or denoc.load(result.record["robot"]["name"]).joints
    return np.column_stack([result.table[f"{joint}.{suffix}"] for joint in names])


def mass_on_a_rail(**joint):
    return denoc.loads(
        f"""
name: mass
convention: frames
gravity: [0, 0, 0]
links:
  - name: mass
    joint: {{type: prismatic, name: x, axis: [1, 0, 0], {", ".join(f"{k}: {v}" for k, v in joint.items())}}}
    mass: 2
    com: [0, 0, 0]
"""
    )


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_forces_and_wrenches_over_time_are_followed(backend):
    """m ẍ = F sin(w t) − G sin(u t) from rest: each term gives F (w t − sin(w t)) / (m w²)."""
    push = {"law": "harmonic", "amplitude": 3, "frequency": 1}
    pull = {"law": "harmonic", "amplitude": -5, "frequency": 0.5}

    def moved(force, turn, t):
        return force * (turn * t - np.sin(turn * t)) / (2 * turn**2)

    for forces, wrenches, factors in (({"x": push}, [], (1, 0)), ({}, [pull], (0, 1)), ({"x": push}, [pull], (1, 1))):
        acting = [{"link": "mass", "force": [one, 0, 0]} for one in wrenches]
        with using_backend(backend):
            found = run(mass_on_a_rail(), 2.0, forces=forces, wrenches=acting, solver={"rtol": 1e-10})
        w, u = 2 * np.pi, np.pi
        expected = factors[0] * moved(3, w, found.t) + factors[1] * moved(-5, u, found.t)
        np.testing.assert_allclose(found.table["x.q"], expected, atol=1e-8)


def test_as_many_steps_as_are_allowed():
    """A limit of as many steps as a run takes ends nothing, one step less does; plain and in the compiled loop."""
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.5, "step": 0.05}}
            steps = denoc.run(fall).audit["steps"]
            enough, short = (denoc.run({**fall, "solver": {"max_steps": most}}) for most in (steps, steps - 1))
        assert (enough.ended, enough.audit["steps"]) == ("done", steps)
        assert (short.ended, str(steps - 1) in short.record["reason"]) == ("failed", True)


# ---- free falls


@pytest.mark.parametrize("name", FALLS)
def test_energy_is_conserved_in_free_fall(name):
    """To 1e-8 of what is exchanged between kinetic and potential energy, at rtol 1e-10."""
    data = prepare_scenario(name).file.model_dump(by_alias=True, exclude_none=True)
    data["time"]["end"] = min(data["time"]["end"], 2.0)
    data["solver"] |= {"rtol": 1e-10, "atol": 1e-12}
    result = denoc.run(data)
    assert result.ended == "done"
    exchanged = np.ptp(result.table["energy.kinetic"])
    assert exchanged > 0.1
    assert np.ptp(result.table["energy.total"]) < 1e-8 * exchanged
    assert result.audit["energy"] < 1e-8 * exchanged


def test_rk45_takes_scipy_s_own_steps():
    """A PUMA falls: instants of the steps, states at their ends and evaluations are those of scipy.integrate.RK45."""
    plan = prepare_scenario(
        {"robot": "puma", "task": "simulate", "time": {"end": 1.5}, "solver": {"rtol": 1e-8, "atol": 1e-10}}
    )
    robot, n, run = plan.robot, plan.robot.nv, Runner(plan.system, plan.q0)

    def f(t, y):
        return np.concatenate([y[n:], denoc.forward(robot, y[:n], y[n:], np.zeros(n))])

    theirs = integrate.RK45(f, 0.0, np.zeros(2 * n), 1.5, rtol=1e-8, atol=1e-10)
    ours = stepper_of_integrator(
        "rk45",
        run.derivative,
        0.0,
        run.start(plan.q0, plan.qd0),
        1.5,
        rtol=1e-8,
        atol=1e-10,
        measured=plan.system.measured,
    )
    while theirs.status == "running":
        theirs.step()
        assert ours.step() == ""
        # the derivatives differ by rounding, which the step control sees as a change of some digits of the step
        assert ours.t == pytest.approx(theirs.t, rel=1e-7)
        np.testing.assert_allclose(ours.y[: 2 * n], theirs.y, rtol=0, atol=1e-8)
    assert ours.t == 1.5
    assert ours.evaluations == theirs.nfev
    result = denoc.run({"robot": "puma", "task": "simulate", "time": {"end": 1.5}})
    assert result.audit["steps"] == ours.accepted
    np.testing.assert_allclose(columns(result, "q")[-1], theirs.y[:n], atol=1e-9)


@pytest.mark.parametrize("method", ["rk45", "rkck", "rk56", "dop853", "radau", "lsoda", "bdf", "rk4"])
def test_methods_agree(method):
    solver = (
        {"method": method, "rtol": 1e-9, "atol": 1e-11, "step": "1 ms"}
        if method == "rk4"
        else {
            "method": method,
            "rtol": 1e-9,
            "atol": 1e-11,
        }
    )
    result = run("planar3r", 0.5, solver=solver)
    reference = run("planar3r", 0.5, solver={"method": "dop853", "rtol": 1e-12, "atol": 1e-14})
    np.testing.assert_allclose(columns(result, "q"), columns(reference, "q"), atol=2e-5 if method == "bdf" else 1e-6)
    assert result.audit["energy"] < 1e-4


@pytest.mark.parametrize("method", ["rk45", "rk56", "dop853", "bdf", "lsoda"])
def test_rows_do_not_depend_on_the_output_step(method):
    fine, coarse = (run("planar3r", 1.0, step=step, solver={"method": method}) for step in (0.01, 0.1))
    assert fine.audit["steps"] == coarse.audit["steps"]
    for name, values in coarse.table.items():
        if name != "energy.residual":
            np.testing.assert_allclose(fine.table[name][::10], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_lsoda_goes_from_row_to_row_by_the_steps_that_it_takes_one_by_one(backend, monkeypatch):
    """Also where there are more steps between two rows than it takes at once."""
    solvers = [{"rtol": 1e-9}, {"rtol": 1e-9, "max_step": 2e-4}]
    fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.3, "step": 0.15}}

    def both():
        return [denoc.run({**fall, "solver": {"method": "lsoda", **solver}}) for solver in solvers[: 1 + on]]

    on = backend == "compiled"
    with using_backend(backend):
        strides = both()
        most = strides[-1].audit["steps"]
        limited = [
            denoc.run({**fall, "solver": {"method": "lsoda", **solvers[on], "max_steps": most - short}})
            for short in (0, 1)
        ]
        monkeypatch.setattr(loop, "strides_in_leg", lambda *_: False)
        steps = both()
    assert most > 500 or not on
    for one, other in zip(strides, steps, strict=True):
        assert one.audit["steps"] == other.audit["steps"]
        assert one.audit["evaluations"] == other.audit["evaluations"]
        for name in ("joint1.q", "joint3.qd", "energy.residual"):
            np.testing.assert_allclose(one.table[name], other.table[name], rtol=0, atol=1e-11)
    enough, short = limited
    assert enough.ended == "done"
    assert short.ended == "failed"
    assert f"more than {most - 1} steps" in short.record["reason"]


def test_lsoda_says_that_a_state_grows_beyond_all_bounds():
    """v' = v² without a mass to speak of: nothing is a number at t = 1 s."""
    push = {"law": "expression", "force": "2 kg/m * qd^2"}
    run = {"task": "simulate", "time": {"end": 2, "step": 0.5}, "rates": {"x": 1.0}, "forces": {"x": push}}
    with using_backend("compiled"):
        result = denoc.run({**run, "solver": {"method": "lsoda", "rtol": 1e-5, "atol": 1e-5}}, mass_on_a_rail())
    assert result.ended == "failed"
    assert len(result.t) == 2
    assert "at t = 0.99" in result.record["reason"]
    np.testing.assert_allclose(result.table["x.qd"], [1.0, 2.0], rtol=1e-3)


@pytest.mark.parametrize("method", ["rkck", "radau", "rk4"])
def test_rows_of_methods_that_land_on_them_depend_on_it_little(method):
    fine, coarse = (
        run(
            "planar3r",
            1.0,
            step=step,
            solver={"method": method, "step": 0.005} if method == "rk4" else {"method": method},
        )
        for step in (0.01, 0.1)
    )
    np.testing.assert_allclose(columns(fine, "q")[::10], columns(coarse, "q"), atol=2e-5)


def test_times_that_do_not_begin_at_0_and_rows_that_do_not_fit():
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"start": 2.0, "end": 2.25, "step": 0.1}}
    result = denoc.run(scenario)
    np.testing.assert_allclose(result.t, [2.0, 2.1, 2.2, 2.25])
    np.testing.assert_allclose(
        columns(result, "q"), columns(run("planar3r", 0.25, step=0.05), "q")[[0, 2, 4, 5]], atol=1e-8
    )


# ---- control


def test_pd_is_a_damped_oscillator():
    """M x'' = kp (to − x) − kd x'."""
    m, kp, kd, to, x0, v0 = 2.0, 50.0, 4.0, 0.3, -0.1, 0.7
    forces = {"x": {"law": "pd", "kp": kp, "kd": kd, "to": to}}
    result = run(mass_on_a_rail(), 3, forces=forces, initial={"x": x0}, rates={"x": v0}, solver={"rtol": 1e-10})
    d, t = kd / (2 * m), result.t
    w = math.sqrt(kp / m - d * d)
    e = np.exp(-d * t) * ((x0 - to) * np.cos(w * t) + (v0 + d * (x0 - to)) / w * np.sin(w * t))
    np.testing.assert_allclose(result.table["x.q"], to + e, atol=1e-8)
    np.testing.assert_allclose(result.table["x.tau"], -kp * e - kd * result.table["x.qd"], atol=1e-7)


def test_a_spring_law_and_a_spring_in_the_robot_are_the_same():
    start = {"initial": {"x": 0.4}, "solver": {"rtol": 1e-10}}
    law = run(
        mass_on_a_rail(), 2, forces={"x": {"law": "spring", "stiffness": 30, "rest": 0.1, "damping": 0.5}}, **start
    )
    own = run(mass_on_a_rail(spring="{stiffness: 30, rest: 0.1, damping: 0.5}"), 2, **start)
    np.testing.assert_allclose(law.table["x.q"], own.table["x.q"], atol=1e-9)
    assert off(own.table["energy.elastic"], 15 * (own.table["x.q"] - 0.1) ** 2) < 1e-12
    assert law.table["energy.elastic"].max() == 0
    assert max(law.audit["energy"], own.audit["energy"]) < 1e-8


def test_pd_along_a_motion_lags_as_it_must():
    """M e'' + kd e' + kp e = m r'' for a reference r at constant rate: no error is left; harmonic: a known amplitude."""
    m, kp, kd, a, f = 2.0, 80.0, 20.0, 0.2, 0.5
    w = 2 * math.pi * f
    motion = {"x": {"law": "harmonic", "amplitude": a, "frequency": f}}
    result = run(mass_on_a_rail(), 8, motion=motion, forces={"x": {"law": "pd", "kp": kp, "kd": kd}}, step=0.01)
    late = result.t > 6  # transients have gone: exp(-kd/2m t)
    error = a * np.sin(w * result.t) - result.table["x.q"]
    size = m * a * w**2 / abs(complex(kp - m * w**2, kd * w))
    assert abs(error[late]).max() == pytest.approx(size, rel=1e-3)


def test_computed_torque_makes_the_error_obey_its_equation():
    """E = exp(−kd t/2) (…) for every joint of a PUMA, whatever the others do."""
    kp, kd = 30.0, 8.0
    start = {f"joint{k + 1}": 0.1 * (k - 2) for k in range(6)}
    motion = {"all": {"law": "cycloid", "from": 0, "to": "90 deg"}}
    result = run(
        "puma",
        2,
        motion=motion,
        forces={"all": {"law": "computed-torque", "kp": kp, "kd": kd}},
        initial=start,
        solver={"rtol": 1e-10},
    )
    t = result.t
    wanted = np.pi / 2 * (t / 2 - np.sin(np.pi * t) / (2 * np.pi))
    w = math.sqrt(kp - kd**2 / 4)
    share = np.exp(-kd / 2 * t) * (np.cos(w * t) + kd / 2 / w * np.sin(w * t))
    for k in range(6):
        error = -0.1 * (k - 2) * share
        np.testing.assert_allclose(wanted - result.table[f"joint{k + 1}.q"], error, atol=1e-8)
    # and the torques are those of inverse dynamics along what came out
    tau = denoc.inverse(denoc.load("puma"), *(columns(result, x) for x in ("q", "qd", "qdd")))
    assert off(columns(result, "tau"), tau) < 1e-10
    assert result.audit["energy"] < 1e-6


@pytest.mark.parametrize("robot", ["puma", "stanford", "tree"])
@pytest.mark.sampled(3)
def test_feedforward_returns_the_trajectory(robot):
    """Forward and inverse dynamics undo each other."""
    names = denoc.load(robot).joints
    start = denoc.load(robot).q0
    motion = {name: {"law": "polynomial", "to": x + 0.3 + 0.1 * k} for k, (name, x) in enumerate(zip(names, start))}
    common = {"motion": motion, "step": 0.05}
    planned = run(robot, 1, task="inverse", **common)
    result = run(robot, 1, forces={"all": {"law": "feedforward"}}, solver={"rtol": 1e-10}, **common)
    assert off(columns(result, "q", names), columns(planned, "q", names)) < 1e-7
    assert off(columns(result, "tau", names), columns(planned, "tau", names)) < 1e-9


def test_feedforward_with_friction_rotors_and_wrenches():
    motion = {"all": {"law": "cycloid", "to": "60 deg"}}
    wrenches = [{"link": "link6", "force": [3, -2, 5], "moment": [0.1, 0.2, 0.3], "at": [0.05, 0, 0.1]}]
    planned = run("rx90", 1, task="inverse", motion=motion, wrenches=wrenches)
    result = run(
        "rx90", 1, motion=motion, forces={"all": {"law": "feedforward"}}, wrenches=wrenches, solver={"rtol": 1e-10}
    )
    # dry friction makes the first instant a matter of its own: planned torques have none at rest
    assert off(columns(result, "q"), columns(planned, "q")) < 1e-4


# ---- prescribed motion


def test_all_motion_prescribed_is_inverse_dynamics():
    motion = {"all": {"law": "cycloid", "to": "90 deg"}}
    for robot in ("puma", "rx90"):
        inverse, prescribed = (run(robot, 2, task=task, motion=motion) for task in ("inverse", "simulate"))
        assert set(inverse.table) == set(prescribed.table)
        for name, values in inverse.table.items():
            np.testing.assert_allclose(prescribed.table[name], values, rtol=1e-12, atol=1e-10, err_msg=name)
        assert prescribed.audit["steps"] == 0


def test_prescribed_joints_beside_driven_ones():
    """Joints 1 and 3 are led along the motion, the others get the torques of inverse dynamics: the same motion."""
    motion = {"all": {"law": "cycloid", "to": "90 deg"}}
    inverse = run("puma", 2, task="inverse", motion=motion)
    forces = {f"joint{k}": {"law": "feedforward"} for k in (2, 4, 5, 6)}
    mixed = run("puma", 2, motion=motion, forces=forces, solver={"rtol": 1e-10})
    assert off(columns(mixed, "q"), columns(inverse, "q")) < 1e-8
    assert off(columns(mixed, "tau"), columns(inverse, "tau")) < 1e-8
    assert mixed.audit["energy"] < 1e-6


def test_a_pendulum_on_a_cart_that_is_led():
    """θ'' = −(a(t) cos θ + g sin θ) / l for a cart with x'' = a(t)."""
    robot = denoc.loads(
        """
name: cart
convention: frames
links:
  - name: cart
    joint: {type: prismatic, name: x, axis: [1, 0, 0]}
    mass: 5
    com: [0, 0, 0]
  - name: bob
    joint: {type: revolute, name: swing, axis: [0, -1, 0]}
    mass: 1
    com: [0, 0, -0.5]
"""
    )
    amplitude, f = 0.1, 0.8
    w = 2 * math.pi * f
    motion = {"x": {"law": "harmonic", "amplitude": amplitude, "frequency": f}}
    result = run(robot, 3, motion=motion, initial={"swing": 0.4}, solver={"rtol": 1e-10})

    def swing(t, y):
        a = -amplitude * w**2 * math.sin(w * t)
        return [y[1], -(a * math.cos(y[0]) + 9.81 * math.sin(y[0])) / 0.5]

    right = integrate.solve_ivp(swing, (0, 3), [0.4, 0], "DOP853", result.t, rtol=1e-12, atol=1e-13).y[0]
    np.testing.assert_allclose(result.table["swing.q"], right, atol=1e-7)
    assert result.audit["energy"] < 1e-5


# ---- bodies in space


TOP = """
name: top
convention: frames
gravity: [0, 0, 0]
links:
  - name: body
    joint: {type: free, name: body}
    mass: 3
    com: [0.2, -0.1, 0.3]
    inertia: {xx: 0.3, yy: 0.5, zz: 0.7, xy: 0.02, xz: -0.03, yz: 0.04}
"""


def turned(e):
    """Rotation matrices of Euler parameters, one row each."""
    e0, v = e[:, 0], e[:, 1:]
    cross = np.zeros((len(e), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    cross -= np.transpose(cross, (0, 2, 1))
    cross = cross / 1.0
    return (
        (2 * e0**2 - 1)[:, None, None] * np.eye(3) + 2 * np.einsum("ni,nj->nij", v, v) + 2 * e0[:, None, None] * cross
    )


def test_euler_s_top():
    """A free body that tumbles: unit quaternions, momentum and angular momentum and energy as they were."""
    rates = {"body": [0.3, -0.2, 0.1, 0.5, 6.0, -0.4]}
    result = run(denoc.loads(TOP), 5, rates=rates, solver={"rtol": 1e-10, "atol": 1e-12})
    table = result.table
    place, e, v, w = (
        np.column_stack([table[f"body.{x}"] for x in names.split()])
        for names in ("x y z", "e0 e1 e2 e3", "vx vy vz", "wx wy wz")
    )
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1, atol=1e-14)
    R = turned(e)
    com = np.array([0.2, -0.1, 0.3])
    J = np.array([[0.3, 0.02, -0.03], [0.02, 0.5, 0.04], [-0.03, 0.04, 0.7]])
    momentum = 3 * np.einsum("nij,nj->ni", R, v + np.cross(w, com))
    spin = np.einsum("nij,nj->ni", R, w @ J)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8)
    np.testing.assert_allclose(spin, np.broadcast_to(spin[0], spin.shape), atol=1e-7)
    # the mass centre goes straight on
    centre = place + R @ com
    np.testing.assert_allclose(centre, centre[0] + result.t[:, None] * momentum[0] / 3, atol=1e-7)
    assert np.ptp(table["energy.kinetic"]) < 1e-7
    assert abs(w[:, 1]).min() < 1  # it tumbles: the middle axis is not stable


def test_momentum_of_a_satellite_with_an_arm():
    """Torques inside a free robot change no momentum: here it stays zero (Khalil 2010, section 7)."""
    result = denoc.run("space-arm-drive")
    robot, table = denoc.load("space-arm"), result.table
    for k in (50, 100, 200):
        q = np.array([table[f"{j.name}.{x}"][k] for j in robot.moving for x in j.type.coordinates])
        qd = np.array([table[f"{j.name}.{x}"][k] for j in robot.moving for x in j.type.speeds])
        assert abs((denoc.inertia(robot, q) @ qd)[:6]).max() < 1e-5


def test_a_spherical_joint_and_its_three_revolutes_move_alike():
    text = """
name: arm
convention: frames
links:
  - name: first
    joint: {type: revolute, name: a, axis: [0, 1, 0]}
    mass: 2
    com: [0.3, 0, 0]
    inertia: {xx: 0.01, yy: 0.08, zz: 0.08}
  - name: second
    joint: {type: spherical, name: b, xyz: [0.6, 0, 0]%s}
    mass: 1
    com: [0.2, 0.05, 0.02]
    inertia: {xx: 0.01, yy: 0.03, zz: 0.025, xy: 0.002}
    points: {tip: [0.4, 0, 0]}
"""
    rates = {"b": [0.4, 0.5, 0.6]}  # at zero angles the two kinds of rates are x, y, z and z, y, x
    more = {"record": {"points": ["second.tip"]}, "solver": {"rtol": 1e-10}}
    ball = run(denoc.loads(text % ""), 1, rates=rates, **more)
    three = run(denoc.loads(text % ", as: three-revolutes"), 1, rates={"b": [0.6, 0.5, 0.4]}, **more)
    for axis in "xyz":
        np.testing.assert_allclose(ball.table[f"second.tip.{axis}"], three.table[f"second.tip.{axis}"], atol=1e-8)


def test_a_turn_from_an_orientation_is_about_the_link_s_own_axis():
    """The frame at each instant is the first one, followed by a turn about an axis that it carries."""
    text = """
name: ball
convention: frames
links:
  - name: body
    joint: {type: spherical, name: b}
    mass: 1
    com: [0.2, 0.05, 0.02]
    inertia: {xx: 0.01, yy: 0.03, zz: 0.025}
"""
    robot, first = denoc.loads(text), Rotation.from_rotvec([0.7, -0.4, 0.9])
    axis = np.array([1.0, 2.0, -2.0]) / 3
    found = run(
        robot,
        2.0,
        task="inverse",
        step=0.25,
        initial={"b": np.roll(first.as_quat(), 1).tolist()},
        motion={"b": {"law": "cycloid", "to": {"axis": axis.tolist(), "angle": 1.2}}},
    )
    x = found.t / 2
    angle, rate = 1.2 * (x - np.sin(2 * np.pi * x) / (2 * np.pi)), 0.6 * (1 - np.cos(2 * np.pi * x))
    q = np.column_stack([found.table[f"b.{name}"] for name in robot.joint("b").type.coordinates])
    frames = denoc.frames(robot, q)["body"][:, :3, :3]
    np.testing.assert_allclose(frames, (first * Rotation.from_rotvec(np.outer(angle, axis))).as_matrix(), atol=1e-12)
    speeds = np.column_stack([found.table[f"b.{name}"] for name in robot.joint("b").type.speeds])
    np.testing.assert_allclose(speeds, np.outer(rate, axis), atol=1e-12)


# ---- wrenches


@pytest.mark.parametrize("axes", ["link", "base"])
@pytest.mark.parametrize("task", ["simulate", "inverse"])
def test_the_audit_counts_what_wrenches_do(axes, task):
    """Force and moment that change with time, off the link's origin: the balance closes all the same."""
    wrench = {
        "link": "link5",
        "force": [{"law": "harmonic", "amplitude": 8, "frequency": 1.5}, 3, {"law": "constant", "value": "-2 N"}],
        "moment": [0.4, {"law": "harmonic", "amplitude": 1, "period": 0.7, "phase": 1}, 0],
        "at": [0.1, -0.2, 0.15],
        "axes": axes,
    }
    motion = {"all": {"law": "cycloid", "to": 1.0}}
    more = {"motion": motion} if task == "inverse" else {"solver": {"rtol": 1e-10}}
    result = run("puma", 1.0, task=task, wrenches=[wrench, {**wrench, "link": "link2"}], **more)
    exchanged = np.ptp(result.table["energy.total"])
    assert exchanged > 0.05
    assert result.audit["energy"] < 1e-6 * exchanged
    idle = run("puma", 1.0, task=task, **more)
    assert (
        abs(
            columns(result, "q" if task == "simulate" else "tau") - columns(idle, "q" if task == "simulate" else "tau")
        ).max()
        > 0.01
    )


def test_a_wrench_on_a_free_body_is_newton_s_law():
    """A constant force in base axes at the mass centre, and a constant moment about a principal axis."""
    text = TOP.replace("[0.2, -0.1, 0.3]", "[0, 0, 0]").replace(", xy: 0.02, xz: -0.03, yz: 0.04", "")
    wrenches = [{"link": "body", "force": [3, 0, 6], "moment": [0, 0, 1.4], "axes": "base"}]
    result = run(denoc.loads(text), 2, wrenches=wrenches, solver={"rtol": 1e-10})
    t = result.t
    np.testing.assert_allclose(result.table["body.x"], 3 / 3 * t**2 / 2, atol=1e-8)
    np.testing.assert_allclose(result.table["body.z"], 6 / 3 * t**2 / 2, atol=1e-8)
    np.testing.assert_allclose(result.table["body.wz"], 1.4 / 0.7 * t, atol=1e-8)
    angle = 1.4 / 0.7 * t**2 / 2
    np.testing.assert_allclose(result.table["body.e3"], np.sin(angle / 2), atol=1e-8)


def test_link_and_base_axes_mean_what_they_say():
    """On a level arm turned by a quarter, the link's x is the base's y."""
    robot = denoc.loads(
        """
name: arm
convention: frames
gravity: [0, 0, 0]
links:
  - name: arm
    joint: {type: revolute, name: turn, initial: 90 deg}
    mass: 1
    com: [0.5, 0, 0]
    inertia: {xx: 0.01, yy: 0.1, zz: 0.1}
"""
    )
    still = {"task": "inverse", "step": 0.5}
    along = run(robot, 1, wrenches=[{"link": "arm", "force": [7, 0, 0], "at": [1, 0, 0]}], **still)
    across = run(robot, 1, wrenches=[{"link": "arm", "force": [7, 0, 0], "at": [1, 0, 0], "axes": "base"}], **still)
    assert abs(along.table["turn.tau"]).max() < 1e-12
    np.testing.assert_allclose(across.table["turn.tau"], 7, rtol=1e-12)  # r × f = (0, 1, 0) × (7, 0, 0) = −7 z


# ---- elastic joints and moving bases in inverse dynamics


def test_an_elastic_joint_swings_at_its_frequency():
    """A link on a spring behind a driven joint that stands still: √(k/J)/2π."""
    robot = denoc.loads(
        """
name: elastic
convention: frames
gravity: [0, 0, 0]
links:
  - name: motor
    joint: {type: revolute, name: motor}
    mass: 1
    com: [0, 0, 0]
    inertia: {xx: 0.1, yy: 0.1, zz: 0.1}
  - name: load
    joint: {type: revolute, name: shaft, spring: {stiffness: 40}}
    mass: 1
    com: [0, 0, 0]
    inertia: {xx: 0.1, yy: 0.1, zz: 0.4}
"""
    )
    result = run(robot, 2, task="inverse", initial={"shaft": 0.05}, solver={"rtol": 1e-10})
    np.testing.assert_allclose(result.table["shaft.q"], 0.05 * np.cos(10 * result.t), atol=1e-9)
    np.testing.assert_allclose(result.table["motor.tau"], -40 * result.table["shaft.q"], atol=1e-8)


def test_reactions_carry_the_weight():
    result = run("puma", 1, task="inverse", record={"reactions": True})  # at rest
    weight = 9.81 * denoc.load("puma").links[0].mass
    total = 9.81 * sum(link.mass for link in denoc.load("puma").links)
    np.testing.assert_allclose(result.table["joint1.reaction.fz"], total, rtol=1e-12)
    np.testing.assert_allclose(result.table["joint2.reaction.fz"], total - weight, rtol=1e-12)
    np.testing.assert_allclose(result.table["joint1.reaction.fx"], 0, atol=1e-12)
    np.testing.assert_allclose(result.table["joint2.tau"], -69.68577, rtol=1e-7)


@pytest.mark.parametrize("axes", ["link", "base"])
def test_columns_of_points_and_reactions_are_in_their_order(axes):
    """A body that is held: its place, the force against weight and wrench, and their moment about the joint."""
    gravity, com, tip = np.array([1.0, 2.0, -9.0]), np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.5, 0.6])
    robot = denoc.loads(f"""
name: held
convention: frames
gravity: {gravity.tolist()}
links:
  - name: body
    joint: {{type: revolute, name: hinge, xyz: [1, 2, 3]}}
    mass: 2
    com: {com.tolist()}
    inertia: {{xx: 1, yy: 1, zz: 1}}
    points: {{tip: {tip.tolist()}}}
""")
    force, moment = np.array([3.0, -4.0, 5.0]), np.array([0.6, 0.7, 0.8])
    found = run(
        robot,
        1.0,
        task="inverse",
        record={"reactions": True, "points": ["body.tip"]},
        wrenches=[
            {"link": "body", "force": force.tolist(), "moment": moment.tolist(), "at": tip.tolist(), "axes": axes}
        ],
    )
    for axis, place, f, n in zip(
        "xyz",
        np.array([1.0, 2.0, 3.0]) + tip,
        -2 * gravity - force,
        -np.cross(com, 2 * gravity) - np.cross(tip, force) - moment,
    ):
        assert found.table[f"body.tip.{axis}"] == pytest.approx(place, abs=1e-14)
        assert found.table[f"hinge.reaction.f{axis}"] == pytest.approx(f, abs=1e-12)
        assert found.table[f"hinge.reaction.n{axis}"] == pytest.approx(n, abs=1e-12)
