"""Runs with modes and laws of time go side by side, through the same events as each of them by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import denoc
import yamls
from coincident_stops import beside_stops
from denoc.machine.backend import native, using_backend
from denoc.study.run_blocks import blocks_of_variations
from denoc.text import yaml_text
from random_contacts import drawn, with_contacts
from side_by_side import compared, happenings


def scenario(**more):
    return {"robot": "planar3r", "task": "simulate", "time": {"end": 0.3, "step": 0.025}, **more}


def rough(**more):
    return {f"robot.links.link{k}.joint.friction.coulomb": c for k, c in ((1, 1.5), (2, 2.0), (3, 0.4))} | more


def rates(count, **more):
    rng = np.random.default_rng(1)
    return [
        {"rates.joint1": x, "rates.joint3": 3 * y, "robot.links.link2.mass": 0.5 + abs(x), **more}
        for x, y in rng.normal(size=(count, 2)).tolist()
    ]


TO = {"law": "cycloid", "to": 0.5, "over": 0.2}
STOPS = {"robot.links.link2.joint.limits": [-0.1, 0.1], "robot.links.link3.joint.limits": [-0.1, 0.1]}
PULL = {"joint2": {"law": "harmonic", "amplitude": 6, "frequency": 4}}
CASES = {
    "friction": (scenario(), rough(), {"stops slipping"}),
    "friction by dop853": (
        scenario(time={"end": 0.3, "step": 0.3}, solver={"method": "dop853"}),
        rough(),
        {"stops slipping"},
    ),
    "friction and stops by rk4, whose steps end on the rows": (
        scenario(solver={"method": "rk4", "step": 0.01}),
        rough(**STOPS, **{"rates.joint2": 4.0}),
        {"stops slipping", "reaches its upper limit"},
    ),
    "joints that stick at first": (
        scenario(forces={"joint1": {"law": "harmonic", "amplitude": 20, "frequency": 3}}),
        rough(**{"robot.links.link3.joint.friction.coulomb": 1.0, "rates.joint1": 0, "rates.joint3": 0}),
        {"breaks loose"},
    ),
    "friction and stops": (
        scenario(),
        rough(**STOPS, **{"rates.joint2": 4.0}),
        {"stops slipping", "reaches its upper limit"},
    ),
    "a force of time": (scenario(forces=PULL), {}, set()),
    "a limited force": (
        scenario(forces=PULL),
        rough(**{"robot.links.link2.joint.effort": {"limits": [-4.0, 5.0]}}),
        {"reaches its effort limit", "leaves its effort limit"},
    ),
    "a motion, and pd along one": (
        scenario(motion={"joint2": TO, "joint3": TO}, forces={"joint3": {"law": "pd", "kp": 90, "kd": 5}}),
        {"robot.links.link1.joint.friction.coulomb": 1.5, "rates.joint3": 0.0},
        {"stops slipping"},
    ),
}


KNOCKED = {
    "name": "two",
    "convention": "frames",
    "gravity": [0, 0, 0],
    "links": [
        {
            "name": name,
            "joint": {"type": "prismatic", "name": joint, "axis": [1, 0, 0], **more},
            "mass": 1,
            "com": [0, 0, 0],
        }
        for name, joint, more in (("a", "s", {}), ("b", "r", {"friction": {"coulomb": 3}}))
    ],
}


def test_what_holds_a_joint_is_asked_behind_a_kink_of_a_law(left):
    """A cart starts and brakes at once; a block on it slips both times, if its friction is less than 25/6 N."""
    brakes = {"law": "trapezoid", "to": 0.5, "delay": 0.1, "over": 0.8}
    robot = denoc.loads(yamls.dump(KNOCKED))
    each = [{"robot.links.b.joint.friction.coulomb": x} for x in (2.0, 3.0, 4.0, 4.5)]
    together, alone = compared(
        left, {"task": "simulate", "time": {"end": 1.2, "step": 0.05}, "motion": {"s": brakes}}, each, robot
    )
    assert not alone
    for run, friction in zip(together, (2.0, 3.0, 4.0, 4.5)):
        lost = max(25 / 6 - friction, 0.0)
        away = -lost * 0.02 - (lost * 0.2) ** 2 / 2 / friction
        assert run.table["r.q"][12] == pytest.approx(away, abs=1e-10)
        assert len(run.record["events"]) == (4 if lost else 0)


def test_a_blow_at_the_start_is_no_part_of_the_balance_of_runs_side_by_side(left):
    robot = denoc.loads(yamls.dump(KNOCKED))
    each = [{"robot.links.b.joint.limits": [-1.0, 0.0], "rates.r": x} for x in (1.0, 3.0)]
    start = {"task": "simulate", "time": {"end": 0.1}, "rates": {"s": 1.0}}
    together, alone = compared(left, start, each, robot)
    assert not alone
    for run in together:
        assert (run.table["r.qd"] == 0.0).all()
        assert run.audit["energy"] < 1e-12


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", CASES)
def test_modes_and_laws_go_side_by_side(left, what):
    base, more, expected = CASES[what]
    together, alone = compared(left, base, [{**one, **more} for one in rates(6)])
    assert not alone
    assert expected <= {event for result in together for _, event, _ in happenings(result)}
    assert len({result.table["joint1.q"][-1] for result in together}) == 6


def test_joints_come_to_stops_side_by_side(left):
    together, alone = compared(left, scenario(), [{**one, **STOPS} for one in rates(6)])
    assert not alone
    reached = {event for result in together for _, event, _ in happenings(result)}
    assert {"reaches its lower limit", "reaches its upper limit"} <= reached


def test_fixed_steps_in_lanes_are_kutta_s(left):
    """A pendulum by his formulas, with a step that is cut short before every row."""
    rod = {"joint": {"type": "revolute", "name": "x", "axis": [0, 1, 0]}, "mass": 1.0, "com": [0.5, 0, 0]}
    robot = {"name": "rod", "convention": "frames", "gravity": [0, 0, -9.81], "links": [{"name": "rod", **rod}]}
    swing = {"task": "simulate", "time": {"end": 0.5, "step": 0.05}, "solver": {"method": "rk4", "step": 0.02}}
    speeds = [0.5, 1.5, 3.0]
    with using_backend("compiled"):
        found = denoc.ensemble(swing, [{"rates.x": speed} for speed in speeds], denoc.loads(yamls.dump(robot)))
    assert not left[0]
    for one, speed in zip(found, speeds):
        y = np.array([0.0, speed])
        for row in range(11):
            assert [one.table["x.q"][row], one.table["x.qd"][row]] == pytest.approx(y.tolist(), rel=1e-12, abs=1e-14)
            for h in (0.02, 0.02, 0.01):
                k1 = falling(y)
                k2 = falling(y + h / 2 * k1)
                k3 = falling(y + h / 2 * k2)
                y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + falling(y + h * k3))


def falling(y):
    """A point mass at 0.5 m, whose joint turns about y, downwards from x."""
    return np.array([y[1], 9.81 / 0.5 * np.cos(y[0])])


LED = scenario(motion=dict.fromkeys(("joint1", "joint2", "joint3"), TO), forces={"all": {"law": "feedforward"}})
SWING = {"law": "harmonic", "amplitude": 0.4, "frequency": 1}  # which moves from the beginning on
SWUNG = {**LED, "motion": dict.fromkeys(("joint1", "joint2", "joint3"), SWING), "time": {"end": 0.24, "step": 0.02}}
OFF = {"rates.joint1": 0.3}  # the plan: steps along it are as long as rounding errors allow
PUSH = {"link": "link3", "force": [{"law": "harmonic", "amplitude": 3, "frequency": 2}, 1, 0], "at": [0.1, 0, 0]}
PLANNED = {
    "starts": (LED, lambda x: {"rates.joint1": 0.1 + x}),
    "masses": (LED, lambda x: {"robot.links.link2.mass": 1.0 + x}),
    "lengths": (LED, lambda x: {"robot.links.link2.joint.a": 0.3 + x / 9}),
    "dry friction": (
        SWUNG,
        lambda x: rough(
            **{"rates.joint2": 2.4, "rates.joint3": 2.6, "robot.links.link2.joint.friction.coulomb": 1 + x}
        ),
    ),
    "effort limits": (LED, lambda x: {"robot.links.link2.joint.effort.limits": [-3 - x, 2 + x]}),
    "beside a prescribed motion": (
        {**LED, "forces": {name: {"law": "feedforward"} for name in ("joint1", "joint3")}},
        lambda x: {"robot.links.link2.mass": 1.0 + x},
    ),
    "a wrench": ({**LED, "wrenches": [PUSH]}, lambda x: {"robot.links.link2.mass": 1.0 + x}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", PLANNED)
def test_planned_forces_are_those_of_each_run(left, what):
    base, own = PLANNED[what]
    variations = [{**OFF, **own(x)} for x in (0.0, 0.4, 1.1)]
    together, alone = compared(left, base, variations)
    assert not alone
    differ = len({result.table["joint2.tau"][1] for result in together})
    assert differ == (1 if what == "starts" else 3)


def test_planned_forces_in_blocks_are_the_same_to_the_last_bit():
    variations = [{**OFF, "robot.links.link2.mass": 1.0 + k} for k in range(4)]
    whole = gathered(LED, variations, 4)
    assert gathered(LED, variations, 1) == whole


TENDON = """
name: tendon
convention: frames
gravity: [0, 0, -9.81]
links:
- name: a
  joint: {type: revolute, name: x, axis: [0, 1, 0], friction: {coulomb: 0.5}}
  mass: 1.0
  com: [0.3, 0, 0]
- name: b
  joint: {type: revolute, name: y, axis: [0, 1, 0], xyz: [0.6, 0, 0], friction: {coulomb: 0.3}}
  mass: 1.0
  com: [0.3, 0, 0]
actuators:
- {name: pull, joints: {x: 0.1, y: 0.2}}
"""


def test_rows_of_actuators_that_are_no_joints_have_their_modes_and_events(left):
    pulled = {
        "task": "simulate",
        "time": {"end": 1.0, "step": 0.1},
        "forces": {"pull": {"law": "constant", "value": 3}},
    }
    together, alone = compared(left, pulled, [{"robot.links.a.mass": 1.0 + k} for k in range(3)], denoc.loads(TENDON))
    assert not alone
    assert all(happenings(result) for result in together)


def test_what_is_at_its_bound_is_decided_side_by_side_as_alone(left):
    """A joint at rest whose support is its friction's limit, but for rounding: it sticks in both."""
    robot = denoc.load("planar3r")
    support = abs(denoc.inverse(robot, [0.0] * 3, [0.0] * 3, [0.0] * 3)[2])
    limit = {"robot.links.link3.joint.friction.coulomb": float(support)}
    more = {"robot.links.link1.joint.friction.coulomb": 99.0, "robot.links.link2.joint.friction.coulomb": 99.0}
    _, alone = compared(left, scenario(), [{**limit, **more, "initial.joint1": x} for x in (0.0, 0.3)])
    assert alone == 0


def test_mechanisms_that_rest_beside_their_stops_are_left_alone(left):
    """Which of their joints touch is known only where one of them has been placed at its stop."""
    run = {"task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    each = [{"robot.links.coupler.mass": x} for x in (2.0, 3.0, 4.0)]
    together, alone = compared(left, run, each, beside_stops(2e-11))
    assert alone == len(each)
    for found in together:
        assert not found.table["A0.qd"].any()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(24))
def test_contacts_of_random_robots(left, seed):
    robot = with_contacts(drawn("tree", seed), seed)
    speeds = [joint for joint in robot.moving if joint.type.nv == 1]
    rng = np.random.default_rng(seed)
    variations = [{f"rates.{joint.name}": float(rng.normal()) for joint in speeds} for _ in range(4)]
    short = {"task": "simulate", "time": {"end": 0.5, "step": 0.1}, "solver": {"energy": "accept"}}
    compared(left, short, variations, robot)


def test_events_change_no_bit_with_the_number_of_threads(monkeypatch):
    variations = [{**one, **rough(**STOPS)} for one in rates(40)]
    tables = []
    for count in ("1", "3"):
        monkeypatch.setenv("DENOC_CORES", count)
        with using_backend("compiled", lanes=2):
            tables.append([result.table for result in denoc.ensemble(scenario(), variations)])
    assert all((one[name] == other[name]).all() for one, other in zip(*tables) for name in one)


def gathered(base, variations, most):
    """All columns and energies of runs in blocks, by the places of their variations."""
    found = {}
    for block in blocks_of_variations(base, variations, most=most):
        for k, place in enumerate(block.places):
            found[place] = {name: values[k].tobytes() for name, values in block.columns.items()}
            found[place]["energy"] = block.energy[k].tobytes()
            assert block.ended[k] == "done"
    return found


def test_runs_in_blocks_are_the_same_to_the_last_bit(monkeypatch):
    """Whatever the block, the lane and the thread, and whichever runs are beside a run."""
    variations = [{**one, **rough(**STOPS)} for one in rates(40)]
    whole = gathered(scenario(), variations, 40)
    assert sorted(whole) == list(range(40))
    monkeypatch.setenv("DENOC_CORES", "3")
    assert gathered(scenario(), variations, 7) == whole
    assert gathered(scenario(), variations[13:14], 1)[0] == whole[13]
    (expected,) = denoc.ensemble(scenario(), variations[13:14])
    assert np.frombuffer(whole[13]["joint3.q"]) == pytest.approx(expected.table["joint3.q"], rel=1e-7)
    assert np.frombuffer(whole[13]["energy"])[1] == pytest.approx(expected.audit["exchanged"], rel=1e-7)


def test_runs_with_other_lengths_in_blocks_are_the_same_to_the_last_bit():
    """Numbers that no program takes as inputs differ between some of the runs, others between all of them."""
    fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    variations = [
        {
            "solver.rtol": 1e-8 / 10 ** (k // 2),
            "robot.links.link2.joint.a": 0.3 + 0.1 * k,
            "robot.links.link3.mass": 0.5 + k,
        }
        for k in range(4)
    ]
    whole = gathered(fall, variations, 4)
    assert sorted(whole) == list(range(4))
    assert gathered(fall, variations, 1) == whole
    assert gathered(fall, variations[2:3], 1)[0] == whole[2]


def test_runs_of_a_mechanism_in_blocks_are_the_same_to_the_last_bit_and_share_their_code(monkeypatch):
    """Each goes by itself, with the numbers that vary as inputs of the same programs."""
    fall = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    variations = [{"robot.links.coupler.mass": 2.5 + k / 7, "robot.links.rocker.mass": 2.0} for k in range(4)]
    whole = gathered(fall, variations, 4)
    compiled, compile_ir = [], native.compile_ir
    monkeypatch.setattr(native, "compile_ir", lambda *given: compiled.append(given) or compile_ir(*given))
    assert gathered(fall, variations, 1) == whole
    assert gathered(fall, variations[2:3], 1)[0] == whole[2]
    assert not compiled
    (expected,) = denoc.ensemble(fall, variations[2:3])
    for name in ("A0.q", "A0.qd", "energy.total"):
        assert np.frombuffer(whole[2][name]) == pytest.approx(expected.table[name], rel=1e-7, abs=1e-9)


OWN = {
    "dry friction": (
        scenario(forces={"joint1": {"law": "harmonic", "amplitude": 20, "frequency": 3}}),
        lambda x: rough(**{"robot.links.link1.joint.friction.coulomb": 1.5 + x, "rates.joint1": 0, "rates.joint3": 0}),
    ),
    "stops": (scenario(), lambda x: {**STOPS, "robot.links.link2.joint.limits": [-0.1 - x / 50, 0.1 + x / 40]}),
    "effort limits": (
        scenario(forces=PULL),
        lambda x: rough(**{"robot.links.link2.joint.effort.limits": [-4.0 - x / 9, 5.0 + x / 7]}),
    ),
}


@pytest.mark.parametrize("what", OWN)
def test_limits_of_modes_are_those_of_each_run(left, what):
    base, own = OWN[what]
    variations = [{**one, **own(x)} for one, x in zip(rates(5), (0.0, 0.3, 0.7, 1.2, 2.0))]
    together, alone = compared(left, base, variations)
    assert not alone
    assert all(happenings(result) for result in together)
    whole = gathered(base, variations, len(variations))
    assert gathered(base, variations, 1) == whole


@pytest.mark.parametrize("task", ["simulate", "inverse"])
def test_each_run_has_its_own_gravity(left, task, tmp_path, monkeypatch):
    """One falls freely, one is held along a motion; distances, forces and energies are those of one mass."""
    joint = {"name": "slide", "type": "prismatic", "axis": [0, 0, 1], "actuated": True}
    robot = {"name": "box", "convention": "frames", "gravity": [0, 0, -9.81]}
    link = {"name": "box", "joint": joint, "mass": 2, "com": [0, 0, 0]}
    monkeypatch.chdir(tmp_path)
    Path("box.yaml").write_text(yaml_text({**robot, "links": [link]}))
    base = {"robot": "box.yaml", "task": task, "time": {"end": 0.5, "step": 0.125}}
    held = {"motion": {"slide": {"law": "polynomial", "to": 0.3}}} if task != "simulate" else {}
    sizes = (9.81, 1.62, 0.0, 24.8, 3.7)
    runs, alone = compared(left, {**base, **held}, [{"robot.gravity": [0.0, 0.5, -g]} for g in sizes])
    assert not alone
    for g, run in zip(sizes, runs):
        q, t = run.table["slide.q"], run.t
        if held:
            assert run.table["slide.tau"] == pytest.approx(2 * (run.table["slide.qdd"] + g))
        else:
            assert q == pytest.approx(-g * t**2 / 2, abs=1e-12)
            assert abs(run.table["energy.residual"]).max() < 1e-10
        assert run.table["energy.potential"] == pytest.approx(2 * g * q)
