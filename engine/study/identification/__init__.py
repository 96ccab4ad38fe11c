"""Identification: the numbers of a robot from measured motions and forces.

A study names the columns of measured data and what is sought; the numbers are found by weighted least squares.

    settings   the file of a study
    recorded   measured motions: read, scaled, filtered and differentiated
    columns    the numbers that are sought, and the columns that measured efforts have for them
    least_squares    the numbers that data tell, and those of links and joints nearest to the file
    estimate   `identify`, all of it
    report     what was identified: tables, and the robot's file with other numbers
    excitation `excite`: motions from which numbers can be identified well
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .estimate import identify
    from .excitation import excite
    from .recorded import measured_effort_columns
    from .report import Identified, identified_numbers_csv, identified_parameter_rows, identified_parameters_csv
    from .settings import IdentificationFile
else:
    __getattr__ = door(__name__)
