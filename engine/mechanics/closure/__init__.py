"""Closed loops: the constraints between links.

ties, row_kinds, blocks     ties between links as rows; the kinds of rows; bodies that no loop leaves
constraints, gaps           all constraints of one robot, as text and as numbers; their gaps by compiled code
rank, elimination           independent rows, and solutions with a fixed order of pivots
partition                   independent rows and coordinates around a position
methods                     the table of closure methods
constrained, embedding      the equations of motion; the three sweeps over groups of bodies
exchange, vanishing         masses moved across cuts; freedoms with next to nothing to accelerate
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .constrained import AppliedForces, ConstrainedEquations
    from .constraints import Closure, distance_driving_tie, loop_closure, point_driving_tie, ties_of_mechanism
    from .elimination import Elimination, pivot_order_of_constraints
    from .methods import (
        METHODS,
        NOTHING_TO_CLOSE,
        Method,
        MethodParameters,
        Parameter,
        distributed_closure_methods,
        parameters_of_closure_methods,
        projected_closure_accelerations,
    )
    from .partition import Partition, best_partition, best_partitions_of_many, independent_speeds
    from .rank import TINY, constraint_null_space, independent_constraint_rows, independent_constraint_rows_of_many
    from .ties import Tie
    from .vanishing import freedom_pivots_are_sound, joints_of_vanishing_freedoms, vanishing_joints_at_closed_position
else:
    __getattr__ = door(__name__)
