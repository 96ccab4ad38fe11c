"""Scenarios run by legs and compared with the undistributed run: messages, times, and when distribution pays.

Legs, or the parts of a mechanism, run in processes of their own, here or on other machines.

    settings   what is asked for, who hears of it, what exchanges of messages cost, and what comes out
    study      what a scenario is distributed by, the run, its costs, its columns beside those of the undistributed one
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .settings import Cost, EngineSetting, Forecast, Listener, Outcome, ping_distribution_nodes
    from .study import distribution_explained, distribution_part_count, distribution_part_name, distribution_study
else:
    __getattr__ = door(__name__)
