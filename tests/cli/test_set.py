"""`--set`: other values in the scenario and in the robot's file, on every command that runs."""

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.smoke

ROBOT = """
name: rod
convention: dh
gravity: [0, -9.81, 0]
links:
  - {name: rod, joint: {type: revolute, name: hinge}, mass: 1, com: [0.5, 0, 0], inertia: {xx: 0.001, yy: 0.1, zz: 0.1}}
"""
SCENARIO = "robot: rod\ntask: inverse\ntime: {end: 1, step: 0.25}\nmotion: {hinge: {law: cycloid, to: 90 deg}}\n"


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command where a robot and a scenario are: exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)
    Path("rod.yaml").write_text(ROBOT)
    Path("turn.yaml").write_text(SCENARIO)
    return command_line


def record(name):
    return json.loads(Path(f"outputs/{name}/{name}.json").read_text())


def column(name, of):
    return np.genfromtxt(f"outputs/{name}/{name}.csv", delimiter=",", names=True, deletechars="")[of]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["idyn", "rod.yaml"], "rod-idyn"),
        (["idyn", "rod.yaml", "--scenario", "turn.yaml"], "turn"),
        (["simulate", "rod.yaml"], "rod-fall"),
        (["run", "turn.yaml"], "turn"),
    ],
)
def test_every_running_command_has_it(denoc, words, name):
    given = ["time.end=0.5", "time.step=100 ms", "robot.links.rod.mass=2 kg"]
    code, _, err = denoc(*words, "--no-plot", *(word for text in given for word in ("--set", text)))
    assert (code, err) == (0, "")
    np.testing.assert_allclose(column(name, "t"), [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    kept = record(name)
    assert kept["set"] == given
    assert kept["input"]["time"]["end"] == 0.5
    assert kept["robot"]["data"]["links"][0]["mass"] == "2 kg"


def test_the_robot_s_mass_is_felt(denoc):
    for mass in (1, 3):
        assert denoc("run", "turn.yaml", "--no-plot", "--set", f"robot.links.0.mass={mass}")[0] == 0
        assert column("turn", "hinge.tau")[0] == pytest.approx(mass * 9.81 / 2)


def test_whole_mappings_and_keys_that_the_file_does_not_have(denoc):
    settings = ["motion.hinge={law: polynomial, to: 1, degree: 7}", "record.reactions=true", "robot.gravity=[0, 0, 0]"]
    assert denoc("run", "turn.yaml", "--no-plot", *(x for text in settings for x in ("--set", text)))[0] == 0
    assert record("turn")["input"]["motion"]["hinge"]["degree"] == 7
    assert column("turn", "hinge.q")[-1] == pytest.approx(1)
    assert column("turn", "hinge.reaction.fy")[0] == pytest.approx(0, abs=1e-12)


def test_the_last_one_counts_and_options_come_before(denoc):
    words = ["idyn", "rod.yaml", "--time", "3", "--set", "time.end=2", "--set", "time.end=1.5", "--no-plot"]
    assert denoc(*words)[0] == 0
    assert column("rod-idyn", "t")[-1] == 1.5


def test_another_robot_for_a_scenario(denoc):
    Path("other.yaml").write_text(ROBOT.replace("name: rod\n", "name: other\n"))
    assert denoc("run", "turn.yaml", "--no-plot", "--set", "robot=other")[0] == 0
    assert record("turn")["robot"]["name"] == "other"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("tim.end=2", ["unknown key `tim`", "allowed: name, about", "did you mean `time`?"]),
        ("time.ende=2", ["unknown key `ende`", "allowed: start, end, step"]),
        ("time.end=-1", ["turn.yaml:3:7", "the end must come after the start", "found: start 0 s, end -1 s"]),
        ("time.end=2 kg", ["`2 kg` is a mass"]),
        ("motion.elbow={law: hold}", ["rod has no joint `elbow`", "allowed: all, hinge"]),
        ("motion.hinge={law: cyclo, to: 1}", ["allowed: cycloid, polynomial", "did you mean `cycloid`?"]),
        ("motion.hinge={law: cycloid, too: 1}", ["unknown key `too`", "did you mean `to`?"]),
        ("motion.hinge.law=hold", ["turn.yaml:4:32: motion.hinge.to: unknown key `to`", "hint: beside it stands"]),
        ("motion.hinge.to.more=1", ["`more` leads nowhere", "found: motion.hinge.to: `90 deg`"]),
        ("motion.hinge={law: [", ["not valid YAML"]),
        ("initial.hinge=[1, 2]", ["needs 1 number"]),
        ("rtol=1e-9", ["unknown key `rtol`", "`rtol` belongs under `solver` or `regress`"]),
        ("motion.hinge={law: cycloid, to: 1, kp: 3}", ["unknown key `kp`"]),
        ("robot.links.rod.friction={viscous: 1}", ["unknown key `friction`", "`friction` belongs under `joint`"]),
        ("robot.links.rod.joint.stop=[0, 1]", ["unknown key `stop`", "that is `limits` here"]),
        ("plots=[torque]", ["unknown value", "did you mean `torques`?"]),
        ("robot.links.rod.mas=2", ["unknown key `mas`", "did you mean `mass`?"]),
        ("robot.links.rod.mass=-2", ["must be at least 0"]),
        ("robot.links.bar.mass=2", ["no entry `bar`", "allowed: rod, 0 to 0"]),
        ("robot.links.7.mass=2", ["no entry `7`"]),
        ("robot.links.rod.joint.type=screw", ["unknown value", "allowed: revolute"]),
        ("robot=nothing", ["no such robot"]),
        ("time..end=1", ["a part of the key is empty"]),
        ("time.end", ["not KEY=VALUE"]),
        ("=3", ["not KEY=VALUE"]),
        ("time.end=", ["not KEY=VALUE"]),
    ],
)
def test_mistakes_are_told_with_the_setting(denoc, setting, says):
    code, out, err = denoc("run", "turn.yaml", "--set", "about=words", "--set", setting)
    assert (code, out) == (2, "")
    assert f"--set {setting}" in err
    assert "words" not in err
    for words in says:
        assert words in err
    assert not Path("outputs").exists()


def test_a_mistake_of_the_file_is_told_with_its_place(denoc):
    Path("turn.yaml").write_text(SCENARIO.replace("90 deg", "90 dog"))
    code, _, err = denoc("run", "turn.yaml", "--set", "time.end=2")
    assert code == 2
    assert "--set" not in err
    assert "turn.yaml:4" in err


@pytest.mark.parametrize("setting", ["robot=puma", "task=simulate"])
def test_what_the_command_says_cannot_be_set(denoc, setting):
    code, _, err = denoc("idyn", "rod.yaml", "--set", setting)
    assert code == 2
    assert "the command itself says" in err
