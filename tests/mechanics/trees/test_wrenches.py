"""Transport and power of wrenches, losses, and projectors: by Newton's equations and by what defines them."""

import numpy as np
import pytest

import denoc
import newton
from denoc.mechanics.quantities import powers
from denoc.mechanics.quantities.quantities import frames, mass_and_centre
from denoc.mechanics.tree.wrenches import wrenches_moved_to_points, wrenches_on_link
from denoc.parallel.node import leg_projector_left_part, leg_projector_without_direction
from random_robots import drawn

SEEDS = range(12)


def wrenches_on(case):
    names = [link["name"] for link in case.file["links"]]
    return {str(name): case.rng.uniform(-3.0, 3.0, 6) for name in case.rng.choice(names, min(2, len(names)), False)}


@pytest.mark.parametrize("seed", SEEDS)
def test_power_and_losses_are_newtons(seed):
    case = drawn(seed)
    wrenches = wrenches_on(case)
    right = newton.motion(case.file, case.q, case.qd, case.qdd, wrenches)
    rows = {name: six[None] for name, six in wrenches.items()}
    (found,) = powers.passive_power(case.robot, case.q[None], case.qd[None], rows)
    assert found == pytest.approx(right.power - right.losses, abs=1e-11 * (abs(right.power) + abs(right.losses) + 1.0))


def test_rows_in_blocks_are_rows_alone(monkeypatch):
    case = drawn(3)
    monkeypatch.setattr(powers, "BLOCK", 1)
    q, qd = case.later(np.linspace(0.0, 0.01, 21))
    wrenches = {name: np.outer(np.arange(1.0, 22.0), six) for name, six in wrenches_on(case).items()}
    whole = powers.passive_power(case.robot, q, qd, wrenches)
    for n in (0, 7, 8, 20):
        one = {name: six[n : n + 1] for name, six in wrenches.items()}
        assert powers.passive_power(case.robot, q[n : n + 1], qd[n : n + 1], one)[0] == pytest.approx(
            whole[n], rel=1e-12
        )


def test_links_on_the_ground_have_potential_energy():
    """A plinth of 3 kg whose mass centre is 2.5 m above the base, and the energy of what hangs on it beside."""
    rod = """
  - {name: rod, joint: {type: revolute, name: hinge, axis: [0, 1, 0]}, mass: 1, com: [0.4, 0, 0],
     inertia: {xx: 0.01, yy: 0.05, zz: 0.05}}"""
    plinth = """
  - {name: plinth, parent: base, joint: {type: fixed, xyz: [1, 0, 2]}, mass: 3, com: [0.1, 0.2, 0.5],
     inertia: {xx: 1, yy: 1, zz: 1}}"""
    head = "name: x\nconvention: frames\ngravity: [0, 0, -9.81]\nlinks:"
    alone, both = (denoc.loads(head + links) for links in (rod, rod + plinth))
    apart = denoc.energy(both, [0.3], [2.0])["potential"] - denoc.energy(alone, [0.3], [2.0])["potential"]
    assert apart == pytest.approx(3 * 9.81 * 2.5, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mass_centre_of_all_links(seed):
    """By the frames of Newton's equations; gravity's potential knows it, too."""
    case = drawn(seed, wrenches=False)
    frames_of = case.newton.frames
    places = [(link.mass, frames_of[link.name].p + frames_of[link.name].R @ link.com) for link in case.robot.links]
    mass, centre = mass_and_centre(case.robot, case.q)
    assert mass == pytest.approx(sum(one for one, _ in places), rel=1e-14)
    assert centre == pytest.approx(sum(one * at for one, at in places) / mass, abs=1e-12)
    potential = denoc.energy(case.robot, case.q, case.qd)["potential"]
    assert -mass * (np.array(case.robot.gravity) @ centre) == pytest.approx(potential, abs=1e-10)


@pytest.mark.parametrize("axes", ["link", "base"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrench_at_a_point_is_newtons_at_the_origin(seed, axes):
    case = drawn(seed, wrenches=False)
    at = tuple(float(x) for x in case.rng.uniform(-1.0, 1.0, 3))
    six, name = case.rng.uniform(-3.0, 3.0, 6), case.file["links"][-1]["name"]
    entry = {"link": name, "moment": six[:3], "force": six[3:], "at": at, "axes": axes}
    frame = case.newton.frames[name]
    right = newton.external_wrench({**case.file, "wrenches": [entry]}, name, frame)
    turn = frames(case.robot, case.q)[name][:3, :3] if axes == "base" else None
    found = wrenches_on_link(six, at, turn)
    assert np.concatenate([frame.R @ found[:3], frame.R @ found[3:]]) == pytest.approx(right, abs=1e-12)
    many = wrenches_on_link(np.tile(six, (3, 1)), at, None if turn is None else np.tile(turn, (3, 1, 1)))
    assert many == pytest.approx(np.tile(found, (3, 1)), abs=1e-14)


def test_moving_a_wrench_changes_no_power():
    rng = np.random.default_rng(5)
    n, f, reach, w, v = rng.normal(size=(5, 40, 3))
    six = wrenches_moved_to_points(n, f, reach)
    there = (n * w).sum(axis=1) + (f * (v + np.cross(w, reach))).sum(axis=1)  # where it acts
    assert (six[:, :3] * w + six[:, 3:] * v).sum(axis=1) == pytest.approx(there, abs=1e-12)
    assert wrenches_moved_to_points(six[:, :3], f, -reach)[:, :3] == pytest.approx(n, abs=1e-13)


def test_projectors_forget_directions_one_by_one():
    """What is left of Φ is the projector on what is square to all directions that were taken."""
    rng = np.random.default_rng(8)
    directions = rng.normal(size=(3, 5, 6))
    Phi = np.broadcast_to(np.eye(6), (5, 6, 6))
    for p in directions:
        Phi = leg_projector_without_direction(Phi, *leg_projector_left_part(Phi, p))
    for n in range(5):
        P = directions[:, n].T
        assert Phi[n] == pytest.approx(np.eye(6) - P @ np.linalg.solve(P.T @ P, P.T), abs=1e-12)
    alone = np.eye(6)
    for p in directions[:, 2]:
        alone = leg_projector_without_direction(alone, *leg_projector_left_part(alone, p))
    assert alone == pytest.approx(Phi[2], abs=1e-14)
