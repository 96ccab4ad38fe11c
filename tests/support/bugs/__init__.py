"""Bugs that the tests have to catch: one place of the program each, as it is and as it would be wrong.

`tests/tools/mutants.py` puts them into copies of the tree, one at a time, and runs the tests that are to fail then.
"""

from __future__ import annotations

from .bodies import BODIES
from .bug import Bug, wrong
from .commands import COMMANDS
from .compiled import COMPILED
from .contacts import CONTACTS
from .direct import DIRECT
from .dynamics import DYNAMICS
from .files import FILES
from .formats import FORMATS
from .formulas import FORMULAS
from .identification import IDENTIFICATION
from .loops import LOOPS
from .results import RESULTS
from .runs import RUNS
from .searches import SEARCHES
from .studies import STUDIES
from .ties import TIES

BUGS: tuple[Bug, ...] = (
    *(*DYNAMICS, *BODIES, *LOOPS, *RUNS, *FORMULAS, *CONTACTS, *COMPILED, *DIRECT),
    *(*FILES, *FORMATS, *RESULTS, *COMMANDS, *TIES, *STUDIES, *SEARCHES, *IDENTIFICATION),
)

__all__ = ["BUGS", "Bug", "wrong"]
