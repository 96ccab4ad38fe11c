"""The command `denoc`: its subcommands, the one error boundary, exit codes.

This module is imported at every start and by shell completion, so neither it nor the top of a command's module may
import numpy, scipy, pydantic, llvmlite or matplotlib.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer

from denoc import __version__
from denoc.cli import (
    cache,
    codegen,
    compare,
    complexity,
    distribute,
    idyn,
    inspect,
    library,
    linearize,
    matrices,
    new,
    paper,
    plot,
    regress,
    run,
    schema,
    simulate,
)

app = typer.Typer(
    name="denoc",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Dynamics of robots and mechanisms from YAML files, by the Decoupled Natural Orthogonal Complement.",
    epilog="A ROBOT or SCENARIO is a YAML file, or a name of the library (denoc list). "
    "Results go to outputs/, into one folder for each scenario. Exit codes: 0 done, 1 a check failed, "
    "2 wrong use or bad input, 3 the numbers failed, 130 interrupted.",
)
app.command("idyn")(idyn.idyn)
app.command("simulate")(simulate.simulate)
app.command("run")(run.run)
app.command("inspect")(inspect.inspect)
app.command("matrices")(matrices.matrices)
app.command("plot")(plot.plot)
app.command("regress")(regress.regress)
app.command("paper")(paper.paper)
app.command("compare")(compare.compare)
app.command("distribute")(distribute.distribute)
app.command("complexity")(complexity.complexity)
app.command("codegen")(codegen.codegen)
app.command("linearize")(linearize.linearize)
app.command("cache")(cache.cache)
app.command("list")(library.list_library)
app.add_typer(new.app, name="new")
app.command("schema")(schema.schema)

INTERRUPTED = "interrupted; results that were not complete have not been written"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"denoc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Prints a warning as one line."""
    typer.echo(f"warning: {message}", err=True)


def main() -> None:
    """Runs the command line; the only place where errors become messages."""
    from denoc.errors import DenocError

    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):  # a pipe in another encoding must not fail on a Greek letter
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except DenocError as error:
        typer.echo(f"error: {error}", err=True)
        code = error.exit_code
    except KeyboardInterrupt:
        typer.echo(INTERRUPTED, err=True)
        code = 130
    except SystemExit as leaving:  # typer turns an interrupt into one
        if isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt):
            typer.echo(INTERRUPTED, err=True)
        raise
    except BrokenPipeError:  # the reader of a pipe has gone, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("DENOC_DEBUG"):
            raise
        typer.echo(
            f"error: this is a mistake in denoc itself ({type(error).__name__}: {error}); "
            "DENOC_DEBUG=1 shows where it happened",
            err=True,
        )
        code = 3
    else:
        code = 0
    sys.exit(code)
