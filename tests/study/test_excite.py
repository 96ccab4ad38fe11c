"""Motions to identify robots with: within limits between the rows, and better than at random."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.study.identification.excitation import Search, excite

LIMITED = """
name: limited
convention: frames
links:
  - {name: arm, joint: {type: revolute, name: J, axis: [0, 1, 0], limits: [-0.5, 1.5], effort: {limits: [-18.5, 18.5]}},
     mass: 3, com: [0.4, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}
  - {name: slide, joint: {type: prismatic, name: S, xyz: [0.5, 0, 0], axis: [1, 0, 0]},
     mass: 1, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}
"""


def test_motions_stay_within_limits_and_are_better_than_at_random():
    robot = denoc.loads(LIMITED)
    motion = excite(robot, 5.0, 1.2, harmonics=3)
    q, qd, qdd = motion.at(np.linspace(0.0, 5.0, 12_001))
    tau = denoc.inverse(robot, q, qd, qdd)
    assert q[:, 0].min() >= -0.5
    assert q[:, 0].max() <= 1.5
    assert abs(q[:, 1]).max() <= 0.1
    assert abs(qd).max() <= 1.2
    assert 18.0 < abs(tau[:, 0]).max() <= 18.5  # what limits this motion
    assert motion.log_det > motion.best_random


@pytest.mark.parametrize("efforts", ["[-18.5, 18.5]", "[-1000, 1000]", None])
def test_the_gradient_is_that_of_the_determinant(efforts):
    limits = "" if efforts is None else f", effort: {{limits: {efforts}}}"
    search = Search(denoc.loads(LIMITED.replace(", effort: {limits: [-18.5, 18.5]}", limits)), 5.0, 1.2, 3)
    for x in np.random.default_rng(2).standard_normal((4, 2, 6)):
        value, along = search.gradient(x)
        steps = 1e-4 * np.eye(x.size).reshape(-1, 2, 6)
        there = (search.log_dets(x + steps) - search.log_dets(x - steps)) / 2e-4
        assert value == pytest.approx(search.log_dets(x[None])[0])
        assert abs(along.ravel() - there).max() < 1e-4 * abs(there).max()


def test_derivatives_are_those_of_the_positions():
    motion = excite(denoc.load("planar3r"), 4.0, 2.0, harmonics=2, steps=2)
    t, h = np.linspace(0.0, 4.0, 50), 1e-4
    (before, *rates), (_, qd, qdd), (after, *later) = (motion.at(t + x) for x in (-h, 0.0, h))
    assert abs((after - before) / (2 * h) - qd).max() < 1e-6
    assert abs((later[0] - rates[0]) / (2 * h) - qdd).max() < 1e-6
    assert motion.at(t + 4.0)[0] == pytest.approx(motion.at(t)[0])


def test_a_robot_can_be_identified_from_its_motion():
    robot = denoc.load("planar3r")
    motion = excite(robot, 10.0, 2.0, steps=5)
    q, qd, _ = motion.at(np.linspace(0.0, 10.0, 20_001))
    assert abs(q - robot.q0).max() <= np.pi / 2
    assert 1.98 < abs(qd).max() <= 2.0
    q, qd, qdd = motion.at(np.linspace(0.0, 10.0, 80))
    result = denoc.identify(robot, {"q": q, "qd": qd, "qdd": qdd, "tau": denoc.inverse(robot, q, qd, qdd)})
    assert not result.unknown
    assert result.condition < 100.0


def test_what_cannot_be_is_said():
    weak = LIMITED.replace("[-18.5, 18.5]", "[-2, 2]")
    for robot, message in ((denoc.load("four-bar"), "open trees"), (denoc.loads(weak), "can't hold")):
        with pytest.raises(InputError, match=message):
            excite(robot, 5.0, 1.0, harmonics=2)


def test_the_folder_that_it_writes_can_be_moved_with_its_robot(tmp_path, monkeypatch, command_line):
    """Files that are written name others relative to themselves, through links to folders, too."""
    here, there = tmp_path / "here", tmp_path / "there"
    (tmp_path / "deep" / "results").mkdir(parents=True)
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "limited.yaml").write_text(LIMITED)
    for out in ("x", str(tmp_path / "deep" / "results"), "linked"):
        if out == "linked":
            (here / out).symlink_to(tmp_path / "deep" / "results")
        assert command_line("excite", "limited.yaml", "--time", "1", "--harmonics", "1", "--out", out)[0] == 0
        text = (here / out / "limited-excite" / "limited-excite.yaml").read_text()
        (robot,) = (line.removeprefix("robot: ") for line in text.splitlines() if line.startswith("robot: "))
        assert not robot.startswith("/")
        assert (here / out / "limited-excite" / robot).samefile("limited.yaml")
    monkeypatch.chdir(tmp_path)
    here.rename(there)
    assert command_line("run", "there/x/limited-excite/limited-excite.yaml", "--no-plot", "-q")[0] == 0
