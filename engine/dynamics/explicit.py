"""The DeNOC matrices in explicit form, to be looked at and to check the recursion, as text on scalars.

The text computes those entries that depend on the state; `Arrangement` has their places, and all others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..machine.jit.result_parts import Part, kernel_parts_divided, kernel_parts_in_order
from ..machine.program.scalars import Scalar
from ..robot.model import Robot
from .moving import Layout, Moving, layout_of_moving_bodies
from .spatial import Matrix, Vector, add, cross, dot, scale, subtract, transpose

Twist = tuple[Vector, Vector]
Place = tuple[str, int, int]  # of an entry: matrix, row, column


class Entries:
    """The entries of all matrices in one state, in the order in which they are put."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.values: list[Scalar] = []
        self.U: dict[tuple[int, int], Scalar] = {}  # entries above the diagonal
        self.D: dict[int, Scalar] = {}

    def put(self, name: str, row: int, column: int, value: Scalar) -> None:
        self.places.append((name, row, column))
        self.values.append(value)

    def block(self, name: str, row: int, column: int, values: Matrix) -> None:
        """Puts a block whose first entry is at this place."""
        for r, line in enumerate(values):
            for c, x in enumerate(line):
                self.put(name, row + r, column + c, x)


def explicit_matrix_entries(
    robot: Robot, at: Layout, q: list[Scalar], qd: list[Scalar], h: list[Scalar], rotors: Vector
) -> Entries:
    """All entries; `h` are the forces without accelerations, `rotors` the rotor inertias, one for each speed."""
    found, moving = Entries(), Moving(robot, at, q, qd)
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


def _elimination(found: Entries, moving: Moving, carried: Carried, rotors: Vector) -> None:
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


def _inverse(found: Entries, before: list[list[int]]) -> None:
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


class Arrangement:
    """The places of all entries among the numbers of the matrices, which lie one behind the other."""

    def __init__(self, robot: Robot):
        self.layout = layout_of_moving_bodies(robot)
        nv, n = robot.nv, len(self.layout.links)
        shapes: dict[str, tuple[int, ...]] = {
            "N_l": (6 * n, 6 * n),
            "N_d": (6 * n, nv),
            "M": (6 * n, 6 * n),
            "I": (nv, nv),
            "C": (nv, nv),
        }
        shapes |= {
            "h": (nv,),
            "U": (nv, nv),
            "D": (nv,),
            "I_inverse": (nv, nv),
            "M_tilde": (n, 6, 6),
            "M_hat": (n, 6, 6),
        }
        self.parts: tuple[Part, ...] = kernel_parts_in_order(list(shapes.items()))
        first = {part.name: part.first for part in self.parts}
        width = {name: shape[-1] for name, shape in shapes.items()}
        nothing: list[Scalar] = [0.0] * nv
        still = [1.0] * nv  # so that no pivot is 0; only the places matter
        q: list[Scalar] = list(robot.q0)
        places = explicit_matrix_entries(robot, self.layout, q, nothing, nothing, list(still)).places
        self.index = np.array([first[name] + row * width[name] + column for name, row, column in places], dtype=int)
        self.fixed = np.zeros(sum(math.prod(shape) for shape in shapes.values()))
        for name, size in (("U", nv), ("N_l", 6 * n)):
            self.fixed[first[name] + np.arange(size) * (size + 1)] = 1.0
        for i in range(n):
            for j in self.layout.way(i):
                rows = np.arange(6)
                self.fixed[first["N_l"] + (6 * i + rows) * 6 * n + 6 * j + rows] = 1.0
        self.order = tuple(link.name for link in self.layout.links)

    def matrices(self, values: np.ndarray) -> dict[str, Any]:
        """The matrices of one sample or of many, from their entries along the last axis."""
        whole = np.empty((*values.shape[:-1], len(self.fixed)))
        whole[...] = self.fixed
        whole[..., self.index] = values
        by_name = kernel_parts_divided(whole, self.parts) if self.parts else {}
        assert isinstance(by_name, dict)
        return {**by_name, "order": self.order}


def arrangement_of_dynamics_matrices(robot: Robot) -> Arrangement:
    """The robot's arrangement, which is made once."""
    return robot.made_once(Arrangement, lambda: Arrangement(robot))
