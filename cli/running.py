"""Runs on the command line, with progress, files, a summary and the exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from denoc.cli import as_json as printed
from denoc.cli import interrupts, said
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from denoc.cli.options import Files, RunOptions
    from denoc.cli.shapes import Run
    from denoc.scenario import Plan, Result

MOST_KEYS = 4  # of the inputs that differ from those of the run that is replaced


def carry_out_and_print(plans: list[Plan], how: RunOptions, *, several: bool = False) -> None:
    """Runs each plan, writes its results, prints a summary, and exits with the highest exit code.

    The JSON document is a list of summaries if the command takes `several` scenarios, whatever their number.
    """
    from denoc.machine.backend import using_backend
    from denoc.record.files import check_output_writable

    files = how.files
    for plan in plans:
        check_output_writable(how.out / plan.name)
    code = 0
    summaries: list[Run] = []
    for plan in plans:
        for warning in plan.robot.warnings if not how.quiet else ():
            said.print_warning(warning)
        with (
            Wait(plan.name, quiet=how.silent) as wait,
            interrupts.hold_interrupt_signals(later=True) as rows_are_there,
        ):
            with using_backend(how.backend.value):
                result = compute_with_progress(plan, wait, rows_are_there)
            made, others = write_files_of_command(result, how.out / plan.name, files, wait, plot=how.plot)
        if others and not how.quiet:
            said.print_warning(others)
        own = exit_code_of_run(result)
        code = max(code, own)
        summaries.append(summary_to_print(result, made))
        if not how.silent:
            print_run(result, made)
        elif own and not how.as_json:
            said.print_error(f"{plan.name}: {result.record['reason']}")
        if result.ended == "interrupted":
            break
    if how.as_json:
        printed.print_json_document(summaries if several else summaries[0])
    if code:
        raise typer.Exit(code)


def compute_with_progress(plan: Plan, wait: Wait, done: Callable[[], None] = lambda: None) -> Result:
    """The result of a plan, whose progress is shown meanwhile; `done` is called when all rows are there."""
    from denoc.scenario import carry_out_plan as compute

    return compute(plan, wait.simulated(float(plan.grid[0]), float(plan.grid[-1]), done))


def write_files_of_command(
    result: Result, folder: Path, wanted: Files, wait: Wait, *, plot: bool
) -> tuple[list[Path], str]:
    """The files of a result, and a sentence on a run with other inputs whose results they replace."""
    from denoc.record.files import recorded_inputs_that_differ

    wait.now(WRITING)
    keys = recorded_inputs_that_differ(folder, result.name, result.record)
    with interrupts.hold_interrupt_signals():
        files = result.write(
            folder, wanted.form, plot=plot, more_tables=wanted.tables, style=wanted.style, degrees=wanted.degrees
        )
    named = ", ".join(keys[:MOST_KEYS]) + (" …" if len(keys) > MOST_KEYS else "")
    held = f"held a run with other inputs ({named}), which is replaced; --name or --out keeps both"
    return files, f"{path_from_here(folder)} {held}" if keys else ""


def exit_code_of_run(result: Result) -> int:
    """The exit code of a run, which is 0 if it ended as expected."""
    if result.ended == "interrupted":
        return interrupts.exit_code_of_interrupt()
    return 0 if result.as_expected else 3


def summary_to_print(result: Result, files: list[Path]) -> Run:
    """The data that `--json` prints."""
    record = result.record
    return {
        "scenario": record["scenario"],
        "task": record["task"],
        "ended": record["ended"],
        "expected": record["expected"],
        "reason": record["reason"],
        "rows": record["rows"],
        "seconds": record["seconds"],
        "audit": record["audit"],
        "error": record["error"],
        "events": record["events"],
        "warnings": record["warnings"],
        "robot": record["robot"]["name"],
        "files": [str(file) for file in files],
    }


def print_run(result: Result, files: list[Path]) -> None:
    """Prints how a run ended, its largest forces, its energy balance, its events and its files."""
    from denoc.scenario import DOUBTFUL

    record, audit = result.record, result.audit
    mark = "NOT AS EXPECTED" if result.ended == "done" else result.ended.upper()
    if result.as_expected:
        mark = "done"
    print_lines(
        f"{result.name}: {mark}, {count_with_noun(record['rows'], 'row')} computed in {record['seconds']:.2f} s"
        + _steps(record)
    )
    if record["reason"]:
        print_lines(f"  {record['reason']}")
    forces = [column for column in result.columns if column.family == "force"]
    largest = [(column, float(abs(result.table[column.name]).max(initial=0.0))) for column in forces]
    if any(size > 0 for _, size in largest):  # comparisons with NaN, from a run that failed at once, are false
        shown = [f"{column.name} {size:.4g} {column.unit}" for column, size in largest[:8]]
        print_lines("  largest: " + ", ".join(shown) + (" …" if len(largest) > 8 else ""))
    if audit["energy"] is not None and audit["energy"] < DOUBTFUL * audit["exchanged"]:  # else a warning says so
        print_lines(f"  energy balance holds to {audit['energy']:.2g} J")
    if record.get("error"):
        from denoc.scenario import error_sentences

        print_lines(*(f"  {sentence}" for sentence in error_sentences(record["error"])))
    for event in record["events"][:6]:
        whose = event.get("joint") or event.get("actuator")  # a singular position belongs to neither
        who = f"{whose} " if whose else ""
        print_lines(f"  t = {event['t']:.6f} s: {who}{event['event']}, then {event['then']}")
    if len(record["events"]) > 6:
        print_lines(f"  … and {count_with_noun(len(record['events']) - 6, 'more event')}")
    for warning in record["warnings"]:
        if "\n" not in warning:  # warnings about the robot's file are printed before the run
            print_lines(f"  warning: {warning}")
    folder = files[0].parent
    print_lines(f"  {path_from_here(folder)}/: " + ", ".join(file.name for file in files))


def _steps(record: dict[str, Any]) -> str:
    """The numbers of steps and evaluations, and the length of steps that is fixed."""
    audit, solver = record["audit"], record["solver"]
    if not audit["steps"]:
        return ""
    each = f" of {float(solver['step']):.6g} s" if solver and solver["step"] is not None else ""
    steps, evaluations = count_with_noun(audit["steps"], "step"), count_with_noun(audit["evaluations"], "evaluation")
    return f", {steps}{each}, {evaluations}"


def path_from_here(path: Path) -> str:
    """The path relative to the current folder, if it is inside it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
