"""Bugs in the machine code between Python and compiled programs."""

from .bug import Bug

BATCH = "engine/machine/jit/builtin_batch.py"
ROWS = "engine/machine/jit/builtin_rows.py"
ONE = "engine/machine/jit/builtin_one.py"
CODE = "engine/machine/jit/builtin_code.py"
INTO = ("machine/test_batches.py::test_arrays_that_cannot_take_results_are_left_to_the_general_function",)
ANYWHERE = ("machine/test_batches.py::test_rows_that_lie_anywhere",)
ONE_GROUP = ("machine/test_batches.py::test_arguments_that_are_one_group_of_the_code",)
CHECKS = ("machine/test_batches.py::test_the_last_results_are_checks_of_each_sample",)
NORMS = ("machine/test_builtin.py::test_groups_of_four_are_brought_to_norm_1",)
TAKEN = ("machine/test_builtin.py::test_what_is_taken",)
LEFT = ("machine/test_builtin.py::test_what_is_left_to_the_general_function_is_left_as_it_came",)

DIRECT = (
    Bug(
        "parts of three dimensions have rows that overlap",
        "engine/machine/jit/builtin_parts.py",
        "%outer = mul i64 %inner, %width",
        "%outer = mul i64 %inner, 1",
        ("machine/test_builtin.py::test_a_result_in_parts",),
    ),
    Bug(
        "verdicts among parts are the wrong way round",
        "engine/machine/jit/builtin_parts.py",
        "%truth.word = select i1 %is_true, i64 %width, i64 %length",
        "%truth.word = select i1 %is_true, i64 %length, i64 %width",
        ("machine/test_builtin.py::test_a_dictionary_may_have_verdicts_and_other_objects",),
    ),
    Bug(
        "results in parts that the code has refused are kept",
        CODE,
        "br i1 %stays, label %bad.whole, label %leave",
        "br i1 false, label %bad.whole, label %leave",
        ("machine/test_builtin.py::test_parts_are_freed",),
    ),
    Bug(
        "the watches of a result that is written where it stays are not looked at",
        CODE,
        "%finite.at = phi ptr [%aside.watches, %aside]",
        "%finite.at = phi ptr [%whole.data, %aside]",
        ("machine/test_builtin.py::test_a_result_behind_which_nothing_comes_is_written_where_it_stays",),
    ),
    Bug(
        "results with checks behind them are written where only results have room",
        "engine/machine/jit/builtin.py",
        "apart if outputs == kept and not parts else 0",
        "apart if not parts else 0",
        ("machine/test_builtin.py::test_a_result_behind_which_nothing_comes_is_written_where_it_stays",),
    ),
    Bug(
        "the caller's array gets a sample less than there are",
        BATCH,
        "%all.size = mul i64 %result.size, %count",
        "%all.size = mul i64 %result.size, %start",
        ("machine/test_batches.py::test_results_are_written_into_the_callers_array",),
    ),
    Bug(
        "the caller's array is written although a sample fails",
        "engine/dynamics/calls.py",
        "return own if apart and len(shape) > 1 and shape[0] >= MANY else np.empty(shape)",
        "return own if apart else np.empty(shape)",
        ("dynamics/test_wrong_arguments.py::test_what_is_wrong_leaves_the_callers_array_as_it_was",),
    ),
    Bug(
        "results go straight into an array that the arguments overlap",
        "engine/machine/jit/builtin.py",
        "any(np.may_share_memory(out, x) for x in given if out is not None)",
        "False",
        ("machine/test_batches.py::test_results_of_very_many_samples_may_go_over_an_argument",),
    ),
    Bug(
        "results are written into an array that can't be changed",
        BATCH,
        "%is_good = and i1 %is_fit, %is_deep",
        "%is_good = and i1 %is_double, %is_deep",
        INTO,
    ),
    Bug(
        "the caller's array is freed once more than it was taken",
        BATCH,
        "call void %Py_IncRef(ptr %into)\n  ret",
        "ret",
        ("machine/test_batches.py::test_results_are_written_into_the_callers_array",),
    ),
    Bug(
        "zeros of the first lane alone",
        "engine/machine/jit/block.py",
        "i64 {8 * self.lanes * len(columns)}",
        "i64 {8 * len(columns)}",
        ("machine/test_pieces.py::test_zeros_are_there_where_nothing_is_stored",),
    ),
    Bug(
        "rows of strided arrays taken for contiguous",
        ROWS,
        "%row = select i1 %is_whole, i64 %row.whole, i64 %row.own",
        "%row = select i1 true, i64 %row.whole, i64 %row.own",
        ANYWHERE,
    ),
    Bug(
        "columns of strided arrays taken for contiguous",
        ROWS,
        "%column = select i1 %is_whole, i64 8, i64 %column.own",
        "%column = select i1 true, i64 8, i64 %column.own",
        ANYWHERE,
    ),
    Bug(
        "rows that fill up the lanes are behind the array",
        ROWS,
        "%source = select i1 %is_there, i64 %r, i64 %final",
        "%source = select i1 true, i64 %r, i64 %final",
        ("machine/test_batches.py::test_nothing_behind_the_last_sample_is_read",),
    ),
    Bug(
        "numbers of samples that differ are taken by the kernel",
        ROWS,
        "%is_high = icmp eq i64 %rows, %count",
        "%is_high = icmp sge i64 %rows, %count",
        ("machine/test_batches.py::test_what_is_left_to_the_general_function",),
    ),
    Bug(
        "checks of the last sample not looked at",
        ROWS,
        "%r.more = icmp sle i64 %r.next, %count",
        "%r.more = icmp slt i64 %r.next, %count",
        CHECKS,
    ),
    Bug(
        "the first of a sample's checks not looked at",
        ROWS,
        "%k.more = icmp sle i64 %k.next, %checks",
        "%k.more = icmp slt i64 %k.next, %checks",
        CHECKS,
    ),
    Bug(
        "lanes' angles out of reach pass",
        BATCH,
        "%is_well = and i1 %is_finite, %is_within",
        "%is_well = and i1 %is_finite, true",
        ("machine/test_batches.py::test_what_is_left_to_the_general_function",),
    ),
    Bug(
        "the second of joined arguments lies over the first",
        BATCH,
        "%g.within = sub i64 %g.used, %g.base",
        "%g.within = sub i64 %g.base, %g.base",
        ONE_GROUP,
    ),
    Bug(
        "blocks begin where the last one began",
        BATCH,
        "%g.skip = mul i64 %g.row, %start",
        "%g.skip = mul i64 %g.row, 0",
        ANYWHERE,
    ),
    Bug(
        "Euler parameters of the caller's own array are normalised",
        BATCH,
        "%is_changed = and i1 %is_first, %has_units",
        "%is_changed = and i1 %is_first, false",
        ("machine/test_batches.py::test_groups_of_four_are_brought_to_norm_1",),
    ),
    Bug(
        "samples that are shared among processors are taken",
        BATCH,
        "%is_small = icmp sle i64 %count, %most",
        "%is_small = icmp sgt i64 %count, 0",
        ("machine/test_batches.py::test_more_samples_than_one_call_takes_are_shared_among_processors",),
    ),
    Bug(
        "strided rows of one sample read without their stride",
        ONE,
        "%skip = mul i64 %k, %stride",
        "%skip = mul i64 %k, 8",
        TAKEN,
    ),
    Bug(
        "rows of another length are taken",
        ONE,
        "%is_long = icmp eq i64 %length, %width",
        "%is_long = icmp sge i64 %length, %width",
        LEFT,
    ),
    Bug(
        "integers too large leave an error behind",
        ONE,
        "too_large:\n  call void %PyErr_Clear()\n",
        "too_large:\n",
        ("machine/test_builtin.py::test_no_error_is_left_behind",),
    ),
    Bug(
        "lists longer than the argument are taken",
        ONE,
        "%is_long = icmp eq i64 %size, %width",
        "%is_long = icmp sge i64 %size, %width",
        LEFT,
    ),
    Bug(
        "Euler parameters of next to no length are taken",
        ONE,
        "%is_fit = and i1 %is_large, %is_small",
        "%is_fit = and i1 true, %is_small",
        NORMS,
    ),
    Bug(
        "results of one sample that aren't finite are given out",
        CODE,
        "%is_finite = fcmp oeq double %finite, {ir_of_double(0.0)}\n  %is_within",
        "%is_finite = fcmp uge double %finite, {ir_of_double(0.0)}\n  %is_within",
        LEFT,
    ),
    Bug(
        "checks of one sample: the first one not looked at",
        CODE,
        "%l.more = icmp slt i64 %l, %checks",
        "%l.more = icmp sgt i64 %l, %checks",
        (
            "machine/test_builtin.py::test_another_code_and_another_shape",
            "test_functions.py::test_open_loops_are_refused_by_a_direct_call_too",
        ),
    ),
    Bug(
        "code serves although a backend is chosen",
        CODE,
        "%is_nothing = icmp eq ptr %chosen, %nothing",
        "%is_nothing = icmp ne ptr %chosen, null",
        ("machine/test_builtin.py::test_code_serves_only_while_nothing_is_chosen",),
    ),
    Bug(
        "references to the context's value are lost",
        CODE,
        "  call void %Py_DecRef(ptr %chosen)\n",
        "",
        ("machine/test_builtin.py::test_code_serves_only_while_nothing_is_chosen",),
    ),
)
