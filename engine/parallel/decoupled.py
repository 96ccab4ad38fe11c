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
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics.samples import Samples, dynamics_call_with_checked_results
from ..errors import InputError
from ..loops.constraints import loop_closure
from ..loops.partition import independent_speeds
from ..loops.rank import TINY
from ..robot.model import Robot
from .legs import Parallel, legs
from .moving_links import MovingLink, moving_links_of_parallel_robot, parallel_propagation_matrix
from .platform_geometry import PlatformGeometry
from .projector import leg_projector_left_part, leg_projector_without_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass
class Eliminated:
    """One leg after the elimination; lists have an element for each link of its chain."""

    chain: list[int]  # places among the moving links, from the base; the platform last if it hangs by its own joint
    kept: list[list[int]]  # of each link, its columns that stay
    rates: list[np.ndarray]  # of each link, θ̇ = L (t_e − …), a row for each column; 0 for kept ones
    Phi: np.ndarray


class Chains:
    """The moving links as legs that are eliminated, and the places of their blocks in the matrices."""

    def __init__(self, s: Samples, parts: Parallel, kept: list[int]):
        robot, loops = s.robot, loop_closure(s.robot)
        geometry = PlatformGeometry(s, parts)
        geometry.refuse_open()
        self.links, self.columns = moving_links_of_parallel_robot(robot, s)
        place = {robot.tree.seats[link.name][0]: i for i, link in enumerate(self.links)}
        self.kept, self.e = kept, place[parts.body]
        metric = np.diag([1.0] * 3 + [loops.length**-2] * 3)
        self.legs = []
        for number, leg in enumerate(parts.legs):
            allowed = (
                parallel_propagation_matrix(geometry.e[0] - self.links[self.e].centre) @ geometry.allowed(number)[0]
            )
            chain = sorted({place[i] for i in leg.bodies if i in place})
            self.legs.append(_eliminated(self.links, self.columns, chain, self.e, allowed, set(kept), metric))
        self.order = [i for leg in self.legs for i in leg.chain if i != self.e] + [self.e]
        self.row = {i: slice(6 * r, 6 * r + 6) for r, i in enumerate(self.order)}
        self.joints = [(leg, i, own) for leg in self.legs for i, own in zip(leg.chain, leg.kept) if own]
        self.K = sum(leg.Phi for leg in self.legs)


@dynamics_call_with_checked_results
def parallel_matrices(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, platform: str | None = None
) -> dict[str, Any]:
    """N_l, N_c, N_d with t = N_l N_c N_d θ̇_a, M, I = Nᵀ M N, J, J_e and K of one state, base-frame axes.

    θ̇_a are the actuated speeds (with more actuators than freedoms, independent ones), named by `independent`; J gives
    all speeds of the spanning tree from them, J_e the platform's twist, K is the sum of the legs' projections.  Twists
    are in `order`, leg by leg, the platform last; rotor inertias are in I.  With `qd`, t is there too.
    """
    s = (Samples(robot, q=q) if qd is None else Samples(robot, q=q, qd=qd)).finite()
    if s.count is not None:
        raise InputError("the matrices are made for one state at a time", found=f"{s.count} samples")
    s.arrays.setdefault("qd", np.zeros(robot.nv))
    loops = loop_closure(robot)
    kept = independent_speeds(loops, loops.jacobian(s.arrays["q"])[0])
    chains = Chains(s, legs(robot, platform), kept)
    N_c, N_d = _platform_complement(chains)
    J_e = N_c[chains.row[chains.e]] @ N_d
    N_l = _leg_complement(chains, N_c)
    N = N_l @ N_c @ N_d
    J = _tree_jacobian(chains, N)
    M = np.zeros((len(N), len(N)))
    for i, link in enumerate(chains.links):
        M[chains.row[i], chains.row[i]] = link.M
    matrices = {
        "N_l": N_l,
        "N_c": N_c,
        "N_d": N_d,
        "M": M,
        "I": N.T @ M @ N + (J.T * _rotors(robot)) @ J,
        "J": J,
        "J_e": J_e,
        "K": chains.K,
        "order": tuple(chains.links[i].name for i in chains.order),
        "independent": tuple(_speed_names(robot)[k] for k in kept),
    }
    if qd is not None:
        matrices["t"] = N @ s.arrays["qd"][kept]
    return matrices


def _platform_complement(chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    """N_d, and N_c with the rows of the platform and of kept joints: t_e = K⁻¹ Σ Φ A_ek p_k θ̇_k (eq. 29)."""
    links, row, e, joints = chains.links, chains.row, chains.e, chains.joints
    N_c, N_d = np.zeros((6 * len(links), 6 * len(joints))), np.zeros((6 * len(joints), len(chains.kept)))
    for c, (leg, i, own) in enumerate(joints):
        block = slice(6 * c, 6 * c + 6)
        N_d[block, [chains.kept.index(chains.columns[links[i].speeds[k]]) for k in own]] = links[i].P[:, own]
        N_c[row[e], block] = np.linalg.solve(chains.K, leg.Phi @ _to(links, e, i))  # S = K⁻¹ Φ A_ek
        if i != e:
            N_c[row[i], block] = np.eye(6)
    return N_c, N_d


def _leg_complement(chains: Chains, N_c: np.ndarray) -> np.ndarray:
    """N_l; and in N_c, the terms of the rates that were eliminated are added to the rows of the legs' links."""
    links, row, e = chains.links, chains.row, chains.e
    N_l = np.eye(6 * len(links))
    for leg in chains.legs:
        for depth, i in enumerate(leg.chain):
            if i == e:
                continue
            P, L = links[i].P, leg.rates[depth]
            # eliminated rates follow from t_e less the terms of the leg's kept joints from here on
            for c, (other, k, _) in enumerate(chains.joints):
                block = slice(6 * c, 6 * c + 6)
                beyond = other is leg and leg.chain.index(k) >= depth
                N_c[row[i], block] += P @ L @ (N_c[row[e], block] - (_to(links, e, k) if beyond else 0.0))
            if depth:
                before = leg.chain[:depth]
                step = (np.eye(6) - P @ L @ _to(links, e, i)) @ _to(links, i, before[-1])  # Ψ A (eq. 31)
                for j in before:
                    N_l[row[i], row[j]] = step @ N_l[row[before[-1]], row[j]]
    return N_l


def _tree_jacobian(chains: Chains, N: np.ndarray) -> np.ndarray:
    """J: speeds of kept joints → all speeds of the tree, from each link's twist relative to the link before it."""
    links, row = chains.links, chains.row
    J = np.zeros((len(chains.columns), len(chains.kept)))
    for leg in chains.legs:
        for depth, i in enumerate(leg.chain):
            above = N[row[leg.chain[depth - 1]]] if depth else np.zeros((6, len(chains.kept)))
            relative = N[row[i]] - (_to(links, i, leg.chain[depth - 1]) @ above if depth else 0.0)
            J[[chains.columns[k] for k in links[i].speeds]] = np.linalg.lstsq(links[i].P, relative, rcond=None)[0]
    return J


def _rotors(robot: Robot) -> np.ndarray:
    """Rotor inertias, one for each speed."""
    rotors = np.zeros(robot.nv)
    for joint in robot.moving:
        rotors[list(joint.speeds)] = [drive.rotor for drive in joint.drives]
    return rotors


def _speed_names(robot: Robot) -> dict[int, str]:
    """Names of all speeds: the joint's, with a suffix where it has several."""
    return {
        k: f"{joint.name}.{suffix}" if joint.type.nv > 1 else joint.name
        for joint in robot.moving
        for k, suffix in zip(joint.speeds, joint.type.speeds)
    }


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
    rest, dual, delta = leg_projector_left_part(Phi, p, metric)
    if delta <= TINY**2 * float(p @ metric @ p):
        return Phi, dual, 0.0
    return leg_projector_without_direction(Phi, rest, dual, delta), dual, float(delta)  # eq. 27b


def _to(links: list[MovingLink], i: int, j: int) -> np.ndarray:
    """A_ij: the twist of link j → that of link i if the two were rigidly connected."""
    return parallel_propagation_matrix(links[j].centre - links[i].centre)
