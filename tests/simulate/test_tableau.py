"""Coefficients are right when they satisfy the order conditions, one for each rooted tree (Butcher)."""

from functools import cache
from math import factorial, prod

import numpy as np
import pytest

from denoc.simulate.integrators.dormand_prince_8 import DORMAND_PRINCE_8
from denoc.simulate.integrators.integrate import INTEGRATORS
from denoc.simulate.integrators.tableau import DORMAND_PRINCE, VERNER, hermite_dense_output

pytestmark = pytest.mark.smoke

TABLEAUS = [row.tableau for row in INTEGRATORS.values() if row.tableau is not None]
each = pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
embedded = pytest.mark.parametrize(
    "tableau", [t for t in TABLEAUS if t.E is not None], ids=lambda tableau: tableau.name
)


@cache
def trees(order):
    """All rooted trees with this many nodes; a tree is the sorted tuple of its root's branches."""
    return {()} if order == 1 else {larger for tree in trees(order - 1) for larger in with_one_more_leaf(tree)}


def with_one_more_leaf(tree):
    """All trees that a tree becomes by one more leaf."""
    yield tuple(sorted((*tree, ())))
    for k, branch in enumerate(tree):
        for larger in with_one_more_leaf(branch):
            yield tuple(sorted((*tree[:k], larger, *tree[k + 1 :])))


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    return size(tree) * prod(map(density, tree))


def weights(tree, A):
    """The tree's elementary weight at every stage."""
    return prod((A @ weights(branch, A) for branch in tree), start=np.ones(len(A)))


def full(tableau):
    """A with more rows: b, for the derivative at the step's end, and those of the stages for dense output."""
    s, n = len(tableau.B), len(tableau.B) + 1 + len(tableau.further)
    A = np.zeros((n, n))
    A[:s, :s], A[s, :s] = tableau.A, tableau.B
    if n > s + 1:
        A[s + 1 :] = tableau.further
    return A


def misses(tableau, b, order, theta=1.0):
    """By how much the weights b miss each condition up to an order."""
    A = full(tableau)
    b = np.pad(b, (0, len(A) - len(b)))
    return [
        b @ weights(tree, A) - theta ** size(tree) / density(tree) for n in range(1, order + 1) for tree in trees(n)
    ]


def test_number_of_rooted_trees():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    chain = ((((),),),)
    assert density(chain) == factorial(4)


@each
def test_shapes_and_row_sums(tableau):
    s = len(tableau.B)
    assert tableau.A.shape == (s, s)
    assert not np.triu(tableau.A).any()
    np.testing.assert_allclose(tableau.A.sum(axis=1), tableau.C, atol=1e-14)
    assert tableau.B.sum() == pytest.approx(1, abs=1e-15)


@each
def test_order_is_as_declared_and_no_higher(tableau):
    b = np.append(tableau.B, 0)
    np.testing.assert_allclose(misses(tableau, b, tableau.order), 0, atol=1e-14)
    assert max(map(abs, misses(tableau, b, tableau.order + 1))) > 1e-5


@embedded
def test_embedded_order_is_as_declared_and_no_higher(tableau):
    pairs = [(tableau.E, tableau.error_order)]
    if tableau.E_low is not None:  # two of orders 5 and 3 give an error of order 7 (Hairer, sec. II.5)
        pairs = [(tableau.E, 5), (tableau.E_low, 3)]
    for E, order in pairs:
        b = np.append(tableau.B, 0) + E
        assert E.sum() == pytest.approx(0, abs=1e-15)
        np.testing.assert_allclose(misses(tableau, b, order), 0, atol=1e-14)
        assert max(map(abs, misses(tableau, b, order + 1))) > 1e-5


def test_last_stage_of_dormand_prince_is_the_next_first():
    # the derivative at the step's end enters its error, so it is worth having one
    assert DORMAND_PRINCE.E[-1] != 0


def test_dense_output_of_dormand_prince_has_order_4():
    P = DORMAND_PRINCE.P
    np.testing.assert_allclose(P.sum(axis=1), np.append(DORMAND_PRINCE.B, 0), atol=1e-14)
    for theta in (0.1, 0.5, 0.9):
        b = P @ theta ** np.arange(1, 5)
        np.testing.assert_allclose(misses(DORMAND_PRINCE, b, 4, theta), 0, atol=1e-14)
    # derivatives at both ends are those of the solution, so that the pieces join smoothly
    np.testing.assert_allclose(P[:, 0], np.eye(7)[0], atol=1e-14)
    np.testing.assert_allclose(P @ np.arange(1, 5), np.eye(7)[-1], atol=1e-13)


@pytest.mark.parametrize(("tableau", "order"), [(VERNER, 5), (DORMAND_PRINCE_8, 7)], ids=["6(5)", "8(5,3)"])
def test_dense_output_with_further_stages_has_one_order_less(tableau, order):
    P, A, s = tableau.P, full(tableau), len(tableau.B)
    stages, degree = P.shape
    np.testing.assert_allclose(A.sum(axis=1)[s + 1 :], tableau.further_at, atol=1e-14)
    np.testing.assert_allclose(P.sum(axis=1), np.pad(tableau.B, (0, stages - s)), atol=1e-12)
    for theta in (0.1, 0.5, 0.9):
        b = P @ theta ** np.arange(1, degree + 1)
        np.testing.assert_allclose(misses(tableau, b, order, theta), 0, atol=1e-13)
        assert max(map(abs, misses(tableau, b, order + 1, theta))) > 1e-8
    np.testing.assert_allclose(P[:, 0], np.eye(stages)[0], atol=1e-14)
    np.testing.assert_allclose(P @ np.arange(1, degree + 1), np.eye(stages)[s], atol=1e-11)


@each
def test_hermite_is_the_cubic_of_order_3_through_both_ends(tableau):
    P, s = hermite_dense_output(tableau.B), len(tableau.B)
    np.testing.assert_allclose(P.sum(axis=1), np.append(tableau.B, 0), atol=1e-15)
    np.testing.assert_allclose(P[:, 0], np.eye(s + 1)[0], atol=1e-15)
    np.testing.assert_allclose(P @ [1, 2, 3], np.eye(s + 1)[-1], atol=1e-15 * max(1.0, abs(tableau.B).max()))
    for theta in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(misses(tableau, P @ theta ** np.arange(1, 4), 3, theta), 0, atol=1e-14)


@each
def test_rows_cannot_be_changed(tableau):
    with pytest.raises(ValueError, match="read-only"):
        tableau.B[0] = 1
