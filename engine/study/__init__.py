"""Studies: what is made of many runs, or of a whole robot or result; nothing here knows of the terminal.

    variations, ensemble_runs, run_blocks        runs with different numbers, side by side
    vary_masses, vary_geometry, arguments        numbers of files that differ from run to run
    sweep/, optimise/, minimisers                sweeps, and searches
    comparison/, distribution/, papers/          closure methods, distributed runs, the papers' tables and figures
    identification/                              numbers from measured data
    regression/, verification/                   results beside a baseline, and computed again by other means
    staging, shapes, animate, report             robots and results to look at
    page, sliders                                pages in which a machine runs
    codegen, complexity, regulator               code for other programs, operation counts, linear-quadratic gains

The folders have doors of their own.
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .animate import animation_force_arrows, animation_html, animation_scene_of_result
    from .codegen import generate_code
    from .complexity import (
        ALGORITHMS,
        FORWARD,
        INVERSE,
        OF_TREES,
        DenseForward,
        chain_robot_for_times,
        complexity_crossover,
        complexity_of_chain,
        complexity_of_robot,
        measured_complexity_times,
        program_for_complexity,
    )
    from .ensemble_runs import ensemble
    from .page import page_of_plan
    from .regulator import regulator_gains, regulator_weights, study_regulator_as_laws
    from .report import report_html, write_report_pdf
    from .sliders import page_slider_ranges, plan_of_page
    from .staging import stage_scene
else:
    __getattr__ = door(__name__)
