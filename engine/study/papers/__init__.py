"""The papers' tables and figures, made again.

A table or figure is an exhibit: a row in its paper's module, with what it takes and what is compared.

    reproduction    exhibits, and how they are reproduced
    exhibits        all of them by their ids
    saha_1999, saha_overview, saha_counts, saha_smoothness    Saha's papers
    khan_2002, khan_runs, khan_verdicts                       Khan's thesis
    hanzaki_2009    spherical joints by Euler parameters
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .exhibits import EXHIBITS, exhibit
    from .reproduction import PAPERS, RANGES, Exhibit, Reproduction, exhibit_ranges
else:
    __getattr__ = door(__name__)
