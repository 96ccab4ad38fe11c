"""Who waits long is told what for: by a bar on a terminal, elsewhere by a line now and then."""

import io
import sys
import threading
from pathlib import Path

import pytest

from denoc.cli import waiting
from denoc.cli.main import main
from denoc.cli.waiting import Wait
from denoc.machine.backend import cache
from limits import HANGS


class Stream(io.StringIO):
    """Standard error that says when it holds a certain text."""

    def __init__(self, awaited, terminal=False):
        super().__init__()
        self.awaited, self.terminal, self.there = awaited, terminal, threading.Event()

    def write(self, text):
        count = super().write(text)
        if self.awaited in self.getvalue():
            self.there.set()
        return count

    def isatty(self):
        return self.terminal


@pytest.fixture
def shown(monkeypatch):
    """What is shown while `during` goes on, which is until the awaited text has come."""
    monkeypatch.setattr(waiting, "FIRST", 0.001)
    monkeypatch.setattr(waiting, "PATIENCE", 0.001)
    monkeypatch.setenv("TERM", "xterm")

    def show(awaited, during=lambda wait: None, terminal=False):
        stream = Stream(awaited, terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        with Wait("fall", quiet=False) as wait:
            during(wait)
            assert stream.there.wait(HANGS)
        return stream.getvalue()

    return show


def test_lines_where_there_is_no_terminal(shown):
    assert shown("so far").startswith("fall: under way (0 s so far)\n")
    assert "fall: drawing (" in shown("drawing", lambda wait: wait.now("drawing"))


@pytest.mark.parametrize("terminal", [False, True])
def test_a_simulation_says_how_far_it_is(shown, terminal):
    def during(wait):
        report = wait.simulated(0.0, 8.0)
        report(1.0)
        report(2.0)

    assert "fall" in shown("t = 2.000 of 8 s", during, terminal)


def test_compiling_is_told(shown, monkeypatch):
    seen = []

    def made():
        seen.append(shown("compiling"))
        return b"code"

    monkeypatch.setattr(cache, "load_object_code", lambda name: None)
    monkeypatch.setattr(cache, "store_object_code", lambda name, code: None)
    assert cache.object_code_from_cache("program", made, only=False) == b"code"
    assert "fall: compiling (" in seen[0]
    assert not cache.compiling


def test_pauses_grow(monkeypatch):
    pauses = []

    class Over:
        def wait(self, pause):
            pauses.append(pause)
            return len(pauses) > 9

    wait = Wait("fall", quiet=False)
    wait._over = Over()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(waiting, "FIRST", 10.0)
    wait._lines()
    assert pauses[:4] == [10.0, 20.0, 40.0, 80.0]
    assert pauses[-1] == waiting.MOST


def test_quiet_is_quiet(monkeypatch):
    monkeypatch.setattr(waiting, "FIRST", 0.0)
    with Wait("fall", quiet=True) as wait:
        wait.now("drawing")
        assert wait._thread is None


COMMANDS = {
    "run puma-idyn planar3r-idyn": ["t = 10.000 of 10 s", waiting.WRITING],
    "compare linkage --methods denoc --rtol 1e-2 --steps 0.1 --no-feedback": ["run 1 of 2", waiting.WRITING],
    "distribute three-rrr-idyn --no-check --no-measure": ["computing by legs", waiting.WRITING],
    "paper saha-1999-fig-5": ["computing", waiting.WRITING],
    "complexity --no-measure": ["counting operations"],
    "regress planar3r-idyn --baseline agreed --update": ["t = 10.000 of 10 s", "drawing plots and comparing them"],
}


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.sampled(2)
def test_commands_that_take_long_say_what_they_do(line, tmp_path, monkeypatch):
    """Each part of their work has its word, whether anybody waits long enough to read it or not."""
    said = []
    now, simulated = Wait.now, Wait.simulated

    def simulated_(self, *times):
        report = simulated(self, *times)

        def reported(t):
            report(t)
            said.append(self._said()[0])

        return reported

    def now_(self, *state):
        now(self, *state)
        said.append(self._said()[0])

    monkeypatch.setattr(Wait, "now", now_)
    monkeypatch.setattr(Wait, "simulated", simulated_)
    monkeypatch.chdir(tmp_path)
    Path("linkage.yaml").write_text(
        "robot: four-bar\ntask: simulate\ntime: {end: 0.2, step: 0.1}\nmotion: {A0: {law: cycloid, to: 0.2}}\n"
    )
    monkeypatch.setattr(sys, "argv", ["denoc", *line.split(), *(["--no-plot"] if "complexity" not in line else [])])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    for words in COMMANDS[line]:
        assert any(one.startswith(words) for one in said), (words, said[:9])


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "four-bar"],
        ["matrices", "four-bar"],
        ["linearize", "four-bar"],
        ["convert", "four-bar", "--to", "mjcf"],
        ["codegen", "four-bar", "--what", "idyn"],
        ["idyn", "four-bar", "--no-plot"],
        ["simulate", "four-bar", "--no-plot", "--time", "0.01"],
        ["run", "four-bar-idyn", "--no-plot"],
    ],
)
def test_commands_that_close_loops_say_that_they_are_under_way(words, monkeypatch, tmp_path, command_line):
    """Loops that don't close are sought for from many starts, which takes minutes where there are many of them."""
    shown = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Wait, "now", lambda self, what, share=None: shown.append((self.quiet, what)))
    monkeypatch.setattr(Wait, "__enter__", lambda self: shown.append((self.quiet, "")) or self)
    assert command_line(*words)[0] == 0
    assert shown[0] == (False, "")
    assert ((False, waiting.CLOSING) in shown) == (words[0] in ("inspect", "linearize", "idyn", "simulate", "run"))
