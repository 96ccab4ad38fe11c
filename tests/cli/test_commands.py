"""The command line as a user has it: what is printed, what is written, exit codes."""

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import unseen
from denoc.cli.main import main
from denoc.cli.matrices import TITLES
from denoc.record import PLOTS
from denoc.record.files import write
from denoc.scenario import carry_out as runs
from denoc.simulate import Runner
from denoc.simulate.integrators import INTEGRATORS
from denoc.text import find_library_file

PENDULUM = """
name: pendulum
convention: dh
links:
  - name: rod
    joint: {type: revolute, name: hinge, alpha: 90 deg}
    mass: 1
    com: [0.5, 0, 0]
    inertia: {xx: 0.001, yy: 0.1, zz: 0.1}
    points: {tip: [1, 0, 0]}
gravity: [0, -9.81, 0]
"""
SWING = """
robot: pendulum
task: simulate
time: {end: 1, step: 0.1}
record:
  reactions: true
  resultants: true
  points: [rod.tip]
  point_velocities: true
  point_accelerations: true
  expressions: {twice: 2 * hinge.q}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A clean folder, the current one, with a small robot and a scenario for it."""
    monkeypatch.chdir(tmp_path)
    Path("pendulum.yaml").write_text(PENDULUM)
    Path("swing.yaml").write_text(SWING)
    return tmp_path


@pytest.fixture
def denoc(here, command_line):
    """Runs the command: exit code, what it printed, what it complained of."""
    return command_line


def rows(path):
    with Path(path).open(newline="") as file:
        lines = list(csv.reader(file))
    return lines[0], np.array(lines[1:], dtype=float)


def written(folder="."):
    """Everything below the folder but the two files that every test starts with."""
    files = {str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file()}
    return files - {"pendulum.yaml", "swing.yaml"}


# ---- the program


def test_version_and_help(denoc):
    assert denoc("--version")[:2] == (0, "denoc 0.2.0\n")
    for flag in ("--help", "-h"):
        code, out, _ = denoc(flag)
        assert code == 0
        for command in ("idyn", "simulate", "run", "inspect", "matrices", "plot", "regress", "list", "new", "schema"):
            assert command in out
            assert denoc(command, flag)[0] == 0
        assert "130" in out  # exit codes are told


@pytest.mark.parametrize("words", [["nonsense"], ["idyn"], ["idyn", "puma", "--nonsense"], ["idyn", "puma", "extra"]])
def test_wrong_use_is_exit_code_2(denoc, words):
    assert denoc(*words)[0] == 2
    assert not written()


# ---- idyn


@pytest.mark.parametrize("name", ["puma", "puma.yaml"])
@pytest.mark.sampled(2)
def test_idyn_of_a_library_robot(denoc, name):
    code, out, err = denoc("idyn", name)
    assert (code, err) == (0, "")
    folder = Path("outputs/puma-idyn")
    names = {f"puma-idyn{end}" for end in (".csv", ".json", "-torques.png", "-angles.png")}
    names |= {"puma-idyn-torques-overlay.png", "puma-idyn-angles-overlay.png"}
    assert written(folder) == names | {"puma-idyn.scenario.yaml", "puma.robot.yaml"}
    header, numbers = rows(folder / "puma-idyn.csv")
    assert header[:3] == ["t", "joint1.q", "joint1.qd"]
    assert header[-1] == "energy.residual"
    assert numbers.shape == (201, len(header))
    assert numbers[0, header.index("joint2.tau")] == pytest.approx(-69.68577, abs=1e-5)
    assert "puma-idyn: done, 201 rows" in out
    assert "joint2.tau 69.69 N m" in out
    assert "outputs/puma-idyn/: " in out
    assert "puma-idyn.csv" in out


def test_idyn_on_options(denoc):
    code, _, _ = denoc(
        *["idyn", "puma", "--to", "45 deg", "--law", "trapezoid", "--time", "2 s", "--step", "500 ms", "--no-plot"]
    )
    assert code == 0
    header, numbers = rows("outputs/puma-idyn/puma-idyn.csv")
    np.testing.assert_allclose(numbers[:, 0], [0, 0.5, 1, 1.5, 2], rtol=1e-15)
    # a trapezoid with ramps of a quarter: a sixth after the first quarter, half in the middle
    np.testing.assert_allclose(numbers[:, header.index("joint4.q")] / (np.pi / 4), [0, 1 / 6, 0.5, 5 / 6, 1])


def test_idyn_of_an_own_robot_is_a_quarter_turn(denoc):
    assert denoc("idyn", "pendulum.yaml", "--no-plot")[0] == 0
    header, numbers = rows("outputs/pendulum-idyn/pendulum-idyn.csv")
    assert numbers.shape[0] == 201
    assert numbers[-1, 0] == 10.0
    assert numbers[-1, header.index("hinge.q")] == pytest.approx(np.pi / 2, rel=1e-14)
    # at rest at the end, straight up: nothing to hold
    assert numbers[0, header.index("hinge.tau")] == pytest.approx(9.81 / 2, rel=1e-12)
    assert numbers[-1, header.index("hinge.tau")] == pytest.approx(0, abs=1e-9)


def test_idyn_time_and_step_change_the_scenario(denoc):
    assert denoc("idyn", "puma", "--time", "4", "--step", "1", "--no-plot")[0] == 0
    header, numbers = rows("outputs/puma-idyn/puma-idyn.csv")
    np.testing.assert_allclose(numbers[:, 0], [0, 1, 2, 3, 4])
    assert numbers[-1, header.index("joint2.q")] == pytest.approx(np.pi)
    assert denoc("idyn", "puma", "--scenario", "puma-idyn", "--time", "4", "--no-plot")[0] == 0


@pytest.mark.parametrize(
    "words",
    [["--time", "0"], ["--time", "-1"], ["--step", "0"], ["--time", "3 kg"], ["--time", "nan"], ["--step", "1e-300"]],
)
@pytest.mark.parametrize("robot", ["puma", "pendulum.yaml"])
def test_a_time_that_cannot_be_is_refused(denoc, robot, words):
    code, out, err = denoc("idyn", robot, *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert not written()


def test_a_namesake_with_other_joints_does_not_get_the_library_scenario(denoc):
    Path("puma.yaml").write_text(PENDULUM.replace("pendulum", "puma").replace("hinge", "joint1"))
    assert denoc("idyn", "puma.yaml", "--no-plot")[0] == 0
    header, numbers = rows("outputs/puma-idyn/puma-idyn.csv")
    assert numbers[-1, header.index("joint1.q")] == pytest.approx(np.pi / 2)


def test_own_files_go_before_the_library(denoc):
    Path("puma.yaml").write_text(PENDULUM)
    assert denoc("idyn", "puma", "--no-plot", "-q")[0] == 0
    assert Path("outputs/pendulum-idyn/pendulum-idyn.csv").is_file()


# ---- simulate


@pytest.mark.parametrize("method", INTEGRATORS)
def test_simulate_by_every_method(denoc, method):
    words = ["simulate", "pendulum.yaml", "--free-fall", "--time", "0.5", "--step", "0.005", "--method", method]
    assert denoc(*words, "--no-plot")[0] == 0
    header, numbers = rows("outputs/pendulum-fall/pendulum-fall.csv")
    # a quarter of a pendulum of length (0.1 + 0.25)/0.5, let go level: after 0.5 s at -1.5907 rad
    assert numbers[-1, header.index("hinge.q")] == pytest.approx(QUARTER, abs=1e-5)
    record = json.loads(Path("outputs/pendulum-fall/pendulum-fall.json").read_text())
    assert record["solver"]["method"] == method


def pendulum_angle(t, n=20000):
    """Of the rod above, let go level: q'' = -m g c cos q / J, by the midpoint rule with Richardson's extrapolation."""

    def end(n):
        h, q, w = t / n, 0.0, 0.0
        for _ in range(n):  # leapfrog
            w -= h / 2 * K * np.cos(q)
            q += h * w
            w -= h / 2 * K * np.cos(q)
        return q

    return (4 * end(2 * n) - end(n)) / 3


K = 9.81 * 0.5 / (0.1 + 0.25)
QUARTER = pendulum_angle(0.5, 2000)


def test_simulate_solver_options(denoc):
    words = ["simulate", "pendulum.yaml", "--time", "0.2", "--no-plot", "--rtol", "1e-6"]
    assert denoc(*words)[0] == 0
    record = Path("outputs/pendulum-fall/pendulum-fall.json")
    solver = json.loads(record.read_text())["solver"]
    assert (solver["method"], solver["rtol"]) == ("rk45", 1e-6)
    assert solver["atol"] == pytest.approx(1e-8, rel=1e-12)  # left out: rtol/100
    assert denoc(*words, "--atol", "1e-5")[0] == 0
    assert json.loads(record.read_text())["solver"]["atol"] == 1e-5
    for bad in (["--rtol", "0"], ["--rtol", "-1"], ["--rtol", "nan"], ["--atol", "0"], ["--method", "euler"]):
        assert denoc(*words, *bad)[0] == 2


def test_rtol_of_the_option_takes_the_place_of_the_scenario_s_atol(denoc):
    Path("swing.yaml").write_text(SWING + "solver: {rtol: 1e-5, atol: 1e-3}\n")
    words = ["simulate", "pendulum.yaml", "--scenario", "swing.yaml", "--no-plot"]
    record = Path("outputs/swing/swing.json")
    assert denoc(*words)[0] == 0
    assert json.loads(record.read_text())["solver"]["atol"] == 1e-3
    assert denoc(*words, "--rtol", "1e-9")[0] == 0
    assert json.loads(record.read_text())["solver"]["atol"] == pytest.approx(1e-11, rel=1e-12)


def test_free_fall_of_the_library_uses_its_scenario(denoc):
    assert denoc("simulate", "stanford.yaml", "--free-fall", "--time", "0.5", "--no-plot")[0] == 0
    header, numbers = rows("outputs/stanford-fall/stanford-fall.csv")
    assert numbers[-1, 0] == 0.5
    assert numbers[0, header.index("joint2.q")] == pytest.approx(np.pi / 2)
    assert numbers[-1, header.index("joint3.q")] == pytest.approx(0.35, abs=0.005)  # 0.35 m at 0.5 s


def test_free_fall_and_a_scenario_exclude_each_other(denoc):
    code, _, err = denoc("simulate", "pendulum.yaml", "--free-fall", "--scenario", "swing.yaml")
    assert code == 2
    assert "exclude" in err


# ---- run


def test_run_several_scenarios(denoc):
    code, out, _ = denoc("run", "swing.yaml", "puma-idyn", "--out", "results", "--no-plot")
    assert code == 0
    done, ends = {"swing": "pendulum", "puma-idyn": "puma"}, ("csv", "json", "scenario.yaml")
    expected = {f"results/{name}/{name}.{end}" for name in done for end in ends}
    assert written() == expected | {f"results/{name}/{robot}.robot.yaml" for name, robot in done.items()}
    assert out.index("swing: done") < out.index("puma-idyn: done")


def test_the_exit_code_of_several_runs_is_the_highest(denoc):
    Path("short.yaml").write_text(SWING + "solver: {max_steps: 2}\n")
    for names in (("short.yaml", "swing.yaml"), ("swing.yaml", "short.yaml")):
        code, out, _ = denoc("run", *names, "--no-plot")
        assert code == 3
        assert "short: FAILED" in out
        assert "swing: done" in out


def test_all_files_are_read_before_the_first_runs(denoc):
    Path("bad.yaml").write_text(SWING.replace("simulate", "simulat"))
    code, out, err = denoc("run", "swing.yaml", "bad.yaml")
    assert (code, out) == (2, "")
    assert "bad.yaml:3:7" in err
    assert "simulate" in err
    assert not written() - {"bad.yaml"}


def test_two_scenarios_of_one_name_are_refused(denoc):
    code, _, err = denoc("run", "swing.yaml", "swing")
    assert code == 2
    assert "overwrite" in err
    assert not written()


def test_run_writes_every_plot_asked_for(denoc):
    Path("swing.yaml").write_text(SWING + f"plots: [{', '.join(PLOTS)}]\n")
    assert denoc("run", "swing.yaml")[0] == 0
    names = {f"swing-{plot}.png" for plot in PLOTS}
    assert names <= written("outputs/swing")
    for name in names:
        assert Path("outputs/swing", name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("form, first", [("svg", b"<?xml"), ("pdf", b"%PDF")])
@pytest.mark.sampled(2)
def test_formats(denoc, form, first):
    assert denoc("run", "swing.yaml", "--format", form)[0] == 0
    file = Path(f"outputs/swing/swing-angles.{form}")
    assert file.read_bytes().startswith(first)
    before = file.read_bytes()
    assert denoc("run", "swing.yaml", "--format", form)[0] == 0
    assert file.read_bytes() == before  # nothing changes from run to run


def test_a_second_run_takes_stale_plots_away_and_nothing_else(denoc):
    assert denoc("run", "swing.yaml")[0] == 0
    folder = Path("outputs/swing")
    assert "swing-angles.png" in written(folder)
    (folder / "notes.txt").write_text("mine")
    assert denoc("run", "swing.yaml", "--format", "svg")[0] == 0
    assert not [name for name in written(folder) if name.endswith(".png")]
    assert "swing-angles.svg" in written(folder)
    assert denoc("run", "swing.yaml", "--no-plot")[0] == 0
    again = {"swing.scenario.yaml", "pendulum.robot.yaml"}
    assert written(folder) == {"swing.csv", "swing.json", "notes.txt"} | again
    assert [p.name for p in Path("outputs").iterdir()] == ["swing"]


def test_quiet_and_json(denoc):
    assert denoc("run", "swing.yaml", "--quiet", "--no-plot") == (0, "", "")
    code, out, err = denoc("run", "swing.yaml", "--json", "--no-plot")
    assert (code, err) == (0, "")
    (told,) = json.loads(out)  # a list, whatever the number of scenarios
    assert (told["scenario"], told["robot"], told["ended"], told["rows"]) == ("swing", "pendulum", "done", 11)
    assert told["audit"]["energy"] < 1e-6
    again = ["pendulum.robot.yaml", "swing.csv", "swing.json", "swing.scenario.yaml"]
    assert [Path(file).name for file in told["files"]] == again
    two = json.loads(denoc("run", "swing.yaml", "puma-idyn", "--json", "--no-plot")[1])
    assert [one["scenario"] for one in two] == ["swing", "puma-idyn"]


def test_warnings_are_told_and_kept(denoc):
    text = PENDULUM.replace("yy: 0.1", "yy: 0.3")  # 0.001 + 0.1 < 0.3: no body can have this
    Path("pendulum.yaml").write_text(text)
    code, _, err = denoc("run", "swing.yaml", "--no-plot")
    assert code == 0
    assert "warning: " in err
    assert "pendulum.yaml:9" in err
    record = json.loads(Path("outputs/swing/swing.json").read_text())
    assert any("no body can have this inertia" in warning for warning in record["warnings"])
    assert denoc("run", "swing.yaml", "--no-plot", "--quiet")[2] == ""


def test_leaving_the_limits_is_a_warning(denoc):
    Path("pendulum.yaml").write_text(PENDULUM.replace("alpha: 90 deg", "alpha: 90 deg, limits: [-1, 1]"))
    Path("swing.yaml").write_text(SWING + "solver: {limits: ignore}\n")
    code, out, _ = denoc("run", "swing.yaml", "--no-plot")
    assert code == 0
    assert "warning: hinge leaves its limits [-1, 1]" in out


def test_the_record_can_be_run_again(denoc):
    """The inputs stand in the record in full: another run from nothing but them gives the same table."""
    assert denoc("run", "swing.yaml", "--no-plot")[0] == 0
    record = json.loads(Path("outputs/swing/swing.json").read_text())
    before = rows("outputs/swing/swing.csv")
    Path("pendulum.yaml").write_text(json.dumps(record["robot"]["data"]))
    Path("swing.yaml").write_text(json.dumps({**record["input"], "robot": "pendulum"}))
    assert denoc("run", "swing.yaml", "--no-plot")[0] == 0
    header, numbers = rows("outputs/swing/swing.csv")
    assert header == before[0]
    np.testing.assert_allclose(numbers, before[1], rtol=1e-12, atol=1e-12)


# ---- runs that don't end as they should


@pytest.mark.usefixtures("unseen_pictures")
def test_a_failing_run_keeps_its_rows_and_says_why(denoc):
    Path("swing.yaml").write_text(SWING + "solver: {max_steps: 20}\n")
    code, out, err = denoc("run", "swing.yaml")
    assert code == 3
    assert "swing: FAILED" in out
    assert "more than 20 steps" in out
    record = json.loads(Path("outputs/swing/swing.json").read_text())
    assert record["ended"] == "failed"
    assert "more than 20 steps" in record["reason"]
    numbers = rows("outputs/swing/swing.csv")[1]
    assert 1 < len(numbers) == record["rows"] < 11
    assert np.isfinite(numbers).all()
    assert Path("outputs/swing/swing-angles.png").is_file()
    code, out, err = denoc("run", "swing.yaml", "--quiet", "--no-plot")
    assert (code, out) == (3, "")
    assert "swing: at t = " in err
    assert json.loads(denoc("run", "swing.yaml", "--json", "--no-plot")[1])[0]["ended"] == "failed"


def test_nothing_to_accelerate(denoc):
    text = PENDULUM.replace("mass: 1", "mass: 0").replace("{xx: 0.001, yy: 0.1, zz: 0.1}", "{xx: 0, yy: 0, zz: 0}")
    Path("pendulum.yaml").write_text(text)
    code, out, _ = denoc("run", "swing.yaml", "--no-plot")
    assert code == 3
    assert "nothing to accelerate" in out
    assert rows("outputs/swing/swing.csv")[1].shape[0] == 1


def test_expect(denoc):
    Path("swing.yaml").write_text(SWING + "expect: singularity\n")
    code, out, _ = denoc("run", "swing.yaml", "--no-plot")
    assert code == 3
    assert "NOT AS EXPECTED" in out
    assert "without the singularity that was expected" in out
    assert rows("outputs/swing/swing.csv")[1].shape[0] == 11
    code, _, err = denoc("run", "swing.yaml", "puma-idyn", "--no-plot", "--quiet")
    assert code == 3  # the highest
    assert err.strip() == "error: swing: the run came to its end without the singularity that was expected"


def test_a_shorter_run_need_not_come_to_its_singular_position(denoc):
    """The five-bar falls into one at 1.367 s; a run of 1 s ends before, one of 2 s there, and both are good."""
    for time, ended in ((1, "done"), (2, "singularity")):
        code, out, _ = denoc("simulate", "five-bar", "--time", time, "--no-plot", "--json")
        assert code == 0
        told = json.loads(out)
        told = told[0] if isinstance(told, list) else told
        assert (told["ended"], told["expected"], told["reason"] == "") == (ended, ended, ended == "done")


def test_an_interrupted_run_keeps_what_it_had(denoc, monkeypatch):
    derivative = Runner.derivative
    calls = []

    def interrupted(self, t, y):
        calls.append(t)
        if len(calls) > 60:
            raise KeyboardInterrupt
        return derivative(self, t, y)

    monkeypatch.setattr(Runner, "derivative", interrupted)
    code, out, _ = denoc("run", "swing.yaml", "puma-idyn", "--no-plot", "--backend", "plain")
    assert code == 130
    assert "swing: INTERRUPTED" in out
    assert {Path(file).parent.name for file in written("outputs")} == {"swing"}  # the second one didn't start
    header, numbers = rows("outputs/swing/swing.csv")
    record = json.loads(Path("outputs/swing/swing.json").read_text())
    assert record["ended"] == "interrupted"
    assert 1 < len(numbers) < 11
    monkeypatch.setattr(Runner, "derivative", derivative)
    assert denoc("run", "swing.yaml", "--no-plot")[0] == 0
    again, whole = rows("outputs/swing/swing.csv")
    assert again == header
    kept = [k for k, name in enumerate(header) if name != "energy.residual"]
    np.testing.assert_allclose(whole[: len(numbers), kept], numbers[:, kept], rtol=1e-12, atol=1e-12)


def test_interrupted_before_anything_was_computed(denoc, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "plan_of_scenario", interrupted)
    code, out, err = denoc("run", "swing.yaml")
    assert (code, out) == (130, "")
    assert "interrupted" in err
    assert not written()


def test_interrupted_before_the_first_row(denoc, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "signals", interrupted)
    code, out, err = denoc("run", "swing.yaml")
    assert (code, out) == (130, "")
    assert "interrupted" in err
    assert not written()


def test_results_that_cannot_be_written(denoc, monkeypatch):
    Path("taken").write_text("a file")
    code, _, err = denoc("run", "swing.yaml", "--no-plot", "--out", "taken")
    assert code == 2
    assert "can't write results" in err
    assert Path("taken").read_text() == "a file"


def test_a_mistake_of_our_own_is_no_traceback(denoc, monkeypatch):
    def broken(*_):
        raise RuntimeError("oh")

    monkeypatch.setattr(write, "csv_text", broken)
    code, _, err = denoc("run", "swing.yaml", "--no-plot")
    assert code == 3
    assert "RuntimeError: oh" in err
    assert "Traceback" not in err
    assert not written()
    monkeypatch.setenv("DENOC_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["denoc", "run", "swing.yaml", "--no-plot"])
    with pytest.raises(RuntimeError):
        main()


# ---- inspect, matrices, plot, list


def test_inspect(denoc):
    code, out, _ = denoc("inspect", "tree")
    assert code == 0
    for text in ("base", "joint12 (revolute)", "link12", "12 degrees of freedom, 12 actuated", "mass 39.97 kg"):
        assert text in out
    facts = json.loads(denoc("inspect", "space-arm", "--json")[1])
    assert (facts["degrees_of_freedom"], facts["coordinates"]) == (12, 13)
    assert facts["links"][0]["coordinates"][:4] == ["joint1.x", "joint1.y", "joint1.z", "joint1.e0"]
    assert facts["mass"] == pytest.approx(250 + 65.1)
    assert not written()


def test_inspect_strict(denoc):
    assert denoc("inspect", "pendulum", "--strict")[0] == 0
    Path("pendulum.yaml").write_text(PENDULUM.replace("yy: 0.1", "yy: 0.3"))
    code, out, _ = denoc("inspect", "pendulum")
    assert code == 0
    assert "no body can have this inertia" in out
    assert denoc("inspect", "pendulum", "--strict")[0] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("matrices", "pendulum"),
        ("linearize", "pendulum"),
        ("codegen", "pendulum"),
        ("excite", "pendulum", "--time", "1", "--harmonics", "1"),
        ("convert", "pendulum", "--to", "mjcf"),
        ("idyn", "pendulum", "--no-plot"),
    ],
)
def test_commands_warn_of_impossible_inertias(denoc, words):
    assert "no body can have this inertia" not in denoc(*words)[2]
    Path("pendulum.yaml").write_text(PENDULUM.replace("yy: 0.1", "yy: 0.3"))
    code, _, err = denoc(*words)
    assert code == 0
    assert err.count("no body can have this inertia") == 1


def test_matrices(denoc):
    code, out, _ = denoc("matrices", "planar3r", "--at", "10 deg, 0.2, pi/8", "--rates", "45 rpm, 1, 2 rad/s")
    assert code == 0
    for title in ("generalized inertia matrix", "convective inertia", "U of I = U D U^T", "D, the pivots"):
        assert title in out
    told = json.loads(
        denoc("matrices", "planar3r", "--at", "10 deg, 0.2, pi/8", "--rates", "45 rpm, 1, 2 rad/s", "--json")[1]
    )
    assert told["q"] == pytest.approx([np.pi / 18, 0.2, np.pi / 8])
    assert told["qd"] == pytest.approx([1.5 * np.pi, 1, 2])
    U, D = np.array(told["U"]), np.diag(told["D"])
    np.testing.assert_allclose(U @ D @ U.T, told["I"], rtol=1e-12)
    every = json.loads(denoc("matrices", "planar3r", "--only", "all", "--point", "link3", "--json")[1])
    assert set(every) == {"format", "robot", "q", "qd", "order"} | set(TITLES) - {"P"}
    ball = json.loads(denoc("matrices", "rssr", "--only", "P", "--json")[1])
    assert np.array(ball["P"]).shape == (18, 5)
    assert np.array(every["N_l"]).shape == (18, 18)
    assert np.array(every["M_hat"]).shape == (3, 6, 6)
    code, out, _ = denoc("matrices", "pendulum", "--only", "J", "--point", "rod.tip")
    assert code == 0
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", out.split("Jacobian")[1])]
    assert numbers == [0, 0, 1, 0, 1, 0]  # the tip, 1 m out along x, goes along y


@pytest.mark.parametrize(
    "words, told",
    [
        (["--at", "1, 2"], "6 numbers are needed"),
        (["--at", "1 kg, 0, 0, 0, 0, 0"], "joint1.q"),
        (["--only", "Q"], "no such matrix"),
        (["--point", "nothing"], "no such link"),
        (["--point", "link1.nothing"], "no such point"),
    ],
)
def test_matrices_refuses(denoc, words, told):
    code, out, err = denoc("matrices", "puma", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_plot_again(denoc):
    assert denoc("run", "swing.yaml")[0] == 0
    folder = Path("outputs/swing")
    before = (folder / "swing-angles.png").read_bytes()
    (folder / "swing-angles.png").unlink()
    for result in (folder, folder / "swing.csv", folder / "swing.json"):
        code, out, _ = denoc("plot", result)
        assert code == 0
        assert "outputs/swing/swing-angles.png" in out
    assert (folder / "swing-angles.png").read_bytes() == before  # the CSV has every digit
    code, out, _ = denoc("plot", folder, "--plot", "rates", "--plot", "energy", "--out", "pictures", "--format", "svg")
    assert code == 0
    assert written("pictures") == {"swing-rates.svg", "swing-energy.svg"}
    assert denoc("plot", folder, "--quiet")[1] == ""


def test_plot_refuses(denoc):
    assert denoc("plot", "nowhere")[0] == 2
    Path("empty").mkdir()
    assert denoc("plot", "empty")[0] == 2
    assert denoc("run", "swing.yaml", "--no-plot")[0] == 0
    code, _, err = denoc("plot", "outputs/swing", "--plot", "torque")
    assert code == 2
    assert "torques" in err
    Path("outputs/swing/swing.csv").write_text("t,a\n1,2,3\n")
    assert denoc("plot", "outputs/swing")[0] == 2
    Path("outputs/swing/swing.json").write_text("{}")
    assert denoc("plot", "outputs/swing")[0] == 2


def test_list(denoc):
    code, out, _ = denoc("list")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    found = json.loads(denoc("list", "--json")[1])
    assert found.pop("format") == 1
    assert set(found) == {"robots", "scenarios", "studies"}
    for entries in found.values():
        for name, about in entries.items():
            assert len(about) > 10
            assert any(line.split(maxsplit=1) == [name, about] for line in lines if line.startswith("  "))
    assert "puma" in found["robots"]
    assert "puma-fall" in found["scenarios"]
    robots = denoc("list", "robots")[1]
    assert "puma-fall" not in robots


def test_list_shows_where_a_file_is(denoc):
    code, out, _ = denoc("list", "puma")
    assert code == 0
    assert Path(out.strip()).read_text().startswith("# PUMA-type arm")
    assert Path(denoc("list", "puma-idyn.yaml")[1].strip()).name == "puma-idyn.yaml"
    code, _, err = denoc("list", "pumma")
    assert code == 2
    assert "did you mean `puma`?" in err


def test_an_unfinished_plot_leaves_nothing(denoc, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    unseen.save_figures_by(full, monkeypatch.setattr)
    code, _, err = denoc("run", "swing.yaml")
    assert code == 2
    assert "No space left on device" in err
    assert not written()


def test_a_goal_for_no_joint_is_refused(denoc):
    text = find_library_file("planar3r", "robots").read_text(encoding="utf-8")
    Path("x.yaml").write_text(text.replace("type: revolute", "actuated: false, type: revolute"))
    code, out, err = denoc("idyn", "x.yaml", "--to", "60 deg", "--no-plot")
    assert (code, out) == (2, "")
    assert "--to: planar3r has no actuated joint" in err
