"""Result files: every digit, all of them or none, and nothing left lying about."""

import csv
import json
import math
import os
import stat
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import denoc
import unseen
from denoc.errors import DenocError
from denoc.record import figures as drawn
from denoc.record import plots
from denoc.record.columns import Column
from denoc.record.files import write

COLUMNS = [Column("j.q", "rad", "position", "j", "j.q"), Column("j.tau", "N m", "force", "j", "j.tau")]
T = np.linspace(0, 1, 5)
TABLE = {"j.q": np.sin(T), "j.tau": T**2}


def put(folder, wanted=("angles", "torques"), form="png", **record):
    record = {"robot": {"name": "one"}, **record}
    return write.write_result(Path(folder), "run", T, TABLE, COLUMNS, record, wanted, form)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


# ---- CSV


@settings(deadline=None, derandomize=True, max_examples=8 * settings().max_examples)
@given(st.lists(st.floats(allow_nan=False, width=64), min_size=1, max_size=8))
def test_every_double_survives(numbers):
    values = np.array(numbers)
    lines = list(csv.reader(write.csv_text(np.arange(len(values)), {"x": values}).splitlines()))
    assert lines[0] == ["t", "x"]
    back = [float(line[1]) for line in lines[1:]]
    assert [struct.pack("d", x) for x in back] == [struct.pack("d", x) for x in values]


def test_csv_has_17_digits_and_unix_lines():
    text = write.csv_text(np.array([0.0, 0.1]), {"a": np.array([1 / 3, math.pi]), "b": np.array([1.0, -2e-300])})
    assert text == "t,a,b\n0,0.33333333333333331,1\n0.10000000000000001,3.1415926535897931,-2.0000000000000001e-300\n"


def test_result_round_trip(tmp_path):
    result = denoc.run("planar3r-idyn")
    files = result.write(tmp_path / "planar3r-idyn", plot=False)
    values = np.loadtxt(files[0], delimiter=",", skiprows=1)
    header = files[0].read_text().split("\n", 1)[0].split(",")
    assert header == ["t", *result.table]
    np.testing.assert_array_equal(values[:, 0], result.t)
    for k, name in enumerate(result.table, start=1):
        np.testing.assert_array_equal(values[:, k], result.table[name])
    assert result.to_csv(tmp_path / "again.csv").read_bytes() == files[0].read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.csv", "planar3r-idyn"]


def test_record(tmp_path):
    result = denoc.run("planar3r-idyn")
    record = json.loads(result.write(tmp_path / "x", plot=False)[1].read_text())
    again = ["planar3r-idyn.scenario.yaml", "planar3r.robot.yaml"]
    assert record["files"] == ["planar3r-idyn.csv", "planar3r-idyn.json", *again]
    assert record["input"]["motion"] == {"all": {"law": "cycloid", "to": pytest.approx(math.pi), "delay": 0.0}}
    assert record["robot"]["data"]["links"][0]["mass"] == 0.5
    assert {"denoc", "python", "numpy", "scipy"} <= set(record["versions"])
    assert [column["name"] for column in record["columns"]] == list(result.table)


# ---- all or nothing


def test_files_of_a_folder_that_was_not_there(tmp_path):
    files = put(tmp_path / "a" / "b")
    assert [file.name for file in files] == sorted(file.name for file in files)
    assert set(contents(tmp_path)) == {f"a/b/run{end}" for end in (".csv", ".json", "-angles.png", "-torques.png")}
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o755  # others may read


class DiskFullError(OSError):
    def __init__(self):
        super().__init__(28, "No space left on device")


@pytest.mark.parametrize("step", ["first plot", "second plot", "csv", "record"])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.sampled(2)
def test_writing_that_fails_half_way_changes_nothing(tmp_path, monkeypatch, step, before):
    folder = tmp_path / "run"
    if before:
        put(folder, ["angles"], note="the run before")
        (folder / "notes.txt").write_text("mine")
    kept = contents(tmp_path)
    calls = []
    save, dumps, csv_text = plots.save_figure, json.dumps, write.csv_text

    def failing(name, function):
        def inner(*args, **options):
            calls.append(name)
            if calls.count(name) == (2 if step.startswith("second") else 1):
                raise DiskFullError
            return function(*args, **options)

        return inner

    if step.endswith("plot"):
        unseen.save_figures_by(failing("plot", save), monkeypatch.setattr)
    elif step == "csv":
        monkeypatch.setattr(write, "csv_text", failing("csv", csv_text))
    else:
        monkeypatch.setattr(write.json, "dumps", failing("record", dumps))
    with pytest.raises(DenocError, match="No space left on device"):
        put(folder, note="this run")
    assert calls
    assert contents(tmp_path) == kept
    assert folder.exists() == before
    assert [p.name for p in tmp_path.iterdir()] == (["run"] if before else [])


def test_a_folder_where_a_file_should_go_changes_nothing(tmp_path):
    put(tmp_path / "run", note="before")
    (tmp_path / "run" / "run.csv").unlink()
    (tmp_path / "run" / "run.csv").mkdir()
    kept = contents(tmp_path)
    with pytest.raises(DenocError, match=r"run\.csv is a folder"):
        put(tmp_path / "run", note="after")
    assert contents(tmp_path) == kept
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_an_interrupt_while_writing_changes_nothing(tmp_path, monkeypatch):
    put(tmp_path / "run", note="before")
    kept = contents(tmp_path)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    unseen.save_figures_by(interrupted, monkeypatch.setattr)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "run", note="after")
    assert contents(tmp_path) == kept
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_an_unwritable_place(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DenocError, match="can't write results"):
        put(tmp_path / "file")
    with pytest.raises(DenocError, match="can't write results"):
        put(tmp_path / "file" / "run")
    assert contents(tmp_path) == {"file": b""}


# ---- a second run into the same folder


def test_what_an_earlier_run_made_goes_away_and_nothing_else(tmp_path):
    folder = tmp_path / "run"
    put(folder)
    (folder / "run-comparison.png").write_text("mine")
    put(folder, ["angles"], "svg")
    assert set(contents(folder)) == {"run.csv", "run.json", "run-angles.svg", "run-comparison.png"}


def test_what_an_earlier_run_has_listed_and_its_later_plots_go_away(tmp_path):
    """Files of any name that the record lists, and plots of the run that no record has."""
    folder = tmp_path / "run"
    write.write_result(folder, "run", T, TABLE, COLUMNS, {"robot": {"name": "one"}}, (), more={"old.robot.yaml": b"x"})
    (folder / "run-torques.pdf").write_text("drawn by hand")
    assert "old.robot.yaml" in contents(folder)
    put(folder, ())
    assert set(contents(folder)) == {"run.csv", "run.json"}


def test_plots_are_not_added_to_another_result(tmp_path):
    folder = tmp_path / "run"
    put(folder, (), note="first")
    record = json.loads((folder / "run.json").read_text())
    figures = drawn.result_figures_by_stem("run", T, TABLE, COLUMNS, ["angles"], "one")
    put(folder, (), note="second")
    with pytest.raises(DenocError, match="another result now"):
        write.add_plots_to_result(folder, "run", record, figures, "png")
    assert set(contents(folder)) == {"run.csv", "run.json"}
    write.add_plots_to_result(folder, "run", json.loads((folder / "run.json").read_text()), figures, "png")
    assert set(contents(folder)) == {"run.csv", "run.json", "run-angles.png"}


@pytest.mark.parametrize(
    "record", ["", "[]", "{}", '{"files": null}', '{"files": ["../outside.txt", "/etc/hostname", 3]}', '{"files": 3}']
)
def test_a_strange_record_of_an_earlier_run_does_no_harm(tmp_path, record):
    (tmp_path / "outside.txt").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(record)
    put(tmp_path / "run", ["angles"])
    assert (tmp_path / "outside.txt").read_text() == "mine"
    assert set(contents(tmp_path / "run")) == {"run.csv", "run.json", "run-angles.png"}


def test_to_csv_leaves_the_old_file_if_it_fails(tmp_path, monkeypatch):
    result = denoc.run("planar3r-idyn")
    path = result.to_csv(tmp_path / "x.csv")
    kept = contents(tmp_path)

    def failing(self, *_, **__):
        Path.write_bytes(self, b"half")
        raise DiskFullError

    monkeypatch.setattr(Path, "write_text", failing)
    with pytest.raises((OSError, DenocError), match="No space"):
        result.to_csv(path)
    assert contents(tmp_path) == kept
