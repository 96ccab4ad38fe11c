"""`denoc plot`: plots of a result, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options


def plot(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder, CSV or JSON file.")],
    which: Annotated[
        list[str] | None, typer.Option("--plot", help="Which plots, e.g. --plot rates --plot energy.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to (default: beside the result).")
    ] = None,
    form: options.Form = options.Format.png,
    quiet: options.Quiet = False,
) -> None:
    """Draw the plots of a result again, from its CSV and JSON files."""
    from denoc.scenario.stored import stored

    kept = stored(result)
    folder = out or kept.folder
    files = kept.draw(which or [], folder, form.value)
    if not quiet:
        typer.echo("\n".join(str(file) for file in files) or "this result has no columns for these plots")
