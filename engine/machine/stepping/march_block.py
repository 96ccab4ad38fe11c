"""The compiled loop's control block, which its caller writes and reads: its rows, and what they say."""

from __future__ import annotations

from ..loops import explicit, implicit

LOOP_REACHED, LOOP_PAUSED = 0, 1


class LaneStatus:
    """How it is with one lane, in the row `STATUS`, as the texts have it."""

    GOING, TOO_SMALL, GUARDED, EVENT = explicit.GOING, explicit.TOO_SMALL, explicit.GUARDED, explicit.EVENT


class Lane:
    """The rows of the control block, with a number for each lane: a run of those that go side by side."""

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


ROWS = Lane.OWN + implicit.OWN
ORDER = Lane.OWN + implicit.ORDER
