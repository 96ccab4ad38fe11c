"""Motion laws, as rows of a table. A law holds its parameters; its `curves` are functions of time.

A curve maps t (a number or an array) to position, rate and acceleration. `from` defaults to the initial value; after
`over` seconds a law holds its end value.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, field_validator, model_validator
from pydantic_core import PydanticCustomError

from ..text.fields import Angle, Numbers, OneOf, Strict, field_of_several, quantity_field, quantity_list_field
from .csv_tables import Spline, read_law_table_columns
from .law import STEPS, Duration, Law, Pace, TableLaw, law_angular_frequency, law_has_one_parameter_of

Profile = tuple[np.ndarray, np.ndarray, np.ndarray]

# coefficients of s = Σ c_k x^k with as many vanishing derivatives at both ends as the degree allows
_POLYNOMIALS = {
    3: (0.0, 0.0, 3.0, -2.0),
    5: (0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
    7: (0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0),
}


def cycloid_profile(x: np.ndarray) -> Profile:
    """The cycloid of the overview paper, eq. 22, without acceleration at either end."""
    turn = 2 * np.pi * x
    return x - np.sin(turn) / (2 * np.pi), 1.0 - np.cos(turn), 2 * np.pi * np.sin(turn)


def polynomial_profile(x: np.ndarray, degree: int) -> Profile:
    """The polynomial of degree 3, 5 or 7; rate, acceleration and jerk vanish at the ends as far as it allows."""
    s = np.polynomial.Polynomial(_POLYNOMIALS[degree])
    return s(x), s.deriv(1)(x), s.deriv(2)(x)


def trapezoid_profile(x: np.ndarray, ramp: float) -> Profile:
    """A constant acceleration for the share `ramp` of the time, a constant rate, and a constant deceleration."""
    top = 1.0 / (1.0 - ramp)
    rising, falling = x < ramp, x > 1.0 - ramp
    left = 1.0 - x
    s = np.where(
        rising, top * x**2 / (2 * ramp), np.where(falling, 1.0 - top * left**2 / (2 * ramp), top * (x - ramp / 2))
    )
    rate = np.where(rising, top * x / ramp, np.where(falling, top * left / ramp, top))
    return s, rate, np.where(rising, top / ramp, np.where(falling, -top / ramp, 0.0))


SLOPES = {"angle": ("rate", "angular acceleration"), "length": ("speed", "acceleration")}  # by kinds of positions
MISFIT = 0.2  # share of the largest rate by which given rates may differ from those of a spline without a warning
Curve = Callable[[Any], tuple[Any, Any, Any]]
Number = Annotated[float, quantity_field("number")]
Values = Annotated[Numbers, quantity_list_field("position")]


class Turn(Strict):
    """A turn of a spherical joint by `angle` about `axis` (link axes) from its initial orientation."""

    axis: Annotated[tuple[Number, Number, Number], field_of_several(3)] = Field(description="in link axes")
    angle: Angle = Field(description="by which it turns")

    @field_validator("axis")
    @classmethod
    def _has_direction(cls, axis: Any) -> Any:
        if not 1e-9 < math.hypot(*axis) < math.inf:
            raise PydanticCustomError("axis", "the axis has no direction", {"allowed": "[0, 0, 1], say"})
        return axis


class MotionLaw(Law, ABC):
    """A motion law: a curve for each coordinate, and the instants at which the curves have kinks."""

    @abstractmethod
    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        """A curve for each coordinate of a joint that starts at `start`."""

    def kinks(self, t0: float, t1: float) -> list[float]:
        """The instants at which a curve isn't smooth."""
        return []

    def misfit(self, t0: float, t1: float) -> tuple[str, str, str] | None:
        """A parameter that doesn't fit into the time, as (key, message, allowed values), or None."""
        return None


class Profiled(MotionLaw):
    """A motion from one position to another by one of the profiles above."""

    from_: Values | None = Field(default=None, alias="from", description="default: the initial value")
    to: Annotated[
        Annotated[Turn, Tag("(turn)")] | Annotated[Values, Tag("(values)")],
        Discriminator(lambda value: "(turn)" if isinstance(value, dict | Turn) else "(values)"),
    ]
    over: Duration | None = Field(default=None, description="default: the whole time")
    delay: Annotated[float, quantity_field("time", at_least=0.0)] = Field(default=0.0, description="before it starts")

    @abstractmethod
    def profile(self, x: Any, over: float) -> Profile:
        """The profile at 0 ≤ x ≤ 1 for a motion that takes `over` seconds."""

    def share(self, t0: float, t1: float) -> Curve:
        """The profile from 0 to 1 as a function of time."""
        over = self.over or t1 - t0 - self.delay
        begin = t0 + self.delay

        def curve(t: Any) -> tuple[Any, Any, Any]:
            x = np.clip((t - begin) / over, 0.0, 1.0)
            s, rate, second = self.profile(x, over)
            inside = (t >= begin) & (t <= begin + over)
            return s, np.where(inside, rate / over, 0.0), np.where(inside, second / over / over, 0.0)

        return curve

    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        low = _spread(self.from_, start)
        high = _spread(self.to, low)
        share = self.share(t0, t1)

        def between(a: float, b: float) -> Curve:
            def curve(t: Any) -> tuple[Any, Any, Any]:
                s, rate, second = share(t)
                return a + (b - a) * s, (b - a) * rate, (b - a) * second

            return curve

        return [between(a, b) for a, b in zip(low, high)]

    def kinks(self, t0: float, t1: float) -> list[float]:
        over = self.over or t1 - t0 - self.delay
        return [t0 + self.delay, t0 + self.delay + over]

    def misfit(self, t0: float, t1: float) -> tuple[str, str, str] | None:
        if self.over is None and not self.delay < t1 - t0:
            return "delay", "after the delay no time is left for the motion", f"less than {t1 - t0:g} s, or an `over`"
        return None

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        begin, *_, end = self.kinks(t0, t1)
        return (begin, end, (end - begin) / STEPS) if end > begin else None


class Cycloid(Profiled):
    """The papers' cycloid: x - sin(2 pi x)/(2 pi)."""

    example = {"to": "90 deg", "over": "2 s"}
    law: Literal["cycloid"]

    def profile(self, x: Any, over: float) -> Profile:
        return cycloid_profile(x)


class Polynomial(Profiled):
    """A polynomial of degree 3, 5 or 7, at rest at both ends."""

    example = {"to": "90 deg", "degree": 7}
    law: Literal["polynomial"]
    degree: Literal[3, 5, 7] = Field(default=5, description="3: no rate at both ends, 5: no acceleration, 7: no jerk")

    def profile(self, x: Any, over: float) -> Profile:
        return polynomial_profile(x, self.degree)


class Trapezoid(Profiled):
    """Constant acceleration for `ramp` seconds, constant rate, constant deceleration."""

    example = {"to": "90 deg", "over": "2 s", "ramp": "0.5 s"}
    law: Literal["trapezoid"]
    ramp: Duration | None = Field(default=None, description="default: a quarter of `over`")

    def misfit(self, t0: float, t1: float) -> tuple[str, str, str] | None:
        over = self.over or t1 - t0 - self.delay
        if self.ramp and over > 0 and self.ramp > over / 2 * (1 + 1e-9):
            return "ramp", "two ramps take longer than the whole motion", f"at most {over / 2:g} s"
        return super().misfit(t0, t1)

    def _share_of_ramp(self, over: float) -> float:
        return min(0.5, (self.ramp or over / 4) / over)

    def profile(self, x: Any, over: float) -> Profile:
        return trapezoid_profile(x, self._share_of_ramp(over))

    def kinks(self, t0: float, t1: float) -> list[float]:
        begin, end = super().kinks(t0, t1)
        ramp = self._share_of_ramp(end - begin) * (end - begin)
        return [begin, begin + ramp, end - ramp, end]


class Harmonic(MotionLaw):
    """offset + amplitude sin(2 pi frequency t + phase)."""

    example = {"amplitude": "10 deg", "frequency": "2 Hz"}
    law: Literal["harmonic"]
    amplitude: Values = Field(description="to either side")
    frequency: Annotated[float, quantity_field("frequency", above=0.0)] | None = Field(
        default=None, description="or `period`"
    )
    period: Duration | None = Field(default=None, description="or `frequency`")
    phase: Angle = Field(default=0.0, description="at t = 0")
    offset: Values = Field(default=0.0, description="of the middle")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        law_has_one_parameter_of(self, "frequency", "period")
        return self

    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        turn = law_angular_frequency(self.frequency, self.period)

        def swung(amplitude: float, offset: float) -> Curve:
            def curve(t: Any) -> tuple[Any, Any, Any]:
                s, c = np.sin(turn * t + self.phase), np.cos(turn * t + self.phase)
                return offset + amplitude * s, amplitude * turn * c, -amplitude * turn * turn * s

            return curve

        return [swung(a, b) for a, b in zip(_spread(self.amplitude, start), _spread(self.offset, start))]

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        return t0, t1, 2 * np.pi / law_angular_frequency(self.frequency, self.period) / STEPS


class Rate(MotionLaw):
    """from + rate t."""

    example = {"rate": "30 rpm"}
    law: Literal["rate"]
    rate: Annotated[Numbers, quantity_list_field("velocity")] = Field(description="of the motion")
    from_: Values | None = Field(default=None, alias="from", description="default: the initial value")

    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        def moving(a: float, rate: float) -> Curve:
            return lambda t: (a + rate * (t - t0), rate + 0.0 * t, 0.0 * t)

        return [moving(a, r) for a, r in zip(_spread(self.from_, start), _spread(self.rate, start))]


class Hold(MotionLaw):
    """No motion: the joint stays at `from`."""

    example = {"from": "30 deg"}
    law: Literal["hold"]
    from_: Values | None = Field(default=None, alias="from", description="default: the initial value")

    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        def still(a: float) -> Curve:
            return lambda t: (a + 0.0 * t, 0.0 * t, 0.0 * t)

        return [still(a) for a in _spread(self.from_, start)]


class TableMotion(TableLaw, MotionLaw):
    """Positions from columns of a CSV file over its time, joined by a spline.

    With `rates` and `accelerations` the motion has these in each row, as the input of recursive inverse dynamics does;
    rates alone are joined by a spline of their own, whose slope the accelerations are. With `interpolation: pchip` the
    accelerations jump at the rows. Lines are no motion: their rates jump.
    """

    cure: ClassVar[str] = "`interpolation: pchip` stays within, with accelerations that jump at the rows"
    interpolation: Literal["spline", "pchip"] = Field(
        default="spline", description="between the rows; with `pchip` accelerations jump at the rows"
    )
    rates: list[str] | None = Field(
        default=None, min_length=1, description="columns of the rates, one for each coordinate; default: the spline's"
    )
    accelerations: list[str] | None = Field(
        default=None, min_length=1, description="columns of the accelerations, beside `rates`"
    )

    @model_validator(mode="after")
    def _rates_fit(self) -> Self:
        if self.accelerations and not self.rates:
            raise PydanticCustomError(
                "rates", "`accelerations` need `rates` beside them", {"allowed": "both, or `rates`"}
            )
        if self.rates and self.interpolation == "pchip":
            raise PydanticCustomError(
                "rates", "`pchip` has rates of its own", {"allowed": "`rates`, or `interpolation: pchip`"}
            )
        return self

    def columns_by_key(self) -> dict[str, list[str]]:
        slopes = {"rates": self.rates, "accelerations": self.accelerations}
        return super().columns_by_key() | {key: names for key, names in slopes.items() if names}

    def splines(self, folder: Path) -> list[Spline]:
        """A spline through each of the columns, with the slopes that the table gives."""
        if not self.rates:
            return super().splines(folder)
        t, values = read_law_table_columns(folder / self.file_, self.columns_read())
        parts = np.split(values, len(self.columns_by_key()), axis=1)
        return [Spline(t, y, slopes=slopes) for y, *slopes in zip(*(part.T for part in parts))]

    def refuse_units(self, folder: Path, kinds: Sequence[str]) -> None:
        slopes = [SLOPES.get(kind, ("frequency", "squared frequency")) for kind in kinds]
        wanted = [*kinds, *(rate for rate, _ in slopes), *(second for _, second in slopes)]
        super().refuse_units(folder, wanted[: len(self.columns_read())])

    def doubts(self, folder: Path) -> Iterator[str]:
        """Warnings about splines that leave the range of the rows around them, and about accelerations that jump."""
        yield from super().doubts(folder)
        if self.interpolation == "pchip":
            yield f"accelerations jump at the rows of `{self.file_}`, which are joined by `pchip`"
        if self.rates:
            t, values = read_law_table_columns(folder / self.file_, [*self.columns_read()[: 2 * len(self.rates)]])
            for k, name in enumerate(self.rates):
                own, given = Spline(t, values[:, k])(t)[1], values[:, len(self.rates) + k]
                share = float(abs(own - given).max() / max(abs(given).max(), 1e-300))
                if share > MISFIT:
                    yield (
                        f"the rates in `{name}` of `{self.file_}` are off those of the positions beside them by up to "
                        f"{100 * share:.3g} % of the largest: are they in other units, or is a row missing?"
                    )

    def curves(self, start: Sequence[float], t0: float, t1: float, folder: Path) -> list[Curve]:
        return list(self.splines(folder))


def _spread(value: Any, like: Sequence[float]) -> list[float]:
    """A number for each coordinate, from a list of them, one number for all, or by default `like`."""
    if value is None:
        return [float(x) for x in like]
    if isinstance(value, tuple):
        return [float(x) for x in value]
    return [float(value)] * len(like)


MOTION_LAWS: dict[str, type[MotionLaw]] = {
    "cycloid": Cycloid,
    "polynomial": Polynomial,
    "trapezoid": Trapezoid,
    "harmonic": Harmonic,
    "rate": Rate,
    "hold": Hold,
    "table": TableMotion,
}
AnyMotionLaw = Annotated[MotionLaw, OneOf(MOTION_LAWS, "law")]


def profiled_motion_laws() -> list[str]:
    """The names of the laws in the table that lead from one position to another."""
    return [name for name, law in MOTION_LAWS.items() if issubclass(law, Profiled)]
