"""Khan (2002): the planar 3-RRR manipulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...record import Line, Panel
from ...scenario import Result
from ..compare_settings import ADAPTIVE, FIXED
from . import khan_verdicts as verdicts
from .exhibit import Exhibit, Reproduction, Row, exhibit_of_run, exhibit_value_at
from .khan_choices import SIGMAS, khan_kept_choices
from .khan_ratings import khan_nonholonomic, khan_ratings
from .khan_runs import (
    HUNG,
    khan_denoc_setting,
    khan_error_panels,
    khan_feedback_panels,
    khan_gauss_setting,
    khan_penalty_setting,
    khan_run,
    khan_run_given_up,
    khan_spring_rows,
)

DRIVEN = ("J1", "J2", "J3")
PRINTED = (-0.865, -2.102, -0.976, 0.728, 0.233, 3.916)  # θ₄, θ₅, θ₆, x₇, y₇, θ₇ at the start
KS = (1e3, 1e4, 1e5, 1e6)
NO_NUMBERS = ("",) * 4
FAILS_LONG, FAILS_SHORT = ("", "fails", "fails", "fails"), ("", "", "", "fails")  # springs at 0.01 s and at 0.001 s
SHARE = 15.0  # percent of the torque, within which the thesis finds the corrections of springs and of its projection


def _begun(result: Result) -> list[float]:
    """What the thesis prints of the start."""
    angles = [exhibit_value_at(result, f"{joint}.q", 0.0) for joint in ("J4", "J5", "J6")]
    centre = [exhibit_value_at(result, f"platform.centre.{axis}", 0.0) for axis in "xy"]
    edge = sum(exhibit_value_at(result, f"{joint}.q", 0.0) for joint in ("J1", "J4", "B1"))
    return [*angles, *centre, edge % (2 * np.pi)]


def _start(result: Result) -> Sequence[Row]:
    def shown(values: Sequence[float]) -> str:
        return ", ".join(f"{x:.4f}" for x in values)

    ours = _begun(result)
    return [
        ("θ₄, θ₅, θ₆ at the start, rad", "-0.865, -2.102, -0.976", shown(ours[:3])),
        ("platform at the start: x₇, y₇ (m), θ₇ (rad)", "0.728, 0.233, 3.916", shown(ours[3:])),
        (
            "torques at the start, N m",
            "no readable numbers",
            shown([exhibit_value_at(result, f"{j}.tau", 0.0) for j in DRIVEN]),
        ),
    ]


def _closes(result: Result) -> str:
    off = max(abs(x - printed) for x, printed in zip(_begun(result), PRINTED))
    closes = "closes to the three printed digits" if off < 6e-4 else "doesn't close to the three printed digits"
    return f"The printed configuration {closes} with base joints 1 m apart: it is off by at most {off:.1g} m or rad."


def _calm() -> Reproduction:
    springs = khan_run(khan_penalty_setting(1e5, ADAPTIVE, 1e-3)).stiffness
    return khan_error_panels(
        [khan_gauss_setting(sigma, ADAPTIVE, 1e-6) for sigma in SIGMAS],
        NO_NUMBERS,
        verdicts.khan_projection_verdict(springs),
        counted=True,
    )()


def _lines(suffix: str, letter: str) -> tuple[Line, ...]:
    return tuple(Line(f"{joint}.{suffix}", f"{letter}{chr(0x2081 + k)}") for k, joint in enumerate(DRIVEN))


EXHIBITS = (
    Exhibit(
        "khan-2002",
        "Fig. 4.2",
        "motion of the 3-RRR manipulator and the torques that drive it, 3 s",
        "The thesis doesn't say how far apart the base joints are, 1 m here. Whether the example that it repeats had "
        "gravity isn't known, and the curves have no numbers.",
        exhibit_of_run(
            HUNG,
            Panel("motion", "angle", "rad", _lines("q", "θ")),
            Panel("driving torques", "torque", "N m", _lines("tau", "τ")),
            rows=_start,
            verdict=_closes,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.3",
        "3-RRR manipulator, penalty method at rtol 1e-3: errors for four spring constants",
        "The thesis' nine coordinates and three sprung joints. Its counts and curves aren't readable, and which of "
        "Simulink's adaptive integrators it used isn't known, so no curve can be claimed.",
        khan_error_panels(
            [khan_penalty_setting(k, ADAPTIVE, 1e-3) for k in KS],
            NO_NUMBERS,
            verdicts.khan_springs_verdict,
            khan_spring_rows,
            True,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.4",
        "3-RRR manipulator, penalty method at rtol 1e-6: errors for four spring constants",
        "As Fig. 4.3 with a tighter tolerance. A run is given up after 20000 evaluations; no curve can be claimed.",
        khan_error_panels(
            [khan_penalty_setting(k, ADAPTIVE, 1e-6) for k in KS],
            NO_NUMBERS,
            verdicts.khan_springs_verdict,
            khan_spring_rows,
            True,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.5",
        "3-RRR manipulator, penalty method at steps of 0.01 s: errors for four spring constants",
        "Which runs fail can be claimed: an independent model of the thesis' equations says the same with each of "
        "Simulink's fixed-step integrators, ode1 to ode5; ours is the classical one of fourth order. The curves can't.",
        khan_error_panels(
            [khan_penalty_setting(k, FIXED, 0.01) for k in KS],
            FAILS_LONG,
            verdicts.khan_broken_runs_verdict(FAILS_LONG),
            khan_spring_rows,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.6",
        "3-RRR manipulator, penalty method at steps of 0.001 s: errors for four spring constants",
        "Which runs fail can be claimed, as of Fig. 4.5; the curves can't, since every error grows along this unstable "
        "motion.",
        khan_error_panels(
            [khan_penalty_setting(k, FIXED, 0.001) for k in KS],
            FAILS_SHORT,
            verdicts.khan_broken_runs_verdict(FAILS_SHORT),
            khan_spring_rows,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.7",
        "3-RRR manipulator, penalty method with feedback, 1e5 N/m at steps of 0.001 s",
        "The gains of its controller aren't given; ours are chosen by the inertia that a joint feels. Whether its "
        "15 percent are of the largest torque or of that at the same instant isn't said.",
        khan_feedback_panels(
            khan_penalty_setting(1e5, FIXED, 0.001, True), "within 15 %", verdicts.khan_correction_verdict(SHARE)
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.8",
        "3-RRR manipulator, projection of Yun and Sarkar at rtol 1e-3: errors until it is given up",
        "The thesis' 166132 evaluations can't be repeated, since they hang on its routine for singular values; our run "
        "is given up early.",
        khan_run_given_up,
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.9",
        "3-RRR manipulator, projection by Gaussian triangularization at rtol 1e-6: errors for four sigma",
        "The thesis finds the model not stiff, and evaluations that grow with sigma. Its counts and curves aren't "
        "readable.",
        _calm,
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.10",
        "3-RRR manipulator, projection by Gaussian triangularization at steps of 0.01 s: errors for four sigma",
        "The thesis' model breaks off in every case, where its chosen coordinates become singular. It says neither "
        "which these are nor where. Ours pivots fully, and the prescribed motion has no singular position.",
        khan_kept_choices,
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.11",
        "3-RRR manipulator, projection by Gaussian triangularization with feedback, steps of 0.001 s",
        "A projection makes no error but the integrator's, so that a correction of the size of the thesis' can't come "
        "from it. What made the thesis' can't be told.",
        khan_feedback_panels(
            khan_gauss_setting(10.0, FIXED, 0.001, True), "within 15 %", verdicts.khan_correction_verdict(SHARE)
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.12",
        "3-RRR manipulator, DeNOC at rtol 1e-3 and 1e-6: errors",
        "What the thesis counts as steps, 301 and 319, is 6 · 50 + 1 and 6 · 53 + 1: six evaluations a step and one "
        "at the start. The curves aren't readable.",
        khan_error_panels(
            [khan_denoc_setting(ADAPTIVE, 1e-3), khan_denoc_setting(ADAPTIVE, 1e-6)],
            ("301 steps", "319 steps"),
            verdicts.khan_evaluations_beside_steps((301, 319)),
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.13",
        "3-RRR manipulator, DeNOC at steps of 0.01 and 0.001 s: errors",
        "The thesis' integrator isn't known, ours is the classical one of fourth order. The curves aren't readable.",
        khan_error_panels(
            [khan_denoc_setting(FIXED, 0.01), khan_denoc_setting(FIXED, 0.001)],
            ("", ""),
            verdicts.khan_errors_against_steps,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.14",
        "3-RRR manipulator, DeNOC with feedback, steps of 0.001 s",
        "The thesis' gains aren't given, and the curves aren't readable.",
        khan_feedback_panels(
            khan_denoc_setting(FIXED, 0.001, True), "extremely small", verdicts.khan_tiny_correction_verdict
        ),
    ),
    Exhibit(
        "khan-2002",
        "Table 5.1",
        "closure methods rated: efficiency, stiffness, cost, accuracy, distribution, modularity, preparation",
        "The thesis rates in words, ours are numbers of one tolerance and one motion. Modularity and the cost of "
        "preparation rate the work of people, of which there is no number: denoc makes all methods from one text.",
        khan_ratings,
    ),
    Exhibit(
        "khan-2002",
        "Section 5.2",
        "closure methods on systems with nonholonomic constraints, too, which the thesis leaves to future work",
        "The thesis asks for this study and has no such system. Those here are a wheeled robot under the torques of "
        "its inverse dynamics, and two with arms that carry one payload, under force laws of their own.",
        khan_nonholonomic,
    ),
)
