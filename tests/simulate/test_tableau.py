"""Coefficients are right when they satisfy the order conditions, one for each rooted tree (Butcher)."""

from math import factorial, prod

import numpy as np
import pytest

from denoc.simulate.tableau import DORMAND_PRINCE, TABLEAUS, hermite

pytestmark = pytest.mark.smoke

each = pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
embedded = pytest.mark.parametrize(
    "tableau", [t for t in TABLEAUS if t.E is not None], ids=lambda tableau: tableau.name
)


def trees(order):
    """All rooted trees with this many nodes; a tree is the sorted tuple of its root's branches."""
    return {()} if order == 1 else {grown for tree in trees(order - 1) for grown in with_a_leaf(tree)}


def with_a_leaf(tree):
    """The trees with one more leaf, at each of the nodes."""
    yield tuple(sorted((*tree, ())))
    for k, branch in enumerate(tree):
        for grown in with_a_leaf(branch):
            yield tuple(sorted((*tree[:k], grown, *tree[k + 1 :])))


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    return size(tree) * prod(map(density, tree))


def weights(tree, A):
    """The tree's elementary weight at every stage."""
    return prod((A @ weights(branch, A) for branch in tree), start=np.ones(len(A)))


def full(tableau):
    """A with one more row, b: the derivative at the step's end as a further stage."""
    s = len(tableau.B)
    A = np.zeros((s + 1, s + 1))
    A[:s, :s], A[s, :s] = tableau.A, tableau.B
    return A


def misses(tableau, b, order, theta=1.0):
    """By how much the weights b miss each condition up to an order."""
    A = full(tableau)
    return [
        b @ weights(tree, A) - theta ** size(tree) / density(tree) for n in range(1, order + 1) for tree in trees(n)
    ]


def test_number_of_rooted_trees():
    assert [len(trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]
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
    b = np.append(tableau.B, 0) + tableau.E
    assert tableau.E.sum() == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(misses(tableau, b, tableau.error_order), 0, atol=1e-14)
    assert max(map(abs, misses(tableau, b, tableau.error_order + 1))) > 1e-5


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


@each
def test_hermite_is_the_cubic_of_order_3_through_both_ends(tableau):
    P, s = hermite(tableau.B), len(tableau.B)
    np.testing.assert_allclose(P.sum(axis=1), np.append(tableau.B, 0), atol=1e-15)
    np.testing.assert_allclose(P[:, 0], np.eye(s + 1)[0], atol=1e-15)
    np.testing.assert_allclose(P @ [1, 2, 3], np.eye(s + 1)[-1], atol=1e-15)
    for theta in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(misses(tableau, P @ theta ** np.arange(1, 4), 3, theta), 0, atol=1e-14)


@each
def test_rows_cannot_be_changed(tableau):
    with pytest.raises(ValueError, match="read-only"):
        tableau.B[0] = 1
