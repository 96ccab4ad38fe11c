"""What a robot is: links, joints and cuts, and the bodies of the recursion.

Nothing here knows of dynamics.

    model      a robot as it is once it is read; bodies, links, joints, loops, couplings, actuators
    joints     the joint types, rows of one table
    cuts       the types of cuts, rows of another
    placement  where one frame is in another, as a chain of turns and shifts
    read       a room of its own: from a robot's file to the model
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cuts import CUTS, LOCKED, PARALLEL, CutType
    from .joints import ANGLE, LENGTH, PLACE_AND_ORIENT, TURN_Z, TYPES, JointPart, JointType
    from .model import (
        ZERO,
        Actuator,
        Body,
        Cord,
        Coupling,
        Drive,
        Effort,
        Joint,
        Leader,
        Link,
        Loop,
        Robot,
        Shape,
        Three,
        Tree,
        Wrench,
        way_from_base,
    )
    from .placement import (
        TURN_PLANES,
        Placement,
        X,
        Y,
        Z,
        frame_pointing_along_axis,
        placement_from_rpy,
        rpy_of_placement,
        turn_matrix,
        turn_matrix_of,
        zxz_turns,
    )
else:
    __getattr__ = door(__name__)
