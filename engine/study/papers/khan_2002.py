"""Khan (2002): the planar 3-RRR manipulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...scenario.run import Result
from .entry import Entry, Line, Panel, Row, at, curves

DRIVEN = ("J1", "J2", "J3")


def _start(result: Result) -> Sequence[Row]:
    def shown(*values: float) -> str:
        return ", ".join(f"{x:.4f}" for x in values)

    angles = [at(result, f"{joint}.q", 0.0) for joint in ("J4", "J5", "J6")]
    centre = [at(result, f"platform.centre.{axis}", 0.0) for axis in "xy"]
    edge = sum(at(result, f"{joint}.q", 0.0) for joint in ("J1", "J4", "B1"))
    return [
        ("θ₄, θ₅, θ₆ at the start, rad", "-0.865, -2.102, -0.976", shown(*angles)),
        ("platform at the start: x₇, y₇ (m), θ₇ (rad)", "0.728, 0.233, 3.916", shown(*centre, edge % (2 * np.pi))),
        ("torques at the start, N m", "no readable numbers", shown(*(at(result, f"{j}.tau", 0.0) for j in DRIVEN))),
    ]


ENTRIES = (
    Entry(
        "khan-2002",
        "Fig. 4.2",
        "motion of the 3-RRR manipulator and the torques that drive it, 3 s",
        "The printed configuration closes to its three digits with base joints 1 m apart, which the thesis doesn't "
        "say. Whether the example that it repeats had gravity isn't known, and the curves have no numbers.",
        curves(
            "three-rrr-idyn",
            Panel(
                "motion",
                "angle",
                "rad",
                tuple(Line(f"{joint}.q", f"θ{chr(0x2081 + k)}") for k, joint in enumerate(DRIVEN)),
            ),
            Panel(
                "driving torques",
                "torque",
                "N m",
                tuple(Line(f"{joint}.tau", f"τ{chr(0x2081 + k)}") for k, joint in enumerate(DRIVEN)),
            ),
            rows=_start,
        ),
    ),
)
