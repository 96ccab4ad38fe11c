"""The DeNOC matrices in explicit form, to be looked at and to check the recursion.

Only the joints' placements are shared with the sweeps: everything else is built from frames and geometry in base-frame
axes, with twists at the mass centres, as in Saha (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot.model import Body, Robot
from .offered import offered
from .quantities import bias
from .samples import Samples, computes
from .vanishing import examine


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
    """N_l, N_d, M, I, C, h, U, D, I_inverse, M_tilde, M_hat of one state, base axes; `order` names the moving links.

    Rows and columns have the file's order if parents come first there, otherwise that of `order`.  Rotor inertias are
    in I, U and D.
    """
    s = Samples(robot, q=q, **({} if qd is None else {"qd": qd})).finite()
    s.arrays.setdefault("qd", np.zeros(robot.nv))
    if s.count is not None:
        raise InputError("the matrices are made for one state at a time", found=f"{s.count} samples")
    links, columns = moving_links(robot, s)
    rotors = np.zeros(robot.nv)
    for joint in robot.moving:
        rotors[list(joint.speeds)] = [drive.rotor for drive in joint.drives]
    rotors = rotors[columns]

    # t = N_l N_d θ̇ (eq. 16), Ṅ = Ṅ_l N_d + N_l Ṅ_d, M, and the ω × I of Euler's equations (eq. 6a)
    chain = Chain(links, robot.nv)
    masses, turning = np.array([link.M for link in links]).reshape(-1, 6, 6), np.zeros((len(links), 6, 6))
    turning[:, :3, :3] = cross_matrices(np.array([link.w for link in links]).reshape(-1, 3)) @ masses[:, :3, :3]
    N_l, N_l_rate = assembled(chain.B), assembled(chain.B_rate)
    N_d, N_d_rate = chain.block_columns(chain.P), chain.block_columns(chain.P_rate)
    N = N_l @ N_d
    N_rate = N_l_rate @ N_d + N_l @ N_d_rate
    M = block_diagonal(masses)
    C = N.T @ (M @ N_rate + block_diagonal(turning) @ N)  # overview, eq. 16a; İ − 2 C is skew

    M_tilde = composite_masses(chain)
    U, D, M_hat = elimination(chain, rotors)
    if not np.isfinite(U).all():
        examine(robot, s.arrays["q"].tolist(), (False,) * robot.nv)
    return {
        "N_l": N_l,
        "N_d": N_d,
        "M": M,
        "I": generalized_inertia(chain, M_tilde, rotors),
        "C": C,
        "h": bias(robot, s.arrays["q"], s.arrays["qd"])[columns],
        "U": U,
        "D": D,
        "I_inverse": inverse_of(U, D),
        "M_tilde": M_tilde,
        "M_hat": M_hat,
        "order": tuple(link.name for link in links),
    }


class Chain:
    """The moving links with the blocks of their matrices, all links and columns at once.

    `B[i, j]` is B_ij where link j is on the way from link i to the base, else 0; `P` has a row for each column of the
    matrices, and `carried[k, j]` is B_ij p_j for column k of link i and column j of link j.
    """

    def __init__(self, links: list[MovingLink], nv: int):
        self.links, n = links, len(links)
        on_path = np.zeros((n, n), dtype=bool)
        for i, link in enumerate(links):
            on_path[i, i] = True
            if link.parent is not None:
                on_path[i] |= on_path[link.parent]
        centres, v = (np.array([getattr(link, x) for link in links]).reshape(-1, 3) for x in ("centre", "v"))
        self.B, self.B_rate = np.zeros((n, n, 6, 6)), np.zeros((n, n, 6, 6))
        for blocks, at in ((self.B, centres), (self.B_rate, v)):
            blocks[..., 3:, :3] = cross_matrices(at[None] - at[:, None])
        self.B[..., range(6), range(6)] = 1.0
        for blocks in (self.B, self.B_rate):
            blocks[~on_path] = 0.0
        self.P, self.P_rate, of = np.zeros((nv, 6)), np.zeros((nv, 6)), np.zeros(nv, dtype=int)
        for i, link in enumerate(links):
            self.P[link.speeds], self.P_rate[link.speeds], of[link.speeds] = link.P.T, link.P_rate.T, i
        self.of, self.above = of, on_path[of][:, of]
        self.carried = (self.B[:, of] @ self.P[:, :, None])[of, ..., 0]

    def to_parent(self, i: int, M: np.ndarray) -> np.ndarray:
        """A mass matrix of link i at its parent: Bᵀ M B."""
        B = self.B[i, self.links[i].parent]
        result: np.ndarray = B.T @ M @ B
        return result

    def block_columns(self, P: np.ndarray) -> np.ndarray:
        """The matrix that has the columns P in the rows of their links."""
        result = np.zeros((6 * len(self.links), len(P)))
        result[6 * self.of[:, None] + np.arange(6), np.arange(len(P))[:, None]] = P
        return result


def assembled(blocks: np.ndarray) -> np.ndarray:
    """The matrix of these blocks, (rows, columns, 6, 6)."""
    return blocks.transpose(0, 2, 1, 3).reshape(6 * len(blocks), -1)


def block_diagonal(blocks: np.ndarray) -> np.ndarray:
    """The matrix with these blocks on its diagonal."""
    n = len(blocks)
    result = np.zeros((n, 6, n, 6))
    result[np.arange(n), :, np.arange(n)] = blocks
    return result.reshape(6 * n, 6 * n)


# ---- the recursive expressions of the paper


def composite_masses(chain: Chain) -> np.ndarray:
    """Mass matrices M̃_i of each link together with all links that hang on it (eq. 23b)."""
    M_tilde = np.array([link.M for link in chain.links]).reshape(-1, 6, 6)
    for i, link in reversed(list(enumerate(chain.links))):
        if link.parent is not None:
            M_tilde[link.parent] += chain.to_parent(i, M_tilde[i])
    return M_tilde


def generalized_inertia(chain: Chain, M_tilde: np.ndarray, rotors: np.ndarray) -> np.ndarray:
    """The generalized inertia matrix, i_ij = p_iᵀ M̃_i B_ij p_j (eq. 24), with rotor inertias on the diagonal."""
    moved = M_tilde[chain.of] @ chain.P[:, :, None]
    half = (chain.carried @ moved)[..., 0]
    I: np.ndarray = np.where(chain.above, half, half.T)
    I[np.diag_indices(len(I))] += rotors
    return I


def elimination(chain: Chain, rotors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, D and M̂ of the reverse Gaussian elimination I = U D Uᵀ (appendix B), column by column."""
    nv = len(rotors)
    U, D = np.zeros((nv, nv)), np.zeros(nv)
    M_bar = np.array([link.M for link in chain.links]).reshape(-1, 6, 6)
    M_hat = M_bar.copy()
    for i, link in reversed(list(enumerate(chain.links))):
        M_hat[i] = M_bar[i]  # the children's terms have been added by now
        for c in reversed(range(len(link.speeds))):
            k = link.speeds[c]
            psi_hat = M_bar[i] @ chain.P[k]  # eq. 47
            D[k] = chain.P[k] @ psi_hat + rotors[k]
            psi = psi_hat / D[k]  # eq. 48
            U[:, k] = chain.carried[k] @ psi  # 0 for what isn't above
            U[link.speeds[c:], k] = 0.0
            U[k, k] = 1.0
            M_bar[i] -= np.outer(psi, psi_hat)
        if link.parent is not None:
            M_bar[link.parent] += chain.to_parent(i, M_bar[i])
    return U, D, M_hat


def inverse_of(U: np.ndarray, D: np.ndarray) -> np.ndarray:
    """The inverse of the GIM, U⁻ᵀ D⁻¹ U⁻¹, with the columns of U⁻¹ solved for one after the other."""
    inverse_U = np.eye(len(D))
    for k in range(len(D)):  # U⁻¹ U = 1, column k: what is left of it beside the columns before
        inverse_U[:k, k] = -inverse_U[:k, :k] @ U[:k, k]
    result: np.ndarray = inverse_U.T @ (inverse_U / D[:, None])
    return result


# ---- geometry


def propagation(c: np.ndarray) -> np.ndarray:
    """The matrix B_ij = [1, 0; c_ij × 1, 1] with c_ij from C_i to C_j (eq. 13)."""
    B = _IDENTITY.copy()
    B[3:, :3] = cross_matrices(c)
    return B


_IDENTITY = np.eye(6)


def cross_matrices(v: np.ndarray) -> np.ndarray:
    """The matrices of the products v ×, for vectors (…, 3)."""
    result = np.zeros((*v.shape, 3))
    for r, k, axis in ((1, 0, 2), (2, 1, 0), (0, 2, 1)):
        result[..., r, k] = v[..., axis]
        result[..., k, r] = -v[..., axis]
    return result


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products a × b of vectors (…, 3); NumPy's own takes ten times as long for a few."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    result = np.empty(np.broadcast_shapes(a.shape, b.shape))
    result[..., 0], result[..., 1], result[..., 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return result


def moving_links(robot: Robot, s: Samples) -> tuple[list[MovingLink], list[int]]:
    """The moving links, parents first, and the speed to which each column of the matrices belongs."""
    known: Layout | None = robot.derived.get(Layout)
    at = known if known is not None else robot.derived.setdefault(Layout, Layout(robot))
    if not at.names:
        return [], []
    frames = offered(robot, "placements")(s)
    assert isinstance(frames, np.ndarray)
    R, O = frames[..., :3], frames[..., 3]
    qd = s.arrays["qd"][at.columns]
    e = R[at.body, :, at.axis]
    w = at.path @ (at.turn * qd[:, None] * e)
    v = at.path[:, None] @ (at.rates(e, O[:, None] - O[at.body]) * qd[:, None])
    v = v[:, 0]
    C = (R @ at.centres[:, :, None])[..., 0] + O
    v_C = v + cross(w, C - O)
    I = R @ at.inertias @ R.transpose(0, 2, 1)
    arm, e_rate = C[at.link] - O[at.body], cross(w[at.body], e)  # a direction is fixed in its own part
    P = np.concatenate([at.turn * e, at.rates(e, arm)], axis=1)
    swept = at.turn * cross(e, v_C[at.link] - v[at.body])
    P_rate = np.concatenate([at.turn * e_rate, at.rates(e_rate, arm) + swept], axis=1)
    M = at.masses.copy()
    M[:, :3, :3] = I
    links = [
        MovingLink(name, parent, own, C[i], M[i], w[i], v_C[i], P[own].T, P_rate[own].T)
        for i, name, parent, own in at.names
    ]
    return links, list(at.columns)


class Layout:
    """Of one robot's matrices all that doesn't change with its state; arrays have an element for each column or body.

    A column belongs to a direction of a body, and with it to the link whose joint that body is a part of.
    """

    def __init__(self, robot: Robot):
        bodies = robot.tree.bodies
        of_body = {robot.tree.seats[link.name][0]: link for link in robot.links if link.joint.type.nv}
        self.names: list[tuple[int, str, int | None, list[int]]] = []  # of each link its body, name, parent, columns
        self.columns: list[int] = []
        directions: list[tuple[int, int, int]] = []  # body, direction, the link's body
        place: dict[int, int] = {}
        for last in sorted(i for i in of_body if i is not None):
            chain = [last]  # with the massless parts of the joint before it
            while (up := bodies[chain[0]].parent) is not None and up not in of_body:
                chain.insert(0, up)
            above = bodies[chain[0]].parent
            own = [(i, d, last) for i in chain for d in bodies[i].directions]
            places = list(range(len(directions), len(directions) + len(own)))
            place[last] = len(self.names)
            self.names.append((last, of_body[last].name, None if above is None else place[above], places))
            self.columns += of_body[last].joint.speeds
            directions += own
        table = np.array(directions, dtype=int).reshape(-1, 3)
        self.body, self.link, self.axis = table[:, 0], table[:, 2], table[:, 1] % 3
        self.turn = (table[:, 1] < 3).astype(float)[:, None]
        self.slide = np.array([bodies[i].pitch if d < 3 else 1.0 for i, d, _ in directions]).reshape(-1, 1)
        before = np.zeros((len(bodies), len(bodies)))
        for i, body in enumerate(bodies):
            before[i, i] = 1.0
            if body.parent is not None:
                before[i] += before[body.parent]
        self.path = before[:, self.body]
        self.masses = np.zeros((len(bodies), 6, 6))  # without moments of inertia, which turn
        self.masses[:, range(3, 6), range(3, 6)] = np.array([body.m for body in bodies])[:, None]
        self.centres = np.array([np.array(body.h) / body.m if body.m else np.zeros(3) for body in bodies])
        self.inertias = np.array([_about_centre(body, c) for body, c in zip(bodies, self.centres)])

    def rates(self, e: np.ndarray, arm: np.ndarray) -> np.ndarray:
        """Velocities of points by unit speeds in the directions e, at these arms from the joints' origins."""
        result: np.ndarray = self.turn * cross(e, arm) + self.slide * e
        return result


def _about_centre(body: Body, c: np.ndarray) -> np.ndarray:
    """The inertia matrix about the mass centre at c."""
    E = np.array(body.E)
    result: np.ndarray = np.trace(E) * np.eye(3) - E - body.m * (c @ c * np.eye(3) - np.outer(c, c))
    return result
