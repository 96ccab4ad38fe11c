"""All texts of one kind for one mechanism, each in coordinates that are good at other positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ...errors import DenocError, InputError
from ...machine.backend import compiled_code_may_run_freely
from ...machine.program import kernel_parts_divided, undivided_kernel_results
from ...robot import Robot
from ..closure.constraints import Closure, coupling_in_words
from ..closure.partition import best_partition
from ..quantities.direct import aim_direct_call
from ..quantities.samples import dynamics_without_numbers_error
from .texts import CHECKS, CONSISTENT, Arrays, PartitionText, Reduced

GOOD = 0.05  # share of a pivot above which a text is taken for new positions
MOST = 4  # texts whose compiled code is tried before a good one is looked for


class TextFamily:
    """The texts of one kind for one mechanism, each in other coordinates; the last good one is tried first.

    `made` makes a text that is good at given positions; `lost` is the error where there is none.  If results are in
    `coordinates`, these have to be the independent ones of all texts.
    """

    def __init__(
        self,
        loops: Closure,
        made: Callable[[np.ndarray], PartitionText],
        lost: DenocError | None = None,
        coordinates: Sequence[int] | None = None,
    ):
        self.loops, self.known, self._coordinates = loops, list[PartitionText](), coordinates
        self._made, self._lost = made, lost or dynamics_without_numbers_error(loops.robot)

    def rows(self, arrays: Arrays) -> np.ndarray:
        """The results, with a row for each sample: by the first text, and where that doesn't serve by others."""
        count, known, doubtful = len(arrays["q"]), self.known[:MOST], list[np.ndarray]()
        result, left = np.empty((count, 0)), np.arange(count)
        while len(left):
            these = {name: array[left] for name, array in arrays.items()} if len(left) < count else arrays
            fresh = not known
            if known:
                text = known.pop(0)
                known = [one for one in known if one.has_code]  # without, one that is good is found sooner by its share
            else:
                loops_are_consistent(self.loops, these)
                text = self._good(these["q"][0])
            rows = text.rows(these)
            values, checks = rows[:, :-CHECKS], rows[:, -CHECKS:] >= 0.0
            failed = np.flatnonzero(~(checks[:, 0] & checks[:, 1] & checks[:, 2]))
            if fresh and not checks[0, 0]:
                raise self._lost.with_traceback(None)
            if len(left) < count:
                result[left] = values  # where these don't fit, others come
            else:
                result = np.ascontiguousarray(values)
                if not len(failed):
                    self._first(text)
                    return result
            fit = checks[failed, 0]
            doubtful.append(left[failed[fit]])
            left = left[failed[~fit]]
        if any(map(len, doubtful)):  # the checks are a little stricter than `loops_are_consistent`
            loops_are_consistent(self.loops, {name: array[np.concatenate(doubtful)] for name, array in arrays.items()})
        return result

    def _good(self, q: np.ndarray) -> PartitionText:
        """A text that is good at q."""
        for one in self.known:
            if one.share(q) > GOOD:
                return one
        made = self._made(q)
        if self._coordinates is not None and made.part.independent != list(self._coordinates):
            raise self._lost.with_traceback(None)
        self.known = [*self.known, made]
        return made

    def _first(self, text: PartitionText) -> None:
        """Lets this text be tried first from now on."""
        if self.known[0] is not text:
            self.known = [text, *(one for one in self.known if one is not text)]


def reduced_mechanism_texts(loops: Closure, independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts of inertia and bias in these coordinates."""
    text = lambda q: Reduced(loops, best_partition(loops, q, (), independent))  # noqa: E731
    return loops.robot.made_once(
        (Reduced, tuple(independent)), lambda: TextFamily(loops, text, coordinates=independent)
    )


def quick_mechanism_result(what: Hashable, key: Hashable, robot: Robot, *groups: Any) -> Any:
    """The results for one sample by existing code of this family, which then serves the robot's direct calls."""
    family = robot.derived.get(key)
    if family is None or not compiled_code_may_run_freely() or type(groups[0]) is not np.ndarray or groups[0].ndim != 1:
        return None
    for text in family.known[:MOST]:
        if text.one is not None and text.final and not text.oriented:
            try:
                result = text.one.of_doubles(*groups)
            except (AttributeError, TypeError, ValueError):
                return None
            if result is not None and (result[-CHECKS:] >= 0.0).all():
                serve_mechanism_calls(text, what)
                return kernel_parts_divided(result[:-CHECKS], text.parts())
    return None


def serve_mechanism_calls(text: PartitionText, what: Hashable) -> None:
    """Use the text's code, for one sample or many, in the robot's direct calls of this name, if there is any."""
    parts = text.parts()
    whole = parts == undivided_kernel_results(*parts[0].shape)
    for code in (text.one, text.many):
        if code is not None and text.final:
            shape, divided = (parts[0].shape, ()) if whole else ((text.results(),), parts)
            aim_direct_call(text.loops.robot, what, text.wrenched, code, shape, CHECKS, divided)


def loops_are_consistent(loops: Closure, arrays: Arrays) -> None:
    """Raises an error if the loops aren't closed at these positions, or at speeds if these are given."""
    if "qd" not in arrays:
        return  # callers that give forces alone have checked the positions
    q, qd = arrays["q"], arrays["qd"]
    gaps = abs(loops.gap(q)) * loops.row_scale
    if gaps.max(initial=0.0) > CONSISTENT:
        n, _ = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        loose = [gap for gap in loops.open(q[n]) if gap.length > 1e-9 or gap.angle > 1e-9]
        if loose and all(gap.asks for gap in loose):
            message, hint = "a coupling isn't kept at this `q`", "`denoc.assemble` gives positions that fit"
        else:
            message, hint = "the loops aren't closed at this `q`", "`denoc.assemble` closes them"
        raise InputError(f"{loops.robot.name}: {message}", found=", ".join(map(str, loose)), hint=hint)
    rates, sizes = loops.rate_and_size(q, qd)
    off = rates / np.maximum(sizes, 1.0)
    if (off > CONSISTENT).any():
        n, row = np.unravel_index(int(np.nanargmax(off)), off.shape)
        place = int(row) - (loops.m - len(loops.couplings))
        message, found = "these speeds would open the loops", f"`qd` with a rate of {rates.max():.3g} across a cut"
        if place >= 0:
            message = "these speeds don't fit a coupling"
            found = coupling_in_words(loops.robot, loops.couplings[place], qd[n].tolist(), speeds=True)
        raise InputError(
            f"{loops.robot.name}: {message}",
            found=found,
            hint="the dependent speeds follow from the others",
        )
