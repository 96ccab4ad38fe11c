"""An integrator is one row: that of Bogacki and Shampine, whose steps scipy's `RK23` knows."""

import math

import numpy as np
import pytest
from scipy import integrate

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.machine.program import Recording, cosine_sine
from denoc.machine.stepping import LOOP_REACHED, Lane, March, build_compiled_loop
from denoc.scenario import scenario_schema
from denoc.simulate.integrators import INTEGRATORS, Tableau, runge_kutta_integrator, stepper_of_integrator
from denoc.text.fields import json_schema_text

BOGACKI_SHAMPINE = Tableau(
    name="Bogacki-Shampine 3(2)",
    order=3,
    error_order=2,
    # P. Bogacki, L. F. Shampine: A 3(2) pair of Runge-Kutta formulas. Appl. Math. Lett. 2 (1989) 321-325.
    C=np.array([0, 1 / 2, 3 / 4]),
    A=np.array([[0, 0, 0], [1 / 2, 0, 0], [0, 3 / 4, 0]]),
    B=np.array([2 / 9, 1 / 3, 4 / 9]),
    E=np.array([5 / 72, -1 / 12, -1 / 9, 1 / 8]),
    P=np.array([[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]]),
    about="Bogacki and Shampine 1989",
)
ROW = runge_kutta_integrator("Bogacki-Shampine 3(2), adaptive", BOGACKI_SHAMPINE)
SCENARIO = {
    "robot": "planar3r",
    "task": "simulate",
    "time": {"end": 1.0, "step": 0.05},
    "initial": {"joint1": 0.3, "joint2": -0.5, "joint3": 0.8},
    "rates": {"joint2": 1.0},
    "solver": {"method": "rk23", "rtol": 1e-5, "atol": 1e-8},
}


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(INTEGRATORS, "rk23", ROW)


def pendulum(y):
    """A driven one, with an angle, a rate and a force of its own."""
    c, s = cosine_sine(y[0])
    return [y[1], -9.81 * s + 0.3 * c * y[2], -0.1 * y[2] + y[0]]


def stepping(rtol, end):
    def fun(t, y):
        return np.array(pendulum(y.tolist()), dtype=float)

    y0 = np.array([3.0, 0.0, 1.0])
    theirs = integrate.RK23(fun, 0.0, y0, end, rtol=rtol, atol=rtol / 100)
    return theirs, stepper_of_integrator("rk23", fun, 0.0, y0, end, rtol=rtol, atol=rtol / 100)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-7])
def test_plain_steps_are_scipys_to_the_last_bit(rtol):
    theirs, ours = stepping(rtol, 4.0)
    while theirs.status == "running":
        theirs.step()
        assert ours.step() == ""
        assert ours.t == theirs.t
        np.testing.assert_array_equal(ours.y, theirs.y)
        middle = (theirs.t_old + theirs.t) / 2
        np.testing.assert_array_equal(ours.between(middle), theirs.dense_output()(middle))
    assert ours.evaluations == theirs.nfev
    assert rtol < 1e-3 or ours.rejected


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-7])
def test_compiled_steps_are_scipys(rtol):
    theirs, ours = stepping(rtol, 4.0)

    def program():
        recording = Recording("rate")
        recording.input("u", 0)
        return recording.program(rate=pendulum(recording.input("y", 3)))

    march = build_compiled_loop(program, ROW.scheme, 3, 3, (), 1, ("pendulum",), False)
    march.begin(
        np.zeros((1, 0)), theirs.y, T=0.0, H=theirs.h_abs, T_END=4.0, RTOL=rtol, ATOL=rtol / 100, MAX_STEP=math.inf
    )
    grid = np.linspace(0.0, 4.0, 41)[1:]
    out, rows, evaluations = march.room(len(grid)), [], theirs.nfev
    while theirs.status == "running":
        theirs.step()
        assert ours.step() == ""
        curve = theirs.dense_output()
        rows += [curve(t) for t in grid if theirs.t_old < t <= theirs.t]
        while march.control[Lane.ACCEPTED, 0] < ours.accepted:
            march.go(grid, out, 1)
        assert march.control[Lane.T, 0] == pytest.approx(theirs.t, rel=1e-6)
        np.testing.assert_allclose(march.y[0], theirs.y, rtol=1e-6, atol=1e-8)
        assert march.control[Lane.H, 0] == pytest.approx(ours.h, rel=1e-4)
    assert march.go(grid, out, 1) == LOOP_REACHED
    assert march.control[Lane.REJECTED, 0] == ours.rejected
    assert march.evaluations == theirs.nfev - evaluations
    np.testing.assert_allclose(out[0], rows, rtol=1e-6, atol=1e-8)


@pytest.fixture
def marches(monkeypatch):
    """How many times compiled loops have been entered."""
    entered, go, carry = [], March.go, March.carry
    monkeypatch.setattr(March, "go", lambda self, *rest: entered.append(self) or go(self, *rest))
    monkeypatch.setattr(March, "carry", lambda self, *rest, **more: entered.append(self) or carry(self, *rest, **more))
    return entered


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_scenario_runs_with_it(backend, marches):
    """As scipy's does around forward dynamics: the same number of steps, and the same rows."""
    robot = denoc.load("planar3r")
    start = np.array([0.3, -0.5, 0.8, 0.0, 1.0, 0.0])

    def fun(t, y):
        return np.concatenate([y[3:], denoc.forward(robot, y[:3], y[3:], np.zeros(3))])

    grid = np.linspace(0, 1, 21)
    theirs = integrate.solve_ivp(fun, (0, 1), start, "RK23", grid, rtol=1e-5, atol=1e-8, dense_output=True)
    with using_backend(backend):
        ours = denoc.run(SCENARIO)
    assert bool(marches) == (backend == "compiled")
    assert ours.ended == "done"
    assert ours.audit["steps"] == len(theirs.sol.ts) - 1
    names = [f"joint{k}.{suffix}" for suffix in ("q", "qd") for k in (1, 2, 3)]
    np.testing.assert_allclose(np.array([ours.table[name] for name in names]), theirs.y, rtol=1e-6, atol=1e-7)
    assert ours.record["solver"]["method"] == "rk23"


def test_runs_go_side_by_side_with_it(marches):
    variations = [{"rates.joint2": rate} for rate in (1.0, 2.0, 3.0)]
    with using_backend("compiled"):
        together = denoc.ensemble(SCENARIO, variations)
        assert marches[0].lanes > 1
        alone = denoc.run({**SCENARIO, "rates": {"joint2": 3.0}})
    assert together[2].audit["steps"] == alone.audit["steps"]
    for name, values in alone.table.items():
        np.testing.assert_allclose(together[2].table[name], values, rtol=1e-7, atol=1e-7, err_msg=name)


def test_its_name_is_everywhere_without_a_word_more():
    assert '"rk23"' in json_schema_text(scenario_schema())
    with pytest.raises(InputError, match="did you mean `rk23`") as told:
        denoc.run({**SCENARIO, "solver": {"method": "rk32"}})
    assert told.value.allowed.endswith("lsoda, rk23")
