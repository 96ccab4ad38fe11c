"""Assembly: positions in which all loops are closed.

assembly    from a guess, by Newton's method; along a motion
search      from many starts, however far off they are
alike       many mechanisms of one structure at once
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .alike import Alike, Measures
    from .assembly import (
        assemble,
        close_loops_by_newton,
        close_many_positions_by_newton,
        closing_positions_moved_along_speeds,
        joint_distance,
        position_with_loops_closed,
        start_with_loops_closed,
        words_on_moved_initial,
    )
    from .search import CLOSED, closing_position_moved_along_speeds
else:
    __getattr__ = door(__name__)
