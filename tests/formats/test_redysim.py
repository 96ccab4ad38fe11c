"""ReDySim's input files are read without being run; what they say is what Khalil's parameters mean."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.formats.assignments import read_matlab_assignments
from limits import cpu_time

FILES = Path(__file__).parent / "files"
SAME = """
name: arm3
convention: khalil
gravity: [0, -9.81, 0]
links:
  - {name: link1, joint: {type: revolute, theta: 0.1, r: 0.1}, mass: 3, com: [0.2, 0, 0],
     inertia: {xx: 2.5e-5, yy: 0.04, zz: 0.04}}
  - {name: link2, joint: {type: revolute, alpha: pi/2, d: 0.4, theta: 0.2}, mass: 4, com: [0.1, 0, 0.02],
     inertia: {xx: 0.02, yy: 0.03, zz: 0.04, xy: 0.001, xz: -0.002}}
  - {name: link3, parent: link1, joint: {type: prismatic, alpha: -90 deg, d: 0.3, r: 0.2}, mass: 0.5, com: [0, 0, 0.1],
     inertia: {xx: 0.001, yy: 0.001, zz: 0.0015}}
"""


def test_the_robot_is_the_same_as_by_hand():
    robot, other = denoc.load(FILES / "arm3" / "inputs.m"), denoc.loads(SAME)
    assert (robot.name, robot.joints, robot.gravity) == (other.name, other.joints, other.gravity)
    np.testing.assert_allclose(robot.q0, other.q0, atol=1e-15)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    np.testing.assert_allclose(denoc.inverse(robot, q, qd, qdd), denoc.inverse(other, q, qd, qdd), rtol=1e-13)
    for name, T in denoc.frames(other, q).items():
        np.testing.assert_allclose(denoc.frames(robot, q)[name], T, atol=1e-15)


def test_matrices_from_a_file(tmp_path):
    from scipy.io import savemat

    made = read_matlab_assignments((FILES / "arm3" / "inputs.m").read_text(), "inputs.m").known
    savemat(tmp_path / "inputs.mat", {name: one.value for name, one in made.items()})
    (tmp_path / "inputs.m").write_text("f = load('inputs.mat');\nalp = f.alp;\nIcxx = f.Icxx;\n")
    for name in ("inputs.m", "inputs.mat"):
        robot = denoc.load(tmp_path / name)
        assert robot.nv == 3
        assert robot.q0[0] == 0.3  # there is no initials.m beside it
        np.testing.assert_allclose(denoc.inertia(robot, [0, 0, 0]), denoc.inertia(denoc.loads(SAME), [0, 0, 0]))
    (tmp_path / "inputs.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(300))
    with pytest.raises(InputError):
        denoc.load(tmp_path / "inputs.mat")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x=1+2*3", 7),
        ("x=-2^2", -4),
        ("x=(1/12)*3*.01*.01", 2.5e-5),
        ("x=[1 -2]", [[1, -2]]),
        ("x=[1 - 2]", [[-1]]),
        ("x=[1, 2\n 3, 4]", [[1, 2], [3, 4]]),
        ("x=[1 2; 3 4]*[1; 1]", [[3], [7]]),
        ("x=[1;2].*[3;4]", [[3], [8]]),
        ("a=[5 6 7]; x=a(2)", 6),
        ("a=[1 2;3 4]; x=a(2,1)", 3),
        ("x=zeros(2,1); x(2)=4", [[0], [4]]),
        ("x=sin(pi/2) % 3", 1),
        ("x=[1 ...\n 2]", [[1, 2]]),
        ("x=eye(2)'", [[1, 0], [0, 1]]),
        ("y=1, x=2", 2),
    ],
)
def test_assignments(text, value):
    np.testing.assert_allclose(read_matlab_assignments(text, "m").known["x"].value, np.atleast_2d(value), atol=1e-16)


@pytest.mark.parametrize(
    "text",
    [
        "x=system('ls')", "x=eval('1')", "x=f.y", "x=[1 2]/[3 4]", "x=zeros(1e9,1)", "x(0)=1", "x(1e9)=1", "x=1/",
        "x=2^1000", "x=" + "(" * 80 + "1" + ")" * 80, "x=[1 2;3]", "x=y",
    ],
)  # fmt: skip
def test_nothing_else_is_computed(text):
    made = read_matlab_assignments(text + "\n", "m")
    assert "x" not in made.known
    with pytest.raises(InputError, match="its value can't be computed"):
        made.numbers("x")


def test_long_matrices_take_no_longer_than_their_length():
    """As long as may be, which took minutes where each number cost the length of the row."""
    with cpu_time(10, "a row of 80,000 numbers"):
        made = read_matlab_assignments("a=[" + "1 -2; " * 40_000 + "];\n", "m")
    assert made.known["a"].value.sum() == -40_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("n=3;", "n=2.5;", "not a number of links"),
        ("bt=[0 1 1]'", "bt=[0 1 7]'", "the parent of link 3 isn't there"),
        ("alp=[0; pi/2; -90*pi/180]", "alp=[0; pi/2]", "3 numbers are needed"),
        ("m=[3; 2^2; 0.5]", "m=rand(3,1)", "its value can't be computed: `rand` isn't known here"),
        ("dz=", "dw=", "it is missing"),
    ],
)
def test_mistakes_are_shown_at_their_line(tmp_path, old, new, words):
    text = (FILES / "arm3" / "inputs.m").read_text()
    assert old in text
    (tmp_path / "inputs.m").write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        denoc.load(tmp_path / "inputs.m")
    assert words in str(caught.value)
