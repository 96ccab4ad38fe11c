"""`denoc matrices`: the DeNOC matrices of one state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.said import print_lines
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    import numpy as np


TITLES = {
    "N_l": "N_l, twist propagation",
    "N_d": "N_d, joint-rate propagation",
    "P": "P, the same with the rates of the Euler parameters e of spherical and free joints",
    "I": "I, generalized inertia matrix",
    "C": "C, matrix of convective inertia: Coriolis and centrifugal forces are C times the speeds",
    "h": "h, Coriolis, centrifugal, gravity, friction, springs",
    "U": "U of I = U D U^T",
    "D": "D, the pivots",
    "I_inverse": "I_inverse, U^-T D^-1 U^-1",
    "M_hat": "M_hat, articulated-body inertias",
    "M_tilde": "M_tilde, composite-body inertias",
    "M": "M, masses",
    "J": "J, Jacobian",
}
MADE = {"J": "`--point LINK` makes J", "P": "P is for robots with spherical or free joints; the others have N_d"}
USUAL = ("I", "C", "h", "U", "D")


def matrices_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="Coordinates, separated by commas: '10 deg, 20 deg, 0.1' (default: initial ones)."),
    ] = None,
    rates: Annotated[str | None, typer.Option("--rates", help="Speeds, separated by commas (default: 0).")] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only", help="Matrices to print: " + ", ".join(TITLES) + f"; or all (default: {', '.join(USUAL)})."
        ),
    ] = None,
    point: Annotated[
        str | None, typer.Option("--point", metavar="LINK[.POINT]", help="Print the Jacobian of this point, too.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Print a state's inertia matrix and its factors, Coriolis terms, orthogonal complements and Jacobians.

    All of them are in base-frame axes. N_l and N_d are the two factors of the natural orthogonal complement of Saha's
    papers, which turn joint rates into the motions of all links.
    """
    import numpy as np

    from denoc import jacobian
    from denoc import matrices as all_matrices
    from denoc.errors import InputError, did_you_mean

    model = options.robot_of_argument(robot, floating, loops, warned=True)
    q, qd = options.state_of_options(model, at, rates)
    with Wait(model.name, quiet=as_json):
        computed: dict[str, Any] = all_matrices(model, q, qd)
    if point is not None:
        link, _, name = point.partition(".")
        computed["J"] = jacobian(model, q, link, name or (0.0, 0.0, 0.0))
    known = [name for name in TITLES if name in computed]
    chosen = list(USUAL) + (["J"] if point else []) if only is None else [x.strip() for x in only.split(",")]
    if only == "all":
        chosen = known
    for name in chosen:
        if name not in known:
            raise InputError(
                "no such matrix",
                key="--only",
                found=f"`{name}`",
                allowed=", ".join([*known, "all"]),
                hint=MADE.get(name) or did_you_mean(name, known),
            )
    if as_json:
        listed = {name: computed[name].tolist() for name in chosen}
        # the shape is `robot_shapes.Matrices`, whose keys for matrices are those that were asked for
        printed.print_json_document(
            {"robot": model.name, "q": q, "qd": qd, "order": computed["order"], **listed}, indent=None
        )
        return
    print_lines(
        f"{model.name} at q = {_row(np.array(q))}, rates {_row(np.array(qd))}; links {', '.join(computed['order'])}"
    )
    for name in chosen:
        print_lines("", TITLES[name])
        _show(computed[name], computed["order"])


def _show(x: np.ndarray, order: tuple[str, ...]) -> None:
    if x.ndim == 3:
        for link, one in zip(order, x):
            print_lines(f"  {link}")
            _show(one, order)
        return
    options.print_matrix(x)


def _row(x: np.ndarray) -> str:
    return "[" + ", ".join(f"{v:.6g}" for v in x) + "]"
