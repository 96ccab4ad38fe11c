"""Loops of URDF files: by the file of Extended URDF beside them, and by the elements of URDF+."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError

FILES = Path(__file__).parent / "files"
SAME = """
name: four-bar
convention: frames
links:
  - {name: crank, parent: base, joint: {type: revolute, name: A, actuated: true}, mass: 0.5, com: [0.05, 0, 0],
     inertia: {xx: 0.0004, yy: 0.001, zz: 0.001}}
  - {name: coupler, parent: crank, joint: {type: revolute, name: B, xyz: [0.1, 0, 0], rpy: [0, 0, -0.9]}, mass: 1,
     com: [0.15, 0, 0], inertia: {xx: 0.0008, yy: 0.008, zz: 0.008}}
  - {name: rocker, parent: base, joint: {type: revolute, name: C, xyz: [0.3, 0, 0], rpy: [0, 0, 1.6]}, mass: 0.8,
     com: [0.125, 0, 0], inertia: {xx: 0.0006, yy: 0.005, zz: 0.005}}
loops:
  - {joint: JOINT, between: [coupler, rocker], first: {at: [0.3, 0, 0]}, second: {at: [0.25, 0, 0]}}
assembly: {A: 80 deg, B: -30 deg, C: 20 deg}
"""


def together(robot, other):
    """Both in the position in which the first closes, with the force of the crank for one motion of it."""
    q = denoc.assemble(robot, robot.q0)
    result = []
    for one in (robot, other):
        place = [one.joints.index(name) for name in ("A", "B", "C")]
        start = np.array(one.q0)
        start[place] = q[[robot.joints.index(name) for name in ("A", "B", "C")]]
        closed = denoc.assemble(one, start)
        result.append((closed[place], denoc.reduced(one, closed, np.zeros(one.nv))[0]))
    return result


def test_pairs_of_links_close_as_points():
    robot = denoc.load(FILES / "four-bar.urdf", loops=FILES / "four-bar-loops.yaml")
    assert [(loop.name, loop.type.name, loop.between) for loop in robot.loops] == [
        ("loop1", "spherical", ("coupler_end", "rocker_end"))
    ]
    assert [joint.name for joint in robot.moving if joint.actuated] == ["A"]
    (mine, A), (right, B) = together(robot, denoc.loads(SAME.replace("JOINT", "spherical")))
    np.testing.assert_allclose(mine, right, atol=1e-12)
    np.testing.assert_allclose(A, B, rtol=1e-11)


def test_elements_of_urdf_plus():
    robot = denoc.load(FILES / "four-bar-plus.urdf")
    assert [(loop.name, loop.type.name) for loop in robot.loops] == [("tip", "revolute")]
    assert [
        (robot.joints[c.coordinate], robot.joints[c.leaders[0].coordinate], c.leaders[0].ratio) for c in robot.couplings
    ] == [("W", "A", -6.0)]
    assert [joint.name for joint in robot.moving if joint.actuated] == ["A"]
    assert robot.joint("A").effort.high == 9
    other = denoc.loads(SAME.replace("JOINT", "revolute"))
    (right, B), (mine, A) = together(other, robot)
    np.testing.assert_allclose(mine, right, atol=1e-12)
    np.testing.assert_allclose(A, B + 36 * 0.0002, rtol=1e-11)  # the wheel turns six times as fast


def test_frames_of_links_and_of_joints(tmp_path):
    """A pair may name frames, or joints; 6d ties orientations as well."""
    side = tmp_path / "loops.yaml"
    side.write_text(
        "closed_loop: [[{link: coupler, at: [0.3, 0, 0]}, rocker_tip]]\ntype: [revolute]\nname_mot: A\n",
        encoding="utf-8",
    )
    robot = denoc.load(FILES / "four-bar.urdf", loops=side)
    (loop,) = robot.loops
    assert loop.between == ("coupler", "rocker_end")
    assert loop.first.origin == (0.3, 0.0, 0.0)
    side.write_text("closed_loop: [[coupler_end, rocker_end]]\n", encoding="utf-8")
    assert denoc.load(FILES / "four-bar.urdf", loops=side).loops[0].type.name == "fixed"


def test_joints_become_others(tmp_path):
    side = tmp_path / "loops.yaml"
    side.write_text("joint_name: [B, C]\njoint_type: [SPHERICAL, UJOINT_ZX]\n", encoding="utf-8")
    robot = denoc.load(FILES / "four-bar.urdf", loops=side)
    assert robot.joints == ("A", "B", "C_Z", "C_X")
    assert robot.joint("B").type.name == "spherical"
    q = np.array([0, 1, 0, 0, 0, 0.4, 0.3])
    R = denoc.frames(robot, q)["rocker"][:3, :3]
    np.testing.assert_allclose(R[2], [0, np.sin(0.3), np.cos(0.3)], atol=1e-15)  # z is turned by the second only


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("closed_loop: [[coupler_end, rocker_and]]\n", "did you mean `rocker_end`", 1),
        ("closed_loop: [[coupler_end, rocker_end]]\ntype: [3d, 6d]\n", "not a type for each entry", 2),
        ("closed_loop: [[coupler_end, rocker_end]]\ntype: [4d]\n", "unknown value", 2),
        ("closed_loop: [[coupler_end, rocker_end]]\nassembly: {A: 1, AA: 2}\n", "no such joint", 2),
        ("closed_loop: [[coupler_end, rocker_end]]\nassembly: {A: 1, all: 2}\n", "no such joint", 2),
        ("closed_loops: []\n", "did you mean `closed_loop`", 1),
    ],
)
def test_mistakes_in_the_file_beside_are_shown_there(tmp_path, text, words, line):
    side = tmp_path / "loops.yaml"
    side.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        denoc.load(FILES / "four-bar.urdf", loops=side)
    assert words in str(caught.value)
    assert (Path(caught.value.place.file).name, caught.value.place.line) == ("loops.yaml", line)


def test_motors_that_are_not_there_are_said(tmp_path):
    side = tmp_path / "loops.yaml"
    side.write_text("name_mot: [A, D]\n", encoding="utf-8")
    assert any("`D`" in words for words in denoc.load(FILES / "four-bar.urdf", loops=side).warnings)


def test_denocs_own_files_take_neither_option():
    with pytest.raises(InputError, match="--floating is for files in other formats"):
        denoc.load("puma", floating=True)
