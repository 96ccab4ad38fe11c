"""`denoc schema`: JSON Schemas for editors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options


class Kind(StrEnum):
    """The kinds of files."""

    robot = "robot"
    scenario = "scenario"


def schema(
    kind: Annotated[Kind, typer.Argument(metavar="robot|scenario", help="Kind of files.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the schema to this file (default: print it).")
    ] = None,
) -> None:
    """Print the JSON Schema of robot or scenario files, with which editors complete and check them."""
    from denoc.text.json_schema import schema_text

    if kind is Kind.robot:
        from denoc.robot.json_schema import robot_schema

        made = robot_schema()
    else:
        from denoc.scenario.json_schema import scenario_schema

        made = scenario_schema()
    if out is None:
        typer.echo(schema_text(made), nl=False)
        return
    options.write_text(out, schema_text(made))
    typer.echo(str(out))
