"""Searches: derivatives of outputs against differences, minima against closed forms, what is said, kept and refused."""

import functools
import json
import math
import re
import sys
import threading
import time
import types
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

import denoc
import yamls
from denoc.cli.main import main
from denoc.errors import InputError, NumericalError
from denoc.mechanics.mechanisms.numbers import AROUND
from denoc.scenario import opened_scenario as scenario_of
from denoc.study.minimisers import METHODS
from denoc.study.optimise import gradients
from denoc.study.optimise import run as searching
from denoc.study.optimise.gradients import Derivatives
from denoc.study.optimise.objective import projected_search_slope
from denoc.study.optimise.together import View, go_together
from denoc.study.sweep import engines
from denoc.study.sweep.engines import Here, study_task_carried_out
from denoc.study.sweep.probe import probe_study
from denoc.study.sweep.reading import open_study
from denoc.study.sweep.run import Runs
from denoc.text import yaml_text

# a pendulum of one point mass, which swings from rest at `lean` to a stop of time a little beyond
PENDULUM = """
name: pendulum
convention: frames
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {name: pin, type: revolute, actuated: true}
    mass: 2
    com: [0.5, 0, 0]
    inertia: {xx: 0, yy: 0, zz: 0}
"""
SWING = "{robot: pendulum.yaml, task: simulate, time: {end: 0.4, step: 0.02}, initial: {pin: -60 deg}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a pendulum and its scenario."""
    monkeypatch.chdir(tmp_path)
    Path("pendulum.yaml").write_text(PENDULUM)
    Path("swing.yaml").write_text(SWING)
    return tmp_path


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command: exit code, what it printed, what it complained of."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["denoc", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return run


# ---- derivatives

BETWEEN = [-10.0, 10.0]
RUNS = {
    "puma-fall": (
        {"joint2.q": "final", "joint3.qd": "rms", "joint4.qdd": "mean", "joint1.q": "min"},
        {"robot.links.link6.mass": 0.4, "initial.joint2": 0.1, "robot.links.link2.joint.a": 0.45},
    ),
    "four-bar-fall": (
        {"A.q": "final", "B0.qd": "rms", "A0.qdd": "mean", "B.lambda.fx": "largest"},
        {"robot.links.coupler.mass": 3.1, "initial.A0": 1.0, "robot.links.rocker.joint.xyz.0": 0.281},
    ),
    "three-rrr-feedforward": (
        {"J1.tau": "final", "J2.tau": "rms", "J3.tau": "mean"},
        {"robot.links.platform.mass": 8.1, "motion.J1.to": 2.0},
    ),
}


def search_of(scenario, takes, place, **changed):
    """A search's runs at a place, and the names of its numbers."""
    data = {**scenario_of(scenario)[0].data, "name": "search", **changed}
    Path("search.yaml").write_text(json.dumps(data))
    vary = {f"n{k}": {"key": key, "between": BETWEEN} for k, key in enumerate(place)}
    keep = {f"o{k}": {"column": column, "take": take} for k, (column, take) in enumerate(takes.items())}
    study = open_study({"scenario": "search.yaml", "vary": vary, "keep": keep, "minimise": "o0"}, search=True)
    at = dict(zip(vary, place.values()))
    return Runs(probe_study(study.at([at])), None), at


def differences(runs, at, step):
    """The derivatives of all outputs by differences of the eighth order, with a column for each number."""
    columns = []
    for name in at:
        beside = runs.at([{**at, name: at[name] + k * step} for k in AROUND])
        beside.complete(Here(1))
        table = beside.table()
        assert set(table["ended"]) == {"done"}
        columns.append([np.dot([*AROUND.values()], table[name]) / step for name in table.outputs])
    return np.array(columns).T


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scenario", RUNS)
def test_tangents_are_differences_of_whole_runs(scenario):
    """Over the first second at tight tolerances, to 1e-7 of each output's largest derivative."""
    solver = {"method": "dop853", "rtol": 1e-12, "atol": 1e-14}
    runs, at = search_of(scenario, *RUNS[scenario], time={"end": 1, "step": 0.1}, solver=solver, plots=[])
    slopes = np.array([*Derivatives(runs).at(at).values()])
    expected = differences(runs, at, 1e-3)
    sizes = abs(expected).max(axis=1)
    assert (sizes > 0.01).all()
    assert (abs(slopes - expected).max(axis=1) / sizes).max() < 1e-7


GIVEN = {
    "puma-idyn": (
        {"joint2.tau": "rms", "joint3.tau": "largest"},
        {"robot.links.link3.mass": 4.0, "robot.links.link6.r.0": 0.01, "robot.links.link2.joint.rotor_inertia": 0.2},
    ),
    "three-rrr-idyn": (
        {"J1.tau": "rms", "J2.tau": "final"},
        {"robot.links.platform.mass": 7.0, "robot.links.platform.com.0": 0.02},
    ),
}


@pytest.mark.parametrize("scenario", GIVEN)
@pytest.mark.sampled(2)
def test_efforts_of_a_given_motion_have_derivatives_along_masses_from_one_run(scenario, monkeypatch):
    takes, place = GIVEN[scenario]
    runs, at = search_of(scenario, takes, place, plots=[])
    expected = differences(runs, at, 1e-3)
    with monkeypatch.context() as patch:
        patch.setattr("denoc.study.optimise.gradients.study_slopes_of_given_motion", None)
        patch.setattr("denoc.study.optimise.gradients.carry_out_whole_plan", None)
        slopes = np.array([*Derivatives(runs).at(at).values()])
    assert (abs(slopes - expected).max(axis=1) / abs(expected).max(axis=1)).max() < 1e-7


@pytest.mark.parametrize(
    ("takes", "place"),
    [
        ({"J1.tau": "rms"}, {"robot.links.platform.mass": 7.0, "motion.J1.to": 2.0}),
        pytest.param(
            {"J1.tau": "rms"},
            {"robot.links.platform.mass": 7.0, "robot.links.link4.joint.xyz.0": 0.41},
            marks=pytest.mark.full,
        ),
        pytest.param(
            {"J1.tau": "rms", "energy.kinetic": "max"}, {"robot.links.platform.mass": 7.0}, marks=pytest.mark.full
        ),
    ],
    ids=["the motion changes", "the mechanism does", "energies are asked for"],
)
def test_where_more_changes_than_efforts_derivatives_come_from_runs_nearby(takes, place):
    runs, at = search_of("three-rrr-idyn", takes, place, plots=[])
    expected = differences(runs, at, 1e-3)
    slopes = np.array([*Derivatives(runs).at(at).values()])
    assert (abs(expected) > 1e-6).all()
    assert (abs(slopes - expected).max(axis=1) / abs(expected).max(axis=1)).max() < 1e-7


def test_tangents_follow_laws_and_euler_parameters():
    """Along gains, goals and amplitudes of the scenario, and of a state with Euler parameters."""
    forces = {
        "joint1": {"law": "pd", "to": 0.5, "kp": 400, "kd": 80},
        "joint2": {"law": "computed-torque", "kp": 100, "kd": 20},
        "joint3": {"law": "harmonic", "amplitude": 3, "frequency": 2},
        "joint4": {"law": "expression", "force": "-1 N m s/rad * qd"},
    }
    motion = {"joint2": {"law": "cycloid", "to": 0.7, "over": 0.4}}
    place = {"forces.joint1.kp": 390.0, "motion.joint2.to": 0.6, "forces.joint3.amplitude": 2.5}
    takes = {"joint1.q": "final", "joint2.tau": "rms", "joint4.qd": "mean"}
    exact = {"method": "dop853", "rtol": 1e-12, "atol": 1e-14}
    puma = {"time": {"end": 0.3, "step": 0.1}, "solver": exact, "forces": forces, "motion": motion, "plots": []}
    arm = {"time": {"end": 0.3, "step": 0.1}, "solver": exact, "plots": []}
    cases = [("puma-fall", takes, place, puma)]
    cases += [("spherical-arm-fall", {"joint3.e0": "final"}, {"robot.links.link4.mass": 2.1}, arm)]
    for scenario, outputs, at_, changed in cases:
        runs, at = search_of(scenario, outputs, at_, **changed)
        slopes = np.array([*Derivatives(runs).at(at).values()])
        expected = differences(runs, at, 1e-3)
        sizes = abs(expected).max(axis=1)
        assert (sizes > 1e-5).all()
        assert (abs(slopes - expected).max(axis=1) / sizes).max() < 1e-7


# ---- searches


def study(**changed):
    """A pendulum's angle at which it swings farthest in 0.4 s, as a mapping."""
    made = {
        "name": "far",
        "scenario": "swing.yaml",
        "vary": {"lean": {"key": "initial.pin", "between": ["-60 deg", "80 deg"], "start": "50 deg"}},
        "keep": {
            "end": {"column": "pin.q", "take": "final"},
            "speed": {"column": "pin.qd", "take": "final"},
            "swing": {"expression": "end - lean"},
        },
        "minimise": "swing",
    }
    return {**made, **changed}


@functools.cache
def farthest():
    """The angle by scipy alone."""

    def swing(lean):
        solved = solve_ivp(
            lambda t, y: [y[1], -9.81 * math.cos(y[0]) / 0.5], (0, 0.4), [lean, 0], rtol=1e-10, atol=1e-12
        )
        return solved.y[0, -1] - lean

    return minimize_scalar(swing, bounds=(-1.0, 1.4), method="bounded", options={"xatol": 1e-8})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.sampled(4)
def test_all_methods_end_at_the_same_minimum(method):
    made = denoc.optimise(study(method=method))
    assert made.method == method
    assert made.verdict.minimum
    assert made.best["lean"] == pytest.approx(farthest().x, abs=2e-4)
    assert made.value == pytest.approx(farthest().fun, abs=1e-7)
    assert made.value == made["swing"] == made["end"] - made["lean"]
    assert abs(made.verdict.gradient["lean"]) < 1e-3
    assert (made.verdict.held, made.verdict.active, made.spent) == ({}, [], False)


@pytest.mark.parametrize("method", [None, *(name for name, row in METHODS.items() if row.limits)])
@pytest.mark.sampled(2)
def test_limits_hold_and_the_minimum_lies_on_them(method):
    """The energy of a pendulum says how fast it is at the angle where the search ends."""
    chosen = {} if method is None else {"method": method}
    made = denoc.optimise(study(**chosen, **{"subject-to": {"speed": {"at_least": "-5 rad/s"}}}))
    assert made.method == (method or "slsqp")
    assert (made.verdict.minimum, made.verdict.active) == (True, ["speed at least -5 rad/s"])
    assert made["speed"] == pytest.approx(-5, abs=1e-5)
    fallen = math.sin(made["lean"]) - math.sin(made["end"])
    assert 2 * 9.81 * fallen / 0.5 == pytest.approx(made["speed"] ** 2, rel=1e-6)
    assert made["swing"] > farthest().fun
    assert not made.missed


def test_a_bound_holds_a_minimum():
    vary = {"lean": {"key": "initial.pin", "between": ["60 deg", "80 deg"]}}
    made = denoc.optimise(study(vary=vary))
    assert made.best["lean"] == pytest.approx(math.radians(60), abs=1e-12)
    assert made.verdict.held == {"lean": "lower"}
    assert made.verdict.minimum
    assert made.verdict.gradient["lean"] > 0.1
    assert made.verdict.projected == pytest.approx(0, abs=1e-12)


def test_more_starts_see_more_minima():
    """Of sin 15 x + x, which has three minima in between; the start is in the valley of the last one."""
    keep = {"end": {"column": "t", "take": "final"}, "bumpy": {"expression": "sin(15 * lean) + lean / 1 rad"}}
    one, many = (denoc.optimise(study(keep=keep, minimise="bumpy", starts=count, seed=1)) for count in (1, 8))
    assert one.verdict.minimum
    assert many.verdict.minimum
    valley = (math.acos(-1 / 15) + 2 * math.pi * np.arange(-3, 3)) / 15  # where the slope 15 cos 15 x + 1 is zero
    valleys = np.concatenate([valley, -valley])
    lowest = min((math.sin(15 * x) + x, x) for x in valleys if -math.radians(60) < x < math.radians(80))
    assert (many.value, many.best["lean"]) == pytest.approx(lowest, abs=1e-5)
    assert one.value > many.value + 0.3


@pytest.mark.parametrize("method", ["nelder-mead", "l-bfgs-b"])
def test_starts_go_on_together_and_each_takes_its_own_way(method, monkeypatch):
    """The points of all searches are those of each one for itself, in far fewer batches."""
    keep = {"end": {"column": "t", "take": "final"}, "bumpy": {"expression": "sin(15 * lean) + lean / 1 rad"}}
    asked = study(keep=keep, minimise="bumpy", starts=4, seed=1, method=method)
    batches, complete, before = [], Runs.complete, threading.active_count()
    monkeypatch.setattr(Runs, "complete", lambda *given: batches.append(1) or complete(*given))
    filters = list(warnings.filters)
    many = denoc.optimise(asked)
    assert warnings.filters == filters
    together = len(batches)
    monkeypatch.setattr(searching, "go_together", lambda land, searches: [one(land) for one in searches])
    alone = denoc.optimise(asked)
    assert set(many.table["lean"][: many.searched]) == set(alone.table["lean"][: alone.searched])
    assert (many.value, many["lean"]) == pytest.approx((alone.value, alone["lean"]), abs=1e-9)
    assert together < 0.5 * (len(batches) - together)
    assert threading.active_count() == before


def test_what_ends_one_of_many_searches_ends_all(monkeypatch):
    begun, went_on = [], []

    def broken(land, start, tolerance):
        begun.append(start)
        land.value(start)
        if start is not begun[0]:
            raise ZeroDivisionError("one of them")
        for k in range(20):
            went_on.append(land.value(np.array([k / 20])))

    monkeypatch.setitem(METHODS, "l-bfgs-b", replace(METHODS["l-bfgs-b"], search=broken))
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="one of them"):
        denoc.optimise(study(starts=3, method="l-bfgs-b"))
    assert threading.active_count() == before
    assert len(went_on) <= 1


def test_an_interrupt_ends_all_searches_wherever_they_are():
    """Some wait for an answer, one is computing when it comes, and one asks again without end."""
    before, land = threading.active_count(), types.SimpleNamespace(width=1, seed=0, limited=False)
    land.look, land.value = lambda points: None, lambda u: 1.0

    def busy(view):
        while True:
            view.value(np.zeros(1))
            time.sleep(0.001)

    def interrupted(view):
        view.value(np.zeros(1))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go_together(land, [busy, interrupted, busy])
    computing = View(land, busy)
    computing._thread.start()  # without waiting for what it asks
    computing.end()
    assert threading.active_count() == before


def test_a_search_without_enough_runs_says_so(command):
    Path("far.yaml").write_text(json.dumps(study(evaluations=2)))
    code, out, err = command("optimise", "far.yaml", "--no-plot")
    assert (code, err) == (0, "")
    assert out.startswith("far: not shown to be a minimum: ")
    assert ": 2 runs, all that it may take, and 2 around the best; 4 computed" in out


def test_limits_that_no_point_keeps_are_exit_code_3(command):
    Path("far.yaml").write_text(json.dumps(study(**{"subject-to": {"speed": {"at_least": 1}}})))
    code, out, err = command("optimise", "far.yaml", "--no-plot")
    assert (code, err) == (3, "")
    assert out.startswith("far: no point within the limits: speed at least 1")


def test_the_files_run_by_themselves_and_nothing_is_computed_twice(command):
    Path("far.yaml").write_text(json.dumps(study()))
    code, out, err = command("optimise", "far.yaml")
    assert (code, err) == (0, "")
    kept = json.loads(Path("outputs/far/far.json").read_text())
    lean = kept["best"]["lean"]
    assert kept["minimum"] is True
    table = Path("outputs/far/far.csv").read_text().splitlines()
    assert table[0] == "run,lean,end,speed,swing,ended,as_expected,reason,energy,energy_share"
    assert len(table) == kept["runs"] + 1
    assert Path("outputs/far/far-progress.png").stat().st_size > 1000
    result = denoc.run("outputs/far/far-best-1.scenario.yaml")
    assert result["pin.q"][0] == lean
    assert result["pin.q"][-1] == pytest.approx(kept["outputs"]["end"], abs=1e-12)
    code, again, _ = command("optimise", "far.yaml", "--json")
    assert (code, json.loads(again)["value"]) == (0, kept["value"])
    code, again, _ = command("optimise", "far.yaml")
    assert again == out.replace(f"{kept['runs']} computed", "0 computed")
    assert table == Path("outputs/far/far.csv").read_text().splitlines()


def test_an_interrupted_search_goes_on_where_it_was(monkeypatch):
    whole, asked = denoc.optimise(study()), []

    def interrupted(task):
        asked.append(task)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return study_task_carried_out(task)

    monkeypatch.setattr(engines, "study_task_carried_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        denoc.optimise(study(), keep="runs.sqlite")
    rest = denoc.optimise(study(), keep="runs.sqlite")
    assert rest.computed == whole.computed - 4
    assert (rest.best, rest.value) == (whole.best, whole.value)
    assert rest.table.csv_text() == whole.table.csv_text()


# ---- what speaks for a minimum


def test_multipliers_take_what_bounds_and_limits_hold():
    """Of −x − 2y + z in the cube: x at its upper bound, and y at a limit y ≤ z, along which it falls by 1."""
    slope, limit = np.array([-1.0, -2.0, 1.0]), np.array([[0.0, -1.0, 1.0]])
    assert projected_search_slope(slope, limit[:0], [None, None, None]).tolist() == slope.tolist()
    assert projected_search_slope(slope, limit[:0], [1, 1, 0]).tolist() == [0, 0, 0]
    assert projected_search_slope(slope, limit[:0], [0, 1, 0]).tolist() == [-1, 0, 0]  # pulls away from its bound
    assert projected_search_slope(slope, limit, [1, None, None]) == pytest.approx(np.array([0, -0.5, -0.5]))
    assert projected_search_slope(slope, limit, [1, None, 0]) == pytest.approx(np.array([0, -0.5, -0.5]))
    assert projected_search_slope(slope, limit, [1, None, 1]) == pytest.approx(np.zeros(3), abs=1e-12)


# ---- mistakes

FAR = yaml_text(study())
MISTAKES = {
    "keyword": ("minimise: swing", "minimise: swing\nminimize: swing", "unknown key `minimize`"),
    "output": ("minimise: swing", "minimise: swong", "no such output"),
    "weight": ("minimise: swing", "minimise: {end: 1, swing: light}", "minimise.swing"),
    "units": ("minimise: swing", "minimise: {swing: 1, speed: 1}", "`speed` is an angular rate, `swing` an angle"),
    "upside down": ("-60 deg", "90 deg", "the bounds are upside down"),
    "outside": ("50 deg", "85 deg", "the start is out of the bounds"),
    "other way": ("between:", "sobol:", "`start` is for a number that is sought"),
    "limit": ("minimise: swing", "minimise: swing\nsubject-to: {swang: {at_most: 1}}", "no such output"),
    "no limit": ("minimise: swing", "minimise: swing\nsubject-to: {end: {}}", "`end` has no limit"),
    "limits": (
        "minimise: swing",
        "minimise: swing\nsubject-to: {end: {at_least: 2, at_most: 1}}",
        "the limits are upside down",
    ),
    "method": ("minimise: swing", "minimise: swing\nmethod: newton", "l-bfgs-b, slsqp, trust-constr, nelder-mead"),
    "keeps none": (
        "minimise: swing",
        "minimise: swing\nmethod: l-bfgs-b\nsubject-to: {end: {at_most: 1}}",
        "this method keeps no limits",
    ),
    "jumps": (
        "qd, take: final}\n  swing: {expression: end - lean}\nminimise: swing",
        "q, take: settles, within: 1 deg}\nmethod: slsqp\nminimise: speed",
        "there are no derivatives: when pin.q settles may jump",
    ),
    "everywhere": (
        "minimise: swing",
        "minimise: swing\nmethod: differential-evolution\nstarts: 3",
        "begins everywhere",
    ),
    "starts": ("minimise: swing", "minimise: swing\nstarts: 0", "starts"),
    "column": ("pin.qd", "pin.qqd", "the results have no such column"),
    "sweep": ("minimise: swing\n", "", "`minimise` is missing"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_have_places_and_nothing_is_written(case, command):
    old, new, message = MISTAKES[case]
    assert old in FAR
    Path("far.yaml").write_text(FAR.replace(old, new))
    code, out, err = command("optimise", "far.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("error: far.yaml:")
    assert message in err
    assert not list(Path().glob("outputs/**/*"))


def test_a_search_whose_outputs_have_no_value_says_which(command):
    Path("far.yaml").write_text(yaml_text(study(keep={"none": {"expression": "1 / (lean - lean)"}}, minimise="none")))
    code, _, err = command("optimise", "far.yaml")
    assert code == 3
    assert "none of 1 runs has sound numbers: `none` has no value" in err


def test_a_run_that_ends_before_its_end_is_no_minimum():
    """A crank that a coupler of less than 0.13 keeps from turning round has turned least, but not as it should."""
    crank = {"robot": "four-bar", "task": "inverse", "time": {"end": 1}, "motion": {"A0": {"law": "rate", "rate": 6.5}}}
    Path("crank.yaml").write_text(json.dumps(crank))
    sought = {
        "scenario": "crank.yaml",
        "vary": {"length": {"key": "robot.loops.B.first.at.0", "between": [0.11, 0.3], "start": 0.14}},
        "keep": {"turned": {"column": "A0.q", "take": "final"}},
        "minimise": "turned",
        "method": "nelder-mead",
        "evaluations": 20,
    }
    found = denoc.optimise(sought)
    assert found["turned"] == 6.5
    assert found.table["as_expected"] == [x > 0.13 for x in found.table["length"].tolist()]
    assert not all(found.table["as_expected"])


def test_a_store_that_cannot_be_read_is_no_lack_of_derivatives(monkeypatch):
    """A search had gone on without them, and to another point."""
    at, broken = Derivatives.at, InputError("this is not a store of runs")

    def unreadable(self, place):
        monkeypatch.setattr(self._runs.store, "known", lambda keys: (_ for _ in ()).throw(broken))
        return at(self, place)

    monkeypatch.setattr(Derivatives, "at", unreadable)
    with pytest.raises(InputError, match="not a store of runs"):
        denoc.optimise(study(method=None))


def test_a_minimum_may_lie_where_numbers_are_refused():
    """A damper that makes the swing less; there are none that make it more."""
    damper = {"damper": {"key": "robot.links.rod.joint.friction.viscous", "between": [-1, 1]}}
    made = denoc.optimise(study(vary=damper, keep={"end": {"column": "pin.q", "take": "final"}}, minimise="end"))
    assert made["damper"] == 0.0
    assert made.verdict.words == "a minimum at an edge: along its gradient runs fail or are refused"


@pytest.mark.filterwarnings("error")
def test_a_range_beyond_all_size_ends_where_runs_are_refused():
    """The slope over the range overflows where it is squared, so that no step would be taken along it."""
    motion = {"joint1": {"law": "cycloid", "to": "60 deg"}, "joint2": {"law": "hold"}, "joint3": {"law": "hold"}}
    scenario = {"robot": "planar3r", "task": "inverse", "time": {"end": 0.2, "step": 0.05}, "motion": motion}
    hand = {"hand": {"key": "robot.links.link3.mass", "between": [-1e300, 6], "start": 5}}
    effort = {"effort": {"column": "joint2.tau", "take": "rms"}}
    Path("arm.yaml").write_text(yamls.dump(scenario))
    made = denoc.optimise(
        {"scenario": "arm.yaml", "vary": hand, "keep": effort, "minimise": "effort", "evaluations": 12}
    )
    assert made["hand"] == 6.0
    assert made.verdict.words == "a minimum at an edge: along its gradient runs fail or are refused"


def test_a_sweep_refuses_a_search(command):
    Path("far.yaml").write_text(FAR)
    code, _, err = command("sweep", "far.yaml")
    assert code == 2
    assert "this study seeks a minimum" in err
    Path("far.yaml").write_text(FAR.replace("minimise: swing", "tolerance: 0.1"))
    assert "`tolerance` is for a study with `minimise`" in command("sweep", "far.yaml")[2]


def test_where_there_are_no_derivatives_it_is_said(command):
    """A joint that comes to its stop has none; the search goes on without, and says why."""
    Path("pendulum.yaml").write_text(PENDULUM.replace("actuated: true", "actuated: true, limits: [-10 deg, 85 deg]"))
    Path("far.yaml").write_text(FAR)
    made = denoc.optimise("far.yaml")
    assert made.method == "nelder-mead"
    assert "an event at t = " in made.why
    assert made.verdict.words == "a minimum at a kink: what is minimised grows along its gradient, too"
    assert made["end"] == pytest.approx(math.radians(-10), abs=1e-4)  # where it comes to the stop, and no farther
    code, _, err = command("optimise", "far.yaml")
    Path("far.yaml").write_text(FAR + "method: slsqp\n")
    code, _, err = command("optimise", "far.yaml")
    assert code == 2
    assert re.search(r"there are no derivatives: an event at t = \S+ s, where pin reaches its \w+ limit\n", err)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"joint": "pin", "event": "its prescribed rate jumps"}, "pin's prescribed rate jumps"),
        ({"actuator": "motor", "event": "reaches its effort limit"}, "motor reaches its effort limit"),
        ({"event": "takes other coordinates"}, "takes other coordinates"),
    ],
)
def test_an_event_is_said_in_a_sentence(event, said):
    assert gradients._said_of_event({"t": 0.25, **event}) == f"an event at t = 0.25 s, where {said}"


def test_where_derivatives_end_on_the_way_the_search_goes_on_without():
    """The start is far from the stop, to which the search then comes."""
    Path("pendulum.yaml").write_text(PENDULUM.replace("actuated: true", "actuated: true, limits: [-10 deg, 85 deg]"))
    made = denoc.optimise(yaml.safe_load(FAR.replace("start: 50 deg", "start: 75 deg")))
    assert made.method == "l-bfgs-b"
    assert "on nelder-mead, where there are no derivatives: an event at t = " in made.why
    assert made.verdict.minimum
    assert made["end"] == pytest.approx(math.radians(-10), abs=1e-4)


def crank_study(keep, scenario, **changed):
    """A search for lengths of a four-bar whose crank is driven, as a mapping."""
    crank = {"robot": "four-bar", "task": "inverse", "time": {"end": 1, "step": 0.05}, **scenario}
    Path("crank.yaml").write_text(json.dumps(crank))
    return {"name": "crank", "scenario": "crank.yaml", "keep": keep, **changed}


def test_a_step_into_a_singular_place_is_shortened_and_derivatives_stay():
    """A rocker that swings by 1.2 rad: the first step leads to lengths with which the crank can't turn round."""
    keys = {
        "coupler": "robot.loops.B.first.at.0",
        "ground": "robot.links.rocker.joint.xyz.0",
        "crank": "robot.links.coupler.joint.xyz.0",
    }
    ranges = {"coupler": ([0.26, 0.35], 0.3), "ground": ([0.22, 0.32], 0.28), "crank": ([0.05, 0.17], 0.1)}
    turn = {"motion": {"A0": {"law": "rate", "rate": "360 deg/s"}}, "initial": {"A0": "90 deg"}, "expect": "either"}
    keep = {name: {"column": "B0.q", "take": take} for name, take in (("high", "max"), ("low", "min"))}
    keep["off"] = {"expression": "(high - low - 1.2)^2"}
    vary = {name: {"key": keys[name], "between": between, "start": at} for name, (between, at) in ranges.items()}
    made = denoc.optimise(crank_study(keep, turn, vary=vary, minimise="off"))
    assert "singularity" in made.table["ended"]
    assert made.verdict.words == "a minimum"
    assert made["high"] - made["low"] == pytest.approx(1.2, abs=1e-6)
    assert "nelder-mead" not in made.why
    assert re.match(r"there are derivatives at the start; 1 step shortened for want of derivatives: at t = ", made.why)
    assert len(made.table) < 40


def test_where_loops_close_to_one_side_only_derivatives_are_those_of_that_side():
    """The shortest coupler with which the crank can stand at 0 has 0.07."""
    vary = {"length": {"key": "robot.loops.B.first.at.0", "between": [0.05, 0.3]}}
    keep = {"torque": {"column": "A0.tau", "take": "largest"}, "size": {"expression": "length + 0*torque/(1 N m)"}}
    rest = {"motion": {"A0": {"law": "cycloid", "to": "1 deg"}}}
    study_of = open_study(crank_study(keep, rest, vary=vary, minimise="size"), search=True)
    at = {"length": 0.0701}
    runs = Runs(probe_study(study_of.at([at])), None)
    assert Derivatives(runs).at(at)["size"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            NumericalError("four-bar: the loops can't be closed: `B` by 3 mm; look for a length that is wrong"),
            "a run right beside fails: four-bar: the loops can't be closed: `B` by 3 mm",
        ),
        (gradients.NoTangentsError("forces jump; always"), "forces jump; always"),
    ],
)
def test_why_there_are_no_derivatives_gives_no_advice_about_the_files(error, words, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setattr(Derivatives, "_slopes", fails)
    assert Derivatives._computed(object.__new__(Derivatives), {}).reason == words


# ---- forces that jump, and those with corners

# a box of 2 kg, pushed back with 3 N from 0.2 m on: at 2 s it is at 0.4 - 2v + 4/3 v^2, which is least at v = 0.75
BOX = """
name: box
convention: frames
gravity: [0, 0, 0]
links:
  - {name: b, joint: {type: prismatic, name: s, axis: [1, 0, 0]}, mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
"""


def box_of(force, **more):
    """A scenario in which the box has such a force law."""
    Path("box.yaml").write_text(BOX)
    law = {"s": {"law": "expression", "force": force}} if isinstance(force, str) else {}
    time = {"end": 2, "step": 0.02}
    made = {"robot": "box.yaml", "task": "simulate", "time": time, "rates": {"s": 0.6}, "forces": law, **more}
    Path("push.yaml").write_text(json.dumps(made))


def box_study(column="s.q", take="final", start=0.6, **changed):
    """A search for the box's rate at the start, as a mapping."""
    vary = {"v": {"key": "rates.s", "between": [0.05, 1.2], "start": start}}
    keep = {"end": {"column": column, "take": take}}
    return {"name": "box", "scenario": "push.yaml", "vary": vary, "keep": keep, "minimise": "end", **changed}


def derivative_of_box(at=0.6, **changed):
    """The derivative of what is kept."""
    study_of = open_study(box_study(**changed), search=True)
    runs = Runs(probe_study(study_of.at([{"v": at}])), None)
    return float(Derivatives(runs).at({"v": at})["end"][0])


def test_a_search_among_forces_that_jump_goes_without_derivatives():
    box_of("-3*step(q - 0.2)")
    made = denoc.optimise(box_study())
    assert made.method == "nelder-mead"
    assert re.search(r"no derivatives: the force of `s` jumps \(`step`\) with the state at t = 0.3\d+ s", made.why)
    assert made.value == pytest.approx(-0.35, abs=1e-4)
    assert made["v"] == pytest.approx(0.75, abs=1e-2)
    assert made.verdict.words.startswith("a minimum as far as the points around it show (no derivatives: the force of")


def test_a_jump_that_comes_on_the_way_ends_derivatives():
    """Where the search begins, the box doesn't come to the force; it is sought where it is farthest."""
    box_of("-3*step(q - 0.2)")
    made = denoc.optimise(box_study(start=0.08, minimise={"end": -1}))
    assert made.method == "l-bfgs-b"
    assert "on nelder-mead, where there are no derivatives: the force of `s` jumps" in made.why


@pytest.mark.parametrize(
    ("force", "more", "whose"),
    [
        ("-1.5*sign(q - 0.2)", {}, "force of `s` jumps (`sign`)"),
        ("-3*floor(q/0.2)", {}, "force of `s` jumps (`floor`)"),
        ("-3*smoothstep(step(qd - 0.3))", {"solver": {"rtol": 1e-6}, "rates": {"s": 0.31}}, "force of `s` jumps"),
        (
            None,
            {"wrenches": [{"link": "b", "force": [{"law": "expression", "force": "-3*step(s.q - 0.2)"}, 0, 0]}]},
            "b`",
        ),
        ("0", {"record": {"expressions": {"far": "step(s.q - 0.2)", "twice": "2*far"}}}, "`far` jumps (`step`)"),
    ],
)
def test_what_jumps_with_the_state_has_no_derivatives(force, more, whose):
    box_of(force, **more)
    column, at = ("twice" if "record" in more else "s.q"), more.get("rates", {"s": 0.6})["s"]
    with pytest.raises(denoc.DenocError, match=re.escape(whose)):
        derivative_of_box(at, column=column, take="mean")


@pytest.mark.parametrize(("force", "at"), [("-3*step(q - 0.2)", 0.09), ("-3*step(t - 1)", 0.6), ("-3*sign(qd)", 2.9)])
def test_jumps_that_a_run_does_not_pass_and_those_of_time_leave_the_derivatives(force, at):
    """Each run ends where v t and something that doesn't depend on v lead."""
    box_of(force, time={"end": 1.5, "step": 0.1})
    vary = {"v": {"key": "rates.s", "between": [0.05, 4], "start": at}}
    assert derivative_of_box(at, vary=vary) == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize("start", [0.0, -0.01])
def test_a_run_from_a_dead_centre_where_a_joint_rubs_has_no_derivatives(start):
    """Its friction begins on the way, though no event says so; from beside the dead centre it is there all the time."""
    document = yaml.safe_load(denoc.load("slider-crank").document.text)
    document["links"][2]["joint"]["friction"] = {"coulomb": 2}
    Path("rubs.yaml").write_text(yaml.dump(document))
    fall = {"robot": "rubs.yaml", "task": "simulate", "time": {"end": 0.2, "step": 0.02}, "initial": {"crank": start}}
    Path("fall.yaml").write_text(yaml.dump(fall))
    mass = {"key": "robot.links.piston.mass", "between": [0.5, 1], "start": 0.8}
    keep = {"end": {"column": "crank.q", "take": "final"}}
    sought = open_study(
        {"scenario": "fall.yaml", "vary": {"weight": mass}, "keep": keep, "minimise": "end"}, search=True
    )
    slopes = Derivatives(Runs(probe_study(sought.at([{"weight": 0.8}])), None))
    if start:
        assert slopes.at({"weight": 0.8})["end"][0] > 0.01
        return
    with pytest.raises(denoc.DenocError, match="rests at a dead centre begins to move"):
        slopes.at({"weight": 0.8})


@pytest.mark.parametrize(("solver", "off"), [({}, 1e-2), ({"rtol": 1e-11, "atol": 1e-13}, 1e-4)])
def test_at_corners_derivatives_are_as_close_as_the_documents_say(solver, off):
    """A spring behind a gap: from 0.2 m on, q = 0.2 + v/w sin(w (t - 0.2/v))."""
    box_of("-3*max(q - 0.2, 0)", solver=solver)
    v, w = 0.6, math.sqrt(3 / 2)
    turn = w * (2 - 0.2 / v)
    assert derivative_of_box(v) == pytest.approx(math.sin(turn) / w + 0.2 / v * math.cos(turn), rel=off)


ROUGH = {"task": "inverse", "time": {"end": 2, "step": 0.05}, "robot": "rough.yaml", "forces": {}, "rates": {}}


@pytest.mark.parametrize("key", ["motion.s.amplitude", "motion.s.frequency"])
def test_friction_of_a_motion_that_turns_back_may_have_no_derivatives(key):
    """The force is 2 a + 0.5 sign(v) for a harmonic motion, whose amplitude doesn't move the instants."""
    box_of(None, **ROUGH, motion={"s": {"law": "harmonic", "amplitude": 0.3, "frequency": 0.7, "phase": 0.1}})
    Path("rough.yaml").write_text(BOX.replace("axis: [1, 0, 0]", "axis: [1, 0, 0], friction: {coulomb: 0.5}"))
    at = {"amplitude": 0.3, "frequency": 0.7}[key.rpartition(".")[2]]
    vary = {"v": {"key": key, "between": [0.1, 1]}}
    if key.endswith("frequency"):
        with pytest.raises(denoc.DenocError, match="the friction of `s` jumps, and the instant of that depends on the"):
            derivative_of_box(at, vary=vary, column="s.tau", take="rms")
        assert abs(derivative_of_box(at, vary=vary, column="s.qdd", take="rms")) > 1
        return
    t, turn = np.arange(41) * 0.05, 2 * math.pi * 0.7
    weights = np.full(41, 0.05)
    weights[[0, -1]] /= 2

    def rms(a):
        tau = -2 * a * turn**2 * np.sin(turn * t + 0.1) + 0.5 * np.sign(np.cos(turn * t + 0.1))
        return math.sqrt((tau**2 * weights).sum() / 2)

    expected = (rms(at + 1e-4) - rms(at - 1e-4)) / 2e-4
    assert derivative_of_box(at, vary=vary, column="s.tau", take="rms") == pytest.approx(expected, rel=1e-6)


def test_friction_of_a_driven_joint_jumps_in_its_force_alone():
    """A rod swings freely on a box that is driven to and fro against friction."""
    box_of(None, robot="rough.yaml", rates={}, motion={"s": {"law": "harmonic", "amplitude": 0.3, "frequency": 0.7}})
    arm = "  - {name: rod, joint: {type: revolute, name: r, axis: [0, 1, 0]}, mass: 1, com: [0.2, 0, 0],"
    arm += " inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    Path("rough.yaml").write_text(BOX.replace("axis: [1, 0, 0]", "axis: [1, 0, 0], friction: {coulomb: 0.5}") + arm)
    vary = {"v": {"key": "motion.s.frequency", "between": [0.1, 1]}}
    with pytest.raises(denoc.DenocError, match="the friction of `s` jumps, and the instant of that depends on the"):
        derivative_of_box(0.7, vary=vary, column="s.tau", take="mean")
    ends = [denoc.ensemble("push.yaml", [{"motion.s.frequency": 0.7 + x}])[0]["r.q"][-1] for x in (-1e-4, 1e-4)]
    assert derivative_of_box(0.7, vary=vary, column="r.q") == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-4)


def test_what_a_formula_does_not_know_has_a_difference():
    """asin is no function of formulas; its derivative at 0.3 is 1/cos of its value."""
    keep = {"end": {"column": "t", "take": "final"}, "angle": {"expression": "asin(lean / 1 rad) * (end / 0.4 s)"}}
    study_of = open_study(study(keep=keep, minimise="angle"), search=True)
    runs = Runs(probe_study(study_of.at([{"lean": 0.3}])), None)
    assert Derivatives(runs).at({"lean": 0.3})["angle"] == pytest.approx(1 / math.sqrt(1 - 0.09), rel=1e-9)


def test_explained_without_a_file(command):
    Path("far.yaml").write_text(FAR)
    code, out, err = command("optimise", "far.yaml", "--explain")
    assert (code, err) == (0, "")
    assert "by l-bfgs-b (there are derivatives at the start), from 1 start, at most 1000 runs" in out
    assert not Path("outputs").exists()


def test_forces_that_look_back_have_no_tangents_and_their_gains_are_their_own():
    """Dead time: what such a law sees isn't in the state; runs of a study are as they are alone."""
    now = {"law": "pd", "to": 1, "kp": 5, "kd": 1}
    forces = {"joint1": {**now, "dead_time": 0.05}, "joint2": now}
    time = {"end": 0.2, "step": 0.02}
    Path("late.yaml").write_text(json.dumps({"robot": "planar3r", "task": "simulate", "time": time, "forces": forces}))
    made = denoc.optimise(
        study(
            scenario="late.yaml",
            vary={"gain": {"key": "forces.joint1.kp", "between": [1, 9]}},
            keep={"end": {"column": "joint2.q", "take": "final"}},
            minimise="end",
            evaluations=20,
        )
    )
    assert made.method == "nelder-mead"
    assert made.why == "no derivatives: forces depend on what the state was before"
    (alone,) = denoc.ensemble("late.yaml", [{"forces.joint1.kp": made.best["gain"]}])
    assert made["end"] == pytest.approx(alone["joint2.q"][-1], abs=1e-10)
