"""Tables that don't cover the run are announced: in the record, and on the terminal."""

import math

import pytest
from typer.testing import CliRunner

import denoc
from denoc.cli.app import typer_application

SECTIONS = {
    "motion.joint1": "motion: {joint1: {law: table, file: way.csv, column: a}}",
    "forces.joint1": "task: simulate\nforces: {joint1: {law: table, file: way.csv, column: a}}",
    "wrenches.0.force.2": "wrenches: [{link: link6, force: [0, 0, {law: table, file: way.csv, column: a}]}]",
}


def scenario(folder, entries, rows, end=1.0):
    (folder / "way.csv").write_text("t,a\n" + "".join(f"{t},{0.1 * t}\n" for t in rows))
    task = "" if "task" in entries else "task: inverse\n"
    path = folder / "s.yaml"
    path.write_text(f"robot: puma\n{task}time: {{start: 0.2, end: {end}, step: 0.1}}\nplots: []\n{entries}\n")
    return path


@pytest.mark.parametrize("place", SECTIONS)
@pytest.mark.parametrize("rows, span", [((0, 0.5), "0 to 0.5 s"), ((0.5, 1, 1.5), "0.5 to 1.5 s")])
def test_a_table_that_ends_early_or_begins_late_is_announced(tmp_path, place, rows, span):
    result = denoc.run(scenario(tmp_path, SECTIONS[place], rows))
    (warning,) = [text for text in result.record["warnings"] if "way.csv" in text]
    assert warning.startswith(f"{place}: ")
    assert span in warning
    assert "the run from 0.2 to 1 s" in warning


@pytest.mark.parametrize("place", SECTIONS)
def test_a_table_that_covers_the_run_is_not(tmp_path, place):
    assert not denoc.run(scenario(tmp_path, SECTIONS[place], (0.2, 0.7, 1.0))).record["warnings"]


def test_drives_have_tables_too(tmp_path):
    x = 0.1 * math.cos(1) + math.sqrt(0.3**2 - (0.1 * math.sin(1)) ** 2)  # where the piston is
    (tmp_path / "lift.csv").write_text(f"t,x\n0,{x!r}\n0.5,{x + 1e-3!r}\n")
    (tmp_path / "s.yaml").write_text(
        "robot: slider-crank\ntask: simulate\ntime: {end: 1, step: 0.5}\nplots: []\ninitial: {crank: 1}\n"
        "drives: [{name: push, link: piston, along: [1, 0, 0], law: table, file: lift.csv, column: x}]\n"
    )
    (warning,) = denoc.run(tmp_path / "s.yaml").record["warnings"]
    assert warning.startswith("drives.push: the table `lift.csv` goes from 0 to 0.5 s")


def test_it_is_said_on_the_terminal(tmp_path):
    path = scenario(tmp_path, SECTIONS["motion.joint1"], (0, 0.5))
    done = CliRunner().invoke(typer_application(), ["run", str(path), "--no-plot", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "warning: motion.joint1: the table `way.csv` goes from 0 to 0.5 s" in done.output
