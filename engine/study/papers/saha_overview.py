"""Saha's overview: operation counts, serial arms, the five-bar manipulator, the carpet scraper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...record.panels import Line, Panel
from ...scenario.run import Result
from .. import complexity
from ..complexity import FORWARD, INVERSE, Published
from .exhibit import Exhibit, Reproduction, Row, at, each, of_run, ran, span
from .saha_1999 import SIX_FORCES, SIX_PLACES, other_table

MOST = 16  # joints of the longest chain that is counted

# ---- Tables 1 and 2: the printed counts, and those of the formulas

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
        counts = [complexity.of_chain(what, k) for k in n]
        table[f"{label}: multiplications"] = np.array([c.multiplications + c.divisions for c in counts], dtype=float)
        table[f"{label}: additions"] = np.array([c.additions for c in counts], dtype=float)
        for kind, into in lines.items():
            into.append(Line(f"{label}: {kind}", label, width=2.4))
    return table, tuple(Panel(kind, "operations", "", tuple(drawn), low=0.0) for kind, drawn in lines.items())


def _table_1() -> Reproduction:
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
    verdict = f"The formulas give {_of(right, len(INVERSE))} printed counts. {_cheapest(table, 'denoc', INVERSE, 6)}"
    return Reproduction(table, panels, tuple(rows), heads, "number of revolute joints n", ranges=False, verdict=verdict)


def _table_2() -> Reproduction:
    own = {"forward": "denoc, O(n)", "forward, dense": "denoc, dense"}
    table, panels = _counts(FORWARD, own)
    rows: list[Row] = []
    for row in FORWARD:
        first, both = _crossings(row)
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
    ours = complexity.crossover(
        {k: (complexity.of_chain("forward", k), complexity.of_chain("forward, dense", k)) for k in range(1, MOST + 1)}
    )
    crossing = f"{ours['multiplications']}; {ours['operations']}"
    rows.append(("denoc, O(n) against its own dense way", "", "", "", "", crossing))
    heads = ("algorithm", "multiplications", "additions", "n = 6", "printed n*; n+", "computed n*; n+")
    linear = [row for row in FORWARD if row.algorithm in PRINTED_CROSSINGS]
    printed = [(_crossings(row), PRINTED_CROSSINGS[row.algorithm]) for row in linear]
    firsts, boths = (sum(found[0] == n[0] for found, n in printed), sum(found[1] == n[2] for found, n in printed))
    given = sum("not what" not in row[4] for row in rows if row[4])
    verdict = (
        f"The formulas give {_of(given, len(linear))} rows of printed counts; of the printed n* {firsts} of "
        f"{len(linear)} follow from them, of the n+ {boths}. {_cheapest(table, 'denoc, O(n)', linear, 6)} "
        f"{_cheapest(table, 'denoc, O(n)', linear, 12)}"
    )
    return Reproduction(table, panels, tuple(rows), heads, "number of revolute joints n", ranges=False, verdict=verdict)


def _of(count: int, all_: int) -> str:
    return f"all {all_}" if count == all_ else f"only {count} of {all_}"


def _cheapest(table: dict[str, np.ndarray], label: str, published: Sequence[Published], n: int) -> str:
    """How our counts for n joints compare with the least of the published ones, kind by kind."""
    ours = [int(table[f"{label}: {kind}"][n - 1]) for kind in _KINDS]
    least = [min(row.at(n)[place] for row in published) for place in range(len(_KINDS))]
    less = "less of both" if all(a < b for a, b in zip(ours, least)) else "not less of both"
    return (
        f"At n = {n} {label} takes {ours[0]} multiplications and {ours[1]} additions, {less} than the least published "
        f"({least[0]} and {least[1]})."
    )


_KINDS = ("multiplications", "additions")


def _crossings(row: Published) -> tuple[int, int]:
    """The n from which on a row is cheaper than the cubic one, by multiplications and by both kinds together."""

    def first(cost: Callable[[tuple[int, int]], int]) -> int:
        return max(n for n in range(1, 100) if cost(row.at(n)) >= cost(CUBIC.at(n))) + 1

    return (0, 0) if row is CUBIC else (first(lambda c: c[0]), first(sum))


def _count_at(table: dict[str, np.ndarray], label: str, n: int) -> str:
    m, a = (int(table[f"{label}: {kind}"][n - 1]) for kind in _KINDS)
    return f"{m} M {a} A"


def _linear(table: dict[str, np.ndarray], label: str, kind: str) -> str:
    """The counts as c n + d, or empty if they aren't linear from n = 4 on."""
    values = table[f"{label}: {kind}"][3:]
    slopes = set(np.diff(values).astype(int).tolist())
    if len(slopes) > 1:
        return ""
    slope = slopes.pop()
    constant = int(values[0]) - 4 * slope
    return f"{slope}n {'-' if constant < 0 else '+'} {abs(constant)}"


# ---- figures


def _five_bar(result: Result) -> Sequence[Row]:
    def ends(joint: str) -> str:
        q = np.degrees(result.table[f"{joint}.q"])
        return f"{q[0]:.1f} to {q[-1]:.1f} deg"

    return [("θ₁¹", "30 to 90 deg", ends("J1^1")), ("θ₁²", "30 to 70.3 deg", ends("J1^2"))]


def _driven(result: Result) -> str:
    ends = {"J1^1": (30, 90), "J1^2": (30, 70.3)}
    off = max(abs(np.degrees(result.table[f"{j}.q"][k]) - ends[j][k]) for j in ends for k in (0, -1))
    return "The driven angles are the paper's at both ends." if off < 0.05 else "The driven angles aren't the paper's."


def _rounds(result: Result) -> str:
    t = result.audit["singular"]["t"]
    rounds = "rounds to the paper's 1.4 s" if round(t, 1) == 1.4 else "doesn't round to the paper's 1.4 s"
    return f"The time of the singular position, {t:.3f} s, {rounds}."


def _singular(result: Result) -> Sequence[Row]:
    t = result.audit["singular"]["t"]
    return [("singular position", "after about 1.4 s", f"at {t:.4f} s"), ("end", "the program stopped", result.ended)]


OTHER_KNEE = {"III-1^0": "169 deg", "III-2^0": "-267 deg", "III-3^0": "87 deg", "III-1^1": "-267 deg"}


def _scraper() -> Reproduction:
    left = ran("carpet-scraper-idyn")
    right = ran("carpet-scraper-idyn", (("robot.assembly", OTHER_KNEE),))
    table = {"t": left.t, "knee-left.tau": left.table["II-1.tau"], "knee-right.tau": right.table["II-1.tau"]}
    lines = (Line("knee-left.tau", "knee to the left"), Line("knee-right.tau", "knee to the right"))
    rate = at(left, "II-1.qd", 0.0)
    rows = (
        ("crank", "45 rpm, 4.712 rad/s", f"{rate * 30 / math.pi:.1f} rpm, {rate:.3f} rad/s"),
        ("torque, N m, knee to the left", "no readable numbers", span(left.table["II-1.tau"])),
        ("torque, N m, knee to the right", "no readable numbers", span(right.table["II-1.tau"])),
    )
    off, right_rate = abs(table["knee-left.tau"] - table["knee-right.tau"]).max(), abs(rate - 4.712) < 5e-4
    turns = "The crank turns at the paper's rate." if right_rate else "The crank doesn't turn at the paper's rate."
    verdict = f"{turns} Which way the pantograph bends changes the torque by up to {off:.0f} N m."
    return Reproduction(table, (Panel("", "driving torque", "N m", lines),), rows, verdict=verdict)


LEG_1 = (Line("J1^1.q", "θ₁¹, driven"), Line("J2^1.q", "θ₂¹"))
LEG_2 = (Line("J1^2.q", "θ₁², driven"), Line("J2^2.q", "θ₂²"))

EXHIBITS = (
    Exhibit(
        "saha-overview",
        "Table 1",
        "operations of inverse dynamics, n revolute joints",
        "denoc's row is counted from its own program, for a general chain with regrouped inertias; it is not the "
        "paper's algorithm operation by operation.",
        _table_1,
    ),
    Exhibit(
        "saha-overview",
        "Table 2",
        "operations of forward dynamics, n revolute joints",
        "n* and n+ are the numbers of links from which on an algorithm is cheaper than the cubic one, without and with "
        "additions. denoc's rows are counted from its own programs, O(n) and dense.",
        _table_2,
    ),
    Exhibit(
        "saha-overview",
        "Fig. 6",
        "torques of the PUMA arm, all angles from 0 to 180 deg in 10 s",
        "Right for the printed table and motion, with gravity along -Z, which isn't stated. Its inertias are too large "
        "for such links, perhaps by a factor of 9.81; the curves have no numbers to compare with.",
        of_run("puma-idyn", *each("tau", {f"joint{k}": (f"τ{chr(0x2080 + k)}", "torque", "N m") for k in range(1, 7)})),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 7",
        "free fall of the PUMA arm from its initial position",
        "Right for the printed table, with gravity along -Z. The text says neither how long the fall lasts (10 s here) "
        "nor gives numbers of the curves.",
        of_run("puma-fall", *each("q", {f"joint{k}": (f"θ{chr(0x2080 + k)}", "angle", "rad") for k in range(1, 7)})),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 8",
        "torques and the slider's force of the Stanford arm, 10 s",
        "Right for the later table with θ₂ starting at 90 deg, as the text says (its Table 4 has 0). This paper and "
        "that of 1999 claim exact agreement with the same thesis, from different tables.",
        of_run("stanford-2009-idyn", *each("tau", SIX_FORCES), verdict=other_table("stanford-idyn", "1999")),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 9",
        "free fall of the Stanford arm",
        "From θ₂ = 0, as the table has it, nothing but the slider would move, so the figure was not made so; it starts "
        "from 90 deg here. Neither its length nor numbers of the curves are in the text.",
        of_run("stanford-2009-fall", *each("q", SIX_PLACES)),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 12",
        "joint angles of the five-bar manipulator, 20 s",
        "The angles of the outer links hang on the distance of the base joints, which the text leaves out (1.2 m "
        "here), so their curves can't be claimed.",
        of_run(
            "five-bar-idyn",
            Panel("(a) leg 1", "angle", "rad", LEG_1),
            Panel("(b) leg 2", "angle", "rad", LEG_2),
            rows=_five_bar,
            verdict=_driven,
        ),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 13",
        "driving torques of the five-bar manipulator, 20 s",
        "Right for uniform rods, base joints 1.2 m apart and the end point hanging below, all of which are our choice: "
        "the paper's curves can't be claimed.",
        of_run("five-bar-idyn", Panel("", "torque", "N m", (Line("J1^1.tau", "τ 1-1"), Line("J1^2.tau", "τ 1-2")))),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 14",
        "free fall of the five-bar manipulator from 80 and 70 deg, until it is singular",
        "The distance of the base joints was chosen so that the time of the singular position fits. The curves can't "
        "be claimed.",
        of_run(
            "five-bar-fall",
            Panel("", "angle", "rad", (Line("J1^1.q", "θ 1-1"), Line("J1^2.q", "θ 1-2"))),
            rows=_singular,
            verdict=_rounds,
        ),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 20",
        "driving torque of the carpet scraper, one turn at 45 rpm",
        "Which way the pantograph bends (both are shown), gravity and the crank's start aren't stated, so the curve "
        "can't be claimed.",
        _scraper,
    ),
)
