"""`denoc inspect`: a description of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.robot_facts import base_parameters_of_robot, facts_of_robot
from denoc.cli.robot_tables import print_base_parameters, print_robot
from denoc.cli.said import print_lines
from denoc.cli.waiting import CLOSING, Wait

if TYPE_CHECKING:
    from denoc.mechanics.mechanisms import Mobility
    from denoc.robot import Robot


def inspect_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if there are warnings.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw a sketch of the robot in its initial position, with its loops closed.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The sketch goes to DIR/<robot>/.")] = (
        options.OUTPUTS
    ),
    form: Annotated[options.Format, typer.Option("--format", help="Format of the sketch.")] = options.Format.png,
    base: Annotated[
        bool,
        typer.Option("--base-parameters", help="List the groups of masses, inertias … that the dynamics knows."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show a robot's tree, degrees of freedom, masses and warnings, and its loops and how they are solved.

    A robot with loops is shown in the position, near its initial one, in which they close.
    """
    from denoc.mechanics.mechanisms import mobility as mobility_of_robot

    model = options.robot_of_argument(robot, floating, loops)
    with Wait(model.name, quiet=as_json) as wait:
        wait.now(CLOSING)
        mobility = mobility_of_robot(model) if model.closed else None
    warnings = [*model.warnings, *(mobility.warnings if mobility else ()), *_idle(model, mobility)]
    drawn, undrawn = _sketch(model, mobility, out, form.value) if plot else (None, ())
    warnings += undrawn
    if as_json:
        facts = facts_of_robot(model, mobility, warnings)
        if drawn:
            facts["files"] = [str(drawn)]
        if base:
            facts["base_parameters"] = base_parameters_of_robot(model)
        printed.print_json_document(facts)
    else:
        if base:
            print_base_parameters(model)
        else:
            print_robot(model, mobility, warnings)
        if drawn:
            print_lines(drawn)
    if strict and warnings:
        raise typer.Exit(1)


def _idle(model: Robot, mobility: Mobility | None) -> list[str]:
    """The warning of joints that have nothing to accelerate."""
    from denoc.mechanics.tree import joints_of_vanishing_inertia, vanishing_inertia_message

    if mobility is None:
        joints = joints_of_vanishing_inertia(model, model.q0)
    else:
        from denoc.mechanics.closure import vanishing_joints_at_closed_position

        joints = vanishing_joints_at_closed_position(model, mobility.q) if mobility.closed else []
    return [vanishing_inertia_message(joints)] if joints else []


def _sketch(model: Robot, mobility: Mobility | None, out: Path, form: str) -> tuple[Path, tuple[str, ...]]:
    """Draws a sketch, and returns its file, and what couldn't be drawn."""
    from denoc.record.files import make_output_folder
    from denoc.record.sketch import sketch_figure
    from denoc.study import stage_scene

    path = out / model.name / f"{model.name}-sketch.{form}"
    make_output_folder(path.parent)
    assembled = mobility is not None and mobility.closed
    scene, poses = stage_scene(model, mobility.q if mobility else model.q0)
    options.save_figure_of_command(
        sketch_figure(scene, poses, state=f"{'assembled' if assembled else 'initial'} position"), path
    )
    return path, scene.warnings
