"""Wrong files, one mistake each: the message names file, line and key, says what is allowed, and nothing is written.

The first line of each file says what its message must hold: `# expect: line 7; key links[0].joint.type; says revolute`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from denoc.cli import main

FOLDER = Path(__file__).resolve().parents[1] / "hostile"
FILES = [
    (command, path)
    for kind, command in (("robots", "idyn"), ("scenarios", "run"))
    for path in sorted((FOLDER / kind).glob("*.yaml"))
]


def expected(path):
    first = path.read_bytes().split(b"\n")[0].decode()
    assert first.startswith("# expect: ")
    return [part.partition(" ")[::2] for part in first.removeprefix("# expect: ").split("; ")]


def test_there_are_many():
    assert len(FILES) >= 60


@pytest.mark.parametrize(("command", "path"), FILES, ids=[f"{path.parent.name}-{path.stem}" for _, path in FILES])
def test_one_mistake(command, path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENOC_DEBUG", "1")  # what isn't an error of ours would come out as itself
    monkeypatch.setattr(sys, "argv", ["denoc", command, str(path)])
    with pytest.raises(SystemExit) as left:
        main.main()
    out, told = capsys.readouterr()
    first = told.split("\n")[0]
    assert left.value.code == 2
    assert out == ""
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []
    assert path.name in first
    assert any(f"{label}: " in told for label in ("found", "allowed", "hint"))
    for what, text in expected(path):
        if what == "line":
            assert f"{path.name}:{text}:" in first
        elif what == "key":
            assert f" {text}: " in first
        else:
            assert what == "says"
            assert text in told


@pytest.mark.parametrize("kind", ["robots", "scenarios"])
def test_a_process_of_its_own(kind, tmp_path):
    for command, path in [file for file in FILES if file[1].parent.name == kind][::40]:
        denoc = Path(sys.executable).with_name("denoc")
        run = subprocess.run([denoc, command, path], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 2
        assert path.name in run.stderr
        assert "Traceback" not in run.stderr
        assert list(tmp_path.iterdir()) == []
