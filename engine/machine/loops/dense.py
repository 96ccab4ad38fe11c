"""What happens within a step, on whole vectors: dense output, the rows of a run, and events.

K are the step's stages, y the state at its beginning t, `new` at its end t_new. A watch is a rule: an affine function,
with a slack, of a component of the state or of a quantity of the program. Its numbers may differ from run to run.
"""

from __future__ import annotations

import math

from .words import (
    Names,
    Number,
    Table,
    Vector,
    given,
    larger,
    no,
    put,
    rolled,
    shares,
    smaller,
    some,
    spacing,
    weighted,
    where,
    whole,
)

PARTS = 4  # of a step, at whose ends watches are looked at
INFINITE = math.inf
RULE_SIZE = 5  # numbers of a rule: those of `simulate/integrators/events.py:Rule`


def between(method: Names, x: Number, step: Number, y: Vector, K: Table) -> Vector:
    """The state at the place x, 0 to 1, of a step from y, by dense output."""
    return y + step * weighted(shares(method.P, x), K)


def put_rows(
    method: Names,
    system: Names,
    K: Table,
    y: Vector,
    new: Vector,
    spare: Vector,
    grid: Table,
    out: Table,
    passed: Number,
    t: Number,
    t_new: Number,
    step: Number,
    row: Number,
    gap: Number,
) -> Names:
    """Writes the output rows up to t_new of those runs that have taken their steps; the next row, and how open any was.

    What a step ends with is better than dense output.
    """
    at = grid[whole(row)]
    here = passed & (at <= t_new)
    while some(here):
        state = where(at == t_new, new, between(method, (at - t) / step, step, y, K))
        if system.closing > 0:
            gap = closed(system, at, state, spare, gap)
        put(out, row, here, state)
        row = where(here, row + 1.0, row)
        at = grid[whole(row)]
        here = passed & (at <= t_new)
    return row, gap


def closed(system: Names, at: Number, state: Vector, spare: Vector, gap: Number) -> Number:
    """Closes an output row, by what the rate leaves; returns how far rows were open at most."""
    spare[:] = system.rate(at, state)
    for i in rolled(system.closing - 1):
        state[i] = +system.closes[i]
    last = +system.closes[system.closing - 1]
    return where(no(last <= gap), last, gap)


def event_is_possible(
    method: Names, system: Names, watch: Names, K: Table, y: Vector, new: Vector, t: Number, t_new: Number, step: Number
) -> Number:
    """Whether a watch goes from positive to not positive between two places, or may do so in a dip between three."""
    found = False
    if watch.count > 0:
        look(system, watch, 0, t, +y)
        for k in rolled(1, PARTS):
            x = k / PARTS
            look(system, watch, k, t + x * step, between(method, x, step, y, K))
        look(system, watch, PARTS, t_new, +new)
        for i in rolled(watch.count):
            for k in range(PARTS):
                up = watch.values[i, k] > 0.0
                found = found | (up & no(watch.values[i, k + 1] > 0.0))
                if k > 0:
                    found = found | dips(+watch.values[i, k - 1], +watch.values[i, k], +watch.values[i, k + 1])
    return found


def look(system: Names, watch: Names, k: int, at: Number, state: Vector) -> None:
    """Notes the values of all watches at one instant of a step."""
    read(system, watch, at, state)
    for i in rolled(watch.count):
        watch.values[i, k] = ruled(watch, i)


def read(system: Names, watch: Names, at: Number, state: Vector) -> None:
    """Reads what watches look at in one state."""
    watch.state[:] = state
    if watch.deep > 0:
        watch.behind[:] = system.quantities(at, watch.state)


def ruled(watch: Names, i: Number) -> Number:
    """The value of a watch, by its rule, of what has been read."""
    x = +watch.all[watch.places[i]]
    main = watch.rules[i, 0] * (x - watch.rules[i, 1]) + watch.rules[i, 2]
    return main + watch.rules[i, 3] * larger(abs(x), +watch.rules[i, 4])


def first_event_of_step(
    method: Names,
    system: Names,
    watch: Names,
    K: Table,
    y: Vector,
    new: Vector,
    t: Number,
    t_new: Number,
    step: Number,
    seen: Number,
) -> Names:
    """The ends of the steps that are `seen`, which are first events, if there are any, and whose these are, or -1.

    The state there takes the place of `new`.
    """
    value = given(value_within, method, system, watch, K, y, new, t, t_new, step)
    at, first = first_event(watch.count, watch.values, value, t, t_new, step, seen)
    met = seen & (first >= 0.0)
    state = between(method, (at - t) / where(met, step, 1.0), step, y, K)
    new[:] = where(met & (at < t_new), state, new)
    return where(met, at, t_new), where(met, first, -1.0)


def first_event(
    count: Number, values: Table, value: Names, t: Number, t_new: Number, step: Number, seen: Number
) -> Names:
    """The first instants behind falls of watches in those steps that are `seen`, and which watches these are.

    That is the step's end and -1 where none falls. `values` are those of all watches at the ends of a step's parts,
    `value(i, at, going)` is that of a watch at instants within.
    """
    at, which = +t_new, where(seen, -1.0, -1.0)
    for k in rolled(1, PARTS + 1):
        free = seen & (which < 0.0)
        a, b = t + step * ((k - 1) / PARTS), where(k == PARTS, t_new, t + step * (k / PARTS))
        for i in rolled(count):
            ga, gb = +values[i, k - 1], +values[i, k]
            above, low, below, one = +a, +b, +gb, given(value, i)
            up = free & (ga > 0.0)
            falls = up & no(gb > 0.0)
            if k > 1:
                before, g = t + step * ((k - 2) / PARTS), +values[i, k - 2]
                bent = up & (g > 0.0) & (gb > 0.0)
                if some(bent):
                    under, x, gx = place_of_dip(one, before, g, a, ga, b, gb, bent)
                    falls, low, below = falls | under, where(under, x, low), where(under, gx, below)
                    above = where(under & (x < a), before, above)
                    ga = where(under & (x < a), g, ga)
            if some(falls):
                found = zero_crossing(one, above, ga, low, below, falls, 0.0)
                earlier = falls & ((which < 0.0) | (found < at))
                at, which = where(earlier, found, at), where(earlier, 1.0 * i, which)
    return at, which


def value_within(
    method: Names,
    system: Names,
    watch: Names,
    K: Table,
    y: Vector,
    new: Vector,
    t: Number,
    t_new: Number,
    step: Number,
    i: Number,
    at: Number,
    going: Number,
) -> Number:
    """The value of a watch at instants within a step."""
    x = (at - t) / where(going, step, 1.0)
    read(system, watch, at, where(at == t_new, new, between(method, x, step, y, K)))
    return ruled(watch, i)


def dips(a: Number, b: Number, c: Number) -> Number:
    """Whether a parabola through three positive values is worth a look at its lowest point.

    With places −1, 0 and 1, slope s = b − a and bend d = (c − b − s) / 2, that point is at −s/(2d) − 1/2.
    """
    slope = b - a
    bend = 0.5 * (c - b - slope)
    place = -0.5 - 0.5 * slope / where(bend > 0.0, bend, 1.0)
    low = smaller(smaller(a, b), c)
    promising = larger(0.5 * low, 0.2 * (larger(larger(a, b), c) - low))
    inside = (a > 0.0) & (b > 0.0) & (c > 0.0) & (bend > 0.0) & (place > -1.0) & (place < 1.0)
    return inside & (a + (slope + bend * place) * (place + 1.0) < promising)


# ---- where functions of time change their sign; `g(x, going)` has to be right where `going` holds


def zero_crossing(g: Names, a: Number, ga: Number, b: Number, gb: Number, going: Number, tolerance: Number) -> Number:
    """The instants just behind changes of sign between a and b, where functions have their new signs already.

    Exactly one of ga = g(a) and gb = g(b) must be positive; zero counts as not positive. A change lies before the
    instant by less than `tolerance`, or the spacing of floats. Of several changes, any one may be found.

    The method is ITP (interpolate, truncate, project): regula falsi for speed, pulled towards the middle so that it
    takes at most one or two evaluations more than bisection (Oliveira and Takahashi, ACM Trans. Math. Software 47
    (2021) 5).
    """
    tolerance = larger(tolerance, 2.0 * spacing(larger(abs(a), abs(b))))
    pull = 0.2 / where(going, b - a, 1.0)
    reach, old = +tolerance, where(ga > 0.0, 1.0, 0.0)
    while some(going & (reach < b - a)):
        reach = where(reach < b - a, 2.0 * reach, reach)
    going = going & (b - a > tolerance)
    while some(going):
        width, fall = b - a, ga - gb
        middle = a + width / 2.0
        x = where(abs(fall) < INFINITE, a + width * (ga / where(fall == 0.0, 1.0, fall)), middle)
        inwards = where(x <= middle, 1.0, -1.0)
        nudge = larger(pull * width * width, tolerance / 2.0)  # past the root: the bracket closes from its far side
        x = where(nudge <= abs(middle - x), x + inwards * nudge, middle)
        radius = larger(reach - width / 2.0, 0.0)
        x = where(abs(x - middle) > radius, middle - inwards * radius, x)
        x = where((a < x) & (x < b), x, middle)
        gx = g(x, going)
        same = where(gx > 0.0, 1.0, 0.0) == old
        a, ga = where(going & same, x, a), where(going & same, gx, ga)
        b, gb = where(going & no(same), x, b), where(going & no(same), gx, gb)
        reach = reach / 2.0
        going = going & (b - a > tolerance)
    return b


def place_of_dip(g: Names, a: Number, ga: Number, b: Number, gb: Number, c: Number, gc: Number, going: Number) -> Names:
    """Whether parabolas through three positive values lead to one that isn't, with its instant and value."""
    under = going & (ga < 0.0)
    low, depth, lowest = +b, +gb, smaller(smaller(ga, gb), gc)
    for _ in rolled(6):
        slope = (gb - ga) / where(going, b - a, 1.0)
        bend = ((gc - gb) / where(going, c - b, 1.0) - slope) / where(going, c - a, 1.0)
        going = going & (bend > 0.0)
        x = (a + b - slope / where(going, bend, 1.0)) / 2.0  # the parabola's lowest point
        promising = larger(lowest / 2.0, 0.2 * (larger(larger(ga, gb), gc) - lowest))
        going = going & (a < x) & (x < c) & (x != b) & (ga + (slope + bend * (x - b)) * (x - a) < promising)
        if some(going):
            gx = g(x, going)
            now = going & no(gx > 0.0)
            under, low, depth = under | now, where(now, x, low), where(now, gx, depth)
            going = going & (gx > 0.0) & (gx < lowest)
            lowest, left = where(going, gx, lowest), x < b
            a, ga = where(going & no(left), b, a), where(going & no(left), gb, ga)
            c, gc = where(going & left, b, c), where(going & left, gb, gc)
            b, gb = where(going, x, b), where(going, gx, gb)
    return under, low, depth
