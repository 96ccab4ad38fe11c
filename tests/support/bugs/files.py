"""Bugs in how files are read: numbers and units, robots, doubts, changes of single values."""

from .bug import Bug

UNITS = "engine/text/units.py"
PLAUSIBLE = "engine/robot/plausible.py"
UNIT = ("text/test_expression.py::test_values_and_dimensions",)
WARNED = ("robot/test_plausible.py::test_each_is_warned_of_at_its_place",)
MEANT = ("robot/test_plausible.py::test_what_is_meant_is_no_warning",)

FILES = (
    Bug("pounds wrong in the fourth digit", UNITS, '"lb": (0.45359237, 1, MASS)', '"lb": (0.45395237, 1, MASS)', UNIT),
    Bug("inches of 2.45 cm", UNITS, '"in": (127, 5e3, LENGTH)', '"in": (122.5, 5e3, LENGTH)', UNIT),
    Bug("rpm in turns per second", UNITS, '"rpm": (math.pi, 30, RATE)', '"rpm": (math.pi, 60, RATE)', UNIT),
    Bug(
        "kilonewtons are newtons",
        UNITS,
        '"kN": (1e3, 1, FORCE)',
        '"kN": (1, 1, FORCE)',
        ("text/test_expression.py::test_every_unit_has_its_size",),
    ),
    Bug(
        "a stiffness of hinges is one of slides",
        UNITS,
        '"turn stiffness": ((MOMENT_PER_ANGLE,),',
        '"turn stiffness": (((0, 1, -2, 0),),',
        ("text/test_expression.py::test_every_kind_takes_its_units_and_plain_numbers_and_nothing_else",),
    ),
    Bug(
        "bare angles of many turns pass",
        PLAUSIBLE,
        "FULL_TURN = 2 * math.pi * (1 + 1e-9)",
        "FULL_TURN = 200 * math.pi * (1 + 1e-9)",
        WARNED,
    ),
    Bug("multiples of pi are doubted", PLAUSIBLE, 'or "pi" in value.written:', 'or "tau" in value.written:', MEANT),
    Bug(
        "links that can't turn need an inertia",
        PLAUSIBLE,
        "if link.mass and entry.inertia is None and turns:",
        "if link.mass and entry.inertia is None:",
        ("robot/test_plausible.py::test_what_cannot_turn_needs_no_inertia",),
    ),
    Bug(
        "mass centres in millimetres pass",
        PLAUSIBLE,
        "if far > BEYOND * length:",
        "if far > BEYOND**3 * length:",
        WARNED,
    ),
    Bug(
        "inertias in g mm² pass",
        PLAUSIBLE,
        "if largest > BEYOND**2 * usual:",
        "if largest > BEYOND**12 * usual:",
        WARNED,
    ),
    Bug("gravity upwards passes", PLAUSIBLE, "if z > 0 and not (x or y):", "if z < 0 and not (x or y):", WARNED),
    Bug(
        "reversed limits are taken",
        "engine/robot/beyond_tree.py",
        "    if not low < high:",
        "    if low == high:",
        ("robot/test_build.py::test_effort_limits_have_a_low_and_a_high_end",),
    ),
    Bug(
        "couplings in a circle are taken",
        "engine/robot/beyond_tree.py",
        "if place == start:\n            return True",
        "if place == start:\n            return False",
        ("robot/test_build.py::test_couplings_do_not_go_round_in_a_circle",),
    ),
    Bug(
        "joints with an actuator are cut",
        "engine/robot/graph.py",
        "can = (own and joints[j].joint in CAN) or not _has_own(joints[j])",
        "can = True",
        ("robot/test_graph.py::test_a_joint_with_an_actuator_is_not_cut",),
    ),
    Bug(
        "the joint with less freedom is cut",
        "engine/robot/graph.py",
        "key=lambda j: (_has_own(joints[j]), -freedoms_of_joint(joints[j]), -j)",
        "key=lambda j: (_has_own(joints[j]), freedoms_of_joint(joints[j]), -j)",
        ("robot/test_graph.py::test_of_joints_that_would_both_do_the_one_with_more_freedom_is_cut",),
    ),
    Bug(
        "changes reach the next variation",
        "engine/text/change.py",
        "data, replaced = copy.deepcopy(document.data), dict(document.changed)",
        "data, replaced = document.data, dict(document.changed)",
        ("text/test_change.py::test_the_document_stays_as_it_was",),
    ),
    Bug(
        "numbers of entries count from 1",
        "engine/text/change.py",
        "return int(step)",
        "return int(step) - 1",
        ("text/test_change.py::test_values_at_the_ends_of_keys",),
    ),
    Bug(
        "changes of the robot go into the scenario",
        "engine/text/change.py",
        "return [one for one in listed if not one.key.startswith(ROBOT)], of_robot",
        "return listed, of_robot",
        ("text/test_change.py::test_whose_file_a_key_leads_into",),
    ),
    Bug(
        "Denavit-Hartenberg: length along the turned axis",
        "engine/robot/conventions.py",
        "    end = Placement().shift(joint.a, 0, joint.b).turn(X, joint.alpha)",
        "    end = Placement().turn(X, joint.alpha).shift(joint.a, 0, joint.b)",
        ("robot/test_build.py::test_dh_is_theta_b_a_alpha",),
    ),
    Bug(
        "Khalil: d along y",
        "engine/robot/conventions.py",
        "shift(0, 0, joint.b).turn(X, joint.alpha).shift(joint.d, 0, 0)",
        "shift(0, 0, joint.b).turn(X, joint.alpha).shift(0, joint.d, 0)",
        ("robot/test_build.py::test_khalil_is_gamma_b_alpha_d_theta_r",),
    ),
    Bug(
        "Khalil: d before alpha in frames of cuts",
        "engine/robot/frames.py",
        "return placed.shift(frame.d, 0, 0).turn(Z, frame.theta).shift(0, 0, frame.r)",
        "return placed.turn(Z, frame.theta).shift(frame.d, 0, frame.r)",
        ("robot/test_graph.py::test_a_cut_by_khalils_parameters",),
    ),
    Bug(
        "roll, pitch and yaw in the reverse order",
        "engine/robot/placement.py",
        "for axis, angle in ((Z, rpy[2]), (Y, rpy[1]), (X, rpy[0])) if not _nothing(angle))",
        "for axis, angle in ((X, rpy[0]), (Y, rpy[1]), (Z, rpy[2])) if not _nothing(angle))",
        ("robot/test_build.py::test_rpy_turns_about_x_then_y_then_z_of_the_parent",),
    ),
    Bug(
        "axes that point down are those that point up",
        "engine/robot/placement.py",
        "return Placement() if z > 0 else Placement(((X, math.pi),))",
        "return Placement()",
        (
            "robot/test_build.py::test_an_axis_backwards_turns_backwards",
            "robot/test_placement.py::test_a_frame_on_an_axis_has_its_z_there",
        ),
    ),
    Bug(
        "planar joints of a graph turned round without their angle",
        "engine/robot/conventions.py",
        "return (-(c * x + s * y), s * x - c * y, -angle)",
        "return (-x, -y, -angle)",
        ("robot/test_graph.py::test_motions_turned_round",),
    ),
    Bug(
        "a motion that contradicts the start is taken",
        "engine/scenario/read/initial.py",
        "if any(abs(x - y) > ALIKE * max(1.0, abs(y)) for x, y in zip(given, its)):",
        "if any(abs(x - y) < 0.0 for x, y in zip(given, its)):",
        ("scenario/test_unused.py::test_entries_that_contradict_a_motion_are_refused",),
    ),
    Bug(
        "starts beyond the upper stop are taken",
        "engine/scenario/read/initial.py",
        "if not low - slack <= x <= high + slack:",
        "if not low - slack <= x:",
        ("simulate/test_friction.py::test_a_start_outside_the_stops_is_refused",),
    ),
    Bug(
        "the end of a run isn't a row",
        "engine/scenario/read/time.py",
        "instants = np.array([*rows, end] if rows[-1] < end else rows)",
        "instants = np.array(rows)",
        ("simulate/test_runs.py::test_times_that_do_not_begin_at_0_and_rows_that_do_not_fit",),
    ),
    Bug(
        "a start that doesn't fit the loops is moved in silence",
        "engine/scenario/read/surplus.py",
        "if astray := _moved(loops, named, q, asked, SLACK):",
        "if astray := _moved(loops, named, q, asked, 1e9):",
        ("loops/test_start.py::test_what_contradicts_the_loops_is_refused_with_what_would_fit",),
    ),
    Bug(
        "rods spin about themselves from the start",
        "engine/scenario/read/loops.py",
        "still: np.ndarray = qd - Z @",
        "still: np.ndarray = qd - 0.0 * Z @",
        ("loops/test_start.py::test_rods_do_not_spin_about_themselves_at_the_start",),
    ),
)
