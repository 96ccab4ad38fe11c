"""A system in time, from its start to its end.

situation, equations, recorded, compiled, runner     the equations of motion: in plain text, as programs, as run
coordinates, singular, singular_step, svd_projection independent coordinates, and singular positions
loop, marching, trace, reasons                       the loop over the output grid, what it leaves, why it ended
modes, contacts, instants, sticking, impacts         which joints stick, rest on stops, come loose
response, complementarity, saturation                what decides that, and actuators at their limits
follow, feedforward, internal_forces                 motions that are given, forces along them, forces in cuts
row_parts, row_outputs                               the quantities of output rows
jumps, variational                                   derivatives of runs
many_bodies, one_step, simulator                     equations of many bodies, steps one by one
systems, integrators, many                           rooms of their own
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .contacts import ModeLimits
    from .coordinates import discrete_state_at_start, preferred_speeds_at_start
    from .equations import (
        Evaluation,
        Moved,
        closed_positions_in_run,
        conclude_evaluation,
        evaluation_of_lost_state,
        pushed_by_force_laws,
    )
    from .feedforward import feedforward_force_plan, feedforward_path, runner_with_feedforward, system_that_plans
    from .follow import Path, follow_prescribed_motion
    from .internal_forces import (
        cut_forces_of_run,
        cut_wrenches_of_run,
        largest_gaps_of_run,
        sought_forces_of_run,
        undetermined_forces_of_run,
    )
    from .loop import integrate_run
    from .modes import settle_sticking_modes, state_after_blows
    from .recorded import run_equations_close_state, run_equations_outputs
    from .row_parts import ROW_FIELDS
    from .runner import Runner
    from .simulator import Simulator
    from .singular import Singular
    from .situation import situation_of_state
    from .trace import Progress, Solver, Trace
    from .variational import WEIGHTS_AROUND, WEIGHTS_BEYOND, Nearby, NoTangentsError, state_tangents_over_grid
else:
    __getattr__ = door(__name__)
