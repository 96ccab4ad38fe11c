"""Choice of independent vectors by rank-revealing QR, in groups of preference, and null spaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TINY = 1e-8  # relative to the longest vector: a shorter one counts as 0


def independent_constraint_rows(vectors: np.ndarray, groups: Sequence[Sequence[int]], tiny: float = TINY) -> list[int]:
    """Places of independent rows with the same span as all rows; from earlier groups first, longest rows first."""
    return [
        k
        for k in independent_constraint_rows_of_many(np.array(vectors, dtype=float)[None], groups, tiny)[0].tolist()
        if k >= 0
    ]


def independent_constraint_rows_of_many(
    vectors: np.ndarray, groups: Sequence[Sequence[int]], tiny: float = TINY
) -> np.ndarray:
    """The places of independent rows of each of many matrices, in a row that is filled up with −1."""
    rest, everyone = vectors.copy(), np.arange(len(vectors))
    least = tiny * np.maximum(np.sqrt((rest**2).sum(axis=2)).max(axis=1, initial=0.0), 1e-300)
    result: list[np.ndarray] = []
    for group in map(list, groups):
        left = np.ones((len(rest), len(group)), dtype=bool)
        for _ in group:
            norms = np.where(left, np.sqrt((rest[:, group] ** 2).sum(axis=2)), -1.0)
            # the first of equal ones, so that rounding errors don't decide
            best = np.argmax(norms >= norms.max(axis=1, keepdims=True) * (1 - 1e-6), axis=1)
            size = norms[everyone, best]
            more = size > least
            if not more.any():
                break
            places = np.array(group)[best]
            direction = np.where(more[:, None], rest[everyone, places] / np.where(more, size, 1.0)[:, None], 0.0)
            for _ in range(2):  # the second time removes rounding errors
                rest = rest - (rest @ direction[:, :, None]) * direction[:, None]
            result.append(np.where(more, places, -1))
            left[everyone[more], best[more]] = False
    return np.array(result, dtype=int).reshape(len(result), len(vectors)).T


def constraint_null_space(A: np.ndarray, tiny: float = TINY, size: float = 1e-300) -> np.ndarray:
    """An orthonormal basis of the null space of A, to a tolerance relative to its largest singular value or `size`."""
    if not A.size:
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > tiny * max(s.max(initial=0.0), size)).sum())
    return Vt[rank:].T
