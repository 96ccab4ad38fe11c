"""Limits by a list or by a mapping, speeds beyond them, and what links look like."""

import math

import pytest

import denoc
from denoc.errors import InputError

ROD = """
name: rod
convention: frames
links:
  - {{name: a, joint: {{type: revolute, {0}}}, mass: 1, com: [0.1, 0, 0], inertia: {{xx: 0.1, yy: 0.2, zz: 0.25}}, {1}}}
"""


def joint(text):
    return denoc.loads(ROD.format(text, "points: {}")).moving[0]


def test_two_forms_of_limits():
    assert joint("limits: [-1, 2]").limits == (-1, 2)
    both = joint("limits: {position: [-90 deg, 2], velocity: 30 rpm}")
    assert both.limits == (-math.pi / 2, 2)
    assert both.largest_speed == pytest.approx(math.pi)
    assert joint("limits: {velocity: 3}").limits is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("limits: {position: [2, 1]}", "joint.limits.position: the low limit must be below"),
        ("limits: {position: [1 m, 2 m]}", "limits.position[0]"),
        ("limits: {velocity: 0}", "must be more than 0"),
        ("limits: {velocity: 1 m/s}", "joint.limits.velocity"),
        ("limits: {speed: 1}", "unknown key `speed`"),
        ("limits: 3", "a list of 2 numbers is needed"),
        ("limits: [1, 2, 3]", "a list of 2 numbers is needed"),
    ],
)
def test_wrong_limits_are_refused(text, words):
    with pytest.raises(InputError) as caught:
        joint(text)
    assert words in str(caught.value)


def test_a_joint_that_is_too_fast_is_said():
    robot = denoc.loads(ROD.format("limits: {velocity: 1 rad/s}", "points: {}"))
    run = {"task": "inverse", "time": {"end": 2, "step": 0.1}, "motion": {"joint1": {"law": "rate", "rate": 1}}}
    assert denoc.run(run, robot).record["warnings"] == []
    run["motion"]["joint1"]["rate"] = 1.001
    (warning,) = denoc.run(run, robot).record["warnings"]
    assert warning == "joint1 leaves its limit of velocity, 1 rad/s: up to 1.001 rad/s"


def test_shapes():
    (one,) = denoc.loads(ROD.format("name: j", "shape: {capsule: {radius: 10 mm, length: 0.2}, xyz: [0, 0, 1]}")).links
    assert [(s.kind, s.size, s.at.origin) for s in one.shape] == [("capsule", (0.01, 0.2), (0.0, 0.0, 1.0))]
    text = "shape: [{mesh: {file: a.stl}, colour: [1, 0, 0, 0.5], name: hull}, {sphere: {radius: 1}}]"
    hull, ball = denoc.loads(ROD.format("name: j", text)).links[0].shape
    assert (hull.file, hull.size, hull.colour, hull.name) == ("a.stl", (1, 1, 1), (1, 0, 0, 0.5), "hull")
    assert (ball.kind, ball.size) == ("sphere", (1,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shape: {xyz: [0, 0, 0]}", "a shape is one body"),
        ("shape: {sphere: {radius: 1}, box: [1, 1, 1]}", "`box` and `sphere`"),
        ("shape: [{sphere: {radius: -1}}]", "must be at least 0"),
        ("shape: [{ball: {radius: 1}}]", "unknown key `ball`"),
    ],
)
def test_wrong_shapes_are_refused(text, words):
    with pytest.raises(InputError) as caught:
        denoc.loads(ROD.format("name: j", text))
    assert words in str(caught.value)
