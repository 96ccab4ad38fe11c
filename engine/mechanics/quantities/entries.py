"""The entries of sparse matrices that a text computes, and all numbers of these matrices with them."""

from __future__ import annotations

from collections.abc import Sequence

from ...machine.program import Part, Scalar, numbers_of_kernel_parts
from ..tree.spatial import Matrix

Place = tuple[str, int, int]  # of an entry: matrix, row, column


class Entries:
    """The entries of matrices in one state, in the order in which they are put; all others are 0."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.values: list[Scalar] = []

    def put(self, name: str, row: int, column: int, value: Scalar) -> None:
        self.places.append((name, row, column))
        self.values.append(value)

    def block(self, name: str, row: int, column: int, values: Matrix) -> None:
        """Puts a block whose first entry is at this place."""
        for r, line in enumerate(values):
            for c, x in enumerate(line):
                self.put(name, row + r, column + c, x)

    def numbers(self, parts: Sequence[Part]) -> list[Scalar]:
        """All numbers of these parts; parts of one dimension are rows, and of three, the first two count as one."""
        by_name = {part.name: part for part in parts}
        whole: list[Scalar] = [0.0] * numbers_of_kernel_parts(parts)
        for (name, row, column), x in zip(self.places, self.values):
            part = by_name[name]
            whole[part.first + row * (part.shape[-1] if part.shape else 1) + column] = x
        return whole
