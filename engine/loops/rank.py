"""Choice of independent vectors by rank-revealing QR, in groups of preference, and null spaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TINY = 1e-8  # relative to the longest vector: a shorter one counts as 0


def independent(vectors: np.ndarray, groups: Sequence[Sequence[int]], tiny: float = TINY) -> list[int]:
    """Places of independent rows with the same span as all rows; from earlier groups first, longest rows first."""
    rest = np.array(vectors, dtype=float)
    least = tiny * max(np.sqrt((rest**2).sum(axis=1)).max(initial=0.0), 1e-300)
    result: list[int] = []
    for group in groups:
        left = list(group)
        while left:
            norms = np.sqrt((rest[left] ** 2).sum(axis=1))
            # the first of equal ones, so that rounding errors don't decide
            best = left[int(np.argmax(norms >= norms.max() * (1 - 1e-6)))]
            size = float(norms[left.index(best)])
            if size <= least:
                break
            direction = rest[best] / size
            for _ in range(2):  # the second time removes rounding errors
                rest = rest - np.outer(rest @ direction, direction)
            result.append(best)
            left.remove(best)
    return result


def null_space(A: np.ndarray, tiny: float = TINY, size: float = 1e-300) -> np.ndarray:
    """An orthonormal basis of the null space of A, to a tolerance relative to its largest singular value or `size`."""
    if not A.size:
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > tiny * max(s.max(initial=0.0), size)).sum())
    return Vt[rank:].T
