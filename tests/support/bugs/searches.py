"""Bugs in searches: tangents, what is taken of them, limits, and what is said at the end."""

from .bug import Bug

TANGENTS = ("study/test_optimise.py::test_tangents_are_differences_of_whole_runs",)
MULTIPLIERS = ("study/test_optimise.py::test_multipliers_take_what_bounds_and_limits_hold",)
LIMITS = ("study/test_optimise.py::test_limits_hold_and_the_minimum_lies_on_them",)
GAINS = ("study/test_sweep.py::test_gains_of_laws_are_inputs_of_one_program",)

SEARCHES = (
    Bug(
        "friction of joints that are driven jumps in no integrated run",
        "study_slopes_of_integrated_run.changed",
        "made = table(other, beside, beside.settled_rows(plan.grid, states))\nrefuse_jumps_that_move(jumps, jumps_of_loads(other, names, plan.grid, made, laws=False))",
        "made = table(other, beside, beside.settled_rows(plan.grid, states))",
        ("study/test_optimise.py::test_friction_of_a_driven_joint_jumps_in_its_force_alone",),
    ),
    Bug(
        "a step to a run without derivatives isn't shortened",
        "Landscape.slopes",
        "self.rough.add(self._mark(u))\nraise LostError(str(error)) from None",
        "raise LostError(str(error)) from None",
        ("study/test_optimise.py::test_a_step_into_a_singular_place_is_shortened_and_derivatives_stay",),
    ),
    Bug(
        "loops that close to one side only have no derivatives",
        "Derivatives._beside",
        "DenocError",
        "InputError",
        ("study/test_optimise.py::test_where_loops_close_to_one_side_only_derivatives_are_those_of_that_side",),
    ),
    Bug(
        "the progress of a search is drawn as far as its worst step",
        "_bounds_of_progress",
        "max(begin, min(usual, low + FARTHEST * (begin - low)) if begin > low else usual)",
        "float(values.max())",
        ("record/test_study_plots.py::test_progress_is_seen_beside_steps_that_are_a_thousand_times_worse",),
    ),
    Bug(
        "forces that jump have derivatives",
        "state_tangents_over_grid",
        "times, states = _all_stages(run, steps, stages)\n_no_force_jumps(run, times, states)",
        "times, states = _all_stages(run, steps, stages)",
        ("study/test_optimise.py::test_what_jumps_with_the_state_has_no_derivatives",),
    ),
    Bug(
        "forces that jump at given instants have no derivatives",
        "jumps_in_formula",
        "any(name.name != TIME for name in names_in_formula(one))",
        "names_in_formula(one)",
        ("study/test_optimise.py::test_jumps_that_a_run_does_not_pass_and_those_of_time_leave_the_derivatives",),
    ),
    Bug(
        "friction of a motion that turns back at other instants has derivatives",
        "refuse_jumps_that_move",
        "one.moves(other)",
        "one.moves(one)",
        ("study/test_optimise.py::test_friction_of_a_motion_that_turns_back_may_have_no_derivatives",),
    ),
    Bug(
        "one number of dynamics is enough for a motion to stay the same",
        "motion_stays_the_same",
        "all(varied_key_is_of_dynamics(key) for key in keys)",
        "any(varied_key_is_of_dynamics(key) for key in keys)",
        ("study/test_optimise.py::test_where_more_changes_than_efforts_derivatives_come_from_runs_nearby",),
    ),
    Bug(
        "efforts of a given motion grow where masses shrink",
        "study_slopes_of_efforts",
        "np.asarray(one.weights)",
        "-np.asarray(one.weights)",
        ("study/test_optimise.py::test_efforts_of_a_given_motion_have_derivatives_along_masses_from_one_run",),
    ),
    Bug(
        "tangents know nothing of the equations' own numbers",
        "_integrated",
        "A[i, s] @ (S + h * np.tensordot(before[s, :s], K[:s], 1)) + b[i, s]",
        "A[i, s] @ (S + h * np.tensordot(before[s, :s], K[:s], 1))",
        TANGENTS,
    ),
    Bug("tangents begin at zero", "state_tangents_over_grid", "one.start()[:n]", "0 * one.start()[:n]", TANGENTS),
    Bug(
        "differences of the second order",
        "variational:WEIGHTS_AROUND",
        "{-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}",
        "{-1: -0.5, 1: 0.5}",
        TANGENTS,
    ),
    Bug(
        "tangents between the steps are those at their ends",
        "_integrated",
        "(float(grid[row]) - step.t) / h",
        "1.0",
        TANGENTS,
    ),
    Bug(
        "columns don't change with the numbers themselves",
        "study_slopes_of_integrated_run",
        "for weight, other, beginning in zip(one.weights, one.plans, near.runs):\n    changed(other, beginning, rows, weight, k)",
        "for weight, other, beginning in zip(one.weights, one.plans, near.runs):\n    pass",
        TANGENTS,
    ),
    Bug(
        "a root mean square has the derivative of a mean",
        "take_sweep_slopes",
        "(weights * values) @ slopes / size",
        "weights @ slopes",
        TANGENTS,
    ),
    Bug(
        "limits are kept from the other side",
        "Goal.slopes",
        "-one.sign * outputs[one.output]",
        "one.sign * outputs[one.output]",
        LIMITS,
    ),
    Bug(
        "bounds pull instead of holding",
        "projected_search_slope",
        "1.0 if side == 0 else -1.0",
        "-1.0 if side == 0 else 1.0",
        MULTIPLIERS,
    ),
    Bug(
        "nothing around the best point is better",
        "search_verdict",
        "nearby < -BETTER",
        "nearby < -1e9",
        ("study/test_optimise.py::test_a_search_without_enough_runs_says_so",),
    ),
    Bug(
        "a search without derivatives doesn't go on without them",
        "Search._descend",
        "METHODS[JUMPING].search",
        "METHODS[JUMPING].about.strip",
        ("study/test_optimise.py::test_where_derivatives_end_on_the_way_the_search_goes_on_without",),
    ),
    Bug(
        "a column settles a row too early",
        "sweep_settling_times",
        "t[last] + share * (t[after] - t[last])",
        "t[last - 1] + share * (t[after] - t[last])",
        ("study/test_sweep.py::test_settling_is_when_a_column_is_outside_for_the_last_time",),
    ),
    Bug(
        "gains are those of the law behind",
        "gain_signal_columns",
        "range(at - len(one.gains), at)",
        "range(at, at + len(one.gains))",
        GAINS,
    ),
    Bug(
        "gains have no part in a family's signals",
        "own_signal_columns",
        "[*steady_signal_columns(system).values(), *gains, *steady_wrench_columns(system).values()]",
        "[*steady_signal_columns(system).values(), *steady_wrench_columns(system).values()]",
        GAINS,
    ),
    Bug(
        "searches from several starts wait for none of the others",
        "go_together",
        "land.look(np.concatenate([np.atleast_2d(points) for _, (_, points) in waiting]))",
        "pass",
        ("study/test_optimise.py::test_starts_go_on_together_and_each_takes_its_own_way",),
        text=True,
    ),
    Bug(
        "a search that has failed lets the others go on",
        "go_together",
        "one.answer(answer)\none.raised()",
        "one.answer(answer)",
        ("study/test_optimise.py::test_what_ends_one_of_many_searches_ends_all",),
    ),
)
