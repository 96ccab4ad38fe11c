"""`denoc distribute`: a run of a parallel robot by legs, on nodes that exchange messages."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, interrupts, options, said
from denoc.cli.said import print_lines
from denoc.cli.waiting import Wait
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from denoc.cli.shapes import Distributed, Message, Plan
    from denoc.parallel import Exchange
    from denoc.scenario import Plan as ScenarioPlan
    from denoc.study.distribution import Cost, Forecast, Outcome


class EngineName(StrEnum):
    """The places where nodes can run."""

    process = "process"
    threads = "threads"
    dask = "dask"


Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes", min=1, metavar="N", help="Number of nodes that share the legs (default: one for each leg)."
    ),
]


def distribute_command(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A scenario file or library name.", autocompletion=completing.complete_scenarios
        ),
    ],
    nodes: Nodes = None,
    engine: Annotated[
        EngineName, typer.Option("--on", help="Run the nodes in one process, in threads, or on a local Dask cluster.")
    ] = EngineName.process,
    scheduler: options.Scheduler = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the messages that a run would send, and stop.")
    ] = False,
    batch: Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Number of samples in a message.")] = 1000,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="T", help="How long to wait for a node's answer.")
    ] = "60",
    check: Annotated[bool, typer.Option("--check/--no-check", help="Compare with the undistributed run.")] = True,
    measure: Annotated[bool, typer.Option("--measure/--no-measure", help="Measure the cost of an exchange.")] = True,
    settings: options.Settings = None,
    name: options.Name = None,
    out: options.Out = options.OUTPUTS / "distribute",
    plot: options.Plots = True,
    forms: options.Forms = options.NO_FORMS,
    style: options.PlotStyle = "screen",
    degrees: options.Degrees = False,
    backend: options.Way = options.Backend.auto,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario of a parallel robot by legs: one task for each leg and a central one that exchange messages."""
    from denoc.cli import running
    from denoc.machine.backend import using_backend
    from denoc.record.files import check_output_writable as writable
    from denoc.scenario import prepare_scenario
    from denoc.study.distribution import (
        EngineSetting,
        Listener,
        distribution_explained,
        distribution_part_name,
        distribution_study,
    )

    changes = options.changes_of_options(settings, name)
    patience = options.number_of_option(timeout, "time", "--timeout", above=0.0) or 60.0
    setting = EngineSetting(engine.value, nodes, scheduler, batch, patience)

    def make() -> ScenarioPlan:
        return prepare_scenario(scenario, changes=changes)

    if explain:
        _explain(*distribution_explained(make, setting), distribution_part_name(make()), as_json=as_json)
        return
    wanted = options.file_options(forms, style, degrees)
    plan = make()
    folder = out / plan.name
    writable(folder)
    with (
        Wait(folder.name, quiet=quiet or as_json) as wait,
        interrupts.hold_interrupt_signals(later=True) as rows_are_there,
    ):
        reached = wait.simulated(float(plan.grid[0]), float(plan.grid[-1]), rows_are_there)
        wait.now("computing by legs")

        def foretold(it: Forecast) -> None:
            if not quiet and not as_json:
                print_lines(f"{folder.name}: {it.sentence()}", err=True)

        with using_backend(backend.value):
            listener = Listener(foretold, reached)
            outcome = distribution_study(make, setting, measured=measure, check=check, listener=listener)
        files, others = running.write_files_of_command(outcome.result, folder, wanted, wait, plot=plot)
    if others and not quiet:
        said.print_warning(others)
    if as_json:
        printed.print_json_document(_summary(outcome, files))
    elif not quiet:
        _show(outcome, files)
    code = running.exit_code_of_run(outcome.result)
    if code:
        if quiet or as_json:
            said.print_error(f"{outcome.name}: {outcome.result.record['reason']}")
        raise typer.Exit(code)


def _explain(unit: str, legs: int, nodes: int, rows: list[Exchange], part: str, *, as_json: bool) -> None:
    if as_json:
        plan: Plan = {"unit": unit, "legs": legs, "nodes": nodes, "messages": _messages(rows)}
        printed.print_json_document(plan)
        return
    print_lines(f"{count_with_noun(legs, part)} on {count_with_noun(nodes, 'node')}; messages of {unit}:")
    widest = max(len(row.number) for row in rows)
    for row in rows:
        fields = ", ".join(f"{name} {width}" for name, width in row.fields.items())
        print_lines(f"  {row.number:{widest}}  {row.messages:3d} {row.way:10}  {row.bytes:9d} B  {fields}")
    exchanges = sum(row.way == "to central" for row in rows)
    messages, passed = sum(row.messages for row in rows), sum(row.bytes for row in rows)
    print_lines(
        f"  together {count_with_noun(messages, 'message')} in {count_with_noun(exchanges, 'exchange')}, {passed} B"
    )
    print_lines("  numbers a sample beside the fields' names, of all nodes; 8 B a number")


def _show(outcome: Outcome, files: list[Path]) -> None:
    from denoc.cli.running import path_from_here

    for note in outcome.notes:
        print_lines(note)
    result = outcome.result
    mark = "done" if result.as_expected else result.ended.upper()
    where = {"process": "in one process", "threads": "on threads", "dask": "on Dask"}[outcome.engine]
    print_lines(
        f"{outcome.name}: {mark}, {outcome.task} {outcome.form}, {count_with_noun(outcome.legs, outcome.part)} on "
        f"{count_with_noun(outcome.nodes, 'node')} {where}"
    )
    if result.record["reason"]:
        print_lines(f"  {result.record['reason']}")
    if outcome.off:
        off = ", ".join(f"{name} {x:.1e}" for name, x in outcome.off.items())
        print_lines(f"  off the undistributed run, relative: {off}")
    before = f", undistributed {outcome.undistributed:.3g} s" if outcome.undistributed else ""
    print_lines(f"  {outcome.messages} messages, {outcome.bytes} B; computed in {outcome.seconds:.3g} s{before}")
    if outcome.cost is not None:
        _show_cost(outcome.cost, outcome.engine)
    print_lines(f"  {path_from_here(files[0].parent)}/: " + ", ".join(file.name for file in files))


def _show_cost(cost: Cost, engine: str) -> None:
    unit = f"{cost.samples} samples" if cost.samples > 1 else "one sample"
    rate = f", {cost.rate / 1e6:.3g} MB/s" if math.isfinite(cost.rate) else ""
    exchanges = count_with_noun(cost.exchanges, "exchange")
    print_lines(
        f"  {unit}: nodes {1e3 * cost.work:.3g} ms, the busiest {1e3 * cost.slowest:.3g} ms, central "
        f"{1e3 * cost.central:.3g} ms; {exchanges} of {1e3 * cost.latency:.3g} ms{rate}"
    )
    if engine == "process":
        return
    at = cost.pays_from
    pays = f"from messages of {count_with_noun(max(1, math.ceil(at)), 'sample')} on" if math.isfinite(at) else "never"
    print_lines(
        f"  with a processor a node {1e3 * cost.together:.3g} ms, against {1e3 * cost.alone:.3g} ms in one process: "
        f"pays {pays}"
    )


def _summary(outcome: Outcome, files: list[Path]) -> Distributed:
    """The data that `--json` prints."""
    document: Distributed = {
        "name": outcome.name,
        "task": outcome.task,
        "form": outcome.form,
        "legs": outcome.legs,
        "nodes": outcome.nodes,
        "engine": outcome.engine,
        "off": dict(outcome.off),
        "undistributed": outcome.undistributed,
        "seconds": outcome.seconds,
        "units": outcome.units,
        "messages": outcome.messages,
        "bytes": outcome.bytes,
        "notes": outcome.notes,
        "ended": outcome.result.ended,
        "plan": _messages(outcome.rows),
        "files": [str(file) for file in files],
    }
    if (cost := outcome.cost) is not None:
        more = {"alone": cost.alone, "together": cost.together, "pays_from": cost.pays_from}
        document["cost"] = {**vars(cost), **more}
    return document


def _messages(rows: list[Exchange]) -> list[Message]:
    return [
        {"number": row.number, "way": row.way, "fields": row.fields, "messages": row.messages, "bytes": row.bytes}
        for row in rows
    ]
