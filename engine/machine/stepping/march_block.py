"""The compiled loop's control block, which its caller writes and reads: its rows, and what they say."""

from __future__ import annotations

from ..loops import implicit

REACHED, PAUSED = 0, 1
GOING, TOO_SMALL, GUARDED, EVENT = 0.0, 2.0, 3.0, 4.0  # the states of one lane, in row STATUS
# the rows of the control block, with a number for each lane
(
    T,
    H,
    T_END,
    RTOL,
    ATOL,
    MAX_STEP,
    WANTED,
    MOST,
    FRESH,
    ACCEPTED,
    REJECTED,
    ROW,
    STATUS,
    STEP,
    T_NEW,
    TAKEN,
    GUARD,
    DENSE,
    OPEN,
    LANDING,  # the instant beyond which a step may not go: the next output row's, where steps land on these
    WHICH,  # the watch that has an event
    OWN,  # from here on, what a run of an implicit method keeps
) = range(22)
ROWS = OWN + implicit.OWN
ORDER = OWN + implicit.ORDER
