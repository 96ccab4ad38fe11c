"""`denoc compare`: a comparison of closure methods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, interrupts, options
from denoc.cli.said import print_lines, print_table
from denoc.cli.waiting import WRITING, Wait

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from denoc.cli.shapes import Comparison as Document
    from denoc.study.comparison import Comparison, Run, RunSetting

HEADS = (
    ("method", "left"),
    ("integration", "left"),
    ("ended", "left"),
    ("evaluations", "right"),
    ("s", "right"),
    ("joint error", "right"),
    ("rms", "right"),
    ("loops, m", "right"),
    ("energy, J", "right"),
    ("stiffness", "right"),
    ("correction", "right"),
)

Methods = Annotated[str | None, typer.Option("--methods", metavar="A,B,…", help="Closure methods (default: all).")]
Stiffnesses = Annotated[
    str | None, typer.Option("--k", metavar="K,…", help="Stiffnesses of penalties (default: 1e3,1e4,1e5,1e6).")
]
Sigma = Annotated[
    str | None,
    typer.Option("--sigma", metavar="S,…", help="Convergence factors of projections (default: 10,20,30,40)."),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--values", metavar="NAME=X,…", help="Try values of any parameter of a method, such as alpha=5,20."),
]
MaxStep = Annotated[
    str | None,
    typer.Option("--max-step", metavar="DT", help="The longest step of rk45 (default: a 50th of the time)."),
]


def compare_command(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario of a mechanism: its `motion` is played back, or its simulation repeated.",
            autocompletion=completing.complete_scenarios,
        ),
    ],
    methods: Methods = None,
    rtol: Annotated[str, typer.Option("--rtol", metavar="X,…", help="Relative tolerances of rk45.")] = "1e-3,1e-6",
    steps: Annotated[str, typer.Option("--steps", metavar="DT,…", help="Step sizes of rk4.")] = "0.01,0.001",
    k: Stiffnesses = None,
    sigma: Sigma = None,
    values: Values = None,
    feedback: Annotated[
        bool, typer.Option("--feedback/--no-feedback", help="Add runs in which a controller corrects the forces.")
    ] = True,
    max_step: MaxStep = None,
    max_evaluations: Annotated[
        int, typer.Option("--max-evaluations", min=100, help="Stop runs that take more evaluations.")
    ] = 20_000,
    settings: options.Settings = None,
    name: options.Name = None,
    out: options.Out = options.OUTPUTS / "compare",
    plot: options.Plots = True,
    form: options.Form = options.Format.png,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a mechanism under the forces of a given motion, or its own, with each closure method, and compare.

    As in chapter 4 of Khan's thesis, the runs vary the integrator and the parameters of each method. The comparison
    shows errors of joints, gaps of loops, evaluations, stiffness, and the correction by a feedback controller. Each run
    is a row of <scenario>-compare.csv.
    """
    from denoc.record.files import check_output_writable
    from denoc.study.comparison import Comparison, Options, comparison_summary

    names = [name.strip() for name in methods.split(",") if name.strip()] if methods is not None else None
    chosen = Options(
        **({"methods": names} if names else {}),
        rtols=_numbers(rtol, "number", "--rtol", below=1.0),
        steps=_numbers(steps, "time", "--steps"),
        values=_values(k, sigma, values or []),
        feedback=feedback,
        max_step=options.number_of_option(max_step, "time", "--max-step", above=0.0),
        max_evaluations=max_evaluations,
    )
    comparison = Comparison(scenario, chosen, options.changes_of_options(settings, name))
    folder = out / comparison.name
    check_output_writable(folder)
    with (
        Wait(comparison.name, quiet=quiet or as_json) as wait,
        interrupts.hold_interrupt_signals(later=True) as runs_are_there,
    ):
        runs, interrupted = _run(comparison, wait, runs_are_there)
        wait.now(WRITING)
        files = _write(folder, comparison.name, runs, form.value if plot else None)
    if as_json:
        document: Document = {
            "scenario": comparison.name,
            "interrupted": interrupted,
            "runs": [run.row() for run in runs],
            "summary": comparison_summary(runs),
            "files": [str(file) for file in files],
        }
        printed.print_json_document(document)
    elif not quiet:
        _show(runs)
        if rows := comparison_summary(runs):
            cells = [[_number(x) if isinstance(x, float) else str(x) for x in row.values()] for row in rows]
            print_table(rows[0], cells, left=[k for k, name in enumerate(rows[0]) if name == "method"], width=150)
            print_lines("")
        print_lines(f"{folder}/: {', '.join(file.name for file in files)}")
    if interrupted:
        print_lines("interrupted; the runs that were complete have been written", err=True)
        raise typer.Exit(interrupts.exit_code_of_interrupt())


def _numbers(text: str, kind: str, option: str, below: float | None = None) -> tuple[float, ...]:
    """The positive numbers in a text with commas between them; an empty text has none."""
    from denoc.errors import InputError

    numbers = [
        options.number_of_option(part.strip(), kind, option, above=0.0) or 0.0
        for part in text.split(",")
        if part.strip()
    ]
    if below is not None and any(x >= below for x in numbers):
        raise InputError(f"must be less than {below:g}", key=option, found=f"`{text}`")
    return tuple(dict.fromkeys(numbers))


def _values(k: str | None, sigma: str | None, others: list[str]) -> dict[str, tuple[float, ...]]:
    """The values of the methods' parameters by name; the others take the values in the methods' table."""
    from denoc.errors import InputError
    from denoc.study.comparison import compared_method_parameter

    given = {f"--{name}": (name, text) for name, text in (("k", k), ("sigma", sigma)) if text is not None}
    for text in others:
        name, sign, listed = text.partition("=")
        if not sign:
            raise InputError("not NAME=X,…", key=f"--values {text}", allowed="such as alpha=5,20")
        given[f"--values {text}"] = name.strip(), listed
    return {
        name: _numbers(text, compared_method_parameter(name).kind, option) for option, (name, text) in given.items()
    }


def _run(comparison: Comparison, wait: Wait, done: Callable[[], None]) -> tuple[list[Run], bool]:
    """The runs up to the end or to Ctrl-C, and whether they were interrupted; `done` is called when they are there."""
    runs: list[Run] = []
    count = len(comparison.settings())

    def report(setting: RunSetting, share: float) -> None:
        wait.now(f"run {len(runs) + 1} of {count}: {setting}, {100 * share:.0f} %", (len(runs) + share) / count)

    try:
        for run in comparison.runs(report):
            if run.ended == "interrupted":
                return runs, True
            runs.append(run)
        done()
    except KeyboardInterrupt:
        return runs, True
    return runs, False


def _write(folder: Path, name: str, runs: list[Run], form: str | None) -> list[Path]:
    """The files of the comparison, written: CSV, summary and plots."""
    from denoc.record.files import write_output_files
    from denoc.study.comparison import COLUMNS, comparison_csv, comparison_summary

    files: dict[str, str | Figure] = {
        f"{name}-compare.csv": comparison_csv([run.row() for run in runs], COLUMNS),
        f"{name}-compare-summary.csv": comparison_csv(comparison_summary(runs)),
    }
    if form is not None and runs:
        from denoc.study.comparison import figures_of_comparison

        files |= {f"{stem}.{form}": figure for stem, figure in figures_of_comparison(name, runs).items()}
    return write_output_files(
        folder, files, [f"{name}-{kind}" for kind in ("compare", "errors", "evaluations", "feedback")]
    )


# ---- output


def _show(runs: list[Run]) -> None:
    unit = next((run.unit for run in runs if run.unit), "")
    heads = [name + (f", {unit}" if name == "joint error" and unit else "") for name, _ in HEADS]
    rows = [
        (
            run.setting.model,
            run.setting.integration + (" +fb" if run.setting.feedback else ""),
            run.ended,
            str(run.evaluations) if run.evaluations else "",
            _number(run.seconds, "{:.2f}"),
            _number(run.error_max),
            _number(run.error_rms),
            _number(run.closure),
            _number(run.energy),
            _number(run.stiffness),
            _number(run.correction, "{:.3g} %"),
        )
        for run in runs
    ]
    print_table(heads, rows, left=[k for k, (_, side) in enumerate(HEADS) if side == "left"], width=150)
    print_lines("")
    for run in runs:
        if run.ended != "done":
            print_lines(f"{run.setting}: {run.ended}: {run.reason}")
    print_lines("")


def _number(x: float, form: str = "{:.3g}") -> str:
    return form.format(x) if x == x else ""
