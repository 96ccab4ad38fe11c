"""Actuators that are no joint's follow laws of time in simulations, within their limits."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend

BLOCK = """
name: block
convention: frames
links:
  - {name: block, joint: {type: prismatic, name: slide, axis: [1, 0, 0]}, mass: 2, com: [0, 0, 0]}
actuators:
  - {name: pull, link: block, direction: [1, 0, 0], axes: base, effort: {limits: [-3, 3]}}
"""
BARS = """
name: bars
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: crank, joint: {name: A0, type: revolute}, mass: 1, com: [0.05, 0, 0], inertia: {xx: 0, yy: 0.001, zz: 0.001}}
  - name: coupler
    parent: crank
    joint: {name: A, type: revolute, xyz: [0.1, 0, 0]}
    mass: 1
    com: [0.15, 0, 0]
    inertia: {xx: 0, yy: 0.01, zz: 0.01}
  - name: rocker
    parent: base
    joint: {name: B0, type: revolute, xyz: [0.25, 0, 0]}
    mass: 1
    com: [0.1, 0, 0]
    inertia: {xx: 0, yy: 0.01, zz: 0.01}
loops:
  - {name: B, joint: revolute, between: [coupler, rocker], first: {at: [0.3, 0, 0]}, second: {at: [0.2, 0, 0]}}
actuators:
  - {name: push, link: coupler, at: [0.2, 0.05, 0], direction: [0.6, 0.8, 0], axes: AXES, kind: KIND}
"""


def block(**law):
    scenario = {"task": "simulate", "time": {"end": 2, "step": 0.05}, "forces": {"pull": law}}
    return denoc.run(scenario, denoc.loads(BLOCK))


def test_a_constant_force_accelerates_evenly():
    run = block(law="constant", value=1.5)
    np.testing.assert_allclose(run.table["slide.q"], 1.5 / 2 * run.t**2 / 2, atol=1e-9)
    np.testing.assert_array_equal(run.table["pull.force"], 1.5)
    assert run.record["events"] == []
    assert run.audit["energy_share"] < 1e-7


def test_a_force_ends_at_its_limits_with_events():
    """A sine of 6 N is cut off at 3 N from a twelfth of its period on, for a third of it."""
    run = block(law="harmonic", amplitude=6, frequency=0.5)
    events = [(event["t"], event["actuator"], event["event"], event["then"]) for event in run.record["events"]]
    times, words = zip(*((t, (name, what, then)) for t, name, what, then in events))
    np.testing.assert_allclose(times, [1 / 6, 5 / 6, 7 / 6, 11 / 6], atol=1e-12)
    up, down = ("pull", "reaches its effort limit", "gives 3"), ("pull", "reaches its effort limit", "gives -3")
    free = "pull", "leaves its effort limit", "follows its law"
    assert list(words) == [up, free, down, free]
    np.testing.assert_allclose(run.table["pull.force"], np.clip(6 * np.sin(np.pi * run.t), -3, 3), atol=1e-12)
    # the momentum of one half: two flanks of 6/π (1 − cos π/6) and the roof of 3 · 2/3
    speed = (2 * 6 / np.pi * (1 - np.cos(np.pi / 6)) + 3 * 2 / 3) / 2
    assert run.table["slide.qd"][20] == pytest.approx(speed, abs=1e-9)
    assert run.table["slide.qd"][40] == pytest.approx(0.0, abs=1e-9)
    assert run.audit["energy_share"] < 1e-7


@pytest.mark.parametrize("axes", ["link", "base"])
@pytest.mark.parametrize("kind", ["force", "moment"])
def test_inverse_dynamics_finds_the_force_of_the_law(axes, kind):
    """The motion that the actuator makes needs that actuator's force, by inverse dynamics of the mechanism."""
    text = BARS.replace("AXES", axes).replace("KIND", kind)
    if kind == "moment":
        text = text.replace("[0.6, 0.8, 0]", "[0, 0, 1]")
    robot = denoc.loads(text)
    law = {"law": "harmonic", "amplitude": 4, "frequency": 1.5, "offset": 2}
    scenario = {"task": "simulate", "time": {"end": 0.3, "step": 0.05}, "forces": {"push": law}}
    run = denoc.run({**scenario, "record": {"reactions": True}}, robot)
    motion = [np.stack([run.table[f"{name}.{x}"] for name in robot.joints], axis=1) for x in ("q", "qd", "qdd")]
    wanted = 2 + 4 * np.sin(3 * np.pi * run.t)
    np.testing.assert_allclose(run.table["push.force"], wanted, atol=1e-12)
    np.testing.assert_allclose(denoc.inverse(robot, *motion)[:, 0], wanted, atol=1e-6)
    assert run.audit["energy_share"] < 1e-6
    reaction = denoc.reactions(robot, *motion)["B0"]
    for k, component in enumerate(("nx", "ny", "nz", "fx", "fy", "fz")):
        np.testing.assert_allclose(run.table[f"B0.reaction.{component}"], reaction[:, k], atol=1e-6)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("axes", ["link", "base"])
@pytest.mark.sampled(4)
def test_a_law_of_the_state_is_as_good_as_a_wrench_that_knows_it(axes, backend):
    robot = denoc.loads(BARS.replace("AXES", axes).replace("KIND", "force"))
    force = "5*cos(6*t) - 0.2*A0.qd - 3*sin(B0.q)"
    scenario = {"task": "simulate", "time": {"end": 0.1, "step": 0.05}, "record": {"reactions": True}}
    shares = [{"law": "expression", "force": f"{x}*({force})"} for x in (0.6, 0.8)]
    wrench = {"link": "coupler", "at": [0.2, 0.05, 0], "axes": axes, "force": [*shares, 0]}
    with using_backend(backend):
        run = denoc.run({**scenario, "forces": {"push": {"law": "expression", "force": force}}}, robot)
        same = denoc.run({**scenario, "wrenches": [wrench]}, robot)
    for column in same.table:
        if column.split(".")[-1] in ("q", "qd", "qdd") or ".reaction." in column or ".lambda." in column:
            size = 1.0 + abs(same.table[column]).max()
            np.testing.assert_allclose(run.table[column], same.table[column], rtol=0, atol=1e-9 * size)
    wanted = 5 * np.cos(6 * run.t) - 0.2 * run.table["A0.qd"] - 3 * np.sin(run.table["B0.q"])
    np.testing.assert_allclose(run.table["push.force"], wanted, atol=1e-12)
    assert run.audit["energy_share"] < 1e-7


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_law_of_the_state_ends_at_its_limits(backend):
    """The pull of state feedback on a block is that of its joint's actuator under the same law and limits."""
    feedback = {"law": "state-feedback", "K": {"slide.q": 40, "slide.qd": 3}, "reference": {"slide.q": 0.4}}
    scenario = {"task": "simulate", "time": {"end": 2, "step": 0.05}, "forces": {"slide": feedback}}
    limits = "name: slide, axis: [1, 0, 0], actuated: true, effort: {limits: [-3, 3]}}"
    driven = denoc.loads(BLOCK.replace("name: slide, axis: [1, 0, 0]}", limits))
    with using_backend(backend):
        run, same = block(**feedback), denoc.run(scenario, driven)
    np.testing.assert_allclose(run.table["slide.q"], same.table["slide.q"], atol=1e-10)
    np.testing.assert_allclose(run.table["pull.force"], same.table["slide.tau"], atol=1e-8)
    assert run.table["pull.force"].max() == 3
    times = [[(event["event"], round(event["t"], 8)) for event in one.record["events"]] for one in (run, same)]
    assert times[0] == times[1]
    assert len(times[0]) > 2


@pytest.mark.parametrize("when", ["stage", "step"])
def test_a_function_of_pythons_drives_an_actuator(when):
    """As the formula does, within the limits; once a step, the force is that of the step's beginning."""
    scenario = {"task": "simulate", "time": {"end": 1, "step": 0.05}, "solver": {"method": "rk4", "step": 0.01}}
    robot = denoc.loads(BLOCK)
    called = denoc.run(scenario, robot, forces={"pull": lambda t, state: 5 - 9 * state["slide.q"]}, when=when)
    formula = {"law": "expression", "force": "5 - 9*slide.q"}
    written = denoc.run({**scenario, "forces": {"pull": formula}}, robot)
    close = 1e-12 if when == "stage" else 0.1
    np.testing.assert_allclose(called.table["slide.q"], written.table["slide.q"], atol=close)
    np.testing.assert_allclose(called.table["pull.force"], written.table["pull.force"], atol=10 * close)
    assert called.table["pull.force"].max() == 3
    with pytest.raises(denoc.InputError, match="an entry in the scenario already"):
        denoc.run({**scenario, "forces": {"pull": formula}}, robot, forces={"pull": lambda t, state: 0.0})


def test_a_lookup_moves_an_actuator(tmp_path):
    """A spring of 8 N/m from a table: a block swings through its middle after a quarter of its period."""
    (tmp_path / "spring.csv").write_text("x,force\n-1,8\n0,0\n1,-8\n")
    (tmp_path / "block.yaml").write_text(BLOCK)
    law = {"law": "lookup", "file": "spring.csv", "over": "slide.q"}
    scenario = {"robot": "block.yaml", "task": "simulate", "time": {"end": np.pi / 4, "step": np.pi / 16}}
    (tmp_path / "swing.yaml").write_text(yamls.dump({**scenario, "initial": {"slide": 0.3}, "forces": {"pull": law}}))
    run = denoc.run(tmp_path / "swing.yaml")
    np.testing.assert_allclose(run.table["slide.q"], 0.3 * np.cos(2 * run.t), atol=1e-7)


def test_what_an_actuator_without_a_joint_cannot_follow_is_refused():
    scenario = {"task": "simulate", "time": {"end": 1, "step": 0.1}}
    for law, words in (
        ({"law": "pd", "kp": 1, "to": 0}, "`pull` acts on a link, so it has no coordinate"),
        ({"law": "constant", "value": "3 N m"}, "forces.pull.value"),
        ({"law": "constant", "value": [1, 2]}, "`pull` needs 1 number"),
    ):
        with pytest.raises(denoc.InputError, match=words):
            denoc.run({**scenario, "forces": {"pull": law}}, denoc.loads(BLOCK))
    with pytest.raises(denoc.InputError, match="in inverse dynamics the force of `pull` is sought"):
        denoc.run({**scenario, "task": "inverse", "forces": {"pull": {"law": "zero"}}}, denoc.loads(BLOCK))


def test_a_replay_is_the_same_run(tmp_path):
    run = block(law="harmonic", amplitude=6, frequency=0.5)
    (tmp_path / "block.yaml").write_text(BLOCK)
    scenario = {"robot": "block.yaml", "task": "simulate", "time": {"end": 2, "step": 0.05}}
    scenario["forces"] = {"pull": {"law": "harmonic", "amplitude": 6, "frequency": 0.5}}
    (tmp_path / "s.yaml").write_text(yamls.dump(scenario))
    again = denoc.run(tmp_path / "s.yaml")
    np.testing.assert_allclose(again.table["slide.q"], run.table["slide.q"], atol=1e-12)
