"""`denoc codegen`: customised code."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options


class What(StrEnum):
    """The programs; a test compares this list with the engine's table."""

    idyn = "idyn"
    fdyn = "fdyn"
    inertia = "inertia"
    bias = "bias"
    kinematics = "kinematics"


class Language(StrEnum):
    """Of the code."""

    c = "c"
    python = "python"


def codegen(
    robot: options.Robot,
    what: Annotated[What, typer.Option("--what", help="What the code computes.")] = What.idyn,
    lang: Annotated[Language, typer.Option("--lang", help="C99 or Python.")] = Language.c,
    regroup: Annotated[bool, typer.Option("--regroup", help="Fewer operations from regrouped inertias.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="A file (default: print it).")] = None,
) -> None:
    """Write one self-contained file of C or Python that computes a robot's dynamics, and needs nothing else."""
    from denoc.robot.load import load
    from denoc.study.codegen import generate

    name, text = generate(load(robot), what.value, lang.value, regroup=regroup)
    if out is None:
        typer.echo(text, nl=False)
        return
    path = out / name if os.path.isdir(out) else out
    options.write_text(path, text)
    typer.echo(str(path))
