"""The command `denoc`: its subcommands, of which only the one that is asked for is imported.

This module is imported at every start and by shell completion, so neither it nor the top of a command's module may
import numpy, scipy, pydantic, llvmlite or matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Annotated

import typer

from denoc import __version__
from denoc.cli.options import with_options_apart
from denoc.cli.said import print_lines

# by name: a command's module and its function, or the typer application of a group of commands
COMMANDS = {
    "idyn": "idyn.idyn_command",
    "simulate": "simulate.simulate_command",
    "run": "run.run_command",
    "sweep": "sweep.sweep_command",
    "optimise": "optimise.optimise_command",
    "inspect": "inspect.inspect_command",
    "matrices": "matrices.matrices_command",
    "plot": "plot.plot_command",
    "animate": "animate.animate_command",
    "page": "page.page_command",
    "report": "report.report_command",
    "convert": "convert.convert_command",
    "verify": "verify.verify_command",
    "regress": "regress.regress_command",
    "paper": "paper.paper_command",
    "compare": "compare.compare_command",
    "identify": "identify.identify_command",
    "excite": "excite.excite_command",
    "distribute": "distribute.distribute_command",
    "complexity": "complexity.complexity_command",
    "codegen": "codegen.codegen_command",
    "linearize": "linearize.linearize_command",
    "cache": "cache.cache_command",
    "list": "library.list_command",
    "new": "new.app",
    "schema": "schema.schema_command",
}
EPILOG = (
    "A ROBOT or SCENARIO is a YAML file, or a name of the library (denoc list); a ROBOT may also be a URDF, "
    "MJCF or SDF file. "
    "Results go to outputs/, into one folder for each scenario. Exit codes: 0 done, 1 a check failed, "
    "2 wrong use, bad input or output that can't be written, 3 the numbers failed, 129 ended by "
    "SIGHUP, 130 interrupted, 141 nobody reads the output, 143 ended by SIGTERM."
)


def typer_application(words: Sequence[str] = ()) -> typer.Typer:
    """The app for a command line of these words: with one command if they begin with its name, else with all."""
    app = typer.Typer(
        name="denoc",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Dynamics of robots and mechanisms from YAML files, by the Decoupled Natural Orthogonal Complement.",
        epilog=EPILOG,
    )
    app.callback()(_root)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        module, place = COMMANDS[name].split(".")
        found = getattr(import_module(f"denoc.cli.{module}"), place)
        if isinstance(found, typer.Typer):
            for one in found.registered_commands:
                one.help = _paragraphs(one.callback)
            app.add_typer(found, name=name)
        else:
            app.command(name, help=_paragraphs(found))(with_options_apart(found))
    return app


def _paragraphs(command: Callable[..., object] | None) -> str:
    """The docstring of a command, each paragraph in one line: typer keeps line breaks that fit no terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (getdoc(command) or "").split("\n\n"))


def _version(wanted: bool) -> None:
    if wanted:
        print_lines(f"denoc {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass
