"""Comparisons of scenarios that are run again with a baseline of agreed results.

A baseline is a folder of small files: a table and a description for each result.

    cases      the scenarios, and their settings
    baseline   baselines as files
    judging    verdicts on results, entries of a baseline, and how these change
    overlays   figures with old and new lines
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .baseline import publish_baseline
    from .cases import Case, regression_cases
    from .judging import Verdict, judge_against_baseline, judge_missing_scenario, update_baseline
    from .overlays import regression_overlays
else:
    __getattr__ = door(__name__)
