"""Bugs in what rolls and skates, and in cut joints with coordinates of their own."""

from .bug import Bug

CONTACTS = "engine/loops/contacts.py"
RATES = ("loops/test_random.py::test_jacobian_and_drift_are_the_rates_of_the_gap",)
WOBBLE = ("loops/test_rolling.py::test_a_disc_wobbles_as_the_laws_of_momentum_say",)
PLACES = ("loops/test_rolling.py::test_where_all_speeds_are_prescribed_places_are_integrated",)
ANYWHERE = ("loops/test_own_coordinates.py::test_it_moves_alike_wherever_it_is_cut",)

TIES = (
    Bug(
        "the point of a disc that touches is fixed on the disc",
        CONTACTS,
        "add(add(rate.shift, cross(rate.turn, c)), cross(w, dc)), ds",
        "add(add(rate.shift, cross(rate.turn, c)), cross(w, cross(w, c))), ds",
        (*WOBBLE, *RATES),
    ),
    Bug(
        "a disc's level part keeps its length",
        CONTACTS,
        "dc = add(scale(row.radius, turned), scale(-1.0 * shrinking, c))",
        "dc = scale(row.radius, turned)",
        RATES,
    ),
    Bug(
        "the direction in which an edge may not slide stays as it is",
        CONTACTS,
        "return dot(rate.shift, _sideways(edge)) + dot(speed.shift, _sideways(cross(speed.turn, edge)))",
        "return dot(rate.shift, _sideways(edge))",
        ("loops/test_rolling.py::test_chaplygins_sleigh_has_its_closed_form", *RATES),
    ),
    Bug(
        "the floor pushes a disc at its centre",
        CONTACTS,
        "return cross(_arm(place, row), f), f",
        "return [0.0, 0.0, 0.0], f",
        ("loops/test_rolling.py::test_wheels_push_as_their_torques_say",),
    ),
    Bug(
        "a ball rolls on its top",
        CONTACTS,
        "return add(rate.shift, cross(rate.turn, scale(-row.radius, NORMAL)))[row.axes[0]]",
        "return add(rate.shift, cross(rate.turn, scale(row.radius, NORMAL)))[row.axes[0]]",
        ("loops/test_rolling.py::test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate",),
    ),
    Bug(
        "a wheel that turns is in a singular position",
        "engine/simulate/singular.py",
        "turned = system.robot.rolls and _turned(loops, part, loops.scaled(J))",
        "turned = False",
        ("loops/test_rolling.py::test_chaplygins_sleigh_has_its_closed_form",),
    ),
    Bug(
        "what turns takes other coordinates of the loops, too",
        "engine/simulate/coordinates.py",
        "kept = singular.speeds_apart_from_contacts(system, discrete, q) if ahead is not None and ahead.turned else ()",
        "kept = []",
        ("loops/test_rolling.py::test_a_singular_position_of_loops_is_one_beside_what_rolls_too",),
    ),
    Bug(
        "where all speeds are prescribed nothing is integrated, even if it rolls",
        "engine/simulate/runner.py",
        "return bool(part.N or self.system.commanded or self.robot.rolls)",
        "return bool(part.N or self.system.commanded)",
        PLACES,
    ),
    Bug(
        "a double is beside its link's frame",
        "engine/robot/doubles.py",
        '"between": [double, second], "first": sides["second"]}',
        '"between": [double, second], "first": sides["first"]}',
        ANYWHERE,
    ),
    Bug(
        "a double's joint forgets its turns",
        "engine/loops/doubles.py",
        "return [y + n * math.tau for y, n in zip(values, turns)]",
        "return values",
        ("loops/test_own_coordinates.py::test_a_guess_without_the_cut_joint_is_enough_and_turns_are_kept",),
    ),
    Bug(
        "arguments are substituted with their own names",
        "engine/machine/program/rewriting.py",
        "made[node.id] = instead[node.id] if node.id in instead else _again(node, a, b)",
        "made[node.id] = _again(node, a, b)",
        ("study/test_arguments.py::test_of_trees",),
    ),
    Bug(
        "placements with symbols forget a turn",
        "engine/robot/placement.py",
        "return isinstance(angle, float | int) and angle == 0.0",
        "return not isinstance(angle, float | int) or angle == 0.0",
        ("study/test_arguments.py::test_of_trees",),
    ),
)
