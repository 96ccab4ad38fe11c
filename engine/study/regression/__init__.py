"""Comparisons of scenarios that are run again with a baseline of agreed results.

A baseline is a folder of small files: a table and a description for each result.

    baseline   baselines as files, the scenarios, and their settings
    judging    verdicts on results, entries of a baseline, how these change, and figures with old and new lines
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .baseline import Case, publish_baseline, regression_cases
    from .judging import Verdict, judge_against_baseline, judge_missing_scenario, regression_overlays, update_baseline
else:
    __getattr__ = door(__name__)
