"""The generalized inertia matrix by composite bodies and its dense factors, on scalars.

`I = U D Uᵀ` of a full matrix is the O(n³) way to forward dynamics with which the papers compare the recursion; the
matrix itself is the result of `denoc.inertia`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...machine.program import Scalar
from ...robot import ZERO, Body
from .one_body import mass_matrix, shear_wrench
from .spatial import Matrix, Rotation, Vector, add, add_matrices, cross, dot, scale, to_parent_axes, turn_symmetric
from .transfer import Placed, TransferSteps, inertia_at_parent, placement_of_body, wrench_at_parent


@dataclass
class AtParent:
    """The rotation and the origin of a body in its parent."""

    rotation: Rotation
    origin: Vector
    steps: TransferSteps | None = None


class Composite:
    """A body together with all bodies that hang on it: E, h, m, and its placement in the parent.

    `A` is the articulated inertia of what hangs on it without being rigid, where there is any.
    """

    def __init__(self, body: Body, placed: Placed, A: Matrix | None = None):
        self.rotation, self.origin, self.steps = placed.rotation, placed.origin, placed.steps
        self.E: Matrix = [list(row) for row in body.E]
        self.h: Vector = list(body.h)
        self.m: Scalar = body.m
        self.A = A

    @classmethod
    def nothing(cls, A: Matrix | None = None) -> Composite:
        """A composite body without mass, to which others are added."""
        return cls(Body(None, (), ZERO), AtParent((), [0.0] * 3), A)

    def add(self, other: Composite) -> None:
        """Adds the M̃ of a body that hangs on this one (eq. 23b)."""
        p, E = other.origin, turn_symmetric(other.rotation, other.E)
        h = to_parent_axes(other.rotation, other.h)
        moved = add(h, scale(other.m, p))  # h + m p
        sums = [[p[r] * h[k] + moved[r] * p[k] for k in range(3)] for r in range(3)]
        sums = [[sums[min(r, k)][max(r, k)] for k in range(3)] for r in range(3)]
        self.E = add_matrices(self.E, add_matrices(E, sums))
        self.h, self.m = add(self.h, moved), self.m + other.m
        if other.A is not None:
            A = inertia_at_parent(other, other.A)
            self.A = A if self.A is None else add_matrices(self.A, A)

    def momentum(self, six: Vector) -> Vector:
        """The momentum M̃ t of a twist t: [J ω + h × v; m v − h × ω], J = tr(E) 1 − E."""
        E, h, w, v = self.E, self.h, six[:3], six[3:]
        J = [[-E[p][k] for k in range(3)] for p in range(3)]
        J[0][0], J[1][1], J[2][2] = E[1][1] + E[2][2], E[0][0] + E[2][2], E[0][0] + E[1][1]
        n = [J[r][0] * w[0] + J[r][1] * w[1] + J[r][2] * w[2] for r in range(3)]
        rigid = add(n, cross(h, v)) + add(scale(self.m, v), cross(w, h))
        return rigid if self.A is None else add(rigid, [dot(row, six) for row in self.A])

    def matrix(self) -> Matrix:
        """The 6 × 6 matrix M̃."""
        M = mass_matrix(self)
        return M if self.A is None else add_matrices(M, self.A)


class JointInertia:
    """The inertia of a group of bodies, as their joints feel it: of each pair of speeds, and at the body they hang on.

    `between` has i_ij = p_iᵀ B_jiᵀ M̃_j p_j for pairs of speeds (Saha 1999, eqs. 23b and 24), rotors included, where it
    isn't 0; `outside` has the wrench at the origin of the body that carries the group for a unit acceleration of each
    speed; `carried` is the whole group, held together, at this origin.
    """

    def __init__(self, bodies: Sequence[Body], members: Sequence[int], composites: Mapping[int, Composite]):
        """`composites` are those of single bodies; they take up the others."""
        own = set(members)
        self.between: dict[tuple[int, int], Scalar] = {}
        self.outside: dict[int, Vector] = {}
        self.carried = Composite.nothing()
        for i in reversed(members):
            above = bodies[i].parent
            (composites[above] if above is not None and above in own else self.carried).add(composites[i])
        for i in members:
            for d, k, drive in zip(bodies[i].directions, bodies[i].speeds, bodies[i].drives):
                self._column(bodies, own, composites, i, d, k)
                self.between[k, k] = self.between[k, k] + drive.rotor

    def _column(
        self,
        bodies: Sequence[Body],
        own: set[int],
        composites: Mapping[int, Composite],
        i: int,
        d: int,
        k: int,
    ) -> None:
        body = bodies[i]
        W = composites[i].momentum(unit_joint_twist(body, d))
        at: int | None = i
        while at is not None and at in own:
            above = bodies[at]
            for e, j in zip(above.directions, above.speeds):
                if at == i and above.directions.index(e) > body.directions.index(d):
                    continue  # the other half of a symmetric block
                entry = shear_wrench(W, e, above.pitch)[e] if above.pitch else W[e]
                self.between[j, k] = self.between[k, j] = entry
            W = wrench_at_parent(composites[at], W)
            at = above.parent
        self.outside[k] = W


def inertia_matrix(bodies: Sequence[Body], q: Sequence[Scalar], nv: int) -> Matrix:
    """The GIM of a tree, rotor inertias on the diagonal."""
    composites = {i: Composite(body, AtParent(*placement_of_body(body, q))) for i, body in enumerate(bodies)}
    I: Matrix = [[0.0] * nv for _ in range(nv)]
    for (j, k), x in JointInertia(bodies, range(len(bodies)), composites).between.items():
        I[j][k] = x
    return I


def inertia_diagonal(bodies: Sequence[Body], q: Sequence[Scalar], nv: int) -> Vector:
    """The diagonal of the GIM, by one sweep."""
    composites = [Composite(body, AtParent(*placement_of_body(body, q))) for body in bodies]
    result: Vector = [0.0] * nv
    for i, body in reversed(list(enumerate(bodies))):
        if body.parent is not None:
            composites[body.parent].add(composites[i])
        for d, k, drive in zip(body.directions, body.speeds, body.drives):
            W = composites[i].momentum(unit_joint_twist(body, d))
            result[k] = (shear_wrench(W, d, body.pitch)[d] if body.pitch else W[d]) + drive.rotor
    return result


def unit_joint_twist(body: Body, d: int) -> Vector:
    """The twist of a unit speed along one direction of a body's joint."""
    six: Vector = [float(r == d) for r in range(6)]
    if body.pitch:
        six[d + 3] = body.pitch
    return six


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
            column = [(i, I[i][j] * self.one_over[j]) for i in range(j) if not inertia_vanishes_in_all_states(I[i][j])]
            for i, factor in column:
                for k, _ in column:
                    if k >= i:
                        I[i][k] = I[i][k] - factor * I[k][j]
            self._U[j] = column

    def numbers(self) -> Vector:
        """All elements of the factors that may be other than 0."""
        return [*self.one_over, *(x for column in self._U for _, x in column)]

    def with_numbers(self, numbers: Sequence[Scalar]) -> Factors:
        """Factors with these elements in the same places."""
        other, rest = Factors([]), iter(numbers)
        other.one_over = [next(rest) for _ in self.one_over]
        other._U = [[(i, next(rest)) for i, _ in column] for column in self._U]
        return other

    def inverse(self) -> Matrix:
        """The matrix I⁻¹, whose columns are solved for down to the diagonal only, because it is symmetric."""
        n = len(self._U)
        columns = [self.solve([float(r == k) for r in range(n)], k + 1) for k in range(n)]
        return [[columns[max(r, k)][min(r, k)] for k in range(n)] for r in range(n)]

    def solve(self, force: Sequence[Scalar], first: int | None = None) -> Vector:
        """The product I⁻¹ force, or only its first elements."""
        x = list(force)
        for j in reversed(range(len(x))):
            if not inertia_vanishes_in_all_states(x[j]):
                for i, factor in self._U[j]:
                    x[i] = x[i] - factor * x[j]
        for j, column in enumerate(self._U[:first]):
            x[j] = x[j] * self.one_over[j]
            for i, factor in column:
                if not inertia_vanishes_in_all_states(x[i]):
                    x[j] = x[j] - factor * x[i]
        return x


def inverse_inertia_matrix(bodies: Sequence[Body], q: Sequence[Scalar], nv: int) -> Matrix:
    """The inverse of the GIM, U⁻ᵀ D⁻¹ U⁻¹."""
    return Factors(inertia_matrix(bodies, q, nv)).inverse()


def solve_with_inertia_factors(I: Matrix, force: Sequence[Scalar]) -> Vector:
    """The product I⁻¹ force, by the factors of I."""
    return Factors(I).solve(force)


def inertia_vanishes_in_all_states(x: Scalar) -> bool:
    """Whether a scalar is zero in all states."""
    return isinstance(x, float | int) and x == 0.0
