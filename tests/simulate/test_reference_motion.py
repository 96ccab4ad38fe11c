"""Motions over time against independent ones (tests/reference), on the files' own instants.

Free fall, elastic joints and floating bases, by a tight integrator, within the larger of 1e-7 and a thousand times
the uncertainty that the file states for the instant.
"""

import math

import numpy as np
import pytest

import denoc
import references
from comparing import off
from references import read

SOLVER = {"method": "dop853", "rtol": 1e-12, "atol": 1e-14}
FALLS = [
    (name, section)
    for name in references.names(has=["cqd"])
    for section in ("free_fall", "free_fall_theta2_zero")
    if section in references.case(name)
]
FLOATING = references.names(has=["base"])


def run(robot, t, q0=None, **scenario):
    """The result of a scenario whose rows are the instants t."""
    step = t[1] - t[0]
    assert np.allclose(np.diff(t), step, rtol=1e-9)
    scenario |= {"time": {"start": t[0], "end": t[-1], "step": step}, "solver": SOLVER}
    if q0 is not None:
        scenario["initial"] = {joint.name: [q0[k] for k in joint.coordinates] for joint in robot.moving}
    result = denoc.run(scenario, robot=robot)
    assert result.ended == "done"
    assert result.t == pytest.approx(t, abs=1e-12)
    return result


def columns(robot, result, what):
    """Coordinates or speeds, one row an instant."""
    names = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in getattr(joint.type, what)]
    return np.column_stack([result.table[name] for name in names])


def same_sign(robot, found, right):
    """Coordinates with Euler parameters of the sign of the right ones: e and -e are one orientation."""
    found = found.copy()
    for joint in robot.moving:
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation :])
            found[:, e] *= np.sign((found[:, e] * right[:, e]).sum(axis=1))[:, None]
    return found


def allowed(section):
    """What each instant's numbers may be off, absolutely."""
    return np.maximum(1e-7, 1e3 * np.array(section["uncertainty"]))[:, None]


def agrees(robot, result, section, speeds="qd"):
    q, qd = np.array(section["q"]), np.array(section[speeds])
    assert (abs(same_sign(robot, columns(robot, result, "coordinates"), q) - q) <= allowed(section)).all()
    assert (abs(columns(robot, result, "speeds") - qd) <= allowed(section)).all()


@pytest.mark.parametrize("name, section", FALLS, ids=[" ".join(fall) for fall in FALLS])
@pytest.mark.sampled(2)
def test_free_fall(name, section):
    case, robot = read(name)
    fall = case[section]
    assert not np.any(fall["qd0"])
    result = run(robot, fall["t"], fall["q0"], task="simulate")
    agrees(robot, result, fall)
    scale = np.abs([fall["T"], fall["V"]]).max()
    for column, key in (("kinetic", "T"), ("potential", "V"), ("total", "E")):
        found, right = result.table[f"energy.{column}"], np.array(fall[key])
        assert (abs(found - right) <= scale * allowed(fall)[:, 0]).all()
    assert result.audit["energy"] <= 1e-11 * scale


def test_a_boom_that_hangs_straight_down_falls_by_g_t_squared_over_two():
    """The exact solution of the Stanford arm at theta_2 = 0."""
    case, robot = read("stanford_s000")
    fall = case["free_fall_theta2_zero"]
    result = run(robot, fall["t"], fall["q0"], task="simulate")
    t = np.array(fall["t"])
    assert off(result.table["joint3.q"], 9.81 * t**2 / 2) <= 1e-12
    others = [f"joint{k}.q" for k in (1, 2, 4, 5, 6)]
    assert max(abs(result.table[name] - fall["q0"][int(name[5]) - 1]).max() for name in others) <= 1e-12


def test_elastic_joints_swing_while_the_others_follow_cycloids():
    case, robot = read("elastic_arm")
    path, rigid = case["trajectory"], case["trajectory"]["rigid_joints"]
    motion = {
        f"joint{k}": {"law": "cycloid", "from": a, "to": b}
        for k, a, b in zip(rigid, path["q0"], path["qT"], strict=True)
    }
    result = run(robot, path["t"], path["q"][0], task="inverse", motion=motion)
    agrees(robot, result, path)
    tau = np.column_stack([result.table[f"joint{k}.tau"] for k in rigid])
    # torques are stiffnesses times positions, at the most
    stiffest = max(case["elastic"]["K"])
    assert (abs(tau - path["tau_rigid"]) <= stiffest * allowed(path)).all()
    assert not any(result.table[f"joint{k}.tau"].any() for k in case["elastic"]["joints"])


@pytest.mark.parametrize("name", FLOATING)
def test_a_floating_base_answers_the_motion_of_its_arm(name):
    """Only its pose and its twist are integrated; it starts at rest, so its momentum stays zero."""
    case, robot = read(name)
    path = case["trajectory"]
    joints = [joint.name for joint in robot.moving[1:]]
    motion = {
        joint: {"law": "cycloid", "from": a, "to": b}
        for joint, a, b in zip(joints, path["q0"], path["qT"], strict=True)
    }
    assert not np.any(path["base_v0"])
    result = run(robot, path["t"], [*path["base_q0"], *path["q0"]], task="inverse", motion=motion)
    agrees(robot, result, path | {"uncertainty": np.zeros(len(path["t"]))}, speeds="v")
    tau = np.column_stack([result.table[f"{joint}.tau"] for joint in joints])
    assert off(tau, path["tau"]) <= 1e-7
    assert np.abs(path["momentum"]).max() <= 1e-9


@pytest.mark.parametrize("name", FLOATING)
def test_a_floating_robot_answers_its_arms_torques(name):
    case, robot = read(name)
    motion = case["simulation"]
    assert not np.any(motion["v0"])
    forces = {
        joint.name: {"law": "harmonic", "amplitude": a, "frequency": w / (2 * math.pi)}
        for joint, a, w in zip(robot.moving[1:], motion["amp"], motion["omega"], strict=True)
    }
    result = run(robot, motion["t"], motion["q0"], task="simulate", forces=forces)
    agrees(robot, result, motion, speeds="v")
    kinetic = np.array(motion["T"])
    assert (abs(result.table["energy.kinetic"] - kinetic) <= kinetic.max() * allowed(motion)[:, 0]).all()
