"""`denoc paper` as users have it: the list, one figure with its files, what is refused."""

import csv
import json
from pathlib import Path

import pytest

from denoc.study.papers import EXHIBITS


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command in an empty folder: exit code, out, err."""
    monkeypatch.chdir(tmp_path)
    return command_line


def read(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_the_list(denoc):
    code, out, err = denoc("paper")
    assert (code, err) == (0, "")
    assert [name for name in EXHIBITS if f"  {name} " not in out] == []
    told = json.loads(denoc("paper", "--json")[1])
    assert [one["id"] for one in told] == list(EXHIBITS)
    assert not list(Path().iterdir())


def test_a_figure(denoc):
    code, out, err = denoc("paper", "saha-1999-fig-5")
    assert (code, err) == (0, "")
    assert "very likely, not proven" in " ".join(out.split())
    assert "axis of the figure: -2 to 5" in out
    assert "joint1.tau" in out
    folder = Path("outputs/paper/saha-1999-fig-5")
    assert {path.name for path in folder.iterdir()} == {
        "saha-1999-fig-5.csv",
        "saha-1999-fig-5-compared.csv",
        "saha-1999-fig-5.png",
    }
    rows = read(folder / "saha-1999-fig-5.csv")
    assert len(rows) == 201
    assert float(rows[0]["joint1.tau"]) == pytest.approx(4.3458, abs=1e-4)
    (compared,) = read(folder / "saha-1999-fig-5-compared.csv")
    assert compared == {"": "torques, N m", "paper": "axis of the figure: -2 to 5", "denoc": "-1.90 to 4.39"}


def test_a_table_keeps_its_names(denoc):
    assert denoc("paper", "saha-overview-table-2", "--out", "here", "--no-plot", "--quiet") == (0, "", "")
    folder = Path("here/saha-overview-table-2")
    assert len(list(folder.iterdir())) == 2
    rows = read(folder / "saha-overview-table-2.csv")
    assert float(rows[5]["Saha (1999), proposed: multiplications"]) == 871
    assert float(rows[5]["n"]) == 6


def test_several_as_json(denoc):
    code, out, _ = denoc("paper", "saha-1999-fig-5", "saha-1999-fig-8", "--json", "--format", "svg", "--out", "here")
    told = json.loads(out)
    assert code == 0
    assert [one["id"] for one in told] == ["saha-1999-fig-5", "saha-1999-fig-8"]
    assert told[0]["compared"][0]["paper"] == "axis of the figure: -2 to 5"
    assert told[0]["columns"][0]["unit"] == "N m"
    assert all(Path(file).is_file() for one in told for file in one["files"])
    assert told[0]["files"][-1].endswith(".svg")


def test_what_is_refused(denoc):
    code, _, err = denoc("paper", "saha-1999-fig-50")
    assert code == 2
    assert "no table or figure is called `saha-1999-fig-50`" in err
    assert "did you mean" in err
    code, _, err = denoc("paper", "saha-1999-fig-5", "--all")
    assert code == 2
    assert "either IDs or --all" in err
    Path("here").write_text("a file")
    code, _, err = denoc("paper", "saha-1999-fig-5", "--out", "here")
    assert code == 2
    assert "is a file" in err
