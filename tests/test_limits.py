"""What docs/limits.md says that denoc doesn't do, as far as a program can see it: where one of these fails, the page is old."""

from pathlib import Path

import pytest

import denoc
from denoc.errors import InputError
from denoc.laws import FORCE_LAWS
from denoc.robot.read import robot_schema
from denoc.scenario.read import MOST_ROWS
from denoc.simulate.compiled import MOST_BODIES
from denoc.simulate.integrators import INTEGRATORS

pytestmark = pytest.mark.smoke
ROBOTS = robot_schema()["$defs"]
PAGE = (Path(__file__).parents[1] / "docs" / "limits.md").read_text(encoding="utf-8")
BALL = """
name: ball
convention: frames
links:
  - name: ball
    joint: {type: %s, name: neck, actuated: true, %s}
    mass: 1
    com: [0, 0, 0.1]
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
"""


def test_numbers_of_the_page():
    most = ROBOTS["Repeat"]["properties"]["repeat"]["maximum"]
    assert f"{most} links a robot; {MOST_ROWS:,} rows a run" in PAGE
    in_python = [f"`{name}`" for name, row in INTEGRATORS.items() if row.loop is None]
    assert f"compiled time loops: all methods but {' and '.join(in_python)}, up to {MOST_BODIES} bodies" in PAGE


def test_friction_has_two_numbers():
    assert set(ROBOTS["Friction"]["properties"]) == {"coulomb", "viscous"}


@pytest.mark.parametrize("type_", ["spherical", "free"])
@pytest.mark.parametrize("entry", ["friction: {coulomb: 1}", "limits: [-1, 1]"])
def test_balls_and_free_bodies_have_neither_dry_friction_nor_stops(type_, entry):
    denoc.loads(BALL % (type_, "friction: {viscous: 1}, rotor_inertia: 0.1, spring: {stiffness: 3}"))
    with pytest.raises(InputError):
        denoc.loads(BALL % (type_, entry))


def test_no_law_remembers_more_than_a_dead_time():
    assert not [name for name in FORCE_LAWS if any(word in name for word in ("filter", "integral", "hysteresis"))]


def test_no_call_finds_joint_angles_for_a_place():
    assert not [name for name in denoc.__all__ if "kinematics" in name or name in ("ik", "plan")]


def test_stops_take_all_speed():
    """A rod that falls onto a stop rests there."""
    text = BALL % ("revolute", "axis: [1, 0, 0], limits: [-1, 1]")
    fall = {"task": "simulate", "time": {"end": 3.0, "step": 0.01}, "rates": {"neck": 1.0}}
    result = denoc.run(fall, denoc.loads(text))
    reached = result.t > result.record["events"][0]["t"] + 0.02
    assert reached.sum() > 100
    assert abs(result["neck.qd"][reached]).max() == 0.0


def test_bodies_pass_through_each_other():
    """Two balls on one rail, the first one faster, end in the other order."""
    text = """
name: rail
convention: frames
gravity: [0, 0, 0]
links:
  - {name: one, joint: {type: prismatic, name: a, axis: [1, 0, 0]}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, com: [0, 0, 0],
     shape: {sphere: {radius: 0.2}}}
  - {name: two, parent: base, joint: {type: prismatic, name: b, axis: [1, 0, 0], initial: 1}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 1, yy: 1, zz: 1}, shape: {sphere: {radius: 0.2}}}
"""
    result = denoc.run({"task": "simulate", "time": {"end": 1}, "rates": {"a": 3.0}}, denoc.loads(text))
    assert (result["a.q"][-1], result["b.q"][-1]) == (pytest.approx(3.0), pytest.approx(1.0))
    assert not result.record["warnings"]
