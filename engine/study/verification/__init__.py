"""Verification of stored results: everything in them is computed again from their own files, by other means.

The means are the plain text of the recursion, and other engines beside denoc.

    verify         all checks of a result; the engines, which are rows of one table
    check          files, loops, energies, and rows by the equations of motion of any engine
    columns_check  columns by the run itself, carried out again
    stored_rows    a stored result as equations of motion
    peer           what engines have in common, and the plain text as one of them
    pinocchio, mujoco    other engines
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .check import Check
    from .pinocchio import Pinocchio
    from .verify import PEERS, Peer, Verification, verify_result
else:
    __getattr__ = door(__name__)
