"""Laws in time and state, for motions and forces; nothing here knows of robots.

A law is a row of `MOTION_LAWS` or `FORCE_LAWS`: a class whose fields are the keys of its mapping in a scenario.

    law         what all laws have in common: keys, kinds of joints that they suit, pace
    motions     the motion laws; each gives curves of position, rate and acceleration, by profiles from 0 to 1
    forces      the force laws, of time and of state; each gives forces as text on scalars
    csv_tables  tables in CSV files: columns, header, splines through the rows
    lookup      forces by tables over coordinates
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .csv_tables import (
        TABLE_BYTES,
        Spline,
        bare_angles_of_law_table,
        law_table_header,
        read_law_table_columns,
        refuse_units_of_law_table,
    )
    from .forces import (
        FORCE_LAWS,
        AnyForceLaw,
        ComputedTorque,
        Constant,
        Feedforward,
        Force,
        ForceLaw,
        ProportionalDerivative,
        StateFeedback,
        StateLaw,
        laws_of_state,
        laws_of_time,
    )
    from .law import OF_JOINT, Duration, Law, Pace
    from .lookup import law_table_polynomials
    from .motions import (
        MOTION_LAWS,
        AnyMotionLaw,
        Curve,
        Hold,
        MotionLaw,
        Profiled,
        TableMotion,
        Turn,
        profiled_motion_laws,
    )
else:
    __getattr__ = door(__name__)
