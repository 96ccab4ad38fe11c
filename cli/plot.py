"""`denoc plot`: plots of a stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import completing, options
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait


def plot_command(
    result: options.Result,
    which: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="NAME",
            help="Plots to draw, such as --plot rates --plot energy (default: those of the scenario).",
            autocompletion=options.completion_from_names("denoc.record.plots", "PLOTS"),
        ),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option(
            "--y",
            metavar="COLUMN",
            help="Draw columns, such as --y tip.y --x tip.x.",
            autocompletion=completing.complete_columns,
        ),
    ] = None,
    x: Annotated[
        list[str] | None,
        typer.Option(
            "--x",
            metavar="COLUMN",
            help="What they are drawn over: one for all, or one for each (default: the time).",
            autocompletion=completing.complete_columns,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the plots (default: that of the result).")
    ] = None,
    form: options.PlotForm = None,
    style: options.PlotStyle = "screen",
    degrees: options.Degrees = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw plots of a result from its CSV and JSON files."""
    from denoc.errors import InputError
    from denoc.record import plot_columns_against, plot_look
    from denoc.scenario import stored_scenario_result

    kept = stored_scenario_result(result)
    look = plot_look(style, degrees=degrees)
    if x and not y:
        raise InputError("columns across without columns up", key="--x", allowed="--y beside it")
    own = [plot_columns_against(x or "t", y, ["t", *kept.table])] if y else []
    folder = out or kept.folder
    with Wait(kept.name, quiet=quiet) as wait:
        wait.now(WRITING)
        files = kept.draw([*(which or []), *own], folder, form.value if form else None, look)
    if not quiet:
        print_lines(*(files or ("this result has no columns for these plots",)))
