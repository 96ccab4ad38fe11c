"""Every key of scenarios and robots, in both tasks: it changes the result, or is refused, or a warning names it.

Which keys there are is asked of the models that read the files, so a new key fails here until it has a value.
"""

import typing
from copy import deepcopy

import pytest

import denoc
from denoc.laws import FORCE_LAWS as FORCES
from denoc.laws import MOTION_LAWS as MOTIONS
from denoc.mechanics.closure import METHODS
from denoc.robot.read import build_robot, joint_schema, schema
from denoc.scenario.schema import CLOSURE, RECORD, ScenarioFile
from denoc.text import document_from_mapping
from denoc.text.fields import Strict

TIME = {"end": 0.3, "step": 0.05}
BODY = {"mass": 1, "com": [0.2, 0.05, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.025}}
ARM = {
    "name": "arm",
    "convention": "frames",
    "links": [
        {
            "name": "upper",
            "joint": {"type": "revolute", "name": "a", "axis": [0, 1, 0]},
            **BODY,
            "points": {"p": [1, 0, 0]},
        },
        {"name": "lower", "joint": {"type": "revolute", "name": "b", "axis": [0, 1, 0], "xyz": [0.4, 0, 0]}, **BODY},
    ],
}
BARS = {
    "name": "bars",
    "convention": "frames",
    "gravity": [0, -9.81, 0],
    "links": [
        {"name": "crank", "joint": {"type": "revolute", "name": "a", "actuated": True}, **BODY, "points": {"p": [1, 0, 0]}},
        {"name": "coupler", "joint": {"type": "revolute", "name": "b", "xyz": [0.2, 0, 0]}, **BODY},
        {"name": "rocker", "parent": "base", "joint": {"type": "revolute", "name": "c", "xyz": [0.5, 0, 0]}, **BODY},
    ],
    "loops": [
        {"name": "cut", "joint": "revolute", "between": ["coupler", "rocker"], "first": {"at": [0.5, 0, 0]}, "second": {"at": [0.4, 0, 0]}}
    ],
    "actuators": [{"name": "push", "link": "crank", "at": [0.1, 0, 0], "direction": [0, 1, 0]}],
}  # fmt: skip
ROBOTS = {"tree": ARM, "mechanism": BARS}
SWING = {"law": "cycloid", "to": 0.4}
DRIVE = {"name": "pull", "link": "upper", "at": [0.4, 0, 0], "along": [0, 0, 1], "law": "cycloid", "to": -0.1}

LAST = {"tree": "lower", "mechanism": "coupler"}  # a link that moves in every scenario

# key → a value that isn't its default; a function of the robot's name where that matters
VALUES = {
    "time.start": 0.1, "time.end": 0.2, "time.step": 0.02,
    "motion": {"a": SWING}, "forces": {"c": {"law": "constant", "value": 0.3}},
    "wrenches": lambda robot: [{"link": LAST[robot], "force": [0, 1, 2]}],
    "initial": {"a": 0.3}, "rates": {"a": 0.2}, "drives": [DRIVE],
    "solver.method": "radau", "solver.rtol": 1e-4, "solver.atol": 1e-3, "solver.max_step": 0.01, "solver.step": 0.01,
    "solver.max_steps": 2, "solver.at_singularity": "switch", "solver.friction": "smooth",
    "solver.friction_rate": 0.5, "solver.limits": "ignore",
    "closure.method": "penalty", "closure.independent": ["b"],
    "record.axes": "link", "record.expressions": {"now": "2 * t"},
    "expect": "singularity", "record.points": lambda robot: [f"{'upper' if robot == 'tree' else 'crank'}.p"],
}  # fmt: skip
# what is run, what its results are compared with or drawn as, what their user accepts, and denoc's own notes
NO_INPUTS = {"task", "robot", "name", "about", "plots", "regress", "solver.energy", "solver.error", "replay"}


def models(annotation):
    """The models within a field's type."""
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        yield annotation
    for part in typing.get_args(annotation):
        yield from models(part)


def keys():
    """The keys of a scenario and of its sections `time`, `solver`, `closure` and `record`."""
    sections = {"closure": CLOSURE.models[0], "record": RECORD.models[0]}
    for name in list(ScenarioFile.keys()):
        if name in ("time", "solver"):
            sections[name] = next(models(ScenarioFile.model_fields[name].annotation))
        yield from [f"{name}.{key}" for key in list(sections[name].keys())] if name in sections else [name]


def value_of(key, robot):
    """A value for a key that isn't its default."""
    section, _, name = key.partition(".")
    if key not in VALUES:  # rows of tables: parameters of closure methods, families of columns
        field = (CLOSURE if section == "closure" else RECORD).models[0].model_fields[name]
        return 7.5 if section == "closure" else not field.default
    value = VALUES[key]
    return deepcopy(value(robot) if callable(value) else value)


def put(data, path, value):
    """A copy of nested mappings and lists with a value at a path."""
    data = deepcopy(data)
    at = data
    for key in path[:-1]:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[path[-1]] = value
    return data


def outcome(scenario, robot):
    """Everything that a run gives, and its warnings; or the message with which it is refused."""
    try:
        run = denoc.run(scenario, build_robot(document_from_mapping(robot)))
    except denoc.DenocError as error:
        return None, [str(error)]
    audit, record = run.audit, run.record
    numbers = {name: column.tobytes() for name, column in run.table.items()}
    ends = run.ended, record["reason"], str(record["expected"]), str(record["events"])
    return (numbers, ends, audit["steps"], audit["rejected"], audit["energy"]), record["warnings"]


def is_said(before, after, word):
    """Whether the second outcome differs from the first, or a message names what was added."""
    (old, known), (new, messages) = before, after
    return new != old or any(word in text for text in messages if text not in known)


BASES = {
    ("tree", "inverse"): {"motion": {"b": SWING}},
    ("tree", "simulate"): {"forces": {"b": {"law": "constant", "value": 0.1}}},
    ("mechanism", "inverse"): {"motion": {"a": {"law": "rate", "rate": 0.5}}},
    ("mechanism", "simulate"): {"forces": {"b": {"law": "constant", "value": 0.1}}},
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("robot, task", BASES)
@pytest.mark.parametrize("key", sorted({*keys()} - NO_INPUTS))
def test_a_key_of_a_scenario_does_something_or_is_said(robot, task, key):
    if (robot, task, key) == ("mechanism", "simulate", "solver.at_singularity"):
        return  # what happens at a singular position, to which this run doesn't come
    base = {"task": task, "time": TIME, **BASES[robot, task]}
    value = value_of(key, robot)
    if key == "forces" and robot == "tree":
        value = {"a": value["c"]}
    if key == "drives" and robot == "mechanism":
        value[0] |= {"link": "coupler", "at": [0.1, 0, 0], "along": [0, 1, 0]}
    section, _, name = key.partition(".")
    path = (section, name) if name else (section,)
    given = put(base, path, value)
    if isinstance(value, dict) and section in base:
        given[section] = {**base[section], **value}
    before, after = outcome(base, ROBOTS[robot]), outcome(given, ROBOTS[robot])
    assert before[0] is not None
    assert is_said(before, after, name or section)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.sampled(4)
def test_a_parameter_of_a_closure_method_does_something(method):
    base = {"task": "simulate", "time": TIME, "rates": {"a": 3}, "closure": {"method": method}}
    before = outcome(base, BARS)
    for one in METHODS[method].parameters:
        after = outcome(put(base, ("closure", one.name), 2 * (one.default or 1.0)), BARS)
        assert after[0] != before[0], one.name


# ---- laws

LAW_VALUES = {
    "delay": 0.05, "ramp": 0.05,
    "from": 0.1, "to": 0.3, "start": 0.05, "over": 0.2, "degree": 3, "speed": 2.0, "acceleration": 30.0,
    "phase": 0.3, "offset": 0.1, "period": 0.7, "frequency": 0.7, "amplitude": 0.3, "rate": 0.3, "damping": 0.2,
    "rest": 0.2, "kd": 0.4, "kp": 3.0, "stiffness": 3.0, "value": 0.6,
    "dead_time": 0.02, "K": {"q": 20, "qd": 2}, "reference": {"q": 0.4}, "force": "0.5 N m",
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("section, law", [("motion", law) for law in MOTIONS] + [("forces", law) for law in FORCES])
def test_a_parameter_of_a_law_does_something_or_is_said(section, law):
    row = (MOTIONS if section == "motion" else FORCES)[law]
    if law in ("table", "lookup"):
        return  # tests/laws/test_tables.py, tests/laws/test_lookup.py
    entry = {"law": law, **row.example}
    base = {"task": "simulate", "time": TIME, section: {"a": entry}}
    if section == "forces" and row.exemplary().follows_motion():
        base["motion"] = {"a": SWING, "b": {"law": "hold"}}
    before = outcome(base, ARM)
    assert before[0] is not None
    for key in set(row.keys()) - {"law"}:
        assert is_said(before, outcome(put(base, (section, "a", key), LAW_VALUES[key]), ARM), key), key


# ---- robots

FIXED = {"name": "tool", "joint": {"type": "fixed", "xyz": [0.1, 0, 0]}, "mass": 0.5, "com": [0, 0, 0]}
DH = put(put(ARM, ("convention",), "dh"), ("links", 1, "joint"), {"type": "revolute", "name": "b", "a": 0.4})
DH["links"][0]["joint"] = {"type": "revolute", "name": "a", "a": 0.4, "alpha": 0.3}
KHALIL = put(put(ARM, ("convention",), "khalil"), ("links", 1, "joint"), {"type": "revolute", "name": "b", "d": 0.4})
KHALIL["links"][0]["joint"] = {"type": "revolute", "name": "a", "alpha": 0.3}
SCREW = put(ARM, ("links", 1, "joint"), {"type": "helical", "name": "b", "pitch": 0.1})
BALL = put(ARM, ("links", 1, "joint"), {"type": "spherical", "name": "b", "xyz": [0.4, 0, 0]})
LINK, JOINT = ("links", 1), ("links", 1, "joint")
COUPLED = {**ARM, "couplings": [{"joint": "b", "to": "a", "ratio": 2}]}
CUT, ACTUATOR, WRENCH = ("loops", 0), ("actuators", 0), ("wrenches", 0)
PULLED = {**ARM, "wrenches": [{"link": "lower", "force": [1, 2, 3]}]}
SPRUNG = {**ARM, "springs": [{"name": "cord", "joints": {"a": 1, "b": -2}, "stiffness": 3}]}
PUSHED = put(BARS, ("actuators", 0), {"name": "push", "link": "crank", "at": [0.1, 0, 0], "direction": [0, 1, 0]})

TURNS = {"rpy": [0.1, 0.2, 0.3], "quat": [0.9, 0.1, 0.2, 0.3], "matrix": [[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]]}

# model → robot, path of an entry, and for each key a value, or a robot with it and the value
ROBOT_KEYS = {
    "RobotFile": (ARM, (), {
        "name": None, "about": None, "links": None,  # what it is called, and what the rows below are about
        "convention": "dh", "gravity": [1, 2, 3], "wrenches": PULLED["wrenches"], "couplings": COUPLED["couplings"],
        "actuators": [{"name": "push", "link": "upper", "direction": [0, 0, 1]}], "loops": BARS["loops"],
        "assembly": (BARS, {"b": -2.0, "c": -1.0}), "springs": SPRUNG["springs"],
        "joints": [{"joint": "revolute", "between": ["upper", "lower"]}],
    }),
    "LinkEntry": (ARM, LINK, {
        "name": None, "parent": "base", "convention": "dh", "joint": {"type": "prismatic", "name": "b"},
        "offset": {"xyz": [0.1, 0, 0]}, "mass": 3, "com": [0.1, 0, 0], "com_from": (DH, "end"),
        "r": (put(put(DH, (*LINK, "com"), None), (*LINK, "r"), [0.2, 0, 0]), [0.1, 0, 0]),
        "first_moments": (put(put(ARM, (*LINK, "com"), None), (*LINK, "first_moments"), [0.2, 0, 0]), [0.1, 0, 0]),
        "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}, "about": "origin",
        "frame": (put(DH, (*JOINT, "alpha"), 0.5), "end"), "points": None, "shape": None,  # names, and pictures
    }),
    "JointEntry": (ARM, JOINT, {
        "type": "prismatic", "name": "c", "as": (BALL, "hooke"), "actuated": False,
        "friction": {"viscous": 0.3}, "rotor_inertia": 0.2, "spring": {"stiffness": 5}, "limits": [-0.01, 0.01],
        "effort": {"limits": [-0.01, 0.01]}, "spin": "hooke", "pitch": (SCREW, 0.2), "initial": 0.3,
    }),
    "LimitsEntry": (put(ARM, (*JOINT, "limits"), {"velocity": 100}), (*JOINT, "limits"), {
        "position": [-0.01, 0.01], "velocity": 0.01,
    }),
    "DhJoint": (DH, ("links", 0, "joint"), {"a": 0.3, "b": 0.3, "alpha": 0.5, "theta": 0.3}),
    "KhalilJoint": (KHALIL, JOINT, {"gamma": 0.3, "b": 0.3, "alpha": 0.3, "d": 0.3, "theta": 0.3, "r": 0.3}),
    "FramesJoint": (ARM, JOINT, {"xyz": [0.3, 0, 0], **TURNS, "axis": [0, 0, 1]}),
    "Friction": (put(ARM, (*JOINT, "friction"), {"coulomb": 0.1}), (*JOINT, "friction"), {"viscous": 0.3, "coulomb": 0.2}),
    "Spring": (put(ARM, (*JOINT, "spring"), {"stiffness": 2}), (*JOINT, "spring"), {
        "stiffness": 5, "rest": 0.2, "damping": 0.4,
        "pose": (put(BALL, (*JOINT, "spring"), {"stiffness": 2}), [0.9, 0.1, 0.2, 0.3]),
    }),
    "Offset": (put(ARM, (*LINK, "offset"), {"xyz": [0.1, 0, 0]}), (*LINK, "offset"), {
        "xyz": [0.3, 0, 0], **TURNS,
    }),
    "Inertia": (put(ARM, JOINT, {"type": "spherical", "name": "b", "xyz": [0.4, 0, 0]}), (*LINK, "inertia"), {
        "xx": 0.03, "yy": 0.03, "zz": 0.03, "xy": 1e-3, "xz": 1e-3, "yz": 1e-3,
    }),
    "EffortEntry": (BARS, (*ACTUATOR, "effort"), {"limits": [-0.01, 0.01], "weight": 5}),
    "WrenchEntry": (PULLED, WRENCH, {
        "link": "upper", "force": [3, 2, 1], "moment": [1, 2, 3], "at": [0.1, 0.2, 0.3], "axes": "base",
    }),
    "LoopEntry": (BARS, CUT, {
        "name": "other", "joint": "spherical", "between": ["rocker", "coupler"], "first": {"at": [0.55, 0, 0]},
        "second": {"at": [0.45, 0, 0]}, "spin": "hooke", "radius": 0.1, "as": "ball", "actuated": True,
        "friction": {"viscous": 0.3}, "rotor_inertia": 0.02, "spring": {"stiffness": 3}, "limits": [-3, 3],
        "effort": {"limits": [-1, 1]}, "initial": 0.3,
    }),
    "CutFrame": (BARS, (*CUT, "first"), {
        "at": [0.55, 0, 0], "axis": [0.1, 0, 1], **TURNS, "gamma": 0.1, "b": 0.1, "alpha": 0.1, "d": 0.1,
        "theta": 0.1, "r": 0.1,
    }),
    "CouplingEntry": (COUPLED, ("couplings", 0), {"joint": "a", "to": "b", "ratio": 3, "offset": 0.2}),
    "ActuatorEntry": (PUSHED, ACTUATOR, {
        "name": "other", "link": "coupler", "at": [0.2, 0.1, 0], "direction": [1, 1, 0], "axes": "base",
        "kind": "moment", "effort": {"limits": [-0.1, 0.1]}, "gear": 3, "joints": {"a": 1, "b": 0.5},
    }),
    "SpringEntry": (SPRUNG, ("springs", 0), {
        "name": None, "joints": {"a": 2, "b": 1}, "stiffness": 5, "rest": 0.3, "damping": 0.4, "slack": 0.2,
    }),
}  # fmt: skip


MODELS = vars(joint_schema) | vars(schema)


def test_every_model_of_robots_has_its_row():
    names = {name for name, one in MODELS.items() if isinstance(one, type) and issubclass(one, Strict)}
    others = {
        "Strict",
        "OwnCoordinate",
        "GraphJoint",
        "JointInGraph",
        "GraphFile",
        "Oriented",
        "WithLimits",
    }  # bases, and graphs: tests/robot/test_graph.py
    assert names - others == set(ROBOT_KEYS)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("model", ROBOT_KEYS)
def test_a_key_of_a_robot_does_something_or_is_said(model):
    """In one of the tasks at least."""
    base, path, values = ROBOT_KEYS[model]
    own = set(MODELS[model].keys()) - (set(joint_schema.JointEntry.keys()) if model.endswith("Joint") else set())
    assert own == set(values)
    for key, value in values.items():
        if value is not None:
            robot, value = value if isinstance(value, tuple) else (base, value)
            changed = put(robot, (*path, key), value)
            pairs = [(outcome(one, clean(robot)), outcome(one, clean(changed))) for one in robot_runs(robot)]
            assert any(before[0] is not None for before, _ in pairs), key
            assert any(is_said(before, after, key) for before, after in pairs), key


def robot_runs(robot):
    """An inverse task and two simulations in which all joints move."""
    closed = "loops" in robot
    turn = (
        {"a": {"law": "cycloid", "to": 0.3}}
        if closed or "couplings" in robot
        else {"all": {"law": "rate", "rate": 0.5}}
    )
    spherical = any(link["joint"]["type"] == "spherical" for link in robot["links"])
    if spherical:
        turn = {"a": SWING, "b": {"law": "cycloid", "turn": {"axis": [1, 2, 3], "angle": 0.5}}}
    record = {"reactions": True}
    yield {"task": "inverse", "time": TIME, "motion": turn, "record": record}
    yield {"task": "simulate", "time": TIME, "record": record}
    push = {"push": {"law": "constant", "value": 0.3}}
    yield {
        "task": "simulate",
        "time": TIME,
        "record": record,
        "forces": push if closed else {"b": {"law": "constant", "value": 0.3}} if not spherical else {},
    }


def clean(robot):
    """The robot without the entries that are None."""
    if isinstance(robot, dict):
        return {key: clean(value) for key, value in robot.items() if value is not None}
    return [clean(one) for one in robot] if isinstance(robot, list) else robot
