"""The lowest versions that a CI job installs are the bounds that the package states."""

import runpy
import tomllib
from pathlib import Path

import pytest

VERSIONS = runpy.run_path(str(Path(__file__).with_name("versions.py")))
ROOT, lowest, main = VERSIONS["ROOT"], VERSIONS["lowest"], VERSIONS["main"]


def test_every_dependency_has_a_bound_that_is_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [one.partition(">=")[0] for one in project["dependencies"]]
    assert len(names) > 5
    assert [one.partition("==")[0] for one in lowest()][: len(names)] == names
    assert "distributed" in {one.partition("==")[0] for one in lowest()}
    assert "typer==0.16" in lowest()  # nothing runs on 0.12.0 to 0.12.3


def test_a_python_that_is_not_there_is_left_out(capsys):
    main("newest", "python9.99")
    assert "python9.99: not there, so not tried" in capsys.readouterr().out


def test_what_isnt_known_is_refused():
    with pytest.raises(SystemExit, match="lowest"):
        main("oldest")
