"""Orientations by Euler parameters and by rows of a matrix are those by roll, pitch and yaw, and exact where these aren't."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.robot.placement import placement_from_rpy

ARM = """
name: arm
convention: frames
links:
  - {{name: a, joint: {{type: revolute, xyz: [0.1, 0.2, 0.3], {0}}}, mass: 1, com: [0.1, 0, 0.2],
     inertia: {{xx: 0.1, yy: 0.2, zz: 0.25}}}}
  - {{name: b, offset: {{xyz: [0, 0, 0.5], {0}}}, joint: {{type: revolute}}, mass: 2, com: [0, 0.1, 0],
     inertia: {{xx: 0.3, yy: 0.2, zz: 0.15}}, shape: {{box: [1, 1, 1], {0}}}}}
  - {{name: c, parent: base, joint: {{type: free}}, mass: 1, com: [0, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}
loops:
  - {{joint: fixed, between: [b, c], first: {{at: [0.1, 0, 0], {0}}}}}
"""


def quaternion(R):
    """By an eigenvector: the axis and angle that leave it alone."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], 0, 0, 0],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], 0, 0],
            [R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], 0],
            [R[1, 0] - R[0, 1], R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    _, vectors = np.linalg.eigh(K)
    return vectors[:, -1]


@pytest.mark.parametrize(
    "rpy",
    [(0.3, -0.4, 0.5), (0, 0, 0), (0.7, np.pi / 2, -0.2), (0.7, np.pi / 2 - 1e-8, -0.2), (np.pi, 0, 0), (0, 2, 0)],
)
def test_three_ways_say_the_same(rpy):
    R = placement_from_rpy((0, 0, 0), rpy).rotation()
    written = denoc.loads(ARM.format(f"rpy: {list(map(float, rpy))}"))
    e = quaternion(R)
    for way in (f"quat: {(3 * e).tolist()}", f"matrix: {R.tolist()}"):
        robot = denoc.loads(ARM.format(way))
        for mine, theirs in zip(robot.links, written.links):
            np.testing.assert_allclose(mine.before.matrix(), theirs.before.matrix(), atol=2e-15)
        np.testing.assert_allclose(
            robot.link("b").shape[0].at.matrix(), written.link("b").shape[0].at.matrix(), atol=2e-15
        )
        np.testing.assert_allclose(robot.loops[0].first.matrix(), written.loops[0].first.matrix(), atol=2e-15)
        rng = np.random.default_rng(0)
        q = np.array([*rng.uniform(-1, 1, 5), 1, 0, 0, 0])
        np.testing.assert_allclose(denoc.inertia(robot, q), denoc.inertia(written, q), atol=1e-14)


def test_turns_about_one_axis_stay_exact():
    """Right angles cost nothing in the recursion, if they come as one."""
    robot = denoc.loads(ARM.format(f"quat: [{np.sqrt(0.5)}, {np.sqrt(0.5)}, 0, 0]"))
    assert robot.link("a").before.turns == ((0, pytest.approx(np.pi / 2, abs=1e-15)),)


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("quat: [0, 0, 0, 0]", "Euler parameters can't all be 0"),
        ("quat: [1, 0, 0]", "a list of 4 numbers is needed"),
        ("matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]", "a reflection"),
        ("matrix: [[1, 0, 0], [0, 1, 0], [0, 0.1, 1]]", "no rotation matrix"),
        ("matrix: [[1, 0, 0], [0, 1, 0]]", "a list of 3 rows is needed"),
        ("matrix: [[1e200, 0, 0], [0, 1, 0], [0, 0, 1]]", "no rotation matrix"),
        ("rpy: [0, 0, 0], quat: [1, 0, 0, 0]", "given twice: by `rpy` and by `quat`"),
        ("quat: [1, 0, 0, 0], matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "given twice"),
    ],
)
def test_what_is_no_orientation_is_refused(way, words):
    with pytest.raises(InputError) as caught:
        denoc.loads(ARM.format(way))
    assert words in str(caught.value)
