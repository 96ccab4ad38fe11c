"""Scenarios: a file read section by section, the plan, its run, the columns and the result.

Nothing here knows of the terminal, and nothing is written but through a `Result`.

    schema     the models of the file, and its JSON Schema; `read/` has a reader for each section
    plan       everything resolved, checked and ready to run
    carry_out  from a file, a mapping or a plan to a `Result`
    course, rows           a run's rows as arrays, and the quantities behind its columns
    tabulate, wrench_columns, column_names    the columns, in families that are rows of a table
    conclude, audit, error_estimate           the verdicts: energy balance, effort limits, the error
    result, stored, replay    results, those that are read back, and what makes them again to the last bit
    many       the results of runs that went side by side
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .audit import BROKEN, DOUBTFUL, EnergyBalance, residual_share_of_energy
    from .carry_out import (
        Result,
        Scenario,
        carry_out_plan,
        carry_out_whole_plan,
        changed_robot_of_scenario,
        course_of_plan,
        opened_scenario,
        prepare_scenario,
        result_of_trace,
        robot_of_scenario,
        run,
    )
    from .column_names import columns_by_record_keys, hint_at_column
    from .conclude import columns_of_run, unmet_expectation
    from .course import course_of_trace, scenario_wrenches_over_time
    from .error_estimate import error_sentences
    from .many import Many, equations_give_all_forces
    from .plan import Plan, plan_of_scenario
    from .replay import (
        ENDING,
        Prepared,
        files_of_replay,
        name_of_scenario,
        prepared_scenario_replay,
        scenario_of_result,
        tables_of_scenario,
    )
    from .schema import RegressEntry, scenario_schema
    from .stored import Stored, stored_scenario_result, table_of_stored_scenario_result
    from .tabulate import FAMILIES, Family
else:
    __getattr__ = door(__name__)
