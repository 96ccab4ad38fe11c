"""Bugs in what rolls and skates, and in cut joints with coordinates of their own."""

from .bug import Bug

RATES = ("mechanics/mechanisms/test_random.py::test_jacobian_and_drift_are_the_rates_of_the_gap",)
WOBBLE = ("mechanics/mechanisms/test_rolling.py::test_a_disc_wobbles_as_the_laws_of_momentum_say",)
PLACES = ("mechanics/mechanisms/test_rolling.py::test_where_all_speeds_are_prescribed_places_are_integrated",)
ANYWHERE = ("mechanics/mechanisms/test_own_coordinates.py::test_it_moves_alike_wherever_it_is_cut",)

TIES = (
    Bug(
        "the point of a disc that touches is fixed on the disc",
        "_touching",
        "cross(w, dc)",
        "cross(w, cross(w, c))",
        (*WOBBLE, *RATES),
    ),
    Bug(
        "a disc's level part keeps its length",
        "_touching",
        "add(scale(row.radius, turned), scale(-1.0 * shrinking, c))",
        "scale(row.radius, turned)",
        RATES,
    ),
    Bug(
        "the direction in which an edge may not slide stays as it is",
        "_skates",
        "dot(rate.shift, _sideways(edge)) + dot(speed.shift, _sideways(cross(speed.turn, edge)))",
        "dot(rate.shift, _sideways(edge))",
        ("mechanics/mechanisms/test_rolling.py::test_chaplygins_sleigh_has_its_closed_form", *RATES),
    ),
    Bug(
        "the floor pushes a disc at its centre",
        "_push",
        "cross(_arm(place, row), f)",
        "[0.0, 0.0, 0.0]",
        ("mechanics/mechanisms/test_rolling.py::test_wheels_push_as_their_torques_say",),
    ),
    Bug(
        "a ball rolls on its top",
        "row_kinds:_ball",
        "-row.radius",
        "row.radius",
        ("mechanics/mechanisms/test_rolling.py::test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate",),
    ),
    Bug(
        "a wheel that turns is in a singular position",
        "describe_singular_position",
        "system.robot.rolls and _turned(loops, part, loops.scaled(J))",
        "False",
        ("mechanics/mechanisms/test_rolling.py::test_chaplygins_sleigh_has_its_closed_form",),
    ),
    Bug(
        "what turns takes other coordinates of the loops, too",
        "state_after_guard",
        "singular.speeds_apart_from_contacts(system, discrete, q) if ahead is not None and ahead.turned else ()",
        "[]",
        ("mechanics/mechanisms/test_rolling.py::test_a_singular_position_of_loops_is_one_beside_what_rolls_too",),
    ),
    Bug(
        "where all speeds are prescribed nothing is integrated, even if it rolls",
        "Runner.unknown",
        "part.N or self.system.commanded or self.robot.rolls",
        "part.N or self.system.commanded",
        PLACES,
    ),
    Bug(
        "a double is beside its link's frame",
        "robot_data_with_doubles",
        '{"name": name, "joint": "fixed", "between": [double, second], "first": sides["second"]}',
        '{"name": name, "joint": "fixed", "between": [double, second], "first": sides["first"]}',
        ANYWHERE,
    ),
    Bug(
        "a double's joint forgets its turns",
        "assembly:_coordinates",
        "[y + n * math.tau for y, n in zip(values, turns)]",
        "values",
        (
            "mechanics/mechanisms/test_own_coordinates.py::test_a_guess_without_the_cut_joint_is_enough_and_turns_are_kept",
        ),
    ),
    Bug(
        "arguments are substituted with their own names",
        "substituted_nodes",
        "instead[node.id] if node.id in instead else node_again(node, a, b)",
        "node_again(node, a, b)",
        ("study/test_arguments.py::test_of_trees",),
    ),
    Bug(
        "placements with symbols forget a turn",
        "placement:_nothing",
        "isinstance(angle, _PLAIN) and angle == 0.0",
        "not isinstance(angle, float | int) or angle == 0.0",
        ("study/test_arguments.py::test_of_trees",),
    ),
)
