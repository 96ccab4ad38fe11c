"""Two turns at once do what they do one after the other."""

import itertools

import numpy as np
import pytest

from denoc.mechanics.tree.spatial import Bend, join_turns, to_link_axes, to_parent_axes, turn_square, turn_symmetric

PLANES = tuple(itertools.permutations(range(3), 2))
rng = np.random.default_rng(3)


def turn(plane, angle):
    return (*plane, float(np.cos(angle)), float(np.sin(angle)))


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in PLANES for b in PLANES if {*a} != {*b}])
def test_a_bend_is_its_two_turns(first, second):
    turns = (turn(first, 0.7), turn(second, 2.1))
    bend = join_turns(*turns)
    assert isinstance(bend, Bend)
    v, m = rng.standard_normal(3).tolist(), rng.standard_normal((3, 3))
    for move in (to_link_axes, to_parent_axes):
        np.testing.assert_allclose(move((bend,), v), move(turns, v), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(turn_square((bend,), m.tolist()), turn_square(turns, m.tolist()), rtol=1e-13, atol=1e-14)
    symmetric = (m + m.T).tolist()
    np.testing.assert_allclose(
        turn_symmetric((bend,), symmetric), turn_symmetric(turns, symmetric), rtol=1e-13, atol=1e-14
    )


@pytest.mark.parametrize("cosine", [1e-3, 1e-9, 6e-17])
def test_nothing_is_lost_near_a_right_angle(cosine):
    """The tangent is enormous there, and is multiplied by as small a number."""
    turns = ((1, 2, cosine, float(np.sqrt(1 - cosine**2))), turn((0, 1), 0.4))
    v = rng.standard_normal(3).tolist()
    for move in (to_link_axes, to_parent_axes):
        np.testing.assert_allclose(move((join_turns(*turns),), v), move(turns, v), rtol=1e-14, atol=1e-15)


def test_right_angles_and_turns_of_one_plane_are_left_as_they_are():
    joint = turn((0, 1), 0.4)
    assert join_turns((1, 2, 0.0, 1.0), joint) is None
    assert join_turns((1, 2, -1.0, 0.0), joint) is None
    assert join_turns(turn((1, 0), 0.3), joint) is None
