"""Every number of a robot's file and of a scenario with absurd values: refused, or warned of, or in the table of those
that may have such a value.
"""

import math
from copy import deepcopy

import pytest

import denoc
from denoc.robot.read.build import build_robot
from denoc.text import document_from_mapping

pytestmark = pytest.mark.smoke

BODY = {"mass": 1, "com": [0.2, 0.05, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.025, "xy": 0.001}}
JOINT = {
    "type": "revolute", "xyz": [0.4, 0.1, 0], "rpy": [0.1, 0, 0], "axis": [0, 1, 0], "limits": [-2, 2], "initial": 0.1,
    "friction": {"coulomb": 0.1, "viscous": 0.1}, "rotor_inertia": 0.01,
    "spring": {"stiffness": 3, "rest": 0.1, "damping": 0.1},
}  # fmt: skip
FRAMES = {
    "name": "frames", "convention": "frames", "gravity": [0, 0, -9.81],
    "links": [
        {"name": "upper", "joint": {"type": "revolute", "name": "a", "effort": {"limits": [-5, 5], "weight": 2}}, **BODY},
        {"name": "lower", "joint": {"name": "b", **JOINT}, **BODY, "offset": {"xyz": [0.1, 0, 0], "rpy": [0, 0.1, 0]},
         "points": {"tip": [0.3, 0, 0]}},
    ],
    "wrenches": [{"link": "lower", "force": [1, 2, 3], "moment": [1, 2, 3], "at": [0.1, 0, 0]}],
    "couplings": [{"joint": "b", "to": "a", "ratio": 2, "offset": 0.1}],
    "actuators": [{"name": "push", "link": "lower", "at": [0.1, 0, 0], "direction": [0, 1, 0]}],
}  # fmt: skip
DH = {
    "name": "dh", "convention": "dh",
    "links": [{"name": "rod", "joint": {"type": "revolute", "name": "a", "a": 0.4, "b": 0.1, "alpha": 0.3, "theta": 0.1},
               "mass": 1, "r": [0.2, 0, 0], "inertia": BODY["inertia"]}],
}  # fmt: skip
KHALIL = {
    "name": "khalil", "convention": "khalil",
    "links": [{"name": "rod", "joint": {"type": "revolute", "name": "a", "gamma": 0.1, "b": 0.1, "alpha": 0.3, "d": 0.2,
                                        "theta": 0.1, "r": 0.1}, "mass": 1, "first_moments": [0.2, 0, 0],
               "inertia": BODY["inertia"]}],
}  # fmt: skip
LOOP = {
    "name": "loop", "convention": "frames",
    "links": [
        {"name": "crank", "joint": {"type": "revolute", "name": "a", "xyz": [0, 0, 0]}, **BODY},
        {"name": "rocker", "parent": "base", "joint": {"type": "revolute", "name": "c", "xyz": [0.5, 0, 0]}, **BODY},
    ],
    "loops": [{"name": "cut", "joint": "spherical", "between": ["crank", "rocker"],
               "first": {"at": [0.3, 0, 0], "rpy": [0.1, 0, 0]},
               "second": {"gamma": 0.1, "b": 0.1, "alpha": 0.1, "d": 0.1, "theta": 0.1, "r": 0.1}}],
    "assembly": {"c": -1.0},
}  # fmt: skip
SCENARIO = {
    "task": "simulate", "time": {"start": 0, "end": 0.02, "step": 0.01},
    "motion": {"a": {"law": "harmonic", "amplitude": 0.1, "frequency": 0.5, "phase": 0.1, "offset": 0.1}},
    "wrenches": [{"link": "rod", "force": [1, 2, 3], "moment": [1, 2, 3], "at": [0.1, 0, 0]}],
    "forces": {"b": {"law": "pd", "kp": 3, "kd": 1, "to": 0.1}}, "initial": {"b": 0.1}, "rates": {"b": 0.1},
    "solver": {"rtol": 1e-6, "atol": 1e-8, "max_step": 0.01, "max_steps": 400},
}  # fmt: skip

NEVER = ("nan", "inf")  # that no key may have in silence
POSITIVE = (  # keys that aren't negative
    "mass", "coulomb", "viscous", "rotor_inertia", "stiffness", "damping", "weight", "xx", "yy", "zz", "kp", "kd",
    "frequency", "rtol", "atol", "max_step", "max_steps", "step", "end",
)  # fmt: skip
ANGLES = ("rpy", "alpha", "theta", "gamma", "initial", "rest", "assembly", "limits", "amplitude", "to")
UNBOUNDED = (  # keys that may have enormous numbers: directions have no size, limits and steps may stand for none
    "axis", "direction", "limits", "max_step",
    # solver's and laws' numbers that aren't sizes of anything
    "atol", "phase",
)  # fmt: skip


def leaves(data, path=()):
    """The paths of all numbers."""
    if isinstance(data, dict | list):
        for key, one in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(one, (*path, key))
    elif isinstance(data, int | float):
        yield path


def said(data, path, value, read):
    """Whether a value at a path is refused or warned of."""
    changed = deepcopy(data)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    try:
        return bool(read(changed))
    except denoc.DenocError:
        return True


def absurd(path):
    """Values that are refused or warned of at this path."""
    words = {str(key) for key in path}
    yield from (math.nan, -math.inf)
    if not words & {"limits", "max_step"}:
        yield math.inf
    if not words & set(UNBOUNDED):
        yield 1e30
        if not words & set(POSITIVE):
            yield -1e30
    if words & set(POSITIVE):
        yield -1.0
    if words & set(ANGLES) and "effort" not in words:
        yield from (90.0, -180.0)


@pytest.mark.parametrize("robot", [FRAMES, DH, KHALIL, LOOP], ids=lambda robot: robot["name"])
@pytest.mark.sampled(2)
def test_no_absurd_number_of_a_robot_passes_in_silence(robot):
    def read(data):
        return build_robot(document_from_mapping(data)).warnings

    assert not read(robot)
    passed = [(path, x) for path in leaves(robot) for x in absurd(path) if not said(robot, path, x, read)]
    assert passed == []


def test_no_absurd_number_of_a_scenario_passes_in_silence():
    text = deepcopy(DH)
    text["links"].append({**deepcopy(DH["links"][0]), "name": "other", "joint": {"type": "revolute", "name": "b"}})
    robot = build_robot(document_from_mapping(text))

    def read(data):
        run = denoc.run(data, robot)
        return run.record["warnings"] or run.ended != "done"

    assert not read(SCENARIO)
    passed = [(path, x) for path in leaves(SCENARIO) for x in absurd(path) if not said(SCENARIO, path, x, read)]
    assert passed == []


@pytest.mark.parametrize("place", ["1e160", "1e300"])
def test_masses_too_far_from_their_joint_to_compute_with_are_refused(place):
    """The squares of such lengths are infinite, and had become inertias of 0 where smallest entries are cleared."""
    text = f"""
name: far
convention: frames
links:
  - {{name: arm, mass: 1, com: [0.1, 0, 0], joint: {{type: revolute, name: j}}}}
  - {{name: tip, mass: 2, com: [0, 0, 0], joint: {{type: fixed, name: k, xyz: [0, {place}, 0]}}}}
"""
    with pytest.raises(denoc.InputError, match=r"<text>:5:.*links\[0\]: masses and lengths together are too large"):
        denoc.loads(text)
