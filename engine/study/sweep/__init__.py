"""Sweeps: one scenario run for many values of its numbers, in a table with a row for each run.

Only the starting process writes the store of runs; a run that is there isn't carried out again.

    schema, reading, design    the study's file, and which values its numbers take
    probe      one run in advance: whether keys and outputs exist
    run        `sweep`: the runs that the store lacks, in batches
    engines    where batches are carried out, and the same function there
    keep, store, table         what is kept of a run, where, and the table of all
    results    the files of a sweep, with the best runs as scenarios
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .design import sampled_sweep_cube
    from .engines import (
        Done,
        Engine,
        Processes,
        Task,
        check_sweep_engine,
        machine_of_study_runs,
        study_task_carried_out,
        sweep_engine,
    )
    from .keep import (
        JUMPS,
        Reduction,
        dimension_of_sweep_column,
        take_sweep_outputs,
        take_sweep_slopes,
        value_of_sweep_expression,
    )
    from .probe import Probed, probe_study, si_unit_of_study_dimension
    from .reading import Study, open_study
    from .results import best_scenario_files, store_of_study, sweep_goal, write_study_files, write_sweep_files
    from .run import Forecast, Progress, Runs, Source, Swept, forecast_sweep, missed_sweep_expectations, sweep
    from .schema import study_schema
    from .store import Outcome
    from .table import Table, sweep_reductions
else:
    __getattr__ = door(__name__)
