"""Rahmani Hanzaki, Saha and Rao (2009): spherical joints by Euler parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dynamics.quantities import frames
from ...record import Line, Panel
from ...scenario import Result
from .exhibit import Changes, Exhibit, Reproduction, Row, exhibit_of_run, exhibit_value_at, paper_run
from .hanzaki_costs import hanzaki_cpu_time, hanzaki_rssr

# ---- Figs. 7 and 9: the coupler's z stays perpendicular to Z, by the paper's eq. 27

HOOKE: Changes = (
    (
        "robot.loops.joint3.spin",
        "hooke",
    ),  # keeps the second's y perpendicular to the first's x, turned to link 2's z and Z
    ("robot.loops.joint3.first.rpy", [0, "-pi/2", 0]),
    ("robot.loops.joint3.second.rpy", ["pi/2", 0, 0]),
)


def _start(result: Result) -> Sequence[Row]:
    e = ", ".join(f"{exhibit_value_at(result, f'joint2.e{k}', 0.0):.3f}" for k in range(4))
    return [
        ("θ at the start", "122 deg", f"{np.degrees(exhibit_value_at(result, 'joint4.q', 0.0)):.4f} deg"),
        ("Euler parameters at the start", "0.766, -0.188, -0.258, 0.558", f"{e} (other definition)"),
    ]


def _begins(result: Result) -> str:
    theta = float(np.degrees(exhibit_value_at(result, "joint4.q", 0.0)))
    where = "where the paper's table says" if round(theta) == 122 else "elsewhere than the paper's table says"
    e, printed = [exhibit_value_at(result, f"joint2.e{k}", 0.0) for k in range(4)], (0.766, -0.188, -0.258, 0.558)
    same = max(abs(abs(a) - abs(b)) for a, b in zip(e, printed)) < 6e-4
    are = "those of its table" if same else "not those of its table"
    return (
        f"The motion begins {where}, with θ = {theta:.2f} deg; "
        f"the Euler parameters that eqs. 24 and 27 define are {are}."
    )


def _wrench_in_link_2(result: Result, changes: Changes) -> tuple[np.ndarray, np.ndarray]:
    """The force and moment of link 3 on link 2 at the cut, in the axes of link 2."""
    robot = hanzaki_rssr(changes)
    names = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in joint.type.coordinates]
    q = np.column_stack([result.table[name] for name in names])
    R = frames(robot, q)["link2"][:, :3, :3]
    parts = []
    for letter in "fn":
        base = np.column_stack([result.table[f"joint3.lambda.{letter}{axis}"] for axis in "xyz"])
        parts.append(np.einsum("nji,nj->ni", R, base))
    return parts[0], parts[1]


def _multipliers() -> Reproduction:
    result = paper_run("rssr-idyn", HOOKE)
    force, moment = _wrench_in_link_2(result, HOOKE)
    free = paper_run("rssr-idyn")
    spinning = _wrench_in_link_2(free, ())[1][:, 0]
    table = {
        "t": result.t,
        "joint1.tau": result.table["joint1.tau"],
        **{f"lambda32.{axis}": force[:, k] for k, axis in enumerate("xyz")},
        "tau32.x": moment[:, 0],
    }
    tau = table["joint1.tau"]
    change = abs(free.table["joint1.tau"] - tau).max() / abs(tau).max()
    rows = (
        ("largest τ₃₂ₓ, N m", "always zero", f"{abs(moment[:, 0]).max():.2g}"),
        ("the same, coupler free to spin", "", f"{abs(spinning).max():.0e}" if spinning.any() else "0"),
        ("torque, N m", "no readable numbers", f"{tau.min():.5f} to {tau.max():.5f}"),
        ("what the free spin changes of it", "", f"{100 * change:.2g} % of its largest"),
    )
    most, torque = float(abs(moment[:, 0]).max()), float(abs(tau).max())
    seen = "too little to be seen beside" if most < 0.01 * torque else "to be seen beside"
    free_words = "" if spinning.any() else " It is zero where the coupler may spin freely."
    verdict = (
        "With the paper's constraint the moment about the coupler isn't always zero: "
        f"it reaches {most:.2g} N m, {seen} the torque of {torque:.2g} N m, which it changes by {100 * change:.2g} % "
        f"of its largest.{free_words}"
        if most > 1e-12
        else "The moment about the coupler is always zero, as the paper says."
    )
    panels = (
        Panel("driving torque", "torque", "N m", (Line("joint1.tau", "τ"),)),
        Panel(
            "multipliers, axes of link 2",
            "force",
            "N",
            tuple(Line(f"lambda32.{a}", f"λ₃₂{s}") for a, s in zip("xyz", "ₓyz")),
        ),
        Panel("moment about the coupler", "moment", "N m", (Line("tau32.x", "τ₃₂ₓ"),), low=-0.035, high=0.035),
    )
    return Reproduction(table, panels, rows, verdict=verdict)


# ---- Fig. 12


def _rack(result: Result) -> Sequence[Row]:
    force, travel = result.table["rack.tau"], result.table["rack.q"]
    return [
        (
            "rack travel",
            "a sine, its maximum within 2 s",
            f"60 mm sin(π t): {travel.min():.3f} to {travel.max():.3f} m",
        ),
        ("rack force, N", "no readable numbers", f"{force.min():.1f} to {force.max():.1f}"),
    ]


def _without_tyre(result: Result) -> str:
    """What of the force on the rack the tyre's horizontal force and moment make."""
    none = (("wrenches.0.force", [0, 0, 0]), ("wrenches.0.moment", [0, 0, 0]))
    other = paper_run("suspension-idyn", none)
    most, rest = (float(abs(one.table["rack.tau"]).max()) for one in (result, other))
    share = "most of" if rest < most / 2 else "less than half of"
    return (
        f"The force on the rack reaches {most:.0f} N, without the tyre's horizontal force and moment {rest:.0f} N: the "
        f"tyre makes {share} it."
    )


EXHIBITS = (
    Exhibit(
        "hanzaki-2009",
        "Fig. 7",
        "angles and Euler parameters of the RSSR linkage, one turn in 0.6 s",
        "The motion is that of the printed dimensions. The Euler parameters shown here are those that eqs. 24 and 27 "
        "define, and the curves have no numbers to compare with.",
        exhibit_of_run(
            "rssr-idyn",
            Panel("angles of the cranks", "angle", "rad", (Line("joint4.q", "θ"), Line("joint1.q", "ψ, driven"))),
            Panel(
                "link 2 with respect to link 1",
                "Euler parameters",
                "",
                tuple(Line(f"joint2.e{k}", f"e{chr(0x2080 + k)}") for k in range(4)),
            ),
            rows=_start,
            verdict=_begins,
            changes=HOOKE,
        ),
    ),
    Exhibit(
        "hanzaki-2009",
        "Fig. 9",
        "driving torque and multipliers of the RSSR linkage",
        "Right for inertias about the links' origins and no gravity, with the paper's constraint on the coupler's "
        "spin.",
        _multipliers,
    ),
    Exhibit(
        "hanzaki-2009",
        "Table 1",
        "CPU time of the RSSR linkage: Euler parameters against three revolutes in a spherical joint",
        "Measured is denoc's own code, both ways in one run; the paper's seconds can't be repeated. Its argument is "
        "that intermediate links make matrices larger; the recursion has no matrices over all links.",
        hanzaki_cpu_time,
    ),
    Exhibit(
        "hanzaki-2009",
        "Fig. 12",
        "force on the rack of the suspension and steering linkage, 2 s",
        "The paper gives neither the vehicle's data nor the tyre's force; all numbers are ours. Only the topology is "
        "the paper's, and the curve can't be compared.",
        exhibit_of_run(
            "suspension-idyn",
            Panel("force on the rack", "force", "N", (Line("rack.tau", "rack force"),)),
            Panel("travel of the rack", "travel", "m", (Line("rack.q", "rack travel"),)),
            rows=_rack,
            verdict=_without_tyre,
        ),
    ),
)
