"""The time loop of runs as machine code: steps of explicit and implicit methods, with rows, signals and watches.

march_block                 the control block, which callers write and read: its rows, and what they say
march                       the loop with its memory, for one run and for many side by side
march_code, march_time      its LLVM IR: that of methods and systems, that of signals that vary in time
march_past                  states of the past, for dead times
march_dense                 explicit methods as tables
implicit, collocation, differences      implicit methods: what all have, those of stages, those of backward differences
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .collocation import Collocation
    from .differences import BackwardDifferences, StepHistory
    from .implicit import ImplicitMethod
    from .march import LoopMethod, ManyRuns, March, build_compiled_loop
    from .march_block import LOOP_PAUSED, LOOP_REACHED, Lane, LaneStatus
    from .march_dense import ExplicitMethod
    from .march_past import PastOfLane, PastSteps
else:
    __getattr__ = door(__name__)
