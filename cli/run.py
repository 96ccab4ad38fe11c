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
    how: options.RunOptions = options.RunOptions(),
) -> None:
    """Run scenarios of any task. All files are read and checked before the first run starts."""
    from denoc.cli.running import carry_out_and_print
    from denoc.errors import InputError
    from denoc.scenario import prepare_scenario

    if how.name is not None and len(scenarios) > 1:
        raise InputError("one name can't be that of several scenarios", key="--name", found=f"`{how.name}`")
    changes = how.changes
    with Wait("run", quiet=how.silent) as wait:
        wait.now(CLOSING)
        plans = [prepare_scenario(scenario, changes=changes) for scenario in scenarios]
    names = [plan.name for plan in plans]
    for one in names:
        if names.count(one) > 1:
            raise InputError(f"two scenarios are called `{one}`: their results would overwrite each other")
    carry_out_and_print(plans, how, several=True)
