"""`denoc new`: every template is a file that loads, runs, and explains its keys."""

import re
from pathlib import Path

import numpy as np
import pytest

import denoc as package
from denoc.cli.new import TEMPLATES, Task
from denoc.robot.read import JOINTS
from denoc.text import library_names, read_yaml_document

CONVENTIONS = list(JOINTS)
TASKS = [one.value for one in Task]


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command in a clean folder: exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)
    return command_line


def test_there_is_a_template_for_each_choice_and_no_other():
    expected = {f"{kind}-{one}" for kind in ("robot", "loop") for one in CONVENTIONS}
    assert {path.stem for path in TEMPLATES.glob("*.yaml")} == expected | {f"scenario-{task}" for task in TASKS} | {
        "study",
        "study-optimise",
    }


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.yaml")), ids=lambda path: path.stem)
def test_templates_are_short_and_say_what_their_keys_are(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120
    entries = [line for line in lines if re.match(r"[a-z]+:", line) and not line.startswith("assembly")]
    assert not [line for line in entries if "#" not in line]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_robot_loads_and_runs(denoc, convention):
    code, out, err = denoc("new", "robot", "arm", "--convention", convention)
    assert (code, err) == (0, "")
    assert out.startswith("arm.yaml\n")
    assert read_yaml_document(Path("arm.yaml")).data["convention"] == convention
    assert denoc("inspect", "arm.yaml", "--strict")[0] == 0
    for command in ("idyn", "simulate"):
        assert denoc(command, "arm.yaml", "--no-plot", "-q")[0] == 0


def test_the_conventions_describe_one_arm(denoc):
    found = []
    for convention in CONVENTIONS:
        assert denoc("new", "robot", convention, "--convention", convention)[0] == 0
        robot = package.load(f"{convention}.yaml")
        found.append(package.inverse(robot, [0.3, -0.4], [1.0, 2.0], [3.0, -1.0]))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.sampled(2)
def test_a_loop_is_by_the_contract_and_nearly_closed_where_it_starts(denoc, convention):
    assert denoc("new", "robot", "bar", "--loop", "--convention", convention)[0] == 0
    data = read_yaml_document(Path("bar.yaml")).data
    (loop,) = data["loops"]
    assert loop["between"] == ["coupler", "rocker"]
    robot = package.load("bar.yaml")
    placed = package.frames(robot, np.radians([float(data["assembly"][name].split()[0]) for name in "ABC"]))
    ends = [placed[link] @ [way, 0, 0, 1] for link, way in (("coupler", 0.25), ("rocker", 0.2))]
    assert np.linalg.norm(ends[0] - ends[1]) < 2e-3
    assert denoc("inspect", "bar.yaml", "--strict")[0] == 0
    for command in ("idyn", "simulate"):
        assert denoc(command, "bar.yaml", "--no-plot", "-q", "--time", "0.1")[0] == 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("robot", library_names("robots"))
@pytest.mark.sampled(32)
def test_a_scenario_runs_with_every_robot_of_the_library(denoc, robot, task):
    assert denoc("new", "scenario", "try", "--robot", robot, "--task", task)[0] == 0
    data = read_yaml_document(Path("try.yaml")).data
    assert (data["robot"], data["task"]) == (robot, task)
    short = ["--set", "time.end=0.04"]
    code, _, err = denoc("run", "try.yaml", "--no-plot", "-q", *short)
    if any(joint.actuated for joint in package.load(robot).moving) or task == "simulate":
        assert code == 0
    else:
        assert "actuated: nothing" in err


def test_a_scenario_finds_its_robot_from_its_own_folder(denoc):
    for folder in ("robots", "scenarios"):
        Path(folder).mkdir()
    assert denoc("new", "robot", "arm", "--out", "robots")[0] == 0
    assert denoc("new", "scenario", "try", "--robot", "robots/arm.yaml", "--out", "scenarios/first.yaml")[0] == 0
    assert read_yaml_document(Path("scenarios/first.yaml")).data["robot"] == "../robots/arm.yaml"
    columns = {line.index("#") for line in Path("scenarios/first.yaml").read_text().splitlines()[3:5]}
    assert len(columns) == 1  # of the comments on the robot and the task
    assert denoc("run", "scenarios/first.yaml", "--no-plot", "-q")[0] == 0
    assert Path("outputs/first/first.csv").is_file()


@pytest.mark.parametrize("name", ["null", "007", "1e3", "#1", "é"])
def test_names_that_yaml_takes_for_something_else(denoc, name):
    assert denoc("new", "robot", name)[0] == 0
    assert package.load(f"{name}.yaml").name == name


def test_no_file_is_written_over(denoc):
    Path("arm.yaml").write_text("mine")
    for words in (["robot", "arm"], ["scenario", "arm"], ["robot", "arm.yaml"], ["robot", "x", "--out", "arm.yaml"]):
        code, out, err = denoc("new", *words)
        assert (code, out) == (2, "")
        assert "`arm.yaml` is there already" in err
    assert Path("arm.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["robot", "a b"], "not a name"),
        (["robot", "a/b"], "`--out` says where the file goes"),
        (["robot", "-x"], ""),
        (["robot", ""], "not a name"),
        (["robot", "arm", "--convention", "urdf"], "--convention"),
        (["scenario", "try", "--robot", "pumma"], "did you mean `puma`?"),
        (["scenario", "try", "--task", "idyn"], "--task"),
        (["robot", "arm", "--out", "nothere/arm.yaml"], "can't write"),
        (["thing", "arm"], "thing"),
    ],
)
def test_wrong_use(denoc, tmp_path, words, says):
    code, _, err = denoc("new", *words)
    assert code == 2
    assert says in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scenario", ["puma-idyn", "four-bar-fall", "own.yaml"])
@pytest.mark.sampled(3)
def test_a_study_is_carried_out(denoc, scenario):
    Path("own.yaml").write_text("{robot: planar3r, task: simulate, time: {end: 0.1, step: 0.05}}")
    code, out, err = denoc("new", "study", "what-if", "--scenario", scenario)
    assert (code, err) == (0, "")
    assert out.startswith("what-if.yaml\n")
    assert read_yaml_document(Path("what-if.yaml")).data["scenario"] == scenario
    assert denoc("sweep", "what-if.yaml", "--explain")[0] == 0
    assert denoc("new", "study", "best", "--optimise", "--scenario", scenario)[0] == 0
    assert denoc("optimise", "best.yaml", "--explain")[0] == 0
    assert not Path("outputs").exists()
