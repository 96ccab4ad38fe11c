"""Studies: which runs they have, what is kept of them, and that the table is the same wherever and however often."""

import ast
import copy
import csv
import dataclasses
import hashlib
import io
import itertools
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
import types
import warnings
from functools import partial, reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

import denoc
import yamls
from denoc.cli.sweep import _progress, duration_to_print
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.record.files import check_recorded_checksums
from denoc.scenario import prepare_scenario
from denoc.study import variations
from denoc.study.run_blocks import blocks_of_variations
from denoc.study.sweep import engines, probe, store
from denoc.study.sweep import run as sweeping
from denoc.study.sweep.keep import Reduction, sweep_settling_times, take_sweep_outputs
from denoc.study.sweep.table import Table, unbeaten_sweep_runs
from limits import HANGS

pytestmark = pytest.mark.usefixtures("unseen_pictures")
SWING = "{robot: planar3r, task: simulate, time: {end: 0.2, step: 0.03}}\n"
STUDY = """
scenario: swing.yaml
vary:
  load: {grid: {from: 0.5 kg, to: 1.5 kg, count: 2}}
  way: {key: solver.method, list: [rk45, rk56]}
  start: {key: [initial.joint1, initial.joint2], random: [-30 deg, 30 deg]}
  rate: {key: rates.joint3, random: [0, 1]}
set:
  robot.links.link3.mass: load
  robot.links.link2.mass: 2 kg - load/2
samples: 3
seed: 5
keep:
  high: {column: joint2.q, take: max}
  low: {column: joint2.q, take: min}
  size: {column: joint2.q, take: largest}
  root: {column: joint3.qd, take: rms}
  middle: {column: joint3.qd, take: mean}
  last: {column: joint1.q, take: final}
  end: {column: t, take: final}
  ratio: {expression: (high - low) / (root * 1 s)}
"""
COUNT = 12


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a study and its scenario."""
    monkeypatch.chdir(tmp_path)
    Path("swing.yaml").write_text(SWING)
    Path("study.yaml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def command(command_line):
    """Runs the command: exit code, what it printed, what it complained of."""
    return partial(command_line, "sweep")


def small_batches(monkeypatch, most=1):
    for name in ("FIRST", "MOST"):
        monkeypatch.setattr(sweeping, name, most)


def study(**changed):
    """A small study as a mapping."""
    made = {
        "scenario": "swing.yaml",
        "vary": {"load": {"key": "robot.links.link3.mass", "grid": {"from": 0.5, "to": 1.5, "count": 4}}},
        "keep": {"last": {"column": "joint1.q", "take": "final"}},
    }
    return {**made, **changed}


# ---- numbers


def test_rows_are_the_runs_one_by_one():
    """Against runs of the scenario, each by itself in plain Python, and sums that NumPy makes of their columns."""
    swept = denoc.sweep("study.yaml")
    table = swept.table
    assert len(table) == COUNT
    assert [*table.columns][:7] == ["run", "load", "way", "start", "rate", *table.inputs[4:]]
    expected = itertools.product((0.5, 1.5), ("rk45", "rk56"), range(3))
    starts = [np.random.default_rng([5, k]).random(3) for k in range(2)]
    for k, (load, way, n) in enumerate(expected):
        start, rate = np.radians(60) * starts[0][n] - np.radians(30), starts[1][n]
        assert [table[name][k] for name in ("load", "way")] == [load, way]
        assert (table["start"][k], table["rate"][k]) == pytest.approx((start, rate), abs=1e-15)
        assert table["robot.links.link2.mass"][k] == 2 - load / 2
        scenario = {
            "robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.03}, "solver": {"method": way},
            "initial": {"joint1": start, "joint2": start}, "rates": {"joint3": rate}, "replay": {"backend": "plain"},
        }  # fmt: skip
        heavier = {"robot.links.link3.mass": load, "robot.links.link2.mass": 2 - load / 2}
        (alone,) = denoc.ensemble(scenario, [heavier])
        q, qd = alone["joint2.q"], alone["joint3.qd"]
        span = alone.t[-1] - alone.t[0]
        mean, square = trapezoid(qd, alone.t) / span, trapezoid(qd**2, alone.t) / span
        high, low, size = q.max(), q.min(), abs(q).max()
        numbers = [high, low, size, np.sqrt(square), mean, alone["joint1.q"][-1], 0.2, (high - low) / np.sqrt(square)]
        assert [table[name][k] for name in table.outputs] == pytest.approx(numbers, rel=1e-7, abs=1e-9)
        assert (table["ended"][k], table["reason"][k], table["energy"][k]) == ("done", "", "holds")
    assert table.units["root"] == "rad/s"
    assert table.units["ratio"] == "1"


def test_the_file_has_the_same_numbers_and_no_others(command):
    code, out, err = command("study.yaml", "--no-plot")
    assert (code, err) == (0, "")
    assert out.startswith(f"study: done, {COUNT} runs, {COUNT} computed\n")
    table = denoc.sweep("study.yaml").table
    with Path("outputs/study/study.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == [*table.columns]
    assert [float(row["ratio"]) for row in rows] == table["ratio"].tolist()
    assert [row["way"] for row in rows] == table["way"]
    assert list(table.to_pandas().columns) == [*table.columns]


@pytest.mark.parametrize("way", ["latin", "sobol"])
def test_samples_fill_the_range(way):
    entries = {name: {way: [2.0, 6.0]} for name in ("first", "second")}
    entries["first"]["key"], entries["second"]["key"] = "rates.joint1", "rates.joint2"
    points = denoc.sweep(study(vary=entries, samples=8)).table
    for name in entries:  # one point in each eighth
        assert sorted(((points[name] - 2) * 2).astype(int)) == list(range(8))
    other = denoc.sweep(study(vary=entries, samples=8, seed=1)).table
    assert (points["first"] != other["first"]).any()


RECORDED = [
    "A0.reaction.fx",
    "A.reaction.n",
    "B.lambda.f",
    "rocker.B.x",
    "rocker.B.vy",
    "rocker.B.az",
    "energy.kinetic",
]


def test_studies_switch_on_what_they_keep(command):
    """As runs of the scenario with these keys of `record`, and without it where the study says so itself."""
    Path("swing.yaml").write_text("{robot: four-bar, task: simulate, time: {end: 0.05}, record: {energy: false}}")
    keep = {name.replace(".", "_"): {"column": name, "take": "rms"} for name in RECORDED}
    keep["late"] = {"column": "t", "at": {"column": "A0.q", "reaches": -0.01}}
    data = study(vary={"load": {"key": "robot.links.rocker.mass", "list": [2, 3]}}, keep=keep, rows=["A0.reaction.fz"])
    Path("kept.yaml").write_text(json.dumps(data))
    code, _, err = command("kept.yaml", "--no-plot", "--best", "late")
    assert (code, err) == (0, "")
    swept = denoc.sweep("kept.yaml", keep="outputs/kept/kept.runs.sqlite")
    assert swept.computed == 0
    switches = ("reactions", "resultants", "point_velocities", "point_accelerations", "energy")
    record = {**dict.fromkeys(switches, True), "points": ["rocker.B"]}
    for k, mass in enumerate((2, 3)):
        changes = {"record": record, "robot.links.rocker.mass": mass}
        (alone,) = denoc.ensemble("swing.yaml", [changes])
        for name in RECORDED:
            root = np.sqrt(trapezoid(alone[name] ** 2, alone.t) / 0.05)
            assert swept.table[name.replace(".", "_")][k] == pytest.approx(root, rel=1e-6, abs=1e-9), name
        own = swept.rows["run"] == k
        assert swept.rows["A0.reaction.fz"][own] == pytest.approx(alone["A0.reaction.fz"], abs=1e-9)
    assert "A.reaction.n" in denoc.run("outputs/kept/kept-best-1.scenario.yaml")
    assert {"A0.q", "energy.kinetic"} & {*denoc.run("swing.yaml")} == {"A0.q"}
    with pytest.raises(InputError, match=r"no such column(?s:.*)`record: \{reactions: true\}` makes it"):
        denoc.sweep({**data, "set": {"record.reactions": False}})
    with pytest.raises(InputError, match=r"did you mean `A0\.reaction\.nx`"):
        denoc.sweep({**data, "rows": ["A0.reacton.nx"]})


def test_points_of_the_scenario_stay_beside_those_that_are_kept():
    robot = copy.deepcopy(denoc.load("planar3r").document.data)
    robot["links"][2]["points"] = {"one": [0.1, 0, 0], "two": [0.2, 0, 0]}
    Path("pointed.yaml").write_text(yamls.dump(robot))
    data = {"robot": "pointed.yaml", "task": "simulate", "time": {"end": 0.1}, "record": {"points": ["link3.one"]}}
    Path("swing.yaml").write_text(json.dumps(data))
    keep = {name: {"column": f"link3.{name}.x", "take": "final"} for name in ("one", "two")}
    table = denoc.sweep(study(keep=keep)).table
    (alone,) = denoc.ensemble("swing.yaml", [{"robot.links.link3.mass": 0.5}])
    assert table["one"][0] == pytest.approx(alone["link3.one.x"][-1], rel=1e-9)
    assert abs(table["two"] - table["one"]).min() > 1e-3


def test_switches_are_set_in_all_runs():
    swept = denoc.sweep(study(set={"record.reactions": True, "record.energy": False}))
    assert swept.table["record.reactions"] == [True] * 4
    assert swept.table["energy"] == [""] * 4
    assert swept.table.csv_text().splitlines()[1].split(",")[2:4] == ["true", "false"]
    plain = denoc.sweep(study())
    assert swept.table["last"] == pytest.approx(plain.table["last"], rel=1e-12)
    assert set(plain.table["energy"]) == {"holds"}


def test_a_random_number_stays_when_another_is_added():
    one = {"first": {"key": "rates.joint1", "random": [0, 1]}}
    two = {**one, "second": {"key": "rates.joint2", "random": [0, 1]}}
    few, more = (denoc.sweep(study(vary=vary, samples=4)).table["first"] for vary in (one, two))
    assert few.tolist() == more.tolist()


def test_keys_for_whole_numbers_get_them():
    entries = {"most": {"key": "solver.max_steps", "list": [3, 1000]}}
    table = denoc.sweep(study(vary=entries)).table
    assert table["ended"] == ["failed", "done"]
    assert "steps" in table["reason"][0]
    assert table["last"].shape == (2,)


def test_what_has_no_value_is_empty():
    keep = {**study()["keep"], "nothing": {"expression": "last / (load - 0.5 kg)"}}
    entry = {"load": {"key": "robot.links.link3.mass", "grid": {"from": 0.5, "to": "1.5 kg", "count": 3}}}
    table = denoc.sweep(study(vary=entry, keep=keep)).table
    assert np.isnan(table["nothing"]).tolist() == [True, False, False]
    assert table["nothing"][2] == table["last"][2]
    assert table.csv_text().splitlines()[1].split(",")[3] == ""


def test_the_csv_file_is_what_pythons_own_writer_makes():
    columns = {
        "run": [0, 1, 2],
        "a, b": np.array([0.1, np.nan, -np.inf]),
        "whole": np.array([1, 2, 3]),
        "tiny": np.array([5e-324, -0.0, 1e22 / 3]),
        "unbeaten": [True, False, True],
        "reason": ['says "no"', "one, two", "lines\nand\rmore 100 %s"],
    }
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(x.tolist() if isinstance(x, np.ndarray) else x for x in columns.values())):
        words = [{True: "true", False: "false"}[x] if isinstance(x, bool) else x for x in row]
        writer.writerow(["" if x != x else f"{x:.17g}" if isinstance(x, float) else x for x in words])
    assert Table(columns, {}, [], []).csv_text() == file.getvalue()


@pytest.mark.parametrize(("going", "phase"), [("up", 0.3), ("down", np.pi - 0.3), ("either", 0.3)])
def test_a_value_at_the_instant_at_which_a_column_passes_a_level(going, phase):
    """Cubics between rows: the error falls with the fourth power of the step."""
    worst = []
    for step in (0.02, 0.005):
        t = np.arange(0, 3, step)
        columns = {"x": np.sin(2 * t)[None], "y": np.exp(-t)[None]}
        (row,) = take_sweep_outputs(
            t, columns, [Reduction(name, "", "x", np.sin(0.3), going) for name in ("t", "y")], 1
        )
        worst.append(abs(row - [phase / 2, np.exp(-phase / 2)]).max())
    assert worst[1] < worst[0] / 40
    assert worst[1] < 1e-10
    assert np.isnan(take_sweep_outputs(t, columns, [Reduction("y", "", "x", 1.01, going)], 1)).all()
    assert np.isnan(take_sweep_outputs(t, columns, [Reduction("y", "", "x", 0.0, "up")], 1)).item() == (t[-1] < np.pi)


def test_a_crossing_in_runs_is_that_of_each_run():
    entry = {"rate": {"key": "rates.joint1", "list": [3.0, -1.0, 0.0]}}
    at = {"column": "joint1.q", "reaches": "5 deg", "going": "up"}
    keep = {"when": {"column": "t", "at": at}}
    table = denoc.sweep(study(vary=entry, keep=keep, set={"time.step": 0.01})).table
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 1e-4}, "rates": {"joint1": 3.0}}
    alone = denoc.run(scenario)
    rising = slice(0, int(alone["joint1.q"].argmax()) + 1)
    when = np.interp(np.radians(5), alone["joint1.q"][rising], alone.t[rising])
    assert table["when"][0] == pytest.approx(when, abs=1e-5)
    assert np.isnan(table["when"][1:]).all()
    assert table.units["when"] == "s"


def test_repeated_studies_have_other_samples():
    vary = {
        "far": {"key": "rates.joint1", "random": [0, 1]},
        "near": {"key": "rates.joint2", "sobol": [0, 1]},
        "way": {"key": "solver.method", "list": ["rk45", "rk56"]},
    }
    once, thrice = (denoc.sweep(study(vary=vary, samples=2, repeat=n)).table for n in (1, 3))
    assert "repeat" not in once.columns
    assert thrice["repeat"] == [k // 4 for k in range(12)]
    for name in ("far", "near"):
        assert thrice[name][:4].tolist() == once[name].tolist()
        assert len({*thrice[name].tolist()}) == 6
    assert thrice["way"] == once["way"] * 3


def test_runs_that_no_other_beats():
    """Against the definition, pair by pair."""
    costs = np.random.default_rng(2).integers(0, 6, (60, 3)).astype(float)
    costs[7, 1] = np.nan
    found = unbeaten_sweep_runs(costs)
    for k, mine in enumerate(costs):
        beaten = any((other <= mine).all() and (other < mine).any() for other in costs)
        assert found[k] == (not beaten and k != 7)
    keep = {"last": {"column": "joint1.q", "take": "final"}, "far": {"column": "joint2.q", "take": "largest"}}
    table = denoc.sweep(study(keep=keep, pareto={"last": "max", "far": "min"})).table
    assert table["unbeaten"] == unbeaten_sweep_runs(np.column_stack([-table["last"], table["far"]])).tolist()


def test_whole_rows_are_those_of_the_runs(command):
    Path("study.yaml").write_text(STUDY + "rows: [joint3.qd, joint1.q]\npareto: {high: min, end: max}\n")
    code, out, err = command("study.yaml", "--format", "svg")
    assert (code, err) == (0, "")
    assert "study-rows.csv" in out
    assert "study-pareto.svg" in out
    with Path("outputs/study/study-rows.csv").open(newline="") as file:
        rows = np.array([[float(x) for x in row.values()] for row in csv.DictReader(file)])
    swept = denoc.sweep("study.yaml", keep="outputs/study/study.runs.sqlite")
    assert swept.computed == 0  # rows come from the store, too
    assert np.array_equal(rows, np.column_stack([*swept.rows.columns.values()]))
    table = swept.table
    for k in range(COUNT):
        own = rows[rows[:, 0] == k]
        assert own[-1, 3] == table["last"][k]
        assert own[:, 1].tolist() == pytest.approx([0, 0.03, 0.06, 0.09, 0.12, 0.15, 0.18, 0.2])
        assert np.sqrt(trapezoid(own[:, 2] ** 2, own[:, 1]) / 0.2) == pytest.approx(table["root"][k], rel=1e-12)


# ---- the same table everywhere


@pytest.mark.sound  # as code in other processes is
def test_the_table_does_not_depend_on_batches_threads_and_processes(monkeypatch):
    whole = denoc.sweep("study.yaml").table.csv_text()
    assert denoc.sweep("study.yaml", workers=1).table.csv_text() == whole
    small_batches(monkeypatch, 2)
    assert denoc.sweep("study.yaml", on="process", workers=2).table.csv_text() == whole
    small_batches(monkeypatch, 1)
    assert denoc.sweep("study.yaml").table.csv_text() == whole


@pytest.mark.full
def test_a_cluster_gives_the_same_table(monkeypatch):
    whole = denoc.sweep("study.yaml").table.csv_text()
    small_batches(monkeypatch, 2)
    assert denoc.sweep("study.yaml", on="dask", workers=2).table.csv_text() == whole


class Simulated:
    """Two workers by a clock of their own: messages take the starting process 2.1 ms, and each batch has a plan."""

    workers, room = 2, 4
    MESSAGE, OWN, PLAN = 2.1e-3, 14e-6, 11.5e-3

    def __init__(self, cost):
        self.now, self.cost, self.free, self.under_way = 0.0, cost, [0.0, 0.0], []

    def monotonic(self):
        return self.now

    def submit(self, task):
        self.now += self.MESSAGE
        worker = int(np.argmin(self.free))
        seconds = self.PLAN + self.cost * len(task.places)
        self.free[worker] = max(self.now, self.free[worker]) + seconds
        self.under_way.append(
            (self.free[worker], len(self.under_way), engines.Done(task, [None] * len(task.places), seconds))
        )

    def next(self):
        first = min(self.under_way, key=lambda one: one[:2])
        self.under_way.remove(first)
        self.now = max(self.now, first[0]) + self.OWN * len(first[2].task.places)
        return first[2]


@pytest.mark.parametrize(("cost", "count"), [(2e-3, 10_000), (0.05, 1000), (3.0, 50)])
def test_workers_have_batches_of_which_scheduling_is_a_small_part(cost, count, monkeypatch):
    """By a simulated clock: at most one and a half times what computing takes on two workers, and no run twice."""
    engine, told = Simulated(cost), []
    monkeypatch.setattr(sweeping, "time", engine)
    words = types.SimpleNamespace(words=lambda k: ())
    runs = types.SimpleNamespace(count=count, study=words, task=lambda places: types.SimpleNamespace(places=places))
    done = [k for one in sweeping.Runs._carried_out(runs, engine, range(count), lambda it: told.append((it, engine.now)))
            for k in one.task.places]  # fmt: skip
    assert sorted(done) == list(range(count))
    assert engine.now <= 1.5 * count * cost / 2
    half = next((it, now) for it, now in told if 2 * it.done >= count)
    assert half[0].left == pytest.approx(engine.now - half[1], rel=0.35)
    assert (told[-1][0].done, told[-1][0].left) == (count, 0.0)
    assert _progress(half[0]) == f"{half[0].done} of {count} runs, {duration_to_print(half[0].left)} left"


def test_a_worker_that_differs_is_refused(monkeypatch):
    monkeypatch.setattr(sweeping, "machine_of_study_runs", lambda: "another one")
    with pytest.raises(denoc.DenocError, match="another version of denoc, of Python, NumPy"):
        denoc.sweep(study())


@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.full if k >= 20 else ()) for k in range(200)])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.sampled(5)
def test_a_kill_at_any_moment_loses_no_row(seed, monkeypatch, warm):
    whole, seconds = warm
    small_batches(monkeypatch)
    moment = np.random.default_rng(seed).random() * seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if not child:
        try:
            denoc.sweep("study.yaml", keep="runs.sqlite", workers=1)
        finally:
            os._exit(0)
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    swept = denoc.sweep("study.yaml", keep="runs.sqlite")
    assert swept.table.csv_text() == whole
    again = denoc.sweep("study.yaml", keep="runs.sqlite")
    assert (again.computed, again.table.csv_text()) == (0, whole)


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """The undisturbed table, and how long the study takes run by run when all is compiled."""
    home = tmp_path_factory.mktemp("warm")
    (home / "swing.yaml").write_text(SWING)
    (home / "study.yaml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        small_batches(patch)
        whole = denoc.sweep(home / "study.yaml").table.csv_text()
        begun = time.perf_counter()
        denoc.sweep(home / "study.yaml", keep=home / "runs.sqlite")
    return whole, time.perf_counter() - begun


# ---- the store


def test_only_what_is_new_is_computed(monkeypatch):
    few = study()
    assert denoc.sweep(few, keep="runs.sqlite").computed == 4
    more = study(vary={"load": {"key": "robot.links.link3.mass", "list": [0.5, 1.5, 1.6]}})
    assert denoc.sweep(more, keep="runs.sqlite").computed == 1
    other = study(keep={"last": {"column": "joint2.q", "take": "final"}})
    assert denoc.sweep(other, keep="runs.sqlite").computed == 4
    assert denoc.sweep({**few, "rows": ["joint1.q"]}, keep="runs.sqlite").computed == 4
    assert denoc.sweep(few, keep="runs.sqlite").computed == 0
    assert denoc.sweep(few, keep="runs.sqlite", fresh=True).computed == 4
    with monkeypatch.context() as patch:  # a newer version of denoc, or another processor
        for module in (sweeping, engines):
            patch.setattr(module, "machine_of_study_runs", lambda: "another one")
        assert denoc.sweep(few, keep="runs.sqlite").computed == 4
    Path("swing.yaml").write_text(SWING.replace("0.03", "0.04"))
    assert denoc.sweep(few, keep="runs.sqlite").computed == 4


def test_a_table_that_has_changed_makes_other_runs():
    forced = SWING.replace("}}", "}, forces: {joint1: {law: table, file: pull.csv, column: pull}}}")
    Path("swing.yaml").write_text(forced)
    for pull, computed in ((1, 4), (2, 4), (1, 0)):
        Path("pull.csv").write_text(f"t,pull\n0,0\n0.1,{pull}\n0.2,0\n")
        assert denoc.sweep(study(), keep="runs.sqlite").computed == computed


def test_files_that_have_changed_are_read_again():
    """Each study reads its files once, and not those of the study before."""
    last = []
    for rate in (0, 1):
        Path("swing.yaml").write_text(SWING.replace("}}", f"}}, rates: {{joint3: {rate}}}}}"))
        table = denoc.sweep(study(vary={"load": {"key": "robot.links.link2.mass", "list": [1.5, 2]}})).table
        alone = [denoc.ensemble("swing.yaml", [{"robot.links.link2.mass": x}])[0] for x in table["load"].tolist()]
        assert table["last"] == pytest.approx([one["joint1.q"][-1] for one in alone], rel=1e-9)
        last.append(table["last"][0])
    assert abs(last[0] - last[1]) > 1e-4


def test_the_same_files_in_another_folder_have_their_own_tables():
    """In one process: the tables of the first folder have gone when the second one is swept."""
    forced = SWING.replace("}}", "}, forces: {joint1: {law: table, file: pull.csv, column: pull}}}")
    for name, ends in (("one", [0.1, 0.2]), ("two", [0.15, 0.25])):
        Path(name).mkdir()
        Path(name, "swing.yaml").write_text(forced)
        Path(name, "pull.csv").write_text("t,pull\n0,0\n0.1,3\n0.2,0\n")
        Path(name, "study.yaml").write_text(json.dumps(study(vary={"end": {"key": "time.end", "list": ends}})))
        table = denoc.sweep(f"{name}/study.yaml").table
        assert table["ended"] == ["done"] * 2, table["reason"]
        Path("one/pull.csv").unlink(missing_ok=True)
    alone = denoc.ensemble("two/swing.yaml", [{"time.end": end} for end in ends])
    assert table["last"] == pytest.approx([one["joint1.q"][-1] for one in alone], rel=1e-9)


def test_what_is_no_store_is_left_alone():
    Path("text.sqlite").write_text("this is my diary, and no store of anything at all\n" * 100)
    with sqlite3.connect("other.sqlite") as base:
        base.execute("CREATE TABLE runs (mine)")
    base.close()
    for name in ("text.sqlite", "other.sqlite"):
        before = Path(name).read_bytes()
        with pytest.raises(InputError, match=f"{name}: this is not a store of runs"):
            denoc.sweep(study(), keep=name)
        assert Path(name).read_bytes() == before


def test_flipped_bits_in_a_store_change_no_table():
    """A run whose row has been damaged is computed anew; damage to the file itself ends with a message."""
    whole = denoc.sweep(study(rows=["joint1.q"]), keep="runs.sqlite").table.csv_text()
    content, ends = Path("runs.sqlite").read_bytes(), []
    for bit in np.random.default_rng(4).integers(0, 8 * len(content), 150).tolist():
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << (bit % 8)
        Path("runs.sqlite").write_bytes(damaged)
        try:
            swept = denoc.sweep(study(rows=["joint1.q"]), keep="runs.sqlite")
        except InputError:
            ends.append(-1)
        else:
            assert swept.table.csv_text() == whole
            ends.append(swept.computed)
    assert {0, 1} <= {*ends}  # bits of gaps between rows, and of rows


HOSTILE_CELLS = (None, 7, 0.5, "text", b"", b"1234567", b"12345678" * 9, "\N{DEGREE SIGN}", 2**62, 1e308, b"\xff" * 16)


@pytest.mark.parametrize("column", range(1, 7))
def test_cells_of_a_store_that_make_no_sense_count_as_none(column):
    """Whatever is in a cell; and numbers and rows that aren't as many as they should be, with a digest of their own."""
    asked = study(rows=["joint1.q"])
    whole = denoc.sweep(asked, keep="runs.sqlite").table.csv_text()
    for cell in HOSTILE_CELLS:
        with sqlite3.connect("runs.sqlite") as base:
            row = [*base.execute("SELECT * FROM runs LIMIT 1").fetchone()]
            row[column] = cell
            base.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        base.close()
        swept = denoc.sweep(asked, keep="runs.sqlite")
        assert (swept.computed, swept.table.csv_text()) == (1, whole)


@pytest.mark.parametrize(("numbers", "rows"), [((), b""), ((1.0,) * 9, b""), (None, b"1234567"), (None, b"1" * 24)])
def test_numbers_and_rows_of_another_count_are_computed_anew(numbers, rows):
    asked = study(rows=["joint1.q"])
    whole = denoc.sweep(asked, keep="runs.sqlite")
    with sqlite3.connect("runs.sqlite") as base:
        keys = [key for (key,) in base.execute("SELECT key FROM runs")]
    base.close()
    held = store.Store(Path("runs.sqlite"))
    (good,) = held.known(keys[:1]).values()
    held.keep([(keys[0], good._replace(numbers=good.numbers if numbers is None else numbers, rows=rows))])
    held.close()
    swept = denoc.sweep(asked, keep="runs.sqlite")
    assert (swept.computed, swept.table.csv_text()) == (1, whole.table.csv_text())
    assert swept.rows.csv_text() == whole.rows.csv_text()


def test_stores_with_views_and_triggers_are_refused_and_older_ones_renewed():
    """A view may go on for ever, and a trigger may change what is written."""
    denoc.sweep(study(), keep="runs.sqlite")
    content = Path("runs.sqlite").read_bytes()
    for word in ("CREATE VIEW more AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END"):
        with sqlite3.connect("runs.sqlite") as base:
            base.execute(word)
        base.close()
        with pytest.raises(InputError, match="not a store of runs"):
            denoc.sweep(study(), keep="runs.sqlite")
        Path("runs.sqlite").write_bytes(content)
    with sqlite3.connect("runs.sqlite") as base:
        base.execute("PRAGMA user_version=2")
        base.execute("DROP TABLE runs")
        base.execute("CREATE TABLE runs (key BLOB PRIMARY KEY, ended TEXT) WITHOUT ROWID")
    base.close()
    assert [denoc.sweep(study(), keep="runs.sqlite").computed for _ in range(2)] == [4, 0]


def test_a_store_that_has_been_cut_off_is_refused_and_stays_as_it_is():
    denoc.sweep(study(), keep="runs.sqlite")
    cut = Path("runs.sqlite").read_bytes()[:-300]
    Path("runs.sqlite").write_bytes(cut)
    with pytest.raises(InputError, match=r"runs\.sqlite: this (store of runs is damaged|is not a store of runs)"):
        denoc.sweep(study(vary={"load": {"key": "robot.links.link3.mass", "list": [0.6, 0.7]}}), keep="runs.sqlite")
    assert Path("runs.sqlite").read_bytes() == cut


def test_what_is_kept_stays_known_in_a_store_whose_keys_are_damaged():
    """A key out of order hides others from SQLite, as soon as there are more: a search looked for what it had kept."""
    keys = [hashlib.sha256(bytes([k])).digest() for k in range(20)]
    one = store.Outcome("done", True, "", (1.0,))
    held = store.Store(Path("whole.sqlite"))
    held.keep([(key, one) for key in keys[:12]])
    held.close()
    whole, hidden = Path("whole.sqlite").read_bytes(), 0
    for k, byte in itertools.product(range(12), (0, 255)):
        damaged = bytearray(whole)
        damaged[whole.index(keys[k])] = byte
        Path("runs.sqlite").write_bytes(damaged)
        held = store.Store(Path("runs.sqlite"))
        known = held.known(keys)
        assert keys[k] not in known or damaged == whole
        held.keep([(key, one) for key in keys if key not in known])
        assert {*held.known(keys)} == {*keys}
        held.close()
        held = store.Store(Path("runs.sqlite"))
        hidden += len(held.known(keys)) < len(keys)
        held.close()
    assert hidden


def test_words_of_a_store_that_are_no_text_are_damage(monkeypatch):
    """As SQLite's own messages may have them."""
    held = store.Store(Path("runs.sqlite"))
    with pytest.raises(InputError, match="not a store of runs"), held._guarded():
        b"\x9c".decode()
    held.close()


def test_a_second_start_is_refused():
    store.Store(Path("runs.sqlite")).close()
    held = store.Store(Path("runs.sqlite"))  # which writes nothing any more
    with pytest.raises(InputError, match="another process has this store open"):
        store.Store(Path("runs.sqlite"))  # before anything is computed
    held.keep([(b"key", store.Outcome("done", True, "", (1.0,)))])  # and the first one goes on
    held.close()
    assert denoc.sweep(study(), keep="runs.sqlite").computed == 4


def test_a_full_disk_ends_with_a_message_and_keeps_what_there_is(monkeypatch):
    small_batches(monkeypatch, 20)
    Path("study.yaml").write_text(STUDY.replace("samples: 3", "samples: 40"))
    opened = store.Store._open

    def on_a_small_disk(self):
        opened(self)
        self._base.execute("PRAGMA max_page_count=4")

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "_open", on_a_small_disk)
        with pytest.raises(InputError, match=r"runs\.sqlite: .*disk is full\n.*the next start goes on"):
            denoc.sweep("study.yaml", keep="runs.sqlite")
    swept = denoc.sweep("study.yaml", keep="runs.sqlite")
    assert 0 < swept.computed < 160
    assert swept.table.csv_text() == denoc.sweep("study.yaml").table.csv_text()


def test_a_store_that_cannot_be_written_is_read(monkeypatch):
    whole = denoc.sweep(study(), keep="runs.sqlite").table.csv_text()
    connect = sqlite3.connect
    monkeypatch.setattr(store.sqlite3, "connect", lambda path, **how: connect(f"file:{path}?mode=ro", uri=True, **how))
    swept = denoc.sweep(study(), keep="runs.sqlite")
    assert (swept.computed, swept.table.csv_text()) == (0, whole)
    with pytest.raises(InputError, match=r"can't be read or written: .*readonly"):
        denoc.sweep(study(keep={"last": {"column": "t", "take": "final"}}), keep="runs.sqlite")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_there_is(number, code, command, monkeypatch):
    small_batches(monkeypatch, 4)
    carried_out, calls = engines.study_task_carried_out, []

    def interrupted(task):
        calls.append(task)
        if len(calls) == 3:
            os.kill(os.getpid(), number)
        return carried_out(task)

    with monkeypatch.context() as patch:
        patch.setattr("denoc.study.sweep.engines.study_task_carried_out", interrupted)
        ended, _, err = command("study.yaml", "--no-plot")
    assert ended == code
    assert err.startswith(f"6 of {COUNT} runs are kept in outputs/study/study.runs.sqlite")
    assert not Path("outputs/study/study.csv").exists()
    assert f"{COUNT} runs, 6 computed" in command("study.yaml", "--no-plot")[1]


# ---- failed runs, expectations, the best


def test_a_run_that_makes_no_sense_is_a_row(monkeypatch):
    masses = {"load": {"key": "robot.links.link3.mass", "list": [0.5, -1, 0.7, 0.9, -2]}}
    table = denoc.sweep(study(vary=masses)).table
    assert table["ended"] == ["done", "refused", "done", "done", "refused"]
    assert "mass" in table["reason"][1]
    assert "variations" not in table["reason"][1]
    assert np.isnan(table["last"]).tolist() == [False, True, False, False, True]
    small_batches(monkeypatch)
    assert denoc.sweep(study(vary=masses)).table.csv_text() == table.csv_text()


def test_expectations_are_exit_code_3(command):
    text = STUDY + "expect: {failed: 0, outputs: {size: {at_most: 1 deg}, end: {at_least: 0.2, at_most: 0.2 s}}}\n"
    Path("study.yaml").write_text(text)
    code, out, _ = command("study.yaml", "--no-plot")
    assert code == 3
    assert "NOT AS EXPECTED" in out
    assert "size is above 1 deg in" in out
    assert "end is" not in out
    assert Path("outputs/study/study.csv").exists()
    swept = denoc.sweep(study(vary={"load": {"key": "robot.links.link3.mass", "list": [1, -1]}}, expect={"failed": 0}))
    assert swept.missed == ["1 run didn't end as expected, more than 0"]


LENGTHS = [0.3, 0.12, 0.42, 0.2, 0.125]


@pytest.mark.parametrize("expect", ["done", "singularity", "either"])
def test_runs_that_end_otherwise_than_expected_are_counted_and_left_out(expect, command):
    """By Grashof: the crank of 0.1 turns round if the shortest and the longest rod are no longer than the other two."""
    turns = [min(rods) + max(rods) <= sum(rods) / 2 for rods in ((0.1, 0.25, 0.28, length) for length in LENGTHS)]
    crank = "robot: four-bar\ntask: inverse\ntime: {end: 1}\nmotion: {A0: {law: rate, rate: 360 deg/s}}\n"
    Path("crank.yaml").write_text(f"{crank}expect: {expect}\n")
    data = {
        "scenario": "crank.yaml",
        "vary": {"length": {"key": "robot.loops.B.first.at.0", "list": LENGTHS}},
        "keep": {"torque": {"column": "A0.tau", "take": "largest"}, "turned": {"column": "A0.q", "take": "final"}},
        "pareto": {"torque": "min", "turned": "min"},
        "expect": {"failed": 0, "outputs": {"torque": {"at_most": 10}}},
    }
    Path("turns.yaml").write_text(json.dumps(data))
    code, out, _ = command("turns.yaml", "--best", "turned", "--format", "svg")
    table = denoc.sweep(data).table
    good = [x if expect == "done" else not x if expect == "singularity" else True for x in turns]
    assert table["ended"] == ["done" if x else "singularity" for x in turns]
    assert table["as_expected"] == good
    assert not any(table["unbeaten"][k] for k in range(5) if not good[k])
    with Path("outputs/turns/turns.csv").open(newline="") as file:
        assert [row["as_expected"] for row in csv.DictReader(file)] == [str(x).lower() for x in good]
    wrong = 5 - sum(good)
    assert (f"{wrong} not ended as expected" in out.splitlines()[0]) == (wrong > 0)
    lines = [line.split()[:2] for line in out.splitlines() if " singularity: " in line or " done: " in line]
    assert sum(int(count) for count, _ in lines) == wrong
    assert {ended for _, ended in lines} <= {"done:", "singularity:"} - {f"{expect}:"}
    torques = [table["torque"][k] for k in range(5) if good[k]]
    assert f"  torque: {min(torques):.6g} to {max(torques):.6g} N m\n" in out
    assert code == (3 if wrong or max(torques) > 10 else 0)
    assert ("torque is above 10" in out) == (max(torques) > 10)
    best = denoc.run("outputs/turns/turns-best-1.scenario.yaml")
    assert best.as_expected
    assert best["A0.q"][-1] == pytest.approx(min(x for x, fine in zip(table["turned"], good) if fine))


@pytest.mark.parametrize("name", ["a.b", "my study, 1", "--best", "n" * 120, "x.yaml", "tab\there"])
def test_studies_whose_files_no_scenario_could_be_called_have_best_runs(name, command, command_line):
    """All of them did, but for the files of the best run, after all runs."""
    Path(f"{name}.yaml").write_text(STUDY)
    code, _, err = command(f"./{name}.yaml", "--best", "last", "--no-plot")
    assert (code, err) == (0, "")
    sought = study(vary={"load": {"key": "robot.links.link3.mass", "between": [1, 2]}}, minimise="last", evaluations=3)
    Path(f"{name}.yaml").write_text(json.dumps({**sought, "method": "nelder-mead"}))
    code, _, err = command_line("optimise", f"./{name}.yaml", "--no-plot", "--out", "sought")
    assert (code, err) == (0, "")
    for home in (Path("outputs"), Path("sought")):
        (best,) = (home / name).glob("*-1.scenario.yaml")
        assert denoc.run(best).name == best.name.removesuffix(".scenario.yaml")


def test_runs_side_by_side_end_as_unexpectedly_as_alone():
    Path("swing.yaml").write_text(SWING.replace("}}", "}, expect: singularity}"))
    table, alone = denoc.sweep(study()).table, denoc.run("swing.yaml")
    assert not alone.as_expected
    assert table["as_expected"] == [False] * 4
    assert table["reason"] == [alone.record["reason"]] * 4


def test_the_best_runs_run_by_themselves(command):
    code, _, err = command("study.yaml", "--best", "max:last", "--count", "2", "--format", "svg")
    assert (code, err) == (0, "")
    table = denoc.sweep("study.yaml").table
    best = sorted(table["last"], reverse=True)[:2]
    home = Path("outputs/study")
    for n, expected in enumerate(best, start=1):
        result = denoc.run(home / f"study-best-{n}.scenario.yaml")
        assert result["joint1.q"][-1] == pytest.approx(expected, abs=1e-9)
    assert {path.stem for path in home.glob("*.svg")} == {
        f"study-{name}" for name in table.outputs if name != "end"
    } | {"study-end"}
    (home / "study-mine.png").write_text("somebody else's")
    record = json.loads((home / "study.json").read_text())
    assert {*record["checksums"]} == {*os.listdir(home)} - {"study.json", "study.runs.sqlite", "study-mine.png"}
    check_recorded_checksums(home, record, record["checksums"])
    assert f"{COUNT} runs, 0 computed" in command("study.yaml", "--no-plot")[1]
    names = ["study-mine.png", "study.csv", "study.json", "study.runs.sqlite"]
    assert sorted(path.name for path in home.iterdir()) == names


# ---- wrong studies


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("samples: 3", "sample: 3", "unknown key `sample`", 11),
        ("column: joint2.q, take: max", "column: joint9.q, take: max", "the results have no such column", 14),
        ("[-30 deg, 30 deg]", "[30 deg, -30 deg]", "the bounds are upside down", 6),
        ("from: 0.5 kg", "from: 2.5 kg", "the bounds are upside down", 4),
        ("random: [0, 1]", "random: [0, .inf]", "a finite number", 7),
        ("random: [0, 1]", "random: [0, yes]", "unknown name `yes`", 7),
        ("random: [0, 1]", "random: [0, true]", "a number is needed", 7),
        ("random: [0, 1]", "list: [1, 20 deg, 3 m]", "units of different kinds", 7),
        ("from: 0.5 kg", "from: 0.5 m", "units of different kinds", 4),
        ("samples: 3", "samples: 250000000000", "too many runs", 3),
        ("samples: 3", f"samples: {'9' * 400}", "too many runs", 3),
        ("random: [0, 1]", "list: [1, nan]", "not a finite number", 7),
        ("random: [0, 1]", "random: [0]", "entry 2 is missing", 7),
        ("random: [0, 1]", "random: [0, 1, 2]", "too many entries", 7),
        ("samples: 3\n", "", "`samples` is missing", 6),
        ("rates.joint3", "rates.joint9", "joint9", 7),
        ("rates.joint3", "time.end.x", "leads nowhere", 7),
        ("robot.links.link3.mass", "robot.links.link3.mess", "unknown key `mess`", 9),
        ("robot.links.link3.mass", "robot.links.link9.mass", "no entry `link9`", 9),
        ("link3.mass: load", "link3.mass: lode", "unknown name `lode`", 9),
        ("link3.mass: load", "link3.mass: load * 1 m", "mass", 9),
        ("(high - low)", "(high - end)", "can't subtract", 21),
        ("(high - low)", "(high - later)", "unknown name `later`", 21),
        ("  low:", "  load:", "`load` varies already", 15),
        ("  low:", "  kg:", "`kg` is a unit", 15),
        ("  low:", "  ended:", "is a column of every table", 15),
        ("key: rates.joint3, ", "", "`rate` changes nothing", 7),
        ("key: rates.joint3", "key: robot", "the same in all runs", 7),
        ("key: rates.joint3", "key: solver.method", "another entry changes this key", 7),
        ("random: [0, 1]", "random: [0, 1], list: [1]", "one way to vary", 7),
        ("swing.yaml", "swung.yaml", "no such scenario", 2),
        ("take: rms", "take: rums", "unknown value", 17),
        ("take: rms", "take: rms, at: {column: t, reaches: 1}", "not a number of a run", 17),
        ("take: rms", "at: {column: joint9.q, reaches: 1}", "no such column", 17),
        ("take: rms", "at: {column: joint1.q, reaches: 1 m}", "`joint1.q` is an angle", 17),
        ("seed: 5", "rows: [joint1.q, joint1.p]", "no such column", 12),
        ("seed: 5", "rows: [joint1.q, joint1.q]", "in every row already", 12),
        ("seed: 5", "pareto: {high: min}", "no front", 12),
        ("seed: 5", "pareto: {high: min, hihg: max}", "`hihg` isn't kept", 12),
    ],
)
@pytest.mark.sampled(2)
def test_mistakes_are_reported_at_their_places_and_nothing_is_written(old, new, message, line, command):
    assert STUDY.count(old) == 1
    Path("study.yaml").write_text(STUDY.replace(old, new))
    code, out, err = command("study.yaml")
    assert (code, out) == (2, "")
    assert message in err
    assert f"study.yaml:{line}:" in err
    assert sorted(path.name for path in Path().iterdir()) == ["study.yaml", "swing.yaml"]


@pytest.mark.parametrize("name", ["load(((", "(a|a)*!", "[", "a.b", "", "2", "x y", "*"])
def test_names_are_no_patterns(name):
    """Whatever is in them; long texts beside some of them had been searched for ever."""
    long = {"robot.links.link3.mass": "1 + " + "a" * 60}
    with pytest.raises(InputError, match="can't stand in expressions"):
        denoc.sweep(study(vary={name: {"list": [1, 2]}}, set=long))
    with pytest.raises(InputError, match="`oad` changes nothing"):
        denoc.sweep(study(vary={"oad": {"list": [1, 2]}}, set={"robot.links.link3.mass": "load"}))


def test_repeating_the_same_runs_is_refused():
    with pytest.raises(InputError, match="all runs would be the same again"):
        denoc.sweep(study(repeat=2))


def test_rows_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr(probe, "MOST_BYTES", 100)
    with pytest.raises(InputError, match=r"would have 512 bytes, more than 100"):
        denoc.sweep(study(rows=["joint1.q"]))


def test_an_output_that_does_not_exist_is_refused_before_anything_runs(command):
    code, _, err = command("study.yaml", "--best", "hihg")
    assert code == 2
    assert "did you mean `high`?" in err
    assert not Path("outputs").exists()


# ---- processes that are killed


KILLED = """
import os, signal, sys, threading, time
import multiprocessing
import denoc
from denoc.study.sweep import engines, run

def kill_later():
    submit = engines.Processes.submit
    def first(self, task):
        submit(self, task)
        if sys.argv[1] == "worker":
            time.sleep(float(sys.argv[2]))
            for child in multiprocessing.active_children()[:1]:
                os.kill(child.pid, signal.SIGKILL)
        else:
            print([child.pid for child in multiprocessing.active_children()], flush=True)
    engines.Processes.submit = first

if __name__ == "__main__":
    kill_later()
    run.FIRST = run.MOST = 1
    denoc.sweep("study.yaml", keep="runs.sqlite", on="process", workers=2)
"""


@pytest.mark.full
def test_a_worker_that_is_killed_ends_the_study_with_a_message_and_the_next_start_goes_on():
    Path("killed.py").write_text(KILLED)
    done = subprocess.run([sys.executable, "killed.py", "worker", "0.7"], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "a worker process has ended; the runs that are kept stay" in done.stderr
    swept = denoc.sweep("study.yaml", keep="runs.sqlite")
    assert swept.table.csv_text() == denoc.sweep("study.yaml").table.csv_text()


@pytest.mark.full
def test_workers_end_with_the_process_that_started_them():
    Path("killed.py").write_text(KILLED)
    with subprocess.Popen([sys.executable, "killed.py", "none"], stdout=subprocess.PIPE, text=True) as parent:
        workers = ast.literal_eval(parent.stdout.readline())
        assert workers
        parent.kill()
    deadline = time.monotonic() + HANGS
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    swept = denoc.sweep("study.yaml", keep="runs.sqlite")
    assert swept.table.csv_text() == denoc.sweep("study.yaml").table.csv_text()


# ---- when a column settles


def test_settling_is_when_a_column_is_outside_for_the_last_time():
    """Of a decay, an oscillation that decays, one that never leaves the range, one that never comes in, a NaN."""
    t = np.linspace(2, 12, 20_001)
    s = t - 2
    never = np.full_like(s, 0.05)
    rows = np.array([np.exp(-s), np.exp(-0.5 * s) * np.cos(3 * s), never, never + 1, never * np.nan])
    outside = np.exp(-0.5 * s) * abs(np.cos(3 * s)) > 0.1
    expected = [math.log(10), s[np.flatnonzero(outside)[-1]], 0, 10]
    found = sweep_settling_times(t, rows, Reduction("x", "settles", within=0.1, goal=0.0))
    assert found[:4] == pytest.approx(expected, abs=6e-4)
    assert found[0] == pytest.approx(math.log(10), abs=1e-7)  # between the rows
    assert math.isnan(found[4])
    assert sweep_settling_times(t, 3 + rows[:1], Reduction("x", "settles", within=0.1))[0] == pytest.approx(
        math.log(10), abs=1e-3
    )


def test_settling_needs_a_range_of_the_columns_kind(command):
    for entry, message in (
        ("{column: joint1.q, take: settles}", "`settles` and `within` go together"),
        ("{column: joint1.q, take: final, goal: 1}", "`settles` and `within` go together"),
        ("{column: joint1.q, take: settles, within: 0}", "`within` has to be above 0"),
        ("{column: joint1.q, take: settles, within: 1 m}", "`joint1.q` is an angle"),
    ):
        Path("study.yaml").write_text(STUDY + f"  late: {entry}\n")
        code, _, err = command("study.yaml")
        assert code == 2
        assert message in err
    late = {"late": {"column": "joint1.q", "take": "settles", "within": "5 deg"}}
    assert denoc.sweep(study(keep=late)).table.units["late"] == "s"


# ---- gains


SWINGING = {"law": "harmonic", "amplitude": 2, "frequency": "3 Hz", "phase": 0.4, "offset": 1}
COMMANDED = {"law": "computed-torque", "kp": 90, "kd": 12}
FOLLOWED = {"all": {"law": "cycloid", "to": "30 deg"}}
PUSHED = [{"link": "link2", "force": [1, 2, 0], "moment": [0, 0, 0.1], "at": [0.1, 0.2, 0], "axes": "base"}]
NUMBERS_THAT_ACT = {
    "swing": ({"forces": {"joint2": SWINGING}}, ["forces.joint2.amplitude", "forces.joint2.offset"]),
    "command": (
        {"motion": FOLLOWED, "rates": {"joint3": 0.5}, "forces": {"all": COMMANDED}},
        ["forces.all.kp", "forces.all.kd"],
    ),
    "all but one": (
        {"forces": {"all": {"law": "pd", "kp": 5, "to": 0.1}, "joint3": {"law": "pd", "kp": 2, "to": 0.3}}},
        ["forces.all.kp", "forces.all.to", "forces.joint3.to"],
    ),
    "wrench": ({"wrenches": PUSHED}, ["wrenches.0.force.0", "wrenches.0.moment.2"]),
    "wrench beside a plan": (
        {"wrenches": PUSHED, "motion": FOLLOWED, "forces": {"all": {"law": "feedforward"}}},
        ["wrenches.0.force.1"],
    ),
}


def changed(data, change):
    """The scenario with other values for some keys."""
    other = copy.deepcopy(data)
    for key, value in change.items():
        *way, last = [int(step) if step.isdigit() else step for step in key.split(".")]
        reduce(getitem, way, other)[last] = value
    return other


TURNED = {"task": "inverse", "motion": {"all": {"law": "cycloid", "to": "90 deg"}}}
THERE_AND_BACK = {"law": "harmonic", "amplitude": 0.3, "frequency": "4 Hz"}
PRESCRIBED = {
    "masses": (TURNED, ["robot.links.0.mass", "robot.links.2.mass"]),
    "friction": (
        {"task": "inverse", "motion": {"all": THERE_AND_BACK}},
        ["robot.links.1.joint.friction.coulomb", "robot.links.1.joint.friction.viscous"],
    ),
    "lengths": ({**TURNED, "record": {"energy": True, "reactions": True}}, ["robot.links.1.joint.a"]),
    "wrench": ({**TURNED, "wrenches": PUSHED}, ["wrenches.0.force.0", "wrenches.0.moment.2"]),
    "simulated": ({**TURNED, "task": "simulate"}, ["robot.links.1.mass"]),
}


@pytest.mark.parametrize("kind", PRESCRIBED)
def test_runs_whose_motion_is_prescribed_go_side_by_side(kind, monkeypatch):
    """As they are by themselves, in plain Python, with the same energy balance and account."""
    data = {"robot": "rubbing", "task": "simulate", "time": {"end": 0.4, "step": 0.05}, **PRESCRIBED[kind][0]}
    file = copy.deepcopy(denoc.load("planar3r").document.data)
    file["links"][1]["joint"]["friction"] = {"coulomb": 0.2, "viscous": 0.1}
    draw = np.random.default_rng(5).uniform
    changes = [{key: draw(0.5, 3.0) for key in PRESCRIBED[kind][1]} for _ in range(4)]
    alone = []
    for change in changes:
        of_robot = {key.removeprefix("robot."): x for key, x in change.items() if key.startswith("robot.")}
        rest = {key: x for key, x in change.items() if not key.startswith("robot.")}
        with using_backend("plain"):
            alone.append(denoc.run(changed(data, rest), denoc.loads(yamls.dump(changed(file, of_robot)))))
    planned, plan = [], variations.plan_of_scenario
    monkeypatch.setattr(variations, "plan_of_scenario", lambda *given: planned.append(given) or plan(*given))
    with using_backend("compiled"):
        found = denoc.ensemble(data, changes, denoc.loads(yamls.dump(file)))
        assert len(planned) == 1
        for one, other in zip(found, alone):
            assert list(one.table) == list(other.table)
            for name, column in other.table.items():
                assert one.table[name] == pytest.approx(column, rel=1e-9, abs=1e-9), name
            assert other.audit["energy"] < 1e-3 * other.audit["exchanged"]
            for key, number in other.audit.items():
                assert one.audit[key] == (number if number is None else pytest.approx(number, rel=1e-5, abs=1e-10)), key
    assert abs(np.diff([one.table["joint2.tau"][3] for one in found])).min() > 1e-4


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("wrenches.0.force", [["5 N", 0, 0], ["9 N", 1, 0]]),
        ("wrenches.0.force", [[1, SWINGING, 0], [2, SWINGING | {"amplitude": 9}, 0]]),
        ("initial.joint1", [["0.1 rad"], ["0.7 rad"]]),
        ("wrenches", [PUSHED, [PUSHED[0] | {"moment": [0, 0, 3]}]]),
    ],
)
def test_entries_of_lists_that_are_no_numbers_are_each_runs_own(key, values):
    data = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    data |= {"wrenches": [{"link": "link2", "force": [0, 0, 0]}], "initial": {"joint1": 0.0}}
    for value, found in zip(values, denoc.ensemble(data, [{key: value} for value in values])):
        alone = denoc.run(changed(data, {key: value}))
        assert found.table["joint1.q"] == pytest.approx(alone.table["joint1.q"], rel=1e-9, abs=1e-9)


def test_one_program_serves_all_frequencies():
    def structure(frequency):
        law = SWINGING | {"frequency": frequency}
        plan = prepare_scenario(
            {"robot": "planar3r", "task": "simulate", "time": {"end": 1}, "forces": {"joint1": law}}
        )
        return dataclasses.replace(plan.system, tuned=True).structure()

    assert repr(structure(2.0)) == repr(structure(3.0))


def test_a_run_that_overflows_leaves_those_beside_it_alone():
    data = {"robot": "planar3r", **TURNED, "time": {"end": 0.2, "step": 0.05}}
    changes = [{"robot.links.1.mass": mass} for mass in (1.0, 2.0, 1e308, 3.0)]
    with using_backend("compiled"):
        found = denoc.ensemble(data, changes)
    assert [one.ended for one in found] == ["done", "done", "failed", "done"]


@pytest.mark.parametrize("many", [False, True])
def test_actuators_on_links_act_where_all_motion_is_prescribed(many):
    """As a wrench of the same size does."""
    file = copy.deepcopy(denoc.load("planar3r").document.data)
    data = {**TURNED, "robot": "pushed", "task": "simulate", "time": {"end": 0.4, "step": 0.02}}
    there = {"link": "link3", "at": [0.1, 0, 0], "axes": "base"}
    thrust = {"forces": {"thrust": {"law": "constant", "value": 3}}}
    robot = denoc.loads(yamls.dump(file | {"actuators": [{**there, "name": "thrust", "direction": [0, 1, 0]}]}))
    pushed = denoc.run({**data, "wrenches": [{**there, "force": [0, 3, 0]}]}, denoc.loads(yamls.dump(file)))
    if many:
        mass = file["links"][0]["mass"]
        _, found = denoc.ensemble(data | thrust, [{"robot.links.0.mass": x} for x in (2 * mass, mass)], robot)
    else:
        found = denoc.run(data | thrust, robot)
    assert found.ended == "done"
    for name in ("joint1.tau", "joint2.tau", "joint3.tau", "energy.residual"):
        assert found.table[name] == pytest.approx(pushed.table[name], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", NUMBERS_THAT_ACT)
def test_numbers_of_what_acts_go_side_by_side(kind, monkeypatch):
    """Of an ensemble only the first run is planned; each is as it is with its numbers in the file, in plain Python."""
    acting, keys = NUMBERS_THAT_ACT[kind]
    data = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.05}, **acting}
    draw = np.random.default_rng(4).uniform
    changes = [{key: draw(0.5, 3.0) for key in keys} for _ in range(4)]
    with using_backend("plain"):
        alone = [denoc.run(changed(data, change)) for change in changes]
    planned, plan = [], variations.plan_of_scenario
    monkeypatch.setattr(variations, "plan_of_scenario", lambda *given: planned.append(given) or plan(*given))
    with using_backend("compiled"):  # few runs wouldn't have their rows made by code
        found = denoc.ensemble(data, changes)
    for one, other in zip(found, alone):
        for name, column in other.table.items():
            assert one.table[name] == pytest.approx(column, rel=1e-8, abs=1e-8), name
    assert len(planned) == 1
    ends = np.array([[one.table[name][-1] for name in ("joint3.q", "joint1.tau")] for one in found])
    assert abs(np.diff(ends, axis=0)).max(axis=1).min() > 1e-4


def test_gains_of_laws_are_inputs_of_one_program():
    """A set point, a motion that is followed, and a spring; each run as it is alone, in plain Python."""
    forces = {
        "joint1": {"law": "pd", "to": "20 deg", "kp": 9, "kd": 2},
        "joint2": {"law": "pd", "kp": 5},
        "joint3": {"law": "spring", "stiffness": 3, "rest": 0.2, "damping": 0.1},
    }
    motion = {"joint2": {"law": "cycloid", "to": "30 deg"}}
    time = {"end": 0.2, "step": 0.05}
    data = {"robot": "planar3r", "task": "simulate", "time": time, "forces": forces, "motion": motion}
    keys = ["joint1.kp", "joint1.kd", "joint1.to", "joint2.kp", "joint2.kd"]
    keys += ["joint3.stiffness", "joint3.rest", "joint3.damping"]
    draw = np.random.default_rng(3).uniform
    changes = [{f"forces.{key}": draw(0, 9) for key in keys} for _ in range(3)]
    changes[1]["forces.joint1.kd"] = 0.0
    (block,) = blocks_of_variations(data, changes)
    assert block.places == [0, 1, 2]
    for k, change in enumerate(changes):
        (alone,) = denoc.ensemble({**data, "replay": {"backend": "plain"}}, [change])
        for name, column in block.columns.items():
            assert column[k] == pytest.approx(alone[name], rel=1e-10, abs=1e-10), name
    assert abs(np.diff(block.columns["joint3.q"][:, -1])).min() > 1e-4
    Path("gains.yaml").write_text(json.dumps(data))
    wrong = {"gain": {"key": "forces.joint1.kp", "list": [1, -1]}}
    table = denoc.sweep({**study(vary=wrong), "scenario": "gains.yaml"}).table
    assert table["ended"] == ["done", "refused"]
