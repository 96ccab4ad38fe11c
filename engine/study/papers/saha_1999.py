"""Saha (1999): serial arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...record import Line, Panel
from ...scenario import Result
from .reproduction import (
    Exhibit,
    Row,
    exhibit_column_span,
    exhibit_of_run,
    exhibit_panel_of_each_joint,
    exhibit_value_at,
    paper_run,
)
from .saha_counts import saha_1999_forward_counts, saha_1999_inverse_counts

PLANAR = ("joint1", "joint2", "joint3")
TORQUES, ANGLES = (-2.0, 5.0), (-4.0, 1.0)  # the axes of Figs. 5 and 6


def _planar(result: Result, suffix: str) -> list[np.ndarray]:
    return [result.table[f"{joint}.{suffix}"] for joint in PLANAR]


def _torques(result: Result) -> Sequence[Row]:
    return [("torques, N m", "axis of the figure: -2 to 5", exhibit_column_span(*_planar(result, "tau")))]


def saha_axis_fill(curves: Sequence[np.ndarray], axis: tuple[float, float], what: str) -> str:
    """How much of an axis the curves fill, and whether they stay within it."""
    low, high = min(x.min() for x in curves), max(x.max() for x in curves)
    if low < axis[0] or high > axis[1]:
        return f"The {what}, {low:.2f} to {high:.2f}, leave the axis of the figure."
    share = 100 * (high - low) / (axis[1] - axis[0])
    return f"The {what}, {low:.2f} to {high:.2f}, stay within the axis of the figure and fill {share:.0f} % of it."


def _first(result: Result) -> str:
    return "negative" if exhibit_value_at(result, "joint1.q", 0.1) < 0 else "positive"


def _falls(result: Result) -> str:
    way = "as the paper says" if _first(result) == "negative" else "other than the paper says"
    moves = f"The first angle moves off in the {_first(result)} direction, {way}."
    return f"{saha_axis_fill(_planar(result, 'q'), ANGLES, 'angles')} {moves}"


def _angles(result: Result) -> Sequence[Row]:
    first = _first(result)
    return [
        ("angles, rad", "axis of the figure: -4 to 1", exhibit_column_span(*_planar(result, "q"))),
        (
            "the first angle moves off",
            "in the negative direction",
            f"{first}, to {exhibit_value_at(result, 'joint1.q', 0.1):.3f}",
        ),
    ]


def _slider(result: Result) -> Sequence[Row]:
    ours = ", ".join(f"{exhibit_value_at(result, 'joint3.q', t):.2f} m at {t:g} s" for t in (0.5, 1.0, 1.5))
    return [
        ("joint 3", "moves off sharply once joint 2 is past 90 deg", ours),
        ("joint 2", "turns beyond 90 deg", f"{exhibit_value_at(result, 'joint2.q', 1.0):.2f} rad at 1 s, from 1.57"),
    ]


def saha_fall_direction(result: Result) -> str:
    """Which way joint 2 falls from 90 deg, and whether the slider moves off."""
    turned, out = (
        exhibit_value_at(result, "joint2.q", 0.5) - exhibit_value_at(result, "joint2.q", 0.0),
        exhibit_value_at(result, "joint3.q", 0.5),
    )
    slides = "The slider moves off, as the paper says" if abs(out) > 0.1 else "The slider doesn't move off"
    if turned > 0:
        return f"{slides} ({out:.2f} m in half a second), and joint 2 turns beyond 90 deg, as it says, too."
    return (
        f"{slides} ({out:.2f} m in half a second), but joint 2 falls by {-turned:.2f} rad in that time instead of "
        "turning beyond 90 deg: the paper's curve is the mirror image, or its table has other signs."
    )


def saha_other_table_verdict(scenario: str, which: str) -> Callable[[Result], str]:
    """How far the torques are from those of the other paper's table for the same arm and motion."""

    def verdict(result: Result) -> str:
        other = paper_run(scenario)
        off = {
            k: float(abs(result.table[f"joint{k}.tau"] - other.table[f"joint{k}.tau"]).max()) for k in (1, 2, 4, 5, 6)
        }
        worst = max(off, key=lambda k: off[k])
        if off[worst] < 1e-6:
            return f"The table of {which} gives the same torques."
        return (
            f"The table of {which} gives other torques, up to {off[worst]:.2f} N m apart (joint {worst}): of the two "
            "claims of exact agreement with one thesis at most one is right."
        )

    return verdict


def _planar_panel(quantity: str, unit: str, suffix: str, letter: str, axis: tuple[float, float]) -> Panel:
    lines = tuple(Line(f"{joint}.{suffix}", f"{letter}{chr(0x2081 + k)}") for k, joint in enumerate(PLANAR))
    return Panel("", quantity, unit, lines, low=axis[0], high=axis[1])


# panels of six joints: those that turn, and those of an arm whose third joint slides
SIX_TORQUES = {f"joint{k}": (f"τ{chr(0x2080 + k)}", "torque", "N m") for k in range(1, 7)}
SIX_ANGLES = {f"joint{k}": (f"θ{chr(0x2080 + k)}", "angle", "rad") for k in range(1, 7)}
SIX_FORCES = {**SIX_TORQUES, "joint3": ("τ₃", "force", "N")}
SIX_PLACES = {**SIX_ANGLES, "joint3": ("b₃", "position", "m")}

EXHIBITS = (
    Exhibit(
        "saha-1999",
        "Table 1",
        "operations of inverse dynamics, n revolute joints",
        "The paper prints the counts for six joints; those for twelve are of its formulas. denoc's row is counted from "
        "its own program, for a general chain with regrouped inertias.",
        saha_1999_inverse_counts,
    ),
    Exhibit(
        "saha-1999",
        "Table 2",
        "operations of forward dynamics, n revolute joints",
        "The paper compares two linear algorithms with the cubic one. denoc's rows are counted from its own programs, "
        "O(n) and dense, for a general chain with regrouped inertias.",
        saha_1999_forward_counts,
    ),
    Exhibit(
        "saha-1999",
        "Fig. 5",
        "torques of the planar arm, angles from 0 to 180 deg in 10 s",
        "The paper prints no link data; those of the same group's programs are taken. That these are its data is very "
        "likely, not proven, and its curves have no numbers to compare with.",
        exhibit_of_run(
            "planar3r-idyn",
            _planar_panel("torque", "N m", "tau", "τ", TORQUES),
            rows=_torques,
            verdict=lambda result: saha_axis_fill(_planar(result, "tau"), TORQUES, "torques"),
        ),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 6",
        "free fall of the planar arm, held out level at the start",
        "With the same link data. The paper says which way the first angle moves off and what its axes show; the "
        "curves themselves have no numbers to compare with.",
        exhibit_of_run(
            "planar3r-fall",
            _planar_panel("angle", "rad", "q", "θ", ANGLES),
            rows=_angles,
            verdict=_falls,
        ),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 8",
        "torques and the slider's force of the Stanford arm, 10 s",
        "Right for the printed table and motion, with gravity along -Z, which isn't stated. Paper and overview both "
        "claim exact agreement with the same thesis, from different tables.",
        exhibit_of_run(
            "stanford-idyn",
            *exhibit_panel_of_each_joint("tau", SIX_FORCES),
            verdict=saha_other_table_verdict("stanford-2009-idyn", "the overview"),
        ),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 9",
        "free fall of the Stanford arm from a level boom",
        "With the printed signs of the twist angles; the usual table of this arm has the opposite ones of the second "
        "and the fourth. How long the fall lasts isn't stated.",
        exhibit_of_run(
            "stanford-fall", *exhibit_panel_of_each_joint("q", SIX_PLACES), rows=_slider, verdict=saha_fall_direction
        ),
    ),
)
