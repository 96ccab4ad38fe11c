"""The table of a tree's programs, each of which is one text that is run, counted, compiled and exported.

Inverse and forward dynamics are run by `mixed.py`, for any mixture of both; all other rows by `offered.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from ...errors import InputError, allowed_names, given_in_words
from ...machine.program import Part, Program, Scalar, kernel_parts_in_order, numbers_of_kernel_parts
from ...robot import Robot
from ..numbers.inertial import INERTIAL
from ..numbers.regressor import regressor_entries, regressor_width
from ..numbers.regroup import regrouped_bodies
from ..tree.dense import Factors, inertia_matrix, inverse_inertia_matrix
from ..tree.kinematics import body_placements, jacobian, link_placements
from ..tree.moving import Layout, layout_of_moving_bodies, rotor_inertias
from ..tree.spatial import Vector, dot
from ..tree.sweeps import Load, Pivot, Wrenches, sweep_tree
from ..tree.vanishing import joint_pivot_loss, joint_pivot_losses, least_joint_pivots
from .derivatives import (
    SLOPES,
    Slopes,
    Unsolved,
    acceleration_gradient_along_inertias,
    acceleration_gradient_along_state,
    acceleration_slopes,
    derivatives_one_behind_the_other,
    inputs_with_taped_state,
    numbers_with_solved_columns,
    state_space_parts,
    tree_state_space,
)
from .explicit import explicit_matrices, explicit_matrix_parts
from .powers import energies
from .subject import Given, ProgramRow, Subject

# ---- texts


def _mixed(subject: Subject, given: Given, x: list[Scalar], motion: bool) -> list[Scalar]:
    robot = subject.robot
    acting = subject.acting(robot.tree, given)
    pattern = (motion,) * robot.nv
    return sweep_tree(subject.bodies, robot.gravity, given["q"], given["qd"], x, pattern, *acting)[0]


def _idyn(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, given["qdd"], True)


def _fdyn(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, given["tau"], False)


def _bias(subject: Subject, given: Given) -> list[Scalar]:
    return _mixed(subject, given, [0.0] * subject.robot.nv, True)


def _inertia(subject: Subject, given: Given) -> list[Scalar]:
    return [x for row in inertia_matrix(subject.bodies, given["q"], subject.robot.nv) for x in row]


def _inverse_inertia(subject: Subject, given: Given) -> list[Scalar]:
    return [x for row in inverse_inertia_matrix(subject.bodies, given["q"], subject.robot.nv) for x in row]


def _reduced(subject: Subject, given: Given) -> list[Scalar]:
    return [*_inertia(subject, given), *_bias(subject, given)]


def _reduced_parts(subject: Subject) -> tuple[Part, ...]:
    n = subject.robot.nv
    return kernel_parts_in_order([("", (n, n)), ("", (n,))])


def _inertia_losses(subject: Subject, given: Given) -> list[Scalar]:
    """Numbers that are enormous where a pivot of the inertia matrix is next to nothing."""
    factors = Factors(inertia_matrix(subject.bodies, given["q"], subject.robot.nv))
    return [joint_pivot_loss(bound, one_over) for bound, one_over in zip(_usual(subject), factors.one_over) if bound]


def _kinematics(subject: Subject, given: Given) -> list[Scalar]:
    result: list[Scalar] = []
    for R, p in link_placements(subject.robot, given["q"], subject.at):
        for r in range(3):
            result += [*R[r], p[r]]
        result += [0.0, 0.0, 0.0, 1.0] if subject.square else []
    return result


def _placements(subject: Subject, given: Given) -> list[Scalar]:
    return [x for R, p in body_placements(subject.bodies, given["q"]) for row, y in zip(R, p) for x in (*row, y)]


def _jacobian(subject: Subject, given: Given) -> list[Scalar]:
    return [x for row in jacobian(subject.robot, given["q"], subject.link, given["at"]) for x in row]


def _energy(subject: Subject, given: Given) -> list[Scalar]:
    return list(energies(subject.robot, given["q"], given["qd"]))


def _reactions(subject: Subject, given: Given) -> list[Scalar]:
    motion = (given["q"], given["qd"], given["qdd"])
    result = link_reactions(subject.robot, *motion, *subject.acting(subject.robot.parts, given))
    return [x for six in result for x in six]


def _slopes(subject: Subject, given: Given) -> Slopes:
    robot = subject.robot
    state = given["q"], given["qd"], given["tau"]
    return acceleration_slopes(robot, subject.bodies, *state, *subject.acting(robot.tree, given))


def _derivatives(subject: Subject, given: Given) -> Unsolved:
    return derivatives_one_behind_the_other(_slopes(subject, given))


def _linearized(subject: Subject, given: Given) -> Unsolved:
    return tree_state_space(subject.robot, given["qd"], given["tau"], _slopes(subject, given))


def _held(subject: Subject, given: Given) -> Given:
    """The inputs with the forces that hold the state, by inverse dynamics without acceleration."""
    holding, actuated = _bias(subject, given), subject.robot.driven
    return {**given, "tau": [x if k in actuated else 0.0 for k, x in enumerate(holding)]}


def _losses(subject: Subject, given: Given) -> list[Scalar]:
    """Numbers that are enormous where a pivot is next to nothing; compiled code has the pivots already."""
    robot, pivots, free = subject.robot, dict[int, Pivot](), (False,) * subject.robot.nv
    acting = subject.acting(robot.tree, given)
    sweep_tree(subject.bodies, robot.gravity, given["q"], given["qd"], given["tau"], free, *acting, pivots)
    return joint_pivot_losses(_usual(subject), pivots)


def _usual(subject: Subject) -> Sequence[float]:
    """For each speed the pivot below which a position has to be looked at closely."""
    return least_joint_pivots(subject.robot, (False,) * subject.robot.nv) if subject.least is None else subject.least


def _adjoint(subject: Subject, given: Given) -> list[Scalar]:
    taped = inputs_with_taped_state(given)
    return acceleration_gradient_along_state(subject.robot, given, taped, _fdyn(subject, taped))


def _inertial_adjoint(subject: Subject, given: Given) -> list[Scalar]:
    robot = subject.robot
    state = given["q"], given["qd"], given["tau"], given["costate"]
    return acceleration_gradient_along_inertias(robot, *state, *subject.acting(robot.parts, given))


def _matrices(subject: Subject, given: Given) -> list[Scalar]:
    robot = subject.robot
    h = _bias(subject, given)
    return explicit_matrices(robot, Layout(robot), given["q"], given["qd"], h, rotor_inertias(robot))


def _state_space_parts(subject: Subject) -> tuple[Part, ...]:
    robot = subject.robot
    return state_space_parts(robot, range(robot.nv), robot.driven)


def _matrix_parts(subject: Subject) -> tuple[Part, ...]:
    return explicit_matrix_parts(layout_of_moving_bodies(subject.robot))


def _resting_losses(subject: Subject, given: Given) -> list[Scalar]:
    """The losses of joints on which no forces act."""
    return _losses(subject, {**given, "tau": [0.0] * subject.robot.nv})


def _regressor(subject: Subject, given: Given) -> list[Scalar]:
    return regressor_entries(subject.robot, given["q"], given["qd"], given["qdd"])


def link_reactions(
    robot: Robot,
    q: list[Scalar],
    qd: list[Scalar],
    qdd: list[Scalar],
    wrenches: Wrenches,
    loads: list[Load],
) -> list[Vector]:
    """Wrenches [n; f] of the parents on all links at the links' origins, base axes; given ones act on `parts`."""
    parts = robot.parts
    _, W = sweep_tree(parts.bodies, robot.gravity, q, qd, qdd, (True,) * robot.nv, wrenches, loads)
    placed = body_placements(parts.bodies, q)
    result = []
    for link in robot.links:
        i, _ = parts.seats[link.name]
        assert i is not None  # every link is a body of its own there, whose origin is the link's
        R, _ = placed[i]
        result.append([dot(row, six) for six in (W[i][:3], W[i][3:]) for row in R])
    return result


def rows_follow_speeds(robot: Robot) -> bool:
    """Whether the tree's speeds are in the order of its bodies, as loops over them take it."""
    speeds = [k for body in robot.tree.bodies for k in body.speeds]
    return bool(speeds) and speeds == [*range(robot.nv)] and all(body.directions for body in robot.tree.bodies)


def rows_follow_speeds_without_sprung_balls(robot: Robot) -> bool:
    """Whether, besides, springs measure a coordinate each, which the joints of balls haven't."""
    drives = [drive for body in robot.tree.bodies for drive in body.drives if drive.stiffness]
    return rows_follow_speeds(robot) and all(drive.coordinate >= 0 for drive in drives)


def drives_are_of_single_rows(robot: Robot) -> bool:
    """Whether, besides, nothing acts on several rows at once: no wrench, and no spring over several joints."""
    drives = [drive for body in robot.tree.bodies for drive in body.drives]
    return rows_follow_speeds_without_sprung_balls(robot) and not robot.wrenches and not any(x.pulls for x in drives)


# ---- the table

TIED, CLOSED = attrgetter("tied"), attrgetter("closed")  # robots whose joints, and whose forces aren't those of trees
ENERGIES = ("kinetic", "potential", "elastic")
LINEARIZED, HELD = "linearized", "linearized-held"  # with given forces, with those that hold the state
REDUCED = "reduced"  # inertia matrix and bias


def _derivative_parts(subject: Subject) -> tuple[Part, ...]:
    n = subject.robot.nv
    return kernel_parts_in_order([("qdd", (n,)), *((name, (n, n)) for name in SLOPES)])


_SPEEDS: Callable[[Subject], tuple[int, ...]] = lambda subject: (subject.robot.nv,)  # noqa: E731

PROGRAMS = {
    "idyn": ProgramRow("joint forces of a motion (inverse dynamics)", ("q", "qd", "qdd"), "tau", _SPEEDS, _idyn),
    "fdyn": ProgramRow(
        "accelerations under joint forces (forward dynamics)", ("q", "qd", "tau"), "qdd", _SPEEDS, _fdyn
    ),
    "fdyn-derivatives": ProgramRow(
        "accelerations, then their derivatives along the coordinates, speeds and forces, each matrix row by row",
        ("q", "qd", "tau"),
        "derivatives",
        lambda subject: (subject.robot.nv * (1 + 3 * subject.robot.nv),),
        lambda subject, given: numbers_with_solved_columns(_derivatives(subject, given)),
        watched=_losses,
        parts=_derivative_parts,
        unsolved=_derivatives,
        loops=drives_are_of_single_rows,
        beyond=TIED,
    ),
    "fdyn-adjoint": ProgramRow(
        "derivatives of costate . accelerations along the coordinates, speeds and forces",
        ("q", "qd", "tau", "costate"),
        "adjoint",
        lambda subject: (3 * subject.robot.nv,),
        _adjoint,
        watched=_losses,
        parts=lambda subject: kernel_parts_in_order([(name, (subject.robot.nv,)) for name in SLOPES]),
        beyond=TIED,
    ),
    "inertial-adjoint": ProgramRow(
        "derivatives of costate . accelerations along the inertial numbers of each link, 10 numbers",
        ("q", "qd", "tau", "costate"),
        "adjoint",
        lambda subject: (len(subject.robot.links), INERTIAL),
        _inertial_adjoint,
        regroups=False,
        watched=_losses,
        parts=lambda subject: kernel_parts_in_order([(link.name, (INERTIAL,)) for link in subject.robot.links]),
    ),
    "regressor": ProgramRow(
        "joint forces by a unit of each number that inverse dynamics is linear in, row by row",
        ("q", "qd", "qdd"),
        "regressor",
        lambda subject: (subject.robot.nv, regressor_width(subject.robot)),
        _regressor,
        regroups=False,
        most=50,  # its operations grow with the square
        loops=rows_follow_speeds_without_sprung_balls,
        beyond=CLOSED,
    ),
    "inertia": ProgramRow(
        "generalized inertia matrix, row by row",
        ("q",),
        "inertia",
        lambda subject: (subject.robot.nv, subject.robot.nv),
        _inertia,
        most=50,  # its operations grow with the square
        loops=rows_follow_speeds,
    ),
    "inverse-inertia": ProgramRow(
        "inverse of the generalized inertia matrix, row by row",
        ("q",),
        "inverse",
        lambda subject: (subject.robot.nv, subject.robot.nv),
        _inverse_inertia,
        most=50,
        watched=_inertia_losses,
    ),
    "bias": ProgramRow("Coriolis, centrifugal, gravity, friction and spring forces", ("q", "qd"), "h", _SPEEDS, _bias),
    "kinematics": ProgramRow(
        "of each link the rows of [R | p] in the base, 12 numbers",
        ("q",),
        "frames",
        lambda subject: (len(subject.robot.links), 4 if subject.square else 3, 4),
        _kinematics,
        parts=lambda subject: kernel_parts_in_order(
            [(link.name, (4 if subject.square else 3, 4)) for link in subject.robot.links]
        ),
    ),
    "jacobian": ProgramRow(
        "from the speeds to [omega; v] of a link's point `at` (link axes), base-frame axes, row by row",
        ("q", "at"),
        "jacobian",
        lambda subject: (6, subject.robot.nv),
        _jacobian,
    ),
    "energy": ProgramRow(
        "kinetic, potential and elastic energy",
        ("q", "qd"),
        "energy",
        lambda subject: (3,),
        _energy,
        regroups=False,
        parts=lambda subject: kernel_parts_in_order([(name, ()) for name in ENERGIES]),
    ),
    "reactions": ProgramRow(
        "of each link [n; f] from its parent at its origin, base-frame axes, 6 numbers",
        ("q", "qd", "qdd"),
        "reactions",
        lambda subject: (len(subject.robot.links), 6),
        _reactions,
        regroups=False,
        parts=lambda subject: kernel_parts_in_order([(link.joint.name, (6,)) for link in subject.robot.links]),
        beyond=CLOSED,
    ),
}

_LINEARIZED = ProgramRow(
    "matrices A and B of the linearised equations of state, forces, accelerations, and whether that is an equilibrium",
    ("q", "qd", "tau"),
    "linear",
    lambda subject: (numbers_of_kernel_parts(_state_space_parts(subject)),),
    lambda subject, given: numbers_with_solved_columns(_linearized(subject, given)),
    watched=_losses,
    parts=_state_space_parts,
    unsolved=_linearized,
    alone="a linearisation is about one state",
    beyond=TIED,
)

# with rows that aren't exported
ROWS = {
    **PROGRAMS,
    LINEARIZED: _LINEARIZED,
    HELD: replace(
        _LINEARIZED,
        inputs=("q", "qd"),
        text=lambda subject, given: numbers_with_solved_columns(_linearized(subject, _held(subject, given))),
        watched=lambda subject, given: _losses(subject, _held(subject, given)),
        unsolved=lambda subject, given: _linearized(subject, _held(subject, given)),
    ),
    REDUCED: ProgramRow(
        "generalized inertia matrix, row by row, then Coriolis, centrifugal, gravity, friction and spring forces",
        ("q", "qd"),
        "reduced",
        lambda subject: (subject.robot.nv * (subject.robot.nv + 1),),
        _reduced,
        most=50,  # as for the inertia matrix
        parts=_reduced_parts,
        beyond=CLOSED,
    ),
    "placements": ProgramRow(
        "of each body the rows of [R | p] in the base, 12 numbers",
        ("q",),
        "frames",
        lambda subject: (len(subject.bodies), 3, 4),
        _placements,
    ),
    "matrices": ProgramRow(
        "the DeNOC matrices of the state",
        ("q", "qd"),
        "matrices",
        lambda subject: (numbers_of_kernel_parts(_matrix_parts(subject)),),
        _matrices,
        most=30,
        watched=_resting_losses,
        parts=_matrix_parts,
    ),
}


def program_of_tree_quantity(robot: Robot, what: str, *, regroup: bool = True, link: str = "") -> Program:
    """The recorded program of this name; with `regroup`, from fewer inertial numbers if these give the same results.

    `link` is the link whose Jacobian is computed, by default the last one.
    """
    row = PROGRAMS[what]
    bodies = regrouped_bodies(robot.tree.bodies) if regroup and row.regroups else robot.tree.bodies
    return row.program(Subject(robot, bodies, link=link_named_in_tree(robot, link or robot.links[-1].name)), what)


def link_named_in_tree(robot: Robot, link: object) -> str:
    """The link's name, or an error that lists the names of all links."""
    names = [one.name for one in robot.links]
    if not isinstance(link, str) or link not in names:
        raise InputError("no such link", found=given_in_words(link), **allowed_names(link, names))
    return link
