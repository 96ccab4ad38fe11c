"""`denoc report`: a result as a document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait


def report_command(
    result: options.Result,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the report (default: that of the result)."),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="Write a PDF instead of the HTML file.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write one file with all about a result: verdict, machine, motion, plots, extremes, inputs, how to repeat it."""
    from denoc.record.files import make_output_folder, write_file_whole
    from denoc.scenario import stored_scenario_result
    from denoc.study import report_html, write_report_pdf

    kept = stored_scenario_result(result)
    folder = out or kept.folder
    make_output_folder(folder)
    file = folder / f"{kept.name}-report.{'pdf' if pdf else 'html'}"
    with Wait(kept.name, quiet=quiet) as wait:
        wait.now(WRITING)
        if pdf:
            write_file_whole(file, lambda draft: write_report_pdf(draft, kept, options.print_warning_beside_output))
        else:
            text = report_html(kept, options.print_warning_beside_output)
            write_file_whole(file, lambda draft: draft.write_text(text, encoding="utf-8"))
    if not quiet:
        print_lines(file)
