"""`denoc linearize`: the linearised state equations about one state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.said import print_lines, print_text
from denoc.cli.waiting import CLOSING, Wait

if TYPE_CHECKING:
    import numpy as np

    from denoc.cli.robot_shapes import Linearized
    from denoc.robot import Robot

    Regulated = tuple[np.ndarray, dict[str, dict[str, Any]]]  # gains, and the force laws that use them by joint


def linearize_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    at: Annotated[
        str | None, typer.Option("--at", help="Coordinates, separated by commas (default: the initial ones).")
    ] = None,
    rates: Annotated[str | None, typer.Option("--rates", help="Speeds, separated by commas (default: 0).")] = None,
    forces: Annotated[
        str | None,
        typer.Option("--forces", help="Joint forces, separated by commas (default: those that hold the state)."),
    ] = None,
    lqr: Annotated[
        str | None,
        typer.Option("--lqr", help="Find a regulator: Q, R as two numbers, or as diagonals: Q1, Q2, …; R1, …"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Print A and B of the linearised state equations; x: displacements of coordinates, then speeds, u: forces."""
    import numpy as np

    from denoc import linearize as linearized

    model = options.robot_of_argument(robot, floating, loops, warned=True)
    q, qd = options.state_of_options(model, at, rates)
    tau = options.numbers_of_option(forces, "--forces", ["effort"] * model.nv, model.columns("forces"), ()) or None
    with Wait(model.name, quiet=as_json) as wait:
        wait.now(CLOSING)
        linear = linearized(model, q, np.array(qd), np.array(tau) if tau else None)
    names = [model.columns("speeds")[k] for k in linear["independent"]]
    states = [_displacements(model)[k] for k in linear["independent"]] + names
    q = tuple(float(x) for x in linear.get("q", q))
    inputs = [model.columns("forces")[k] for k in linear["actuated"]]
    eigenvalues = np.linalg.eigvals(linear["A"])
    regulated = _regulated(model, linear, q, lqr) if lqr is not None else None
    if as_json:
        document: Linearized = {
            "robot": model.name,
            "q": q,
            "qd": qd,
            "states": states,
            "inputs": inputs,
            "A": linear["A"].tolist(),
            "B": linear["B"].tolist(),
            "tau": linear["tau"].tolist(),
            "qdd": linear["qdd"].tolist(),
            "equilibrium": bool(linear["equilibrium"]),
            "eigenvalues": [[float(x.real), float(x.imag)] for x in eigenvalues],
        }
        if regulated is not None:
            document["K"], document["forces"] = regulated[0].tolist(), regulated[1]
        printed.print_json_document(document, indent=None)
        return
    state = "an equilibrium" if linear["equilibrium"] else "not an equilibrium"
    print_lines(f"{model.name}: {state}; x = {', '.join(states)}; u = {', '.join(inputs)}")
    _show(linear, eigenvalues, regulated)


def _displacements(robot: Robot) -> list[str]:
    """What is displaced along each speed: a coordinate, or the place or the turn of a link that turns freely."""
    made: list[str] = []
    for joint in robot.moving:
        if joint.type.orientation is None:
            made += [f"{joint.name}.{name}" for name in joint.type.coordinates]
        else:
            shifts = [f"{joint.name} shifted along {axis}" for axis in "xyz"][: len(joint.speeds) - 3]
            made += shifts + [f"{joint.name} turned about {axis}" for axis in "xyz"]
    return made


def _show(linear: dict[str, Any], eigenvalues: np.ndarray, regulated: Regulated | None) -> None:
    """Prints the matrices, their eigenvalues and the regulator."""
    import numpy as np

    from denoc.text import yaml_text

    for name in ("A", "B"):
        print_lines("", name)
        options.print_matrix(linear[name])
    print_lines("", "eigenvalues of A")
    _show_eigenvalues(eigenvalues)
    if regulated is not None:
        K, laws = regulated
        print_lines("", "K of u = -K x, and as the section `forces` of a scenario")
        options.print_matrix(K)
        print_lines("eigenvalues of A - B K")
        _show_eigenvalues(np.linalg.eigvals(linear["A"] - linear["B"] @ K))
        print_text(yaml_text({"forces": laws}))


def _show_eigenvalues(values: np.ndarray) -> None:
    for x in sorted(values, key=lambda x: (x.real, x.imag)):
        print_lines(f"  {x.real + 0.0:12.6g} {x.imag + 0.0:+12.6g}i")  # 0 has no sign


def _regulated(robot: Robot, linear: dict[str, Any], q: Sequence[float], text: str) -> Regulated:
    """The gains of the regulator with these weights, and the force laws that use them."""
    from denoc.errors import InputError
    from denoc.study import regulator_gains, regulator_weights, study_regulator_as_laws

    if not linear["equilibrium"]:
        raise InputError(
            f"{robot.name}: a regulator holds an equilibrium, and this state isn't one", hint="--at, --forces"
        )
    Q, R = regulator_weights(text, len(linear["A"]), len(linear["actuated"]))
    K = regulator_gains(linear["A"], linear["B"], Q, R)
    return K, study_regulator_as_laws(robot, linear, q, K)
