"""`denoc regress` as a build server has it: exit codes, files, what is printed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from denoc.record import plots

pytestmark = pytest.mark.usefixtures("unseen_pictures")
PENDULUM = """
name: pendulum
convention: dh
links:
  - name: rod
    joint: {type: revolute, name: hinge, alpha: 90 deg}
    mass: 1
    com: [0.5, 0, 0]
    inertia: {xx: 0.001, yy: 0.1, zz: 0.1}
gravity: [0, -9.81, 0]
"""
SWING = """
robot: pendulum
task: simulate
time: {end: 1, step: 0.01}
forces: {hinge: {law: constant, value: 1}}
plots: [angles, torques]
"""
TURN = """
robot: pendulum
task: inverse
time: {end: 1, step: 0.1}
motion: {hinge: {law: cycloid, to: 90 deg}}
"""


@pytest.fixture
def command(tmp_path, monkeypatch, command_line):
    """Runs the command in an empty folder: exit code, out, err."""
    monkeypatch.chdir(tmp_path)
    return command_line


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder that keeps what the first test has recorded, for the others."""
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture
def denoc(command, recorded):
    """Runs the command in a folder with a robot, two scenarios and their baseline: exit code, out, err."""
    if Path(recorded, "outputs").is_dir():
        shutil.copytree(recorded, ".", dirs_exist_ok=True)
        return command
    Path("pendulum.yaml").write_text(PENDULUM)
    Path("swing.yaml").write_text(SWING)
    Path("turn.yaml").write_text(TURN)
    code, out, err = command("regress", "swing.yaml", "turn", "--update")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "swing: DIFFERENT: not in the baseline",
        "turn: DIFFERENT: not in the baseline",
        "2 scenarios: 2 different",
        "outputs/baseline: swing (added), turn (added)",
    ]
    shutil.copytree(".", recorded, dirs_exist_ok=True)
    return command


def heavier():
    Path("pendulum.yaml").write_text(PENDULUM.replace("mass: 1\n", "mass: 1.001\n"))


def test_the_same(denoc):
    assert sorted(os.listdir("outputs/baseline")) == ["swing.csv", "swing.json", "turn.csv", "turn.json"]
    for words in ([], ["swing"], ["turn.yaml", "swing"], ["--backend", "plain"], ["--backend", "compiled"]):
        code, out, err = denoc("regress", *words)
        assert (code, err) == (0, ""), out
        assert "all the same" in out
    assert sorted(os.listdir("outputs")) == ["baseline"]
    assert "outputs/baseline: nothing to change" in denoc("regress", "--update")[1]
    assert denoc("regress", "--quiet") == (0, "", "")


def test_a_changed_mass(denoc):
    heavier()
    code, out, err = denoc("regress", "--junit", "junit.xml", "--summary", "summary.md")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert any(
        line.startswith("turn: ") and "DIFFERENCES, the worst: energy.potential at t = 1 s: " in line for line in lines
    )
    assert any(line.split()[:2] == ["energy.potential", "1"] for line in lines)  # the table: where, when
    assert lines[-1] == "2 scenarios: 2 different"
    assert {"turn-difference-hinge-force.png", "turn-difference-energy-energy.png"} <= {
        *os.listdir("outputs/regress/turn")
    }

    suite = ElementTree.parse("junit.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    cases = {case.get("name"): case for case in suite}
    assert set(cases) == {"swing", "turn"}
    assert "energy.potential at t = 1 s" in cases["turn"].find("failure").get("message")
    assert "hinge.tau at t = " in cases["turn"].find("failure").text
    summary = Path("summary.md").read_text()
    assert summary.startswith("## denoc regress: 2 scenarios: 2 different\n")
    assert "| where | at t | baseline | now |" in summary
    assert "| hinge.tau | " in summary


def test_overlays_of_an_earlier_comparison_go(denoc):
    heavier()
    assert denoc("regress", "turn", "--out", "plots")[0] == 1
    kept = Path("plots/turn/mine.png")
    kept.write_text("not ours")
    assert len(os.listdir("plots/turn")) > 1
    Path("pendulum.yaml").write_text(PENDULUM)
    assert denoc("regress", "turn", "--out", "plots")[0] == 0
    assert os.listdir("plots/turn") == ["mine.png"]
    heavier()
    assert denoc("regress", "swing", "--out", "plots", "--no-plot")[0] == 1
    assert os.listdir("plots") == ["turn"]


def test_quiet_and_json(denoc):
    heavier()
    code, out, err = denoc("regress", "--quiet")
    assert (code, out) == (1, "")
    assert [line.split(":")[:2] for line in err.splitlines()] == [["error", " swing"], ["error", " turn"]]
    code, out, err = denoc("regress", "turn", "--json")
    assert (code, err) == (1, "")
    told = json.loads(out)
    assert (told["same"], told["different"], told["updated"]) == (0, 1, {})
    (turn,) = told["scenarios"]
    assert (turn["scenario"], turn["same"]) == ("turn", False)
    worst = turn["differences"][0]
    assert (worst["what"], worst["t"], worst["unit"]) == ("energy.potential", 1.0, "J")
    assert worst["times"] > 100
    assert all(Path(file).is_file() for file in turn["plots"])


def test_update_shows_what_changes_and_writes(denoc):
    heavier()
    before = Path("outputs/baseline/turn.csv").read_text()
    code, out, err = denoc("regress", "turn", "--update")
    assert (code, err) == (0, "")
    assert "energy.potential at t = 1 s" in out
    assert out.splitlines()[-1] == "outputs/baseline: turn (changed)"
    assert Path("outputs/baseline/turn.csv").read_text() != before
    assert denoc("regress", "turn")[0] == 0
    assert denoc("regress")[0] == 1  # swing is as it was


def test_an_update_that_fails_changes_nothing(denoc, monkeypatch):
    heavier()
    before = {file: Path("outputs/baseline", file).read_bytes() for file in os.listdir("outputs/baseline")}

    def full(*_):
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        code, _, err = denoc("regress", "--update")
    assert code == 2
    assert "it is as it was" in err
    assert {file: Path("outputs/baseline", file).read_bytes() for file in os.listdir("outputs/baseline")} == before


def test_a_swapped_label(denoc, monkeypatch):
    row = plots.PLOTS["torques"]
    monkeypatch.setitem(plots.PLOTS, "torques", plots.Plot(row.family, row.title, {"N m": "force", "N": "torque"}))
    code, out, _ = denoc("regress", "turn")
    assert code == 1
    assert "y label `torque (N m)` is `force (N m)` now" in out
    assert "outputs/regress/turn/: turn-difference-torques-panel1.png" in out


def test_missing_and_unknown_scenarios(denoc):
    Path("turn.yaml").unlink()
    for words in ([], ["turn"]):
        code, out, _ = denoc("regress", *words)
        assert code == 1
        assert "turn: DIFFERENT: `../../turn.yaml` is no longer there" in out
    code, out, _ = denoc("regress", "puma-idyn")
    assert code == 1
    assert "puma-idyn: DIFFERENT: not in the baseline" in out
    code, _, err = denoc("regress", "nonsense")
    assert code == 2
    assert "no such scenario" in err
    assert "turn (removed)" in denoc("regress", "--update")[1]
    assert denoc("regress")[0] == 0


def test_from_another_folder(denoc, monkeypatch):
    """Files are found from the baseline, wherever the command runs."""
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert denoc("regress", "--baseline", "../outputs/baseline")[0] == 0


@pytest.mark.parametrize("file", ["swing.json", "swing.csv"])
def test_a_corrupt_baseline(denoc, file):
    Path("outputs/baseline", file).write_text("nonsense")
    code, _, err = denoc("regress")
    assert code == 2
    assert file in err


@pytest.mark.parametrize("part", ["x", "y", "limits"])
def test_plots_of_a_baseline_whose_numbers_do_not_belong_together(denoc, part):
    file = Path("outputs/baseline/swing.json")
    kept = json.loads(file.read_text())
    panel = next(panel for picture in kept["plots"].values() for panel in picture["panels"] if panel["lines"])
    (panel if part == "limits" else panel["lines"][0])[part] = [1.0]
    file.write_text(json.dumps(kept))
    code, _, err = denoc("regress")
    assert code == 2
    assert f"error: {file}: not a file of a baseline: " in err.replace(f"{Path.cwd()}/", "")


def test_no_baseline(denoc):
    code, _, err = denoc("regress", "--baseline", "nowhere")
    assert code == 2
    assert "nowhere: no such baseline" in err
    assert denoc("regress", "--baseline", "nowhere", "--update")[0] == 2
    assert denoc("regress", "swing", "--baseline", "nowhere", "--update")[0] == 0
    assert sorted(os.listdir("nowhere")) == ["swing.csv", "swing.json"]


def test_places_of_reports(denoc):
    assert denoc("regress", "swing", "--junit", "new/folder/junit.xml")[0] == 0
    assert ElementTree.parse("new/folder/junit.xml").getroot().tag == "testsuites"
    code, out, err = denoc("regress", "--summary", "swing.yaml/summary.md")
    assert (code, out) == (2, "")  # before anything has run
    assert "swing.yaml is a file" in err


def test_names_that_xml_and_markdown_would_take_for_something_else(denoc):
    Path("pendulum.yaml").write_text(PENDULUM.replace("hinge", "a<b>|&*").replace("mass: 1\n", "mass: 1.001\n"))
    Path("turn.yaml").write_text(TURN.replace("hinge", '"a<b>|&*"'))
    assert denoc("regress", "turn", "--junit", "junit.xml", "--summary", "summary.md")[0] == 1
    text = ElementTree.parse("junit.xml").getroot().find("testsuite/testcase/failure").text
    assert "a<b>|&*.tau: a new column" in text
    assert "a\\<b\\>\\|&\\*.tau" in Path("summary.md").read_text()


def test_a_verdict_cannot_be_forged(denoc):
    """What a baseline says, whose files come with a change of strangers, begins no line of the output."""
    file = Path("outputs/baseline/turn.json")
    kept = json.loads(file.read_text())
    forged = "x\x1b[2K\r\n1 scenario: all the same\n"
    kept["ended"] = forged
    for picture in kept["plots"].values():
        picture["title"] = forged
    file.write_text(json.dumps(kept))
    code, out, _ = denoc("regress", "turn", "--summary", "summary.md")
    assert code == 1
    for text in (out, Path("summary.md").read_text()):
        assert not any(line.startswith("1 scenario: all the same") for line in text.splitlines())
        assert all(c.isprintable() for c in text.replace("\n", ""))
    assert out.splitlines()[-1] == "1 scenario: 1 different"
