"""Dry friction in mechanisms: what holds them, when they break loose, and the forces that go with it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, minimize

import denoc
import yamls
from coincident_stops import beside_stops
from denoc.machine.backend import using_backend
from denoc.scenario import prepare_scenario
from denoc.simulate.complementarity import balance_contacts
from denoc.simulate.contacts import Contacts
from denoc.simulate.equations import shared_friction
from denoc.simulate.feedforward import runner_with_feedforward
from denoc.simulate.modes import SingleInstant, settle_sticking_modes
from denoc.simulate.row_parts import shares_of_held_speeds
from denoc.simulate.sticking import states_brought_to_rest


def rough(name, **more):
    """A robot of the library with dry friction in joints, by the names of their links."""
    document = yamls.load(denoc.load(name).document.text)
    for link in document["links"]:
        if link["name"] in more:
            link["joint"]["friction"] = {"coulomb": more[link["name"]]}
    document |= {key: value for key, value in more.items() if key == "gravity"}
    return denoc.loads(yamls.dump(document))


def slopes(robot, q, of):
    """How all joints move with one, by differences of assembled positions."""
    k = robot.joints.index(of)
    places = []
    for step in (1e-6, -1e-6):
        moved = q.copy()
        moved[k] += step
        places.append(denoc.assemble(robot, moved))
    return (places[0] - places[1]) / 2e-6


ALL = {"crank": 3.0, "coupler": 2.0, "rocker": 1.0}


def test_a_mechanism_that_friction_holds_stays_where_it_is():
    found = denoc.run({"task": "simulate", "time": {"end": 0.5, "step": 0.05}}, rough("four-bar", crank=50.0))
    for name in ("A0", "A", "B0"):
        assert (found.table[f"{name}.q"] == found.table[f"{name}.q"][0]).all()
        assert not found.table[f"{name}.qd"].any()


@pytest.mark.parametrize("friction", [{"crank": 3.0}, {"rocker": 2.0}, ALL])
@pytest.mark.sampled(3)
def test_it_breaks_loose_where_virtual_work_says(friction):
    """A torque that grows on the crank moves it when it does more work than all joints can take."""
    robot = rough("four-bar", gravity=[0, 0, 0], **friction)
    slope = abs(slopes(robot, denoc.assemble(robot, robot.q0), "A0"))
    breakaway = sum(friction.get(link.name, 0.0) * x for link, x in zip(robot.links, slope))
    scenario = {
        "task": "simulate",
        "time": {"end": 0.5, "step": 0.05},
        "forces": {"A0": {"law": "harmonic", "amplitude": 100.0, "period": 2.0}},
    }
    found = denoc.run(scenario, robot)
    (first, *_) = found.record["events"]
    assert first["event"] == "breaks loose"
    assert 100.0 * np.sin(np.pi * first["t"]) == pytest.approx(breakaway, rel=1e-6)
    assert not found.table["A0.qd"][found.t < first["t"]].any()
    assert (found.table["A0.qd"][found.t > first["t"] + 0.05] > 0).all()
    assert found.audit["energy"] < 1e-6 * found.table["energy.total"].max()


def test_slipping_is_the_motion_of_the_reduced_equation():
    """One freedom: I(q) q̈ + h = −Σ F_k sign(q̇_k) ∂q_k/∂q, integrated by scipy until the rates change their signs."""
    robot = rough("four-bar", **dict.fromkeys(ALL, 0.3))
    plain = denoc.load("four-bar")
    end = 0.06
    scenario = {"task": "simulate", "time": {"end": end, "step": 0.01}, "rates": {"A0": 8.0}, "solver": {"rtol": 1e-10}}
    found = denoc.run(scenario, robot)
    rates = np.array([found.table[f"{name}.qd"] for name in plain.joints])
    assert (np.sign(rates) == np.sign(rates[:, :1])).all()
    direction = np.sign(rates[:, 0])

    def moving(t, y):
        q = denoc.assemble(plain, np.array([y[0], *y[2:]]))
        slope = slopes(plain, q, "A0")
        I, h = denoc.reduced(plain, q, slope * y[1])
        acceleration = (-h[0] - 0.3 * (direction @ slope)) / I[0, 0]
        return [y[1], acceleration, *(slope[1:] * y[1])]

    q0 = [found.table[f"{name}.q"][0] for name in plain.joints]
    theirs = solve_ivp(moving, (0.0, end), [q0[0], 8.0, *q0[1:]], rtol=1e-8, atol=1e-9)
    assert found.table["A0.q"][-1] == pytest.approx(theirs.y[0, -1], abs=1e-6)
    assert found.table["A0.qd"][-1] == pytest.approx(theirs.y[1, -1], abs=1e-5)
    assert found.audit["energy"] < 1e-7


def test_a_joint_that_turns_back_at_a_dead_centre_does_not_stick():
    """The rocker of a crank-rocker stands still for an instant, twice a turn; the crank goes on."""
    robot = rough("four-bar", gravity=[0, 0, 0], rocker=0.2)
    scenario = {"task": "simulate", "time": {"end": 1.0, "step": 0.01}, "rates": {"A0": 20.0}}
    found = denoc.run(scenario, robot)
    turns = (found.table["A0.q"][-1] - found.table["A0.q"][0]) / (2 * np.pi)
    events = [event for event in found.record["events"] if event["joint"] == "B0"]
    assert turns > 1.5
    assert {event["then"] for event in events} == {"moves up", "moves down"}
    assert abs(len(events) - 2 * turns) <= 2
    assert found.audit["energy"] < 1e-5


@pytest.mark.parametrize("friction", ["smooth", "stick-slip"])
def test_the_forces_of_the_cut_fit_the_motion(friction):
    """Moments of the rocker about its pivot: inertia, weight, the pin's force, and the friction that the motion had."""
    scenario = {
        "task": "simulate",
        "time": {"end": 0.5, "step": 0.05},
        "record": {"reactions": True},
        "solver": {"friction": friction, "rtol": 1e-10, **({"friction_rate": 1e-3} if friction == "smooth" else {})},
        "rates": {"A0": 3.0},
    }
    found = denoc.run(scenario, rough("four-bar", **dict.fromkeys(ALL, 0.3)))
    table = found.table
    q, qd, qdd = (table[f"B0.{x}"] for x in ("q", "qd", "qdd"))
    moving = abs(qd) > 0.1
    rubbing = 0.3 * (qd / np.sqrt(qd**2 + 1e-3**2) if friction == "smooth" else np.sign(qd))
    pin = 0.25 * (np.cos(q) * table["B.lambda.fy"] - np.sin(q) * table["B.lambda.fx"])
    left = 2.5 * 0.25**2 / 3 * qdd + 2.5 * 9.81 * 0.125 * np.cos(q) - pin + rubbing
    assert moving.sum() > 5
    assert abs(left[moving]).max() < 1e-7


def test_smooth_friction_reaches_prescribed_joints():
    """Near the turning points of a harmonic motion the torque changes as smoothly as the law does."""
    robot = denoc.loads(
        yamls.dump(
            {
                "name": "wheel",
                "convention": "frames",
                "gravity": [0, 0, 0],
                "links": [
                    {"name": "disk", "joint": {"type": "revolute", "name": "j", "friction": {"coulomb": 2.0}}, "mass": 1, "com": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2}},
                    {"name": "free", "joint": {"type": "revolute", "name": "k"}, "mass": 1, "com": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2}},
                ],
            }
        )
    )  # fmt: skip
    scenario = {
        "task": "simulate",
        "time": {"end": 1.0, "step": 0.01},
        "motion": {"j": {"law": "harmonic", "amplitude": 0.5, "frequency": 1.0}},
        "solver": {"friction": "smooth", "friction_rate": 1.0},
    }
    table = denoc.run(scenario, robot).table
    qd = table["j.qd"]
    expected = 0.2 * table["j.qdd"] + 0.2 * (table["j.qdd"] + table["k.qdd"]) + 2.0 * qd / np.sqrt(qd**2 + 1.0)
    np.testing.assert_allclose(table["j.tau"], expected, atol=1e-10)


# ---- who bears how much


def held(friction, name="five-bar"):
    """A linkage that friction holds against gravity: its run, coordinates, and what each joint bears or keeps."""
    robot = rough(name, **friction)
    plan = prepare_scenario({"task": "simulate", "time": {"end": 1e-3}}, robot)
    run = runner_with_feedforward(plan.system, plan.q0)
    y = settle_sticking_modes(run, 0.0, run.start(plan.q0, plan.qd0))
    now = run.evaluate(0.0, y)
    assert len(run.discrete.held) == robot.nv
    return robot, run, y, np.array(now.q), np.array([{**now.support, **run.discrete.kept}[k] for k in range(robot.nv)])


def load_on_actuated_joints(robot, q):
    """How all joints move with the actuated ones, and what these have to bear."""
    A = np.array([slopes(robot, q, name) for name in robot.joints if robot.joint(name).actuated])
    return A, denoc.reduced(robot, q, np.zeros(robot.nv))[1]


def largest_support(A, h, centre):
    """The largest support, but for those of a centre, as small as it can be: by a linear programme."""
    one, last = np.eye(A.shape[1]), np.ones((A.shape[1], 1))
    return linprog(
        [*[0] * A.shape[1], 1], np.block([[one, -last], [-one, -last]]), np.concatenate([centre, -centre]),
        np.c_[A, np.zeros(len(A))], h, bounds=[(None, None)] * (A.shape[1] + 1),
    ).x[-1]  # fmt: skip


def test_supports_are_the_least_sum_of_squares_relative_to_break_away():
    links = [link.name for link in denoc.load("five-bar").links if link.joint.type.nv]
    strength = np.array([90.0, 80.0, 70.0, 60.0])
    robot, run, _, q, supports = held(dict(zip(links, strength.tolist())))
    shares = shares_of_held_speeds(run.system, run.discrete, q, supports)
    A, h = load_on_actuated_joints(robot, q)
    np.testing.assert_allclose(A @ supports, h, rtol=0, atol=1e-6 * abs(h).max())  # it holds
    np.testing.assert_allclose(A @ shares, h, rtol=0, atol=1e-6 * abs(h).max())
    W = np.diag(strength**2)
    np.testing.assert_allclose(shares, W @ A.T @ np.linalg.solve(A @ W @ A.T, h), atol=1e-6 * abs(shares).max())


def test_within_the_limits_the_rest_bears_more():
    links = [link.name for link in denoc.load("five-bar").links if link.joint.type.nv]
    robot, run, _, q, supports = held(dict(zip(links, [90.0, 80.0, 70.0, 60.0])))
    A, h = load_on_actuated_joints(robot, q)
    free = shares_of_held_speeds(run.system, run.discrete, q, supports)
    limit = (largest_support(A, h, np.zeros(4)) + abs(free).max()) / 2
    discrete = replace(run.discrete, held=dict.fromkeys(range(4), (-limit, limit)))
    shares = shares_of_held_speeds(run.system, discrete, q, supports)
    best = minimize(
        lambda s: s @ s / limit**2,
        shares,
        bounds=[(-limit, limit)] * 4,
        constraints={"type": "eq", "fun": lambda s: A @ s - h},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(shares, best.x, atol=1e-4 * limit)
    assert abs(shares).max() <= limit * (1 + 1e-9)


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.4])
@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_all_supports_together_hold_as_much_as_they_can_and_no_more(name, shift):
    """With ranges c ± L: the smallest of the largest |s − c| that holds the mechanism, by a linear programme."""
    robot, run, y, q, supports = held({link.name: 90.0 for link in denoc.load(name).links}, name)
    A, h = load_on_actuated_joints(robot, q)
    centre = np.zeros(robot.nv)
    centre[0] = 2.0 * shift * abs(supports).max()
    limit, at = largest_support(A, h, centre), SingleInstant(run, 0.0)
    found = at.moved(y[None], Contacts.none(1, robot.nv, 0)).qdd, at.response(q[None], ()).P
    for share, holds in (1 + 1e-6, True), (1 - 1e-6, False):
        ranges = (centre - share * limit)[None], (centre + share * limit)[None]
        assert balance_contacts(found[1], found[0], *ranges).held.all() == holds


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 0.97, -0.6, 1.0])
def test_friction_along_one_freedom_is_shared_with_the_least_squares(share):
    """By a general method for s with x·s = load, |s| ≤ limits, and the least sum of squares relative to these."""
    random = np.random.default_rng(3)
    way, limits = random.normal(size=5), 10.0 ** random.uniform(-1, 1, size=5)
    load = share * abs(way) @ limits
    shares = shared_friction(load, [*zip(way.tolist(), limits.tolist())])
    assert way @ shares == pytest.approx(load, abs=1e-12)
    assert (abs(np.array(shares)) <= limits * (1 + 1e-12)).all()
    best = minimize(
        lambda s: (s / limits) @ (s / limits),
        limits * share * np.sign(way),
        jac=lambda s: 2 * s / limits**2,
        bounds=[(-x, x) for x in limits],
        constraints={"type": "eq", "fun": lambda s: way @ s - load, "jac": lambda s: way},
        method="SLSQP",
        options={"ftol": 1e-15},
    )
    np.testing.assert_allclose(shares, best.x, atol=1e-5 * limits.max())


def test_the_other_joints_come_to_rest_with_the_one_that_turns_round():
    """Those of a mechanism with one freedom have no speeds left but for rounding, since these close its loop."""
    robot = rough("four-bar", crank=0.3)
    plan = prepare_scenario({"task": "simulate", "time": {"end": 1}, "rates": {"A0": 1e-9}}, robot)
    run = runner_with_feedforward(plan.system, plan.q0)
    at, y, crank = SingleInstant(run, 0.0), run.start(plan.q0, plan.qd0)[None], robot.joints.index("A0")
    assert abs(at.motion(y)[1]).min() > 1e-10
    rested, dead = states_brought_to_rest(at, y, crank)
    assert not dead.any()
    assert abs(at.motion(rested)[1]).max() < 1e-22


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_what_a_commanded_joint_carries_along_rubs_and_knows_no_stops(backend):
    """A slider-crank under computed torque, which starts from rest, needs what inverse dynamics says."""
    document = yamls.load(denoc.load("slider-crank").document.text)
    document["links"][2]["joint"] |= {"friction": {"coulomb": 2.0}, "limits": [0.35, 0.9]}
    robot, motion = denoc.loads(yamls.dump(document)), {"crank": {"law": "cycloid", "to": "200 deg"}}
    how = {"time": {"end": 0.5, "step": 0.02}, "initial": {"crank": 1.0}, "motion": motion}
    with using_backend(backend):
        law = {"crank": {"law": "computed-torque", "kp": 100, "kd": 20}}
        found = denoc.run({"task": "simulate", **how, "forces": law, "solver": {"rtol": 1e-11}}, robot)
        wanted = denoc.run({"task": "inverse", **how}, robot)
    assert found.ended == "done"
    assert found.record["events"] == []
    turning = slice(1, -1)  # at rest, rounding says which way friction acts
    assert np.ptp(found.table["piston.q"]) > 0.1 > found.table["piston.q"].min() - 0.25
    np.testing.assert_allclose(found.table["crank.tau"][turning], wanted.table["crank.tau"][turning], atol=1e-6)


def test_of_what_a_commanded_joint_carries_along_only_the_rest_sticks():
    """A slider that is geared to a commanded one needs m a + F from it; a third one beside them rests on its friction."""
    link = {"parent": "base", "mass": 1, "com": [0, 0, 0]}
    slide = {"type": "prismatic", "axis": [1, 0, 0], "actuated": True}
    rough = {**slide, "friction": {"coulomb": 0.5}}
    links = [{**link, "name": x, "joint": {**(slide if x == "a" else rough), "name": x}} for x in "abc"]
    del links[1]["joint"]["actuated"]
    robot = {"name": "three", "convention": "frames", "gravity": [0, 0, 0], "links": links}
    robot["couplings"] = [{"joint": "b", "to": "a", "ratio": 1.0}]
    law = {"a": {"law": "computed-torque", "kp": 100, "kd": 20}, "c": {"law": "constant", "value": 0.4}}
    motion = {"a": {"law": "cycloid", "to": 0.15}}
    scenario = {"task": "simulate", "time": {"end": 0.3, "step": 0.05}, "motion": motion, "forces": law}
    three = denoc.loads(yamls.dump(robot))
    assert prepare_scenario(scenario, three).system.carried == (1,)
    found = denoc.run({**scenario, "solver": {"rtol": 1e-11}}, three)
    rate = 0.15 * 2 * np.pi / 0.3**2 * np.sin(2 * np.pi * found.t / 0.3)
    np.testing.assert_allclose(found.table["a.tau"][1:-1], 2 * rate[1:-1] + 0.5, atol=1e-6)
    assert (found.table["c.q"] == 0.0).all()
    assert found.record["events"] == []


def test_joints_that_share_a_freedom_are_let_go_together():
    """However little a force is beyond what friction in all three joints of a four-bar can bear."""
    robot = rough("four-bar", crank=0.3, coupler=0.3, rocker=0.3, gravity=[0, 0, 0])

    def let_go(force):
        law = {"A0": {"law": "constant", "value": force}}
        plan = prepare_scenario({"task": "simulate", "time": {"end": 1}, "forces": law}, robot)
        run = runner_with_feedforward(plan.system, plan.q0)
        settle_sticking_modes(run, 0.0, run.start(plan.q0, plan.qd0))
        return 3 - len(run.discrete.held)

    holds, moves = 0.5, 2.0
    for _ in range(60):  # down to the spacing of floating-point numbers
        middle = (holds + moves) / 2
        holds, moves = (middle, moves) if let_go(middle) == 0 else (holds, middle)
    assert {let_go(moves * (1 + x)) for x in np.geomspace(1e-14, 1e-6, 30)} == {3}


def on_a_lift(tilt):
    """A four-bar whose crank is carried by a lift along the axes of its joints, where its loop locks the lift."""
    document = yamls.load(denoc.load("four-bar").document.text)
    crank, coupler, rocker = document["links"]
    still = {"com": [0, 0, 0], "inertia": {"xx": 0, "yy": 0, "zz": 0}}
    up = {"name": "Z", "type": "prismatic", "rpy": tilt, "axis": [0, 0, 1], "friction": {"coulomb": 5.0}}
    lift = {"name": "lift", "joint": up, "mass": 0.5, **still}
    stand = {"name": "stand", "parent": "base", "joint": {"type": "fixed", "rpy": tilt}, "mass": 0, **still}
    crank["parent"], rocker["parent"] = "lift", "stand"
    coupler["joint"]["friction"] = {"coulomb": 0.1}
    document |= {"links": [lift, crank, coupler, stand, rocker], "gravity": [0.3, -9.81, 0.4]}
    return denoc.loads(yamls.dump(document))


def test_a_joint_that_loops_lock_is_held_whatever_way_rounding_moves_it():
    """So that its friction bears nothing, and the cut all the weight of what is on the lift, along its axis."""
    for tilt in np.random.default_rng(1).uniform(-1.0, 1.0, (8, 3)).tolist():
        robot = on_a_lift(tilt)
        found = denoc.run({"task": "simulate", "time": {"end": 0.02, "step": 0.01}}, robot)
        axis = denoc.frames(robot, robot.q0)["lift"][:3, 2]
        force = np.array([found.table[f"B.lambda.f{x}"] for x in "xyz"]).T
        np.testing.assert_allclose(force @ axis, 4.5 * axis @ robot.gravity, atol=1e-9)


def test_joints_whose_stops_are_reached_at_once_share_what_holds_them():
    """One is near enough to touch its stop, and the other, whose range is smaller, isn't until the first is placed."""
    robot = beside_stops(2e-11)
    plan = prepare_scenario({"task": "simulate", "time": {"end": 1}}, robot)
    run = runner_with_feedforward(plan.system, plan.q0)
    y = settle_sticking_modes(run, 0.0, run.start(plan.q0, plan.qd0))
    assert sum(bool(np.isinf(bounds).any()) for bounds in run.discrete.held.values()) == 2
    placed = np.array(run.complete(0.0, y)[0])
    np.testing.assert_allclose(placed, denoc.assemble(robot, beside_stops(0.0).q0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_feedforward_of_a_mechanism_knows_the_friction_of_passive_joints(backend):
    """So that a plan under it is what inverse dynamics says, and what comes out is the plan."""
    robot = rough("four-bar", crank=0.3, coupler=0.3, rocker=0.3)
    how = {"time": {"end": 0.5, "step": 0.05}, "motion": {"A0": {"law": "cycloid", "to": 2.0}}}
    with using_backend(backend):
        led = denoc.run({"task": "simulate", **how, "forces": {"A0": {"law": "feedforward"}}}, robot)
        wanted = denoc.run({"task": "inverse", **how}, robot)
    np.testing.assert_allclose(led.table["A0.tau"][1:-1], wanted.table["A0.tau"][1:-1], atol=1e-9)
    np.testing.assert_allclose(led.table["A0.q"], wanted.table["A0.q"], atol=1e-6)
