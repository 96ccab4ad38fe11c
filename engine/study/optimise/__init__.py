"""Searches for the numbers of a scenario and its robot that make an output of its runs as small as it can be.

A search is a study, too: each point that it asks for is a run of the sweep's machinery, in the same store.

    run        `optimise`: from the study's file to the best point, and the files of a search
    objective  what a search sees over the unit cube, what it minimises, its limits, whether the best point is a minimum
    gradients, effort_gradients, column_jumps    derivatives of outputs, and where they jump
    together   searches from several starts
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .objective import Landscape
    from .run import Optimised, Search, optimise, search_ready, search_summary, write_search_files
else:
    __getattr__ = door(__name__)
