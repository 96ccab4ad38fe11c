"""`denoc simulate`: forward simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import options

if TYPE_CHECKING:
    from denoc.robot.model import Robot


DURATION = 1.0
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Integration method: rk45, rkck, rk56, rk4, dop853, radau, bdf, lsoda (default: rk45).",
        autocompletion=options.names("denoc.simulate.integrate", "INTEGRATORS"),
    ),
]


def simulate(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    free_fall: Annotated[
        bool, typer.Option("--free-fall", help="Fall under gravity, as is done without --scenario.")
    ] = False,
    scenario: options.ScenarioFile = None,
    time: options.Duration = None,
    step: options.Step = None,
    method: Method = None,
    rtol: Annotated[str | None, typer.Option("--rtol", metavar="X", help="Relative tolerance (default: 1e-8).")] = None,
    atol: Annotated[
        str | None, typer.Option("--atol", metavar="X", help="Absolute tolerance (default: rtol/100).")
    ] = None,
    settings: options.Settings = None,
    accept_energy: options.AcceptEnergy = False,
    name: options.Name = None,
    out: options.Out = options.OUTPUTS,
    plot: options.Plots = True,
    forms: options.Forms = options.NO_FORMS,
    style: options.PlotStyle = "screen",
    degrees: options.Degrees = False,
    backend: options.Way = options.Backend.auto,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate the motion of a robot under given forces (forward dynamics); write CSV and plots.

    The forces are given by --scenario, or else by the library's scenario `<robot>-fall`. Without either, the robot
    falls freely from rest for 1 s. The other options change the scenario that is run.
    """
    from denoc.cli.choose import overlaid, planned, timed
    from denoc.cli.running import carry_out
    from denoc.errors import InputError

    if free_fall and scenario is not None:
        raise InputError("--free-fall and --scenario exclude each other", allowed="one of the two")
    end = options.number(time, "time", "--time")
    dt = options.number(step, "time", "--step", above=0.0)
    given = {
        "method": method,
        "rtol": options.number(rtol, "number", "--rtol", above=0.0),
        "atol": options.number(atol, "number", "--atol", above=0.0),
    }
    solver = {key: value for key, value in given.items() if value is not None}

    def made(model: Robot) -> dict[str, Any]:
        times = timed({"end": DURATION}, end, dt)
        scenario = {"name": f"{model.name}-fall", "task": "simulate", "time": times, "solver": solver}
        return {**scenario, "plots": ["angles", "energy"]}

    plan = planned(
        options.loaded(robot, floating, loops),
        scenario,
        "fall",
        made,
        own=False,
        change=lambda data: overlaid(data, end, dt, solver),
        options=options.timing(end, dt) | {("solver", key): f"--{key}" for key in solver},
        settings=options.accepting(options.changes(settings, name), accept_energy),
    )
    carry_out(
        [plan],
        out,
        plot=plot,
        files=options.files(forms, style, degrees),
        backend=backend.value,
        as_json=as_json,
        quiet=quiet,
    )
