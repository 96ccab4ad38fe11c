"""Constant placements: products of turns, three turns for any rotation, frames on an axis."""

import math

import numpy as np
import pytest

import newton
from denoc.robot.placement import Placement, X, Y, Z, frame_pointing_along_axis, turn_matrix_of, zxz_turns
from newton import turned

pytestmark = pytest.mark.smoke

X_AXIS, Y_AXIS, Z_AXIS = np.eye(3)
RIGHT_ANGLES = [0.0, math.pi / 2, math.pi, -math.pi / 2]


def product(turns):
    R = np.eye(3)
    for axis, angle in turns:
        R = R @ turned(np.eye(3)[axis], angle)
    return R


def rotations():
    rng = np.random.default_rng(1)
    yield from (newton.oriented(rng.normal(size=4)) for _ in range(50))
    for roll in RIGHT_ANGLES:
        for pitch in RIGHT_ANGLES:
            for yaw in (*RIGHT_ANGLES, 0.3):
                yield turned(Z_AXIS, yaw) @ turned(Y_AXIS, pitch) @ turned(X_AXIS, roll)


def nearly_turns_about_z():
    """Turns about z (upright and upside down) that rounding has tilted by about 1e-16, and by a little more."""
    rng = np.random.default_rng(2)
    for tilt in (0.0, 1e-15, 3e-15, 1e-14, 1e-12, 1e-9):
        for flip in (0.0, math.pi):
            for _ in range(20):
                Q, angle, axis = newton.oriented(rng.normal(size=4)), rng.uniform(-3, 3), rng.normal(size=3)
                yield Q.T @ (Q @ turned(Z_AXIS, angle)) @ turned(X_AXIS, flip) @ turned([*axis[:2], 0.0], tilt)


@pytest.mark.parametrize("some", [rotations, nearly_turns_about_z])
def test_three_turns_about_z_x_z_make_any_rotation(some):
    for R in some():
        turns = zxz_turns(R)
        assert len(turns) <= 3
        assert np.abs(product(turns) - R).max() < 4e-15


@pytest.mark.parametrize("some", [rotations, nearly_turns_about_z])
def test_factors_of_the_recursion_make_the_rotation(some):
    """However many turns it has been put together from: here two more rotations, one the other's inverse."""
    Q = turned(X_AXIS, 0.4) @ turned(Y_AXIS, -2.0) @ turned(Z_AXIS, 0.7)
    for R in some():
        placement = (
            Placement(zxz_turns(R)).then(Placement(zxz_turns(Q))).then(Placement(((Z, -0.7), (Y, 2.0), (X, -0.4))))
        )
        assert len(placement.turns) > 3 >= len(placement.factors())
        assert np.abs(turn_matrix_of(placement.factors()) - R).max() < 4e-15
        assert np.abs(placement.rotation() - R).max() < 4e-15


def test_right_angles_have_exact_cosines_and_sines():
    for axis in range(3):
        for angle in RIGHT_ANGLES:
            R = Placement().turn(axis, angle).rotation()
            assert (np.round(R) == R).all()


AXES = [*np.eye(3), *-np.eye(3), [1, 2, 3], [-1, 0, 1], [0, -1, 1e-9], [1e-12, -1e-12, -1], [0, 1e-17, 1]]


@pytest.mark.parametrize("axis", AXES)
def test_a_frame_on_an_axis_has_its_z_there(axis):
    axis = np.array(axis) / np.linalg.norm(axis)
    R = frame_pointing_along_axis(tuple(axis.tolist())).rotation()
    assert np.abs(R[:, 2] - axis).max() < 4e-16
    assert np.abs(R @ R.T - np.eye(3)).max() < 4e-16
    assert np.linalg.det(R) > 0


def test_a_frame_on_z_is_the_frame_itself():
    assert frame_pointing_along_axis((0.0, 0.0, 1.0)) == Placement()


def test_an_inverse_undoes_its_placement():
    placement = Placement().shift(1, 2, 3).turn(0, 0.4).shift(-1, 0.5, 0).turn(2, 1.1).turn(1, -0.3)
    assert np.abs(placement.then(placement.inverse()).matrix() - np.eye(4)).max() < 1e-15
