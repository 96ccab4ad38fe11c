"""The command `denoc`: its subcommands, the one error boundary, exit codes.

This module is imported at every start and by shell completion, so neither it nor the top of a command's module may
import numpy, scipy, pydantic, llvmlite or matplotlib.
"""

from __future__ import annotations

from typing import Annotated

import typer

from denoc import __version__
from denoc.cli import (
    animate,
    cache,
    codegen,
    compare,
    complexity,
    convert,
    distribute,
    excite,
    identify,
    idyn,
    inspect,
    library,
    linearize,
    matrices,
    new,
    optimise,
    page,
    paper,
    plot,
    regress,
    report,
    run,
    schema,
    simulate,
    sweep,
    verify,
)

app = typer.Typer(
    name="denoc",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Dynamics of robots and mechanisms from YAML files, by the Decoupled Natural Orthogonal Complement.",
    epilog="A ROBOT or SCENARIO is a YAML file, or a name of the library (denoc list); a ROBOT may also be a URDF, "
    "MJCF or SDF file. "
    "Results go to outputs/, into one folder for each scenario. Exit codes: 0 done, 1 a check failed, "
    "2 wrong use, bad input or output that can't be written, 3 the numbers failed, 130 interrupted, "
    "141 nobody reads the output, 143 ended by SIGTERM.",
)
app.command("idyn")(idyn.idyn)
app.command("simulate")(simulate.simulate)
app.command("run")(run.run)
app.command("sweep")(sweep.sweep)
app.command("optimise")(optimise.optimise)
app.command("inspect")(inspect.inspect)
app.command("matrices")(matrices.matrices)
app.command("plot")(plot.plot)
app.command("animate")(animate.animate)
app.command("page")(page.page)
app.command("report")(report.report)
app.command("convert")(convert.convert)
app.command("verify")(verify.verify)
app.command("regress")(regress.regress)
app.command("paper")(paper.paper)
app.command("compare")(compare.compare)
app.command("identify")(identify.identify)
app.command("excite")(excite.excite)
app.command("distribute")(distribute.distribute)
app.command("complexity")(complexity.complexity)
app.command("codegen")(codegen.codegen)
app.command("linearize")(linearize.linearize)
app.command("cache")(cache.cache)
app.command("list")(library.list_library)
app.add_typer(new.app, name="new")
app.command("schema")(schema.schema)


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
