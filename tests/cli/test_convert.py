"""`denoc convert`, and other commands with files in other formats: what is printed, what is written, exit codes."""

from pathlib import Path

import pytest

import denoc

FILES = Path(__file__).resolve().parents[1] / "formats" / "files"


@pytest.fixture
def run(monkeypatch, tmp_path, command_line):
    monkeypatch.chdir(tmp_path)
    return command_line


def test_it_prints_a_robot_that_denoc_reads(run):
    code, out, err = run("convert", FILES / "rover.urdf", "--floating")
    assert (code, err) == (0, "")
    assert denoc.loads(out).joints == ("root_joint", "glide", "fly")


def test_it_writes_where_it_is_told_and_by_the_suffix(run):
    code, out, _ = run("convert", FILES / "rover.urdf", "--out", ".")
    assert (code, out) == (0, "rover.yaml\n")
    code, out, _ = run("convert", "rover.yaml", "--out", "again.urdf")
    assert (code, out) == (0, "again.urdf\n")
    assert denoc.load("again.urdf").joints == denoc.load("rover").joints == ("glide", "fly")


def test_strict_is_a_check_of_what_was_changed(run):
    assert run("convert", FILES / "rover.urdf", "--strict", "--out", "a.yaml")[0] == 0
    code, _, err = run("convert", FILES / "arm.urdf", "--strict", "--out", "b.yaml")
    assert code == 1
    assert "warning: " in err
    assert "lower is above upper" in err
    assert Path("b.yaml").is_file()
    code, _, err = run("convert", "rx90", "--to", "urdf", "--strict", "--out", "c.urdf")
    assert (code, err) == (1, "warning: rx90: rotor inertia dropped: URDF has none (6 times)\n")


def test_the_report_names_every_part(run):
    _, _, err = run("convert", FILES / "arm.urdf", "--out", "a.yaml", "--report")
    assert "reading: link: used 9 times (lines 5, 13, 26, 33, 34, …)\n" in err
    line = 1 + [*map(str.strip, (FILES / "arm.urdf").read_text().splitlines())].index(
        '<transmission name="t"><type>simple</type><joint name="turn"/></transmission>'
    )
    assert f"reading: transmission: ignored, it belongs to a controller or a simulator (line {line})\n" in err


def test_what_cannot_be_read_or_written_is_wrong_use(run):
    Path("bad.urdf").write_text("<robot>\n<link/></robot>", encoding="utf-8")
    code, _, err = run("convert", "bad.urdf")
    assert (code, err.splitlines()[0]) == (2, "error: bad.urdf:2:1: link: `name` is missing")
    code, _, err = run("convert", "puma", "--to", "urdv")
    assert code == 2
    assert "did you mean `urdf`?" in err
    assert run("convert", "puma", "--floating")[0] == 2


def test_every_command_takes_such_a_file(run):
    files = (FILES / "four-bar-plus.urdf", FILES / "rover.urdf")
    code, out, _ = run("idyn", files[0], "--to", "20 deg", "--time", "1", "--step", "0.5", "--no-plot")
    assert code == 0, out
    code, out, _ = run("simulate", files[1], "--free-fall", "--time", "0.1", "--step", "0.05", "--no-plot")
    assert code == 0, out
    assert run("inspect", FILES / "four-bar.urdf", "--loops", FILES / "four-bar-loops.yaml")[0] == 0
    assert run("matrices", FILES / "four-bar.urdf")[0] == 0
    assert run("codegen", FILES / "four-bar.urdf", "--lang", "python")[0] == 0
    Path("s.yaml").write_text(f"robot: {files[1]}\ntask: simulate\ntime: {{end: 0.1, step: 0.05}}\n", encoding="utf-8")
    assert run("run", "s.yaml", "--no-plot")[0] == 0
    replay = Path("outputs/s")
    assert run("run", replay / "s.scenario.yaml", "--no-plot", "--out", "again")[0] == 0
    assert Path("again/s/s.csv").read_bytes() == (replay / "s.csv").read_bytes()
