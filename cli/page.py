"""`denoc page`: a machine that runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import completing, options
from denoc.cli.said import print_lines, print_warning
from denoc.cli.waiting import WRITING, Wait


def page_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT|SCENARIO",
            help="A robot, which falls freely, or a scenario.",
            autocompletion=completing.complete_robots_and_scenarios,
        ),
    ],
    slider: Annotated[
        list[str] | None,
        typer.Option(
            "--slider",
            metavar="KEY[=LOW..HIGH]",
            help="Let the page change a number of the robot's file, such as robot.links.crank.mass=1..5.",
        ),
    ] = None,
    settings: options.Settings = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The page goes to DIR/<scenario>/<scenario>-page.html.")
    ] = options.OUTPUTS,
    quiet: options.Quiet = False,
) -> None:
    """Write one HTML file in which a machine runs: its equations of motion, with sliders for its numbers, offline."""
    from denoc.record.files import make_output_folder, write_file_whole
    from denoc.study import page_of_plan as made
    from denoc.study import page_slider_ranges, plan_of_page

    wanted = page_slider_ranges(slider or [])
    plan = plan_of_page(what, options.changes_of_options(settings))
    for warning in plan.robot.warnings if not quiet else ():
        print_warning(warning)
    folder = out / plan.name
    make_output_folder(folder)
    file = folder / f"{plan.name}-page.html"
    with Wait(plan.name, quiet=quiet) as wait:
        wait.now("recording the equations")
        text = made(plan, wanted, options.print_warning_beside_output)
        wait.now(WRITING)
        write_file_whole(file, lambda draft: draft.write_text(text, encoding="utf-8"))
    if not quiet:
        print_lines(file)
