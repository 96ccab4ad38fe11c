"""`denoc complexity`: operation counts of the algorithms."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, options
from denoc.cli.said import print_lines
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    from denoc.cli.robot_shapes import Complexity, Operations
    from denoc.machine.program import Count
    from denoc.robot import Robot

    Own = dict[int, dict[str, Count]]  # joints of the chain → algorithm → its operations
    Counted = dict[str, dict[bool, Count]]  # algorithm → whether inertias are regrouped → its operations
    Times = dict[int, tuple[float, float]]  # joints → seconds of O(n) and of dense forward dynamics

MOST = 30
STRAIGHT = 8  # joints up to which chains show whether their counts grow by a constant
TIMED = (4, 6, 8, 10, 12, 14)


def complexity_command(
    robot: Annotated[
        str | None,
        typer.Argument(
            metavar="ROBOT",
            help="Count the operations for this robot, too.",
            autocompletion=completing.complete_robots,
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", min=1, max=MOST, help="Number of joints of the general chain in the tables.")
    ] = 6,
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Time compiled O(n) and dense forward dynamics.")
    ] = True,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the counts for 1 to 30 joints as CSV.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the counts into this file.")] = None,
    floating: options.Floating = False,
    loops: options.Loops = None,
    as_json: options.Json = False,
) -> None:
    """Print the papers' Tables 1 and 2 with the operations of denoc's recursion, counted from its source."""
    from denoc.errors import InputError
    from denoc.record import PLOT_FORMATS
    from denoc.study import chain_robot_for_times, measured_complexity_times

    if plot is not None and plot.suffix[1:] not in PLOT_FORMATS:
        allowed = "a name that ends in .png, .svg, .pdf"
        raise InputError("not a format of plots", key="--plot", found=plot.name, allowed=allowed)
    model = options.robot_of_argument(robot, floating, loops, warned=True) if robot is not None else None
    with Wait("complexity", quiet=as_json) as wait:
        wait.now("counting operations")
        own = _own(n, every=as_json or csv is not None or plot is not None)
        counted = _counted(model) if model is not None and model.nv else {}
        crossing = _crossing(own)
        wait.now("measuring times")
        times = measured_complexity_times({k: chain_robot_for_times(k) for k in TIMED}) if measure else {}
    if csv is not None:
        _write_csv(csv, own)
    if plot is not None:
        from denoc.record import figure_of_operation_counts

        options.save_figure_of_command(figure_of_operation_counts(own, times), plot)
    if as_json:
        printed.print_json_document(_document(n, own, counted, crossing, times))
        return
    _show(n, own, model, counted, crossing, times)


def _own(n: int, *, every: bool) -> Own:
    """The counts for chains of 1 to 30 joints, or for n joints and those that show the formulas and the crossover.

    Where the recursion has become cheaper it stays so: it grows by a constant a joint, the dense way with n³.
    """
    from denoc.study import ALGORITHMS, complexity_of_chain

    def row(k: int) -> dict[str, Count]:
        return {what: complexity_of_chain(what, k) for what in ALGORITHMS}

    own: Own = {}
    for k in range(1, MOST + 1):
        own[k] = row(k)
        if not every and k >= STRAIGHT and None not in _crossing(own).values():
            break
    return own | {n: row(n)}


def _crossing(own: Own) -> dict[str, int | None]:
    """The numbers of joints from which on the recursion is cheaper than the dense way."""
    from denoc.study import complexity_crossover

    return complexity_crossover({k: (row["forward"], row["forward, dense"]) for k, row in own.items()})


def _counted(model: Robot) -> Counted:
    """The operations of each algorithm for a robot, with regrouped and with plain inertias."""
    from denoc.machine.program import count_operations
    from denoc.mechanics.quantities import singular_dynamics_error
    from denoc.study import complexity_of_robot, program_for_complexity

    try:
        return {
            what: {
                grouped: count_operations(program_for_complexity(model, what, regroup=grouped).results())
                for grouped in (True, False)
            }
            for what in complexity_of_robot(model)
        }
    except ZeroDivisionError:
        raise singular_dynamics_error(model) from None


def _show(
    n: int, own: Own, model: Robot | None, counted: Counted, crossing: dict[str, int | None], times: Times
) -> None:
    """Prints the tables, the counts for the robot, the crossover, and the measured times."""
    from denoc.study import FORWARD, INVERSE, OF_TREES

    _table("Table 1: inverse dynamics", INVERSE, n, {"denoc": own[n]["inverse"]}, _polynomial(own, "inverse"))
    dense = {"denoc, O(n)": own[n]["forward"], "denoc, dense U D U^T": own[n]["forward, dense"]}
    _table("Table 2: forward dynamics", FORWARD, n, dense, _polynomial(own, "forward"))
    print_lines(
        "Published rows: multiplications with divisions. Rows of denoc: a general chain of revolute joints, gravity",
        "along its first axis, regrouped inertias, without what follows from its numbers alone; M, A, D, T:",
        "multiplications, additions, divisions, sines and cosines.",
    )
    if model is not None:
        print_lines("", f"{model.name}, its numbers folded in")
        for what, both in counted.items():
            print_lines(f"  {what:<16} {both[True]!s:<28} plain inertias {both[False]}")
        if model.tied:
            print_lines(f"  of the mechanism with its loops closed; {', '.join(OF_TREES)} of its spanning tree")
            print_lines("  inverse and forward go subsystem by subsystem; dense: the same equations in one system")
    print_lines(
        "",
        f"O(n) forward dynamics is cheaper than dense from n = {crossing['multiplications']} on by multiplications, "
        f"from n = {crossing['operations']} on with additions",
    )
    if times:
        shown = ", ".join(f"n = {k}: {1e9 * a:.0f}/{1e9 * b:.0f}" for k, (a, b) in times.items())
        first = next((k for k, (a, b) in times.items() if a < b), None)
        seen = f"from about n = {first} on" if first else f"not up to n = {max(times)}"
        print_lines(f"measured here, compiled, ns a sample O(n)/dense: {shown}; cheaper {seen}")


def _polynomial(own: Own, what: str) -> tuple[str, str]:
    """The counts of multiplications and additions as c n + d, or empty if they aren't linear (from n = 4 on)."""
    formulas = []
    for kind in ("multiplications", "additions"):
        values = {
            k: getattr(row[what], kind) + (row[what].divisions if kind[0] == "m" else 0) for k, row in own.items()
        }
        slope = values[5] - values[4]
        constant = values[4] - 4 * slope
        straight = all(count == slope * k + constant for k, count in values.items() if k >= 4)
        formulas.append(f"{slope}n {'-' if constant < 0 else '+'} {abs(constant)}" if straight else "")
    return formulas[0], formulas[1]


def _table(title: str, published: Any, n: int, own: dict[str, Count], formula: tuple[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for name in ("algorithm", "multiplications", "additions", f"n = {n}"):
        table.add_column(name, justify="left" if name == "algorithm" else "right")
    for row in published:
        m, a = row.at(n)
        table.add_row(row.algorithm, *row.formulas(), f"{m}M {a}A")
    for k, (name, counted) in enumerate(own.items()):
        table.add_row(name, *(formula if k == 0 else ("", "")), str(counted), style="bold")
    Console(highlight=False, width=110).print(table)
    print_lines("")


def _document(n: int, own: Own, counted: Counted, crossing: dict[str, int | None], times: Times) -> Complexity:
    from denoc.study import FORWARD, INVERSE

    return {
        "published": {
            title: [
                {"algorithm": row.algorithm, "formulas": row.formulas(), "n": n, "count": row.at(n)} for row in rows
            ]
            for title, rows in (("inverse", INVERSE), ("forward", FORWARD))
        },
        "chain": {str(k): {what: _operations(c) for what, c in row.items()} for k, row in own.items()},
        "robot": {w: {"regrouped": _operations(b[True]), "plain": _operations(b[False])} for w, b in counted.items()},
        "crossover": crossing,
        "seconds": {str(k): {"forward": a, "forward, dense": b} for k, (a, b) in times.items()},
    }


def _operations(count: Count) -> Operations:
    return asdict(count)  # type: ignore[return-value]


def _write_csv(path: Path, own: Own) -> None:
    from denoc.study import FORWARD, INVERSE

    lines = ["n,algorithm,multiplications,additions,divisions"]
    for n, row in own.items():
        for title, rows in (("inverse", INVERSE), ("forward", FORWARD)):
            for published in rows:
                m, a = published.at(n)
                lines.append(f'{n},"{title}: {published.algorithm}",{m},{a},')
        for what, c in row.items():
            lines.append(f'{n},"denoc: {what}",{c.multiplications},{c.additions},{c.divisions}')
    options.write_text_of_command(path, "\n".join(lines) + "\n")
