"""A comparison of closure methods on one mechanism: the same run under each of them.

What is compared, and how, follows chapter 4 of Khan's thesis (2002).

    playback   plans of simulations, and the motions that they should have
    compare    the runs, what their equations cost, and how stiff they are
    compared   which runs there are, the numbers of one of them, and tables of all
    plots      the plots
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .compare import Comparison, evaluation_time_for_comparison
    from .compared import (
        ADAPTIVE,
        COLUMNS,
        FIXED,
        STAGES,
        Options,
        Run,
        RunSetting,
        compared_method_parameter,
        comparison_csv,
        comparison_summary,
    )
    from .plots import figures_of_comparison
else:
    __getattr__ = door(__name__)
