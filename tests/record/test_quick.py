"""What makes drawing quicker changes no picture: ticks that are found once, docstrings that are left out."""

import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import denoc
from denoc.record import arranged, ticks

STATED = """
import inspect, sys
from denoc.record import undescribed
if sys.argv[1] == "soon":
    undescribed.ends_soon()
undescribed.imported()
assert ("matplotlib" in sys.modules) == (sys.argv[1] == "soon")
from denoc.record.arranged import Arranged
from matplotlib.lines import Line2D
figure = Arranged(3.0, 2.0, 1, 1)
(line,) = figure.add_subplot(1, 1, 1).plot([0, 1], [0, 1])
line.set(linewidth=3.0, color="red")
assert line.get_linewidth() == 3.0
print("antialiased" in Line2D.set.__doc__ if Line2D.set.__doc__ else False)
figure.savefig(sys.argv[2], metadata={"Software": None})
class Later(Line2D):
    pass
assert "antialiased" in Later.set.__doc__
"""


def pictures(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.png"))}


@pytest.mark.parametrize("name", ["puma-idyn", "four-bar-fall"])
@pytest.mark.sampled(2)
def test_ticks_that_are_found_once_change_no_picture(name, tmp_path, monkeypatch):
    result = denoc.run({"robot": name.rpartition("-")[0], "task": "inverse", "time": {"end": 1, "step": 0.1}})
    result.write(tmp_path / "once")
    monkeypatch.setattr(arranged, "found_once", lambda figure: nullcontext())
    result.write(tmp_path / "thrice")
    once = pictures(tmp_path / "once")
    assert once
    assert once == pictures(tmp_path / "thrice")


def test_ticks_are_found_once_and_then_as_ever(monkeypatch):
    figure, calls = arranged.Arranged(4.0, 3.0, 1, 1), []
    axes = figure.add_subplot(1, 1, 1)
    axes.plot(np.arange(5.0))
    axis, find = type(axes.xaxis), type(axes.xaxis)._update_ticks

    def counted(self):
        calls.append(1)
        return find(self)

    monkeypatch.setattr(axis, "_update_ticks", counted)
    with ticks.found_once(figure):
        first = axes.xaxis._update_ticks()
        assert axes.xaxis._update_ticks() is first
        assert len(calls) == 1
    assert not {ticks.FINDING, ticks.MEASURING, ticks.COPYING} & set(vars(axes.xaxis))
    axes.xaxis._update_ticks()
    assert len(calls) == 2


def test_a_matplotlib_without_these_functions_is_left_alone(monkeypatch):
    figure = arranged.Arranged(4.0, 3.0, 1, 1)
    axes = figure.add_subplot(1, 1, 1)
    monkeypatch.setattr(ticks, "MEASURING", "_no_such_function")
    with ticks.found_once(figure):
        assert ticks.FINDING not in vars(axes.xaxis)


def test_a_command_has_no_lists_of_properties(tmp_path):
    said = {}
    for how in ("soon", "never"):
        command = [sys.executable, "-c", STATED, how, str(tmp_path / f"{how}.png")]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
        said[how] = run.stdout.strip()
    assert said == {"soon": "False", "never": "True"}
    assert (tmp_path / "soon.png").read_bytes() == (tmp_path / "never.png").read_bytes()
