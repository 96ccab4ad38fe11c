"""What loops over bodies do with one body, or with eight side by side: steps on numbers and lists of numbers.

Frames are three columns and the origin, 12 numbers; motions are [ω; v] and forces [n; f], all about one point. A rigid
body has its mass, first moments and the six second moments of `PAIRS`; an articulated one the upper half of a 6 × 6
matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...machine.loops import Number, cosine_sine, recorded_step, sign

Numbers = Sequence[Number]
ORIGIN = (0.0, 0.0, 0.0)
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # of second moments
SIX = tuple((a, b) for a in range(6) for b in range(a, 6))  # of the upper half of a 6 × 6 matrix
AT = {**{pair: k for k, pair in enumerate(SIX)}, **{(b, a): k for k, (a, b) in enumerate(SIX)}}
PLACE = {**{pair: k for k, pair in enumerate(PAIRS)}, **{(b, a): k for k, (a, b) in enumerate(PAIRS)}}


# ---- steps of one body


def cross(a: Numbers, b: Numbers) -> list[Number]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a: Numbers, b: Numbers) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def add(*vectors: Numbers) -> list[Number]:
    return [sum(x[1:], x[0]) for x in zip(*vectors)]


def less(a: Numbers, b: Numbers) -> list[Number]:
    return [x - y for x, y in zip(a, b)]


def times(k: Number, a: Numbers) -> list[Number]:
    return [k * x for x in a]


def turned(R: Numbers, a: Numbers) -> list[Number]:
    """The product R a with the columns of R one behind the other."""
    return [R[r] * a[0] + R[3 + r] * a[1] + R[6 + r] * a[2] for r in range(3)]


@recorded_step
def product(a: Numbers, b: Numbers) -> Number:
    """The power of a force a along a motion b, or the other way round."""
    return dot(a[:3], b[:3]) + dot(a[3:], b[3:])


@recorded_step
def sum_of(a: Numbers, b: Numbers) -> list[Number]:
    return add(a, b)


@recorded_step
def held(a: Numbers) -> list[Number]:
    """The same numbers, read once."""
    return list(a)


@recorded_step
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


@recorded_step
def slid(L: Numbers, axis: int, length: Number) -> list[Number]:
    """A frame's origin, slid along one of its axes."""
    return add(L[9:12], times(length, L[3 * axis : 3 * axis + 3]))


@recorded_step
def oriented(L: Numbers, e: Numbers) -> list[Number]:
    """A frame's axes, turned by Euler parameters, scalar first."""
    e0, x, y, z = e
    columns = (
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + e0 * z), 2.0 * (x * z - e0 * y)],
        [2.0 * (x * y - e0 * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + e0 * x)],
        [2.0 * (x * z + e0 * y), 2.0 * (y * z - e0 * x), 1.0 - 2.0 * (x * x + y * y)],
    )
    return [x for column in columns for x in turned(L, column)]


@recorded_step
def chained(R: Numbers, L: Numbers) -> list[Number]:
    """A frame in the base, from its parent's and its own in that."""
    return [*turned(R, L[0:3]), *turned(R, L[3:6]), *turned(R, L[6:9]), *add(R[9:12], turned(R, L[9:12]))]


@recorded_step
def shifted_axes(R: Numbers, by: int) -> list[Number]:
    """The same frame with its axes in another cyclic order."""
    return [*R[3 * by : 9], *R[: 3 * by], *R[9:12]]


@recorded_step
def axis(R: Numbers, o: Numbers, turns: Number, slides: Number) -> list[Number]:
    """A row's direction, about the point o."""
    z, p = R[6:9], less(R[9:12], o)
    return [*times(turns, z), *add(times(turns, cross(p, z)), times(slides, z))]


@recorded_step
def spread(R: Numbers, o: Numbers, body: Numbers) -> list[Number]:
    """Mass, first and second moments about the point o; `body` has them about its own origin, in its axes."""
    m, p = body[0], less(R[9:12], o)
    h = turned(R, body[1:4])
    half = [[sum(R[3 * k + a] * body[4 + PLACE[k, b]] for k in range(3)) for b in range(3)] for a in range(3)]
    moved_h = add(h, times(m, p))
    second = [
        half[a][0] * R[b] + half[a][1] * R[3 + b] + half[a][2] * R[6 + b] + p[a] * h[b] + moved_h[a] * p[b]
        for a, b in PAIRS
    ]
    return [m, *moved_h, *second]


def momentum_of(body: Numbers, motion: Numbers) -> list[Number]:
    """A rigid body's inertia times a motion: [J ω + h × v; m v + ω × h], J = tr(E) 1 − E."""
    m, h, E, w, v = body[0], body[1:4], body[4:], motion[:3], motion[3:]
    trace = E[0] + E[3] + E[5]
    turn = [trace * w[a] - (E[PLACE[a, 0]] * w[0] + E[PLACE[a, 1]] * w[1] + E[PLACE[a, 2]] * w[2]) for a in range(3)]
    return [*add(turn, cross(h, v)), *add(times(m, v), cross(w, h))]


@recorded_step
def momentum(body: Numbers, motion: Numbers) -> list[Number]:
    return momentum_of(body, motion)


def across_motion(v: Numbers, s: Numbers) -> list[Number]:
    """The rate v × s of a motion s that is fixed in what moves by v."""
    return [*cross(v[:3], s[:3]), *add(cross(v[:3], s[3:]), cross(v[3:], s[:3]))]


@recorded_step
def scaled(k: Number, a: Numbers) -> list[Number]:
    return times(k, a)


@recorded_step
def gained(S: Numbers, qdd: Number, v: Numbers, own: Numbers) -> list[Number]:
    """What a speed adds to the acceleration of what hangs on it: S q̈ + v × S q̇."""
    return add(times(qdd, S), across_motion(v, own))


@recorded_step
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


@recorded_step
def swirled(v: Numbers, s: Numbers) -> list[Number]:
    return across_motion(v, s)


def across_force(v: Numbers, f: Numbers) -> list[Number]:
    """The rate v ×* f of a force f that is fixed in what moves by v."""
    return [*add(cross(v[:3], f[:3]), cross(v[3:], f[3:])), *cross(v[:3], f[3:])]


@recorded_step
def force(body: Numbers, v: Numbers, a: Numbers) -> list[Number]:
    """The force on a rigid body with this motion: I a + v ×* I v."""
    return add(momentum_of(body, a), across_force(v, momentum_of(body, v)))


# ---- steps of articulated bodies, about points nearby, lest digits get lost far from the root


@recorded_step
def apart(a: Numbers, b: Numbers) -> list[Number]:
    return less(a, b)


@recorded_step
def motion_at(a: Numbers, r: Numbers) -> list[Number]:
    """A motion about a point, about another one that is r further on."""
    return [*a[:3], *add(a[3:], cross(a[:3], r))]


@recorded_step
def force_before(f: Numbers, r: Numbers) -> list[Number]:
    """A force about a point, about the one that is r before it."""
    return [*add(f[:3], cross(r, f[3:])), *f[3:]]


@recorded_step
def spatial(body: Numbers) -> list[Number]:
    """The upper half of a rigid body's inertia matrix [J, h×; −h×, m]."""
    (m, x, y, z), E = body[:4], body[4:]
    trace, zero = E[0] + E[3] + E[5], 0.0 * m
    skew = [[zero, -1.0 * z, y], [z, zero, -1.0 * x], [-1.0 * y, x, zero]]
    whole = {(a, b): (trace - E[PLACE[a, b]] if a == b else -1.0 * E[PLACE[a, b]]) for a, b in PAIRS}
    whole |= {(a, b + 3): skew[a][b] for a in range(3) for b in range(3)}
    whole |= {(a + 3, b + 3): m if a == b else zero for a, b in PAIRS}
    return [whole[pair] for pair in SIX]


@recorded_step
def inertia_before(A: Numbers, r: Numbers) -> list[Number]:
    """An articulated inertia about a point, about the one that is r before it."""
    J, H, M = ([[A[AT[a + x, b + y]] for b in range(3)] for a in range(3)] for x, y in ((0, 0), (0, 3), (3, 3)))
    columns = [add([H[a][b] for a in range(3)], cross(r, [M[a][b] for a in range(3)])) for b in range(3)]
    K = [[columns[b][a] for b in range(3)] for a in range(3)]  # H + r× M
    left = [cross(r, H[b]) for b in range(3)]  # the columns of r× Hᵀ
    right = [cross(K[a], r) for a in range(3)]  # the rows of K r×
    whole = {(a, b): J[a][b] + left[b][a] - right[a][b] for a, b in PAIRS}
    whole |= {(a, b + 3): K[a][b] for a in range(3) for b in range(3)} | {(a + 3, b + 3): M[a][b] for a, b in PAIRS}
    return [whole[pair] for pair in SIX]


@recorded_step
def hinged(A: Numbers, S: Numbers, rotor: Number) -> list[Number]:
    """What is left of an articulated inertia behind a row, A − U Uᵀ/D; then U/D and 1/D, D = S·U + rotor, U = A S."""
    U = [sum((A[AT[a, b]] * S[b] for b in range(1, 6)), A[AT[a, 0]] * S[0]) for a in range(6)]
    one_over = 1.0 / (dot(S[:3], U[:3]) + dot(S[3:], U[3:]) + rotor)
    part = times(one_over, U)
    return [*(A[k] - U[a] * part[b] for k, (a, b) in enumerate(SIX)), *part, one_over]


@recorded_step
def rest(x: Number, S: Numbers, f: Numbers) -> Number:
    return x - (dot(S[:3], f[:3]) + dot(S[3:], f[3:]))


@recorded_step
def pushed(f: Numbers, x: Number, part: Numbers) -> list[Number]:
    return add(f, times(x, part))


@recorded_step
def answered(x: Number, own: Numbers, a: Numbers, S: Numbers) -> list[Number]:
    """A row's acceleration under what is left of its force, and then that of its body."""
    u = x * own[6] - (dot(own[:3], a[:3]) + dot(own[3:6], a[3:]))
    return [u, *add(a, times(u, S))]


# ---- steps of derivatives (Singh, Russo and Wensing 2022, with K = 2 (tr W − W), W = Σ m ṙ rᵀ: 2 B = [K, 0; −2 f×, 0])


@recorded_step
def turning(body: Numbers, v: Numbers) -> list[Number]:
    """K of one body, row by row."""
    h, E, w = body[1:4], body[4:], v[:3]
    columns = [cross(w, [E[PLACE[a, b]] for a in range(3)]) for b in range(3)]
    W = [[columns[b][a] + v[3 + a] * h[b] for b in range(3)] for a in range(3)]
    trace = W[0][0] + W[1][1] + W[2][2]
    return [2.0 * (trace - W[a][b]) if a == b else -2.0 * W[a][b] for a in range(3) for b in range(3)]


@recorded_step
def impulse(body: Numbers, v: Numbers) -> list[Number]:
    return momentum_of(body, v)[3:]


@recorded_step
def columns_of(
    body: Numbers, K: Numbers, total: Numbers, S: Numbers, psi: Numbers, psi2: Numbers, rate: Numbers
) -> list[Number]:
    """Of a row's composite body F = I S; G and H, what its place and speed do to forces before it; and E = 2 Bᵀ S.

    `total` has the force on the composite body and, behind it, its impulse.
    """
    f, w = total[6:9], S[:3]

    def twice(w: Numbers) -> list[Number]:
        return [*(dot(K[3 * a : 3 * a + 3], w) for a in range(3)), *times(-2.0, cross(f, w))]

    F = momentum_of(body, S)
    G = add(twice(psi), momentum_of(body, psi2), across_force(S, total[0:6]))
    H = add(twice(w), momentum_of(body, rate))
    E = add([dot([K[a], K[3 + a], K[6 + a]], w) for a in range(3)], times(2.0, cross(f, S[3:])))
    return [*F, *G, *H, *E]


@recorded_step
def along_place(F: Numbers, E: Numbers, psi: Numbers, psi2: Numbers) -> Number:
    """What the place of a row before, or of the same joint, does to a row's force."""
    return dot(E, psi) + dot(F[:3], psi2[:3]) + dot(F[3:], psi2[3:])


@recorded_step
def signed(x: Number) -> Number:
    return sign(x)
