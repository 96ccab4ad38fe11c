"""The compiled loop's control block, which its caller writes and reads: its rows, and what they say."""

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
    ROWS,
) = range(22)
# the rows behind these in the block of an implicit method, which has a single lane
(
    LAST,  # length of the last step, 0 before the first
    BEFORE,  # wanted length of the last step, 0 where the next one is to be judged by its own error alone
    ERROR,  # that of the last step
    REFUSED,  # whether the error of an attempt at the present step was too large
    DERIVED,  # whether there are derivatives
    CURRENT,  # whether they are those at the present state
    FACTORED,  # whether there are factors of matrices
    ROUNDS,  # of Newton's method in the last attempt
    PACE,  # quotient of the last two corrections
    EVALUATED,  # number of evaluations
    ORDER,  # of a multistep method
    EQUAL,  # number of steps of one length that its differences have seen
    NEXT,  # the order of the next step
    LONGER,  # the factor for its length
    SHIFT,  # what its matrix was made with
    IMPLICIT_ROWS,
) = range(ROWS, ROWS + 16)
