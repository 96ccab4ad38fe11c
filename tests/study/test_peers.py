"""Other engines are given the same robots as denoc: random trees of every joint that they have, with rotors and wrenches.

Agreement with them in tests of denoc's dynamics has to come from elsewhere (`tests/mechanics/trees/test_pinocchio.py`): here it
is denoc that is right, and the builders that are on trial.
"""

import numpy as np
import pytest

import denoc
from comparing import off, off_accelerations
from denoc.errors import InputError
from denoc.robot.read import build_robot
from denoc.study.verification.peer import PlainText
from denoc.study.verification.verify import PEERS, peer_engine
from denoc.text import document_from_mapping
from random_robots import CHAINS, FREE, drawn

EXACT = 1e-10
SHARED = ("revolute", "prismatic", *CHAINS, *FREE)
JOINTS = {"pinocchio": (*SHARED, "helical"), "mujoco": SHARED}
MODULES = {"pinocchio": "pinocchio", "mujoco": "mujoco"}


@pytest.fixture(params=PEERS)
def name(request):
    pytest.importorskip(MODULES[request.param])
    return request.param


def test_every_engine_is_here():
    assert set(PEERS) == set(JOINTS) == set(MODULES)


@pytest.mark.parametrize("seed", range(12))
def test_both_directions_agree(name, seed):
    case = drawn(seed, types=JOINTS[name], links=(1, 8), shuffled=bool(seed % 2))
    robot, rng = case.robot, np.random.default_rng(seed)
    other, mine = peer_engine(name, robot), PlainText(robot)
    q, qd, qdd = (np.stack([x, *(x + 0.3 * rng.standard_normal((2, len(x))))]) for x in case.state)
    for joint in robot.moving:
        if joint.type.orientation is not None:
            own = list(joint.coordinates)[-4:]
            q[:, own] /= np.linalg.norm(q[:, own], axis=1, keepdims=True)
    wrenches = {link.name: rng.standard_normal((3, 6)) for link in robot.links[::2]}
    tau = mine.inverse(q, qd, qdd, wrenches)
    assert off(other.inverse(q, qd, qdd, wrenches), tau) <= EXACT
    close = max(off_accelerations(denoc.inertia(mine.robot, one)) for one in q)
    assert off(other.forward(q, qd, tau, wrenches), qdd) <= max(close, EXACT)


def test_rotors_and_wrenches_count(name):
    """What the two engines have in common could be nothing: each of these changes the forces."""
    robot = denoc.load("planar3r")
    links = [{**link, "joint": {**link["joint"], "rotor_inertia": 0.5}} for link in robot.document.data["links"]]
    robot = build_robot(document_from_mapping({**robot.document.data, "links": links}))
    q, qd, qdd = np.random.default_rng(1).standard_normal((3, 1, 3))
    other, bare = peer_engine(name, robot), denoc.inertia(denoc.load("planar3r"), q[0])
    base = other.inverse(q, qd, qdd, {})
    assert off(other.inverse(q, qd, qdd, {robot.links[-1].name: np.ones((1, 6))}), base) > 1e-3
    kicked = base - other.inverse(q, qd, np.zeros_like(qdd), {})
    assert off(kicked[0], bare @ qdd[0] + 0.5 * qdd[0]) <= EXACT


def test_what_an_engine_cannot_do_is_one_sentence():
    pytest.importorskip("mujoco")
    screw = denoc.loads(
        "name: press\nconvention: dh\nlinks:\n"
        "  - {name: nut, joint: {type: helical, pitch: 0.01}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n"
    )
    with pytest.raises(InputError, match="press: MuJoCo has no helical joints"):
        peer_engine("mujoco", screw)
    point = denoc.loads(
        "name: bob\nconvention: dh\nlinks:\n  - {name: a, joint: {type: revolute, a: 1}, mass: 1, com: [0, 0, 0]}\n"
    )
    with pytest.raises(InputError, match="bob: MuJoCo refuses this robot: "):
        peer_engine("mujoco", point)


def test_engines_that_are_not_there(monkeypatch):
    robot = denoc.load("planar3r")
    with pytest.raises(InputError, match="unknown engine") as refused:
        peer_engine("pinochio", robot)
    assert "did you mean `pinocchio`?" in str(refused.value)
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(InputError, match="MuJoCo isn't installed here") as refused:
        peer_engine("mujoco", robot)
    assert "pip install mujoco" in str(refused.value)
