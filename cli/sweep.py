"""`denoc sweep`: a scenario run for many values of its numbers, in a table with a row for each run."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, interrupts, options, said
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from denoc.cli.study_shapes import Forecast as ForecastShape
    from denoc.cli.study_shapes import Sweep
    from denoc.study.sweep import Engine, Forecast, Progress, Runs, Swept

MOST_SHOWN = 4  # reasons of failed runs on the terminal


class Place(StrEnum):
    """The places where runs can be carried out."""

    threads = "threads"
    process = "process"
    dask = "dask"


# options of all commands that carry out a study
Where = Annotated[
    Place, typer.Option("--on", help="Run in threads of this process, in processes, or on a Dask cluster.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="How many threads, processes or workers of a cluster (default: the processors).",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<study>/.")]


def sweep_command(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study file, or one of the library.",
            autocompletion=completing.complete_studies,
        ),
    ],
    on: Where = Place.threads,
    workers: Workers = None,
    scheduler: options.Scheduler = None,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Go on with the runs that are kept, or compute all anew.")
    ] = True,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how many runs there are, how long they take and where, and stop.")
    ] = False,
    best: Annotated[
        str | None,
        typer.Option(
            "--best", metavar="OUTPUT", help="Write the run with the least OUTPUT, or the largest one with max:OUTPUT."
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="How many best runs are written.")] = 1,
    out: Out = options.OUTPUTS,
    plot: options.Plots = True,
    forms: options.Forms = options.NO_FORMS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario for many values of its numbers; runs are kept as they finish, and none is computed twice."""
    from denoc.record.files import check_output_writable, make_output_folder
    from denoc.study.sweep import (
        Runs,
        forecast_sweep,
        open_study,
        probe_study,
        store_of_study,
        sweep_engine,
        sweep_goal,
        write_sweep_files,
    )

    wanted = options.file_options(forms)
    asked = open_study(study)
    sought = (*sweep_goal(asked, best), count) if best is not None else None
    folder = out / asked.name
    check_output_writable(folder)
    form = (wanted.form or options.Format.png.value) if plot else ""
    with Wait(asked.name, quiet=quiet or as_json) as wait:
        wait.now("looking at the first run")
        ready = probe_study(asked)
        store = store_of_study(folder, asked.name)
        if explain:
            runs = Runs(ready, store if store.is_file() and resume else None)
            wait.now("measuring a few runs")
            foretold = forecast_sweep(runs)
            runs.close()
        else:
            make_output_folder(folder)
            runs = Runs(ready, store, fresh=not resume)
            swept = _carried_out(runs, lambda: sweep_engine(on.value, workers, scheduler), wait, store)
            wait.now(WRITING)
            with interrupts.hold_interrupt_signals():
                files = write_sweep_files(swept, runs.study, folder, form, "parquet" in wanted.tables, sought)
    if explain:
        _explain(asked.name, foretold, workers, on.value, folder, as_json=as_json)
        return
    if as_json:
        printed.print_json_document(_summary(swept, files))
    elif not quiet:
        _show(swept, files)
    if swept.missed:
        if quiet or as_json:
            said.print_error(f"{swept.name}: {'; '.join(swept.missed)}")
        raise typer.Exit(3)


def _carried_out(runs: Runs, engine: Callable[[], Engine], wait: Wait, store: Path) -> Swept:
    """The study carried out; an interrupt says what is kept."""
    from denoc.study.sweep import Progress

    def report(at: Progress) -> None:
        wait.now(_progress(at), at.done / at.count)

    report(Progress(runs.count - len(runs.missing), runs.count, None))
    try:
        return runs.carried_out(engine, report)
    except KeyboardInterrupt:
        kept = runs.count - len(runs.missing)
        print_lines(f"{kept} of {runs.count} runs are kept in {store}; the next start goes on with them", err=True)
        raise
    finally:
        runs.close()


def _progress(at: Progress) -> str:
    left = f", {duration_to_print(at.left)} left" if at.left is not None else ""
    return f"{at.done} of {at.count} runs{left}"


def duration_to_print(seconds: float) -> str:
    """A duration in words that don't say more than is known."""
    if seconds < 100:
        return f"{max(seconds, 0.1):.2g} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def _explain(name: str, it: Forecast, workers: int | None, on: str, folder: Path, *, as_json: bool) -> None:
    from denoc.machine.backend import processors_to_use

    hands = workers or processors_to_use()
    missing = it.runs - it.kept
    seconds = it.seconds * missing / (1 if on == "threads" else hands)
    if as_json:
        document: ForecastShape = {
            "study": name,
            "runs": it.runs,
            "kept": it.kept,
            "seconds": seconds,
            "table": it.table,
            "store": it.store,
            "folder": str(folder),
        }
        printed.print_json_document(document)
        return
    print_lines(f"{name}: {count_with_noun(it.runs, 'run')}, {it.kept} of them kept already, {missing} to be computed")
    where = {"threads": "threads of this process", "process": "processes", "dask": "workers of a Dask cluster"}[on]
    if missing:
        print_lines(f"  about {duration_to_print(seconds)}, {1e3 * it.seconds:.3g} ms each, on {hands} {where}")
    print_lines(f"  {folder}/: a table of about {_size(it.table)}, a store of about {_size(it.store)}")


def _size(count: int) -> str:
    power = min(int(math.log(max(count, 1), 1000)), 3)
    return f"{count / 1000**power:.3g} {('B', 'kB', 'MB', 'GB')[power]}"


def _show(swept: Swept, files: list[Path]) -> None:
    table = swept.table
    failed = f", {swept.failed} not ended as expected" if swept.failed else ""
    mark = "NOT AS EXPECTED" if swept.missed else "done"
    print_lines(f"{swept.name}: {mark}, {count_with_noun(len(table), 'run')}{failed}, {swept.computed} computed")
    for sentence in swept.missed:
        print_lines(f"  {sentence}")
    for (ended, reason), number in _reasons(swept).most_common(MOST_SHOWN):
        print_lines(f"  {number} {ended}: {reason}")
    for name in table.outputs:
        values = [x for x in table[name][table.as_expected].tolist() if math.isfinite(x)]
        unit = table.units.get(name, "")
        if values:
            of = f" {unit}" if unit not in ("", "1") else ""
            print_lines(f"  {name}: {min(values):.6g} to {max(values):.6g}{of}")
    print_lines(f"  {files[0].parent}/: " + ", ".join(file.name for file in files))


def _reasons(swept: Swept) -> Counter[tuple[str, str]]:
    """How many runs didn't end as expected: by how they ended, and why."""
    from collections import Counter

    table = swept.table
    each = zip(table["ended"], table["reason"], table["as_expected"])
    return Counter((ended, reason) for ended, reason, as_expected in each if not as_expected)


def _summary(swept: Swept, files: list[Path]) -> Sweep:
    """The data that `--json` prints."""
    table = swept.table
    return {
        "study": swept.name,
        "runs": len(table),
        "computed": swept.computed,
        "failed": swept.failed,
        "missed": swept.missed,
        "reasons": {reason: number for (_, reason), number in _reasons(swept).most_common()},
        "inputs": table.inputs,
        "outputs": table.outputs,
        "units": table.units,
        "files": [str(file) for file in files],
    }
