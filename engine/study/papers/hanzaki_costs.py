"""Table 1 of Rahmani Hanzaki, Saha and Rao (2009): what Euler parameters save against three revolutes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...api import inverse
from ...dynamics.programs import program_of_tree_quantity
from ...dynamics.quantities import matrices
from ...formats import load
from ...loops.accelerations import Forward
from ...loops.branches import Inverse, branch_order_at_position, multipliers_in_equations
from ...loops.constraints import loop_closure
from ...loops.partition import best_partition
from ...machine.jit import choice
from ...machine.jit.kernel import Kernel, build_kernel
from ...machine.program.counting import Count, count_operations
from ...machine.program.recording import Program
from ...record import Line, Panel
from ...robot import Robot
from ...scenario import carry_out_plan, carry_out_whole_plan, changed_robot_of_scenario, prepare_scenario
from ...text import Change
from .exhibit import Changes, Reproduction, Row

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
        joints = self.robot.moving
        names = [f"{joint.name}.{suffix}" for joint in joints for suffix in getattr(joint.type, kind)]
        return np.ascontiguousarray(np.column_stack([self.result.table[name] for name in names]))

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
    with choice.using_backend("compiled"):
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
