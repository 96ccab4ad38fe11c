"""`denoc idyn`: inverse dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import options

if TYPE_CHECKING:
    from denoc.robot.model import Joint, Robot


DURATION = 10.0
QUARTER_TURN, SLIDE = 1.5707963267948966, 0.1


def idyn(
    robot: options.Robot,
    scenario: options.ScenarioFile = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="VALUE", help="Where actuated joints go, e.g. '90 deg': those that turn."),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            metavar="NAME",
            help="How it gets there: cycloid (default), polynomial, trapezoid.",
            autocompletion=options.names("denoc.laws.motions", "profiled"),
        ),
    ] = None,
    time: options.Duration = None,
    step: options.Step = None,
    settings: options.Settings = None,
    out: options.Out = options.OUTPUTS,
    plot: options.Plots = True,
    form: options.Form = options.Format.png,
    backend: options.Way = options.Backend.auto,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Inverse dynamics (RIDIM): the forces that actuators need for a motion; CSV and plots.

    The motion is that of --scenario, else that of the options, else the library's scenario `<robot>-idyn`, else a
    cycloid by 90 deg (0.1 m) in 10 s. --time and --step change the library's scenario, where it is that one.
    """
    from denoc.cli.choose import overlaid, planned, timed
    from denoc.cli.report import carry_out

    end = options.number(time, "time", "--time")
    dt = options.number(step, "time", "--step", above=0.0)
    goal = options.number(to, "position", "--to")
    chosen = _known(law)

    def made(model: Robot) -> dict[str, Any]:
        _reaches(model, goal)
        motion = {joint.name: _law(joint, chosen, goal) for joint in _led(model)}
        times = timed({"end": DURATION}, end, dt)
        return {"name": f"{model.name}-idyn", "task": "inverse", "time": times, "motion": motion}

    plan = planned(
        robot,
        scenario,
        "idyn",
        made,
        own=to is not None or law is not None,
        change=lambda data: overlaid(data, end, dt, {}),
        options=options.timing(end, dt),
        settings=options.changes(settings),
    )
    carry_out([plan], out, plot=plot, form=form.value, backend=backend.value, as_json=as_json, quiet=quiet)


def _known(law: str | None) -> str:
    """The name of a law that needs no more than an end."""
    from denoc.errors import InputError, did_you_mean
    from denoc.laws.motions import profiled

    if law is not None and law not in profiled():
        hint = did_you_mean(law, profiled())
        raise InputError("unknown law", key="--law", found=f"`{law}`", allowed=", ".join(profiled()), hint=hint)
    return law or "cycloid"


def _led(model: Robot) -> list[Joint]:
    """The actuated joints; in a mechanism as many of them as can move for themselves."""
    actuated = [joint for joint in model.moving if joint.actuated]
    if not model.tied:
        return actuated
    from denoc.errors import DenocError
    from denoc.loops.assembly import assemble
    from denoc.loops.constraints import closure
    from denoc.loops.partition import independent_speeds

    try:
        J, _ = closure(model).jacobian(assemble(model, model.q0))
    except DenocError:  # it can't be closed, as the run will say
        return actuated
    free = independent_speeds(closure(model), J)
    return [joint for joint in actuated if set(joint.speeds) <= set(free)]


def _law(joint: Joint, law: str, goal: float | None) -> dict[str, Any]:
    """A law of motion for any type of joint: to the goal, else a quarter turn (0.1 m) on."""
    from denoc.text.expression import misfit

    row = joint.type
    if row.orientation is not None:
        if row.nq != 4:
            return {"law": "hold"}
        angle = QUARTER_TURN if goal is None or misfit(goal, "angle") else goal
        return {"law": law, "to": {"axis": [0, 0, 1], "angle": angle}}
    by = [QUARTER_TURN if turning else SLIDE for turning in row.turning]
    to = [x + d if goal is None or misfit(goal, kind) else goal for x, d, kind in zip(joint.initial, by, row.kinds)]
    return {"law": law, "to": to[0] if row.nq == 1 else to}


def _reaches(model: Robot, goal: float | None) -> None:
    """Refuses a goal with a unit that no joint has."""
    from denoc.errors import InputError
    from denoc.text.expression import misfit

    kinds = {kind for joint in model.moving if joint.actuated for kind in joint.type.kinds}
    wrong = [message for kind in sorted(kinds) if goal is not None and (message := misfit(goal, kind))]
    if wrong and len(wrong) == len(kinds):
        raise InputError(wrong[0], key="--to", hint=f"no actuated joint of {model.name} takes such a value")
