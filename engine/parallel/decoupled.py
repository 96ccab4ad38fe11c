"""The decoupled natural orthogonal complement of parallel robots: t = N_l N_c N_d θ̇ (Saha's overview, section 3).

In a leg the rates of the joints that aren't kept are eliminated one after the other, from the platform inwards.  With
p̃ the platform's twist t_e for a unit of such a rate, without the directions of the joints beyond,

    θ̇ = p̃ᵀ (t_e − …) / δ,   δ = p̃ᵀ p̃,   Φ ← Φ − p̃ p̃ᵀ / δ                              (eqs. 25 to 27)

The rest, Φ t_e = Φ Σ p θ̇ over the kept joints, is summed over the legs and solved for t_e (eqs. 28 and 29).  Twists
are [ω; v], v at the mass centres, in base-frame axes; e is the platform's mass centre.  In products p̃ᵀ p̃ slides are
measured in lengths of the mechanism, so that no unit matters.  The paper has the actuator in each leg's first joint;
here it may be any, so the contribution of kept joints beyond a joint is subtracted as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics.explicit import MovingLink, moving_links, propagation
from ..dynamics.samples import Samples, computes
from ..errors import InputError
from ..loops.constraints import closure
from ..loops.partition import independent_speeds
from ..loops.rank import TINY
from ..robot.model import Robot
from .holds import Geometry
from .legs import legs
from .projector import left, without


@dataclass
class Eliminated:
    """One leg after the elimination; lists have an element for each link of its chain."""

    chain: list[int]  # places among the moving links, from the base; the platform last if it hangs by its own joint
    kept: list[list[int]]  # of each link, its columns that stay
    rates: list[np.ndarray]  # of each link, θ̇ = L (t_e − …), a row for each column; 0 for kept ones
    Phi: np.ndarray


@computes
def parallel_matrices(robot: Robot, q: Any, qd: Any = None, platform: str | None = None) -> dict[str, Any]:
    """N_l, N_c, N_d with t = N_l N_c N_d θ̇_a, M, I = Nᵀ M N, J, J_e and K of one state, base-frame axes.

    θ̇_a are the actuated speeds (with more actuators than freedoms, independent ones), named by `independent`; J gives
    all speeds of the spanning tree from them, J_e the platform's twist, K is the sum of the legs' projections.  Twists
    are in `order`, leg by leg, the platform last; rotor inertias are in I.  With `qd`, t is there too.
    """
    s = Samples(robot, q=q, **({} if qd is None else {"qd": qd})).finite()
    if s.count is not None:
        raise InputError("the matrices are made for one state at a time", found=f"{s.count} samples")
    s.arrays.setdefault("qd", np.zeros(robot.nv))
    parts = legs(robot, platform)
    geometry, loops = Geometry(s, parts), closure(robot)
    geometry.refuse_open()
    links, columns = moving_links(robot, s)
    place = {robot.tree.seats[link.name][0]: i for i, link in enumerate(links)}
    e = place[parts.body]
    kept = independent_speeds(loops, loops.jacobian(s.arrays["q"])[0])
    metric = np.diag([1.0] * 3 + [loops.length**-2] * 3)
    done = []
    for number, leg in enumerate(parts.legs):
        allowed = propagation(geometry.e[0] - links[e].centre) @ geometry.allowed(number)[0]
        chain = sorted({place[i] for i in leg.bodies if i in place})
        done.append(_eliminated(links, columns, chain, e, allowed, set(kept), metric))

    # t_e = K⁻¹ Σ Φ A_ek p_k θ̇_k (eq. 29): of each leg's kept joints, S = K⁻¹ Φ A_ek
    n = len(links)
    order = [i for one in done for i in one.chain if i != e] + [e]
    row = {i: slice(6 * r, 6 * r + 6) for r, i in enumerate(order)}
    K = sum(one.Phi for one in done)
    joints = [(one, i, own) for one in done for i, own in zip(one.chain, one.kept) if own]
    N_l, N_c, N_d = np.eye(6 * n), np.zeros((6 * n, 6 * len(joints))), np.zeros((6 * len(joints), len(kept)))
    J = np.zeros((robot.nv, len(kept)))
    for c, (one, i, own) in enumerate(joints):
        block = slice(6 * c, 6 * c + 6)
        N_d[block, [kept.index(columns[links[i].speeds[k]]) for k in own]] = links[i].P[:, own]
        N_c[row[e], block] = np.linalg.solve(K, one.Phi @ _to(links, e, i))
        if i != e:
            N_c[row[i], block] = np.eye(6)
    J_e = N_c[row[e]] @ N_d
    for one in done:
        for depth, i in enumerate(one.chain):
            if i == e:
                continue
            P, L = links[i].P, one.rates[depth]
            # what the rates that aren't kept are free of: joints from here on that are
            for c, (other, k, _) in enumerate(joints):
                block = slice(6 * c, 6 * c + 6)
                beyond = other is one and one.chain.index(k) >= depth
                N_c[row[i], block] += P @ L @ (N_c[row[e], block] - (_to(links, e, k) if beyond else 0.0))
            if depth:
                before = one.chain[:depth]
                step = (np.eye(6) - P @ L @ _to(links, e, i)) @ _to(links, i, before[-1])  # Ψ A (eq. 31)
                for j in before:
                    N_l[row[i], row[j]] = step @ N_l[row[before[-1]], row[j]]
    N = N_l @ N_c @ N_d
    for one in done:
        for depth, i in enumerate(one.chain):
            above = N[row[one.chain[depth - 1]]] if depth else np.zeros((6, len(kept)))
            relative = N[row[i]] - (_to(links, i, one.chain[depth - 1]) @ above if depth else 0.0)
            J[[columns[k] for k in links[i].speeds]] = np.linalg.lstsq(links[i].P, relative, rcond=None)[0]
    M = np.zeros((6 * n, 6 * n))
    for i, link in enumerate(links):
        M[row[i], row[i]] = link.M
    rotors = np.zeros(robot.nv)
    for joint in robot.moving:
        rotors[list(joint.speeds)] = [drive.rotor for drive in joint.drives]
    names = {
        k: f"{joint.name}.{suffix}" if joint.type.nv > 1 else joint.name
        for joint in robot.moving
        for k, suffix in zip(joint.speeds, joint.type.speeds)
    }
    found = {
        "N_l": N_l,
        "N_c": N_c,
        "N_d": N_d,
        "M": M,
        "I": N.T @ M @ N + (J.T * rotors) @ J,
        "J": J,
        "J_e": J_e,
        "K": K,
        "order": tuple(links[i].name for i in order),
        "independent": tuple(names[k] for k in kept),
    }
    if qd is not None:
        found["t"] = N @ s.arrays["qd"][kept]
    return found


def _eliminated(
    links: list[MovingLink],
    columns: list[int],
    chain: list[int],
    e: int,
    allowed: np.ndarray,
    kept: set[int],
    metric: np.ndarray,
) -> Eliminated:
    """A leg without its cut's freedoms and its columns that aren't kept, eliminated from the platform inwards."""
    Phi = np.eye(6)
    for p in allowed.T:
        Phi, _, _ = _freed(Phi, p, metric)
    own: list[list[int]] = []
    rates: list[np.ndarray] = []
    for i in reversed(chain):
        P, A = links[i].P, _to(links, e, i)
        stay = [c for c, k in enumerate(links[i].speeds) if columns[k] in kept]
        rows: list[tuple[int, np.ndarray]] = []
        for c in reversed([c for c in range(P.shape[1]) if c not in stay]):
            Phi, dual, delta = _freed(Phi, A @ P[:, c], metric)
            rows.append((c, dual / delta if delta else np.zeros(6)))  # θ̇ = p̃ᵀ (t_e − …) / δ (eq. 27a)
        L = np.zeros((P.shape[1], 6))
        for c, given in reversed(rows):  # inner columns of the same joint first
            L[c] = given - given @ A @ P[:, :c] @ L[:c]
        own.insert(0, stay)
        rates.insert(0, L)
    return Eliminated(chain, own, rates, Phi)


def _freed(Phi: np.ndarray, p: np.ndarray, metric: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(Φ, p̃ᵀ, δ) after one more direction is removed; δ is 0 if it had been removed before."""
    rest, dual, delta = left(Phi, p, metric)
    if delta <= TINY**2 * float(p @ metric @ p):
        return Phi, dual, 0.0
    return without(Phi, rest, dual, delta), dual, float(delta)  # eq. 27b


def _to(links: list[MovingLink], i: int, j: int) -> np.ndarray:
    """A_ij: the twist of link j → that of link i if the two were rigidly connected."""
    return propagation(links[j].centre - links[i].centre)
