"""The DeNOC matrices in explicit form, to be looked at and to check the recursion.

Only the joints' placements are shared with the sweeps: everything else is built from frames and geometry in base-frame
axes, with twists at the mass centres, as in Saha (1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot.model import Body, Robot
from .kinematics import body_frames
from .quantities import bias
from .samples import Samples, computes


@dataclass
class MovingLink:
    """A body with mass, including links that are fixed to it, with the columns p of its joint and their rates."""

    name: str
    parent: int | None
    speeds: list[int]  # places among the columns of all matrices
    centre: np.ndarray
    M: np.ndarray  # 6 × 6 about the mass centre
    w: np.ndarray
    v: np.ndarray  # of the mass centre
    P: np.ndarray  # 6 × speeds
    P_rate: np.ndarray


@computes
def matrices(robot: Robot, q: Any, qd: Any = None) -> dict[str, Any]:
    """N_l, N_d, M, I, C, h, U, D, M_tilde, M_hat of one state, base-frame axes; `order` names the moving links.

    Rows and columns have the file's order if parents come first there, otherwise that of `order`.  Rotor inertias are
    in I, U and D.
    """
    s = Samples(robot, q=q, **({} if qd is None else {"qd": qd})).finite()
    s.arrays.setdefault("qd", np.zeros(robot.nv))
    if s.count is not None:
        raise InputError("the matrices are made for one state at a time", found=f"{s.count} samples")
    links, columns = moving_links(robot, s)
    n, nv = len(links), robot.nv
    rotors = np.zeros(nv)
    for joint in robot.moving:
        rotors[list(joint.speeds)] = [drive.rotor for drive in joint.drives]
    rotors = rotors[columns]

    # t = N_l N_d θ̇ (eq. 16), Ṅ = Ṅ_l N_d + N_l Ṅ_d, M, and the ω × I of Newton's and Euler's equations (eq. 6)
    N_l, N_l_rate, M, turning = (np.zeros((6 * n, 6 * n)) for _ in range(4))
    N_d, N_d_rate = np.zeros((6 * n, nv)), np.zeros((6 * n, nv))
    for i, link in enumerate(links):
        six = slice(6 * i, 6 * i + 6)
        for j in _path(links, i):
            N_l[six, 6 * j : 6 * j + 6] = propagation(links[j].centre - link.centre)
            N_l_rate[six, 6 * j : 6 * j + 6] = propagation(links[j].v - link.v, identity=0.0)
        N_d[six, link.speeds], N_d_rate[six, link.speeds] = link.P, link.P_rate
        M[six, six] = link.M
        turning[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = cross_matrix(link.w) @ link.M[:3, :3]
    N = N_l @ N_d
    N_rate = N_l_rate @ N_d + N_l @ N_d_rate
    C = N.T @ (M @ N_rate + turning @ N)  # eq. 20; İ − 2 C is skew

    M_tilde = composite_masses(links)
    U, D, M_hat = elimination(links, rotors)
    return {
        "N_l": N_l,
        "N_d": N_d,
        "M": M,
        "I": generalized_inertia(links, M_tilde, rotors),
        "C": C,
        "h": bias(robot, s.arrays["q"], s.arrays["qd"])[columns],
        "U": U,
        "D": D,
        "M_tilde": M_tilde,
        "M_hat": M_hat,
        "order": tuple(link.name for link in links),
    }


# ---- the recursive expressions of the paper


def composite_masses(links: list[MovingLink]) -> np.ndarray:
    """Mass matrices M̃_i of each link together with all links that hang on it (eq. 23b)."""
    M_tilde = np.array([link.M for link in links]).reshape(-1, 6, 6)
    for i, parent, B in _inwards(links):
        M_tilde[parent] += B.T @ M_tilde[i] @ B
    return M_tilde


def generalized_inertia(links: list[MovingLink], M_tilde: np.ndarray, rotors: np.ndarray) -> np.ndarray:
    """The generalized inertia matrix, i_ij = p_iᵀ M̃_i B_ij p_j (eq. 24), with rotor inertias on the diagonal."""
    I = np.diag(rotors)
    for i, link in enumerate(links):
        moved = M_tilde[i] @ link.P
        I[np.ix_(link.speeds, link.speeds)] += link.P.T @ moved
        for j in _path(links, i)[1:]:
            block = links[j].P.T @ propagation(links[j].centre - link.centre).T @ moved
            I[np.ix_(links[j].speeds, link.speeds)], I[np.ix_(link.speeds, links[j].speeds)] = block, block.T
    return I


def elimination(links: list[MovingLink], rotors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, D and M̂ of the reverse Gaussian elimination I = U D Uᵀ (appendix B), column by column."""
    nv = len(rotors)
    U, D = np.eye(nv), np.zeros(nv)
    M_bar = np.array([link.M for link in links]).reshape(-1, 6, 6)
    M_hat = M_bar.copy()
    above = {i: (parent, B) for i, parent, B in _inwards(links)}
    for i in reversed(range(len(links))):
        link = links[i]
        M_hat[i] = M_bar[i]  # the children's terms have been added by now
        for c in reversed(range(len(link.speeds))):
            k, p = link.speeds[c], link.P[:, c]
            psi_hat = M_bar[i] @ p  # eq. 47
            D[k] = p @ psi_hat + rotors[k]
            psi = psi_hat / D[k]  # eq. 48
            U[link.speeds[:c], k] = link.P[:, :c].T @ psi
            for j in _path(links, i)[1:]:
                U[links[j].speeds, k] = links[j].P.T @ propagation(links[j].centre - link.centre).T @ psi
            M_bar[i] = M_bar[i] - np.outer(psi, psi_hat)
        if i in above:
            parent, B = above[i]
            M_bar[parent] += B.T @ M_bar[i] @ B
    return U, D, M_hat


# ---- geometry


def propagation(c: np.ndarray, identity: float = 1.0) -> np.ndarray:
    """The matrix B_ij = [1, 0; c_ij × 1, 1] with c_ij from C_i to C_j (eq. 13); its rate if `identity` is 0."""
    B = identity * np.eye(6)
    B[3:, :3] = cross_matrix(c)
    return B


def cross_matrix(v: np.ndarray) -> np.ndarray:
    """The matrix [v ×] with [v ×] x = v × x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _path(links: list[MovingLink], i: int | None) -> list[int]:
    """Places of the links on the way from link i to the base, link i first."""
    path = []
    while i is not None:
        path.append(i)
        i = links[i].parent
    return path


def _inwards(links: list[MovingLink]) -> Iterator[tuple[int, int, np.ndarray]]:
    """Triples (link, its parent, B of the two), from the tips to the base."""
    for i in reversed(range(len(links))):
        parent = links[i].parent
        if parent is not None:
            yield i, parent, propagation(links[parent].centre - links[i].centre)


def moving_links(robot: Robot, s: Samples) -> tuple[list[MovingLink], list[int]]:
    """The moving links, parents first, and the speed to which each column of the matrices belongs."""
    bodies, qd = robot.tree.bodies, s.arrays["qd"]
    frames = body_frames(bodies, s.arrays["q"].tolist())
    w, v = _twists(bodies, frames, qd)
    names = {robot.tree.seats[link.name][0]: link for link in robot.links if link.joint.type.nv}
    columns = [k for i in sorted(k for k in names if k is not None) for k in names[i].joint.speeds]
    place = {k: c for c, k in enumerate(columns)}
    index: dict[int, int] = {}
    links: list[MovingLink] = []
    for last, body in enumerate(bodies):
        if last not in names:
            continue  # a massless part of the joint of a later body
        chain = [last]
        while (up := bodies[chain[0]].parent) is not None and up not in names:
            chain.insert(0, up)
        R, O = frames[last][:3, :3], frames[last][:3, 3]
        E, h, m = np.array(body.E), np.array(body.h), body.m
        centre = h / m if m else np.zeros(3)
        J = np.trace(E) * np.eye(3) - E - m * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        C = R @ centre + O
        v_C = v[last] + np.cross(w[last], C - O)
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = R @ J @ R.T, m * np.eye(3)
        P, P_rate = _columns(bodies, frames, chain, w, v, C, v_C)
        above = bodies[chain[0]].parent
        index[last] = len(links)
        links.append(
            MovingLink(
                names[last].name,
                index[above] if above is not None else None,
                [place[k] for k in names[last].joint.speeds],
                C,
                M,
                w[last],
                v_C,
                P,
                P_rate,
            )
        )
    return links, columns


def _twists(
    bodies: Sequence[Body], frames: list[np.ndarray], qd: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Angular velocities and velocities of the origins of all bodies, in base-frame axes."""
    w: list[np.ndarray] = []
    v: list[np.ndarray] = []
    for i, body in enumerate(bodies):
        w_i, v_i = np.zeros(3), np.zeros(3)
        if body.parent is not None:
            w_i = w[body.parent]
            v_i = v[body.parent] + np.cross(w_i, frames[i][:3, 3] - frames[body.parent][:3, 3])
        for d, k in zip(body.directions, body.speeds):
            e = frames[i][:3, d % 3]
            w_i, v_i = (w_i + e * qd[k], v_i + body.pitch * e * qd[k]) if d < 3 else (w_i, v_i + e * qd[k])
        w.append(w_i)
        v.append(v_i)
    return w, v


def _columns(
    bodies: Sequence[Body],
    frames: list[np.ndarray],
    chain: list[int],
    w: list[np.ndarray],
    v: list[np.ndarray],
    C: np.ndarray,
    v_C: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The columns P of a joint at the mass centre C (eqs. 13 and 15), and their rates."""
    P, P_rate = [], []
    for i in chain:
        O = frames[i][:3, 3]
        for d in bodies[i].directions:
            e = frames[i][:3, d % 3]
            e_rate = np.cross(w[i], e)  # a direction is fixed in its own part
            if d < 3:
                pitch = bodies[i].pitch
                P.append([*e, *(np.cross(e, C - O) + pitch * e)])
                P_rate.append([*e_rate, *(np.cross(e_rate, C - O) + np.cross(e, v_C - v[i]) + pitch * e_rate)])
            else:
                P.append([0.0, 0.0, 0.0, *e])
                P_rate.append([0.0, 0.0, 0.0, *e_rate])
    return np.array(P).T.reshape(6, -1), np.array(P_rate).T.reshape(6, -1)
