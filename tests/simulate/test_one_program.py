"""The modes of a tree in one program, in which signals say what is held: the numbers of programs for each mode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.machine.stepping import march
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.tree import sweep_tree
from denoc.robot.read import build_robot
from denoc.simulate import compiled
from denoc.simulate.integrators.integrate import INTEGRATORS
from denoc.simulate.runner import Runner
from denoc.simulate.systems.system import System
from denoc.text import document_from_mapping
from random_contacts import drawn, with_contacts

SHAKEN = {"joint1": {"law": "harmonic", "amplitude": 12, "frequency": 1.5}}
RUN = {"task": "simulate", "time": {"end": 1.5, "step": 0.05}, "solver": {"rtol": 1e-10, "atol": 1e-12}}


def arm():
    """An arm that hangs, with dry friction in all joints."""
    body = {"mass": 1, "com": [0.2, 0, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
    links = []
    for k in (1, 2, 3):
        joint = {"type": "revolute", "name": f"joint{k}", "axis": [0, 1, 0], "friction": {"coulomb": 2.0 / k}}
        links.append({"name": f"link{k}", "joint": joint, **body, "offset": {"xyz": [0.4 * (k > 1), 0, 0]}})
    return build_robot(document_from_mapping({"name": "arm", "convention": "frames", "links": links}))


@pytest.fixture
def loops(monkeypatch):
    """The identities of the systems whose programs have been compiled for loops."""
    made, load = set(), march.objects.loaded_machine_code

    def noted(form, identity, *more, **named):
        if form.startswith(("march", "system")):
            made.add(tuple(identity))
        return load(form, identity, *more, **named)

    monkeypatch.setattr(march.objects, "loaded_machine_code", noted)
    return made


def of_each_mode(monkeypatch):
    """From here on, each mode has a program of its own."""
    monkeypatch.setattr(compiled, "FEWEST", 1000)


def compared(one, other, within):
    """Asserts that two runs have the same events and the same rows."""
    assert one.ended == other.ended
    for a, b in zip(one.record["events"], other.record["events"], strict=True):
        assert a["t"] == pytest.approx(b["t"], abs=within)
        assert {**a, "t": 0} == {**b, "t": 0}
    for column, values in other.table.items():
        scale = max(1.0, abs(values).max())
        np.testing.assert_allclose(one.table[column], values, rtol=0, atol=within * scale, err_msg=column)


@pytest.mark.sound  # rounding differs by generators, and grows over these events
def test_all_modes_have_one_loop(loops, monkeypatch):
    with using_backend("compiled"):
        found = denoc.run({**RUN, "forces": SHAKEN}, arm())
        assert len(loops) == 1
        loops.clear()
        of_each_mode(monkeypatch)
        right = denoc.run({**RUN, "forces": SHAKEN}, arm())
    assert len(loops) > 3
    assert len(found.record["events"]) > 6
    assert found.audit["steps"] == right.audit["steps"]
    compared(found, right, 1e-11)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(12))
def test_contacts_of_random_trees_are_those_of_programs_for_each_mode(seed, monkeypatch):
    robot = with_contacts(drawn("tree", seed), seed)
    scenario = {"task": "simulate", "time": {"end": 0.2, "step": 0.02}}
    with using_backend("compiled"):
        found = denoc.run(scenario, robot)
    of_each_mode(monkeypatch)
    with using_backend("plain"):
        compared(found, denoc.run(scenario, robot), 1e-9)


@pytest.mark.parametrize("method", ["rk45", "radau", "bdf"])
def test_the_loop_says_what_holds_joints_and_how_others_accelerate(method):
    """The numbers of the plain text, in the present modes and in others."""
    robot = arm()
    system = System(robot, loop_closure(robot))
    run = Runner(system, robot.q0)
    y = run.start([0.3, -0.2, 0.5], [0.7, 0.0, 0.0])
    now = replace(run.discrete, slip={0: 1.0}, held={1: (-1.0, 1.0), 2: (-0.7, 0.7)})
    other = replace(run.discrete, slip={0: 1.0, 2: -1.0}, held={1: (-1.0, 1.0)})
    run.discrete = now
    with using_backend("plain"):
        texts = [Runner(system, robot.q0).evaluate(0.0, y, discrete) for discrete in (now, other)]
    with using_backend("compiled"):
        assert run.march(INTEGRATORS[method].loop, 0.0, 0.0) is not None
        for discrete, text in zip((now, other), texts):
            assert run.supports(0.0, y, discrete) == pytest.approx(text.support, rel=1e-13, abs=1e-14)
            np.testing.assert_allclose(run.accelerations(0.0, y, discrete), text.qdd, rtol=1e-13, atol=1e-13)
            assert all(text.qdd[k] == 0.0 for k in discrete.held)


def test_what_is_held_needs_no_inertia():
    """A link without mass at the end of an arm, which friction holds."""
    bodies = list(arm().tree.bodies)
    bodies[2] = replace(bodies[2], m=0.0, h=(0.0,) * 3, E=((0.0,) * 3,) * 3)
    q, qd, given = [0.3, -0.2, 0.5], [0.7, 0.4, 0.0], [1.0, -2.0, 0.3]
    gravity = [0.0, 0.0, -9.81]
    right, _ = sweep_tree(bodies, gravity, q, qd, [1.0, -2.0, 0.0], [False, False, True])
    found, _ = sweep_tree(bodies, gravity, q, qd, given, [False] * 3, holds={2: 1.0})
    assert found[:2] == pytest.approx(right[:2], rel=1e-13)
    assert found[2] == 0.0
