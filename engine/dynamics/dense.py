"""The generalized inertia matrix by composite bodies and its dense factors, on scalars.

`I = U D Uᵀ` of a full matrix is the O(n³) way to forward dynamics with which the papers compare the recursion; the
matrix itself is the result of `denoc.inertia`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..machine.program.scalars import Scalar
from ..robot.model import Body
from .spatial import Matrix, Vector, add, add_matrices, cross, outof, scale, turn_symmetric
from .sweeps import joint_twist, placement, shear_wrench, wrench_at_parent


class Composite:
    """A body together with all bodies that hang on it: E, h, m, and its placement in the parent."""

    def __init__(self, body: Body, q: Sequence[Scalar]):
        self.rotation, self.origin = placement(body, q)
        self.E: Matrix = [list(row) for row in body.E]
        self.h: Vector = list(body.h)
        self.m: Scalar = body.m


def inertia_matrix(bodies: Sequence[Body], q: Sequence[Scalar], nv: int) -> Matrix:
    """The GIM, i_ij = p_iᵀ B_jiᵀ M̃_j p_j (Saha 1999, eqs. 23b and 24), rotor inertias on the diagonal."""
    composites = [Composite(body, q) for body in bodies]
    for i, body in reversed(list(enumerate(bodies))):
        if body.parent is not None:
            _add_to_parent(composites[body.parent], composites[i])
    I: Matrix = [[0.0] * nv for _ in range(nv)]
    for i, body in enumerate(bodies):
        for d, k, drive in zip(body.directions, body.speeds, body.drives):
            unit: list[Scalar] = [0.0] * nv
            unit[k] = 1.0
            W = _momentum(composites[i], *joint_twist(body, unit))
            at: int | None = i
            while at is not None:
                above = bodies[at]
                for e, j in zip(above.directions, above.speeds):
                    if at == i and above.directions.index(e) > body.directions.index(d):
                        continue  # the other half of a symmetric block
                    I[j][k] = I[k][j] = shear_wrench(W, e, above.pitch)[e] if above.pitch else W[e]
                W = wrench_at_parent(composites[at], W) if above.parent is not None else W
                at = above.parent
            I[k][k] = I[k][k] + drive.rotor
    return I


def _add_to_parent(up: Composite, body: Composite) -> None:
    """Adds a body's M̃ to that of its parent (eq. 23b)."""
    p, E = body.origin, turn_symmetric(body.rotation, body.E)
    h = outof(body.rotation, body.h)
    moved = add(h, scale(body.m, p))  # h + m p
    sums = [[p[r] * h[k] + moved[r] * p[k] for k in range(3)] for r in range(3)]
    sums = [[sums[min(r, k)][max(r, k)] for k in range(3)] for r in range(3)]
    up.E = add_matrices(up.E, add_matrices(E, sums))
    up.h, up.m = add(up.h, moved), up.m + body.m


def _momentum(body: Composite, w: Vector, v: Vector) -> Vector:
    """The momentum M̃ t of a composite body with twist t: [J ω + h × v; m v − h × ω], J = tr(E) 1 − E."""
    E, h = body.E, body.h
    J = [[-E[p][k] for k in range(3)] for p in range(3)]
    J[0][0], J[1][1], J[2][2] = E[1][1] + E[2][2], E[0][0] + E[2][2], E[0][0] + E[1][1]
    n = [J[r][0] * w[0] + J[r][1] * w[1] + J[r][2] * w[2] for r in range(3)]
    return add(n, cross(h, v)) + add(scale(body.m, v), cross(w, h))


class Factors:
    """The factors U D Uᵀ of a full matrix by reverse Gaussian elimination (Saha 1999, appendix B).

    Rows are eliminated from the last to the first, which keeps the zeros between different branches of a tree.
    """

    def __init__(self, I: Matrix):
        n, I = len(I), [list(row) for row in I]
        self.one_over: Vector = [0.0] * n
        self._U: list[list[tuple[int, Scalar]]] = [[] for _ in range(n)]  # the nonzero elements of each column
        for j in reversed(range(n)):
            self.one_over[j] = 1.0 / I[j][j]
            column = [(i, I[i][j] * self.one_over[j]) for i in range(j) if not nothing(I[i][j])]
            for i, factor in column:
                for k, _ in column:
                    if k >= i:
                        I[i][k] = I[i][k] - factor * I[k][j]
            self._U[j] = column

    def inverse(self) -> Matrix:
        """The matrix I⁻¹, whose columns are solved for down to the diagonal only, because it is symmetric."""
        n = len(self._U)
        columns = [self.solve([float(r == k) for r in range(n)], k + 1) for k in range(n)]
        return [[columns[max(r, k)][min(r, k)] for k in range(n)] for r in range(n)]

    def solve(self, force: Sequence[Scalar], first: int | None = None) -> Vector:
        """The product I⁻¹ force, or only its first elements."""
        x = list(force)
        for j in reversed(range(len(x))):
            if not nothing(x[j]):
                for i, factor in self._U[j]:
                    x[i] = x[i] - factor * x[j]
        for j, column in enumerate(self._U[:first]):
            x[j] = x[j] * self.one_over[j]
            for i, factor in column:
                if not nothing(x[i]):
                    x[j] = x[j] - factor * x[i]
        return x


def inverse_inertia_matrix(bodies: Sequence[Body], q: Sequence[Scalar], nv: int) -> Matrix:
    """The inverse of the GIM, U⁻ᵀ D⁻¹ U⁻¹."""
    return Factors(inertia_matrix(bodies, q, nv)).inverse()


def solve(I: Matrix, force: Sequence[Scalar]) -> Vector:
    """The product I⁻¹ force, by the factors of I."""
    return Factors(I).solve(force)


def nothing(x: Scalar) -> bool:
    """Whether a scalar is zero in all states."""
    return isinstance(x, float | int) and x == 0.0
