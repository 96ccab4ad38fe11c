"""Misprints of docs/papers.md shown with numbers: the mended formula holds, and the printed one doesn't.

The mechanism is a planar 3-RRR platform with lengths of its own: the joints of a leg are three points anywhere, and
what moves is known from the platform's twist by geometry alone.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import denoc

E = np.array([[0.0, -1.0], [1.0, 0.0]])  # E r is ω × r for ω = 1


def propagation(to, of):
    """The twist [ω; v] of a point `of` of a body → that of its point `to`."""
    A = np.eye(3)
    A[1:, 0] = E @ (to - of)
    return A


@pytest.fixture
def platform():
    """Legs with joints at points O, their rates θ̇, the links' twists at these points, and the platform's at P."""
    rng = np.random.default_rng(7)
    P, t_P = rng.normal(size=2), rng.normal(size=3)
    legs = []
    for _ in range(3):
        O = [P + rng.normal(size=2) for _ in range(3)]
        p = np.array([1.0, 0.0, 0.0])
        at_P = [propagation(P, point) @ p for point in O]
        rates = np.linalg.solve(np.array(at_P).T, t_P)
        twists = [rates[0] * p]
        for i in (1, 2):
            twists.append(propagation(O[i], O[i - 1]) @ twists[-1] + rates[i] * p)
        legs.append(SimpleNamespace(O=O, p=p, at_P=at_P, rates=rates, twists=twists))
    return SimpleNamespace(P=P, t_P=t_P, legs=legs)


def projector(p):
    return np.eye(3) - np.outer(p, p) / (p @ p)


def eliminated(leg, without_3=True):
    """p̃_3, p̃_2 and Φ_2 of a leg (Khan 2002, eqs. 3.4 to 3.8); p̃_2 without Φ_3 as the list of steps prints it."""
    p3 = leg.at_P[2]
    p2 = projector(p3) @ leg.at_P[1] if without_3 else leg.at_P[1]
    return p3, p2, projector(p3) - np.outer(p2, p2) / (p2 @ p2)


@pytest.mark.parametrize("without_3", [True, False])
def test_khan_3_1_the_second_joints_direction_is_without_the_thirds(platform, without_3):
    found = np.concatenate([eliminated(leg, without_3)[2] @ leg.at_P[0] * leg.rates[0] for leg in platform.legs])
    K = sum(eliminated(leg, without_3)[2] for leg in platform.legs)
    t_P = np.linalg.solve(K, found.reshape(3, 3).sum(axis=0))
    rates = []
    for leg in platform.legs:
        p3, p2, _ = eliminated(leg, without_3)
        second = p2 @ (t_P - leg.at_P[0] * leg.rates[0]) / (p2 @ p2)
        third = p3 @ (t_P - leg.at_P[0] * leg.rates[0] - leg.at_P[1] * second) / (p3 @ p3)
        rates.append([leg.rates[0], second, third])
    right = np.allclose(rates, [leg.rates for leg in platform.legs], rtol=1e-9)
    assert right == without_3
    assert np.allclose(t_P, platform.t_P, rtol=1e-9) == without_3


def test_khan_3_22_is_half_of_the_rate(platform):
    leg, h = platform.legs[0], 1e-6
    p = leg.at_P[2]
    turned = E @ p[1:] * platform.t_P[0]  # the rate of E r, as r turns with the platform
    p_rate = np.array([0.0, *turned])
    rate = (projector(p + h * p_rate) - projector(p - h * p_rate)) / (2 * h)
    printed = -projector(p) @ np.outer(p_rate, p) / (p @ p)
    np.testing.assert_allclose(rate, printed + printed.T, atol=1e-8)
    assert np.linalg.norm(rate - printed) > 0.3 * np.linalg.norm(rate)
    np.testing.assert_allclose(rate @ p, printed @ p, atol=1e-8)


@pytest.mark.parametrize("mended", [True, False])
def test_overview_32c_and_32d_give_the_links_twists(platform, mended):
    """t = N_l N_c N_d θ̇ with p_i p̃_iᵀ / δ_i in N_c and A_{j+1,j} in N_l; without the former it isn't so."""
    legs, P = platform.legs, platform.P
    K = sum(eliminated(leg)[2] for leg in legs)
    above = [np.linalg.solve(K, eliminated(leg)[2] @ propagation(P, leg.O[0])) for leg in legs]  # Ā
    t_e = sum(A @ leg.p * leg.rates[0] for A, leg in zip(above, legs))
    for leg in legs:
        p3, p2, _ = eliminated(leg)
        duals = {1: p2 / (p2 @ p2), 2: p3 / (p3 @ p3)}
        step = {}  # Ψ_i A_{i,i−1} of links 2 and 3, with Ψ of eq. 31
        for i, dual in duals.items():
            Psi = np.eye(3) - np.outer(leg.p, dual) @ propagation(P, leg.O[i])
            step[i] = Psi @ propagation(leg.O[i], leg.O[i - 1])
        N_l = np.eye(9)
        N_l[3:6, :3], N_l[6:, 3:6], N_l[6:, :3] = step[1], step[2], step[2] @ step[1]
        rows = [leg.p * leg.rates[0]] + [np.outer(leg.p, duals[i]) @ t_e if mended else t_e for i in (1, 2)]
        assert np.allclose(N_l @ np.concatenate(rows), np.concatenate(leg.twists), rtol=1e-9) == mended


def test_khalil_96_has_both_terms_of_the_bodies_beyond():
    """f_j = J_jᶜ V̇_j − β_jᶜ is what eqs. 91 and 93 give for two bodies."""
    rng = np.random.default_rng(8)
    J, J_k, T = rng.normal(size=(3, 6, 6))
    beta, beta_k, zeta, rate = rng.normal(size=(4, 6))
    f = J @ rate - beta + T.T @ (J_k @ (T @ rate + zeta) - beta_k)
    J_c = J + T.T @ J_k @ T
    np.testing.assert_allclose(J_c @ rate - (beta + T.T @ (beta_k - J_k @ zeta)), f, rtol=1e-12)
    for printed in (-T.T @ beta_k + T.T @ J_k @ zeta, -T.T @ beta_k - T.T @ J_k @ zeta):
        assert not np.allclose(J_c @ rate - (beta + printed), f)


def test_khalil_57_lacks_a_transpose():
    rng = np.random.default_rng(9)
    passive, tree = rng.normal(size=(3, 2)), rng.normal(size=5)  # ∂q̇_p/∂q̇_a; Γ of 2 active and 3 passive joints
    G = np.concatenate([np.eye(2), passive])
    np.testing.assert_allclose(G.T @ tree, tree[:2] + passive.T @ tree[2:], rtol=1e-12)


def rotation(e0, e):
    """Eq. 3 of Hanzaki 2009."""
    return (2 * e0**2 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * cross_matrix(e))


def cross_matrix(v):
    return np.cross(np.eye(3), v)


def test_hanzaki_5_and_37_are_in_axes_of_the_preceding_link():
    rng = np.random.default_rng(10)
    e, rate, h = rng.normal(size=3) / 3, rng.normal(size=3), 1e-6
    e0 = np.sqrt(1 - e @ e)
    e0_rate = -e @ rate / e0  # eq. 12

    def turn(s):
        moved = e + s * rate
        return rotation(np.sqrt(1 - moved @ moved), moved)

    B, B_1 = turn(0.0), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    spin = (turn(h) - turn(-h)) / (2 * h) @ B.T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])  # in axes of link 1
    G = np.column_stack([-e, cross_matrix(e) + e0 * np.eye(3)])
    printed = np.column_stack([-e, cross_matrix(rate) + e0 * np.eye(3)])
    np.testing.assert_allclose(2 * G @ [e0_rate, *rate], w, atol=1e-8)
    assert not np.allclose(2 * printed @ [e0_rate, *rate], w, atol=1e-2)
    G_star = (B + np.eye(3)) / e0  # eq. 14
    np.testing.assert_allclose(B_1 @ G_star @ rate, B_1 @ w, atol=1e-8)
    assert not np.allclose(B_1 @ B @ G_star @ rate, B_1 @ w, atol=1e-2)  # eq. 37 as printed


def test_saha_1999_has_another_matrix_c_than_the_overview():
    """C θ̇ is the same with Ṁ (Saha 1999, eq. 20) and with W M E (overview, eq. 16a); İ − 2 C is skew for the latter."""
    robot, h = denoc.load("puma"), 1e-6
    rng = np.random.default_rng(11)
    q, qd = rng.normal(size=(2, 6))
    before, here, after = (denoc.matrices(robot, q + s * qd, qd) for s in (-h, 0.0, h))

    def rate(make):
        return (make(after) - make(before)) / (2 * h)

    N = here["N_l"] @ here["N_d"]
    N_rate = rate(lambda m: m["N_l"] @ m["N_d"])
    older = N.T @ (here["M"] @ N_rate + rate(lambda m: m["M"]) @ N)
    scale = abs(here["C"]).max()
    np.testing.assert_allclose(older @ qd, here["C"] @ qd, atol=1e-7 * scale)
    for C, skew in ((here["C"], True), (older, False)):
        rest = rate(lambda m: m["I"]) - 2 * C
        assert (abs(rest + rest.T).max() < 1e-6 * scale) == skew


def test_overview_48_carries_the_main_chain_with_a_plus():
    """The twists of a subchain of two bodies from that of the body it hangs on, body by body and by N_l and A_0."""
    rng = np.random.default_rng(11)
    P, O1, O2 = rng.normal(size=(3, 2))
    t_0, rates, p = rng.normal(size=3), rng.normal(size=2), np.array([1.0, 0.0, 0.0])
    t_1 = propagation(O1, P) @ t_0 + p * rates[0]
    t_2 = propagation(O2, O1) @ t_1 + p * rates[1]
    one, none = np.eye(3), np.zeros((3, 3))
    N_l = np.block([[one, none], [propagation(O2, O1), one]])
    A_0 = np.concatenate([propagation(O1, P), none])
    own = N_l @ np.concatenate([p * rates[0], p * rates[1]])
    np.testing.assert_allclose(N_l @ A_0 @ t_0 + own, [*t_1, *t_2], atol=1e-13)
    assert abs(-N_l @ A_0 @ t_0 + own - [*t_1, *t_2]).max() > 0.1
