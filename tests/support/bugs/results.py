"""Bugs in tables, records, warnings and verdicts on runs, and in how files take each other's places."""

from .bug import Bug

RUN = "engine/scenario/conclude.py"
AUDIT = "engine/scenario/audit.py"
ROWS = "engine/scenario/rows.py"
POINTS = "engine/scenario/points.py"
WRENCHES = "engine/scenario/wrench_columns.py"
FORMULAS = "engine/scenario/formula_columns.py"
KINEMATICS = "engine/dynamics/kinematics.py"
SCALES = "engine/record/scales.py"
CURVES = "engine/record/curve_plots.py"
EFFORTS = "engine/scenario/efforts.py"
FOLDERS = "engine/record/folders.py"
DRAFTS = "engine/record/drafts.py"
WRITE = "engine/record/write.py"
DEVIATION = "engine/record/deviation.py"
ENTRIES = "engine/study/regression/entries.py"
JUDGING = "engine/study/regression/judging.py"
BROKEN = ("scenario/test_audit.py::test_a_doubtful_balance_is_a_warning_and_a_broken_one_fails_the_run",)
LUCK = ("record/test_bad_luck.py::test_a_result_is_the_old_one_or_the_new_one",)
STALE = ("record/test_write.py::test_what_an_earlier_run_made_goes_away_and_nothing_else",)
BEYOND = ("simulate/test_saturation.py::test_a_motion_that_needs_more_is_warned_of_with_the_instant",)

RESULTS = (
    Bug(
        "ticks that were found for one drawing are taken for the next",
        "engine/record/ticks.py",
        "            delattr(axis, name)",
        "            pass",
        ("record/test_quick.py::test_ticks_are_found_once_and_then_as_ever",),
    ),
    Bug(
        "docstrings of matplotlib's classes are left out in everybody's process",
        "engine/record/undescribed.py",
        'if not _SOON or "matplotlib.artist" in sys.modules:',
        'if "matplotlib.artist" in sys.modules:',
        ("record/test_quick.py::test_a_command_has_no_lists_of_properties",),
    ),
    Bug(
        "columns of CSV files sorted by their names",
        WRITE,
        'names = [name for name in table if name != "t"]',
        'names = sorted(name for name in table if name != "t")',
        ("record/test_write.py::test_result_round_trip", "record/test_write.py::test_csv_has_17_digits_and_unix_lines"),
    ),
    Bug(
        "numbers of CSV files lose their last digits",
        WRITE,
        '"%.17g"',
        '"%.15g"',
        ("record/test_write.py::test_every_double_survives",),
    ),
    Bug(
        "what the record of an earlier run lists stays",
        WRITE,
        "return [str(file) for file in listed] + [",
        "return [",
        ("record/test_write.py::test_what_an_earlier_run_has_listed_and_its_later_plots_go_away",),
    ),
    Bug(
        "plots that were added later stay",
        WRITE,
        ' + [\n        f"{stem}.{form}" for stem in plots.plot_stems(name) for form in plots.FORMATS\n    ]',
        "",
        ("record/test_write.py::test_what_an_earlier_run_has_listed_and_its_later_plots_go_away",),
    ),
    Bug(
        "another run's inputs are replaced without a word",
        WRITE,
        "if before.get(key) != now.get(key)]",
        "if key not in now]",
        ("cli/test_changed_files.py::test_a_run_with_other_inputs_is_not_replaced_in_silence",),
    ),
    Bug(
        "plots go to a result that has been replaced",
        WRITE,
        'if _read(home / f"{name}.json") != record:',
        'if not _read(home / f"{name}.json"):',
        ("record/test_write.py::test_plots_are_not_added_to_another_result",),
    ),
    Bug(
        "forces y and z of wrenches swapped",
        WRENCHES,
        "shown: np.ndarray = six[:, _FORCES_FIRST]",
        "shown: np.ndarray = six[:, (3, 5, 4, 0, 1, 2)]",
        ("simulate/test_runs.py::test_columns_of_points_and_reactions_are_in_their_order",),
    ),
    Bug(
        "y and z of points swapped",
        POINTS,
        'f"{owner}.{beginning}{axis}" for axis in "xyz"]',
        'f"{owner}.{beginning}{axis}" for axis in "xzy"]',
        ("simulate/test_runs.py::test_columns_of_points_and_reactions_are_in_their_order",),
    ),
    Bug(
        "reactions without the scenario's wrenches",
        ROWS,
        "reactions(self.robot, self.q, self.qd, qdd, self.loads())",
        "reactions(self.robot, self.q, self.qd, qdd)",
        ("simulate/test_runs.py::test_columns_of_points_and_reactions_are_in_their_order",),
    ),
    Bug(
        "energy balance counts from nothing",
        ROWS,
        "total - total[0] - self.balance",
        "total - self.balance",
        ("simulate/test_runs.py::test_energy_is_conserved_in_free_fall",),
    ),
    Bug(
        "a point's velocity by one joint alone",
        KINEMATICS,
        "velocity = add(velocity, scale(qd[k], twist[3:]))",
        "velocity = scale(qd[k], twist[3:])",
        ("scenario/test_columns.py::test_points_move_as_newton_says",),
    ),
    Bug(
        "a point's acceleration without that of turning",
        KINEMATICS,
        "add(here.a, [dot(row, r) for row in here.U])",
        "add(here.a, cross(here.wd, r))",
        ("scenario/test_columns.py::test_points_move_as_newton_says",),
    ),
    Bug(
        "what the ground does, about each link's own origin",
        ROWS,
        "total += wrenches_moved_to_points(six[:, :3], six[:, 3:], self.frames[link.name][:, :3, 3])",
        "total += six",
        ("scenario/test_columns.py::test_the_ground_gives_what_the_whole_machine_needs",),
    ),
    Bug(
        "what the ground does, without cuts",
        ROWS,
        "for name, six in self.inner().items():",
        "for name, six in {}.items():",
        ("scenario/test_columns.py::test_the_ground_holds_mechanisms",),
    ),
    Bug(
        "what the ground does, with the actuators of links",
        RUN,
        "idle = replace(run.forces, actuated=np.zeros_like(run.forces.actuated))",
        "idle = run.forces",
        ("scenario/test_columns.py::test_the_ground_holds_mechanisms",),
    ),
    Bug(
        "wrenches in axes of the wrong link",
        WRENCHES,
        "second = next(loop.between[1] for loop",
        "second = next(loop.between[0] for loop",
        ("scenario/test_columns.py::test_wrenches_in_axes_of_links",),
    ),
    Bug(
        "units of formulas multiply",
        FORMULAS,
        "np.broadcast_to(as_samples(values), shape) / column.size",
        "np.broadcast_to(as_samples(values), shape) * column.size",
        ("scenario/test_columns.py::test_formulas_are_what_they_say",),
    ),
    Bug(
        "panels of one scale whatever is in them",
        SCALES,
        "if x[1] - x[0] < COMPARABLE * (high - low)]",
        "if x[1] - x[0] < 0]",
        ("record/test_drawings.py::test_panels_that_can_be_compared_have_one_scale",),
    ),
    Bug(
        "columns without numbers are zero",
        SCALES,
        "return bool(values.size) and largest_plotted_value(values)",
        "return largest_plotted_value(values)",
        ("record/test_drawings.py::test_nothing_is_folded_where_all_is_zero",),
    ),
    Bug(
        "curves over the wrong column",
        CURVES,
        "for column in (x, y))",
        "for column in (y, x))",
        ("record/test_drawings.py::test_a_curve_of_a_point",),
    ),
    Bug(
        "upper limits are never left",
        RUN,
        "or q.max() > joint.limits[1] + slack",
        "or q.max() > joint.limits[1] + 1e9",
        ("scenario/test_audit.py::test_leaving_a_limit_on_either_side_is_a_warning",),
    ),
    Bug(
        "lower limits are never left",
        RUN,
        "if q.min() < joint.limits[0] - slack or",
        "if q.min() < joint.limits[0] - 1e9 or",
        ("scenario/test_audit.py::test_leaving_a_limit_on_either_side_is_a_warning",),
    ),
    Bug(
        "balances that are off by a half pass",
        AUDIT,
        "BROKEN = 0.1",
        "BROKEN = 10.0",
        BROKEN,
    ),
    Bug("balances that are off by a hundredth hold", AUDIT, "DOUBTFUL = 1e-3", "DOUBTFUL = 2e-2", BROKEN),
    Bug(
        "balances judged by the largest energy",
        AUDIT,
        "swing = stored.max(axis=0) - stored.min(axis=0) if len(stored) else 0.0",
        "swing = abs(stored).max(axis=0, initial=0.0)",
        ("scenario/test_audit.py::test_what_is_exchanged_does_not_depend_on_the_height",),
    ),
    Bug(
        "quadrature is the run's own fault",
        AUDIT,
        "residual_share_of_energy(max(self.residual - self.quadrature, 0.0), self.exchanged)",
        "residual_share_of_energy(max(self.residual, 0.0), self.exchanged)",
        ("scenario/test_audit.py::test_the_quadrature_on_coarse_rows_is_not_the_runs_fault",),
    ),
    Bug(
        "a shorter step is advised, whatever the quadrature's part",
        AUDIT,
        "if self.quadrature >= DOUBTFUL * self.exchanged and",
        "if self.quadrature and",
        ("scenario/test_audit.py::test_no_shorter_step_is_advised_where_it_would_not_help",),
    ),
    Bug(
        "a robot at rest is in doubt",
        AUDIT,
        "np.where(finite, residual, np.nan), np.maximum(exchanged, floor)",
        "np.where(finite, residual, np.nan), exchanged",
        ("scenario/test_audit.py::test_a_robot_at_rest_exchanges_nothing_and_holds",),
    ),
    Bug(
        "broken balances end as done",
        RUN,
        'run.ended, run.reason = "failed", f"{message}; `energy',
        'run.reason = f"{message}; `energy',
        BROKEN,
    ),
    Bug(
        "broken balances are always accepted",
        RUN,
        'if plan.file.solver.energy == "accept" or (',
        'if plan.file.solver.energy != "accept" or (',
        BROKEN,
    ),
    Bug(
        "runs without the singular position that was expected",
        RUN,
        'if ended != "done" or plan.expect != "singularity":',
        'if ended != "done" or plan.expect == "singularity":',
        ("cli/test_commands.py::test_expect",),
    ),
    Bug(
        "forces beyond their lower limits aren't warned of",
        EFFORTS,
        "np.maximum(force - effort.high, effort.low - force)",
        "(force - effort.high)",
        ("simulate/test_saturation.py::test_an_actuator_of_a_link_beyond_its_limits_is_warned_of",),
    ),
    Bug(
        "the instant of the largest force beyond its limits is the first one's",
        EFFORTS,
        "worst = int(far[np.argmax(excess[far])])",
        "worst = int(far[0])",
        BEYOND,
    ),
    Bug(
        "actuators beside joints aren't looked at for their limits",
        EFFORTS,
        "start=len(plan.robot.driven)):",
        "start=0):",
        ("simulate/test_saturation.py::test_an_actuator_of_a_link_beyond_its_limits_is_warned_of",),
    ),
    Bug(
        "enormous accelerations of no inertia are rows as others",
        "engine/scenario/course.py",
        "if enormous and (idle :=",
        "if not enormous and (idle :=",
        ("dynamics/test_vanishing.py::test_rows_with_enormous_accelerations_of_nothing_are_no_result",),
    ),
    Bug(
        "files that were changed pass",
        "engine/record/checksums.py",
        "if known is not None and known != _sum_of(folder / name):",
        "if known is None and known != _sum_of(folder / name):",
        ("record/test_bad_luck.py::test_a_changed_file_is_not_the_records",),
    ),
    Bug(
        "plots of a replay are checked as its inputs are",
        "engine/scenario/replay.py",
        'sorted(names - drawn - {f"{name}.csv"})',
        'sorted(names - {f"{name}.csv"})',
        (
            "cli/test_changed_files.py::test_a_replay_that_was_edited_is_not_run",
            "cli/test_changed_files.py::test_a_replay_needs_no_plots_and_no_table",
        ),
    ),
    Bug(
        "the folder isn't put back where the exchange fails",
        FOLDERS,
        "        if not os.path.lexists(home) and os.path.lexists(aside):\n            aside.rename(home)\n        raise",
        "        raise",
        ("record/test_bad_luck.py::test_a_folder_is_put_back_where_folders_cannot_change_places",),
    ),
    Bug(
        "files of others in a folder go with its exchange",
        FOLDERS,
        "os.link(home / name, draft / name, follow_symlinks=False)",
        "pass",
        ("record/test_bad_luck.py::test_a_result_is_the_old_one_or_the_new_one",),
    ),
    Bug(
        "files that come while a result is written are lost",
        FOLDERS,
        "                one.replace(other)",
        "                one.unlink()",
        ("record/test_bad_luck.py::test_what_comes_while_a_result_is_written_is_kept",),
    ),
    Bug(
        "what a killed process has begun is never completed",
        FOLDERS,
        "        for ready in drafts.dead_draft_files(home, drafts.READY):\n            _move(ready, home)\n",
        "",
        LUCK,
    ),
    Bug(
        "files that have to go stay in folders written in place",
        FOLDERS,
        "(home / name).unlink(missing_ok=True)",
        "pass",
        ("record/test_bad_luck.py::test_a_folder_that_cannot_be_replaced_is_written_in_place",),
    ),
    Bug(
        "drafts of living processes go",
        DRAFTS,
        "and not _alive(int(words[2]))",
        "and int(words[2]) > 0",
        ("record/test_bad_luck.py::test_drafts_of_dead_processes_go_and_no_others",),
    ),
    Bug(
        "two processes write into one folder at once",
        DRAFTS,
        "fcntl.LOCK_SH if shared else fcntl.LOCK_EX",
        "fcntl.LOCK_SH",
        ("record/test_bad_luck.py::test_a_folder_is_locked_for_one_writer_at_a_time",),
    ),
    Bug(
        "baselines compared a hundred times too loosely",
        DEVIATION,
        "RTOL = 1e-6",
        "RTOL = 1e-4",
        ("study/test_regress.py::test_a_column_is_compared_by_its_own_scale",),
    ),
    Bug(
        "rounding counts as a difference",
        DEVIATION,
        "FLOOR = 1e-9",
        "FLOOR = 0.0",
        (
            "study/test_regress.py::test_rounding_passes",
            "study/test_regress.py::test_a_column_is_compared_by_its_own_scale",
        ),
    ),
    Bug(
        "a number that becomes none is no difference",
        DEVIATION,
        "return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))",
        "return np.where(same | np.isnan(off), 0.0, off)",
        ("study/test_regress.py::test_numbers_that_are_none",),
    ),
    Bug(
        "the last row isn't kept",
        DEVIATION,
        "else [*rows, count - 1], dtype=int)",
        "else rows, dtype=int)",
        ("study/test_regress.py::test_thinned",),
    ),
    Bug(
        "spikes between the rows that are kept pass",
        DEVIATION,
        "if ranges and one.low is not None",
        "if not ranges and one.low is not None",
        ("study/test_regress.py::test_a_spike_between_the_rows_that_are_kept",),
    ),
    Bug(
        "a baseline of two updates is taken",
        "engine/study/regression/baseline.py",
        "if kept.checksums.get(other, baseline_checksum(other, result)) != baseline_checksum(other, result):",
        "if other not in contents:",
        ("study/test_regress.py::test_files_of_two_updates_are_not_one_baseline",),
    ),
    Bug(
        "baselines are made of runs that failed",
        "engine/study/regression/updating.py",
        "if result is not None and not result.as_expected:",
        "if result is None:",
        ("study/test_regress.py::test_another_end",),
    ),
    Bug(
        "tolerances of columns don't count",
        ENTRIES,
        "rtol = own.rtol if own.rtol is not None else settings.rtol",
        "rtol = settings.rtol",
        ("study/test_regress.py::test_tolerances",),
    ),
    Bug(
        "columns of another unit pass",
        JUDGING,
        "elif one.unit != now[name].unit:",
        "elif not one.unit:",
        ("study/test_regress.py::test_another_unit",),
    ),
    Bug(
        "estimated error: the finer run is no finer",
        "engine/scenario/error_estimate.py",
        "step = None if solver.step is None else solver.step / 2",
        "return plan",
        ("scenario/test_error_estimate.py::test_the_estimate_is_as_large_as_the_error_of_a_swing",),
    ),
    Bug(
        "estimated error: a column's own range doesn't count",
        "engine/scenario/error_estimate.py",
        "SHARE * max(ranges[one.name], FAINT * widest[one.kind])",
        "SHARE * max(0.0, FAINT * widest[one.kind])",
        ("scenario/test_error_estimate.py::test_limits_are_those_of_angles_and_of_ranges",),
    ),
)
