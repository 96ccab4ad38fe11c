"""`denoc codegen`: code that is customised for one robot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options
from denoc.cli.said import print_lines, print_text
from denoc.cli.waiting import Wait


def codegen_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    what: Annotated[
        str,
        typer.Option(
            "--what",
            metavar="NAME",
            help="What the code computes: idyn, fdyn, inertia, bias, kinematics, jacobian, energy, reactions, …",
            autocompletion=options.completion_from_names("denoc.dynamics.programs", "PROGRAMS"),
        ),
    ] = "idyn",
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            "--language",
            metavar="NAME",
            help="The language: c (C99), javascript, python.",
            autocompletion=options.completion_from_names("denoc.machine.program.languages", "LANGUAGES"),
        ),
    ] = "c",
    link: Annotated[
        str | None,
        typer.Option("--link", metavar="LINK", help="The link whose Jacobian is wanted (default: the last one)."),
    ] = None,
    regroup: Annotated[bool, typer.Option("--regroup", help="Regroup inertias, which saves operations.")] = False,
    parameters: Annotated[
        str,
        typer.Option(
            "--parameters",
            metavar="KEYS",
            help="Make numbers of the robot's file arguments of the function: robot.links.*.mass,gravity, say.",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the code to this file (default: print it).")
    ] = None,
) -> None:
    """Write a robot's dynamics as one self-contained file of C, JavaScript or Python."""
    from denoc.study.codegen import generate_code

    keys = [key for key in parameters.split(",") if key.strip()]
    model = options.robot_of_argument(robot, floating, loops, warned=True)
    with Wait(model.name, quiet=False):
        name, text = generate_code(model, what, lang, regroup=regroup, link=link, keys=keys)
    if out is None:
        print_text(text)
        return
    path = out / name if os.path.isdir(out) else out
    options.write_text_of_command(path, text)
    print_lines(str(path))
