"""How quick this machine is at the moment, beside the one on which the goals in units of time were set.

Machines differ, and one that others share is half as quick at times.  Pinocchio, called from Python, says by how much.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

from measure import Row, quickest, shown

SET_BY = {"rnea": 0.82e-6, "aba": 1.52e-6}  # s, one call for the PUMA where the goals were set
LASTS = 10.0  # s
CALLS = range(1000)


def within(work: str, ours: float, most: float) -> Row:
    """Alone, not to take more than `most` seconds of the machine on which the goals were set."""
    here = most * pace()
    return Row(work, ours, goal=f"at most {shown(most, 's')}, here {shown(here, 's')}", reached=ours <= here)


def pace() -> float:
    """The time that Pinocchio takes now, in units of that which it took when the goals were set; 1 without it."""
    return _pace(int(time.monotonic() / LASTS))


@cache
def _pace(_: int) -> float:
    try:
        run = _pinocchio()
    except ImportError:
        return 1.0
    took = quickest(run, seconds=0.3)
    return sum(took.values()) / len(CALLS) / sum(SET_BY.values())


@cache
def _pinocchio() -> dict[str, Any]:
    """Both calls, for one sample each, a thousand times."""
    from arms import puma
    from peers import Pinocchio

    arm = puma()
    peer = Pinocchio(arm)
    given = peer.model, peer.data, *(x[0] for x in arm.samples(1))
    calls = {name: getattr(peer.pin, name) for name in SET_BY}
    return {name: lambda call=call: [call(*given) for _ in CALLS] for name, call in calls.items()}
