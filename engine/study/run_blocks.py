"""Many runs whose columns are reduced block by block, so that no table is kept: what sweeps and searches sit on.

A run's numbers are the same to the last bit whichever runs are computed with it: they don't depend on the number of
blocks, of threads or of processes. So all of them go by compiled code, the numbers that vary are inputs even where they
happen to be equal, and the last lanes are filled up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from ..machine.backend import steadily_compiled
from ..robot import Robot
from ..scenario import Scenario, residual_share_of_energy, unmet_expectation
from .ensemble_runs import Part, carry_out_ensemble
from .variations import Columns, Variation, Variations

MOST = 5000  # runs of a block


@dataclass(frozen=True)
class RunBlock:
    """Runs that have the same instants: a row for each of them in all arrays."""

    places: list[int]  # among all variations
    t: np.ndarray
    columns: Mapping[str, np.ndarray]  # (runs, instants), by the names of a result's columns
    ended: list[str]
    as_expected: list[bool]
    reasons: list[str]
    energy: np.ndarray  # the energy balance's residual, and what it is compared with, (runs, 2); NaN without a verdict

    @property
    def share(self) -> np.ndarray:
        """The part of the energy exchanged that each run leaves unexplained."""
        return residual_share_of_energy(self.energy[:, 0], self.energy[:, 1])


def blocks_of_variations(
    scenario: Scenario, variations: Iterable[Variation], robot: Robot | str | Path | None = None, most: int = MOST
) -> Iterator[RunBlock]:
    """The runs of all variations, in blocks of at most so many, which are in order of the variations only as a whole.

    Only one block of variations, and of results, is held at a time. Wrong variations raise errors as in `ensemble`.
    """
    ahead, first = iter(variations), 0
    asked = variations_of_blocks(scenario, robot)
    while some := list(islice(ahead, most)):
        yield from block_of_variations(asked, some, first)
        first += len(some)


def variations_of_blocks(scenario: Scenario, robot: Robot | str | Path | None = None) -> Variations:
    """The files of any number of blocks, read once."""
    return Variations(scenario, [], robot, independent=True)


def block_of_variations(files: Variations, some: Sequence[Variation] | Columns, first: int = 0) -> list[RunBlock]:
    """The runs of some variations, whose places count from `first` on."""
    with steadily_compiled():
        asked = files.with_others(some)
        return [block for part in carry_out_ensemble(asked) for block in _blocks(part, first)]


def _blocks(part: Part, first: int) -> Iterator[RunBlock]:
    """The blocks of a part: one for what went side by side with usual columns, else one for each run."""
    many = part.many
    if many is not None and many.columns is not None:
        these = np.flatnonzero(many.in_order)
        values = many.values if len(these) == len(many.values) else many.values[these]
        columns = {name: values[:, c] for c, name in enumerate(many.names)}
        energy = np.full((len(these), 2), np.nan)
        if many.verdicts is not None:
            energy = np.column_stack([np.broadcast_to(x, len(many.in_order))[these] for x in many.verdicts])
        places = [first + part.places[k] for k in these.tolist()]
        reason, count = unmet_expectation(many.plan, "done"), len(these)
        ends = ["done"] * count, [not reason] * count, [reason] * count
        yield RunBlock(places, many.traces.t, columns, *ends, energy)
        return
    for k, result in part.results().items():
        verdict = [np.nan if (x := result.audit.get(key)) is None else float(x) for key in ("energy", "exchanged")]
        columns = {name: values[None] for name, values in result.table.items()}
        reason = str(result.record["reason"])
        ends = [result.ended], [result.as_expected], [reason]
        yield RunBlock([first + k], result.t, columns, *ends, np.array([verdict]))
