"""Dry friction and stops against what is known exactly: when things stick, break loose, turn round and hit."""

import math
from itertools import pairwise

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend

G = 9.81


def slider(*, mass=2.0, axis=(1, 0, 0), gravity=(0, 0, -G), **joint):
    """A block on a rail."""
    return denoc.loads(
        f"""
name: block
convention: frames
gravity: {list(gravity)}
links:
  - name: block
    joint: {{type: prismatic, name: x, axis: {list(axis)}, {", ".join(f"{k}: {v}" for k, v in joint.items())}}}
    mass: {mass}
    com: [0, 0, 0]
"""
    )


def simulated(robot, end, *, step=None, **scenario):
    result = denoc.run({"task": "simulate", "time": {"end": end, "step": step or end / 200}, **scenario}, robot)
    assert result.ended == "done", result.record["reason"]
    assert abs(result.audit["energy"]) < 1e-6
    return result


def q(result, t):
    """Of the row at t."""
    return result.table["x.q"][index(result, t)]


def index(result, t):
    found = int(np.argmin(abs(result.t - t)))
    assert result.t[found] == pytest.approx(t, abs=1e-12)
    return found


# ---- sticking


@pytest.mark.parametrize("slope", [0.1, 0.29])  # a slope of 0.3 rad would be too much
@pytest.mark.parametrize("upwards", [1, -1])
def test_a_block_sticks_below_break_away(slope, upwards):
    friction = 2 * G * math.sin(0.3)
    axis = (upwards * math.cos(slope), 0, upwards * math.sin(slope))
    result = simulated(slider(axis=axis, friction=f"{{coulomb: {friction}}}"), 5, initial={"x": 0.7})
    assert (result.table["x.q"] == 0.7).all()
    assert (result.table["x.qd"] == 0).all()
    assert (result.table["x.qdd"] == 0).all()
    assert result.record["events"] == []


@pytest.mark.parametrize("slope", [0.31, 0.8])
@pytest.mark.parametrize("upwards", [1, -1])
def test_a_block_slides_above_it(slope, upwards):
    friction = 2 * G * math.sin(0.3)
    axis = (upwards * math.cos(slope), 0, upwards * math.sin(slope))
    result = simulated(slider(axis=axis, friction=f"{{coulomb: {friction}}}"), 2)
    acceleration = -upwards * G * (math.sin(slope) - math.sin(0.3))
    np.testing.assert_allclose(result.table["x.q"], acceleration * result.t**2 / 2, rtol=1e-12, atol=1e-12)


def test_break_away_under_a_growing_force():
    """M x'' = A sin ωt − F from the instant at which A sin ωt is F."""
    m, F, A, f = 2.0, 3.0, 5.0, 0.25
    w = 2 * math.pi * f
    loose = math.asin(F / A) / w
    forces = {"x": {"law": "harmonic", "amplitude": A, "frequency": f}}
    result = simulated(slider(friction=f"{{coulomb: {F}}}"), 1.5, forces=forces, solver={"rtol": 1e-10})
    (event,) = result.record["events"]
    assert (event["joint"], event["event"], event["then"]) == ("x", "breaks loose", "moves up")
    assert event["t"] == pytest.approx(loose, abs=1e-9)
    t = np.maximum(result.t, loose)
    speed = A / (m * w) * (math.cos(w * loose) - np.cos(w * t)) - F / m * (t - loose)
    place = (
        A / (m * w) * (math.cos(w * loose) * (t - loose) - (np.sin(w * t) - math.sin(w * loose)) / w)
        - F / m * (t - loose) ** 2 / 2
    )
    np.testing.assert_allclose(result.table["x.qd"], speed, atol=1e-8)
    np.testing.assert_allclose(result.table["x.q"], place, atol=1e-8)
    assert (result.table["x.qd"][result.t < loose] == 0).all()


@pytest.mark.parametrize("angle, moves", [(0.99, False), (1.01, True), (-0.99, False), (-1.01, True)])
def test_a_pendulum_sticks_within_its_cone(angle, moves):
    """Hanging down at q = 0; friction holds it up to the angle at which gravity's moment is as large."""
    m, length = 1.5, 0.4
    limit = 0.7
    robot = denoc.loads(
        f"""
name: pendulum
convention: frames
links:
  - name: rod
    joint: {{type: revolute, name: x, axis: [0, 1, 0], friction: {{coulomb: {m * G * length * math.sin(limit)}}}}}
    mass: {m}
    com: [0, 0, {-length}]
    inertia: {{xx: 0.02, yy: 0.02, zz: 0.001}}
"""
    )
    result = simulated(robot, 1, initial={"x": limit * angle})
    moved = abs(result.table["x.q"][-1] - limit * angle)
    assert (moved > 1e-3) == moves
    if not moves:
        assert moved == 0


# ---- slipping


@pytest.mark.parametrize("speed", [1.7, -0.4])
@pytest.mark.parametrize("method", ["rk45", "rkck", "dop853", "radau", "bdf", "lsoda"])
def test_a_block_slides_to_rest(speed, method):
    """F = μ N takes the speed away in m v/F, over m v²/2F; then it sticks exactly."""
    m, F = 2.0, 0.3 * 2 * G
    result = simulated(
        slider(friction=f"{{coulomb: {F}}}"), 1, rates={"x": speed}, step=0.01, solver={"method": method, "rtol": 1e-9}
    )
    (event,) = result.record["events"]
    assert (event["event"], event["then"]) == ("stops slipping", "held")
    stop = m * abs(speed) / F
    assert event["t"] == pytest.approx(stop, abs=1e-9)
    distance = math.copysign(m * speed**2 / (2 * F), speed)
    after = result.t > stop
    np.testing.assert_allclose(result.table["x.q"][after], distance, atol=1e-9)
    assert np.ptp(result.table["x.q"][after]) == 0
    assert (result.table["x.qd"][after] == 0).all()
    before = ~after
    t = result.t[before]
    np.testing.assert_allclose(
        result.table["x.q"][before], speed * t - math.copysign(F / m, speed) * t**2 / 2, atol=1e-9
    )


def test_reversal_on_a_slope():
    """Pushed uphill it is braked by gravity and friction, turns, and friction then works the other way."""
    slope, mu, speed = 0.6, 0.2, 3.0
    m, F = 2.0, mu * 2 * G * math.cos(slope)
    up, down = G * math.sin(slope) + F / m, G * math.sin(slope) - F / m
    result = simulated(
        slider(axis=(math.cos(slope), 0, math.sin(slope)), friction=f"{{coulomb: {F}}}"), 1.5, rates={"x": speed}
    )
    (event,) = result.record["events"]
    top = speed / up
    assert (event["event"], event["then"]) == ("stops slipping", "moves down")
    assert event["t"] == pytest.approx(top, abs=1e-9)
    t = result.t
    place = np.where(t < top, speed * t - up * t**2 / 2, speed**2 / (2 * up) - down * (t - top) ** 2 / 2)
    np.testing.assert_allclose(result.table["x.q"], place, atol=1e-8)


def test_an_oscillator_with_dry_friction():
    """Every half-swing takes π √(m/k) and 2F/k of the amplitude; it stays where the spring is weaker than friction."""
    m, k, F, start = 2.0, 50.0, 4.0, 0.65
    robot = slider(spring=f"{{stiffness: {k}}}", friction=f"{{coulomb: {F}}}")
    half = math.pi * math.sqrt(m / k)
    turns = [start]
    while abs(turns[-1]) > F / k:
        turns.append(-math.copysign(abs(turns[-1]) - 2 * F / k, turns[-1]))
    result = simulated(robot, 5 * half, initial={"x": start}, solver={"rtol": 1e-10}, step=half)
    events = result.record["events"]
    assert [event["then"] for event in events] == ["moves up", "moves down", "moves up", "held"][-len(turns) + 1 :]
    np.testing.assert_allclose([event["t"] for event in events], half * np.arange(1, len(turns)), atol=1e-8)
    for n, place in enumerate(turns):
        assert q(result, n * half) == pytest.approx(place, abs=1e-8)
    assert result.table["x.qd"][-1] == 0
    heat = F * sum(abs(a - b) for a, b in pairwise(turns))
    lost = result.table["energy.total"][0] - result.table["energy.total"][-1]
    assert lost == pytest.approx(heat, rel=1e-8)


def test_viscous_friction_beside_dry_friction():
    """M v' = −F − c v: v = (v0 + F/c) exp(−c t/m) − F/c, at rest after (m/c) ln(1 + c v0/F)."""
    m, F, c, v0 = 2.0, 3.0, 1.5, 2.0
    result = simulated(slider(friction=f"{{coulomb: {F}, viscous: {c}}}"), 2, rates={"x": v0})
    stop = m / c * math.log(1 + c * v0 / F)
    assert result.record["events"][0]["t"] == pytest.approx(stop, abs=1e-8)
    t = np.minimum(result.t, stop)
    np.testing.assert_allclose(result.table["x.qd"], (v0 + F / c) * np.exp(-c * t / m) - F / c, atol=1e-8)


def test_the_smooth_law_converges_to_dry_friction():
    m, F, speed = 2.0, 6.0, 1.5
    robot = slider(friction=f"{{coulomb: {F}}}")
    exact = m * speed**2 / (2 * F)
    errors = []
    for rate in (1e-1, 1e-2, 1e-3):
        solver = {"friction": "smooth", "friction_rate": rate, "method": "radau", "rtol": 1e-8}
        result = denoc.run({"task": "simulate", "time": {"end": 1}, "rates": {"x": speed}, "solver": solver}, robot)
        assert result.record["events"] == []
        assert abs(result.audit["energy"]) < 1e-6
        errors.append(abs(result.table["x.q"][-1] - exact))
    assert errors[0] > 5 * errors[1] > 25 * errors[2]
    assert errors[2] < 2e-3


def test_a_driven_block_sticks_while_its_drive_is_weaker():
    """The force of the law is what is recorded, whether the block moves or not."""
    forces = {"x": {"law": "constant", "value": 2.5}}
    result = simulated(slider(friction="{coulomb: 3}"), 1, forces=forces)
    assert (result.table["x.q"] == 0).all()
    assert (result.table["x.tau"] == 2.5).all()


# ---- where a mode is just left, or just not


@pytest.mark.parametrize("excess", [0, 1e-13, 1e-11, 1e-9, 1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize("frequency", [0.25, 1.0])
@pytest.mark.sampled(2)
def test_a_force_that_just_about_reaches_break_away(excess, frequency):
    """However short the time above break-away: seen, and never taken for more than it is."""
    F, m, w = 3.0, 2.0, 2 * math.pi * frequency
    forces = {"x": {"law": "harmonic", "amplitude": F * (1 + excess), "frequency": frequency}}
    result = simulated(slider(friction=f"{{coulomb: {F}}}"), 4 / frequency, forces=forces)
    # loose for 2 √(2 excess)/w round each peak, and as long again until it sticks: it gets about F/m excess times t²
    reach = 10 * F / m * excess * (8 * excess + 1e-10) / w**2
    assert abs(result.table["x.q"]).max() <= max(reach, 1e-15)
    if excess >= 1e-9:
        assert [event["event"] for event in result.record["events"]] == ["breaks loose", "stops slipping"] * 8
        assert abs(result.table["x.q"]).max() > 0
        assert result.record["events"][0]["t"] == pytest.approx(math.asin(1 / (1 + excess)) / w, rel=1e-4)


def test_a_force_that_begins_at_break_away(tmp_path):
    """Sticking at the very bound, with the force growing: loose at once."""
    (tmp_path / "force.csv").write_text("t,f\n0,3\n1,5\n")
    (tmp_path / "push.yaml").write_text(
        "robot: block\ntask: simulate\ntime: {end: 1, step: 0.1}\nforces: {x: {law: table, file: force.csv, column: f}}\n"
    )
    result = denoc.run(tmp_path / "push.yaml", slider(friction="{coulomb: 3}"))
    np.testing.assert_allclose(result.table["x.q"], result.t**3 / 6, atol=1e-9)


SHAKEN = """
name: shaken
convention: frames
links:
  - name: table
    joint: {type: prismatic, name: table, axis: [1, 0, 0]}
    mass: 5
    com: [0, 0, 0]
  - name: block
    joint: {type: prismatic, name: x, axis: [1, 0, 0], friction: {coulomb: 3}}
    mass: 2
    com: [0, 0, 0]
"""


@pytest.mark.parametrize("acceleration, loose", [(1.4, False), (1.49, False), (1.51, True), (2.0, True)])
@pytest.mark.parametrize("frequency", [0.5, 4])
@pytest.mark.sampled(2)
def test_a_block_on_a_table_that_is_shaken(acceleration, loose, frequency):
    """Nothing in the state moves while the block sticks, and yet the run has to look often enough: F/m is 1.5 m/s²."""
    w = 2 * math.pi * frequency
    motion = {"table": {"law": "harmonic", "amplitude": acceleration / w**2, "frequency": frequency}}
    result = denoc.run({"task": "simulate", "time": {"end": 10, "step": 1}, "motion": motion}, denoc.loads(SHAKEN))
    assert result.ended == "done"
    assert bool(result.record["events"]) == loose
    swing = 7 * (acceleration / w) ** 2 / 2
    assert result.audit["energy"] < 1e-5 * swing
    if loose:
        assert len(result.record["events"]) >= 2 * 2 * 10 * frequency - 2
        assert result.record["events"][0]["t"] == pytest.approx(math.asin(1.5 / acceleration) / w, abs=1e-6)


@pytest.mark.parametrize("excess", [0, 1e-9, 1e-6, 1e-4, 1e-2, 0.1])
def test_just_about_lifted_off(excess):
    """A stop holds whatever is pushed into it: nothing falls through, however shortly it was lifted."""
    forces = {"x": {"law": "harmonic", "amplitude": 2 * G * (1 + excess), "frequency": 0.5}}
    result = simulated(falling(5), 8, forces=forces)
    assert result.table["x.q"].min() > -1e-11
    assert len(result.record["events"]) == (8 if excess else 0)


# ---- stops


def falling(height=0.5, **joint):
    return slider(axis=(0, 0, 1), limits=f"[0, {height}]", **joint)


def test_a_falling_joint_lands_on_its_stop():
    m, h = 2.0, 0.5
    result = simulated(falling(), 1, initial={"x": h}, step=0.01)
    (event,) = result.record["events"]
    assert (event["event"], event["then"]) == ("reaches its lower limit", "held")
    hit = math.sqrt(2 * h / G)
    assert event["t"] == pytest.approx(hit, abs=1e-9)
    after = result.t > hit
    assert (result.table["x.q"][after] == 0).all()
    assert (result.table["x.qd"][after] == 0).all()
    np.testing.assert_allclose(result.table["x.q"][~after], h - G * result.t[~after] ** 2 / 2, atol=1e-9)
    # the audit counts what the blow took: all of m g h
    assert result.table["energy.total"][0] - result.table["energy.total"][-1] == pytest.approx(m * G * h, rel=1e-9)
    assert abs(result.table["energy.residual"]).max() < 1e-8


def test_thrown_against_the_ceiling():
    """Stopped there at once, it falls from rest."""
    h, speed = 0.5, 4.0
    result = simulated(falling(h), 1, rates={"x": speed}, step=0.005)
    ceiling = (speed - math.sqrt(speed**2 - 2 * G * h)) / G
    floor = ceiling + math.sqrt(2 * h / G)
    first, second = result.record["events"]
    assert (first["event"], first["then"]) == ("reaches its upper limit", "free")
    assert (second["event"], second["then"]) == ("reaches its lower limit", "held")
    assert [first["t"], second["t"]] == pytest.approx([ceiling, floor], abs=1e-8)
    between = (result.t > ceiling) & (result.t < floor)
    np.testing.assert_allclose(result.table["x.q"][between], h - G * (result.t[between] - ceiling) ** 2 / 2, atol=1e-8)


def test_resting_on_a_stop_from_the_start():
    result = simulated(falling(), 1)
    assert (result.table["x.q"] == 0).all()
    assert result.record["events"] == []


def test_release_from_a_stop():
    """Lifted off when the force exceeds the weight, and not before."""
    m, A, f = 2.0, 30.0, 0.5
    w = 2 * math.pi * f
    lift = math.asin(m * G / A) / w
    forces = {"x": {"law": "harmonic", "amplitude": A, "frequency": f}}
    result = simulated(falling(5), 0.6, forces=forces, solver={"rtol": 1e-10}, step=0.01)
    (event,) = result.record["events"]
    assert (event["event"], event["then"]) == ("breaks loose", "free")
    assert event["t"] == pytest.approx(lift, abs=1e-9)
    t = np.maximum(result.t, lift)
    place = (
        A / (m * w) * (math.cos(w * lift) * (t - lift) - (np.sin(w * t) - math.sin(w * lift)) / w)
        - G * (t - lift) ** 2 / 2
    )
    np.testing.assert_allclose(result.table["x.q"], place, atol=1e-8)


def test_a_stop_with_friction():
    """At a stop friction has to be overcome beside the weight: lifted off at m g + F."""
    m, A, f, F = 2.0, 30.0, 0.5, 5.0
    forces = {"x": {"law": "harmonic", "amplitude": A, "frequency": f}}
    result = simulated(falling(5, friction=f"{{coulomb: {F}}}"), 0.6, forces=forces, step=0.01)
    (event,) = result.record["events"]
    assert (event["event"], event["then"]) == ("breaks loose", "moves up")
    assert event["t"] == pytest.approx(math.asin((m * G + F) / A) / (2 * math.pi * f), abs=1e-8)


def test_stops_can_be_ignored():
    result = simulated(falling(), 1, initial={"x": 0.5}, solver={"limits": "ignore"})
    assert result.table["x.q"][-1] == pytest.approx(0.5 - G / 2)
    assert "leaves its limits" in result.record["warnings"][0]


def test_a_start_outside_the_stops_is_refused():
    with pytest.raises(denoc.InputError, match="outside its limits"):
        denoc.run({"task": "simulate", "time": {"end": 1}, "initial": {"x": 0.6}}, falling())


ELBOW = """
name: elbow
convention: frames
links:
  - name: upper
    joint: {type: revolute, name: shoulder, axis: [0, 1, 0]}
    mass: 3
    com: [0, 0, -0.3]
    inertia: {xx: 0.05, yy: 0.05, zz: 0.002}
  - name: lower
    joint: {type: revolute, name: elbow, axis: [0, 1, 0], xyz: [0, 0, -0.6], limits: [-0.05, 2.5]}
    mass: 2
    com: [0, 0, -0.25]
    inertia: {xx: 0.03, yy: 0.03, zz: 0.001}
"""


def test_a_blow_inside_a_linkage():
    """An elbow that hits its stop: no impulse at the shoulder, so its momentum there goes on; the elbow's rate is lost."""
    robot = denoc.loads(ELBOW)
    start = {"initial": {"shoulder": 0.4, "elbow": 1.2}, "solver": {"rtol": 1e-11, "atol": 1e-13}}
    whole = simulated(robot, 1.0, **start)
    hit = whole.record["events"][0]
    assert hit["event"] == "reaches its lower limit"
    free = {**start, "solver": {**start["solver"], "limits": "ignore"}}
    before, after = simulated(robot, hit["t"], **free), simulated(robot, hit["t"] + 1e-7, **start)

    def last(result):
        table = result.table
        return [np.array([table[f"{joint}.{x}"][-1] for joint in ("shoulder", "elbow")]) for x in ("q", "qd")]

    (q0, v0), (q1, v1) = last(before), last(after)
    np.testing.assert_allclose(q1, q0, atol=1e-6)
    assert q0[1] == pytest.approx(-0.05, abs=1e-9)
    assert v0[1] < -1
    assert v1[1] == pytest.approx(0, abs=1e-5)
    I = denoc.inertia(robot, q0)
    assert (I @ v1)[0] == pytest.approx((I @ v0)[0], abs=1e-5)
    lost = (v0 @ I @ v0 - v1 @ I @ v1) / 2
    energy = after.table["energy.total"]
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=1e-4)
    assert whole.audit["energy"] < 1e-8


def test_dry_friction_is_too_weak_for_a_blow():
    """A shoulder that sticks is torn loose when the elbow hits its stop: friction makes no impulse."""
    friction = ELBOW.replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], friction: {coulomb: 25}}")
    robot = denoc.loads(friction)
    start = {
        "initial": {"shoulder": 0.0, "elbow": 1.2},
        "rates": {"elbow": -4},
        "solver": {"rtol": 1e-11, "atol": 1e-13},
    }
    whole = simulated(robot, 0.6, **start)
    hit = whole.record["events"][0]
    assert (hit["joint"], hit["event"]) == ("elbow", "reaches its lower limit")
    before, after = (simulated(robot, hit["t"] + dt, **start) for dt in (-1e-7, 1e-7))
    assert (before.table["shoulder.qd"] == 0).all()  # it stuck until then
    v0, v1 = (np.array([r.table[f"{j}.qd"][-1] for j in ("shoulder", "elbow")]) for r in (before, after))
    I = denoc.inertia(robot, [before.table[f"{j}.q"][-1] for j in ("shoulder", "elbow")])
    assert (I @ v1)[0] == pytest.approx((I @ v0)[0], abs=1e-4)
    assert v1[0] < -0.1


@pytest.mark.parametrize("limits, stays", [("[0, 2]", True), ("[-2, 0]", False)])
def test_a_blow_at_a_joint_while_another_lies_at_its_stop(limits, stays):
    """The elbow's blow turns the shoulder down: into a lower stop, which holds it, or off an upper one."""
    # friction keeps it at the stop until the blow
    robot = denoc.loads(
        ELBOW.replace("axis: [0, 1, 0]}", f"axis: [0, 1, 0], limits: {limits}, friction: {{coulomb: 500}}}}")
    )
    start = {"initial": {"elbow": 1.2}, "rates": {"elbow": -6}, "solver": {"rtol": 1e-10}}
    result = simulated(robot, 0.5, **start)
    hit = result.record["events"][0]
    assert (hit["joint"], hit["event"]) == ("elbow", "reaches its lower limit")
    soon = simulated(robot, hit["t"] + 1e-7, **start)
    assert (soon.table["shoulder.qd"][-1] == 0) == stays
    if not stays:
        assert soon.table["shoulder.qd"][-1] < -0.1


def test_two_joints_with_friction_stick_one_after_the_other():
    """The elbow with dry friction at both joints ends at rest, with exactly nothing moving, and the audit closes."""
    text = ELBOW.replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], friction: {coulomb: 2.5}}").replace(
        "limits: [-0.05, 2.5]", "friction: {coulomb: 1}"
    )
    result = simulated(denoc.loads(text), 6, initial={"shoulder": 1.0, "elbow": 1.2})
    assert result.table["shoulder.qd"][-1] == result.table["elbow.qd"][-1] == 0
    assert {event["joint"] for event in result.record["events"]} == {"shoulder", "elbow"}
    held = denoc.bias(denoc.loads(ELBOW), [result.table[f"{j}.q"][-1] for j in ("shoulder", "elbow")], [0, 0])
    assert abs(held[0]) < 2.5
    assert abs(held[1]) < 1


def test_no_joint_is_held_by_more_than_its_friction():
    """Planned forces overcome the friction of all joints in the same instant, but for rounding."""
    coulomb = (1.5, 2.0, 0.4)
    robot = denoc.load("planar3r")
    plan = {joint: {"law": "cycloid", "to": 0.5, "over": 0.2} for joint in robot.joints}
    rough = {f"robot.links.link{k}.joint.friction.coulomb": c for k, c in enumerate(coulomb, start=1)}
    scenario = {"task": "simulate", "time": {"end": 0.25, "step": 0.005}, "motion": plan}
    led = {**scenario, "forces": {"all": {"law": "feedforward"}}}
    (result,) = denoc.ensemble(led, [{**rough, "rates.joint1": 0.3}], robot)
    assert result.ended == "done"
    q, qd, qdd, tau = (
        np.column_stack([result.table[f"{joint}.{what}"] for joint in robot.joints])
        for what in ("q", "qd", "qdd", "tau")
    )
    friction = denoc.inverse(robot, q, qd, qdd) - tau
    assert (abs(friction) <= np.array(coulomb) * (1 + 1e-5)).all()
    slipping = abs(qd) > 1e-3
    assert friction[slipping] == pytest.approx((-np.sign(qd) * coulomb)[slipping], abs=1e-9)


# ---- forces that jump


TWO = """
name: two
convention: frames
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: prismatic, name: s, axis: [1, 0, 0]}, mass: 1, com: [0, 0, 0]}
  - {name: b, joint: {type: prismatic, name: r, axis: [1, 0, 0], friction: {coulomb: 3}}, mass: 1, com: [0, 0, 0]}
"""
STARTS_AND_BRAKES = {"law": "trapezoid", "to": 0.5, "delay": 0.1, "over": 0.8}


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("method", ["rk45", pytest.param("dop853", marks=pytest.mark.full), "radau"])
def test_a_block_on_a_cart_slips_while_the_cart_starts_and_brakes(method, backend):
    """The cart has 25/6 m/s² from 0.1 to 0.3 s, and the opposite from 0.7 to 0.9 s; friction gives the block 3."""
    with using_backend(backend):
        found = simulated(denoc.loads(TWO), 1, step=0.05, motion={"s": STARTS_AND_BRAKES}, solver={"method": method})
    left, slower = 3 - 25 / 6, (3 - 25 / 6) * 0.2  # its acceleration on the cart, and its speed in the end
    away, stopped = left * 0.2**2 / 2 - slower**2 / 6, 0.3 - slower / 3
    events = [(one["t"], one["joint"], one["event"], one["then"]) for one in found.record["events"]]
    assert [one[1:] for one in events] == [
        ("r", "breaks loose", "moves down"), ("r", "stops slipping", "held"),
        ("r", "breaks loose", "moves up"), ("r", "stops slipping", "held"),
    ]  # fmt: skip
    assert [one[0] for one in events] == pytest.approx([0.1, stopped, 0.7, stopped + 0.6], abs=1e-11)
    assert found.table["r.q"][index(found, 0.5)] == pytest.approx(away, abs=1e-11)
    assert found.table["r.q"][-1] == pytest.approx(0.0, abs=1e-11)
    assert found.audit["rejected"] == 0  # the steps on either side see nothing of a jump
    assert abs(found.audit["energy"]) < 1e-11


# ---- smooth friction beside stops


def test_smooth_friction_of_a_joint_with_stops_has_no_modes():
    """A spring's block turns back again and again, whether it has stops in its way or not."""
    block = {"friction": "{coulomb: 0.5}", "spring": "{stiffness: 200}", "actuated": "true"}
    how = {"rates": {"x": 1.0}, "solver": {"friction": "smooth", "friction_rate": 0.1}}
    free, limited = (simulated(slider(gravity=(0, 0, 0), **block, **more), 1, **how)
                     for more in ({}, {"limits": [-9, 9]}))  # fmt: skip
    assert (free.table["x.qd"] < -0.3).any()
    assert limited.record["events"] == []
    np.testing.assert_allclose(limited.table["x.q"], free.table["x.q"], atol=1e-12)
