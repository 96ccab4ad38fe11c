"""Verification of stored results: everything in them is computed again from their own files, by other means.

The means are the plain text of the recursion, and other engines beside denoc.

    verify         all checks of a result; the engines, which are rows of one table
    check          files, loops, energies, rows by the equations of motion of any engine, columns by the run itself
    stored_rows    a stored result as equations of motion
    peer           Pinocchio, MuJoCo, and the plain text as one of these engines
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .check import Check
    from .peer import Pinocchio
    from .verify import PEERS, Peer, Verification, verify_result
else:
    __getattr__ = door(__name__)
