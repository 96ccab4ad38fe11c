"""Derivatives of the state's rate, which implicit integrators take, against differences of the rate."""

from __future__ import annotations

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.scenario import prepare_scenario
from denoc.simulate.feedforward import runner_with_feedforward

FALLS = {  # name of a scenario: how far its states are drawn from its start
    "puma-fall": 1.0,
    "spherical-arm-fall": 0.0,
    "four-bar-fall": 0.0,
    "three-rrr-fall": 0.0,
    "suspension-bounce": 0.0,
    "rx90-fall": 1.0,
}


def at_start(name, seed=3):
    """A run of the scenario at some state: coordinates near its start, and speeds that its loops allow."""
    plan, rng = prepare_scenario(name), np.random.default_rng(seed)
    run = runner_with_feedforward(plan.system, plan.q0)
    q = plan.q0 + FALLS[name] * rng.uniform(-1, 1, len(plan.q0))
    y = run.start(q, rng.uniform(-1, 1, len(plan.qd0)))
    return run, run.settled(0.0, y)


def differences(f, y, n):
    """Differences of order 4 along the first n components."""
    columns = np.zeros((len(y), len(y)))
    for k in range(n):
        h = np.zeros(len(y))
        h[k] = 1e-4
        columns[:, k] = (8 * (f(y + h) - f(y - h)) - (f(y + 2 * h) - f(y - 2 * h))) / (12 * h[k])
    return columns


@pytest.mark.parametrize("name", FALLS)
@pytest.mark.sampled(2)
def test_slopes_are_those_of_the_rate(name):
    with using_backend("plain"):
        run, y = at_start(name)
        plain = run.slopes(0.0, y)
    with using_backend("compiled"):
        compiled = run.slopes(0.0, y)
        expected = differences(lambda x: run.derivative(0.0, x), y, run.system.measured)
    size = abs(expected).max()
    np.testing.assert_allclose(compiled, expected, rtol=0, atol=2e-7 * size)
    np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_implicit_methods_take_no_differences(method, monkeypatch):
    """Those of scipy grow without bound where a component doesn't matter, as the angle of the PUMA's last joint."""
    from scipy.integrate._ivp import bdf, radau

    def never(*_, **__):
        raise AssertionError("differences")

    for module in (radau, bdf):
        monkeypatch.setattr(module, "num_jac", never)
    scenario = {"robot": "puma", "task": "simulate", "time": {"end": 0.2, "step": 0.1}}
    found = denoc.run({**scenario, "solver": {"method": method}})
    exact = denoc.run({**scenario, "solver": {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}})
    assert found.ended == "done"
    for column, values in exact.table.items():
        if column.endswith((".q", ".qd")):
            np.testing.assert_allclose(found.table[column], values, atol=1e-6, err_msg=column)
