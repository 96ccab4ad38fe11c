"""Vectors, rotations and 6 × 6 inertias on scalars.

A vector is a list of three scalars.  A motion is `[ω; v]`, a wrench `[n; f]`: six scalars in link axes, at the
link's origin.  A rotation is a tuple of factors, the first one outermost: plane turns `(i, j, cosine, sine)`, which
turn axis i towards axis j, 3 × 3 matrices (of a quaternion), and a `Bend` for two turns at once.  Applied to a vector,
a plane turn costs 4 products, a bend 7 and a matrix 9; applied to a symmetric matrix from both sides, they cost 8, 15
and 45, to any other 12, 22 and 54.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...machine.program import Scalar

Vector = list[Scalar]
Matrix = list[list[Scalar]]
Factor = Sequence[Any]
Rotation = Sequence["Factor | Bend"]


def add(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b)]


def subtract(a: Vector, b: Vector) -> Vector:
    return [x - y for x, y in zip(a, b)]


def scale(s: Scalar, a: Vector) -> Vector:
    return [s * x for x in a]


def dot(a: Vector, b: Vector) -> Scalar:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:]):
        total = total + x * y
    return total


def cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def transpose(m: Matrix) -> Matrix:
    return [list(row) for row in zip(*m)]


def add_matrices(a: Matrix, b: Matrix) -> Matrix:
    return [add(x, y) for x, y in zip(a, b)]


class Bend:
    """A constant turn and then a joint's turn, whose planes share one axis.

    Between the two, a vector's component along this axis is written in the unit 1 / cosine of the constant turn.  That
    makes one of the constant turn's four factors 1, and costs the joint's turn nothing but other factors, two
    products that all vectors share: [cα sθ, cα cθ].  Nothing is rounded that wasn't.
    """

    __slots__ = ("axes", "constant", "constant_map", "joint", "joint_map", "scaled", "tangent")

    def __init__(self, constant: Factor, tangent: Scalar, joint: Factor):
        self.constant, self.tangent, self.joint = tuple(constant[:4]), tangent, tuple(joint)
        p, q, ca, sa = self.constant
        i, j, c, s = joint
        shared = p if p in (i, j) else q
        self.constant_map = (p, q, 1.0, -sa, tangent, ca) if shared == p else (p, q, ca, -tangent, sa, 1.0)
        self.joint_map = (i, j, ca * c, -(ca * s), s, c) if shared == i else (i, j, c, -s, ca * s, ca * c)
        self.axes = (i + j - shared, shared, p + q - shared)  # x, y and z, if a turn about z follows one about x
        self.scaled = (ca * c, ca * s if shared == i else -(ca * s))

    def turned(self, v: Vector, back: bool) -> Vector:
        """The vector v turned by both, or back."""
        if back:
            return _mapped(self.joint_map, _mapped(self.constant_map, v, back), back)
        return _mapped(self.constant_map, _mapped(self.joint_map, v, back), back)

    def turned_matrix(self, m: Matrix, symmetric: bool) -> Matrix:
        """The product R m Rᵀ for both turns."""
        once = _turned(self.joint, m, symmetric=symmetric)
        twice = _turned(self.constant, once, symmetric=symmetric)
        (x, y, z), (c, s) = self.axes, self.scaled
        # of axis x, which only the joint turns, with y and z
        twice[x][y], twice[x][z] = self._by_constant(once[x][y], c * m[x][z] + s * m[y][z])
        twice[y][x], twice[z][x] = self._by_constant(once[y][x], c * m[z][x] + s * m[z][y])
        return twice

    def _by_constant(self, y: Scalar, z: Scalar) -> tuple[Scalar, Scalar]:
        """Components along y and z after the constant turn, of one along y and one along z times its cosine."""
        p, _, ca, sa = self.constant
        if p == self.axes[1]:
            return ca * y - self.tangent * z, sa * y + z
        return self.tangent * z + ca * y, z - sa * y


def join_turns(constant: Factor, joint: Factor) -> Bend | None:
    """Both turns at once, where that pays: if the constant one is made of plain numbers and isn't a right angle.

    A turn that is made of symbols has to bring its tangent as a fifth number.
    """
    if len(constant) == 3 or len({*constant[:2], *joint[:2]}) < 3:
        return None
    ca, sa = constant[2:4]
    if len(constant) == 5:
        return Bend(constant, constant[4], joint)
    return Bend(constant, sa / ca, joint) if isinstance(ca, float) and isinstance(sa, float) and ca and sa else None


def _mapped(plane: Sequence[Any], v: Vector, back: bool) -> Vector:
    """The vector v with a 2 × 2 matrix applied to two of its components, or `back` the transposed matrix."""
    i, j, ii, ij, ji, jj = plane
    if back:
        ij, ji = ji, ij
    v = list(v)
    v[i], v[j] = ii * v[i] + ij * v[j], ji * v[i] + jj * v[j]
    return v


def turn_vector(factor: Factor | Bend, v: Vector, back: bool = False) -> Vector:
    """The vector v turned by one factor of a rotation, or `back` by its inverse."""
    if isinstance(factor, Bend):
        return factor.turned(v, back)
    if len(factor) == 3:
        return [dot(row, v) for row in (transpose(list(factor)) if back else factor)]
    i, j, c, s = factor[:4]
    v = list(v)
    x, y = v[i], v[j]
    v[i], v[j] = (c * x + s * y, c * y - s * x) if back else (c * x - s * y, s * x + c * y)
    return v


def to_parent_axes(rotation: Rotation, v: Vector) -> Vector:
    """The components in the parent of a vector with components v in the link."""
    for factor in reversed(rotation):
        v = turn_vector(factor, v)
    return v


def to_link_axes(rotation: Rotation, v: Vector) -> Vector:
    """The components in the link of a vector with components v in the parent."""
    for factor in rotation:
        v = turn_vector(factor, v, back=True)
    return v


def turn_symmetric(rotation: Rotation, m: Matrix) -> Matrix:
    """The product R m Rᵀ for a symmetric m, in which mirrored entries are the same scalar."""
    for factor in reversed(rotation):
        m = _turned(factor, m, symmetric=True)
        m = [[m[min(p, k)][max(p, k)] for k in range(3)] for p in range(3)]
    return m


def turn_square(rotation: Rotation, m: Matrix) -> Matrix:
    """The product R m Rᵀ for any 3 × 3 matrix m."""
    for factor in reversed(rotation):
        m = _turned(factor, m)
    return m


def _turned(factor: Factor | Bend, m: Matrix, *, symmetric: bool = False) -> Matrix:
    """The product R m Rᵀ for one factor of a rotation.

    In a turn's plane, all four entries follow from u = s (m_ii − m_jj) + c (m_ij + m_ji), by 4 products instead of 8.
    """
    if isinstance(factor, Bend):
        return factor.turned_matrix(m, symmetric)
    if len(factor) == 3:
        rows = [turn_vector(factor, row) for row in m]  # m Rᵀ
        return transpose([turn_vector(factor, column) for column in transpose(rows)])
    i, j, c, s = factor[:4]
    k = 3 - i - j
    across = (c + c) * m[i][j] if symmetric else c * (m[i][j] + m[j][i])
    u = s * (m[i][i] - m[j][j]) + across
    t: Matrix = [[0.0] * 3 for _ in range(3)]
    t[k][k], t[i][i], t[j][j] = m[k][k], m[i][i] - s * u, m[j][j] + s * u
    t[i][j], t[j][i] = c * u - m[j][i], c * u - m[i][j]
    t[i][k], t[j][k] = c * m[i][k] - s * m[j][k], s * m[i][k] + c * m[j][k]
    t[k][i], t[k][j] = c * m[k][i] - s * m[k][j], s * m[k][i] + c * m[k][j]
    return t


def quaternion_matrix(e: Vector) -> Matrix:
    """The rotation R(e) of Euler parameters, scalar first, |e| = 1: link → frame before the joint."""
    e0, x, y, z = e
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    wx, wy, wz = e0 * x, e0 * y, e0 * z
    return [
        [1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)],
        [2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)],
        [2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)],
    ]


def quaternion_rate(e: Vector, w: Vector) -> Vector:
    """The rate ė = ½ e ∘ (0, ω) of Euler parameters whose link turns with ω in link axes."""
    e0, x, y, z = e
    return [
        -0.5 * (x * w[0] + y * w[1] + z * w[2]),
        0.5 * (e0 * w[0] + y * w[2] - z * w[1]),
        0.5 * (e0 * w[1] + z * w[0] - x * w[2]),
        0.5 * (e0 * w[2] + x * w[1] - y * w[0]),
    ]


def transported_wrench(n: Vector, f: Vector, reach: Vector) -> Vector:
    """A wrench about another point, from which `reach` leads to the point where force f and moment n act."""
    return add(n, cross(reach, f)) + f
