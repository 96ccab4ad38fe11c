"""Runs side by side, whose numbers alone differ.

batch_program   the numbers in which runs differ, and one program for all
batch_run       the runs, carried on together
mode_table      the discrete states that they have been in
many_rows       output rows of all of them
traces          what is kept of them
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .batch_program import (
        Numbers,
        Starts,
        joined_system_numbers,
        likeness_of_systems,
        numbers_of_system,
        system_numbers_of_bodies,
    )
    from .batch_run import integrate_batch
    from .many_rows import EvaluatedRows, evaluate_many_run_rows, trace_prescribed_runs
    from .traces import RunTraces
else:
    __getattr__ = door(__name__)
