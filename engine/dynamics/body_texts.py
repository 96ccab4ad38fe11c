"""Quantities of a tree as loops over its bodies: one text for all trees, in base axes.

A row is a speed of the tree, with a body of its own: of a joint with several speeds the last row has the link's mass,
and the rows before it are massless bodies with the same frame, each turned so that its z axis is its own direction.  So
`S`, the motion [ω; v] of a unit of speed, is made of that axis z and of the frame's origin p alone,

    S = [turns z; turns p × z + slides z],

where `turns` is 1 or 0 and `slides` 1, 0 or a screw's pitch.  Frames are three columns and the origin, 12 numbers.  A
parent's row comes before a body's; row n is the base.  What lies behind row j, and j itself, are the rows `low[k]` to
`high[k] - 1` for k from `runs[j]` to `runs[j + 1]`.

All motions and forces are about one point, the origin of the tree's root.  A motion is then the same for all bodies:
nothing has to be moved from body to body, the inertia of composite bodies is a sum, and an entry of a matrix is a
product of two 6-vectors (Saha 1999, eqs. 23b and 24, with B = 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..machine.loops.words import Number, Table, Tables, across, cosine_sine, rolled, sign, step

Numbers = Sequence[Number]
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # of second moments
PLACE = {**{pair: k for k, pair in enumerate(PAIRS)}, **{(b, a): k for k, (a, b) in enumerate(PAIRS)}}


# ---- steps of one body


def cross(a: Numbers, b: Numbers) -> list[Number]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a: Numbers, b: Numbers) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def add(*vectors: Numbers) -> list[Number]:
    return [sum(x[1:], x[0]) for x in zip(*vectors)]


def times(k: Number, a: Numbers) -> list[Number]:
    return [k * x for x in a]


def turned(R: Numbers, a: Numbers) -> list[Number]:
    """The product R a with the columns of R one behind the other."""
    return [R[r] * a[0] + R[3 + r] * a[1] + R[6 + r] * a[2] for r in range(3)]


@step
def product(a: Numbers, b: Numbers) -> Number:
    """The power of a force a along a motion b, or the other way round."""
    return dot(a[:3], b[:3]) + dot(a[3:], b[3:])


@step
def sum_of(a: Numbers, b: Numbers) -> list[Number]:
    return add(a, b)


@step
def held(a: Numbers) -> list[Number]:
    """The same numbers, read once."""
    return list(a)


@step
def moved(fixed: Numbers, angle: Number, length: Number) -> list[Number]:
    """The frame of a body in its parent's, turned about its z axis and slid along it."""
    c, s = cosine_sine(angle)
    x, y, z = fixed[0:3], fixed[3:6], fixed[6:9]
    return [
        *add(times(c, x), times(s, y)),
        *add(times(c, y), times(-1.0 * s, x)),
        *z,
        *add(fixed[9:12], times(length, z)),
    ]


@step
def slid(L: Numbers, axis: int, length: Number) -> list[Number]:
    """A frame's origin, slid along one of its axes."""
    return add(L[9:12], times(length, L[3 * axis : 3 * axis + 3]))


@step
def oriented(L: Numbers, e: Numbers) -> list[Number]:
    """A frame's axes, turned by Euler parameters, scalar first."""
    e0, x, y, z = e
    columns = (
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + e0 * z), 2.0 * (x * z - e0 * y)],
        [2.0 * (x * y - e0 * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + e0 * x)],
        [2.0 * (x * z + e0 * y), 2.0 * (y * z - e0 * x), 1.0 - 2.0 * (x * x + y * y)],
    )
    return [x for column in columns for x in turned(L, column)]


@step
def chained(R: Numbers, L: Numbers) -> list[Number]:
    """A frame in the base, from its parent's and its own in that."""
    return [*turned(R, L[0:3]), *turned(R, L[3:6]), *turned(R, L[6:9]), *add(R[9:12], turned(R, L[9:12]))]


@step
def shifted_axes(R: Numbers, by: int) -> list[Number]:
    """The same frame with its axes in another cyclic order."""
    return [*R[3 * by : 9], *R[: 3 * by], *R[9:12]]


@step
def axis(R: Numbers, turns: Number, slides: Number) -> list[Number]:
    z, p = R[6:9], R[9:12]
    return [*times(turns, z), *add(times(turns, cross(p, z)), times(slides, z))]


@step
def spread(R: Numbers, body: Numbers) -> list[Number]:
    """Mass, first and second moments about the origin of all; `body` has them about its own, in its axes."""
    m, p = body[0], R[9:12]
    h = turned(R, body[1:4])
    half = [[sum(R[3 * k + a] * body[4 + PLACE[k, b]] for k in range(3)) for b in range(3)] for a in range(3)]
    moved_h = add(h, times(m, p))
    second = [
        half[a][0] * R[b] + half[a][1] * R[3 + b] + half[a][2] * R[6 + b] + p[a] * h[b] + moved_h[a] * p[b]
        for a, b in PAIRS
    ]
    return [m, *moved_h, *second]


@step
def momentum(body: Numbers, motion: Numbers) -> list[Number]:
    """A rigid body's inertia times a motion: [J ω + h × v; m v + ω × h], J = tr(E) 1 − E."""
    m, h, E, w, v = body[0], body[1:4], body[4:], motion[:3], motion[3:]
    trace = E[0] + E[3] + E[5]
    turn = [trace * w[a] - (E[PLACE[a, 0]] * w[0] + E[PLACE[a, 1]] * w[1] + E[PLACE[a, 2]] * w[2]) for a in range(3)]
    return [*add(turn, cross(h, v)), *add(times(m, v), cross(w, h))]


def across_motion(v: Numbers, s: Numbers) -> list[Number]:
    """The rate v × s of a motion s that is fixed in what moves by v."""
    return [*cross(v[:3], s[:3]), *add(cross(v[:3], s[3:]), cross(v[3:], s[:3]))]


@step
def scaled(k: Number, a: Numbers) -> list[Number]:
    return times(k, a)


@step
def gained(S: Numbers, qdd: Number, v: Numbers, own: Numbers) -> list[Number]:
    """What a speed adds to the acceleration of what hangs on it: S q̈ + v × S q̇."""
    return add(times(qdd, S), across_motion(v, own))


@step
def unit_wrenches(R: Numbers, v: Numbers, a: Numbers) -> list[Number]:
    """The wrench on a link by a unit of each of its ten numbers (`inertial.NAMES`), its frame R moving by v and a.

    First the moments' three components, each for all ten; then those of the forces, for the first four: inertias
    about the link's origin have none.
    """
    axes, p, w, al = (R[0:3], R[3:6], R[6:9]), R[9:12], v[:3], a[:3]
    speed = add(v[3:], cross(w, p))
    d = add(a[3:], cross(al, p), cross(w, speed))  # of the link's origin
    forces, moments = [d], [cross(p, d)]
    for e in axes:
        f = add(cross(al, e), cross(w, cross(w, e)))
        forces.append(f)
        moments.append(add(cross(e, d), cross(p, f)))
    (wx, wy, wz), (ax, ay, az) = ([dot(e, x) for e in axes] for x in (w, al))
    rates = (  # J α + ω × J ω for each unit of J
        [ax, wx * wz, -1.0 * (wx * wy)],
        [-1.0 * (wy * wz), ay, wx * wy],
        [wy * wz, -1.0 * (wx * wz), az],
        [ay - wx * wz, ax + wy * wz, wx * wx - wy * wy],
        [az + wx * wy, wz * wz - wx * wx, ax - wy * wz],
        [wy * wy - wz * wz, az - wx * wy, ay + wx * wz],
    )
    moments += [turned(R, x) for x in rates]
    return [x[k] for k in range(3) for x in moments] + [x[k] for k in range(3) for x in forces]


@step
def signed(x: Number) -> Number:
    return sign(x)


# ---- loops over bodies


def frames(tree: Tables, q: Table) -> None:
    """The frames R and directions S of all rows; L are frames of bodies in their parents, X angles and lengths."""
    for i in rolled(tree.n):
        tree.X[0, i] = q[0, tree.angle_at[i]] * tree.angles[0, i]
        tree.X[1, i] = q[0, tree.length_at[i]] * tree.lengths[0, i]
    for i in across(0, tree.n):
        tree.L[0:12, i] = moved(tree.fixed[0:12, i], tree.X[0, i], tree.X[1, i])
    for k in rolled(tree.slid):
        i = tree.slid_rows[k]
        for a in range(3):
            if tree.slid_axes[k] == a:
                tree.L[9:12, i] = slid(tree.L[0:12, i], a, q[0, tree.slid_at[k]])
    for k in rolled(tree.balls):
        i = tree.ball_rows[k]
        c = tree.ball_at[k]
        tree.L[0:9, i] = oriented(tree.L[0:9, i], [q[0, c], q[0, c + 1], q[0, c + 2], q[0, c + 3]])
    for i in rolled(tree.n):
        tree.R[0:12, i] = chained(tree.R[0:12, tree.carrier[i]], tree.L[0:12, i])
    for k in rolled(tree.followers):
        i = tree.follower_rows[k]
        for by in range(3):
            if tree.order[k] == by:
                tree.R[0:12, i] = shifted_axes(tree.R[0:12, tree.leaders[k]], by)
    for i in across(0, tree.n):
        tree.S[0:6, i] = axis(tree.R[0:12, i], tree.turns[0, i], tree.slides[0, i])


def motions(tree: Tables, qd: Table, qdd: Table) -> None:
    """The velocities v and accelerations a of all rows; gravity is an acceleration of the base."""
    for i in across(0, tree.n):
        tree.m[0:6, i] = scaled(qd[0, i], tree.S[0:6, i])
    for i in rolled(tree.n):
        tree.v[0:6, i] = sum_of(tree.v[0:6, tree.parent[i]], tree.m[0:6, i])
    for k in rolled(tree.followers):  # directions of a joint are fixed in its link, which moves by all of them
        tree.v[0:6, tree.follower_rows[k]] = +tree.v[0:6, tree.leaders[k]]
    for i in across(0, tree.n):
        tree.e[0:6, i] = gained(tree.S[0:6, i], qdd[0, i], tree.v[0:6, i], tree.m[0:6, i])
    for i in rolled(tree.n):
        tree.a[0:6, i] = sum_of(tree.a[0:6, tree.parent[i]], tree.e[0:6, i])


def inertia(tree: Tables, q: Table, M: Table) -> None:
    """The generalized inertia matrix with rotor inertias, by composite bodies (Saha 1999, eq. 24)."""
    frames(tree, q)
    for i in across(0, tree.n):
        tree.I[0:10, i] = spread(tree.R[0:12, i], tree.body[0:10, i])
    for k in rolled(tree.n):
        i = tree.n - 1 - k
        tree.I[0:10, tree.parent[i]] = sum_of(tree.I[0:10, tree.parent[i]], tree.I[0:10, i])
    for i in across(0, tree.n):
        tree.F[0:6, i] = momentum(tree.I[0:10, i], tree.S[0:6, i])
    for j in rolled(tree.n):
        s = held(tree.S[0:6, j])
        for k in rolled(tree.runs[j], tree.runs[j + 1]):
            for i in across(tree.low[k], tree.high[k]):
                x = product(s, tree.F[0:6, i])
                M[j, i] = x
                M[i, j] = x
        M[j, j] = M[j, j] + tree.rotor[0, j]


def regressor(tree: Tables, q: Table, qd: Table, qdd: Table, Y: Table) -> None:
    """The joint forces by a unit of each number that inverse dynamics is linear in: of links, then of drives.

    Column 10 l + k of Z has the wrench by number k of link l, a row for each component.
    """
    frames(tree, q)
    motions(tree, qd, qdd)
    for l in rolled(tree.links):
        tree.T[0:12, l] = chained(tree.R[0:12, tree.link_rows[l]], tree.link_frames[0:12, l])
        tree.T[12:18, l] = +tree.v[0:6, tree.link_rows[l]]
        tree.T[18:24, l] = +tree.a[0:6, tree.link_rows[l]]
    for l in across(0, tree.links):
        tree.B[0:42, l] = unit_wrenches(tree.T[0:12, l], tree.T[12:18, l], tree.T[18:24, l])
    for l in rolled(tree.links):
        for r in range(3):
            for k in range(10):
                tree.Z[r, 10 * l + k] = +tree.B[10 * r + k, l]
            for k in range(4):
                tree.Z[3 + r, 10 * l + k] = +tree.B[30 + 4 * r + k, l]
    for j in rolled(tree.n):
        s = held(tree.S[0:6, j])
        for k in rolled(tree.link_runs[j], tree.link_runs[j + 1]):
            for c in across(10 * tree.link_low[k], 10 * tree.link_high[k]):
                Y[j, c] = product(s, tree.Z[0:6, c])
        c = tree.drive_columns[j]
        Y[j, c] = +qdd[0, j]
        Y[j, c + 1] = +qd[0, j]
        Y[j, c + 2] = signed(qd[0, j])
        Y[j, c + 3] = 1.0
        if tree.spring_at[j] >= 0:
            Y[j, c + 4] = +q[0, tree.spring_at[j]]
