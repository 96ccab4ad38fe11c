"""`denoc compare` in the terminal: tables, files, exit codes."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from denoc.study.comparison import Comparison

TURN = """
robot: four-bar
task: inverse
time: {end: 0.2, step: 0.02}
motion: {all: {law: rate, rate: 1}}
"""
QUICK = ("--rtol", "1e-3", "--steps", "0.02", "--k", "1e4", "--sigma", "10")


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command beside a scenario: exit code, out, err."""
    monkeypatch.chdir(tmp_path)
    Path("turn.yaml").write_text(TURN)
    return partial(command_line, "compare")


def rows():
    with open("outputs/compare/turn/turn-compare.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_tables_and_files(denoc):
    code, out, err = denoc("turn.yaml", "--methods", "denoc, penalty", *QUICK)
    assert (code, err) == (0, "")
    names = sorted(path.name for path in Path("outputs/compare/turn").iterdir())
    assert names == [
        "turn-compare-summary.csv",
        "turn-compare.csv",
        "turn-errors-denoc.png",
        "turn-errors-penalty.png",
        "turn-evaluations.png",
        "turn-feedback-correction.png",
        "turn-feedback-errors.png",
    ]
    assert [(row["method"], row["integrator"], row["feedback"]) for row in rows()] == [
        ("denoc", "rk45", "0"),
        ("denoc", "rk4", "0"),
        ("denoc", "rk4", "1"),
        ("penalty", "rk45", "0"),
        ("penalty", "rk4", "0"),
        ("penalty", "rk4", "1"),
    ]
    assert "joint error, rad" in out
    assert "penalty k = 10000" in out
    assert all(name in out for name in names)


def test_json(denoc):
    code, out, err = denoc(
        "turn.yaml", "--methods", "denoc", *QUICK, "--no-feedback", "--no-plot", "--json", "--out", "here"
    )
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [run["method"] for run in told["runs"]] == ["denoc", "denoc"]
    assert told["runs"][0]["correction"] is None
    assert told["summary"][0]["failed"] == 0
    assert told["files"] == ["here/turn/turn-compare.csv", "here/turn/turn-compare-summary.csv"]


def test_quiet(denoc):
    assert denoc("turn.yaml", "--methods", "denoc", *QUICK, "--no-plot", "--quiet") == (0, "", "")


def test_failures_are_told_with_their_reasons(denoc):
    words = ("--methods", "penalty", "--rtol", "1e-3", "--steps", "0.02", "--k", "1e9", "--no-feedback", "--no-plot")
    code, out, _ = denoc("turn.yaml", *words, "--max-evaluations", 200)
    assert code == 0
    assert "more than 200 evaluations of the equations of motion" in out
    assert {row["ended"] for row in rows()} == {"failed"}


def test_an_interrupt_keeps_what_was_done(denoc, monkeypatch):
    whole = Comparison.run

    def run(self, setting, tell=None):
        if setting.integrator == "rk4":
            raise KeyboardInterrupt
        return whole(self, setting, tell)

    monkeypatch.setattr(Comparison, "run", run)
    code, _, err = denoc("turn.yaml", "--methods", "denoc", *QUICK)
    assert code == 130
    assert "interrupted" in err
    assert len(rows()) == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (("--methods", "denok"), "there is no closure method `denok`"),
        (("--rtol", "2"), "must be less than 1"),
        (("--k", "soft"), "--k"),
        (("--steps", "0"), "must be more than 0"),
    ],
)
def test_wrong_options(denoc, words, message):
    code, _, err = denoc("turn.yaml", *words)
    assert code == 2
    assert message in err
    assert not Path("outputs").exists()


def test_other_values(denoc):
    code, _, _ = denoc("turn.yaml", "--methods", "denoc", *QUICK, "--no-plot", "--set", "time.end=0.1")
    assert code == 0
    assert {row["reached"] for row in rows()} == {"0.1"}
