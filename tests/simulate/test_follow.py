"""Mechanisms along motions that leave them no freedom: leaps and what is closed between them, beside single steps."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.scenario import prepare_scenario
from denoc.simulate import follow
from denoc.simulate.feedforward import runner_with_feedforward
from denoc.simulate.systems.prescribed import quadrature_instants

DRIVEN = [
    "carpet-scraper-idyn",
    "five-bar-idyn",
    "four-bar-idyn",
    "gough-stewart-idyn",
    "hoeken-idyn",
    "three-rrr-idyn",
]
TURNED_BACK = {
    "robot": "four-bar",
    "task": "inverse",
    "time": {"end": 2, "step": 0.01},
    "motion": {"B0": {"law": "rate", "rate": 0.8}},
}


def followed(scenario, robot=None, finer=True):
    plan = prepare_scenario(scenario, robot)
    grid = quadrature_instants(plan.grid)[0] if finer else plan.grid
    return follow.follow_prescribed_motion(
        runner_with_feedforward(plan.system, plan.q0), np.array(plan.q0), grid, lambda t: None
    )


@pytest.fixture
def steps(monkeypatch):
    """The steps that were tried, one by one."""
    tried, step = [], follow._step
    monkeypatch.setattr(follow, "_step", lambda *given: tried.append(given[1]) or step(*given))
    return tried


def by_single_steps(monkeypatch):
    monkeypatch.setattr(follow, "_leaps", lambda run, grid, row, stride: ({0: row}, 1))


def four_bar(driven=""):
    """The four-bar linkage with its motor in the joint of another link, or with none."""
    file = denoc.load("four-bar").document.data
    links = [link | {"joint": link["joint"] | {"actuated": link["name"] == driven}} for link in file["links"]]
    return denoc.loads(yamls.dump(file | {"links": links}))


PULLED = {
    "robot": "four-bar",
    "task": "inverse",
    "time": {"end": 1, "step": 0.02},
    "drives": [{"name": "lift", "link": "coupler", "at": [0.2, 0, 0], "along": [1, 0, 0], "law": "rate", "rate": -0.1}],
}


@pytest.mark.parametrize("name", [*DRIVEN, "a point"])
def test_leaps_lead_where_single_steps_do(name, steps, monkeypatch):
    given = (PULLED, four_bar()) if name == "a point" else (name,)
    found = followed(*given)
    assert len(steps) < len(found.q) / 5
    by_single_steps(monkeypatch)
    alone = followed(*given)
    assert alone.singular is None
    for part, tolerance in (("q", 1e-11), ("qd", 1e-10), ("qdd", 1e-9)):
        ours, theirs = getattr(found, part), getattr(alone, part)
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(abs(theirs).max(), 1.0))


@pytest.mark.parametrize("rate", [0.8, -0.8, 8.0])
def test_where_a_motion_ends_leaps_end_as_single_steps_do(rate, monkeypatch):
    """A rocker that is led beyond its dead point: crank and coupler come in line."""
    scenario = TURNED_BACK | {"motion": {"B0": {"law": "rate", "rate": rate}}}
    found = followed(scenario, four_bar("rocker"), finer=False)  # whose way is bounded
    by_single_steps(monkeypatch)
    alone = followed(scenario, four_bar("rocker"), finer=False)
    assert len(found.q) == len(alone.q) < 201
    assert found.singular.t == pytest.approx(alone.singular.t, rel=1e-6)
    np.testing.assert_allclose(found.q, alone.q, rtol=0, atol=1e-9)
    fold = np.sin(found.q[-1][1])  # of the coupler against the crank, which is 0 where they are in line
    assert abs(fold) < 0.4


def test_pulses_that_no_leap_sees_cost_no_more_than_single_steps(tmp_path, steps):
    """A crank that turns now and then: a leap over a pulse is found out by what lies between, and isn't made again."""
    t = np.arange(0.0, 3.0, 0.01)
    phase = np.minimum(t % 1.0, 0.15) / 0.15
    turns = np.floor(t) + phase - np.sin(2 * np.pi * phase) / (2 * np.pi)
    start = float(denoc.load("four-bar").joint("A0").initial[0])
    rows = "".join(f"{a!r},{b!r}\n" for a, b in zip(t.tolist(), (start + 0.4 * turns).tolist()))
    (tmp_path / "pulses.csv").write_text("t,A0\n" + rows)
    law = {"law": "table", "file": str(tmp_path / "pulses.csv"), "column": "A0"}
    found = followed(
        {"robot": "four-bar", "task": "inverse", "time": {"end": 2.9, "step": 0.001}, "motion": {"A0": law}},
        finer=False,
    )
    assert len(found.q) == 2901
    assert len(steps) < len(found.q) / 2
