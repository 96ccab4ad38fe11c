"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """Of plot files."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


Robot = Annotated[str, typer.Argument(metavar="ROBOT", help="A robot file, or a robot of the library.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<scenario>/.")]
Plots = Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the plots.")]
Form = Annotated[Format, typer.Option("--format", help="Of the plots.")]
Json = Annotated[bool, typer.Option("--json", help="Print a machine-readable summary.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
ScenarioFile = Annotated[
    str | None, typer.Option("--scenario", metavar="FILE", help="A scenario file or a scenario of the library.")
]
Duration = Annotated[str | None, typer.Option("--time", metavar="T", help="How long, e.g. 1.5 or '500 ms'.")]
Step = Annotated[str | None, typer.Option("--step", metavar="DT", help="Of the output, e.g. 0.01 or '10 ms'.")]

OUTPUTS = Path("outputs")


def number(text: str | None, kind: str, option: str) -> float | None:
    """The value of an option in SI units."""
    if text is None:
        return None
    from denoc.errors import InputError
    from denoc.files.expression import ExpressionError, evaluate, quantity

    try:
        evaluate(text)
        return float(quantity(text, kind))
    except ExpressionError as error:
        raise InputError(str(error), key=option, found=f"`{text}`") from None
