"""A platform on many long legs, made for measuring: universal joints on the base, slides in a row, balls on top."""

import math

import numpy as np

import denoc
import yamls
from balanced import closed_states


def text(legs, stages):
    """As many actuators as freedoms: all slides, but the first one of every leg from the seventh on.

    The platform hangs on the first leg; the other legs have cuts.
    """
    links, loops, points = [], [], {}
    for k in range(legs):
        foot, ball = 2 * math.pi * k / legs, 2 * math.pi * (k + (0.35 if k % 2 else -0.35)) / legs
        a = np.array([2.0 * math.cos(foot), 2.0 * math.sin(foot), 0.0])
        b = np.array([0.6 * math.cos(ball), 0.6 * math.sin(ball), 1.5 + 0.1 * (k % 3)])
        x, y, z = b - a
        length = float(np.linalg.norm(b - a))
        joint = {
            "name": f"foot{k}",
            "type": "universal",
            "xyz": a.tolist(),
            "initial": [math.atan2(-y, z), math.asin(x / length)],
        }
        links.append({"name": f"leg{k}", "parent": "base", "joint": joint, **_rod(1.0)})
        for n in range(stages):
            slide = {
                "name": f"slide{k}-{n}",
                "type": "prismatic",
                "initial": length / stages,
                "actuated": n > 0 or k < 6,
            }
            parent = f"leg{k}" if n == 0 else f"stage{k}-{n - 1}"
            links.append({"name": f"stage{k}-{n}", "parent": parent, "joint": slide, **_rod(0.5 + 0.1 * n)})
        points[f"B{k}"] = (b - [0.0, 0.0, 1.5]).tolist()
        if k:
            cut = {"name": f"ball{k}", "joint": "spherical", "between": [f"stage{k}-{stages - 1}", "platform"]}
            loops.append({**cut, "second": {"at": f"B{k}"}})
    # the platform hangs on the first leg: its joint's frame has the leg's axes, so it is turned back
    first = links[0]["joint"]["initial"]
    c, s = np.cos(first), np.sin(first)
    R = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]) @ np.array(
        [[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]
    )
    origin = np.array(points["B0"])
    upright = {name: (np.array(point) - origin) for name, point in points.items()}
    e = _euler(R.T)
    platform = {
        "name": "platform",
        "parent": f"stage0-{stages - 1}",
        "joint": {"name": "ball0", "type": "spherical", "initial": e},
        "mass": 5.0,
        "com": (-origin).tolist(),
        "inertia": {"xx": 0.5, "yy": 0.5, "zz": 0.9},
        "points": {name: point.tolist() for name, point in upright.items()},
    }
    order = [*links[: 1 + stages], platform, *links[1 + stages :]]
    file = {"name": f"legged-{legs}-{stages}", "convention": "frames", "gravity": [0, 0, -9.81]}
    return yamls.dump({**file, "links": order, "loops": loops})


def _rod(mass):
    return {"mass": mass, "com": [0, 0, -0.2], "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.002}}


def _euler(R):
    w = math.sqrt(1.0 + np.trace(R)) / 2
    return [w, *((np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)).tolist())]


def robot(legs, stages):
    return denoc.loads(text(legs, stages))


def states(robot, count=5, seed=0):
    """Motions of the actuators so near the start that no leg turns over: q, qd, qdd with all loops closed."""
    return closed_states(robot, count, seed, size=0.03)
