"""`denoc optimise`: the numbers of a scenario and its robot at which an output is least."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, interrupts, options
from denoc.cli.said import print_lines
from denoc.cli.sweep import Out, Place, Where, Workers, duration_to_print
from denoc.cli.waiting import WRITING, Wait
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from denoc.cli.study_shapes import Optimised as OptimisedShape
    from denoc.cli.study_shapes import SearchPlan
    from denoc.study.optimise import Landscape, Optimised, Search


def optimise_command(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study file with `minimise`, or one of the library.",
            autocompletion=completing.complete_studies,
        ),
    ],
    on: Where = Place.threads,
    workers: Workers = None,
    scheduler: options.Scheduler = None,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Take runs that are kept from the store, or compute all anew.")
    ] = True,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what is sought, by which method and how long a run takes, and stop.")
    ] = False,
    out: Out = options.OUTPUTS,
    plot: options.Plots = True,
    forms: options.Forms = options.NO_FORMS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Seek the numbers at which an output is least, within bounds and limits; runs are kept as they finish."""
    from denoc.record.files import check_output_writable, make_output_folder
    from denoc.study.optimise import Search, search_ready, search_summary, write_search_files
    from denoc.study.sweep import open_study, store_of_study, sweep_engine

    wanted = options.file_options(forms)
    form = (wanted.form or options.Format.png.value) if plot else ""
    asked = open_study(study, search=True)
    folder = out / asked.name
    check_output_writable(folder)
    with Wait(asked.name, quiet=quiet or as_json) as wait:
        wait.now("looking at the first run")
        first = search_ready(asked)
        store = store_of_study(folder, asked.name)
        if explain:
            search = Search(first, store if store.is_file() and resume else None)
            wait.now("measuring a run and its derivatives")
            document = _plan(search, folder)
            search.close()
        else:
            make_output_folder(folder)
            search = Search(first, store, fresh=not resume)
            made = _carried_out(search, lambda: sweep_engine(on.value, workers, scheduler), wait, store)
            wait.now(WRITING)
            with interrupts.hold_interrupt_signals():
                files = write_search_files(made, search.study, folder, form, "parquet" in wanted.tables)
    if explain:
        _explain(document, as_json=as_json)
        return
    if as_json:
        shape: OptimisedShape = {"study": made.name, **search_summary(made), "files": [str(x) for x in files]}  # type: ignore[typeddict-item]
        printed.print_json_document(shape)
    elif not quiet:
        _show(made, files)
    if made.missed:
        if quiet or as_json:
            print_lines(f"error: {made.name}: {'; '.join(made.missed)}", err=True)
        raise typer.Exit(3)


def _carried_out(search: Search, engine: object, wait: Wait, store: Path) -> Optimised:
    """The search carried out; an interrupt says what is kept."""

    def report(land: Landscape) -> None:
        best = land.best
        least = f", least {land.at(best).value:.6g}" if best is not None else ""
        wait.now(f"{len(land.points)} runs{least}", len(land.points) / search.most)

    try:
        return search.carried_out(engine, report)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        print_lines(f"all runs so far are kept in {store}; the next start goes on with them", err=True)
        raise
    finally:
        search.close()


def _plan(search: Search, folder: Path) -> SearchPlan:
    """What a search would do; a run and its derivatives are carried out for that, and nothing is kept."""
    import time

    from denoc.study.sweep import study_task_carried_out

    runs = search.runs
    study_task_carried_out(runs.task([0]))  # so that compiling isn't measured
    seconds = study_task_carried_out(runs.task([0])).seconds
    begun = time.perf_counter()
    smooth = search.smooth
    derivatives = time.perf_counter() - begun if smooth else None
    method, why = search.method()
    return {
        "study": search.study.name,
        "minimised": search.goal.name,
        "unit": search.goal.unit,
        "limits": [one.words for one in search.goal.limits],
        "numbers": {name: [float(x) for x in one.between or ()] for name, one in search.file.vary.items()},
        "start": {name: float(x) for name, x in search.study.design.point(0).items()},
        "starts": search.file.starts or 1,
        "method": method,
        "why": why,
        "runs": search.most,
        "seconds": seconds,
        "derivatives": derivatives,
        "folder": str(folder),
    }


def _explain(it: SearchPlan, *, as_json: bool) -> None:
    if as_json:
        printed.print_json_document(it)
        return
    numbers, limits = _counted(len(it["numbers"]), "number"), _counted(len(it["limits"]), "limit")
    print_lines(f"{it['study']}: {it['minimised']} is minimised over {numbers}, under {limits}")
    for name, (low, high) in it["numbers"].items():
        print_lines(f"  {name} from {low:.6g} to {high:.6g}, begins at {it['start'][name]:.6g}")
    for limit in it["limits"]:
        print_lines(f"  {limit}")
    why = f" ({it['why']})" if it["why"] else ""
    starts = _counted(it["starts"], "start")
    print_lines(f"  by {it['method']}{why}, from {starts}, at most {it['runs']} runs")
    slopes = f", its derivatives {duration_to_print(it['derivatives'])}" if it["derivatives"] is not None else ""
    print_lines(f"  a run takes about {duration_to_print(it['seconds'])}{slopes}")
    print_lines(f"  {it['folder']}/")


def _show(made: Optimised, files: list[Path]) -> None:
    judged, units = made.verdict, made.table.units
    unit = f" {made.unit}" if made.unit != "1" else ""
    ended = ", all that it may take" if made.spent else ""
    print_lines(f"{made.name}: {judged.words}")
    print_lines(f"  {made.goal} = {made.value:.6g}{unit}, from {made.values[0]:.6g}{unit} at the start")
    for name, x in made.best.items():
        bound = f", at its {judged.held[name]} bound" if name in judged.held else ""
        print_lines(f"  {name} = {x:.6g}{_unit(units, name)}{bound}")
    for name, x in made.outputs.items():
        if name != made.goal:
            print_lines(f"  {name}: {x:.6g}{_unit(units, name)}")
    for limit in judged.active:
        print_lines(f"  reached: {limit}")
    for sentence in made.missed:
        print_lines(f"  NOT AS EXPECTED: {sentence}")
    why = f" ({made.why})" if made.why else ""
    around = f"{len(made.table) - made.searched} around the best"
    print_lines(
        f"  by {made.method}{why}: {_counted(made.searched, 'run')}{ended}, and {around}; {made.computed} computed"
    )
    print_lines(f"  {files[0].parent}/: " + ", ".join(file.name for file in files))


def _counted(count: int, word: str) -> str:
    return count_with_noun(count, word) if count else f"no {word}s"


def _unit(units: dict[str, str], name: str) -> str:
    unit = units.get(name, "")
    return f" {unit}" if unit not in ("", "1") else ""
