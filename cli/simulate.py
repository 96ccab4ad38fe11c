"""`denoc simulate`: forward simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import options

if TYPE_CHECKING:
    from denoc.robot import Robot


DURATION = 1.0
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Integration method: rk45, rkck, rk56, rk4, dop853, radau, bdf, lsoda (default: rk45).",
        autocompletion=options.completion_from_names("denoc.simulate.integrate", "INTEGRATORS"),
    ),
]


def simulate_command(
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
    how: options.RunOptions = options.RunOptions(),
) -> None:
    """Simulate the motion of a robot under given forces (forward dynamics); write CSV and plots.

    The forces are given by --scenario, or else by the library's scenario `<robot>-fall`. Without either, the robot
    falls freely from rest for 1 s. The other options change the scenario that is run.
    """
    from denoc.cli.choose import options_overlaid_on_scenario, plan_for_command, time_options_applied
    from denoc.cli.running import carry_out_and_print
    from denoc.errors import InputError

    if free_fall and scenario is not None:
        raise InputError("--free-fall and --scenario exclude each other", allowed="one of the two")
    end = options.number_of_option(time, "time", "--time")
    dt = options.number_of_option(step, "time", "--step", above=0.0)
    given = {
        "method": method,
        "rtol": options.number_of_option(rtol, "number", "--rtol", above=0.0),
        "atol": options.number_of_option(atol, "number", "--atol", above=0.0),
    }
    solver = {key: value for key, value in given.items() if value is not None}

    def made(model: Robot) -> dict[str, Any]:
        times = time_options_applied({"end": DURATION}, end, dt)
        scenario = {"name": f"{model.name}-fall", "task": "simulate", "time": times, "solver": solver}
        return {**scenario, "plots": ["angles", "energy"]}

    plan = plan_for_command(
        options.robot_of_argument(robot, floating, loops),
        scenario,
        "fall",
        made,
        own=False,
        change=lambda data: options_overlaid_on_scenario(data, end, dt, solver),
        options=options.timing_options(end, dt) | {("solver", key): f"--{key}" for key in solver},
        settings=how.changes,
        quiet=how.silent,
    )
    carry_out_and_print([plan], how)
