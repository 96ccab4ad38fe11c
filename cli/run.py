"""`denoc run`: runs of scenario files."""

from __future__ import annotations

from typing import Annotated

import typer

from denoc.cli import completing, options
from denoc.cli.waiting import CLOSING, Wait


def run_command(
    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO", help="Scenario files or library names.", autocompletion=completing.complete_scenarios
        ),
    ],
    settings: options.Settings = None,
    accept_energy: options.AcceptEnergy = False,
    error: options.EstimateError = False,
    name: options.Name = None,
    out: options.Out = options.OUTPUTS,
    plot: options.Plots = True,
    forms: options.Forms = options.NO_FORMS,
    style: options.PlotStyle = "screen",
    degrees: options.Degrees = False,
    backend: options.Way = options.Backend.auto,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run scenarios of any task. All files are read and checked before the first run starts."""
    from denoc.cli.running import carry_out_and_print
    from denoc.errors import InputError
    from denoc.scenario import prepare_scenario

    if name is not None and len(scenarios) > 1:
        raise InputError("one name can't be that of several scenarios", key="--name", found=f"`{name}`")
    changes = options.solver_options(options.changes_of_options(settings, name), accept_energy, error)
    with Wait("run", quiet=quiet or as_json) as wait:
        wait.now(CLOSING)
        plans = [prepare_scenario(scenario, changes=changes) for scenario in scenarios]
    names = [plan.name for plan in plans]
    for one in names:
        if names.count(one) > 1:
            raise InputError(f"two scenarios are called `{one}`: their results would overwrite each other")
    carry_out_and_print(
        plans,
        out,
        plot=plot,
        files=options.file_options(forms, style, degrees),
        backend=backend.value,
        as_json=as_json,
        quiet=quiet,
        several=True,
    )
