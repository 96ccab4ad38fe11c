"""`denoc idyn`: inverse dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import options

if TYPE_CHECKING:
    from denoc.robot import Joint, Robot


DURATION = 10.0
QUARTER_TURN, SLIDE = 1.5707963267948966, 0.1


def idyn_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    scenario: options.ScenarioFile = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="VALUE",
            help="Goal of the actuated joints; '90 deg' moves those that turn (default: by 90 deg, 0.1 m).",
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            metavar="NAME",
            help="Law of the motion: cycloid, polynomial, trapezoid (default: cycloid).",
            autocompletion=options.completion_from_names("denoc.laws.motions", "profiled_motion_laws"),
        ),
    ] = None,
    time: options.Duration = None,
    step: options.Step = None,
    how: options.RunOptions = options.RunOptions(),
) -> None:
    """Compute the actuators' forces for a motion (inverse dynamics); write CSV and plots.

    The motion is that of --scenario, or else that of the other options, or else that of the library's scenario
    `<robot>-idyn`. Without any of these it is a cycloid by 90 deg (0.1 m) in 10 s. --time and --step change the
    scenario that is run.
    """
    from denoc.cli.choose import (
        leading_joints,
        options_overlaid_on_scenario,
        plan_for_command,
        time_options_applied,
    )
    from denoc.cli.running import carry_out_and_print
    from denoc.errors import InputError

    for option, value in (("--to", to), ("--law", law)):
        if scenario is not None and value is not None:
            hint = "`--set motion.JOINT.to=VALUE` changes a law of the scenario"
            raise InputError(f"--scenario and {option} exclude each other", allowed="one of the two", hint=hint)
    end = options.number_of_option(time, "time", "--time")
    dt = options.number_of_option(step, "time", "--step", above=0.0)
    goal = options.number_of_option(to, "position", "--to")
    chosen = _known(law)

    def made(model: Robot) -> dict[str, Any]:
        _reaches(model, goal)
        motion = {joint.name: _law(joint, chosen, goal) for joint in leading_joints(model)}
        times = time_options_applied({"end": DURATION}, end, dt)
        return {"name": f"{model.name}-idyn", "task": "inverse", "time": times, "motion": motion}

    plan = plan_for_command(
        options.robot_of_argument(robot, floating, loops),
        scenario,
        "idyn",
        made,
        own=to is not None or law is not None,
        change=lambda data: options_overlaid_on_scenario(data, end, dt, {}),
        options=options.timing_options(end, dt),
        settings=how.changes,
        quiet=how.silent,
    )
    carry_out_and_print([plan], how)


def _known(law: str | None) -> str:
    """The name of the law, after a check that it needs no other parameter than its goal."""
    from denoc.errors import InputError, allowed_names
    from denoc.laws import profiled_motion_laws

    if law is not None and law not in profiled_motion_laws():
        raise InputError("unknown law", key="--law", found=f"`{law}`", **allowed_names(law, profiled_motion_laws()))
    return law or "cycloid"


def _law(joint: Joint, law: str, goal: float | None) -> dict[str, Any]:
    """The entry under `motion` for a joint of any type: to the goal, or by a quarter turn or 0.1 m."""
    from denoc.text.expressions import misfit_of_unit

    row = joint.type
    if row.orientation is not None:
        if row.nq != 4:
            return {"law": "hold"}
        angle = QUARTER_TURN if goal is None or misfit_of_unit(goal, "angle") else goal
        return {"law": law, "to": {"axis": [0, 0, 1], "angle": angle}}
    by = [QUARTER_TURN if turning else SLIDE for turning in row.turning]
    to = [
        x + d if goal is None or misfit_of_unit(goal, kind) else goal
        for x, d, kind in zip(joint.initial, by, row.kinds)
    ]
    return {"law": law, "to": to[0] if row.nq == 1 else to}


def _reaches(model: Robot, goal: float | None) -> None:
    """Raises an error if no joint can take a goal of this unit."""
    from denoc.errors import InputError
    from denoc.text.expressions import misfit_of_unit

    kinds = {kind for joint in model.moving if joint.actuated for kind in joint.type.kinds}
    if goal is not None and not kinds:
        hint = "`actuated: true` gives a joint an actuator; a scenario may prescribe the motion of any joint"
        raise InputError(f"{model.name} has no actuated joint that could go anywhere", key="--to", hint=hint)
    wrong = [message for kind in sorted(kinds) if goal is not None and (message := misfit_of_unit(goal, kind))]
    if wrong and len(wrong) == len(kinds):
        raise InputError(wrong[0], key="--to", hint=f"no actuated joint of {model.name} takes such a value")
