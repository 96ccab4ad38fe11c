"""Conversion between callers' arrays, of one sample `(n,)` or many `(N, n)`, and the scalars of the recursion."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ...errors import InputError, NumericalError, allowed_names, given_in_words
from ...machine.program import Scalar, as_floats, scalars_into_columns
from ...robot import Robot
from ..tree.sweeps import Load, Wrenches
from ..tree.wrenches import Applied, constant_wrenches, wrenches_on_bodies

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Given = ParamSpec("Given")
Found = TypeVar("Found")
BLOCK = 16_000  # samples × bodies that the plain text holds at once: some 20 MB
LARGE = 1e60  # arguments beyond this overflow in any robot


def dynamics_call_with_checked_results(
    call: Callable[Concatenate[Robot, Given], Found],
) -> Callable[Concatenate[Robot, Given], Found]:
    """The call with a check of its results: an error says why they aren't finite."""

    @wraps(call)
    def guarded(robot: Robot, *given: Given.args, **named: Given.kwargs) -> Found:
        with np.errstate(all="ignore"):
            try:
                result = call(robot, *given, **named)
            except (ZeroDivisionError, OverflowError):
                raise singular_dynamics_error(robot) from None
            for x in result.values() if isinstance(result, dict) else (result,):
                if isinstance(x, np.ndarray) and not all_samples_finite(x):
                    raise dynamics_without_numbers_error(robot)
        return result

    as_called: Callable[..., Found] = guarded  # `robot` may be given by its name too
    return as_called


def resting_speeds(robot: Robot) -> np.ndarray:
    """Zeros, one for each speed, in an array that is made once and can't be changed."""
    return robot.made_once(resting_speeds, lambda: _constant(np.zeros(robot.nv)))


def _constant(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def all_samples_finite(x: np.ndarray) -> bool:
    """Whether all numbers are finite; the sum, which may overflow, is tested first, because that is quicker."""
    return math.isfinite(x.sum()) or bool(np.isfinite(x).all())


def singular_dynamics_error(robot: Robot) -> NumericalError:
    return NumericalError(
        f"{robot.name}: a joint has nothing to accelerate (a pivot of the generalized inertia matrix is 0); "
        "give the links beyond it a mass or the joint a rotor inertia"
    )


def dynamics_overflow_error(robot: Robot) -> NumericalError:
    return NumericalError(
        f"{robot.name}: the numbers are too large: what is sought is beyond the floating-point numbers; "
        "look for a unit that is wrong"
    )


def dynamics_without_numbers_error(robot: Robot) -> NumericalError:
    return NumericalError(
        f"{robot.name}: what is sought is no finite number; either a joint has nothing to accelerate (give the links "
        "beyond it a mass or the joint a rotor inertia), or the numbers given are too large"
    )


class Samples:
    """Checked arguments of one call, as lists of scalars, and the shape of its results."""

    def __init__(self, robot: Robot, *, allow_nan: Sequence[str] = (), **arrays: Any):
        if not isinstance(robot, Robot):
            raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
        self.robot, self._allow_nan = robot, tuple(allow_nan)
        sizes = {"q": robot.nq}
        shaped = {name: _checked(name, x, sizes.get(name, robot.nv)) for name, x in arrays.items()}
        counts = {x.shape[0] for x in shaped.values() if x.ndim == 2}
        if len(counts - {1}) > 1:
            numbers = ", ".join(f"{name} {x.shape[0]}" for name, x in shaped.items() if x.ndim == 2)
            raise InputError("the arguments have different numbers of samples", found=numbers)
        self.count: int | None = next(iter(counts - {1}), 1) if counts else None
        if "q" in shaped:
            shaped["q"] = _unit(robot, shaped["q"])
        self.arrays = shaped

    def finite(self) -> Samples:
        """These samples, or an error if a number isn't finite; compiled code checks that by itself."""
        for name, array in self.arrays.items():
            _finite(name, array, name in self._allow_nan)
        return self

    def begun_finite(self) -> Samples:
        """These samples, or an error if a number isn't finite and the first sample has such a number.

        That look takes neither time nor memory, however many samples there are.
        """
        first = [x[:1] if x.ndim == 2 else x for x in self.arrays.values()]
        return self if all(all_samples_finite(x) for x in first) else self.finite()

    def rows(self, name: str) -> np.ndarray:
        """The argument as a contiguous array with a row for each sample."""
        return contiguous_rows(self.arrays[name], 1 if self.count is None else self.count)

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.count is None else (self.count,)

    def scalars(self, name: str) -> list[Scalar]:
        """The argument as scalars, one for each column: floats for one sample, arrays for many."""
        x = self.arrays[name]
        return x.tolist() if x.ndim == 1 else [np.ascontiguousarray(x[:, k]) for k in range(x.shape[1])]

    def array(self, values: Sequence[Scalar]) -> np.ndarray:
        """The array of these scalars, with a row for each sample."""
        if self.count is None:
            return np.array(as_floats(values))
        out = np.empty((self.count, len(values)))
        scalars_into_columns(out, values)
        return out

    def loads(self, wrenches: Mapping[str, ArrayLike] | None) -> tuple[Wrenches, list[Load]]:
        """All external wrenches, of the robot's file and of the caller, on the bodies of `tree`."""
        return wrenches_on_bodies(self.robot.tree, _all(self.robot, wrenches, self.count))

    def acting(self, wrenches: Mapping[str, ArrayLike] | None) -> tuple[tuple[str, ...], np.ndarray]:
        """The links on which the caller's wrenches act, and six numbers for each link, with a row for each sample."""
        own = list(_all(self.robot, wrenches, self.count))[len(self.robot.wrenches) :]
        rows = np.empty((1 if self.count is None else self.count, 6 * len(own)))
        scalars_into_columns(rows, (x for _, six, _, _ in own for x in six))
        return tuple(link for link, *_ in own), rows


def contiguous_rows(x: np.ndarray, count: int) -> np.ndarray:
    """So many rows, or one that stands for all of them, as a contiguous array with a row for each sample."""
    rows = x if x.ndim == 2 and len(x) == count else np.broadcast_to(x, (count, x.shape[-1]))
    return np.ascontiguousarray(rows)


def doubles_of_argument(name: str, x: Any) -> np.ndarray:
    """The argument as an array of doubles, or an error."""
    try:
        array = np.asarray(x)
        if array.dtype != float:
            array = _converted(array)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):  # also its own errors
        raise InputError(
            f"`{name}` is not an array of numbers", found=type(x).__name__, allowed="finite numbers in SI units"
        ) from None
    if has_masked_numbers(x):
        raise InputError(f"`{name}` has masked numbers", found=type(x).__name__, allowed="numbers at all places")
    return array


def _checked(name: str, x: Any, size: int) -> np.ndarray:
    """The argument as an array of numbers, with `size` of them for each sample, or an error."""
    array = doubles_of_argument(name, x)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise InputError(
            f"`{name}` has the wrong shape",
            found=str(array.shape),
            allowed=f"({size},) for one sample, (N, {size}) for N",
        )
    return array


def _converted(array: np.ndarray) -> np.ndarray:
    """The numbers as doubles; strings and complex numbers are refused even where they look like numbers."""
    objects = array.flat if array.dtype.kind == "O" else ()
    if array.dtype.kind not in "fiubO" or any(isinstance(one, str | bytes) for one in objects):
        raise TypeError
    with np.errstate(over="ignore"):  # what is beyond doubles is infinite, which is refused later on
        return np.asarray(array, dtype=float)


def has_masked_numbers(x: object) -> bool:
    """Whether this is an array of NumPy's with masked numbers, behind whose mask anything may stand."""
    # NumPy imports it only where it is used; while another thread does so, there is the module without the class
    masked: Any = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    return isinstance(x, masked) and bool(np.any(x.mask))


def vector_of_dynamics_samples(name: str, x: Any, size: int) -> np.ndarray:
    """The argument as an array of `size` finite numbers, or an error."""
    array = _checked(name, x, size)
    _finite(name, array, False)
    if array.ndim != 1:
        raise InputError(f"`{name}` has the wrong shape", found=str(array.shape), allowed=f"({size},)")
    return array


def array_for_dynamics_results(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A caller's array for results of this shape, or an error."""
    if not isinstance(out, np.ndarray) or out.dtype != float or out.shape != shape or not out.flags.writeable:
        result = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise InputError("`out` can't take the results", found=result, allowed=f"a writeable array of floats {shape}")
    return out


def _finite(name: str, array: np.ndarray, allow_nan: bool) -> None:
    bad = np.isinf(array) if allow_nan else ~np.isfinite(array)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"`{name}` holds a number that is not finite", found=f"{array[at]} at {list(at)}", allowed="finite numbers"
        )


def _unit(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The coordinates q with Euler parameters of norm 1."""
    for joint in robot.moving:
        if joint.type.orientation is not None:
            first = joint.coordinates[joint.type.orientation]  # the four are one behind the other
            at = slice(first, first + 4)
            e = q[..., at]
            if (abs(np.einsum("...k,...k->...", e, e) - 1.0) <= 1e-15).all():
                continue
            with np.errstate(all="ignore"):
                norm = np.linalg.norm(q[..., at], axis=-1, keepdims=True)
            if not np.isfinite(norm).all():
                _finite("q", q, False)
                raise InputError(f"the Euler parameters of `{joint.name}` are huge", allowed="four numbers of norm 1")
            if (norm < 1e-6).any():
                raise InputError(f"the Euler parameters of `{joint.name}` are all 0", allowed="four numbers of norm 1")
            if (abs(norm - 1.0) > 1e-15).any():
                q = q.copy()
                q[..., at] = q[..., at] / norm
    return q


def wrenches_act_on_links(robot: Robot, names: Iterable[Hashable]) -> None:
    """Raise an error if one of these names isn't that of a link."""
    links = [link.name for link in robot.links]
    for name in names:
        if name not in links:
            message = "a wrench acts on a link that isn't there"
            raise InputError(message, found=given_in_words(name), **allowed_names(name, links))


def _all(robot: Robot, wrenches: Mapping[str, ArrayLike] | None, count: int | None) -> Iterator[Applied]:
    """The wrenches of the robot's file, then those of the caller after checks, as they are applied to links."""
    yield from constant_wrenches(robot)
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise InputError("`wrenches` is not a mapping", found=type(wrenches).__name__, allowed="{link: [n, f]}")
    wrenches_act_on_links(robot, wrenches or ())
    for name, given in (wrenches or {}).items():
        x = _checked(f"wrenches[{name}]", given, 6)
        if x.ndim == 2 and x.shape[0] != count:
            raise InputError(
                f"`wrenches[{name}]` has the wrong number of samples", found=str(x.shape[0]), allowed=str(count)
            )
        _finite(f"wrenches[{name}]", x, False)
        six = x.tolist() if x.ndim == 1 else [np.ascontiguousarray(x[:, k]) for k in range(6)]
        yield name, six, (0.0, 0.0, 0.0), "link"


def tree_angles_within_a_turn(q: np.ndarray, angles: tuple[int, ...]) -> np.ndarray:
    """The coordinates q with these angles reduced to one turn, within the reach of compiled sines."""
    q = q.copy()
    for k in angles:
        with np.errstate(invalid="ignore"):  # what is infinite is reported by whoever checks the samples
            q[..., k] = np.arctan2(np.sin(q[..., k]), np.cos(q[..., k]))
    return q
