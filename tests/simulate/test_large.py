"""Evaluations of large trees by compiled code that loops over the bodies: those of the plain text."""

from dataclasses import replace

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.mechanics.closure import loop_closure
from denoc.simulate import equations
from denoc.simulate.many_bodies import recursion_in_discrete_state
from denoc.simulate.runner import Runner
from denoc.simulate.systems.system import System
from denoc.study import chain_robot_for_times
from random_mechanisms import loaded
from random_robots import random_robot


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_an_evaluation_is_that_of_the_text(seed):
    """With a joint held, so that its support is sought, and with friction, springs and wrenches of the robot's file."""
    robot = loaded(random_robot(seed, conventions=("frames",), links=(2, 6)))
    system, rng = System(robot, loop_closure(robot), smooth=0.01 * (seed % 2)), np.random.default_rng(seed)
    run = Runner(system, robot.q0)
    held = {system.state_speeds[0]: (-1.0, 1.0)} if robot.moving[0].type.nv == 1 else {}
    discrete = replace(run.discrete, held=held, slip={k: 1.0 for k in system.coulomb if k not in held})
    y = run.start(robot.q0, rng.normal(size=robot.nv)).tolist()
    values = run.signals(0.0, discrete)
    text = equations.evaluate_equations(system, values, y, discrete, system.model)
    with using_backend("compiled", "rolled"):
        looped = equations.evaluate_equations(
            system, values, y, discrete, system.model, recursion_in_discrete_state(system, discrete)
        )
    for name in ("qdd", "tau", "resistance"):
        right = np.array(getattr(text, name), dtype=float)
        np.testing.assert_allclose(getattr(looped, name), right, rtol=0, atol=1e-11 * max(1.0, abs(right).max()))
    assert looped.power == pytest.approx(text.power, rel=1e-10, abs=1e-10)
    assert looped.loss == pytest.approx(text.loss, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_held_may_be_data_of_the_loop(seed):
    """One loop for all sets of held joints has the numbers of the text for each of them."""
    robot = loaded(random_robot(seed, conventions=("frames",), links=(3, 6)))
    system, rng = System(robot, loop_closure(robot)), np.random.default_rng(seed)
    run = Runner(system, robot.q0)
    modal = tuple(joint.speeds[0] for joint in robot.moving if joint.type.nv == 1)
    y = run.start(robot.q0, rng.normal(size=robot.nv)).tolist()
    blank = replace(run.discrete, switched=modal)
    with using_backend("compiled", "rolled"):
        recursion = recursion_in_discrete_state(system, blank)
    for count in range(len(modal) + 1):
        held = {int(k): (-1.0, 1.0) for k in rng.permutation(modal)[:count]}
        slip = {k: 1.0 for k in system.coulomb if k not in held}
        own = replace(run.discrete, switched=(), held=held, slip=slip)
        text = equations.evaluate_equations(system, run.signals(0.0, own), y, own, system.model)
        shared = replace(blank, held=held, slip=slip)
        with using_backend("compiled", "rolled"):
            values = run.signals(0.0, shared)
            looped = equations.evaluate_equations(system, values, y, shared, system.model, recursion)
        for name in ("qdd", "tau", "resistance"):
            right = np.array(getattr(text, name), dtype=float)
            np.testing.assert_allclose(getattr(looped, name), right, rtol=0, atol=1e-11 * max(1.0, abs(right).max()))
        assert all(looped.qdd[k] == 0.0 for k in held)
        for k in modal:
            assert looped.support[k] == pytest.approx(text.support.get(k, 0.0), rel=1e-9, abs=1e-9)


def test_a_run_of_a_long_chain_loops_over_its_bodies(monkeypatch):
    """From the second run on, when the loop over bodies has been paid for; straight-line code would cost far more."""
    robot, asked = chain_robot_for_times(40), []
    monkeypatch.setattr("denoc.machine.jit.rolled.Rolled.__call__", counted(asked))
    fall = {"task": "simulate", "time": {"end": 0.004, "step": 0.002}}
    with using_backend("plain"):
        plain = denoc.run(fall, robot)
    with using_backend("auto"):
        for _ in range(3):
            found = denoc.run(fall, robot)
    assert len(asked) >= found.audit["evaluations"]
    assert found.audit["steps"] == plain.audit["steps"]
    for column, right in plain.table.items():
        scale = max(1.0, abs(right).max())
        np.testing.assert_allclose(found.table[column], right, rtol=0, atol=1e-9 * scale, err_msg=column)


def counted(calls):
    from denoc.machine.jit import Rolled

    call = Rolled.__call__

    def noted(self, *arrays, **more):
        calls.append(len(arrays[0]))
        return call(self, *arrays, **more)

    return noted
