"""A closure method is one row, and so are the parameters that it takes: Baumgarte's correction, critically damped."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.closure import METHODS, Method, Parameter, projected_closure_accelerations
from denoc.mechanics.tree import dot, scale, subtract
from denoc.scenario import prepare_scenario, scenario_schema
from denoc.simulate import Runner
from denoc.study.comparison import Comparison, Options
from denoc.text.fields import json_schema_text

OMEGA = Parameter("omega", "gaps die out, critically damped", "frequency", 30.0, at_least=0.0, compared=(10.0, 60.0))


def damped(p):
    """A q̈ = −2 ω ċ − ω² c − Ȧ q̇."""
    omega = p.parameters["omega"]
    off = subtract([dot(row, p.qd) for row in p.A], p.rate)
    wanted = subtract(subtract(p.second, scale(2 * omega, off)), scale(omega * omega, p.gap))
    return projected_closure_accelerations(p, wanted)


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(METHODS, "damped", Method("critically damped gaps", damped, parameters=(OMEGA,)))


def fall(**closure):
    """The scenario of the library for half a second."""
    text = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.5, "step": 0.05}, "initial": {"A0": 0.3}}
    return {**text, "solver": {"rtol": 1e-9}, "closure": closure}


@pytest.mark.parametrize(("closure", "omega"), [({}, 30.0), ({"omega": 7}, 7.0), ({"omega": "3 Hz"}, 3.0)])
def test_the_parameter_of_the_file_is_the_methods(closure, omega):
    """c'' + 2 ω c' + ω² c = 0 of gaps that are there, by differences along the motion."""
    plan = prepare_scenario(fall(method="damped", **closure))
    runner, loops, n = Runner(plan.system, plan.q0), plan.system.loops, plan.robot.nv
    rng = np.random.default_rng(3)
    q, qd = np.array(plan.q0) + 1e-3 * rng.normal(size=n), rng.normal(size=n)
    qdd = runner.derivative(0.0, plan.system.state(q, qd))[n : 2 * n]
    h = 1e-3
    before, now, after = (loops.gap((q + t * qd + t * t / 2 * qdd)[None])[0] for t in (-h, 0.0, h))
    rate, second = (after - before) / (2 * h), (after - 2 * now + before) / h**2
    np.testing.assert_allclose(second, -2 * omega * rate - omega**2 * now, atol=1e-3)
    assert abs(2 * omega * rate + omega**2 * now).max() > 1.0


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_scenario_runs_with_it(backend):
    with using_backend(backend):
        ours, theirs = denoc.run(fall(method="damped", omega=20)), denoc.run(fall())
    assert ours.ended == "done"
    assert ours.record["input"]["closure"]["omega"] == 20
    for name in ("A0.q", "A0.qd", "B.lambda.fx"):
        scale_ = abs(theirs.table[name]).max()
        np.testing.assert_allclose(ours.table[name], theirs.table[name], atol=1e-5 * scale_, err_msg=name)
    assert 0 < ours.audit["closure"] < 1e-7


def test_its_name_and_its_parameter_are_everywhere_without_a_word_more():
    text = json_schema_text(scenario_schema())
    assert '"damped"' in text
    assert '"of `damped`: gaps die out, critically damped; a frequency (Hz, 1/s), at least 0"' in text
    for closure, allowed in (
        ({"method": "dampd"}, "denoc-extended, damped"),
        ({"omeg": 3}, "k, d, omega"),
        ({"omega": -1}, "a frequency (Hz, 1/s), at least 0"),
    ):
        with pytest.raises(InputError) as told:
            prepare_scenario(fall(**closure))
        assert told.value.allowed.endswith(allowed)


def test_methods_are_compared_by_it():
    few = {"methods": ("damped",), "rtols": (1e-4,), "steps": (0.01,), "feedback": True}
    settings = Comparison("four-bar-idyn", Options(**few)).settings()
    assert [s.model for s in settings] == ["damped omega = 10"] * 2 + ["damped omega = 60"] * 2 + ["damped omega = 10"]
    comparison = Comparison("four-bar-idyn", Options(**few, values={"omega": (40.0,)}))
    assert [s.model for s in comparison.settings()] == ["damped omega = 40"] * 3
    assert comparison.runner(comparison.settings()[0]).system.values == {"omega": 40.0}
    assert comparison.run(comparison.settings()[0]).ended == "done"
    with pytest.raises(InputError, match="no closure method has a parameter `omga`"):
        Comparison("four-bar-idyn", Options(values={"omga": (1.0,)}))
