"""Independent ones among vectors: greedy elimination with pivots, by groups of preference (a rank-revealing QR)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TINY = 1e-8  # relative to the longest vector: a direction weaker than this is none


def independent(vectors: np.ndarray, groups: Sequence[Sequence[int]], tiny: float = TINY) -> list[int]:
    """Places of rows that span what all rows span; the earlier groups first, in each the strongest."""
    rest = np.array(vectors, dtype=float)
    least = tiny * max(np.sqrt((rest**2).sum(axis=1)).max(initial=0.0), 1e-300)
    found: list[int] = []
    for group in groups:
        left = list(group)
        while left:
            norms = np.sqrt((rest[left] ** 2).sum(axis=1))
            # of equals the first, so that rounding does not choose
            best = left[int(np.argmax(norms >= norms.max() * (1 - 1e-6)))]
            size = float(norms[left.index(best)])
            if size <= least:
                break
            direction = rest[best] / size
            for _ in range(2):  # once more against rounding
                rest = rest - np.outer(rest @ direction, direction)
            found.append(best)
            left.remove(best)
    return found


def null_space(A: np.ndarray, tiny: float = TINY, size: float = 1e-300) -> np.ndarray:
    """Orthonormal columns that A takes to nothing, as measured by its largest singular value or by `size`."""
    if not A.size:
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > tiny * max(s.max(initial=0.0), size)).sum())
    return Vt[rank:].T
