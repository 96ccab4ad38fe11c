"""Tables 1 and 2 of Saha's papers: operations of inverse and forward dynamics, published ones beside denoc's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...record import Line, Panel
from .. import complexity
from ..complexity import FORWARD, INVERSE, Published
from .reproduction import Reproduction, Row

Counts = Callable[[int], tuple[int, int]]  # multiplications and additions over the number of joints

MOST = 16  # joints of the longest chain that is counted

# ---- the printed counts, and those of the formulas

PRINTED_AT_SIX = {
    "Hollerbach (1980)": (2195, 1719),
    "Luh et al. (1980)": (852, 834),
    "Walker and Orin (1982)": (800, 595),
    "RIDIM (Saha, 1999)": (676, 527),
    "Khalil et al. (1986)": (538, 478),
    "Angeles et al. (1989)": (521, 435),
    "Balafoutis et al. (1988)": (489, 421),
}
CUBIC = FORWARD[-1]
# the number of links from which on the algorithm is cheaper than the cubic one, by multiplications and then by
# additions, too, with the counts there
PRINTED_CROSSINGS: dict[str, tuple[int, int, int, int, int]] = {
    "Mohan and Saha (2007)": (10, 1602, 12, 1948, 1667),
    "Saha (2003)": (10, 1626, 14, 2390, 2293),
    "Featherstone (1983)": (12, 2190, 14, 2588, 2263),
    "Valasek": (13, 2595, 15, 3047, 2745),
    "Brandle et al.": (14, 3278, 16, 3778, 3322),
}


def _counts(published: Sequence[Published], own: dict[str, str]) -> tuple[dict[str, np.ndarray], tuple[Panel, ...]]:
    """The counts over the number of joints as columns and panels; `own` maps our algorithms to their labels."""
    n = range(1, MOST + 1)
    table: dict[str, np.ndarray] = {"n": np.array(n, dtype=float)}
    lines: dict[str, list[Line]] = {"multiplications": [], "additions": []}
    for row in published:
        for kind, values in zip(lines, zip(*(row.at(k) for k in n))):
            table[f"{row.algorithm}: {kind}"] = np.array(values, dtype=float)
            lines[kind].append(Line(f"{row.algorithm}: {kind}", row.algorithm))
    for what, label in own.items():
        counts = [complexity.complexity_of_chain(what, k) for k in n]
        table[f"{label}: multiplications"] = np.array([c.multiplications + c.divisions for c in counts], dtype=float)
        table[f"{label}: additions"] = np.array([c.additions for c in counts], dtype=float)
        for kind, into in lines.items():
            into.append(Line(f"{label}: {kind}", label, width=2.4))
    return table, tuple(Panel(kind, "operations", "", tuple(drawn), low=0.0) for kind, drawn in lines.items())


def saha_overview_inverse_counts() -> Reproduction:
    """Table 1 of the overview."""
    table, panels = _counts(INVERSE, {"inverse": "denoc"})
    rows: list[Row] = []
    for row in INVERSE:
        m, a = row.at(6)
        printed = PRINTED_AT_SIX[row.algorithm]
        rows.append((row.algorithm, *row.formulas(), f"{printed[0]} M {printed[1]} A", f"{m} M {a} A"))
    ours = _count_at(table, "denoc", 6)
    rows.append(("denoc, a general chain", *(_linear(table, "denoc", kind) for kind in _KINDS), "", ours))
    heads = ("algorithm", "multiplications", "additions", "printed, n = 6", "computed, n = 6")
    right = sum(row.at(6) == PRINTED_AT_SIX[row.algorithm] for row in INVERSE)
    cheapest = saha_cheapest_count(table, "denoc", INVERSE, 6)
    verdict = f"The formulas give {saha_count_of_all(right, len(INVERSE))} printed counts. {cheapest}"
    return Reproduction(table, panels, tuple(rows), heads, "number of revolute joints n", ranges=False, verdict=verdict)


def saha_overview_forward_counts() -> Reproduction:
    """Table 2 of the overview."""
    own = {"forward": "denoc, O(n)", "forward, dense": "denoc, dense"}
    table, panels = _counts(FORWARD, own)
    rows: list[Row] = []
    for row in FORWARD:
        first, both = (0, 0) if row is CUBIC else _crossings(row.at)
        counts = f"{row.at(6)[0]} M {row.at(6)[1]} A"
        if row.algorithm in PRINTED_CROSSINGS:
            n, m, n_both, m_both, a_both = PRINTED_CROSSINGS[row.algorithm]
            right = row.at(n)[0] == m and row.at(n_both) == (m_both, a_both)
            quoted = f"{n}: {m} M; {n_both}: {m_both} M {a_both} A" + ("" if right else " (not what the formula gives)")
        else:
            quoted = ""
        rows.append((row.algorithm, *row.formulas(), counts, quoted, "" if row is CUBIC else f"{first}; {both}"))
    for label in own.values():
        rows.append((label, *(_linear(table, label, kind) for kind in _KINDS), _count_at(table, label, 6), "", ""))
    own_way, dense = (saha_counted(what) for what in ("forward", "forward, dense"))
    rows.append(("denoc, O(n) against its own dense way", "", "", "", "", "{}; {}".format(*_crossings(own_way, dense))))
    heads = ("algorithm", "multiplications", "additions", "n = 6", "printed n*; n+", "computed n*; n+")
    linear = [row for row in FORWARD if row.algorithm in PRINTED_CROSSINGS]
    printed = [(_crossings(row.at), PRINTED_CROSSINGS[row.algorithm]) for row in linear]
    firsts, boths = (sum(found[0] == n[0] for found, n in printed), sum(found[1] == n[2] for found, n in printed))
    given = sum("not what" not in row[4] for row in rows if row[4])
    verdict = (
        f"The formulas give {saha_count_of_all(given, len(linear))} rows of printed counts; of the printed n* {firsts} "
        f"of {len(linear)} follow from them, of the n+ {boths}. {saha_efficient_from(linear, 10)} "
        f"{' '.join(saha_cheapest_count(table, 'denoc, O(n)', linear, n) for n in SIZES)} "
        f"{saha_beside_cubic(own_way)} {saha_dense_explained()}"
    )
    return Reproduction(table, panels, tuple(rows), heads, "number of revolute joints n", ranges=False, verdict=verdict)


def saha_count_of_all(count: int, all_: int) -> str:
    """How many of all there are, in words."""
    return f"all {all_}" if count == all_ else f"only {count} of {all_}"


def saha_cheapest_count(table: dict[str, np.ndarray], label: str, published: Sequence[Published], n: int) -> str:
    """How our counts for n joints compare with the least of the published ones, kind by kind."""
    ours = [int(table[f"{label}: {kind}"][n - 1]) for kind in _KINDS]
    least = [min(row.at(n)[place] for row in published) for place in range(len(_KINDS))]
    fewer = [kind for kind, a, b in zip(_KINDS, ours, least) if a < b]
    less = ("fewer of neither", f"fewer {' and '.join(fewer)} only", "fewer of both")[len(fewer)]
    return (
        f"At n = {n} {label} takes {ours[0]} multiplications and {ours[1]} additions, {less} than the least of the "
        f"published O(n) rows ({least[0]} and {least[1]})."
    )


def saha_beside_cubic(ours: Counts) -> str:
    """What the published O(n^3) row takes, and the numbers of links from which on ours is cheaper."""
    counts = " and ".join(f"{CUBIC.at(n)[0]} and {CUBIC.at(n)[1]} at n = {n}" for n in SIZES)
    first, both = _crossings(ours)
    return (
        f"The published O(n^3) row takes {counts}: denoc's O(n) is cheaper than it from n* = {first} on by "
        f"multiplications and from n+ = {both} on by additions, too."
    )


def saha_efficient_from(published: Sequence[Published], n: int) -> str:
    """How many of the linear rows are cheaper than the cubic one with n links, where the overview says all are."""
    cheaper = [sum(row.at(n)[kind] < CUBIC.at(n)[kind] for row in published) for kind in range(2)]
    holds = "holds" if cheaper == [len(published)] * 2 else "doesn't hold"
    return (
        f'That all O(n) schemes are "efficient when n >= {n}" {holds}: there {cheaper[0]} of {len(published)} take '
        f"fewer multiplications than the O(n^3) row, and {cheaper[1]} fewer additions."
    )


def saha_dense_explained() -> str:
    """Why our dense way is dearer than the published one: what that leaves for the bias, beside inverse dynamics."""
    n = SIZES[-1]
    ours, bias = saha_counted("forward, dense")(n), saha_counted("bias")(n)
    matrix = tuple(a - b for a, b in zip(ours, bias))
    left = tuple(a - b for a, b in zip(CUBIC.at(n), matrix))
    least = tuple(min(row.at(n)[kind] for row in INVERSE) for kind in range(2))
    enough = all(a >= b for a, b in zip(left, least))
    beside = "as much as" if enough else "less than"
    return (
        f"denoc's dense way takes {ours[0]} and {ours[1]} at n = {n}, of which {bias[0]} and {bias[1]} are for the "
        f"bias, a pass of inverse dynamics, and {matrix[0]} and {matrix[1]} for the inertia matrix and its solution. "
        f"That leaves the published row {left[0]} and {left[1]} for the bias, {beside} the cheapest inverse dynamics "
        f"of Table 1 takes ({least[0]} and {least[1]})."
    )


def saha_counted(what: str) -> Counts:
    """The multiplications, with divisions, and the additions of ours over the number of joints."""

    def at(n: int) -> tuple[int, int]:
        count = complexity.complexity_of_chain(what, n)
        return count.multiplications + count.divisions, count.additions

    return at


_KINDS = ("multiplications", "additions")


def _crossings(ours: Counts, dense: Counts = CUBIC.at) -> tuple[int, int]:
    """The n from which on a way is cheaper than the dense one, by multiplications and by additions."""
    first, both = (max(n for n in range(1, 25) if ours(n)[kind] >= dense(n)[kind]) + 1 for kind in range(2))
    return first, both


def _count_at(table: dict[str, np.ndarray], label: str, n: int) -> str:
    m, a = (int(table[f"{label}: {kind}"][n - 1]) for kind in _KINDS)
    return _words(m, a)


def _linear(table: dict[str, np.ndarray], label: str, kind: str) -> str:
    """The counts as c n + d, or empty if they aren't linear from n = 4 on."""
    values = table[f"{label}: {kind}"][3:]
    slopes = set(np.diff(values).astype(int).tolist())
    if len(slopes) > 1:
        return ""
    slope = slopes.pop()
    constant = int(values[0]) - 4 * slope
    return f"{slope}n {'-' if constant < 0 else '+'} {abs(constant)}"


# ---- the paper of 1999

PRINTED_IN_1999 = {  # Table 2: multiplications and additions at n = 6, then at n = 12
    "Saha (1999), proposed": ((871, 797), (2077, 1955)),
    "Featherstone (1983)": ((996, 871), (2190, 1915)),
    CUBIC.algorithm: ((633, 480), (2357, 1716)),
}
SIZES = (6, 12)


def saha_1999_inverse_counts() -> Reproduction:
    """Table 1 of the paper of 1999, with a column for twelve joints."""
    table, panels = _counts(INVERSE, {"inverse": "denoc"})
    printed = {name: (counts,) for name, counts in PRINTED_AT_SIX.items()}
    own, verdict = _with_printed(INVERSE, printed, table, "denoc")
    return _beside(
        table, panels, own, f"{verdict} {' '.join(saha_cheapest_count(table, 'denoc', INVERSE, n) for n in SIZES)}"
    )


def saha_1999_forward_counts() -> Reproduction:
    """Table 2 of the paper of 1999."""
    published = [row for row in FORWARD if row.algorithm in PRINTED_IN_1999]
    table, panels = _counts(published, {"forward": "denoc, O(n)", "forward, dense": "denoc, dense"})
    rows, verdict = _with_printed(published, PRINTED_IN_1999, table, "denoc, O(n)", "denoc, dense")
    linear = [row for row in published if row is not CUBIC]
    cheapest = " ".join(saha_cheapest_count(table, "denoc, O(n)", linear, n) for n in SIZES)
    more = f"{saha_beside_cubic(saha_counted('forward'))} {saha_dense_explained()}"
    return _beside(table, panels, rows, f"{verdict} {cheapest} {more}")


def _with_printed(
    published: Sequence[Published],
    printed: Mapping[str, tuple[tuple[int, int], ...]],
    table: dict[str, np.ndarray],
    *own: str,
) -> tuple[list[Row], str]:
    """The rows of a table with counts for six and twelve joints, and a sentence on how many are as printed."""
    rows, right, wrong = list[Row](), 0, list[str]()
    for row in published:
        counts = [row.at(n) for n in SIZES]
        for n, found, given in zip(SIZES, counts, printed[row.algorithm]):
            right += found == given
            if found != given:
                wrong.append(f"{row.algorithm} at n = {n} printed {_words(*given)}, computed {_words(*found)}")
        quoted = "; ".join(_words(*given) for given in printed[row.algorithm])
        rows.append((row.algorithm, *row.formulas(), quoted, *(_words(*found) for found in counts)))
    for label in own:
        counted = (_count_at(table, label, n) for n in SIZES)
        rows.append((label, *(_linear(table, label, kind) for kind in _KINDS), "", *counted))
    but = f"; other than its formula has {'; '.join(wrong)}" if wrong else ""
    return rows, f"The formulas give {saha_count_of_all(right, right + len(wrong))} printed counts{but}."


def _beside(table: dict[str, np.ndarray], panels: tuple[Panel, ...], rows: Sequence[Row], verdict: str) -> Reproduction:
    heads = ("algorithm", "multiplications", "additions", "printed", *(f"n = {n}" for n in SIZES))
    return Reproduction(table, panels, tuple(rows), heads, "number of revolute joints n", ranges=False, verdict=verdict)


def _words(multiplications: int, additions: int) -> str:
    return f"{multiplications} M {additions} A"
