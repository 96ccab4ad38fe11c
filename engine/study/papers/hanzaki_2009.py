"""Rahmani Hanzaki, Saha and Rao (2009): spherical joints by Euler parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...api import inverse
from ...formats import load
from ...machine.backend import using_backend
from ...machine.jit import Kernel, build_kernel
from ...machine.program import Count, Program, count_operations
from ...mechanics.closure import best_partition, loop_closure
from ...mechanics.mechanisms import Forward, Inverse, branch_order_at_position, multipliers_in_equations
from ...mechanics.quantities import frames, matrices, program_of_tree_quantity
from ...record import Line, Panel
from ...robot import Robot
from ...scenario import Result, carry_out_plan, carry_out_whole_plan, changed_robot_of_scenario, prepare_scenario
from ...text import Change
from .reproduction import Changes, Exhibit, Reproduction, Row, exhibit_of_run, exhibit_value_at, paper_run

if TYPE_CHECKING:
    from ...scenario import Plan

ANGLES = ("75.1 deg", "18.4 deg", "-97.5 deg")  # of the coupler at the start, about z, y and x
THREE: Changes = (
    ("robot.links.link2.joint.as", "three-revolutes"),
    ("robot.assembly.joint2", list(ANGLES)),
)
STEPS = 1000
ROUNDS = 5
SCENARIO: Changes = (
    ("time", {"end": 0.6, "step": 0.6 / STEPS}),
    ("record", {"reactions": False, "energy": False}),
)
PAPER = (0.438, 0.486)  # s of CPU time
TREE, INVERSE, FORWARD, CALL, WHOLE, MATRICES = (
    "inverse dynamics of the tree",
    "inverse dynamics with the loop",
    "forward dynamics with the loop",
    "a call of `denoc.inverse`, arguments checked",
    "positions and dynamics",
    "matrices N_l, N_d, M, I and C in the open",
)
# ---- Figs. 7 and 9: the coupler's z stays perpendicular to Z, by the paper's eq. 27

HOOKE: Changes = (
    (
        "robot.loops.joint3.spin",
        "hooke",
    ),  # keeps the second's y perpendicular to the first's x, turned to link 2's z and Z
    ("robot.loops.joint3.first.rpy", [0, "-pi/2", 0]),
    ("robot.loops.joint3.second.rpy", ["pi/2", 0, 0]),
)


def hanzaki_rssr(changes: Changes) -> Robot:
    """The linkage with those of a scenario's changes that are about the robot."""
    keys = [(key.removeprefix("robot."), value) for key, value in changes if key.startswith("robot.")]
    return changed_robot_of_scenario(load("rssr"), [Change(key, value, key) for key, value in keys])


def hanzaki_linked_rssr() -> Robot:
    """The linkage as the paper's argument has it: three joints, and two links of no size and no mass between them."""
    robot = load("rssr")
    assert robot.document is not None
    data = deepcopy(robot.document.data)
    crank, coupler, rocker = data["links"]
    place, parent, between = coupler["joint"]["xyz"], crank["name"], []
    for name, axis in (("turned-z", [0, 0, 1]), ("turned-y", [0, 1, 0])):
        joint = {"name": f"{name}-joint", "type": "revolute", "axis": axis, "xyz": place}
        between.append({"name": name, "parent": parent, "joint": joint, "mass": 0})
        parent, place = name, [0, 0, 0]
    last = {"name": "joint2", "type": "revolute", "axis": [1, 0, 0], "xyz": place}
    links = [crank, *between, coupler | {"parent": parent, "joint": last}, rocker]
    start = dict(zip(("turned-z-joint", "turned-y-joint", "joint2"), ANGLES)) | {"joint4": data["assembly"]["joint4"]}
    return changed_robot_of_scenario(robot, [Change("links", links, "links"), Change("assembly", start, "assembly")])


class _Form:
    """The linkage with one of the two forms of its spherical joint; `tree` is it with a link for each joint."""

    def __init__(self, label: str, changes: Changes, tree: Robot | None = None):
        self.label = label
        self.robot = hanzaki_rssr(changes)
        self.tree = tree or self.robot
        given = [Change(key, value, key) for key, value in (*changes, *SCENARIO)]
        self.plan: Plan = prepare_scenario("rssr-idyn", changes=given)
        self.result = carry_out_whole_plan(self.plan)

    def rows_of(self, kind: str) -> np.ndarray:
        return np.ascontiguousarray(np.column_stack([self.result.table[name] for name in self.robot.columns(kind)]))

    def works(self) -> dict[str, Callable[[], Any]]:
        """The computations to be timed, by name: compiled programs, and calls that look at their arguments first."""
        q, qd, qdd = (self.rows_of(kind) for kind in ("coordinates", "speeds", "accelerations"))
        kernels = {name: hanzaki_kernel(program, name) for name, program in self.programs(self.robot).items()}
        last = {TREE: qdd, INVERSE: qdd, FORWARD: 0.0 * qd}
        return {
            **{name: partial(kernel, q, qd, last[name]) for name, kernel in kernels.items()},
            CALL: lambda: hanzaki_compiled_result(lambda: inverse(self.robot, q, qd, qdd)),
            WHOLE: lambda: hanzaki_compiled_result(lambda: carry_out_plan(self.plan)),
            MATRICES: lambda: matrices(self.tree, q[0], qd[0]),
        }

    def programs(self, tree: Robot) -> dict[str, Program]:
        """The programs of one sample, by the names of the computations."""
        loops, q = loop_closure(self.robot), self.rows_of("coordinates")[0]
        backwards = Inverse(loops, branch_order_at_position(loops, q, multipliers_in_equations(loops)))
        onwards = Forward(loops, best_partition(loops, q, (), self.robot.driven))
        return {
            TREE: program_of_tree_quantity(tree, "idyn"),
            INVERSE: backwards.program(),
            FORWARD: onwards.program(),
        }

    def operations(self) -> dict[str, Count]:
        """The operations of one sample, by the names of the computations."""
        return {name: count_operations(one.results()) for name, one in self.programs(self.tree).items()}

    def sizes(self) -> tuple[str, int]:
        """The sizes of N_l and N_d in words, and the number of their entries."""
        made = matrices(self.tree, self.rows_of("coordinates")[0], None)
        (a, b), (c, d) = made["N_l"].shape, made["N_d"].shape
        return f"{a} × {b}, {c} × {d}", a * b + c * d


def hanzaki_kernel(program: Program, name: str) -> Kernel:
    """A program compiled for many samples."""
    widths = [len(group) for group in program.inputs.values()], [len(group) for group in program.outputs.values()]
    kernel = build_kernel(lambda: program, *widths, (repr(program.outputs), name, "papers"), False)
    assert kernel is not None
    return kernel


def hanzaki_compiled_result(work: Callable[[], Any]) -> Any:
    """The result of a computation whose programs are compiled from the first call on."""
    with using_backend("compiled"):
        return work()


def hanzaki_timed(works: Sequence[dict[str, Callable[[], Any]]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The least CPU time of each computation for each form of the joint, measured in turns."""
    best = {name: [np.inf] * len(works) for name in works[0]}
    for _ in range(rounds):
        for name, least in best.items():
            for k, way in enumerate(works):
                repeat = 1 if name == WHOLE else 50
                begun = time.thread_time()
                for _ in range(repeat):
                    way[name]()
                least[k] = min(least[k], (time.thread_time() - begun) / repeat)
    return best


def hanzaki_verdict(paper: float, operations: dict[str, float], times: dict[str, float], entries: float) -> str:
    """What Euler parameters save, by ratios to three revolutes: of operations and of times."""

    def saving(ratio: float) -> str:
        percent = 100 * (1 - ratio)
        return f"{percent:.0f} %" if percent >= 0.5 else f"{-percent:.0f} % more" if percent <= -0.5 else "nothing"

    def costs(name: str) -> str:
        ratio = operations[name]
        verb = "save" if ratio < 0.995 else "take" if ratio > 1.005 else "save"
        timed = "save" if times[name] < 0.995 else "take" if times[name] > 1.005 else "save"
        both = f"{verb} {saving(ratio)} of the operations", f"{timed} {saving(times[name])} of the time"
        return f"in {name} they {both[0]} and {both[1]}"

    beside = times[MATRICES] - paper
    size = "about the paper's saving" if abs(beside) < 0.05 else "a larger saving" if beside < 0 else "a smaller saving"
    return (
        f"In the paper Euler parameters save {saving(paper)} of the time. Here {costs(TREE)}; {costs(INVERSE)}; "
        f"{costs(FORWARD)}. A call of `denoc.inverse` takes {times[CALL]:.2f} of the time with three joints: it looks "
        f"at the norms of the parameters first. Of matrices over all links {100 * entries:.0f} % of the entries are "
        f"left, and the time of matrices is {times[MATRICES]:.2f} of that with three joints, {size}."
    )


def hanzaki_cpu_time() -> Reproduction:
    """Operations, sizes and times of both forms; times differ from run to run, and so may the verdict."""
    ways = [_Form("Euler parameters", ()), _Form("three revolutes", THREE, hanzaki_linked_rssr())]
    paper = PAPER[0] / PAPER[1]
    rows: list[Row] = [("paper: dynamics, 1000 steps: CPU time", *(f"{s:g} s" for s in PAPER), f"{paper:.2f}")]
    operations = {}
    counts = [way.operations() for way in ways]
    for name in counts[0]:
        pair = [one[name] for one in counts]
        total = [one.multiplications + one.additions + one.divisions + one.trigonometric for one in pair]
        operations[name] = total[0] / total[1]
        rows.append((f"denoc: operations, {name}", *(str(one) for one in pair), f"{operations[name]:.2f}"))
    sizes = [way.sizes() for way in ways]
    entries = sizes[0][1] / sizes[1][1]
    rows.append(("denoc: sizes of N_l and N_d", *(words for words, _ in sizes), f"{entries:.2f}"))
    times = {}
    for name, (euler, three) in hanzaki_timed([way.works() for way in ways]).items():
        times[name] = euler / three
        rows.append((f"denoc: CPU time, {name}", *(f"{1e3 * s:.3g} ms" for s in (euler, three)), f"{times[name]:.2f}"))
    a, b = (way.result.table["joint1.tau"] for way in ways)
    rows.append(("largest difference of the torque, N m", "", f"{abs(a - b).max():.1e}", ""))
    table = {"t": ways[0].result.t, "euler-parameters.tau": a, "three-revolutes.tau": b}
    lines = (Line("euler-parameters.tau", ways[0].label), Line("three-revolutes.tau", ways[1].label))
    heads = ("1000 steps", "Euler parameters", "three revolutes", "ratio")
    panels = (Panel("the same torque both ways", "torque", "N m", lines),)
    return Reproduction(table, panels, tuple(rows), heads, verdict=hanzaki_verdict(paper, operations, times, entries))


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
    q = np.column_stack([result.table[name] for name in robot.columns("coordinates")])
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
