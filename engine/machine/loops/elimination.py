"""Gaussian elimination with row pivoting on whole vectors, for real and for complex matrices, from one text.

A matrix, like a vector, is a list of its parts: the real one and, where it is complex, the imaginary one. A number is a
list of its parts, too. Each run has its own matrix and its own order of rows.
"""

from __future__ import annotations

from .words import Names, Number, Vector, inner_product, rolled, some, taken, where


def factor(A: Names, order: Vector, n: Number, here: Number) -> None:
    """The factors of n × n matrices in their place, where `here`, with the reciprocals of the pivots on the diagonal.

    `order` gets the row of the matrix that each row of the factors was.
    """
    for i in rolled(n):
        order[i] = where(here, 1.0 * i, order[i])
    for k in rolled(n):
        largest, at = size(A, k, k), 1.0 * k
        for i in rolled(k + 1, n):
            other = size(A, i, k)
            at = where(other > largest, 1.0 * i, at)
            largest = where(other > largest, other, largest)
        for i in rolled(k + 1, n):
            chosen = here & (at == i)
            if some(chosen):
                exchange_rows(A, order, k, i, chosen)
        pivot = reciprocal([+part[k, k] for part in A])
        for p in range(len(A)):
            A[p][k, k] = where(here, pivot[p], A[p][k, k])
        for i in rolled(k + 1, n):
            share = product([where(here, part[i, k], 0.0) for part in A], pivot)
            removed = product(share, [part[k, k + 1 :] for part in A])
            for p in range(len(A)):
                A[p][i, k] = where(here, share[p], A[p][i, k])
                A[p][i, k + 1 :] = A[p][i, k + 1 :] - removed[p]


def solve(A: Names, order: Vector, b: Names, x: Names, n: Number) -> None:
    """The solution x of a factored system with the right-hand side b, by forward and backward substitution."""
    for p in range(len(A)):
        x[p][:n] = taken(b[p], order[:n])
    for i in rolled(1, n):
        known = inner_product([part[i, :i] for part in A], [part[:i] for part in x])
        for p in range(len(A)):
            x[p][i] = x[p][i] - known[p]
    for j in rolled(n):
        i = n - 1 - j
        known = inner_product([part[i, i + 1 :] for part in A], [part[i + 1 : n] for part in x])
        rest = product([x[p][i] - known[p] for p in range(len(A))], [+part[i, i] for part in A])
        for p in range(len(A)):
            x[p][i] = rest[p]


def exchange_rows(A: Names, order: Vector, k: Number, i: Number, chosen: Number) -> None:
    """Exchanges two rows, where they are chosen."""
    for p in range(len(A)):
        row = where(chosen, A[p][k], A[p][i])
        A[p][k] = where(chosen, A[p][i], A[p][k])
        A[p][i] = row
    place = where(chosen, order[k], order[i])
    order[k] = where(chosen, order[i], order[k])
    order[i] = place


def size(A: Names, i: Number, k: Number) -> Number:
    """How large an entry is, as the choice of pivots has it."""
    found = abs(A[0][i, k])
    if len(A) > 1:
        found = found + abs(A[1][i, k])
    return found


def product(a: Names, b: Names) -> Names:
    """The product of two numbers, or of a number and a vector."""
    if len(a) == 1:
        found = [a[0] * b[0]]
    else:
        found = [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
    return found


def reciprocal(a: Names) -> Names:
    """The reciprocal of a number; what is divided by 0 isn't finite."""
    if len(a) == 1:
        found = [1.0 / a[0]]
    else:
        square = a[0] * a[0] + a[1] * a[1]
        found = [a[0] / square, -1.0 * a[1] / square]
    return found
