"""Backward differences of polynomials, written on scalars: floats in tests, registers in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

Scalar = Any  # a float, or an object with + and ×


def rescaled_differences(D: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
    """The differences ∇, ∇², … of a polynomial at instants `factor` times as far apart, of which the last stays.

    Those of a polynomial of a lower degree than there are differences end with zeros (Shampine and Reichelt 1997,
    sec. 2.2: D R(factor) U, where U = R(1)).
    """
    count = range(1, len(D) + 1)
    R: list[list[Scalar]] = []  # the product of (i − 1 − factor l)/i over the rows, for each column l
    for i in count:
        row = [factor * (-l / i) + (i - 1) / i for l in count]
        R.append([x * above for x, above in zip(row, R[-1])] if R else row)
    new = []
    for j in count:
        total = None
        for i in range(j, len(D) + 1):  # the others are zero
            share = None
            for l in range(1, j + 1):
                term = R[i - 1][l - 1] * float((-1) ** l * comb(j, l))
                share = term if share is None else share + term
            term = D[i - 1] * share
            total = term if total is None else total + term
        new.append(total)
    return new
