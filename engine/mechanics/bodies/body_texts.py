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

from ...machine.loops import Table, Tables, across, registers, rolled
from .body_steps import (
    ORIGIN,
    along_place,
    answered,
    apart,
    axis,
    chained,
    columns_of,
    force,
    force_before,
    gained,
    held,
    hinged,
    impulse,
    inertia_before,
    momentum,
    motion_at,
    moved,
    oriented,
    product,
    pushed,
    rest,
    scaled,
    shifted_axes,
    signed,
    slid,
    spatial,
    spread,
    sum_of,
    swirled,
    turning,
    unit_wrenches,
)

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
        tree.S[0:6, i] = axis(tree.R[0:12, i], ORIGIN, tree.turns[0, i], tree.slides[0, i])


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
        tree.I[0:10, i] = spread(tree.R[0:12, i], ORIGIN, tree.body[0:10, i])
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


def inverse(tree: Tables, q: Table, qd: Table, qdd: Table, tau: Table) -> None:
    """The forces of a motion (Saha 1999, eq. 30)."""
    frames(tree, q)
    motions(tree, qd, qdd)
    for i in across(0, tree.n):
        tree.f[0:6, i] = force(spread(tree.R[0:12, i], ORIGIN, tree.body[0:10, i]), tree.v[0:6, i], tree.a[0:6, i])
    for k in rolled(tree.n):
        i = tree.n - 1 - k
        tree.f[0:6, tree.parent[i]] = sum_of(tree.f[0:6, tree.parent[i]], tree.f[0:6, i])
    drives(tree, q, qd, tree.still)  # minus the forces of friction, dampers and springs
    for i in across(0, tree.n):
        tau[0, i] = product(tree.S[0:6, i], tree.f[0:6, i]) + tree.rotor[0, i] * qdd[0, i] - tree.force[0, i]


def forward(tree: Tables, q: Table, qd: Table, tau: Table, qdd: Table) -> None:
    """The accelerations under forces."""
    frames(tree, q)
    motions(tree, qd, tree.still)
    drives(tree, q, qd, tau)
    articulate(tree)
    accelerate(tree)
    for i in across(0, tree.n):
        qdd[0, i] = +tree.u[0, i]


def derivatives(tree: Tables, q: Table, qd: Table, tau: Table, D: Table) -> None:
    """Accelerations, then their derivatives along places, speeds and forces, n rows each; columns are directions."""
    frames(tree, q)
    motions(tree, qd, tree.still)
    drives(tree, q, qd, tau)
    articulate(tree)
    accelerate(tree)
    for i in across(0, tree.n):
        D[0, i] = +tree.u[0, i]
        tree.I[0:10, i] = spread(tree.R[0:12, i], ORIGIN, tree.body[0:10, i])
        tree.a[0:6, i] = sum_of(tree.a[0:6, i], motion_at(tree.x[0:6, i], scaled(-1.0, tree.o[0:3, i])))
    differentiate(tree, D)
    for i in rolled(tree.n):
        D[1 + i, i] = D[1 + i, i] - tree.stiffness[0, i]
        D[1 + tree.n + i, i] = D[1 + tree.n + i, i] - tree.viscous[0, i]
        D[1 + tree.n + tree.n + i, i] = 1.0
    solve(tree, D)


def drives(tree: Tables, q: Table, qd: Table, tau: Table) -> None:
    """The forces on the rows: those of actuators, and those of friction, dampers and springs."""
    for i in across(0, tree.n):
        damping = tree.viscous[0, i] * qd[0, i] + tree.coulomb[0, i] * signed(qd[0, i])
        tree.force[0, i] = tau[0, i] - damping
    for i in rolled(tree.n):
        if tree.spring_at[i] >= 0:
            stretch = q[0, tree.spring_at[i]] - tree.rests[0, i]
            tree.force[0, i] = tree.force[0, i] - tree.stiffness[0, i] * stretch


def articulate(tree: Tables) -> None:
    """The rigid bodies' inertias A, the forces f on them and the rows' directions Q, about points o nearby.

    `anchor` is 1 for bodies whose origin is such a point, for themselves and those behind them; r leads there.
    """
    for i in rolled(tree.n):
        if tree.anchor[i] > 0:
            tree.r[0:3, i] = apart(tree.R[9:12, i], tree.o[0:3, tree.parent[i]])
            tree.o[0:3, i] = +tree.R[9:12, i]
        if tree.anchor[i] == 0:
            tree.o[0:3, i] = +tree.o[0:3, tree.parent[i]]
    for i in across(0, tree.n):
        tree.Q[0:6, i] = axis(tree.R[0:12, i], tree.o[0:3, i], tree.turns[0, i], tree.slides[0, i])
        b = spread(tree.R[0:12, i], tree.o[0:3, i], tree.body[0:10, i])
        tree.A[0:21, i] = spatial(b)
        tree.f[0:6, i] = force(b, motion_at(tree.v[0:6, i], tree.o[0:3, i]), motion_at(tree.a[0:6, i], tree.o[0:3, i]))


def accelerate(tree: Tables) -> None:
    """The accelerations u of the rows, and x, what they add to those of bodies (Saha 1999, eqs. 34, 35, 36 and 37)."""
    for k in rolled(tree.n):
        i = tree.n - 1 - k
        A = hinged(tree.A[0:21, i], tree.Q[0:6, i], tree.rotor[0, i])
        own = held(A[21:28])
        tree.own[0:7, i] = own
        tree.loss[0, i] = tree.least[0, i] * own[6]
        left = rest(tree.force[0, i], tree.Q[0:6, i], tree.f[0:6, i])
        tree.u[0, i] = left
        f = pushed(tree.f[0:6, i], left, own[0:6])
        if tree.anchor[i] > 0:
            tree.A[0:21, tree.parent[i]] = sum_of(tree.A[0:21, tree.parent[i]], inertia_before(A[0:21], tree.r[0:3, i]))
            tree.f[0:6, tree.parent[i]] = sum_of(tree.f[0:6, tree.parent[i]], force_before(f, tree.r[0:3, i]))
        if tree.anchor[i] == 0:
            tree.A[0:21, tree.parent[i]] = sum_of(tree.A[0:21, tree.parent[i]], A[0:21])
            tree.f[0:6, tree.parent[i]] = sum_of(tree.f[0:6, tree.parent[i]], f)
    for i in rolled(tree.n):
        if tree.anchor[i] > 0:
            one = answered(
                tree.u[0, i], tree.own[0:7, i], motion_at(tree.x[0:6, tree.parent[i]], tree.r[0:3, i]), tree.Q[0:6, i]
            )
            tree.u[0, i] = one[0]
            tree.x[0:6, i] = one[1:7]
        if tree.anchor[i] == 0:
            two = answered(tree.u[0, i], tree.own[0:7, i], tree.x[0:6, tree.parent[i]], tree.Q[0:6, i])
            tree.u[0, i] = two[0]
            tree.x[0:6, i] = two[1:7]


def differentiate(tree: Tables, D: Table) -> None:
    """Minus the derivatives of inverse dynamics along places and speeds, in D from row 1 on and from row 1 + n on.

    ψ̇ = v × S and ψ̈ = a × S + v × ψ̇ by the motion of the body that carries a joint, and the rate of S by that of its
    own body; composites of inertia I, and C of K, force and impulse, are summed on the way.
    """
    for i in rolled(tree.n):
        tree.up[0:6, i] = +tree.v[0:6, tree.before[i]]
        tree.up[6:12, i] = +tree.a[0:6, tree.before[i]]
    for i in across(0, tree.n):
        s = held(tree.S[0:6, i])
        psi = swirled(tree.up[0:6, i], s)
        tree.psi[0:3, i] = psi[0:3]
        tree.psi2[0:6, i] = sum_of(swirled(tree.up[6:12, i], s), swirled(tree.up[0:6, i], psi))
        tree.rate[0:6, i] = sum_of(psi, swirled(tree.v[0:6, i], s))
        tree.W[0:3, i] = s[0:3]
        tree.C[0:9, i] = turning(tree.I[0:10, i], tree.v[0:6, i])
        tree.C[9:15, i] = force(tree.I[0:10, i], tree.v[0:6, i], tree.a[0:6, i])
        tree.C[15:18, i] = impulse(tree.I[0:10, i], tree.v[0:6, i])
    for k in rolled(tree.n):
        i = tree.n - 1 - k
        tree.I[0:10, tree.parent[i]] = sum_of(tree.I[0:10, tree.parent[i]], tree.I[0:10, i])
        tree.C[0:18, tree.parent[i]] = sum_of(tree.C[0:18, tree.parent[i]], tree.C[0:18, i])
    for i in across(0, tree.n):
        b = columns_of(
            tree.I[0:10, i],
            tree.C[0:9, i],
            tree.C[9:18, i],
            tree.S[0:6, i],
            tree.psi[0:3, i],
            tree.psi2[0:6, i],
            tree.rate[0:6, i],
        )
        tree.F[0:6, i] = b[0:6]
        tree.G[0:6, i] = b[6:12]
        tree.H[0:6, i] = b[12:18]
        tree.E[0:3, i] = b[18:21]
    for j in rolled(tree.n):
        s = scaled(-1.0, tree.S[0:6, j])
        for k in rolled(tree.runs[j], tree.runs[j + 1]):
            for i in across(tree.low[k], tree.high[k]):
                D[1 + j, i] = product(s, tree.G[0:6, i])
                D[1 + tree.n + j, i] = product(s, tree.H[0:6, i])
        F = scaled(-1.0, tree.F[0:6, j])
        E = scaled(-1.0, tree.E[0:3, j])
        end = +tree.parent[j]
        while end < tree.n:
            for i in across(tree.top[end], end + 1):
                D[1 + j, i] = along_place(F, E, tree.psi[0:3, i], tree.psi2[0:6, i])
                D[1 + tree.n + j, i] = along_place(F, E, tree.W[0:3, i], tree.rate[0:6, i])
            end = tree.parent[tree.top[end]]
        if tree.last[j] - tree.first[j] > 1:  # rows of one joint have no order: its link turns with all of them
            for i in across(tree.first[j], tree.last[j]):
                D[1 + j, i] = along_place(F, E, tree.psi[0:3, i], tree.psi2[0:6, i])


def solve(tree: Tables, D: Table) -> None:
    """The inverse inertia matrix times the three times n rows of D from row 1 on, eight columns side by side.

    What a body hands on to the row before it stays in registers; where others come in between, or several meet, it
    goes through P.
    """
    for c in across(0, tree.n):
        x, y, z = registers(6), registers(6), registers(6)
        for k in rolled(tree.n):
            i = tree.n - 1 - k
            if tree.meets[i] > 0:
                x[0:6] = sum_of(x[0:6], tree.P[0:6, i, c])
                y[0:6] = sum_of(y[0:6], tree.P[6:12, i, c])
                z[0:6] = sum_of(z[0:6], tree.P[12:18, i, c])
                tree.P[0:18, i, c] = scaled(0.0, tree.P[0:18, i, c])
            Q = held(tree.Q[0:6, i])
            own = held(tree.own[0:6, i])
            d = rest(D[1 + i, c], Q, x[0:6])
            e = rest(D[1 + tree.n + i, c], Q, y[0:6])
            f = rest(D[1 + tree.n + tree.n + i, c], Q, z[0:6])
            D[1 + i, c] = d
            D[1 + tree.n + i, c] = e
            D[1 + tree.n + tree.n + i, c] = f
            x[0:6] = pushed(x[0:6], d, own)
            y[0:6] = pushed(y[0:6], e, own)
            z[0:6] = pushed(z[0:6], f, own)
            if tree.anchor[i] > 0:
                x[0:6] = force_before(x[0:6], tree.r[0:3, i])
                y[0:6] = force_before(y[0:6], tree.r[0:3, i])
                z[0:6] = force_before(z[0:6], tree.r[0:3, i])
            if tree.parent[i] != i - 1:
                if tree.parent[i] < tree.n:
                    tree.P[0:6, tree.parent[i], c] = sum_of(tree.P[0:6, tree.parent[i], c], x[0:6])
                    tree.P[6:12, tree.parent[i], c] = sum_of(tree.P[6:12, tree.parent[i], c], y[0:6])
                    tree.P[12:18, tree.parent[i], c] = sum_of(tree.P[12:18, tree.parent[i], c], z[0:6])
                x[0:6] = scaled(0.0, x[0:6])
                y[0:6] = scaled(0.0, y[0:6])
                z[0:6] = scaled(0.0, z[0:6])
        for i in rolled(tree.n):
            if tree.parent[i] != i - 1:
                x[0:6] = +tree.P[18:24, tree.parent[i], c]
                y[0:6] = +tree.P[24:30, tree.parent[i], c]
                z[0:6] = +tree.P[30:36, tree.parent[i], c]
            if tree.anchor[i] > 0:
                x[0:6] = motion_at(x[0:6], tree.r[0:3, i])
                y[0:6] = motion_at(y[0:6], tree.r[0:3, i])
                z[0:6] = motion_at(z[0:6], tree.r[0:3, i])
            Q = held(tree.Q[0:6, i])
            own = held(tree.own[0:7, i])
            d = answered(D[1 + i, c], own, x[0:6], Q)
            e = answered(D[1 + tree.n + i, c], own, y[0:6], Q)
            f = answered(D[1 + tree.n + tree.n + i, c], own, z[0:6], Q)
            D[1 + i, c] = d[0]
            D[1 + tree.n + i, c] = e[0]
            D[1 + tree.n + tree.n + i, c] = f[0]
            x[0:6] = d[1:7]
            y[0:6] = e[1:7]
            z[0:6] = f[1:7]
            if tree.meets[i] > 0:
                tree.P[18:24, i, c] = x[0:6]
                tree.P[24:30, i, c] = y[0:6]
                tree.P[30:36, i, c] = z[0:6]
