"""Robots on a way through MJCF and back, and how far what came back is from what went."""

import numpy as np

import denoc
from comparing import off
from denoc.formats import FORMATS, Source
from denoc.robot.read import build_robot


def through(robot):
    """The robot after a way through MJCF, the text, and what it couldn't hold."""
    written = FORMATS["mjcf"].write(robot)
    again = build_robot(FORMATS["mjcf"].read(Source("again.xml", written.text)).document)
    return again, written.text, [f"{entry.what} {entry.fate}" for entry in written.report.entries.values()]


def places(robot, again):
    """The places in the robot that came back of all coordinates, and of all speeds; bodies may be in another order."""
    coordinates, speeds = [], []
    for joint in robot.moving:
        several = joint.type.nv > 1 and joint.type.orientation is None
        names = [f"{joint.name}_{k + 1}" for k in range(joint.type.nv)] if several else [joint.name]
        coordinates += [c for name in names for c in again.joint(name).coordinates]
        speeds += [k for name in names for k in again.joint(name).speeds]
    return coordinates, speeds


def state(robot, seed):
    rng = np.random.default_rng(seed)
    q = np.array(robot.q0) + rng.uniform(-1, 1, robot.nq)
    for joint in robot.moving:
        if joint.type.orientation is not None:
            last = list(joint.coordinates)[-4:]
            q[last] /= np.linalg.norm(q[last])
    return q, rng.uniform(-1, 1, robot.nv)


def differences(robot, again, seed=1):
    """The largest relative differences of inertias and forces without wrenches, and the largest of frames."""
    q, qd = state(robot, seed)
    coordinates, speeds = places(robot, again)
    there, moved = np.zeros(again.nq), np.zeros(again.nv)
    there[coordinates], moved[speeds] = q, qd
    mine, theirs = denoc.frames(robot, q), denoc.frames(again, there)
    if "world" in mine:  # whose name is MuJoCo's own
        theirs["world"] = theirs["world_"]
    return max(
        off(denoc.inertia(again, there)[np.ix_(speeds, speeds)], denoc.inertia(robot, q)),
        off(denoc.bias(again, there, moved)[speeds], denoc.bias(robot, q, qd)),
        max(abs(theirs[name] - T).max() for name, T in mine.items()),
    )
