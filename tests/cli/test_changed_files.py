"""A result is read only as it was written: a file of another run, or one that was edited, is named and refused."""

import json
import os
from pathlib import Path

import pytest

import unseen
from denoc.errors import InputError
from denoc.scenario import stored, stored_scenario_result

FOLDER = Path("outputs/planar3r-idyn")


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command in a clean folder: exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)
    return command_line


@pytest.fixture
def result(denoc):
    assert denoc("idyn", "planar3r", "--no-plot")[0] == 0
    return FOLDER


def edited(file):
    file.write_bytes(file.read_bytes().replace(b"5", b"6", 1))


def test_a_table_that_was_edited_is_not_drawn(denoc, result):
    edited(result / "planar3r-idyn.csv")
    code, _, err = denoc("plot", result)
    assert code == 2
    assert err.startswith(f"error: {result}/planar3r-idyn.csv: this is not the file")
    assert not list(result.glob("*.png"))


@pytest.mark.usefixtures("unseen_pictures")
def test_a_replay_needs_no_plots_and_no_table(denoc):
    assert denoc("idyn", "planar3r")[0] == 0
    edited(FOLDER / "planar3r-idyn.csv")
    plot, *others = FOLDER.glob("*.png")
    plot.write_bytes(b"another picture")
    for one in others:
        one.unlink()
    assert denoc("run", FOLDER / "planar3r-idyn.scenario.yaml", "--no-plot", "--out", "again")[0] == 0


@pytest.mark.parametrize("name", ["planar3r-idyn.scenario.yaml", "planar3r.robot.yaml"])
def test_a_replay_that_was_edited_is_not_run(denoc, result, name):
    replay = result / "planar3r-idyn.scenario.yaml"
    assert denoc("run", replay, "--no-plot", "--out", "again")[0] == 0
    edited(result / name)
    code, _, err = denoc("run", replay, "--no-plot", "--out", "other")
    assert code == 2
    assert err.startswith(f"error: {result / name}: this is not the file")
    os.unlink(result / name)
    if name.endswith("robot.yaml"):
        assert f"{result / name}: not the file that was written with the record beside it: it is missing" in denoc(
            "run", replay, "--no-plot", "--out", "other"
        )[2].replace("\n", " ")
    assert not Path("other").exists()


def test_a_copy_is_the_users_own(denoc, result):
    """Without the record beside it, a scenario and its robot may be changed as any other file."""
    Path("mine").mkdir()
    for name in ("planar3r-idyn.scenario.yaml", "planar3r.robot.yaml"):
        (Path("mine") / name).write_bytes((result / name).read_bytes())
    text = (Path("mine") / "planar3r.robot.yaml").read_text()
    (Path("mine") / "planar3r.robot.yaml").write_text(text.replace("mass: 0.5", "mass: 0.7", 1))
    assert denoc("run", "mine/planar3r-idyn.scenario.yaml", "--no-plot", "--out", "other")[0] == 0


def test_further_plots_belong_to_the_result(denoc, result):
    """They are in the record, and go with the result that they show."""
    assert denoc("plot", result, "--plot", "rates", "--format", "svg")[0] == 0
    record = json.loads((result / "planar3r-idyn.json").read_text())
    assert {"planar3r-idyn-rates.svg", "planar3r-idyn-rates-overlay.svg"} <= {*record["files"]}
    assert record["files"] == sorted(os.listdir(result))
    assert {*record["checksums"]} == {*record["files"]} - {"planar3r-idyn.json"}
    assert denoc("plot", result)[0] == 0  # once more, with another record
    assert json.loads((result / "planar3r-idyn.json").read_text())["files"] == sorted(os.listdir(result))
    assert denoc("idyn", "planar3r", "--no-plot")[0] == 0
    assert not list(result.glob("*-rates*"))


def test_plots_of_a_result_that_is_there_no_more(denoc, result, monkeypatch):
    """A run may replace a result while its plots are being drawn: they aren't put beside another one's table."""
    kept, drawn = stored_scenario_result(result), stored.figures_of_result

    def meanwhile(*rest):
        (result / "planar3r-idyn.json").write_text("{}")
        return drawn(*rest)

    monkeypatch.setattr(stored, "figures_of_result", meanwhile)
    unseen.save_figures_by(lambda figure, path, **how: path.write_text("a plot"), monkeypatch.setattr)
    with pytest.raises(InputError, match="another result now"):
        kept.draw(["angles"], result, "png")
    assert not list(result.glob("*.png"))


# ---- variants of a run


def test_a_name_keeps_variants_apart(denoc, result):
    before = (result / "planar3r-idyn.csv").read_bytes()
    heavier = ("--set", "robot.links.link1.mass=3", "--name", "heavy", "--no-plot")
    for words in (("idyn", "planar3r"), ("run", "planar3r-idyn")):
        assert denoc(*words, *heavier)[0] == 0
        assert sorted(os.listdir("outputs")) == ["heavy", "planar3r-idyn"]
        assert {"heavy.csv", "heavy.json", "heavy.scenario.yaml"} <= {*os.listdir("outputs/heavy")}
    assert (result / "planar3r-idyn.csv").read_bytes() == before
    assert denoc("simulate", "planar3r", "--time", "0.1", "--name", "drop", "--no-plot", "-q") == (0, "", "")
    assert Path("outputs/drop/drop.csv").exists()


@pytest.mark.parametrize("words", [["planar3r-idyn", "--name", "../up"], ["planar3r-idyn", "puma-idyn", "--name", "x"]])
def test_names_that_cannot_be(denoc, words):
    code, out, err = denoc("run", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: --name: ")


def test_a_run_with_other_inputs_is_not_replaced_in_silence(denoc, result):
    again = ("idyn", "planar3r", "--no-plot")
    assert denoc(*again)[2] == ""  # the same inputs
    heavier = (*again, "--set", "robot.links.link1.mass=3", "--time", "5")
    code, _, err = denoc(*heavier)
    assert code == 0
    assert err == (
        "warning: outputs/planar3r-idyn held a run with other inputs (time.end, robot.links.link1.mass), "
        "which is replaced; --name or --out keeps both\n"
    )
    assert denoc("run", result / "planar3r-idyn.scenario.yaml", "--no-plot")[2] == ""  # a replay has the same
    assert denoc(*again, "--quiet") == (0, "", "")
