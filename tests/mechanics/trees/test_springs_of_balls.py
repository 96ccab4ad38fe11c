"""Springs of spherical and free joints: by their energy, by closed formulas, in all forms of the code."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import denoc
import yamls
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.quantities.powers import energies
from denoc.mechanics.tree.springs import rotation_vector
from displacing import eighth_order, moved
from random_robots import random_coordinates, random_robot


def test_the_rotation_vector_is_the_shortest_turn():
    """Beside scipy's, for turns of every size up to half a turn, and for both signs of the Euler parameters."""
    rng = np.random.default_rng(0)
    for angle in [0.0, 1e-12, 1e-5, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-9]:
        axis = rng.normal(size=3)
        vector = angle * axis / np.linalg.norm(axis)
        x, y, z, e0 = Rotation.from_rotvec(vector).as_quat()
        for sign in (1, -1):
            found = rotation_vector([sign * e0, sign * x, sign * y, sign * z])
            np.testing.assert_allclose(found, vector, rtol=0, atol=2e-15)
    np.testing.assert_allclose(rotation_vector([0.0, 0.6, 0.0, 0.8]), [0.6 * np.pi, 0, 0.8 * np.pi], atol=2e-15)


def sprung(seed, **how):
    """A random tree with springs, some of them with a pose, in all of its joints that turn or float freely."""
    rng, data = np.random.default_rng(seed), random_robot(seed, wrenches=False, **how)
    for link in data["links"]:
        joint = link["joint"]
        if joint["type"] in ("spherical", "free") and "as" not in joint:
            joint["spring"] = {"stiffness": float(rng.uniform(1, 5)), "damping": float(rng.uniform(0, 1))}
            if rng.random() < 0.7:
                e = rng.normal(size=4)
                pose = [*rng.uniform(-1, 1, 3), *e] if joint["type"] == "free" else e
                joint["spring"]["pose"] = [float(x) for x in pose]
    return data


@pytest.mark.parametrize("seed", range(6))
def test_their_forces_are_the_slopes_of_their_energy(seed):
    data = sprung(seed, types=("spherical", "free", "revolute"), links=(3, 4))
    robot = denoc.loads(yamls.dump({**data, "gravity": [0, 0, 0]}))
    rng = np.random.default_rng(seed)
    q = random_coordinates(data, rng)

    def elastic(q):
        return float(energies(robot, list(q), [0.0] * robot.nv)[2])

    slopes = [
        eighth_order(lambda h: elastic(moved(robot, q, k, h)))  # noqa: B023
        for k in range(robot.nv)
    ]
    assert np.ptp(slopes) > 0.1
    np.testing.assert_allclose(denoc.bias(robot, q, np.zeros(robot.nv)), slopes, atol=1e-10)


@pytest.mark.parametrize("form", ["straight", "rolled"])
@pytest.mark.sampled(2)
def test_all_code_has_the_same_forces(form):
    data = sprung(3, types=("spherical", "free"), links=(5, 5))
    robot = denoc.loads(yamls.dump(data))
    rng = np.random.default_rng(1)
    q = np.array([random_coordinates(data, rng) for _ in range(9)])
    qd, qdd = rng.uniform(-1, 1, (2, 9, robot.nv))
    with using_backend("plain"):
        tau = denoc.inverse(robot, q, qd, qdd)
    with using_backend("compiled", form):
        np.testing.assert_allclose(denoc.inverse(robot, q, qd, qdd), tau, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(denoc.forward(robot, q, qd, tau), qdd, rtol=0, atol=1e-8)


BALL = """
{name: ball, convention: frames, gravity: [0, 0, 0], links: [{name: b, mass: 2, com: [0, 0, 0],
 inertia: {xx: 0.05, yy: 0.05, zz: 0.05}, joint: {type: free, name: j, spring: {stiffness: 8, pose: POSE}}}]}
"""


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_ball_swings_and_turns_as_pendulums_do(backend):
    """A sphere, drawn aside by 0.3 m and turned by 2 rad about one axis: two harmonic oscillations, for c = 8."""
    pose = [0.5, 0.1, 0, float(np.cos(0.4)), 0, float(np.sin(0.4)), 0]
    turn = (Rotation.from_rotvec([0, 0.8, 0]) * Rotation.from_rotvec([1.2, 0, -1.6])).as_quat()
    scenario = {"task": "simulate", "time": {"end": 1.5, "step": 0.1}, "solver": {"rtol": 1e-10}}
    scenario["initial"] = {"j": [0.5, 0.4, 0, *(float(turn[k]) for k in (3, 0, 1, 2))]}
    with using_backend(backend):
        run = denoc.run(scenario, denoc.loads(BALL.replace("POSE", str(pose))))
    np.testing.assert_allclose(run.table["j.y"], 0.1 + 0.3 * np.cos(2 * run.t), atol=1e-8)
    np.testing.assert_allclose(run.table["j.x"], 0.5, atol=1e-9)
    angle = 2 * np.cos(np.sqrt(8 / 0.05) * run.t)
    parts = [run.table[f"j.e{k}"] for k in (1, 2, 3, 0)]
    turned = Rotation.from_rotvec([0, -0.8, 0]) * Rotation.from_quat(np.transpose(parts))
    np.testing.assert_allclose(turned.as_rotvec(), angle[:, None] * [0.6, 0, -0.8], atol=1e-7)
    assert run.audit["energy_share"] < 1e-8
    elastic = 8 / 2 * (0.3 * np.cos(2 * run.t)) ** 2 + 8 / 2 * angle**2
    np.testing.assert_allclose(run.table["energy.elastic"], elastic, atol=1e-6)


BRIDGE = """
name: bridge
convention: frames
links:
  - {name: a, joint: {type: spherical, spring: {stiffness: 6}}, mass: 1, com: [0.2, 0.05, 0],
     inertia: {xx: 0.02, yy: 0.03, zz: 0.025}}
  - {name: b, joint: {type: spherical, xyz: [0.4, 0, 0], spring: {stiffness: 4, pose: [0.9, 0.1, -0.3, 0.2]}}, mass: 1,
     com: [0.2, 0, 0.04], inertia: {xx: 0.03, yy: 0.02, zz: 0.025}}
loops:
  - {name: end, joint: spherical, between: [b, base], first: {at: [0.4, 0, 0]}, second: {at: [0.5, 0.3, 0]}}
"""


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_in_a_mechanism_they_keep_energy(backend):
    run = {
        "task": "simulate",
        "time": {"end": 0.3, "step": 0.05},
        "solver": {"rtol": 1e-10, "at_singularity": "switch"},
    }
    with using_backend(backend):
        result = denoc.run(run, denoc.loads(BRIDGE))
    assert result.ended == "done"
    assert np.ptp(result.table["energy.elastic"]) > 0.1
    assert result.audit["energy_share"] < 1e-8


@pytest.mark.parametrize(
    "kind, spring, words",
    [
        ("revolute", "{stiffness: 1, pose: [1]}", "only spherical and free joints have it"),
        ("spherical", "{stiffness: 1, rest: 0.1}", "has several coordinates"),
        ("spherical", "{stiffness: 1, pose: [1, 0, 0]}", "needs 4 numbers"),
        ("free", "{stiffness: 1, pose: [0, 0, 0, 0, 0, 0, 0]}", "can't all be 0"),
        ("fixed", "{stiffness: 1}", "can't have this"),
    ],
)
def test_mistakes_stand_at_their_places(kind, spring, words):
    link = f"{{name: a, joint: {{type: {kind}, spring: {spring}}}, mass: 1, com: [0, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}"
    other = "{name: b, joint: {type: revolute}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}"
    with pytest.raises(InputError, match=words):
        denoc.loads(f"{{name: r, convention: frames, links: [{link}, {other}]}}")
