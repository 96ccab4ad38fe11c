"""The numbers of a robot, by their places.

number_symbols       all numbers of a tree or a model; symbols in the place of some of them
inertial             the ten inertial numbers of each link
regressor            the columns of inverse dynamics, one for each number
regroup, grouping    other numbers with the same dynamics; what it can't tell apart
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inertial import INERTIAL, INERTIAL_NAMES
    from .number_symbols import (
        FIELDS_OF_INERTIA,
        Own,
        Path,
        ProgramOfNumbers,
        number_leaves_of_bodies,
        own_numbers,
        planted_bodies,
        shape_of_bodies,
    )
    from .regressor import OF_SPEED, STIFFNESS, names_of_regressor_numbers, parameters, regressor_speeds
    from .regroup import inertias_moved_towards_base, regrouped_bodies
else:
    __getattr__ = door(__name__)
