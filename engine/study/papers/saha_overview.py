"""Saha's overview: operation counts, serial arms, the five-bar manipulator, the carpet scraper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...formats import load
from ...machine.program import count_operations
from ...record import Line, Panel
from ...scenario import Result
from ..complexity import UNDIVIDED, program_for_complexity
from .reproduction import (
    Changes,
    Exhibit,
    Reproduction,
    Row,
    exhibit_column_span,
    exhibit_of_run,
    exhibit_panel_of_each_joint,
    exhibit_value_at,
    paper_run,
)
from .saha_1999 import SIX_ANGLES, SIX_FORCES, SIX_PLACES, SIX_TORQUES, saha_other_table_verdict
from .saha_counts import saha_overview_forward_counts, saha_overview_inverse_counts
from .saha_smoothness import saha_smoothness

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
    left = paper_run("carpet-scraper-idyn")
    right = paper_run("carpet-scraper-idyn", (("robot.assembly", OTHER_KNEE),))
    table = {"t": left.t, "knee-left.tau": left.table["II-1.tau"], "knee-right.tau": right.table["II-1.tau"]}
    lines = (Line("knee-left.tau", "knee to the left"), Line("knee-right.tau", "knee to the right"))
    rate = exhibit_value_at(left, "II-1.qd", 0.0)
    rows = (
        ("crank", "45 rpm, 4.712 rad/s", f"{rate * 30 / math.pi:.1f} rpm, {rate:.3f} rad/s"),
        ("torque, N m, knee to the left", "no readable numbers", exhibit_column_span(left.table["II-1.tau"])),
        ("torque, N m, knee to the right", "no readable numbers", exhibit_column_span(right.table["II-1.tau"])),
    )
    off, right_rate = abs(table["knee-left.tau"] - table["knee-right.tau"]).max(), abs(rate - 4.712) < 5e-4
    turns = "The crank turns at the paper's rate." if right_rate else "The crank doesn't turn at the paper's rate."
    spans = [exhibit_column_span(one.table["II-1.tau"]) for one in (left, right)]
    verdict = (
        f"{turns} Which way the pantograph bends changes the torque by up to {off:.0f} N m: {spans[0]} N m with the "
        f"knee to the left, {spans[1]} N m with it to the right."
    )
    return Reproduction(table, (Panel("", "driving torque", "N m", lines),), rows, verdict=verdict)


# ---- what the figures without readable numbers show


def _largest(result: Result, column: str) -> float:
    return float(abs(result.table[column]).max())


def _plausible_inertias(result: Result) -> str:
    """How the torques of the PUMA arm change where its inertias are taken for weights."""
    document = load("puma").document
    assert document is not None
    lighter: Changes = tuple(
        (f"robot.links.{link['name']}.inertia", {axes: x / 9.81 for axes, x in link["inertia"].items()})
        for link in document.data["links"]
    )
    other = paper_run("puma-idyn", lighter)
    peaks = [_largest(one, "joint1.tau") for one in (result, other)]
    rest = max(_largest(result, f"joint{k}.tau") for k in (2, 3))
    off = max(float(abs(result.table[f"joint{k}.tau"] - other.table[f"joint{k}.tau"]).max()) for k in (2, 3))
    return (
        f"The torque of joint 1 peaks at {peaks[0]:.2f} N m, with inertias divided by 9.81 at {peaks[1]:.2f} N m; "
        f"those of joints 2 and 3, up to {rest:.1f} N m, change by at most {off:.1f} N m."
    )


def _keeps_its_energy(result: Result) -> str:
    angles = [np.ptp(result.table[f"joint{k}.q"]) for k in range(1, 7)]
    kept, exchanged = _largest(result, "energy.residual"), float(np.ptp(result.table["energy.kinetic"]))
    keeps = "keeps its energy" if kept < 1e-5 * exchanged else "doesn't keep its energy"
    return (
        f"The fall {keeps} to {kept:.1e} J of {exchanged:.0f} J that are exchanged; joint {int(np.argmax(angles)) + 1} "
        f"turns the most, by {max(angles):.2f} rad."
    )


def _slider_alone(result: Result) -> str:
    """The fall from θ₂ = 0, as the table has it, beside free fall along the slider."""
    other = paper_run("stanford-2009-fall", (("initial.joint2", 0),))
    still = max(float(np.ptp(other.table[f"joint{k}.q"])) for k in (1, 2, 4, 5, 6))
    off = float(abs(other.table["joint3.q"] - other.table["joint3.q"][0] - 9.81 / 2 * other.t**2).max())
    only = "nothing but the slider moves" if still < 1e-6 else f"other joints move, too, by up to {still:.2g} rad"
    falls = ", as g t²/2" if off < 1e-6 else f", by up to {off:.2g} m other than g t²/2"
    return f"From θ₂ = 0 {only}{falls}; from 90 deg joint 2 turns by {np.ptp(result.table['joint2.q']):.2f} rad."


ABOVE = {"J2^1": "32 deg", "J2^2": "100 deg"}


def _end_point_above(result: Result) -> str:
    other = paper_run("five-bar-idyn", (("robot.assembly", ABOVE),))
    spans = [
        " and ".join(exhibit_column_span(one.table[f"{joint}.tau"]) for joint in ("J1^1", "J1^2"))
        for one in (result, other)
    ]
    return f"The torques are {spans[0]} N m; with the end point above the elbows they would be {spans[1]} N m."


def _scraper_costs() -> Reproduction:
    """Section 4.4: what the subsystems of the carpet scraper save, by the paper's orders and by operations."""
    robot, rows = load("carpet-scraper"), list[Row]()
    ways = (("subsystem by subsystem", "inverse", "forward"), ("all in one system", UNDIVIDED, "forward, dense"))
    printed = ("O(4³/3 + 3³/3 + 1)", "not given")
    counted = [[count_operations(program_for_complexity(robot, what).results()) for what in two] for _, *two in ways]
    for (name, *_), words, counts in zip(ways, printed, counted):
        rows.append((name, words, *(str(count) for count in counts)))
    orders = (4**3 + 2**3) / 3 + 1, (4**3 + 3**3) / 3 + 1, 21**3 / 3
    rows.append(("21 uncoupled equations", "O(21³/3)", f"{orders[2]:.0f}, beside {orders[0]:.0f} with 2³/3", ""))
    inverse, forward = ([two[k].multiplications for two in counted] for k in range(2))
    result = paper_run("carpet-scraper-idyn")
    less = [100 * (1 - two[0] / two[1]) for two in (inverse, forward)]
    verdict = (
        f"The orders stand for {orders[1]:.0f} and {orders[2]:.0f} operations of elimination, a ratio of "
        f"{orders[2] / orders[1]:.0f}; subsystem I has two unknowns, not three, which makes the first {orders[0]:.0f}. "
        f"By recursion the whole inverse dynamics takes {inverse[0]} multiplications by subsystems and {inverse[1]} "
        f"with all unknowns in one system, {less[0]:.0f} % less, since elimination leaves the zeros out; forward "
        f"dynamics {forward[0]} and {forward[1]}, {less[1]:.0f} % less."
    )
    panel = Panel("", "driving torque", "N m", (Line("II-1.tau", "τ"),))
    table = {"t": result.t, "II-1.tau": result.table["II-1.tau"]}
    heads = ("way", "paper", "denoc: inverse dynamics", "denoc: forward dynamics")
    return Reproduction(table, (panel,), tuple(rows), heads, ranges=False, verdict=verdict)


LEG_1 = (Line("J1^1.q", "θ₁¹, driven"), Line("J2^1.q", "θ₂¹"))
LEG_2 = (Line("J1^2.q", "θ₁², driven"), Line("J2^2.q", "θ₂²"))

EXHIBITS = (
    Exhibit(
        "saha-overview",
        "Table 1",
        "operations of inverse dynamics, n revolute joints",
        "denoc's row is counted from its own program, for a general chain with regrouped inertias; it is not the "
        "paper's algorithm operation by operation.",
        saha_overview_inverse_counts,
    ),
    Exhibit(
        "saha-overview",
        "Table 2",
        "operations of forward dynamics, n revolute joints",
        "n* and n+ are the numbers of links from which on an algorithm takes fewer multiplications than the cubic one, "
        "and fewer additions, too. denoc's rows are counted from its own programs, O(n) and dense.",
        saha_overview_forward_counts,
    ),
    Exhibit(
        "saha-overview",
        "smoothness",
        "accelerations by O(n), Cholesky and LU: their rounding errors, and steps of falling chains",
        "Both of Saha's papers say that accelerations by O(n) are smoother, so that fewer steps are needed, without "
        "an example. Chains, masses and tolerances are ours; errors are beside the recursion in longer floats.",
        saha_smoothness,
    ),
    Exhibit(
        "saha-overview",
        "Fig. 6",
        "torques of the PUMA arm, all angles from 0 to 180 deg in 10 s",
        "Right for the printed table and motion, with gravity along -Z, which isn't stated. Its inertias are too large "
        "for such links, perhaps by a factor of 9.81; the curves have no numbers to compare with.",
        exhibit_of_run("puma-idyn", *exhibit_panel_of_each_joint("tau", SIX_TORQUES), verdict=_plausible_inertias),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 7",
        "free fall of the PUMA arm from its initial position",
        "Right for the printed table, with gravity along -Z. The text says neither how long the fall lasts (10 s here) "
        "nor gives numbers of the curves.",
        exhibit_of_run("puma-fall", *exhibit_panel_of_each_joint("q", SIX_ANGLES), verdict=_keeps_its_energy),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 8",
        "torques and the slider's force of the Stanford arm, 10 s",
        "Right for the later table with θ₂ starting at 90 deg, as the text says (its Table 4 has 0). This paper and "
        "that of 1999 claim exact agreement with the same thesis, from different tables.",
        exhibit_of_run(
            "stanford-2009-idyn",
            *exhibit_panel_of_each_joint("tau", SIX_FORCES),
            verdict=saha_other_table_verdict("stanford-idyn", "1999"),
        ),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 9",
        "free fall of the Stanford arm",
        "From θ₂ = 0, as the table has it, nothing but the slider would move, so the figure was not made so; it starts "
        "from 90 deg here. Neither its length nor numbers of the curves are in the text.",
        exhibit_of_run("stanford-2009-fall", *exhibit_panel_of_each_joint("q", SIX_PLACES), verdict=_slider_alone),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 12",
        "joint angles of the five-bar manipulator, 20 s",
        "The angles of the outer links hang on the distance of the base joints, which the text leaves out (1.2 m "
        "here), so their curves can't be claimed.",
        exhibit_of_run(
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
        exhibit_of_run(
            "five-bar-idyn",
            Panel("", "torque", "N m", (Line("J1^1.tau", "τ 1-1"), Line("J1^2.tau", "τ 1-2"))),
            verdict=_end_point_above,
        ),
    ),
    Exhibit(
        "saha-overview",
        "Fig. 14",
        "free fall of the five-bar manipulator from 80 and 70 deg, until it is singular",
        "The distance of the base joints was chosen so that the time of the singular position fits. The curves can't "
        "be claimed.",
        exhibit_of_run(
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
    Exhibit(
        "saha-overview",
        "Section 4.4",
        "cost of the carpet scraper's inverse dynamics, by subsystems and all in one",
        "The paper gives orders of elimination, in which a subsystem of two unknowns is counted as three. Operations "
        "are those of denoc's programs with the mechanism's numbers folded in.",
        _scraper_costs,
    ),
)
