"""A style of plots is one row: slides with thick lines, of which the command draws, too."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import denoc
from denoc.record import STYLES, Style

SLIDE = Style(
    "for slides: large, with thick lines", (12.5, 7.0), (6.0, 4.0), (12.5, 6.0), width=12.5, line=3.5, form="svg"
)

FALL = {"name": "fall", "robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.05}}


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(STYLES, "slide", SLIDE)


def test_a_result_is_drawn_in_it():
    drawn = denoc.run(FALL).plot("angles", style="slide")
    assert {figure.get_figwidth() for figure in drawn.values()} == {12.5}
    strokes = [line for figure in drawn.values() for axes in figure.axes for line in axes.get_lines()]
    assert {line.get_linewidth() for line in strokes} == {3.5}


def test_the_command_takes_it_and_names_it(tmp_path, command_line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    denoc.run(FALL).write("o")
    code, _, err = command_line("plot", "o/fall", "--style", "slide", "--plot", "angles")
    assert (code, err) == (0, "")
    picture = next(Path("o").rglob("*angles.svg"))
    assert ET.parse(picture).getroot().get("width") == "900pt"
    code, _, err = command_line("plot", "o/fall", "--style", "slid")
    assert code == 2
    assert "did you mean `slide`?" in err
