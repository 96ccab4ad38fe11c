"""`denoc verify`: a stored result, computed again by other means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import options, said
from denoc.cli.said import print_lines
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    from denoc.cli.study_shapes import Checked, Verified
    from denoc.record.compared import Difference
    from denoc.study.verification import Check, Verification

MOST_SHOWN = 6  # differences of one check


def verify_command(
    result: options.Result,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="ENGINE",
            help="Check the rows by another engine, too: pinocchio or mujoco.",
            autocompletion=options.completion_from_names("denoc.study.verification.verify", "PEERS"),
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option("--tolerance", metavar="X", help="Allowed share of a column's largest number (default: 1e-9, …)."),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute a result again from its own files, and check its rows, loops, energy and checksums; exit with 1 if wrong.

    The plain text does that, whatever backend the result comes from. With --with another engine checks the equations of
    motion in each row, too.
    """
    from denoc.scenario import stored_scenario_result
    from denoc.study.verification import verify_result

    share = options.number_of_option(tolerance, "number", "--tolerance", above=0.0)
    kept = stored_scenario_result(result, unchanged=False)
    with Wait(kept.name, quiet=quiet or as_json) as wait:
        verification = verify_result(kept, engines or (), share, wait.now)
    if as_json:
        document: Verified = {
            "result": verification.result,
            "folder": str(kept.folder),
            "verified": verification.ok,
            "tolerance": verification.tolerance,
            "checks": [_check(check) for check in verification.checks],
            "notes": verification.notes,
        }
        printed.print_json_document(document)
    elif not quiet:
        _show(verification)
    elif not verification.ok:
        wrong = ", ".join(check.name for check in verification.checks if not check.ok)
        said.print_error(f"{verification.result}: not verified: {wrong}")
    if not verification.ok:
        raise typer.Exit(1)


def _show(verification: Verification) -> None:
    """Prints a line for each check, with the worst place; and all that is beyond what is allowed."""
    print_lines(f"{verification.result}: " + ("verified" if verification.ok else "NOT VERIFIED"))
    for check in verification.checks:
        by = f" by {check.by}" if check.by else ""
        worst = f"; {_share(check.worst)}" if check.ok and check.worst else ""
        print_lines(f"  {check.name}{by}: " + ("" if check.ok else "WRONG: ") + check.words + worst)
        for one in check.differences[:MOST_SHOWN]:
            print_lines(f"    {_sentence(one)}")
        if len(check.differences) > MOST_SHOWN:
            print_lines(f"    … and {len(check.differences) - MOST_SHOWN} more")
    for note in verification.notes:
        print_lines(f"  note: {note}")


def _share(worst: Difference) -> str:
    """The size and the place of the worst difference."""
    where = f"{worst.what} at t = {worst.t:g} s"
    if worst.times > 1.0:  # where nothing is judged
        return f"off by {abs((worst.new or 0.0) - (worst.old or 0.0)):.2g} {worst.unit} in {where}"
    return f"at most {worst.times:.1g} of what is allowed, in {where}"


def _sentence(one: Difference) -> str:
    """A difference, with its place and size."""
    if one.t is None or one.old is None or one.new is None or one.allowed is None:
        return f"{one.what}: {one.message}"
    unit = f" {one.unit}" if one.unit else ""
    what = f"{one.what} ({one.message})" if one.message else one.what
    return (
        f"{what} at t = {one.t:g} s: {one.old:.9g}{unit} in the file, {one.new:.9g}{unit} again; "
        f"{abs(one.new - one.old):.2g} apart, allowed {one.allowed:.2g}"
    )


def _check(check: Check) -> Checked:
    return {
        "check": check.name,
        "by": check.by,
        "ok": check.ok,
        "words": check.words,
        "worst": printed.json_of_difference(check.worst) if check.worst else None,
        "differences": [printed.json_of_difference(one) for one in check.differences],
    }
