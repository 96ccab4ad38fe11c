"""Changes of a baseline: changed entries are written, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import NumericalError
from . import baseline
from .judging import Verdict


def update_baseline(folder: Path, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Writes changed entries into the baseline, all or none, and returns what was done by scenario."""
    done: dict[str, str] = {}
    gone: list[str] = []
    made: dict[str, bytes] = {}
    for verdict in verdicts:
        if verdict.same and not verdict.stale:
            continue
        result = verdict.result
        if result is not None and not result.as_expected:
            raise NumericalError(
                f"{verdict.name} ended as `{result.ended}`: no baseline is made of it; nothing is written"
            )
        gone += verdict.old.files() if verdict.old else []
        made |= verdict.new.texts() if verdict.new else {}
        done[verdict.name] = "removed" if verdict.new is None else "added" if verdict.old is None else "changed"
    if done:
        baseline.publish_baseline(folder, gone, made)
    return done
