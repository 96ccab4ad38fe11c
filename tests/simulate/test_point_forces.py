"""Forces that know where points are and how fast they move, in trees and mechanisms, plain and compiled."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.simulate.systems.state_force import points_for_state_forces
from denoc.text import library_folder
from displacing import eighth_order, moved
from random_robots import random_coordinates, random_robot

SHORT = {"task": "simulate", "time": {"end": 0.06, "step": 0.02}, "solver": {"rtol": 1e-11}}


def with_points(name, **points):
    """A robot of the library with points of its links."""
    data = yamls.load((library_folder("robots") / f"{name}.yaml").read_text())
    for link in data["links"]:
        link.setdefault("points", {}).update(points.get(link["name"], {}))
    return denoc.loads(yamls.dump(data))


@pytest.mark.parametrize("seed", range(6))
def test_points_are_where_frames_say_and_their_rates_are_their_slopes(seed):
    """Random trees with joints of all kinds, links on fixed joints among them; slopes by differences of frames."""
    data = random_robot(seed, links=(4, 6))
    at = [0.3, -0.2, 0.4]
    for link in data["links"]:
        link["points"] = {"tip": at}
    robot = denoc.loads(yamls.dump(data))
    rng = np.random.default_rng(seed + 100)
    q, qd = random_coordinates(data, rng), rng.uniform(-1, 1, robot.nv)
    points = points_for_state_forces(robot)
    assert len(points) == len(robot.links)
    for point, link in zip(points, robot.links):

        def place(q, link=link):
            return (denoc.frames(robot, q)[link.name] @ [*at, 1])[:3]

        values = list(point.values(list(q), list(qd)).values())
        rate = sum(qd[k] * eighth_order(lambda h: place(moved(robot, q, k, h))) for k in range(robot.nv))  # noqa: B023
        np.testing.assert_allclose(values[:3], place(q), atol=1e-13)
        np.testing.assert_allclose(values[3:], rate, atol=1e-10)


ANGLES = "joint1.q", "(joint1.q + joint2.q)", "(joint1.q + joint2.q + joint3.q)"
LENGTHS = 0.3, 0.25, 0.2  # of two links, and up to a point on the third one


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_in_an_arm_a_point_is_a_sum_of_sines(backend):
    """A force by a point's names, and written out in the angles."""
    speeds = [angle.replace(".q", ".qd") for angle in ANGLES]
    parts = list(zip(LENGTHS, ANGLES, speeds))
    written = {
        "x": "(" + " + ".join(f"{a}*cos({q})" for a, q, _ in parts) + ")",
        "y": "(" + " + ".join(f"{a}*sin({q})" for a, q, _ in parts) + ")",
        "vx": "(" + " + ".join(f"-{a}*{w}*sin({q})" for a, q, w in parts) + ")",
        "vy": "(" + " + ".join(f"{a}*{w}*cos({q})" for a, q, w in parts) + ")",
    }
    named = {suffix: f"link3.pen.{suffix}" for suffix in written}
    formula = "8*({x} - 0.6) - 3*{y}*t + 0.5*{vx} - {vy}"
    robot = with_points("planar3r", link3={"pen": [LENGTHS[2], 0, 0]})
    scenario = {**SHORT, "initial": {"joint1": 0.4, "joint2": -0.3}, "rates": {"joint2": 2.0}}
    with using_backend(backend):
        run, same = (
            denoc.run({**scenario, "forces": {"joint2": {"law": "expression", "force": formula.format(**one)}}}, robot)
            for one in (named, written)
        )
    for column in ("joint1.q", "joint3.qd", "joint2.tau"):
        np.testing.assert_allclose(run.table[column], same.table[column], rtol=0, atol=1e-10)
    assert run.audit["energy_share"] < 1e-9


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_spring_between_the_ground_and_a_point_keeps_energy(backend):
    """A mechanism whose coupler hangs on a spring: what it has of energy goes into the spring, and back."""
    robot = with_points("four-bar", coupler={"middle": [0.15, 0.05, 0]})
    stiffness, anchor = 300.0, (0.2, -0.1)
    pull = [f"-{stiffness}*(coupler.middle.{axis} - {x})" for axis, x in zip("xy", anchor)]
    wrench = {"link": "coupler", "at": [0.15, 0.05, 0], "axes": "base"}
    wrench["force"] = [*({"law": "expression", "force": one} for one in pull), 0]
    record = {"points": ["coupler.middle"]}
    with using_backend(backend):
        run = denoc.run({**SHORT, "time": {"end": 0.2, "step": 0.02}, "wrenches": [wrench], "record": record}, robot)
    way = [run.table[f"coupler.middle.{axis}"] - x for axis, x in zip("xy", anchor)]
    stored = stiffness / 2 * (way[0] ** 2 + way[1] ** 2)
    energy = run.table["energy.kinetic"] + run.table["energy.potential"]
    assert np.ptp(stored) > 1.0
    np.testing.assert_allclose(energy + stored, energy[0] + stored[0], atol=1e-7 * np.ptp(stored))
    assert run.audit["energy_share"] < 1e-8


def test_in_inverse_dynamics_and_for_actuators_points_are_those_of_the_rows():
    robot = with_points("four-bar", coupler={"middle": [0.15, 0.05, 0]})
    law = {"law": "expression", "force": "2*coupler.middle.y - 0.3*coupler.middle.vx"}
    scenario = {"task": "inverse", "time": {"end": 1, "step": 0.1}, "motion": {"A0": {"law": "rate", "rate": 2}}}
    run = denoc.run({**scenario, "forces": {"B0": law}, "record": {"points": ["coupler.middle"]}}, robot)
    motion = [np.stack([run.table[f"{name}.{what}"] for name in robot.joints], axis=1) for what in ("q", "qd")]
    J = np.array([denoc.jacobian(robot, q, "coupler", at=[0.15, 0.05, 0]) for q in motion[0]])
    rate = np.einsum("nk,nk->n", J[:, 3], motion[1])
    np.testing.assert_allclose(run.table["B0.tau"], 2 * run.table["coupler.middle.y"] - 0.3 * rate, atol=1e-12)


def test_unknown_points_are_named():
    force = {"law": "expression", "force": "2 + link3.pem.x"}
    with pytest.raises(InputError) as error:
        denoc.run({**SHORT, "forces": {"joint1": force}}, with_points("planar3r", link3={"pen": [0.2, 0, 0]}))
    assert "at character 5: unknown name `link3.pem.x`" in str(error.value)
    assert "link3.pen.vz" in error.value.allowed
