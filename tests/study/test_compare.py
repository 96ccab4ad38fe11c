"""What a comparison of closure methods says is what its runs are."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.record import plots
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.study.comparison import compared
from denoc.study.comparison.compare import Comparison, stiffness_jacobian_for_comparison
from denoc.study.comparison.compared import ADAPTIVE, COLUMNS, FIXED, Options, Run, RunSetting
from denoc.study.comparison.plots import figures_of_comparison
from denoc.text import Change

FEW = Options(
    methods=("denoc", "penalty", "projection-svd-raw"),
    rtols=(1e-3,),
    steps=(0.01,),
    values={"k": (1e4,), "sigma": (10,)},
    max_evaluations=4000,
)


def motion(file, **changes):
    """A scenario with a motion for each driven joint, a little way from where it is."""
    robot = denoc.load(file)
    q0 = denoc.assemble(robot, robot.q0)
    led = {j.name: float(q0[j.coordinates[0]]) for j in robot.moving if j.actuated}
    entries = {name: {"law": "cycloid", "from": x, "to": x + 0.2} for name, x in led.items()}
    return {"robot": file, "task": "inverse", "time": {"end": 0.4, "step": 0.02}, "motion": entries} | changes


@pytest.fixture(scope="module")
def five_bar():
    return motion("five-bar")


@pytest.fixture(scope="module")
def runs(five_bar):
    return {run.setting: run for run in Comparison(five_bar, FEW).runs()}


def test_every_model_has_every_integrator_and_feedback_the_smallest_step(five_bar):
    options = Options(methods=("denoc", "penalty", "projection-qr"), values={"k": (1e3, 1e4), "sigma": (10, 20)})
    found = Comparison(five_bar, options).settings()
    assert len(found) == len(set(found)) == 4 + 1 + 2 * 4 + 2 + 2 * 4 + 1
    for setting in found:
        assert (setting.parameter, setting.value) in {("", None), ("k", 1e3), ("k", 1e4), ("sigma", 10), ("sigma", 20)}
        assert not setting.feedback or (setting.integrator, setting.accuracy) == (FIXED, 0.001)
    assert [s.accuracy for s in found[:4]] == [1e-3, 1e-6, 0.01, 0.001]


def test_a_run_is_the_same_as_its_scenario_run_by_itself(five_bar, runs):
    run = runs[RunSetting("denoc", "", None, FIXED, 0.01)]
    alone = denoc.run(
        five_bar
        | {"task": "simulate", "forces": {"all": {"law": "feedforward"}}, "solver": {"method": "rk4", "step": 0.01}}
    )
    assert run.evaluations == alone.audit["evaluations"]
    for name, errors in run.errors.items():
        joint = five_bar["motion"][name.removesuffix(".q")]
        assert errors[0] == pytest.approx(0.0, abs=1e-12)
        wanted = joint["from"] + 0.2 * (alone.t / 0.4 - np.sin(2 * np.pi * alone.t / 0.4) / (2 * np.pi))
        assert errors == pytest.approx(alone.table[name] - wanted, abs=1e-9)
    assert run.error_max == max(abs(errors).max() for errors in run.errors.values())
    assert run.unit == "rad"
    assert run.ended == "done"


def test_denoc_is_exact_and_penalties_give_way(runs):
    denoc_run = runs[RunSetting("denoc", "", None, ADAPTIVE, 1e-3)]
    penalty = runs[RunSetting("penalty", "k", 1e4, ADAPTIVE, 1e-3)]
    assert denoc_run.error_max < 1e-4
    assert denoc_run.closure < 1e-12
    assert penalty.closure > 1e-6
    assert penalty.evaluations > denoc_run.evaluations
    assert penalty.stiffness > 10 * denoc_run.stiffness


def test_feedback_corrects_by_what_the_model_is_wrong(runs):
    exact = runs[RunSetting("denoc", "", None, FIXED, 0.01, True)]
    soft = runs[RunSetting("penalty", "k", 1e4, FIXED, 0.01, True)]
    assert exact.correction < 1e-2 < soft.correction
    assert exact.correction <= exact.correction_now
    assert exact.corrections.keys() == {f"{name}.tau" for name in motion("five-bar")["motion"]}
    assert math.isnan(runs[RunSetting("denoc", "", None, FIXED, 0.01)].correction)


def test_too_many_evaluations_stop_a_run_and_are_told(five_bar):
    options = Options(
        methods=("penalty",),
        rtols=(1e-3, 1e-6),
        steps=(0.001,),
        values={"k": (1e6,)},
        feedback=False,
        max_evaluations=300,
    )
    loose, tight, fixed = Comparison(five_bar, options).runs()
    assert loose.ended == "failed"
    assert loose.reason.endswith("more than 300 evaluations of the equations of motion")
    assert 300 < loose.evaluations < 310
    assert loose.reached < 0.4
    assert (tight.ended, tight.reason) == ("not run", "a looser tolerance took too many evaluations already")
    assert (fixed.ended, fixed.reason) == ("not run", "it would take 1600 evaluations, of 300 that are allowed")


@pytest.mark.parametrize(
    "step, steps, rows", [(0.02, 20, 21), (0.005, 80, 21), (0.1, 4, 5), (0.03, 14, 15), (0.007, 58, 30)]
)
def test_fixed_steps_are_as_long_as_they_are_said_to_be(five_bar, step, steps, rows):
    """Output rows, 0.02 s apart, don't cut them."""
    options = Options(methods=("multipliers",), rtols=(), steps=(step,), feedback=False)
    (run,) = Comparison(five_bar, options).runs()
    assert (run.ended, run.steps, len(run.t)) == ("done", steps, rows)
    assert run.t[-1] == 0.4


def test_a_run_that_blows_up_keeps_its_rows_and_says_so():
    """Its last row has left the numbers, the forces of the cuts in it have not been looked for."""
    closure, solver = {"method": "penalty", "k": 1e5}, {"method": "rk4", "step": 0.01, "at_singularity": "switch"}
    motion = {"J1": "120 deg", "J2": "300 deg", "J3": "360 deg"}
    found = denoc.run(
        {
            "robot": "three-rrr",
            "task": "simulate",
            "time": {"end": 3, "step": 0.02},
            "motion": {name: {"law": "cycloid", "to": to} for name, to in motion.items()},
            "forces": {"all": {"law": "feedforward"}},
            "closure": closure,
            "solver": solver,
        }
    )
    assert found.ended == "failed"
    assert "is not a finite number" in found.record["reason"]
    assert len(found.t) == len(found.table["B2.lambda.fx"]) >= 2
    assert np.isfinite(found.table["B2.lambda.fx"][0])


def test_a_method_on_numbers_takes_one_parameter_and_fewer_evaluations(runs):
    raw = [run for setting, run in runs.items() if setting.method == "projection-svd-raw"]
    assert {run.setting.value for run in raw} == {10}
    # a step ends with the last of its attempts
    assert all(run.evaluations <= FEW.max_evaluations / 10 + 7 * (1 + run.rejected) for run in raw)
    assert all(math.isnan(run.stiffness) for run in raw)


def test_stiffness_is_the_largest_eigenvalue_times_the_duration():
    A = np.array([[0.0, 1.0], [-1e4, -300.0]])
    J = stiffness_jacobian_for_comparison(lambda y: A @ y, np.array([0.3, -2.0]), 2)
    assert pytest.approx(A, rel=1e-7, abs=1e-7) == J


def test_penalties_are_stiff_as_the_root_of_their_stiffness(five_bar):
    """With d = 2 √k both springs and dampers give eigenvalues that grow as √k."""
    options = Options(methods=("penalty",), rtols=(1e-3,), steps=(), values={"k": (1e5, 1e7)}, feedback=False)
    comparison = Comparison(five_bar, options)
    one, other = (comparison._costs(setting)[1] for setting in comparison.settings())
    assert other / one == pytest.approx(10, rel=0.05)


def test_any_mechanism_and_task():
    slider = {
        "robot": "slider-crank",
        "task": "simulate",
        "time": {"end": 0.1, "step": 0.01},
        "motion": {"all": {"law": "rate", "rate": "30 rpm"}},
    }
    options = Options(methods=("denoc", "multipliers"), rtols=(1e-6,), steps=())
    found = list(Comparison(slider, options).runs())
    assert [run.ended for run in found] == ["done", "done"]
    assert all(run.error_max < 1e-6 for run in found)


SHORT = Options(
    methods=("denoc", "projection-gauss", "penalty"), rtols=(1e-6,), steps=(), values={"k": (1e4,), "sigma": (10,)}
)


def test_what_rolls_is_played_back():
    """Under the torques of inverse dynamics the wheels turn as they were meant to."""
    found = list(Comparison("diff-drive-idyn", replace(SHORT, max_evaluations=3000)).runs())
    assert [run.setting.feedback for run in found] == [False] * 3
    for run, close in zip(found, (1e-6, 1e-6, 1.0)):
        for wheel, turn in (("left", 8.0), ("right", 12.0)):
            wanted = turn * (run.t / 3 - np.sin(2 * np.pi * run.t / 3) / (2 * np.pi))
            off = run.table[f"{wheel}.q"] - wanted
            assert abs(off).max() < close
            assert run.errors[f"{wheel}.q"] == pytest.approx(off, abs=1e-9)
    assert found[2].error_max > 1e-2  # what springs and dampers let slip


def test_a_simulation_is_its_own_reference():
    """Its force laws act in every run, and the motion to compare with is the one that it has with small tolerances."""
    found = list(Comparison("two-carriers-carry", SHORT, [Change("time.end", 0.3, "time.end")]).runs())
    right = carry_out_plan(prepare_scenario("two-carriers-carry", changes=[Change("time.end", 0.3, "time.end")])).table
    for run, close in zip(found, (1e-8, 1e-8, 1.0)):
        off = {name: abs(run.table[name] - right[name]).max() for name in run.errors}
        assert set(off) == {f"{name}{k}.q" for name in ("left", "right", "shoulder", "elbow") for k in (1, 2)}
        assert max(off.values()) < close
        assert run.error_max == pytest.approx(max(off.values()), abs=1e-9)
    assert found[2].energy > 100 * found[0].energy
    assert [run.ended for run in Comparison("five-bar-fall", SHORT).runs()][:2] == ["done", "done"]


@pytest.mark.parametrize(
    "scenario, words",
    [
        ("puma-idyn", "has no loops"),
        (
            {
                "robot": "rssr",
                "task": "inverse",
                "time": {"end": 0.2, "step": 0.05},
                "motion": {"joint4": {"law": "cycloid", "from": "122.09843 deg", "to": "110 deg"}},
            },
            "no reference motion",
        ),
    ],
)
def test_what_cant_be_compared_is_refused(scenario, words):
    with pytest.raises(InputError, match=words):
        Comparison(scenario, FEW)


def test_unknown_methods_are_refused(five_bar):
    with pytest.raises(InputError, match="there is no closure method `denok`"):
        Comparison(five_bar, Options(methods=("denok",)))


def test_an_interrupt_keeps_what_was_done(five_bar, monkeypatch):
    comparison = Comparison(five_bar, FEW)
    seen = []

    def tell(setting, share):
        if setting in seen:
            return
        seen.append(setting)
        if len(seen) == 2:  # once, as a user does
            raise KeyboardInterrupt

    found = list(comparison.runs(tell))
    assert [run.ended for run in found] == ["done", "interrupted"]


def test_the_csv_has_a_row_a_run(runs):
    text = compared.comparison_csv([run.row() for run in runs.values()], COLUMNS)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(runs)
    for row, run in zip(rows, runs.values()):
        assert row["method"] == run.setting.method
        assert int(row["evaluations"]) == run.evaluations
        assert row["error_max"] == ("" if math.isnan(run.error_max) else repr(run.error_max))
        assert (row["rtol"] == "") != (row["step"] == "")
    assert compared.comparison_csv([], COLUMNS) == ",".join(COLUMNS) + "\n"


def test_the_summary_has_a_row_a_method(runs):
    rows = compared.comparison_summary(list(runs.values()))
    assert [row["method"] for row in rows] == list(FEW.methods)
    first = rows[0]
    assert first["runs"] == 3
    assert first["failed"] == 0
    assert first["evaluations at rtol 0.001"] == str(runs[RunSetting("denoc", "", None, ADAPTIVE, 1e-3)].evaluations)
    assert compared.comparison_span([]) == ""
    assert compared.comparison_span([3, 5, 4]) == "3 to 5"
    assert compared.comparison_span([math.nan, 0.25]) == "0.25"


def test_plots(runs, tmp_path):
    made = figures_of_comparison("five-bar", list(runs.values()))
    assert list(made) == [
        "five-bar-errors-denoc",
        "five-bar-errors-penalty",
        "five-bar-errors-projection-svd-raw",
        "five-bar-evaluations",
        "five-bar-feedback-errors",
        "five-bar-feedback-correction",
    ]
    for stem, figure in made.items():
        plots.save_figure(figure, tmp_path / f"{stem}.png", dpi=40)
    assert made["five-bar-evaluations"].axes[0].get_xscale() == "log"
    assert figures_of_comparison("none", [Run(RunSetting("denoc", "", None, ADAPTIVE, 1e-3), "not run")]) == {}


# ---- what docs/khan.md stands on

RECORD = Path(__file__).resolve().parents[2] / "docs" / "khan.csv"


@pytest.mark.parametrize(
    "setting",
    [
        RunSetting("denoc-extended", "", None, ADAPTIVE, 1e-3),
        RunSetting("denoc-extended", "", None, ADAPTIVE, 1e-6),
        RunSetting("projection-gauss", "sigma", 40.0, ADAPTIVE, 1e-6),
        RunSetting("projection-gauss", "sigma", 10.0, FIXED, 0.01),
        RunSetting("penalty", "k", 1e3, ADAPTIVE, 1e-3),
        RunSetting("penalty", "k", 1e6, FIXED, 0.01),
    ],
    ids=str,
)
@pytest.mark.sampled(6)
def test_khans_record_is_what_comes_out(setting):
    with open(RECORD, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(Comparison("three-rrr-platform-idyn", Options()).settings())
    (kept,) = [
        row
        for row in rows
        if (row["method"], row["value"], row["integrator"])
        == (setting.method, _told(setting.value), setting.integrator)
        and float(row["rtol"] or row["step"]) == setting.accuracy
        and row["feedback"] == "0"
    ]
    run = Comparison("three-rrr-platform-idyn", Options()).run(setting)
    assert run.ended == kept["ended"]
    assert run.error_max == pytest.approx(float(kept["error_max"]), rel=0.01, abs=1e-12)
    if (
        run.ended == "done"
    ):  # how often a motion that bursts is evaluated until that is seen depends on the code it runs by
        assert run.evaluations == pytest.approx(int(kept["evaluations"]), rel=0.02)
        assert run.stiffness == pytest.approx(float(kept["stiffness"]), rel=1e-3)


def _told(value):
    return "" if value is None else repr(value)
