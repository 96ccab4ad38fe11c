"""Functions of time as polynomials, piece by piece, good to rounding: what compiled code can evaluate at any instant.

A piece is halved until the last Chebyshev coefficients of all functions in it are rounding errors.  Where a function
jumps or has a kink, its user names the instant, so that a piece ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

NODES = 16  # samples of a piece, and coefficients of its polynomials
ABREAST = 4  # polynomials that are evaluated at once
MOST = 4000  # pieces
FOLLOWED = 500  # pieces along a path that a mechanism is planned to follow, whose instants take longer
NOISE = 1e-12  # relative: rounding errors of functions along such a path
TAIL = 3  # coefficients that have to be rounding errors
FIRST, WORDS = 6, 16  # words of the table: its own, and all that compiled code may read
EPS = float(np.finfo(float).eps)

Sampled = Callable[[np.ndarray], np.ndarray]  # instants → a row for each of them, with a column for each function

_TURNS = np.outer(np.arange(NODES), 2 * np.arange(NODES) + 1) % (4 * NODES)  # whole, so that no cosine loses digits
_COSINES = np.cos(np.pi * _TURNS / (2 * NODES))
_PLACES = _COSINES[1]
_TO_CHEBYSHEV = _COSINES * np.where(np.arange(NODES) == 0, 1.0, 2.0)[:, None] / NODES
_CHEBYSHEV = np.eye(NODES)  # the coefficients of each polynomial by powers: T_k = 2 x T_(k-1) − T_(k-2)
for _k in range(2, NODES):
    _CHEBYSHEV[_k] = 2 * np.roll(_CHEBYSHEV[_k - 1], 1) - _CHEBYSHEV[_k - 2]
_TO_POWERS = _CHEBYSHEV.T


@dataclass(frozen=True, eq=False)
class SignalPieces:
    """Polynomials in x = (t − middle) · scale on each piece, for those columns of a function that aren't constant."""

    starts: np.ndarray  # (pieces,)
    middles: np.ndarray  # (pieces, 2): the middle, and 2 over the length
    columns: np.ndarray  # places of the functions, padded to whole groups by a place behind the last one
    coefficients: np.ndarray  # (pieces, groups, NODES, ABREAST), the constant ones first
    width: int  # of the function's rows

    def table(self) -> np.ndarray:
        """The numbers and addresses that compiled code reads; valid as long as this object lives.

        The words behind these are for what is remembered (`march_past.py`): 0, as long as nothing is.
        """
        arrays = (self.starts, self.middles, self.columns, self.coefficients)
        words = np.zeros(WORDS, dtype=np.int64)
        words[:FIRST] = [len(self.starts), len(self.columns) // ABREAST, *(x.ctypes.data for x in arrays)]
        return words


EMPTY = SignalPieces(
    np.zeros(0), np.zeros((0, 2)), np.zeros(0, dtype=np.int64), np.zeros((0, 0, NODES, ABREAST)), 0
)  # where nothing varies


def fitted_signal_pieces(
    sampled: Sampled,
    begin: float,
    end: float,
    breaks: Iterable[float],
    longest: float,
    *,
    followed: bool = False,
    sizes: np.ndarray | None = None,
) -> SignalPieces | None:
    """The functions from `begin` to `end` as pieces no longer than `longest`; None where that takes too many.

    Breaks are instants at which derivatives may jump. Functions along a path that is `followed` have the rounding
    errors of many operations. `sizes` are those that the functions have elsewhere: beside them, too, what is as small
    as rounding errors is taken for one.
    """
    most, rounding = (FOLLOWED, NOISE) if followed else (MOST, 4 * EPS)
    inner = sorted({x for x in breaks if begin < x < end})
    edges = [begin, *inner, end]
    if (end - begin) / longest + len(edges) > most:
        return None
    parts = [np.linspace(a, b, max(1, int(np.ceil((b - a) / longest))) + 1)[:-1] for a, b in pairwise(edges)]
    a = np.concatenate(parts)
    b = np.append(a[1:], end)
    values = _values(sampled, a, b)
    if not np.isfinite(values).all():
        return None
    columns = np.flatnonzero((values != values[0, 0]).any(axis=(0, 1)))
    if not len(columns):
        return EMPTY
    values, size = values[:, :, columns], abs(values[:, :, columns]).max(axis=(0, 1), initial=0.0)
    if sizes is not None:
        size = np.maximum(size, sizes[columns])
    done: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    while True:
        chebyshev = np.einsum("kj,njc->nkc", _TO_CHEBYSHEV, values)
        good = _settled(chebyshev, a, b, size, rounding) | (b - a < 1e-12 * (end - begin))
        done.append((a[good], b[good], chebyshev[good]))
        a, b = a[~good], b[~good]
        if not len(a):
            break
        if len(a) * 2 + sum(len(part[0]) for part in done) > most:
            return None
        middle = (a + b) / 2
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        values = _values(sampled, a, b)[:, :, columns]
        if not np.isfinite(values).all():
            return None
    return _gathered(done, columns, width=len(sampled(np.array([begin]))[0]))


def _values(sampled: Sampled, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The functions at the nodes of all pieces."""
    times = ((a + b) / 2)[:, None] + ((b - a) / 2)[:, None] * _PLACES
    return sampled(times.ravel()).reshape(len(a), NODES, -1)


def _settled(chebyshev: np.ndarray, a: np.ndarray, b: np.ndarray, size: np.ndarray, rounding: float) -> np.ndarray:
    """Whether the last coefficients of all functions in a piece are rounding errors, of the value or of the time."""
    slope = (abs(chebyshev) * (np.arange(NODES) ** 2)[:, None]).sum(axis=1) * (2 / (b - a))[:, None]
    late = np.maximum(abs(a), abs(b))[:, None]
    allowed = rounding * size + EPS * late * np.minimum(slope, size / (b - a)[:, None])
    return np.asarray((abs(chebyshev[:, -TAIL:]).max(axis=1, initial=0.0) <= allowed).all(axis=1))


def _gathered(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], columns: np.ndarray, width: int) -> SignalPieces:
    """All pieces in the order of time, with the coefficients of powers, in groups."""
    a, b, chebyshev = (np.concatenate([part[k] for part in parts]) for k in range(3))
    order = np.argsort(a)
    a, b, powers = a[order], b[order], np.einsum("pk,nkc->npc", _TO_POWERS, chebyshev[order])
    groups = -(-len(columns) // ABREAST)
    padded = np.zeros((len(a), NODES, groups * ABREAST))
    padded[:, :, : len(columns)] = powers
    places = np.full(groups * ABREAST, width, dtype=np.int64)
    places[: len(columns)] = columns
    return SignalPieces(
        a,
        np.stack([(a + b) / 2, 2 / (b - a)], axis=1),
        places,
        np.ascontiguousarray(padded.reshape(len(a), NODES, groups, ABREAST).transpose(0, 2, 1, 3)),
        width,
    )
