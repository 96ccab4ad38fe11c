"""Trees of bodies: the recursion as text on scalars, and what it is made of.

spatial, transfer    vectors, rotations, inertias; what goes from a body to its parent and back
one_body, sweeps     the steps of one body, and the three sweeps over all of them
kinematics, moving   placements, Jacobians, rates; the moving links in base axes
dense                the inertia matrix and its factors
springs, wrenches    forces of springs and cords; wrenches that act on links
vanishing            joints with next to nothing to accelerate
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dense import inertia_matrix, solve_with_inertia_factors
    from .kinematics import (
        body_frames,
        body_placements,
        coordinate_rates,
        link_placements,
        rates_of_link_points,
        tree_body_point_of_link,
        velocity_of_body_point,
    )
    from .one_body import passive_force, smooth_dry_friction
    from .spatial import Vector, add, dot, quaternion_matrix, scale, subtract
    from .springs import cord_tension, stretch_of_joint_spring
    from .sweeps import Load, Pivot, Wrenches, sweep_tree
    from .transfer import placement_of_body
    from .vanishing import joint_pivots_are_sound, joints_of_vanishing_inertia, vanishing_inertia_message
    from .wrenches import Applied, constant_wrenches, wrenches_moved_to_points, wrenches_on_bodies, wrenches_on_link
else:
    __getattr__ = door(__name__)
