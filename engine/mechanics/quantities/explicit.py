"""The DeNOC matrices in explicit form, to be looked at and to check the recursion, as text on scalars.

What isn't an entry of the text is 0 or 1 in all states.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...machine.program import Part, Scalar, kernel_parts_in_order
from ...robot import Robot
from ..tree.moving import Layout, Moving, layout_of_moving_bodies
from ..tree.spatial import Matrix, Vector, add, cross, dot, scale, subtract, transpose
from .entries import Entries

Twist = tuple[Vector, Vector]
MOST_LINKS = 500  # whose matrices take some 0.8 GB


class Eliminated(Entries):
    """The entries of all matrices, with those of the factors at hand."""

    def __init__(self) -> None:
        super().__init__()
        self.U: dict[tuple[int, int], Scalar] = {}  # entries above the diagonal
        self.D: dict[int, Scalar] = {}


def explicit_matrix_entries(
    robot: Robot, at: Layout, q: list[Scalar], qd: list[Scalar], h: list[Scalar], rotors: Vector
) -> Eliminated:
    """All entries that depend on the state."""
    if len(at.links) > MOST_LINKS:
        raise InputError(
            f"{robot.name} has too many links for its explicit matrices, whose entries grow with the square of these",
            found=f"{len(at.links)} that move",
            allowed=f"up to {MOST_LINKS}",
            hint="`denoc.inertia` and `denoc.bias` give the equations of motion of longer chains",
        )
    found, moving = Eliminated(), Moving(robot, at, q, qd)
    columns, own = at.speeds, [rotors[k] for k in at.speeds]
    for i in range(len(at.links)):
        found.block("M", 6 * i, 6 * i, moving.mass_matrix(i))
        for j in at.way(i)[:-1]:  # B_ij = [1, 0; c_ij × 1, 1] with c_ij from C_i to C_j (eq. 13)
            found.block("N_l", 6 * i + 3, 6 * j, _skew(subtract(moving.centres[j], moving.centres[i])))
    for k, (turn, shift) in enumerate(moving.P):
        found.block("N_d", 6 * at.of[k], k, [[x] for x in (*turn, *shift)])
        found.put("h", 0, k, h[columns[k]])
    carried = Carried(moving)
    _inertia(found, moving, carried, own)
    _coriolis(found, moving, carried)
    _elimination(found, moving, carried, own)
    _inverse(found, [[j for j in carried.columns[at.of[k]] if j < k] for k in range(len(columns))])
    return found


class Carried:
    """The twists B_ij p_j of links by their own columns and those before, and the rates of these twists."""

    def __init__(self, moving: Moving):
        at = moving.at
        self.columns = [[k for j in at.way(i) for k in at.links[j].columns] for i in range(len(at.links))]
        self.twists: list[dict[int, Twist]] = []
        self.rates: list[dict[int, Twist]] = []
        for i, columns in enumerate(self.columns):
            self.twists.append({})
            self.rates.append({})
            for k in columns:
                (turn, shift), (turn_rate, shift_rate), j = moving.P[k], moving.P_rate[k], at.of[k]
                if j != i:
                    c, rate = (subtract(x[j], x[i]) for x in (moving.centres, moving.v))
                    shift = add(shift, cross(c, turn))
                    shift_rate = add(add(shift_rate, cross(c, turn_rate)), cross(rate, turn))
                self.twists[i][k], self.rates[i][k] = (turn, shift), (turn_rate, shift_rate)


def _inertia(found: Entries, moving: Moving, carried: Carried, rotors: Vector) -> None:
    """M̃_i of each link with all links that hang on it (eq. 23b), and i_ij = p_iᵀ M̃_i B_ij p_j (eq. 24)."""
    at = moving.at
    M = [moving.mass_matrix(i) for i in range(len(at.links))]
    for i, link in reversed(list(enumerate(at.links))):
        found.block("M_tilde", 6 * i, 0, M[i])
        if link.parent is not None:
            c = subtract(moving.centres[link.parent], moving.centres[i])
            M[link.parent] = [add(x, y) for x, y in zip(M[link.parent], mass_matrix_at_parent(M[i], c))]
    for i, link in enumerate(at.links):
        for k in link.columns:
            W = _product(M[i], moving.P[k])
            for j in carried.columns[i]:
                if at.of[j] == i and j > k:
                    continue  # the other half of a symmetric block
                x = _power(carried.twists[i][j], W)
                x = x + rotors[k] if j == k else x
                found.put("I", k, j, x)
                if j != k:
                    found.put("I", j, k, x)


def _coriolis(found: Entries, moving: Moving, carried: Carried) -> None:
    """C = Nᵀ (M Ṅ + Ω M N) (overview, eq. 16a); İ − 2 C is skew."""
    at = moving.at
    wrenches: list[dict[int, Twist]] = []  # of each link, its columns' terms in brackets, with those of links beyond
    for i in range(len(at.links)):
        wrenches.append({})
        for k in carried.columns[i]:
            turn, (turn_rate, shift_rate) = carried.twists[i][k][0], carried.rates[i][k]
            J, w = moving.inertias[i], moving.w[i]
            n = [dot(row, turn_rate) for row in J]
            wrenches[i][k] = add(n, cross(w, [dot(row, turn) for row in J])), scale(moving.masses[i], shift_rate)
    for i, link in reversed(list(enumerate(at.links))):
        for k, W in wrenches[i].items():
            for j in link.columns:
                found.put("C", j, k, _power(moving.P[j], W))
        if link.parent is not None:
            c = subtract(moving.centres[link.parent], moving.centres[i])
            for k, (n, f) in wrenches[i].items():
                n = subtract(n, cross(c, f))  # Bᵀ
                above = wrenches[link.parent].get(k)
                wrenches[link.parent][k] = (n, f) if above is None else (add(above[0], n), add(above[1], f))


def _elimination(found: Eliminated, moving: Moving, carried: Carried, rotors: Vector) -> None:
    """U, D and M̂ of the reverse Gaussian elimination I = U D Uᵀ (appendix B), column by column."""
    at = moving.at
    M = [moving.mass_matrix(i) for i in range(len(at.links))]
    for i, link in reversed(list(enumerate(at.links))):
        found.block("M_hat", 6 * i, 0, M[i])  # the children's terms have been added by now
        for k in reversed(link.columns):
            turn, shift = _product(M[i], moving.P[k])  # ψ̂ (eq. 47)
            psi_hat = [*turn, *shift]
            size = _power(moving.P[k], (turn, shift)) + rotors[k]
            one_over = 1.0 / size
            psi = scale(one_over, psi_hat)  # eq. 48
            found.put("D", 0, k, size)
            found.D[k] = size
            for j in carried.columns[i]:
                if at.of[j] != i or j < k:
                    found.U[j, k] = _power(carried.twists[i][j], (psi[:3], psi[3:]))
                    found.put("U", j, k, found.U[j, k])
            M[i] = [[x - psi[r] * psi_hat[s] for s, x in enumerate(row)] for r, row in enumerate(M[i])]
        if link.parent is not None:
            c = subtract(moving.centres[link.parent], moving.centres[i])
            M[link.parent] = [add(x, y) for x, y in zip(M[link.parent], mass_matrix_at_parent(M[i], c))]


def _inverse(found: Eliminated, before: list[list[int]]) -> None:
    """The inverse of the GIM, U⁻ᵀ D⁻¹ U⁻¹, with the columns of U⁻¹ found one after the other.

    `before` are for each column those on the way to the base.
    """
    columns: list[dict[int, Scalar]] = []  # of U⁻¹
    for k, above in enumerate(before):
        column: dict[int, Scalar] = {k: 1.0}
        for j in above:  # U⁻¹ U = 1, column k: what is left of it beside the columns before
            for r, x in columns[j].items():
                column[r] = column.get(r, 0.0) - x * found.U[j, k]
        columns.append(column)
        for j in range(k + 1):
            shared = [r for r in columns[j] if r in column]
            if shared:
                x = sum((columns[j][r] * column[r] / found.D[r] for r in shared), 0.0)
                found.put("I_inverse", j, k, x)
                if j != k:
                    found.put("I_inverse", k, j, x)


def mass_matrix_at_parent(M: Matrix, c: Vector) -> Matrix:
    """A mass matrix at the parent's mass centre, which is at c from the link's own: Bᵀ M B, B = [1, 0; c × 1, 1]."""
    right = [[*add(row[:3], cross(row[3:], c)), *row[3:]] for row in M]  # M B
    columns = transpose(right)
    return transpose([[*subtract(column[:3], cross(c, column[3:])), *column[3:]] for column in columns])


def _skew(c: Vector) -> Matrix:
    return [[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]]


def _product(M: Matrix, twist: Twist) -> Twist:
    whole = [*twist[0], *twist[1]]
    return [dot(row, whole) for row in M[:3]], [dot(row, whole) for row in M[3:]]


def _power(twist: Twist, wrench: Twist) -> Scalar:
    return dot(twist[0], wrench[0]) + dot(twist[1], wrench[1])


# ---- the matrices


def explicit_matrix_parts(at: Layout) -> tuple[Part, ...]:
    """The matrices, which lie one behind the other row by row, and the names of the links in their order."""
    nv, n = len(at.speeds), len(at.links)
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("N_l", (6 * n, 6 * n)),
        ("N_d", (6 * n, nv)),
        ("M", (6 * n, 6 * n)),
        ("I", (nv, nv)),
        ("C", (nv, nv)),
        ("h", (nv,)),
        ("U", (nv, nv)),
        ("D", (nv,)),
        ("I_inverse", (nv, nv)),
        ("M_tilde", (n, 6, 6)),
        ("M_hat", (n, 6, 6)),
    ]
    return *kernel_parts_in_order(shapes), Part("order", 0, thing=tuple(link.name for link in at.links))


def explicit_matrices(
    robot: Robot, at: Layout, q: list[Scalar], qd: list[Scalar], h: list[Scalar], rotors: Vector
) -> list[Scalar]:
    """All numbers of these parts; `h` are the forces without accelerations, `rotors` the inertias of the rotors."""
    found = explicit_matrix_entries(robot, at, q, qd, h, rotors)
    for k in range(len(at.speeds)):
        found.put("U", k, k, 1.0)
    for i in range(len(at.links)):
        for j in at.way(i):
            for r in range(6):
                found.put("N_l", 6 * i + r, 6 * j + r, 1.0)
    return found.numbers(explicit_matrix_parts(at))


def propagation_of_parameter_rates(robot: Robot, q: np.ndarray, N_d: np.ndarray) -> np.ndarray:
    """N_d with the rates ė of three Euler parameters, instead of ω, for joints that have them (Hanzaki 2009, eq. 17).

    As ė_0 = −eᵀ ė / e_0, the angular velocity in link axes is 2 [(e_0 1 − ẽ) + e eᵀ / e_0] ė, Hanzaki's G* ė turned
    into them. Where e_0 is 0 the rates ė don't tell ė_0, and these columns are infinite or no numbers.
    """
    at, P = layout_of_moving_bodies(robot), N_d.copy()
    for joint in robot.moving:
        if joint.type.orientation is None:
            continue
        first = joint.coordinates[joint.type.orientation]
        e = q[..., first : first + 4] / np.linalg.norm(q[..., first : first + 4], axis=-1, keepdims=True)
        e0, (x, y, z) = e[..., 0, None, None], np.moveaxis(e[..., 1:], -1, 0)
        none = np.zeros_like(x)
        across = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(*x.shape, 3, 3)
        with np.errstate(all="ignore"):
            to_turn = 2 * (e0 * np.eye(3) - across + e[..., 1:, None] * e[..., None, 1:] / e0)
            own = enumerate(zip(at.speeds, at.directions))
            turning = [k for k, (speed, (_, direction)) in own if speed in joint.speeds and direction < 3]
            P[..., turning] = N_d[..., turning] @ to_turn
    return P
