"""`denoc plot`: plots of a stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options
from denoc.cli.waiting import WRITING, Wait


def plot(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder, CSV or JSON file.")],
    which: Annotated[
        list[str] | None, typer.Option("--plot", help="Plots to draw, such as --plot rates --plot energy.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the plots (default: that of the result).")
    ] = None,
    form: options.Form = options.Format.png,
    quiet: options.Quiet = False,
) -> None:
    """Draw plots of a result from its CSV and JSON files."""
    from denoc.scenario.stored import stored

    kept = stored(result)
    folder = out or kept.folder
    with Wait(kept.name, quiet=quiet) as wait:
        wait.now(WRITING)
        files = kept.draw(which or [], folder, form.value)
    if not quiet:
        typer.echo("\n".join(str(file) for file in files) or "this result has no columns for these plots")
