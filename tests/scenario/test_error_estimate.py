"""The estimated error of an integrated run is as large as its true one."""

import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.record import Column
from denoc.scenario.carry_out import prepare_scenario
from denoc.scenario.error_estimate import error_sentences, estimated_error
from denoc.simulate.integrators import INTEGRATORS

ACCURACY = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "accuracy.py"))
BOX = """
name: box
convention: frames
gravity: [0, 0, 0]
links:
  - {name: box, joint: {type: prismatic, name: s, axis: [1, 0, 0], spring: {stiffness: 50}}, mass: 2, com: [0, 0, 0],
     inertia: {xx: 1, yy: 1, zz: 1}}
"""
RATE = 5.0  # rad/s: the root of 50 N/m / 2 kg


def swing(method, rows=0.05, **solver):
    """A box on a spring, from 0.3 m at rest for some five swings, with its error estimated."""
    solver = {"method": method, "error": "estimate", **solver}
    scenario = {"task": "simulate", "time": {"end": 6, "step": rows}, "initial": {"s": 0.3}, "solver": solver}
    return denoc.run(scenario, denoc.loads(BOX))


@pytest.mark.parametrize("method", INTEGRATORS)
def test_the_estimate_is_as_large_as_the_error_of_a_swing(method):
    """q = 0.3 cos 5t."""
    run = swing(method, **({"rtol": 1e-6} if INTEGRATORS[method].adaptive else {"step": 0.02}))
    true = float(abs(run.table["s.q"] - 0.3 * np.cos(RATE * run.t)).max())
    found = run.record["error"]["columns"]["s.q"]
    assert true / 5 < found["largest"] < 5 * true
    assert found["end"] <= found["largest"]
    assert run.record["error"]["doubtful"] is None


def test_runs_by_large_steps_are_lost_where_they_are_lost():
    """Steps of a quarter of a swing: the first row in which the estimate passes a tenth of the range is named."""
    run = swing("rk4", rows=0.3, step=0.3)
    error = run.record["error"]
    off = abs(run.table["s.q"] - 0.3 * np.cos(RATE * run.t))
    assert off.max() > 0.06
    assert error["doubtful"]["t"] <= run.t[(off > 0.06).argmax()]
    assert "can't be trusted" in error_sentences(error)[-1]
    assert error["step"] == pytest.approx(0.15)


def test_runs_of_an_ensemble_have_the_estimates_that_they_have_alone():
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2}, "solver": {"error": "estimate"}}
    variations = [{"initial.joint1": x} for x in (0.1, 0.3)]
    for found, variation in zip(denoc.ensemble(scenario, variations), variations):
        (alone,) = denoc.ensemble(scenario, [variation])
        assert found.record["error"]["columns"].keys() == alone.record["error"]["columns"].keys()
        ends = (one.record["error"]["columns"]["joint3.q"]["end"] for one in (found, alone))
        assert next(ends) == pytest.approx(next(ends), abs=1e-10)


def test_nothing_is_estimated_unless_asked():
    assert swing("rk45", error="accept").record["error"] is None
    assert error_sentences(None) == []
    inverse = denoc.run(
        {**denoc.run("planar3r-idyn").record["input"], "robot": "planar3r", "solver": {"error": "estimate"}}
    )
    assert inverse.record["error"] is None
    assert any("does nothing" in one for one in inverse.record["warnings"])


def test_limits_are_those_of_angles_and_of_ranges():
    """0.1 rad of an angle, a tenth of what any other column varies by; faint columns are measured by their like."""
    plan = prepare_scenario({"robot": "puma", "task": "simulate", "time": {"end": 4, "step": 1}})
    t = np.arange(5.0)
    columns = [Column(name, unit, family, "a", "") for name, unit, family in
               (("a.q", "rad", "position"), ("a.tau", "N m", "force"), ("b.tau", "N m", "force"))]  # fmt: skip
    table = {"a.q": 100 * t, "a.tau": 2 * t, "b.tau": 1e-14 * t}
    finer = {"a.q": 100 * t + [0, 0, 0, 0.09, 0.11], "a.tau": 2 * t + [0, 0, 0.7, 0.9, 0], "b.tau": 0 * t}
    error = estimated_error(plan, columns, t, table, t, finer)
    assert error["doubtful"] == {"t": 3.0, "column": "a.tau", "difference": pytest.approx(0.9)}
    assert error["columns"]["a.tau"]["limit"] == pytest.approx(0.8)
    assert error["columns"]["a.q"]["end"] == pytest.approx(0.11)
    assert error["columns"]["b.tau"]["limit"] == pytest.approx(8e-4)
    short = estimated_error(plan, columns, t, table, t[:3], {name: x[:3] for name, x in finer.items()})
    assert (short["rows"], short["until"], short["doubtful"]) == (3, 2.0, None)


def test_commands_and_reports_say_it(command_line, tmp_path):
    code, said, _ = command_line("simulate", "four-bar", "--time", "2", "--error", "--no-plot", "--out", str(tmp_path))
    assert code == 0
    assert "error, estimated by a run with rtol 1e-11" in said
    kept = json.loads((tmp_path / "four-bar-fall" / "four-bar-fall.json").read_text())
    assert kept["error"]["columns"]["A0.q"]["largest"] < 1e-6
    command_line("report", str(tmp_path / "four-bar-fall"), "--quiet")
    (page,) = (tmp_path / "four-bar-fall").glob("*report*.html")
    assert "Error, estimated by a run with rtol 1e-11" in page.read_text()


def test_the_table_of_the_defaults_is_what_they_give():
    """What the reference says of the default method, within a factor of three on any processor."""
    kept, fall = json.loads(ACCURACY["KEPT"].read_text()), ACCURACY["fall"]
    assert set(kept) == set(INTEGRATORS)
    true = fall("four-bar", 10, method="dop853", rtol=1e-13)
    for method in ("rk45", "lsoda"):
        found = ACCURACY["largest_error"](fall("four-bar", 10, method=method), true)["error"]
        assert found / 3 < kept[method]["four-bar, 10 s"]["error"] < 3 * found


DRAWN = ("puma", "stanford", "planar3r", "four-bar", "slider-crank", "five-bar", "three-rrr", "chain", "tree", "rssr",
         "elastic-arm", "cart-pole", "kuka-kr5")  # fmt: skip


@pytest.mark.full
def test_95_of_100_drawn_runs_are_within_a_factor_of_5_of_their_errors():
    """Up to the first row that can't be trusted; the true motion is a run at a tolerance of 1e-13."""
    rng, right = np.random.default_rng(11), 0
    for _ in range(100):
        name, method = str(rng.choice(DRAWN)), str(rng.choice(["rk45", "rk45", *INTEGRATORS]))
        adaptive, end = INTEGRATORS[method].adaptive, float(rng.choice([2, 5, 10]))
        own = {"method": method, **({"rtol": 10 ** rng.uniform(-9, -6)} if adaptive else {"step": 0.005})}
        right += _within_a_factor_of_5(name, end, {**own, "at_singularity": "switch", "energy": "accept"}, rng)
    assert right >= 95


def _within_a_factor_of_5(name, end, solver, rng):
    robot = denoc.load(name)
    rates = {robot.joints[0]: float(rng.uniform(-1, 1))} if not robot.loops else {}
    scenario = {"task": "simulate", "time": {"end": end, "step": end / 200}, "rates": rates}
    run = denoc.run({**scenario, "solver": {**solver, "error": "estimate"}}, robot)
    finer = {**solver, **({"rtol": solver["rtol"] / 10} if "rtol" in solver else {"step": solver["step"] / 2})}
    other = denoc.run({**scenario, "solver": finer}, robot)
    true = denoc.run({**scenario, "solver": {**solver, "method": "dop853", "rtol": 1e-13, "step": None}}, robot)
    doubtful = run.record["error"]["doubtful"]
    rows = int(np.searchsorted(run.t, doubtful["t"])) if doubtful else len(run.t)
    rows = min(rows, len(other.t), len(true.t))
    names = [one.name for one in run.columns if one.family == "position"]
    estimate, error = (
        max(float(abs(run.table[one][:rows] - off.table[one][:rows]).max(initial=0.0)) for one in names)
        for off in (other, true)
    )
    return estimate / 5 <= error <= 5 * estimate or max(estimate, error) < 1e-11 or math.isclose(estimate, error)
