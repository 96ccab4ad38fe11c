"""Khan (2002): the planar 3-RRR manipulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...mechanics.quantities import inertia, inverse
from ...record import Line, Panel
from ...scenario import Result
from ..comparison import ADAPTIVE, FIXED
from . import khan_verdicts as verdicts
from .khan_runs import (
    HUNG,
    khan_comparison,
    khan_denoc_setting,
    khan_error_panels,
    khan_feedback_panels,
    khan_gauss_setting,
    khan_penalty_setting,
    khan_run,
    khan_run_given_up,
    khan_spring_rows,
)
from .khan_verdicts import khan_nonholonomic, khan_ratings
from .reproduction import Exhibit, Reproduction, Row, exhibit_of_run, exhibit_value_at

SIGMAS = (10.0, 20.0, 30.0, 40.0)
STEP = 0.01  # s
LEGS = 0.4  # m, the size of what a Jacobian's columns are
FARTHEST = 1e4  # rad: a motion that has gone this far is lost
FAILS = ("fails",) * 4
DRIVEN = ("J1", "J2", "J3")
PRINTED = (-0.865, -2.102, -0.976, 0.728, 0.233, 3.916)  # θ₄, θ₅, θ₆, x₇, y₇, θ₇ at the start
KS = (1e3, 1e4, 1e5, 1e6)
NO_NUMBERS = ("",) * 4
FAILS_LONG, FAILS_SHORT = ("", "fails", "fails", "fails"), ("", "", "", "fails")  # springs at 0.01 s and at 0.001 s
SHARE = 15.0  # percent of the torque, within which the thesis finds the corrections of springs and of its projection


@dataclass(frozen=True)
class Choice:
    """Three coordinates, as rows on the speeds of our tree, and the time at which they become singular."""

    name: str
    N: np.ndarray
    singular: float  # 0 if it can't begin, infinite if it lasts for the prescribed motion


def khan_choices_of_coordinates() -> list[Choice]:
    """All choices of three of the nine coordinates; one is singular where the columns of the others are."""
    own = khan_comparison()
    loops = own.system.loops
    t = np.linspace(own.start, own.end, 601)
    J = loops.jacobian(np.array([own.path.at(x)[0] for x in t.tolist()]))[0]
    J = J[:, np.flatnonzero(abs(J).max(axis=(0, 2)) > 1e-9)]  # six rows of the plane
    names = ("J1", "J2", "J3", "J4", "J5", "J6", "P")
    speeds = [k for name in names for joint in own.system.robot.moving if joint.name == name for k in joint.speeds]
    unit = np.eye(J.shape[2])
    rows = dict(zip(("θ₁", "θ₂", "θ₃", "θ₄", "θ₅", "θ₆", "x₇", "y₇", "θ₇"), unit[speeds]))
    for inner, outer in (("θ₁", "θ₄"), ("θ₂", "θ₅"), ("θ₃", "θ₆")):  # whose angle is from the inner link in our tree
        rows[outer] = rows[outer] + rows[inner]
    back = np.linalg.inv(np.array(list(rows.values())))  # the tree's speeds of a unit of each rate
    columns = dict(zip(rows, (J @ back).transpose(2, 0, 1)))
    found = []
    for chosen in combinations(rows, 3):
        d = np.linalg.det(np.stack([x for name, x in columns.items() if name not in chosen], axis=2))
        turned = np.flatnonzero(np.sign(d) != np.sign(d[0]))
        end = float(t[turned[0]]) if turned.size else np.inf
        N = np.array([rows[name] for name in chosen])
        found.append(Choice(", ".join(chosen), N, end if abs(d[0]) > 1e-9 * LEGS**6 else 0.0))
    return found


def khan_kept_choice(choice: Choice) -> float:
    """The largest error of the driven angles if a projection keeps these coordinates; infinite if it is lost."""
    own = khan_comparison()
    robot, loops, n = own.system.robot, own.system.loops, len(choice.N[0])
    rows = np.flatnonzero(abs(loops.jacobian(np.array(own.plan.q0))[0]).max(axis=1) > 1e-9)
    driven = [k for joint in own.joints for k in joint.speeds]

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q = y[:n]
        gap, J = loops.near(q)
        K = np.concatenate([J[rows], choice.N])
        qd = np.linalg.solve(K, np.concatenate([-SIGMAS[0] * gap[rows], y[n:]]))
        drift = loops.jacobian(q, qd)[1][rows]
        T = np.linalg.inv(K)[:, len(rows) :]
        start = np.linalg.solve(K, np.concatenate([-drift - SIGMAS[0] * (J[rows] @ qd), np.zeros(len(T[0]))]))
        forces = np.array(own.planned(min(t, own.end))) - inverse(robot, q, qd, start)
        return np.concatenate([qd, np.linalg.solve(T.T @ inertia(robot, q) @ T, T.T @ forces)])

    y, error = np.concatenate([own.plan.q0, np.zeros(len(choice.N))]), 0.0
    for step in range(round((own.end - own.start) / STEP)):
        try:
            y = _stepped(rate, own.start + step * STEP, y)
        except np.linalg.LinAlgError:
            return np.inf
        if not abs(y[:n]).max() < FARTHEST:
            return np.inf
        wanted, _ = own.path.at(own.start + (step + 1) * STEP)[:2]
        error = max(error, float(abs(y[driven] - wanted[driven]).max()))
    return error


def _stepped(rate: Callable[[float, np.ndarray], np.ndarray], t: float, y: np.ndarray) -> np.ndarray:
    """A step of the classical Runge-Kutta method."""
    a = rate(t, y)
    b = rate(t + STEP / 2, y + STEP / 2 * a)
    c = rate(t + STEP / 2, y + STEP / 2 * b)
    after: np.ndarray = y + STEP / 6 * (a + 2 * b + 2 * c + rate(t + STEP, y + STEP * c))
    return after


def khan_kept_choices() -> Reproduction:
    """The runs of Fig. 4.10, and projections that keep coordinates which become singular along the motion."""
    settings = [khan_gauss_setting(sigma, FIXED, STEP) for sigma in SIGMAS]
    made = khan_error_panels(settings, FAILS, verdicts.khan_broken_runs_verdict(FAILS))()
    choices = khan_choices_of_coordinates()
    begin = [one for one in choices if one.singular > 0.0]
    broken = sorted((one for one in begin if one.singular < np.inf), key=lambda one: one.singular)
    with np.errstate(all="ignore"):
        errors = {one.name: khan_kept_choice(one) for one in broken}
    span = f"{len(broken)}, at {broken[0].singular:.2f} to {broken[-1].singular:.2f} s"
    ends = ("is lost" if errors[one.name] == np.inf else f"{errors[one.name]:.2g} rad off" for one in broken)
    rows: list[Row] = [
        ("choices of three independent coordinates, all and at the start", "", f"{len(choices)}, {len(begin)} usable"),
        ("singular along the motion", "the chosen ones", span),
        *((f"kept: {one.name}, singular at {one.singular:.2f} s", "", end) for one, end in zip(broken, ends)),
    ]
    words = verdicts.khan_choices_verdict(len(begin), list(errors.values()))
    return replace(made, rows=(*made.rows, *rows), verdict=f"{made.verdict} {words}")


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


def _springs(integrator: str, accuracy: float, quoted: Sequence[str] = NO_NUMBERS) -> Callable[[], Reproduction]:
    """The panels of four spring constants, of which the thesis says this; runs of adaptive steps are counted."""
    counted = integrator == ADAPTIVE
    verdict = verdicts.khan_springs_verdict if counted else verdicts.khan_broken_runs_verdict(quoted)
    settings = [khan_penalty_setting(k, integrator, accuracy) for k in KS]
    return khan_error_panels(settings, quoted, verdict, khan_spring_rows, counted)


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
        _springs(ADAPTIVE, 1e-3),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.4",
        "3-RRR manipulator, penalty method at rtol 1e-6: errors for four spring constants",
        "As Fig. 4.3 with a tighter tolerance. A run is given up after 20000 evaluations; no curve can be claimed.",
        _springs(ADAPTIVE, 1e-6),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.5",
        "3-RRR manipulator, penalty method at steps of 0.01 s: errors for four spring constants",
        "Which runs fail can be claimed: an independent model of the thesis' equations says the same with each of "
        "Simulink's fixed-step integrators, ode1 to ode5; ours is the classical one of fourth order. The curves can't.",
        _springs(FIXED, 0.01, FAILS_LONG),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.6",
        "3-RRR manipulator, penalty method at steps of 0.001 s: errors for four spring constants",
        "Which runs fail can be claimed, as of Fig. 4.5; the curves can't, since every error grows along this unstable "
        "motion.",
        _springs(FIXED, 0.001, FAILS_SHORT),
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
