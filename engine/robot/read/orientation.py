"""Orientations in robot files: by roll, pitch and yaw, by Euler parameters, or by the rows of a rotation matrix."""

import math
from typing import Annotated

import numpy as np
from pydantic import Field

from ...text import Keys
from ...text.fields import Angles, Strict, field_of_several, quantity_field
from ..model import Three
from ..placement import Placement, placement_from_rpy, zxz_turns
from .values import EULER_PARAMETERS, NO_EULER_PARAMETERS, Complain

Number = Annotated[float, quantity_field("number")]
Row = Annotated[tuple[Number, Number, Number], field_of_several(3)]
WAYS = ("rpy", "quat", "matrix")
ORTHOGONAL = 1e-4  # entries of R Rᵀ - 1: rows that were rounded to five digits pass


class Oriented(Strict):
    """The keys that turn a frame; at most one of them is given."""

    rpy: Angles = Field(default=(0.0, 0.0, 0.0), description="its orientation: roll, pitch, yaw")
    quat: Annotated[tuple[Number, Number, Number, Number], field_of_several(4)] | None = Field(
        default=None, description="its orientation by Euler parameters, scalar first, instead of `rpy`"
    )
    matrix: Annotated[tuple[Row, Row, Row], field_of_several(3, "rows")] | None = Field(
        default=None, description="its orientation by the rows of a rotation matrix, instead of `rpy`"
    )

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys that a file may use, those of the orientation last."""
        known = super().keys()
        return (*(key for key in known if key not in WAYS), *WAYS)


def oriented_placement(at: Three, entry: Oriented, key: Keys, complain: Complain, *others: str) -> Placement:
    """The placement at this origin with the orientation of the entry; two orientations are refused.

    `others` are further keys that give one.
    """
    if len(ways := [name for name in (*others, *WAYS) if name in entry.model_fields_set]) > 1:
        message = f"the orientation is given twice: by `{ways[0]}` and by `{ways[1]}`"
        raise complain(*key, ways[1], message, key=True, allowed="one of the two")
    if entry.quat is not None:
        return Placement(_of_quaternion(entry.quat, (*key, "quat"), complain), at)
    if entry.matrix is not None:
        return Placement(zxz_turns(_of_rows(entry.matrix, (*key, "matrix"), complain)), at)
    return placement_from_rpy(at, entry.rpy)


def _of_quaternion(quat: tuple[float, ...], key: Keys, complain: Complain) -> tuple[tuple[int, float], ...]:
    """The turns of Euler parameters, which needn't have the norm 1."""
    norm = math.hypot(*quat)
    if norm < 1e-6 or not math.isfinite(norm):
        raise complain(*key, NO_EULER_PARAMETERS, allowed=EULER_PARAMETERS)
    scalar, *vector = (float(e) / norm for e in quat)
    axes = [axis for axis in range(3) if vector[axis]]
    if len(axes) <= 1:
        return tuple((axis, 2 * math.atan2(vector[axis], scalar)) for axis in axes)
    return zxz_turns(rotation_of((scalar, *vector)))


def rotation_of(quat: tuple[float, ...]) -> np.ndarray:
    """The rotation matrix of Euler parameters with the norm 1, scalar first."""
    e0, e = quat[0], np.array(quat[1:])
    cross = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    R: np.ndarray = (e0 * e0 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * cross
    return R


def _of_rows(rows: tuple[Row, Row, Row], key: Keys, complain: Complain) -> np.ndarray:
    """The rotation matrix nearest to the rows, which have to be nearly one."""
    R = np.array(rows, dtype=float)
    off = float(abs(R @ R.T - np.eye(3)).max()) if (abs(R) < 2).all() else math.inf
    if off > ORTHOGONAL or np.linalg.det(R) < 0:
        raise complain(
            *key,
            "these rows are no rotation matrix",
            found="a reflection" if off <= ORTHOGONAL else "rows that aren't unit vectors at right angles",
            allowed="three rows, in the outer frame's axes; its columns are the axes of the turned frame",
        )
    U, _, V = np.linalg.svd(R)
    nearest: np.ndarray = U @ V
    return nearest
