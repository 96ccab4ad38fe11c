"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from denoc.cli import completing
from denoc.cli.said import print_lines, print_text, print_warning

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from denoc.robot import Robot as Model
    from denoc.text import Change


class Format(StrEnum):
    """The formats of plot files."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


class ResultFormat(StrEnum):
    """The formats of plot files, and of tables beside CSV."""

    png = "png"
    svg = "svg"
    pdf = "pdf"
    parquet = "parquet"


class Backend(StrEnum):
    """The ways in which programs can run."""

    auto = "auto"
    compiled = "compiled"
    plain = "plain"


Robot = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A robot file, or a robot of the library.",
        autocompletion=completing.complete_robots,
    ),
]
Result = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT",
        help="A result's folder, CSV or JSON file.",
        autocompletion=completing.complete_results,
    ),
]
Floating = Annotated[
    bool,
    typer.Option("--floating", help="The root of a URDF, MJCF or SDF file is free to move, not fixed to the ground."),
]
Loops = Annotated[
    Path | None,
    typer.Option(
        "--loops",
        metavar="FILE",
        help="The file beside a URDF, MJCF or SDF that says how its loops close (default: none).",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<scenario>/.")]
Plots = Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the plots.")]
Form = Annotated[Format, typer.Option("--format", help="Format of the plots.")]
Forms = Annotated[
    list[ResultFormat],
    typer.Option(
        "--format",
        help="Format of the plots: png, svg, pdf (default: png; pdf for --style paper); `parquet` writes the table in "
        "that format, too. Repeatable.",
    ),
]
PlotForm = Annotated[
    Format | None, typer.Option("--format", help="Format of the plots (default: png; pdf for --style paper).")
]
Way = Annotated[Backend, typer.Option("--backend", help="Run compiled code, plain Python, or whichever is faster.")]
Json = Annotated[bool, typer.Option("--json", help="Print a machine-readable summary.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
ScenarioFile = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        metavar="FILE",
        help="A scenario file or a scenario of the library (default: see above).",
        autocompletion=completing.complete_scenarios,
    ),
]
Duration = Annotated[
    str | None, typer.Option("--time", metavar="T", help="Duration, such as 1.5 or '500 ms' (default: the scenario's).")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value of the scenario, or, after `robot.`, of the robot. Repeatable.",
    ),
]
AcceptEnergy = Annotated[
    bool, typer.Option("--accept-energy", help="A broken energy balance is a warning and doesn't fail the run.")
]
EstimateError = Annotated[
    bool,
    typer.Option(
        "--error", help="Estimate the error of the integration by a second run with a tenth of the tolerances."
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="The name of the results: they go to DIR/NAME/ (default: the scenario's)."
    ),
]
Step = Annotated[
    str | None,
    typer.Option(
        "--step", metavar="DT", help="Output step, such as 0.01 or '10 ms' (default: the scenario's, or a 200th)."
    ),
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Use the Dask scheduler at this address (default: one of its own)."
    ),
]

OUTPUTS = Path("outputs")
NO_FORMS: list[ResultFormat] = []


def robot_of_argument(robot: str, floating: bool, loops: Path | None, *, warned: bool = False) -> Model:
    """The robot of a file in any format, or of the library, with its warnings printed if no other place has them."""
    from denoc.formats import load

    model = load(robot, floating=floating, loops=loops)
    for warning in model.warnings if warned else ():
        print_warning(warning)
    return model


def completion_from_names(module: str, table: str) -> Callable[[str], list[str]]:
    """A completion function for the names in a table or from a function, which is imported only when the shell asks."""

    def beginning(incomplete: str) -> list[str]:
        source = getattr(import_module(module), table)
        return [name for name in (source() if callable(source) else source) if name.startswith(incomplete)]

    return beginning


PlotStyle = Annotated[
    str,
    typer.Option(
        "--style",
        metavar="NAME",
        help="Style of the plots: screen, or paper (a column of 86 mm, vector graphics, dashes instead of colours).",
        autocompletion=completion_from_names("denoc.record.styles", "STYLES"),
    ),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="Show angles in degrees in the plots.")]


class RunOptions(NamedTuple):
    """The options of all commands that run scenarios."""

    settings: Settings = None
    accept_energy: AcceptEnergy = False
    error: EstimateError = False
    name: Name = None
    out: Out = OUTPUTS
    plot: Plots = True
    forms: Forms = NO_FORMS
    style: PlotStyle = "screen"
    degrees: Degrees = False
    backend: Way = Backend.auto
    as_json: Json = False
    quiet: Quiet = False

    @property
    def silent(self) -> bool:
        """Whether no progress is shown."""
        return self.quiet or self.as_json

    @property
    def changes(self) -> list[Change]:
        """The changes to scenario and robot that are asked for."""
        from denoc.text import Change

        solver = (
            ("energy", "accept", "--accept-energy", self.accept_energy),
            ("error", "estimate", "--error", self.error),
        )
        more = [Change(f"solver.{k}", v, option, f"solver.{k}={v}") for k, v, option, given in solver if given]
        return [*changes_of_options(self.settings, self.name), *more]

    @property
    def files(self) -> Files:
        """How plots and tables are written."""
        return file_options(self.forms, self.style, self.degrees)


def with_options_apart(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option of its own for each field of the records of options that it takes."""
    taken = inspect.signature(command, eval_str=True)
    records = {
        name: one.annotation for name, one in taken.parameters.items() if hasattr(one.annotation, "_field_defaults")
    }
    if not records:
        return command
    parameters: list[inspect.Parameter] = []
    for name, one in taken.parameters.items():
        fields = get_type_hints(records[name], include_extras=True) if name in records else {}
        parameters += [
            one.replace(name=field, annotation=kind, default=records[name]._field_defaults[field])
            for field, kind in fields.items()
        ] or [one]

    def apart(**given: Any) -> None:
        made = {name: record(*map(given.pop, record._fields)) for name, record in records.items()}
        command(**given, **made)

    apart.__signature__ = taken.replace(parameters=parameters)  # type: ignore[attr-defined]
    return apart


def number_of_option(text: str | None, kind: str, option: str, *, above: float | None = None) -> float | None:
    """The value of an option in SI units, as a `Quantity`."""
    if text is None:
        return None
    from denoc.errors import InputError
    from denoc.text.expressions import DIMENSIONS, ExpressionError, si_value_of_quantity

    allowed = DIMENSIONS[kind][1]
    try:
        value = si_value_of_quantity(text, kind)
    except ExpressionError as error:
        raise InputError(str(error), key=option, found=f"`{text}`", allowed=allowed) from None
    if above is not None and not value > above:
        message = f"must be more than {above:g}"
        raise InputError(message, key=option, found=f"`{text}`", allowed=f"{allowed}, more than {above:g}")
    return value


def timing_options(end: float | None, step: float | None) -> dict[tuple[str | int, ...], str]:
    """The entries of a scenario that --time and --step have changed, with the option's name."""
    changed: dict[tuple[str | int, ...], str] = {}
    if end is not None:
        changed |= {("time",): "--time", ("time", "end"): "--time"}
    if step is not None:
        changed |= {("time", "step"): "--step"}
    return changed


def changes_of_options(settings: list[str] | None, name: str | None = None) -> list[Change]:
    """The changes that the options `--set` and `--name` ask for."""
    if not settings and name is None:
        return []
    from denoc.errors import InputError
    from denoc.text import Change, parse_yaml_document

    asked = []
    for text in settings or []:
        key, sign, value = text.partition("=")
        key, label = key.strip(), f"--set {text}"
        if not (key and sign and value.strip()):
            raise InputError("not KEY=VALUE", key=label, allowed="such as time.end=2 or robot.links.link3.mass=2.1")
        try:
            data = parse_yaml_document(value, "--set").data
        except InputError as error:
            raise InputError(error.message, key=label, **error.words) from None
        asked.append(Change(key, data, label, text))
    if name is not None:
        asked.append(Change("name", name, "--name", f"name={name}"))
    return asked


class Files(NamedTuple):
    """The format of the plots, if one is given; the formats of the table beside CSV; how plots are drawn."""

    form: str | None
    tables: list[str]
    style: str
    degrees: bool


def file_options(given: list[ResultFormat], style: str = "screen", degrees: bool = False) -> Files:
    """How plots and tables are written, all of which can be done."""
    from denoc.errors import InputError
    from denoc.record import plot_look
    from denoc.record.files import TABLE_FORMATS, check_table_formats

    plot_look(style, degrees=degrees)
    asked = list(dict.fromkeys(form.value for form in given))
    plots, others = [f for f in asked if f not in TABLE_FORMATS], [f for f in asked if f in TABLE_FORMATS]
    if len(plots) > 1:
        raise InputError("several formats of the plots", key="--format", found=", ".join(plots), allowed="one of them")
    check_table_formats(others)
    return Files(plots[0] if plots else None, others, style, degrees)


def state_of_options(model: Model, at: str | None, rates: str | None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The coordinates of `--at`, by default those at the start, and the speeds of `--rates`, by default 0."""
    kinds = [kind for joint in model.moving for kind in joint.type.kinds]
    q = numbers_of_option(at, "--at", kinds, model.columns("coordinates"), model.q0)
    speeds, still = model.columns("speeds"), (0.0,) * model.nv
    return q, numbers_of_option(rates, "--rates", ["velocity"] * model.nv, speeds, still)


def numbers_of_option(
    text: str | None, option: str, kinds: list[str], names: list[str], default: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers of an option, with units, one for each name."""
    from denoc.errors import InputError

    if text is None:
        return default
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if len(parts) != len(names):
        needed = "1 number is needed" if len(names) == 1 else f"{len(names)} numbers are needed"
        raise InputError(
            f"{needed}: {', '.join(names)}",
            key=option,
            found=f"{len(parts)}: `{text}`",
            allowed="numbers with commas between, such as '10 deg, 0.1'",
        )
    return tuple(
        number_of_option(part, kind, f"{option}, {name}") or 0.0 for part, kind, name in zip(parts, kinds, names)
    )


def print_matrix(x: np.ndarray) -> None:
    """Prints a matrix or a vector in columns."""
    for row in x if x.ndim == 2 else [x]:
        print_lines("  " + " ".join(f"{0.0 if abs(v) < 5e-16 else v:12.6g}" for v in row))


def write_text_of_command(path: Path, text: str) -> None:
    """Writes a text file, whole or not at all."""
    from denoc.record.files import write_file_whole

    write_file_whole(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def save_figure_of_command(figure: Figure, path: Path) -> None:
    """Writes a figure in the format of the file's suffix, whole or not at all."""
    from denoc.record import save_figure
    from denoc.record.files import write_file_whole

    write_file_whole(path, lambda draft: save_figure(figure, draft))


def print_warning_beside_output(message: str) -> None:
    """Shows a warning beside a command's output."""
    print_text(f"warning: {message}", err=True)
