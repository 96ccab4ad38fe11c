"""`denoc regress`: a comparison of scenarios with a baseline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, options, said
from denoc.cli.said import print_lines, print_table
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    from denoc.cli.study_shapes import Regressed, Regression
    from denoc.study.regression import Case, Verdict

MOST_SHOWN = 10  # differences of one scenario on the terminal
MOST_NAMED = 4  # plots whose names are printed


def regress_command(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario files or names (default: all of the baseline).",
            autocompletion=completing.complete_scenarios,
        ),
    ] = None,
    baseline: Annotated[
        Path, typer.Option("--baseline", metavar="DIR", help="Folder of the agreed results.")
    ] = options.OUTPUTS / "baseline",
    update: Annotated[bool, typer.Option("--update", help="Show the differences, then update the baseline.")] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Plots of differences go to DIR/<scenario>/.")
    ] = options.OUTPUTS / "regress",
    plot: options.Plots = True,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option("--summary", metavar="FILE", help="Write Markdown.")] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write HTML: what changed, before and after."),
    ] = None,
    backend: options.Way = options.Backend.auto,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run scenarios again and compare every column and plot with a baseline; exit with 1 if something differs."""
    from denoc.cli import ci
    from denoc.record.files import check_output_writable
    from denoc.study.regression import regression_cases
    from denoc.study.regression import update_baseline as updated

    for file in (junit, summary, report):
        if file is not None:
            check_output_writable(file.parent)
    cases = regression_cases(baseline, scenarios or [], update=update)
    for case in cases:
        check_output_writable(out / case.name)
    verdicts, seconds, drawn = [], [], {}
    for case in cases:
        begun = time.perf_counter()
        verdict = _verdict(case, backend.value, quiet or as_json)
        drawn[verdict.name] = [str(file) for file in _overlays(verdict, out / case.name)] if plot else []
        seconds.append(time.perf_counter() - begun)
        verdicts.append(verdict)
        if quiet and not (verdict.same or update or as_json):
            said.print_error(ci.ci_line_of_scenario(verdict))
        elif not quiet and not as_json:
            _show(verdict, drawn[verdict.name])
    _write_reports(verdicts, seconds, junit, summary)
    if report is not None:
        options.write_text_of_command(report, ci.ci_html_page(verdicts, drawn))
    done = updated(baseline, verdicts) if update else {}
    different = sum(not verdict.same for verdict in verdicts)
    if as_json:
        document: Regression = {
            "baseline": str(baseline),
            "same": len(verdicts) - different,
            "different": different,
            "updated": done,
            "scenarios": [_summary(verdict, drawn[verdict.name]) for verdict in verdicts],
        }
        printed.print_json_document(document)
    elif not quiet:
        print_lines(ci.ci_headline(verdicts))
        if update:
            written = ", ".join(f"{name} ({word})" for name, word in done.items())
            print_lines(f"{baseline}: {written}" if written else f"{baseline}: nothing to change")
    if different and not update:
        raise typer.Exit(1)


def _write_reports(verdicts: list[Verdict], seconds: list[float], junit: Path | None, summary: Path | None) -> None:
    """Writes the reports for continuous integration, where they are wanted."""
    from denoc.cli import ci
    from denoc.record.files import make_output_folder as make

    for file, text in ((junit, ci.ci_junit_xml), (summary, ci.ci_markdown_summary)):
        if file is not None:
            make(file.parent)
            options.write_text_of_command(file, text(verdicts, seconds))


def _verdict(case: Case, backend: str, quiet: bool) -> Verdict:
    from denoc.cli.running import compute_with_progress
    from denoc.machine.backend import using_backend
    from denoc.study.regression import judge_against_baseline, judge_missing_scenario

    if case.plan is None:
        return judge_missing_scenario(case)
    with Wait(case.name, quiet=quiet) as wait:
        with using_backend(backend):
            result = compute_with_progress(case.plan, wait)
        if result.ended == "interrupted":
            raise KeyboardInterrupt
        wait.now("drawing plots and comparing them")
        return judge_against_baseline(case, result)


def _overlays(verdict: Verdict, folder: Path) -> list[Path]:
    """Draws the plots of differences, removes those of an earlier comparison, and returns the files."""
    from denoc.record.files import make_output_folder as make
    from denoc.study.regression import regression_overlays

    if folder.is_dir():
        for file in folder.iterdir():
            if file.name.startswith(f"{verdict.name}-difference-") and file.suffix == ".png":
                file.unlink()
    files = []
    for stem, figure in regression_overlays(verdict).items():
        make(folder)
        files.append(folder / f"{stem}.png")
        options.save_figure_of_command(figure, files[-1])
    return files


# ---- output


def _show(verdict: Verdict, files: list[str]) -> None:
    from denoc.cli import ci

    print_lines(ci.ci_line_of_scenario(verdict))
    for note in verdict.notes:
        print_lines(f"  {note}")
    numbers = [one for one in verdict.differences if one.old is not None]
    others = [one for one in verdict.differences if one.old is None] if len(verdict.differences) > 1 else []
    for one in others[:MOST_SHOWN]:
        print_lines(f"  {ci.ci_sentence_of_difference(one)}")
    if len(others) > MOST_SHOWN:
        print_lines(f"  … and {len(others) - MOST_SHOWN} more")
    if numbers:
        print_table(ci.HEADS, map(ci.ci_cells_of_difference, numbers[:MOST_SHOWN]), width=120, indent="  ")
    if len(numbers) > MOST_SHOWN:
        print_lines(f"  … and {len(numbers) - MOST_SHOWN} more")
    if files:
        names = ", ".join(Path(file).name for file in files[:MOST_NAMED])
        more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
        print_lines(f"  {Path(files[0]).parent}/: {names}{more}")


def _summary(verdict: Verdict, plots: list[str]) -> Regressed:
    """The data that `--json` prints for a scenario."""
    return {
        "scenario": verdict.name,
        "same": verdict.same,
        "nearest": verdict.nearest,
        "differences": [printed.json_of_difference(one) for one in verdict.differences],
        "notes": verdict.notes,
        "plots": plots,
    }
