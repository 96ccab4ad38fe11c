"""Saha (1999): serial arms."""

from __future__ import annotations

from collections.abc import Sequence

from ...record.panels import Line, Panel
from ...scenario.run import Result
from .exhibit import Exhibit, Row, at, curves, each, span

PLANAR = ("joint1", "joint2", "joint3")


def _torques(result: Result) -> Sequence[Row]:
    ours = span(*(result.table[f"{joint}.tau"] for joint in PLANAR))
    return [("torques, N m", "axis of the figure: -2 to 5", ours)]


def _angles(result: Result) -> Sequence[Row]:
    first = "negative" if at(result, "joint1.q", 0.1) < 0 else "positive"
    return [
        ("angles, rad", "axis of the figure: -4 to 1", span(*(result.table[f"{joint}.q"] for joint in PLANAR))),
        ("the first angle moves off", "in the negative direction", f"{first}, to {at(result, 'joint1.q', 0.1):.3f}"),
    ]


def _slider(result: Result) -> Sequence[Row]:
    ours = ", ".join(f"{at(result, 'joint3.q', t):.2f} m at {t:g} s" for t in (0.5, 1.0, 1.5))
    return [
        ("joint 3", "moves off sharply once joint 2 is past 90 deg", ours),
        (
            "joint 2",
            "turns beyond 90 deg",
            f"{at(result, 'joint2.q', 1.0):.2f} rad at 1 s, from 1.57: the mirror image",
        ),
    ]


TURN, FORCE = ("torque", "N m"), ("force", "N")
SIX_FORCES = {f"joint{k}": (f"τ{chr(0x2080 + k)}", *(FORCE if k == 3 else TURN)) for k in range(1, 7)}
SIX_PLACES = {
    f"joint{k}": ("b₃", "position", "m") if k == 3 else (f"θ{chr(0x2080 + k)}", "angle", "rad") for k in range(1, 7)
}

EXHIBITS = (
    Exhibit(
        "saha-1999",
        "Fig. 5",
        "torques of the planar arm, angles from 0 to 180 deg in 10 s",
        "The paper prints no link data; with those of the same group's programs the torques fill the axis of its "
        "figure. That these are its data is very likely, not proven, and its curves have no numbers to compare with.",
        curves(
            "planar3r-idyn",
            Panel(
                "",
                "torque",
                "N m",
                tuple(Line(f"joint{k}.tau", f"τ{chr(0x2080 + k)}") for k in (1, 2, 3)),
                low=-2.0,
                high=5.0,
            ),
            rows=_torques,
        ),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 6",
        "free fall of the planar arm, held out level at the start",
        "With the same link data the angles of the first second fill the axis of the figure, and the first angle goes "
        "negative first, as the paper says. The curves themselves have no numbers to compare with.",
        curves(
            "planar3r-fall",
            Panel(
                "",
                "angle",
                "rad",
                tuple(Line(f"joint{k}.q", f"θ{chr(0x2080 + k)}") for k in (1, 2, 3)),
                low=-4.0,
                high=1.0,
            ),
            rows=_angles,
        ),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 8",
        "torques and the slider's force of the Stanford arm, 10 s",
        "Right for the printed table and motion, with gravity along -Z, which isn't stated. Paper and overview both "
        "claim exact agreement with the same thesis from tables that give different torques, so at most one is right.",
        curves("stanford-idyn", *each("tau", SIX_FORCES)),
    ),
    Exhibit(
        "saha-1999",
        "Fig. 9",
        "free fall of the Stanford arm from a level boom",
        "The slider runs off as the paper says. With the printed signs of the twist angles joint 2 falls towards 0 "
        "instead of growing beyond 90 deg, so the paper's curve must be the mirror image; its length isn't stated.",
        curves("stanford-fall", *each("q", SIX_PLACES), rows=_slider),
    ),
)
