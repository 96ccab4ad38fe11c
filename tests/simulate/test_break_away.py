"""Who breaks loose, or lifts off, beside joints that the loops lock, or that move fast, against integrals by hand."""

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend

LINK = (
    "  - {{name: {0}, parent: {1}, mass: {2}, com: [0, 0, 0], inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}, joint: {{name: {0},"
    " {3}}}}}\n"
)


def robot(links, more):
    """A robot of bodies whose mass centres lie in their joints."""
    start = "name: drawn\nconvention: frames\ngravity: [0, 0, -9.81]\nlinks:\n"
    return denoc.loads(start + "".join(LINK.format(*one) for one in links) + more)


@pytest.fixture(params=["plain", "compiled"])
def backend(request):
    with using_backend(request.param):
        yield


def locked(seed, least):
    """A joint that the loop locks has its lower limit here, at its place if that is 0; that of s is another one."""
    x, y, u, v, w, z = np.random.default_rng(seed).uniform(-0.5, 0.5, 6).round(2).tolist()
    links = [
        ("t", "base", 1, "type: prismatic, axis: [1, 0, 0]"),
        ("s", "t", 1, "type: revolute, actuated: true, limits: [0.5, 5]"),
        ("a", "s", 1, f"type: revolute, xyz: [{x}, {y}, 0], limits: [{least}, 1]"),
        ("b", "a", 1, f"type: prismatic, axis: [1, 0, 0], xyz: [{u}, {v}, 0]"),
    ]
    pin = f"first: {{at: [{x + u + w + 0.3:.2f}, {y + v + z:.2f}, 0]}}, second: {{at: [{w}, {z}, 0]}}"
    return robot(links, f"loops: [{{name: c, joint: revolute, between: [s, b], {pin}}}]\nassembly: {{b: 0.3}}\n")


@pytest.mark.usefixtures("backend")
@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(10))
def test_a_joint_that_loops_lock_at_its_limit_holds_no_other(seed):
    scenario = {
        "task": "simulate",
        "time": {"end": 0.5, "step": 0.1},
        "initial": {"s": 0.5, "a": 0, "b": 0.3},
        "forces": {"s": {"law": "expression", "force": "10*(t - 0.3)"}},
    }
    found, free = (denoc.run(scenario, locked(seed, least)) for least in (0.0, -0.5))
    np.testing.assert_array_equal(found.table["s.q"], free.table["s.q"])
    assert found.table["s.q"][-1] > 0.505
    assert found.record["events"][0]["t"] == pytest.approx(0.3, abs=1e-9)


def pair(mass=1, axis="1, 0, 0", friction=1.0):
    """Two joints that rub and are coupled, so that they share what holds them; one on its stop; and one that is free."""
    rough = f"type: prismatic, axis: [1, 0, 0], actuated: true, friction: {{coulomb: {friction}}}"
    links = [
        ("a", "base", mass, rough),
        ("b", "base", mass, rough),
        ("s", "base", 1, f"type: prismatic, axis: [{axis}], actuated: true, limits: [0, 5]"),
        ("f", "base", 1, "type: prismatic, axis: [1, 0, 0], actuated: true"),
    ]
    return robot(links, "couplings: [{joint: b, to: a, ratio: 2}]\n")


def forced(fast, **laws):
    forces = {name: {"law": "expression", "force": force} for name, force in laws.items()}
    forces["f"] = {"law": "constant", "value": fast}
    return {"task": "simulate", "time": {"end": 1, "step": 0.1}, "forces": forces}


FAST = [1.0, 1e2, 1e6, 1e8]


@pytest.mark.usefixtures("backend")
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("axis", "weight", "friction"), [("1, 0, 0", 0.0, 1.0), ("0, 0, 1", 9.81, 1.0), ("0, 0, 1", 9.81, 1e4)]
)
@pytest.mark.parametrize("fast", FAST)
def test_a_joint_lifts_off_its_stop_whatever_moves_beside_it(fast, axis, weight, friction):
    found = denoc.run(forced(fast, s=f"{weight} + 10*(t - 0.3)"), pair(axis=axis, friction=friction))
    assert found.table["s.q"][-1] == pytest.approx(10 * 0.7**3 / 6, abs=1e-9)
    (event,) = found.record["events"]
    assert (event["joint"], event["event"], event["then"]) == ("s", "breaks loose", "free")


@pytest.mark.usefixtures("backend")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("mass", [1, 1000])
@pytest.mark.parametrize("fast", FAST)
def test_joints_break_loose_together_whatever_moves_beside_them(fast, mass):
    """By virtual work of a force on one of them at 1 + 2·1 N, with the inertia of m + 4 m."""
    found = denoc.run(forced(fast, a="10*(t - 0.3)"), pair(mass))
    assert found.table["a.q"][-1] == pytest.approx(10 * 0.4**3 / 6 / (5 * mass), rel=1e-8)
    assert [(one["joint"], one["event"]) for one in found.record["events"]] == [(x, "breaks loose") for x in "ab"]


@pytest.mark.usefixtures("backend")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("power", [1, 2, 3, 6])
def test_forces_at_their_bounds_move_joints_as_soon_as_they_grow(power):
    found = denoc.run(forced(1e6, a=f"3 + t^{power}", s=f"t^{power}"), pair())
    expected = 1 / ((power + 1) * (power + 2))
    assert found.table["s.q"][-1] == pytest.approx(expected, abs=1e-9)
    assert found.table["a.q"][-1] == pytest.approx(expected / 5, abs=1e-9)


def test_runs_side_by_side_lift_off_whatever_moves_beside_them():
    variations = [{"robot.links.f.mass": x} for x in (1.0, 2.0, 3.0)]
    for one in denoc.ensemble(forced(1e6, s="10*(t - 0.3)"), variations, pair()):
        assert one.table["s.q"][-1] == pytest.approx(10 * 0.7**3 / 6, abs=1e-9)


@pytest.mark.usefixtures("backend")
def test_events_name_all_joints_whose_modes_they_change():
    """A joint reaches its stop, and friction in the one that it takes along ends; it is pushed off, and both move."""
    links = [
        ("a", "base", 1, "type: prismatic, axis: [1, 0, 0], actuated: true, limits: [0, 5]"),
        ("b", "base", 1, "type: prismatic, axis: [1, 0, 0], friction: {coulomb: 1}"),
    ]
    linked = robot(links, "couplings: [{joint: b, to: a, ratio: 2}]\n")
    law = {"a": {"law": "expression", "force": "12*cos(6*t)"}}
    found = denoc.run({"task": "simulate", "time": {"end": 1, "step": 0.1}, "forces": law}, linked)
    assert [(one["joint"], one["event"], one["then"]) for one in found.record["events"]] == [
        ("b", "stops slipping", "moves down"),
        ("a", "reaches its lower limit", "held"),
        ("b", "stops slipping", "held"),
        ("a", "breaks loose", "free"),
        ("b", "breaks loose", "moves up"),
    ]
    assert found.record["events"][-1]["t"] == pytest.approx((2 * np.pi - np.arccos(1 / 6)) / 6, abs=1e-9)
