"""Bugs in studies: which runs they have, what is kept of them, and when a kept run may stand for another."""

from .bug import Bug

DESIGN = "engine/study/sweep/design.py"
KEEP = "engine/study/sweep/keep.py"
RUN = "engine/study/sweep/run.py"
STORE = "engine/study/sweep/store.py"
TASKS = "engine/study/sweep/tasks.py"
ROWS = ("study/test_sweep.py::test_rows_are_the_runs_one_by_one",)
OTHERWISE = ("study/test_sweep.py::test_runs_that_end_otherwise_than_expected_are_counted_and_left_out",)
SAME = ("study/test_sweep.py::test_the_table_does_not_depend_on_batches_threads_and_processes",)

STUDIES = (
    Bug(
        "rods of many runs spin idly as the first one does",
        "engine/study/varied.py",
        "if numbers and start_depends_on_inertia(plan):",
        "if False:",
        ("study/test_every_number.py::test_rods_that_spin_idly_start_as_they_do_alone",),
    ),
    Bug(
        "many runs of an inverse task have the forces of a simulation",
        "engine/scenario/many.py",
        'not system.pushing and plan.task != "inverse"',
        "not system.pushing",
        ("study/test_every_number.py::test_a_study_seeks_the_forces_that_a_run_seeks",),
    ),
    Bug("the first of a study's grids varies quickest", DESIGN, "in reversed([name for", "in list([name for", ROWS),
    Bug("means over rows, not over time", KEEP, "    weights[:-1] += steps / 2", "    weights[:-1] += steps / 3", ROWS),
    Bug(
        "all runs side by side fall as the first one does",
        "engine/study/varied.py",
        "weights.get((GRAVITY, k), x)",
        "x",
        ("study/test_abreast.py::test_each_run_has_its_own_gravity",),
    ),
    Bug(
        "energies of runs side by side with one gravity for all",
        "engine/simulate/beside.py",
        "gravity=model.gravity, tree=replace(system.robot.tree, bodies=bodies), vouched=True)",
        "tree=replace(system.robot.tree, bodies=bodies), vouched=True)",
        ("study/test_abreast.py::test_each_run_has_its_own_gravity",),
    ),
    Bug(
        "mechanisms side by side with one gravity for all",
        "engine/simulate/equations.py",
        "ConstrainedEquations(loops, part, model.bodies, gravity=model.gravity)",
        "ConstrainedEquations(loops, part, model.bodies)",
        ("study/test_mechanisms_abreast.py::test_each_mechanism_falls_under_its_own_gravity",),
    ),
    Bug(
        "a table's content is no part of a run's key",
        RUN,
        "[name, hashlib.sha256(one).hexdigest()]",
        "[name]",
        ("study/test_sweep.py::test_a_table_that_has_changed_makes_other_runs",),
    ),
    Bug(
        "what is kept is no part of a run's key",
        RUN,
        '"compiled", wanted, study.file.rows',
        '"compiled", study.file.rows',
        ("study/test_sweep.py::test_only_what_is_new_is_computed",),
    ),
    Bug(
        "whole rows are no part of a run's key",
        RUN,
        '"compiled", wanted, study.file.rows',
        '"compiled", wanted',
        ("study/test_sweep.py::test_only_what_is_new_is_computed",),
    ),
    Bug(
        "a column passes its level a row late",
        KEEP,
        "k = int(crossed[0])",
        "k = min(int(crossed[0]) + 1, len(t) - 2)",
        ("study/test_sweep.py::test_a_value_at_the_instant_at_which_a_column_passes_a_level",),
    ),
    Bug(
        "runs as good as another one are beaten by it",
        "engine/study/sweep/table.py",
        "beaten = (front <= costs[k]).all(axis=1) & (front < costs[k]).any(axis=1)",
        "beaten = (front <= costs[k]).all(axis=1)",
        ("study/test_sweep.py::test_runs_that_no_other_beats",),
    ),
    Bug(
        "runs that didn't end as expected are in the ranges",
        "cli/sweep.py",
        "table[name][table.as_expected].tolist()",
        "table[name].tolist()",
        OTHERWISE,
    ),
    Bug(
        "runs that went side by side ended as expected, whatever that is",
        "engine/study/run_blocks.py",
        "[not reason] * count",
        "[True] * count",
        ("study/test_sweep.py::test_runs_side_by_side_end_as_unexpectedly_as_alone",),
    ),
    Bug(
        "what is minimised has a value where a run didn't end as expected",
        "engine/study/optimise/goal.py",
        "np.where(made.as_expected, total, np.nan)",
        "total",
        ("study/test_optimise.py::test_a_run_that_ends_before_its_end_is_no_minimum",),
    ),
    Bug(
        "damaged rows of a store count",
        STORE,
        "return one if one.cells(key) == row else None",
        "return one",
        ("study/test_sweep.py::test_flipped_bits_in_a_store_change_no_table",),
    ),
    Bug(
        "rows of a store may have any number of numbers",
        RUN,
        "if len(one.numbers) == count and ",
        "if ",
        ("study/test_sweep.py::test_numbers_and_rows_of_another_count_are_computed_anew",),
    ),
    Bug(
        "points that a study names replace those that its scenario records",
        "engine/study/sweep/probe.py",
        "points = [*plan.record.points, *(point",
        "points = [*(point",
        ("study/test_sweep.py::test_points_of_the_scenario_stay_beside_those_that_are_kept",),
    ),
    Bug(
        "keys of `record` that make kept columns are in the first run only",
        "engine/study/sweep/reading.py",
        "[value] * self.design.count for key, value in self.switched",
        "[value] + [False] * (self.design.count - 1) for key, value in self.switched",
        ("study/test_sweep.py::test_studies_switch_on_what_they_keep",),
    ),
    Bug(
        "the store can be opened twice",
        STORE,
        '"BEGIN EXCLUSIVE"',
        '"BEGIN"',
        ("study/test_sweep.py::test_a_second_start_is_refused",),
    ),
    Bug(
        "a batch with a run that makes no sense is lost",
        TASKS,
        "_outcomes(task.part(slice(half, None)))",
        "_outcomes(task.part(slice(None, half)))",
        ("study/test_sweep.py::test_a_run_that_makes_no_sense_is_a_row",),
    ),
    Bug(
        "runs with other lengths share a program with what is beside them",
        "engine/study/variations.py",
        "[key for key in keys if not varied_key_may_be_plain(key)]",
        "[]",
        ("study/test_abreast.py::test_runs_with_other_lengths_in_blocks_are_the_same_to_the_last_bit",),
    ),
    Bug(
        "columns of runs that go by themselves are compiled once that pays",
        "engine/machine/jit/choice.py",
        '"plain" if here.steady else "auto"',
        '"auto"',
        ("machine/test_offer.py::test_what_is_compiled_only_where_it_pays",),
    ),
    Bug(
        "numbers of joints that slide have the units of those that turn",
        "engine/study/file_units.py",
        "OF_JOINT[kind][not turning]",
        "OF_JOINT[kind][0]",
        ("study/test_page.py::test_numbers_of_a_file_have_units",),
    ),
    Bug(
        "drawings of changed lengths are as thick as their size says, which has kinks",
        "engine/study/page.py",
        "stage_scene(robot, plan.q0, scene.size)",
        "stage_scene(robot, plan.q0)",
        ("study/test_page.py::test_a_page_by_itself_has_lengths_first_then_loads",),
    ),
    Bug(
        "a page has the coordinates of the scenario's run alone",
        "engine/study/page.py",
        "if not one.passing and all(one.program != other.program for other in known):",
        "if False:",
        ("study/test_page.py::test_a_platform_falls_on_where_the_scenario_ends",),
    ),
    Bug(
        "sliders take a number with a unit for one in SI units that is 1",
        "engine/study/page_sliders.py",
        "    return number.value\n",
        "    return 1.0\n",
        ("study/test_page.py::test_numbers_with_units_have_sliders",),
    ),
    Bug(
        "cells with quotes stand in the table as they are",
        "engine/study/sweep/table.py",
        """return f'"{doubled}"'""",
        "return doubled",
        ("study/test_sweep.py::test_the_csv_file_is_what_pythons_own_writer_makes",),
    ),
    Bug(
        "the files of a study are those of the study before",
        TASKS,
        "_latest.read is None or _latest.files != task.files",
        "_latest.read is None",
        ("study/test_sweep.py::test_files_that_have_changed_are_read_again",),
    ),
    Bug(
        "the runs of a batch are shifted by the one that all go by",
        "engine/study/ensemble.py",
        "these = slice(1, None)",
        "these = slice(0, -1)",
        SAME,
    ),
    Bug(
        "the first batches are large, whatever a run takes",
        RUN,
        "FIRST = 8  #",
        "FIRST = 50  #",
        ("study/test_sweep.py::test_workers_have_batches_of_which_scheduling_is_a_small_part",),
    ),
    Bug(
        "what rolls played back from its second row",
        "engine/study/playback.py",
        "q, qd = recorded.at(float(plan.grid[0]))",
        "q, qd = recorded.at(float(plan.grid[1]))",
        ("study/test_compare.py::test_what_rolls_is_played_back",),
    ),
    Bug(
        "n+ of counts by both kinds together",
        "engine/study/papers/saha_counts.py",
        "if ours(n)[kind] >= dense(n)[kind]) + 1 for kind in range(2))",
        "if sum(ours(n)[: kind + 1]) >= sum(dense(n)[: kind + 1])) + 1 for kind in range(2))",
        ("study/test_papers.py::test_table_2_gives_the_printed_counts",),
    ),
)
