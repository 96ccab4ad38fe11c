"""Scenarios run by legs and compared with the undistributed run: messages, times, and when distribution pays.

Legs, or the parts of a mechanism, run in processes of their own, here or on other machines.

    settings   what is asked for, who hears of it, and what comes out
    parts      what a scenario is distributed by
    forecast   what exchanges of messages cost
    study      the run, its costs, and its columns beside those of the undistributed one
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .forecast import Cost, Forecast, ping_distribution_nodes
    from .parts import distribution_part_count, distribution_part_name
    from .settings import EngineSetting, Listener, Outcome
    from .study import distribution_explained, distribution_study
else:
    __getattr__ = door(__name__)
