"""What is computed of a mechanism with loops, couplings or actuators of its own, and of any robot.

mechanism, texts, families             the calls; one text of a quantity, plain or compiled; all texts of one kind
accelerations, looped                  forward dynamics; the same as a loop over groups of bodies
branches, subsystems, balance          forces of actuators and cuts, branch by branch
effort, reaction_wrenches              least effort with too many actuators; wrenches in joints and cuts
slopes, forward_derivatives, gradients, linear    derivatives, gradients, the equations of state
regressor_columns, base                the regressor, and base parameters
freedoms                               mobility at the initial position
exported, numbers                      programs for export; all numbers of a mechanism
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .accelerations import Forward
    from .balance import Balance, Forces, actuated_speeds, enough_actuators_for_freedoms, idle_spins, loop_balance_texts
    from .base import BaseParameters, base_parameters
    from .branches import (
        Inverse,
        branch_order_at_position,
        forces_acting_in_loops,
        loop_actuator_efforts,
        multipliers_in_equations,
        singular_loop_message,
    )
    from .effort import least_loop_effort
    from .exported import (
        TEXTS,
        mechanism_text_around_position,
        mechanism_text_at_assembly,
        mechanism_text_with_balance_order,
        program_of_mechanism_quantity,
        recorded_mechanism_program,
    )
    from .forward_derivatives import derivatives
    from .freedoms import Mobility, Standing, loop_gap_in_words, mobility
    from .gradients import adjoint
    from .linear import linearize
    from .mechanism import REACTIONS, forward, inverse, reactions, reduced
    from .reaction_wrenches import (
        mechanism_multiplier_texts,
        multipliers_of_constraints,
        wrenches_exerted_by_ties,
        wrenches_of_multipliers,
    )
    from .regressor_columns import regressor
else:
    __getattr__ = door(__name__)
