"""Ctrl-C, SIGTERM and SIGHUP as users, batch systems and terminals send them: what there is is kept, nothing is half."""

import contextlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import denoc
import writers
from denoc.cli import app, interrupts, main
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, carry_out_whole_plan, prepare_scenario
from denoc.simulate import loop
from denoc.study.comparison import Comparison
from denoc.study.distribution import study
from limits import HANGS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

START = [sys.executable, "-c", "from denoc.cli.main import main; main()"]
LONG = ["simulate", "four-bar", "--time", "1000", "--step", "0.01", "--backend", "plain", "--no-plot"]
SENT = {signal.SIGINT: 130, signal.SIGTERM: 143, **({signal.SIGHUP: 129} if hasattr(signal, "SIGHUP") else {})}
SAID = "interrupted; results that were not complete have not been written\n"

# a process in which the import of a module is interrupted
INTERRUPTED_IMPORT = """
import os, signal, sys

module = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, *rest):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from denoc.__main__ import main
main()
"""

# a process whose run has just begun says so, so that a signal finds it under way
UNDER_WAY = """
from denoc.simulate import loop
keep = loop.Trace.keep
def told(self, *rest):
    keep(self, *rest)
    if len(self.t) == 3:
        print("under way", flush=True)
loop.Trace.keep = told
from denoc.cli.main import main
main()
"""


@pytest.mark.parametrize("number, times", [*((number, 1) for number in SENT), (signal.SIGTERM, 2)])
def test_a_run_keeps_the_rows_that_it_has(tmp_path, number, times):
    process = subprocess.Popen(
        [sys.executable, "-c", UNDER_WAY, *LONG],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "under way\n"
    for _ in range(times):  # `timeout` sends it to the process, and to its group
        process.send_signal(number)
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == SENT[number]
    assert "INTERRUPTED" in out
    assert "Traceback" not in err
    (folder,) = (tmp_path / "outputs").iterdir()
    record = json.loads((folder / f"{folder.name}.json").read_text())
    assert record["ended"] == "interrupted"
    assert record["reason"] == ("interrupted by the user" if number == signal.SIGINT else f"ended by {number.name}")
    assert len(np.loadtxt(folder / f"{folder.name}.csv", delimiter=",", skiprows=1)) == record["rows"] >= 3


EARLY = ("denoc.cli", "denoc.errors", "dataclasses")


@pytest.mark.parametrize("module", [*EARLY, "typer", "denoc.cli.simulate", "numpy", "denoc.simulate.loop"])
@pytest.mark.sampled(2)
def test_an_interrupt_of_an_import_is_quiet(tmp_path, module):
    words = [sys.executable, "-c", INTERRUPTED_IMPORT, module, *LONG]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == SAID
    assert not list(tmp_path.iterdir())


# a process that is interrupted when everything is imported, and nothing is heard yet
INTERRUPTED_START = """
import gc, os, signal
gc.set_threshold = lambda *_: os.kill(os.getpid(), signal.SIGINT)
from denoc.__main__ import main
main()
"""


def test_an_interrupt_between_imports_and_handlers_is_quiet(tmp_path):
    words = [sys.executable, "-c", INTERRUPTED_START, "list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", SAID)


SHORT = ("simulate", "planar3r", "--time", "0.3", "--no-plot", "--backend", "plain")
# what comes after a run's last row, in this order
AFTER = (
    "denoc.scenario.course.course_of_trace",
    "denoc.scenario.carry_out.conclude_result",
    "denoc.record.files.write.recorded_inputs_that_differ",
    "denoc.scenario.result.Result.write",
    "denoc.scenario.result.write_result",
)


@pytest.mark.parametrize("number", SENT)
@pytest.mark.parametrize("place", AFTER)
def test_a_run_whose_rows_are_all_there_is_written(tmp_path, monkeypatch, command_line, place, number):
    monkeypatch.chdir(tmp_path)
    owner, _, name = place.rpartition(".")
    before = pkgutil.resolve_name(place)

    def signalled(*given, **more):
        signal.raise_signal(number)
        return before(*given, **more)

    monkeypatch.setattr(pkgutil.resolve_name(owner), name, signalled)
    code, _, err = command_line(*SHORT)
    assert (code, err) == (SENT[number], SAID)
    (folder,) = (tmp_path / "outputs").iterdir()
    record = json.loads((folder / f"{folder.name}.json").read_text())
    assert record["ended"] == "done"
    assert len(np.loadtxt(folder / f"{folder.name}.csv", delimiter=",", skiprows=1)) == record["rows"] == 61


def signal_at_row(monkeypatch, number, row):
    """Every run gets this signal with its row of this number."""
    keep = loop.Trace.keep

    def told(self, *rest):
        keep(self, *rest)
        if len(self.t) == row:
            signal.raise_signal(number)

    monkeypatch.setattr(loop.Trace, "keep", told)


FALL = ("distribute", "three-rrr-fall", "--no-check", "--no-plot", "--out", "out", "--set", "time.step=0.001")
STEPS = ("--set", "time.end=0.005", "--set", "solver.method=rk4", "--set", "solver.step=1e-3", "--backend", "plain")


@pytest.mark.parametrize("number", SENT)
@pytest.mark.parametrize("form, nodes", [("denoc", "process"), ("penalty", "process"), ("projection-qr", "threads")])
@pytest.mark.sampled(3)
def test_a_distributed_run_keeps_the_rows_that_it_has(tmp_path, monkeypatch, command_line, number, form, nodes):
    monkeypatch.chdir(tmp_path)
    signal_at_row(monkeypatch, number, 3)
    code, out, err = command_line(*FALL, *STEPS, "--on", nodes, "--set", f"closure.method={form}")
    assert code == SENT[number]
    assert "INTERRUPTED" in out
    assert "not complete" not in err
    record = json.loads((tmp_path / "out/three-rrr-fall/three-rrr-fall.json").read_text())
    assert record["ended"] == "interrupted"
    rows = np.loadtxt(tmp_path / "out/three-rrr-fall/three-rrr-fall.csv", delimiter=",", skiprows=1)
    assert rows[:, 0] == pytest.approx([0.0, 0.001, 0.002])
    assert record["rows"] == 3


@pytest.mark.parametrize("words", [("--set", "closure.method=penalty"), (), ("--set", "task=inverse")])
def test_a_distributed_run_whose_rows_are_all_there_is_written(tmp_path, monkeypatch, command_line, words):
    """A signal that comes while costs are measured."""
    monkeypatch.chdir(tmp_path)
    scenario = ("distribute", "three-rrr-idyn", *FALL[2:]) if "task=inverse" in words else (*FALL, *STEPS, *words)
    before = study.measured_distribution_cost

    def signalled(*given):
        signal.raise_signal(signal.SIGTERM)
        return before(*given)

    monkeypatch.setattr(study, "measured_distribution_cost", signalled)
    code, *_ = command_line(*scenario)
    assert code == 143
    (found,) = tmp_path.rglob("three-rrr-*.json")
    assert json.loads(found.read_text())["ended"] == "done"


def test_a_comparison_keeps_its_runs(tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    before = Comparison.runs

    def signalled(*given):
        yield from before(*given)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Comparison, "runs", signalled)
    words = ("compare", "four-bar-idyn", "--methods", "denoc", "--rtol", "1e-6", "--no-plot")
    assert command_line(*words)[0] == 143
    assert len(list(tmp_path.rglob("*-compare.csv"))) == 1


def test_an_interrupt_that_python_drops_comes_again():
    """As it drops those that are raised in callbacks, such as of imports, and shows a traceback instead."""

    class Tidied:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0)

    with interrupts.heed_interrupt_signals():
        Tidied()
        with pytest.raises(KeyboardInterrupt, match="ended by SIGTERM"):
            time.sleep(10)
        assert interrupts.exit_code_of_interrupt() == 143


def test_an_interrupt_that_comes_while_one_is_dropped_comes_again(monkeypatch):
    """As it may where the machine is busy: what is raised in Python's hook for dropped errors is dropped as well."""
    send, sent = interrupts._send_again, []

    def at_once(number):
        sent.append(number)
        (signal.raise_signal if len(sent) == 1 else send)(number)

    class Tidied:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0)

    monkeypatch.setattr(interrupts, "_send_again", at_once)
    with interrupts.heed_interrupt_signals():
        Tidied()
        with pytest.raises(KeyboardInterrupt, match="ended by SIGTERM"):
            time.sleep(10)
    assert sent == [signal.SIGTERM] * 2


def test_an_interrupt_that_something_catches_is_not_lost(tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    keep = loop.Trace.keep

    def dropped(self, *rest):
        keep(self, *rest)
        if len(self.t) == 3:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(loop.Trace, "keep", dropped)
    code, out, _ = command_line(*("3" if word == "1000" else word for word in LONG))
    assert code == 130
    assert "INTERRUPTED" in out


def test_work_of_many_runs_ends_with_one(monkeypatch):
    """One run keeps the rows that it has; what is made of many would be made of too few rows."""
    keep = loop.Trace.keep

    def kept(self, *rest):
        keep(self, *rest)
        if len(self.t) == 3:
            raise KeyboardInterrupt("by the user")

    monkeypatch.setattr(loop.Trace, "keep", kept)
    plan = prepare_scenario("four-bar-fall")
    with using_backend("plain"):
        assert carry_out_plan(plan).ended == "interrupted"
        with pytest.raises(KeyboardInterrupt, match="by the user"):
            carry_out_whole_plan(plan)
        with pytest.raises(KeyboardInterrupt, match="by the user"):
            denoc.ensemble(
                "four-bar-fall", [{"robot.links.crank.mass": mass, "initial.A0": 0.1 * mass} for mass in (1, 2)]
            )


def test_an_ignored_signal_stays_ignored():
    """As under nohup, or in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.heed_interrupt_signals():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)
        assert not interrupts.interrupt_was_heard()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", SENT)
def test_what_is_being_written_is_written(tmp_path, number):

    def written():
        with interrupts.hold_interrupt_signals():
            os.kill(os.getpid(), number)
            writers.result(tmp_path / "run", 1.0)

    with interrupts.heed_interrupt_signals():
        with pytest.raises(KeyboardInterrupt):
            written()
        assert interrupts.exit_code_of_interrupt() == SENT[number]
    assert (tmp_path / "run" / "run.json").exists()


def test_a_second_interrupt_does_not_wait(tmp_path):

    def written():
        with interrupts.hold_interrupt_signals():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            writers.result(tmp_path / "run", 1.0)

    with interrupts.heed_interrupt_signals(), pytest.raises(KeyboardInterrupt):
        written()
    assert not list(tmp_path.iterdir())


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in SENT]
    with interrupts.heed_interrupt_signals():
        assert [signal.getsignal(number) for number in SENT] != before
    assert [signal.getsignal(number) for number in SENT] == before


# ---- output that can't be written


def shell(line, folder):
    """A shell's line in which `denoc` is the command; exit code and what it complained of."""
    program = f"denoc() {{ '{sys.executable}' -c 'from denoc.cli.main import main; main()' \"$@\"; }}\nset -o pipefail\n{line}"
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, capture_output=True, text=True, timeout=HANGS, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "line, code, why",
    [
        ("denoc list > /dev/full", 2, "No space left on device"),
        ("denoc --help > /dev/full", 2, "No space left on device"),
        ("denoc idyn planar3r --no-plot > /dev/full", 2, "No space left on device"),
        ("denoc list >&-", 2, "Bad file descriptor"),
        ("denoc schema scenario | true", 141, ""),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.sampled(4)
def test_output_that_cannot_be_written_is_told_in_one_line(tmp_path, line, code, why):
    if code == 141:  # the reader has gone before anything is written
        line = line.replace("| true", "| (exec <&-; sleep 1)")
    assert shell(line, tmp_path) == (code, f"error: can't write to standard output: {why}\n" if why else "")
    if "idyn" in line:
        assert (tmp_path / "outputs/planar3r-idyn/planar3r-idyn.csv").exists()


@pytest.mark.parametrize(
    "line", ["denoc list > /dev/null 2>&-", "denoc idyn nothing 2>&- >&-", "denoc idyn nothing 2> /dev/full"]
)
@pytest.mark.sampled(4)
def test_messages_that_cannot_be_written_stop_nothing(tmp_path, line):
    assert shell(line, tmp_path) == (2 if "nothing" in line else 0, "")


@pytest.mark.parametrize(
    "error, code, told",
    [
        (OSError(28, "No space left on device", "/somewhere"), 2, "error: /somewhere: No space left on device\n"),
        (OSError(24, "Too many open files"), 2, "error: the system refuses: Too many open files\n"),
        (MemoryError(), 3, "error: there isn't enough memory for this\n"),
        (
            ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib.figure"),
            2,
            "error: the package `matplotlib` isn't installed here, and this needs it\n  hint: `pip install matplotlib`\n",
        ),
    ],
)
def test_what_the_system_refuses_is_no_mistake_of_denoc(monkeypatch, capsys, error, code, told):
    def refuse(**_):
        raise error

    monkeypatch.setattr(app, "typer_application", lambda _: refuse)
    with pytest.raises(SystemExit) as leaving:
        main.main()
    assert (leaving.value.code, capsys.readouterr().err) == (code, told)


def test_a_closed_stream_is_no_file_of_ours(tmp_path):
    """Files get the lowest number that is free: what goes to a closed output must not end in one of them."""
    assert shell("denoc idyn planar3r --no-plot --out whole -q", tmp_path) == (0, "")
    assert shell("denoc idyn planar3r --no-plot --out closed -q <&- >&- 2>&-", tmp_path) == (0, "")
    name = "planar3r-idyn/planar3r-idyn.csv"
    assert (tmp_path / "closed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
