"""The compiled loop's control block, which its caller writes and reads: its rows, and what they say."""

REACHED, PAUSED = 0, 1
GOING, TOO_SMALL, GUARDED = 0.0, 2.0, 3.0  # the states of one lane, in row STATUS
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
    OPEN,
    ROWS,
) = range(19)
