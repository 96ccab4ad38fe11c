"""What a run integrates: a robot with the motions, forces and laws that act on it.

system                                  the robot and all that acts on it
inputs, reference, state_force, called  motions and forces in time, what they refer to, forces by the state, by callers
driven_joints, discrete                 given motions in the loops; which coordinates and rows there are for a time
delayed_state, memory                   states of the past, for dead times
signals                                 what equations are given at an instant
acting, prescribed                      forces at many instants, where the motion is known
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .acting import actuator_forces_at_instants, forces_by_laws_at_instants, wrenches_at_instants
    from .called import Called, CalledForce, Caller, HeldForce
    from .discrete import Discrete, discrete_partition
    from .driven_joints import carried_speeds
    from .inputs import Commanded, Driven, Driving, Inputs, Motion, TimedWrench
    from .prescribed import prescribed_motion_rows, quadrature_instants, run_work_gathered, work_of_prescribed_motion
    from .reference import HeldJoint, Reference, Turning
    from .signals import (
        begin_of_run,
        gain_signal_columns,
        own_signal_columns,
        pivot_limit_signals,
        signals_at,
        steady_signal_columns,
        steady_wrench_columns,
        wanted_row_signals,
    )
    from .state_force import AlongForce, FormulaForce, StateForce, points_for_state_forces
    from .system import Model, System, bodies_without_dry_friction, dry_friction_of_system
else:
    __getattr__ = door(__name__)
