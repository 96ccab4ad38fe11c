"""Bugs in searches: tangents, what is taken of them, limits, and what is said at the end."""

from .bug import Bug

VARIATIONAL = "engine/simulate/variational.py"
NEARBY = "engine/study/optimise/nearby.py"
SAME_MOTION = "engine/study/optimise/same_motion.py"
VERDICT = "engine/study/optimise/verdict.py"
KEEP = "engine/study/sweep/keep.py"
SIGNALS = "engine/simulate/signals.py"
TANGENTS = ("study/test_optimise.py::test_tangents_are_differences_of_whole_runs",)
MULTIPLIERS = ("study/test_optimise.py::test_multipliers_take_what_bounds_and_limits_hold",)
LIMITS = ("study/test_optimise.py::test_limits_hold_and_the_minimum_lies_on_them",)
GAINS = ("study/test_sweep.py::test_gains_of_laws_are_inputs_of_one_program",)

SEARCHES = (
    Bug(
        "friction of joints that are driven jumps in no integrated run",
        NEARBY,
        "            refuse_jumps_that_move(jumps, jumps_of_loads(other, names, plan.grid, made, laws=False))\n",
        "",
        ("study/test_optimise.py::test_friction_of_a_driven_joint_jumps_in_its_force_alone",),
    ),
    Bug(
        "a step to a run without derivatives isn't shortened",
        "engine/study/optimise/landscape.py",
        "            self.rough.add(self._mark(u))\n",
        "",
        ("study/test_optimise.py::test_a_step_into_a_singular_place_is_shortened_and_derivatives_stay",),
    ),
    Bug(
        "loops that close to one side only have no derivatives",
        NEARBY,
        "except DenocError as error:  # a value is out",
        "except InputError as error:  # a value is out",
        ("study/test_optimise.py::test_where_loops_close_to_one_side_only_derivatives_are_those_of_that_side",),
    ),
    Bug(
        "the progress of a search is drawn as far as its worst step",
        "engine/record/study_plots.py",
        "max(begin, min(usual, low + FARTHEST * (begin - low)) if begin > low else usual)",
        "float(values.max())",
        ("record/test_study_plots.py::test_progress_is_seen_beside_steps_that_are_a_thousand_times_worse",),
    ),
    Bug(
        "forces that jump have derivatives",
        VARIATIONAL,
        "    _no_force_jumps(run, times, states)\n",
        "",
        ("study/test_optimise.py::test_what_jumps_with_the_state_has_no_derivatives",),
    ),
    Bug(
        "forces that jump at given instants have no derivatives",
        "engine/text/formula_tree.py",
        "any(name.name != TIME for name in names_in_formula(one))",
        "names_in_formula(one)",
        ("study/test_optimise.py::test_jumps_that_a_run_does_not_pass_and_those_of_time_leave_the_derivatives",),
    ),
    Bug(
        "friction of a motion that turns back at other instants has derivatives",
        "engine/study/optimise/column_jumps.py",
        "if one.moves(other):",
        "if one.moves(one):",
        ("study/test_optimise.py::test_friction_of_a_motion_that_turns_back_may_have_no_derivatives",),
    ),
    Bug(
        "one number of dynamics is enough for a motion to stay the same",
        SAME_MOTION,
        "all(varied_key_is_of_dynamics",
        "any(varied_key_is_of_dynamics",
        ("study/test_optimise.py::test_where_more_changes_than_efforts_derivatives_come_from_runs_nearby",),
    ),
    Bug(
        "efforts of a given motion grow where masses shrink",
        SAME_MOTION,
        "np.asarray(one.weights) @",
        "-np.asarray(one.weights) @",
        ("study/test_optimise.py::test_efforts_of_a_given_motion_have_derivatives_along_masses_from_one_run",),
    ),
    Bug(
        "tangents know nothing of the equations' own numbers",
        VARIATIONAL,
        "K[:s], 1)) + b[i, s]",
        "K[:s], 1))",
        TANGENTS,
    ),
    Bug("tangents begin at zero", VARIATIONAL, "one.start()[:n] for", "0 * one.start()[:n] for", TANGENTS),
    Bug(
        "differences of the second order",
        VARIATIONAL,
        "-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12",
        "-1: -0.5, 1: 0.5",
        TANGENTS,
    ),
    Bug(
        "tangents between the steps are those at their ends",
        VARIATIONAL,
        "(float(grid[row]) - step.t) / h",
        "1.0",
        TANGENTS,
    ),
    Bug(
        "columns don't change with the numbers themselves",
        NEARBY,
        "                changed(other, beginning, rows, weight, k)",
        "                pass",
        TANGENTS,
    ),
    Bug(
        "a root mean square has the derivative of a mean",
        KEEP,
        "(weights * values) @ slopes / size",
        "weights @ slopes",
        TANGENTS,
    ),
    Bug(
        "limits are kept from the other side",
        "engine/study/optimise/goal.py",
        "[-one.sign * outputs",
        "[one.sign * outputs",
        LIMITS,
    ),
    Bug(
        "bounds pull instead of holding",
        VERDICT,
        "(1.0 if side == 0 else -1.0)",
        "(-1.0 if side == 0 else 1.0)",
        MULTIPLIERS,
    ),
    Bug(
        "nothing around the best point is better",
        VERDICT,
        "nearby < -BETTER",
        "nearby < -1e9",
        ("study/test_optimise.py::test_a_search_without_enough_runs_says_so",),
    ),
    Bug(
        "a search without derivatives doesn't go on without them",
        "engine/study/optimise/run.py",
        "METHODS[JUMPING].search(",
        "METHODS[JUMPING].about.strip(",
        ("study/test_optimise.py::test_where_derivatives_end_on_the_way_the_search_goes_on_without",),
    ),
    Bug(
        "a column settles a row too early",
        KEEP,
        "time: np.ndarray = t[last] + share",
        "time: np.ndarray = t[last - 1] + share",
        ("study/test_sweep.py::test_settling_is_when_a_column_is_outside_for_the_last_time",),
    ),
    Bug(
        "gains are those of the law behind",
        SIGNALS,
        "range(at - len(one.gains), at)",
        "range(at, at + len(one.gains))",
        GAINS,
    ),
    Bug(
        "gains have no part in a family's signals",
        SIGNALS,
        "*steady_signal_columns(system).values(), *gains",
        "*steady_signal_columns(system).values()",
        GAINS,
    ),
    Bug(
        "searches from several starts wait for none of the others",
        "engine/study/optimise/together.py",
        "land.look(np.concatenate([np.atleast_2d(points) for _, (_, points) in waiting]))",
        "pass",
        ("study/test_optimise.py::test_starts_go_on_together_and_each_takes_its_own_way",),
    ),
    Bug(
        "a search that has failed lets the others go on",
        "engine/study/optimise/together.py",
        "what, points))\n                    one.raised()\n",
        "what, points))\n",
        ("study/test_optimise.py::test_what_ends_one_of_many_searches_ends_all",),
    ),
)
