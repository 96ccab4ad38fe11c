"""What each step of a mechanism's forward and inverse dynamics costs, counted in the recorded programs.

python tests/benchmarks/steps.py carpet-scraper three-rrr

A step's operations are those that its results need beyond all the steps above it.  For mechanisms whose loops hold all
bodies together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from unittest.mock import patch

import denoc
from denoc.machine.program import Count, Node, Program, count_operations
from denoc.mechanics.closure import embedding, ties
from denoc.mechanics.mechanisms import branches
from denoc.robot import Robot
from denoc.study import program_for_complexity

Made = dict[str, list[Node]]  # step → the nodes that it ends with


def nodes(x: Any) -> list[Node]:
    """All nodes in a structure of lists and mappings."""
    if isinstance(x, Node):
        return [x]
    parts: Iterable[Any] = x.values() if isinstance(x, Mapping) else x if isinstance(x, list | tuple) else ()
    return [node for part in parts for node in nodes(part)]


def watched(made: Made, name: str, call: Callable[..., Any], ends: Callable[..., Any]) -> Callable[..., Any]:
    """The call, which also notes what it ends with: `ends` of its result and its arguments."""

    def calling(*args: Any, **more: Any) -> Any:
        result = call(*args, **more)
        made.setdefault(name, []).extend(nodes(ends(result, *args)))
        return result

    return calling


def forward(robot: Robot) -> Made:
    """The steps of forward dynamics."""
    made: Made = {}
    spots = [
        (ties.Tied, "columns", "columns of J", lambda result, *_: [[x.turn, x.shift] for x in result.values()]),
        (ties.Tied, "drift", "J' q'", lambda result, *_: result),
        (
            embedding,
            "embed_loop_group",
            "K and its factors",
            lambda _, group, K, known: [K._rows, K._factors, K._one_over],
        ),
        (embedding, "_needed", "h", lambda result, *_: result[0]),
        (embedding, "JointInertia", "I", lambda result, *_: result.between),
        (
            embedding,
            "eliminate_loop_freedoms",
            "G' I G, G' (tau - h) - (I G)' g",
            lambda _, Phi, Psi, phi, *__: [Phi, phi],
        ),
    ]
    groups: list[Any] = []
    with patch.object(embedding, "Group", watched({}, "", embedding.Group, lambda result, *_: groups.append(result))):
        program = noted(spots, made, robot, "forward")
    made["G"], made["g"] = (nodes([getattr(group, name) for group in groups]) for name in ("T", "start"))
    made["accelerations"] = program
    order = ("columns of J", "J' q'", "K and its factors", "G", "g", "h", "I", spots[-1][2], "accelerations")
    return {name: made[name] for name in order}


def inverse(robot: Robot) -> Made:
    """The steps of inverse dynamics."""
    made: Made = {}
    spots = [
        (ties.Tied, "columns", "columns of J", lambda result, *_: [[x.turn, x.shift] for x in result.values()]),
        (branches, "sweep_tree", "forces of the tree", lambda result, *_: result[0]),
    ]
    made["elimination, branch by branch"] = noted(spots, made, robot, "inverse")
    return {name: made[name] for name in ("columns of J", "forces of the tree", "elimination, branch by branch")}


def noted(spots: list[Any], made: Made, robot: Robot, what: str) -> list[Node]:
    """The results of a program that is recorded while calls at these spots are watched."""
    patches = [
        patch.object(where, name, watched(made, step, getattr(where, name), ends)) for where, name, step, ends in spots
    ]
    patches.append(patch.object(Program, "gathered", lambda program: program))  # the results are those of the steps
    for one in patches:
        one.start()
    try:
        return program_for_complexity(robot, what).results()
    finally:
        for one in patches:
            one.stop()


def main() -> None:
    """Prints a table for each mechanism."""
    for name in sys.argv[1:]:
        robot = denoc.load(name)
        for what, steps in (("forward", forward(robot)), ("inverse", inverse(robot))):
            print(f"{name}, {what} dynamics")
            before, ends = Count(), list[Node]()
            for step, results in steps.items():
                ends += results
                now = count_operations(ends)
                more = now.multiplications - before.multiplications, now.additions - before.additions
                print(f"  {step:34}{more[0]:5}M {more[1]:4}A {now.divisions - before.divisions:3}D")
                before = now
            print(f"  {'all':34}{before}")


if __name__ == "__main__":
    main()
