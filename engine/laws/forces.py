"""Force laws, as rows of a table.

`constant`, `harmonic`, `table` and `zero` are functions of time; `spring` and `pd` depend on the joint's state as well;
`expression`, `lookup` and `state-feedback` are formulas over time and the state of all joints;
`computed-torque` commands an acceleration and `feedforward` needs inverse dynamics, so those two are evaluated by the
simulation, which knows the robot.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from ..text.expressions import Formula, Lookup, Named, Number, Operation, lookups_in_formula, parsed_formula
from ..text.fields import (
    Angle,
    Numbers,
    OneOf,
    Position,
    formula_field,
    formula_list_field,
    quantity_field,
    quantity_list_field,
)
from .csv_tables import Spline
from .law import STEPS, Duration, Law, Pace, TableLaw, law_angular_frequency, law_has_one_parameter_of
from .lookup import law_table_doubt

# (t, position, rate, reference) → force of one coordinate; the reference is (position, rate) or None
Force = Callable[[float, float, float, tuple[float, float] | None], float]


class ForceLaw(Law):
    """A force law, with its properties that a simulation needs to know."""

    def forces(self, count: int, folder: Path) -> list[Force]:
        """A function for each of a joint's `count` speeds; an empty list if the simulation evaluates the law itself."""
        return []

    def follows_motion(self) -> bool:
        """Whether the joint's entry under `motion` is this law's reference."""
        return False

    def reads_state(self) -> bool:
        """Whether the law needs a coordinate for each speed, which Euler parameters aren't."""
        return False

    def reads_all(self) -> bool:
        """Whether the law's `formulas` may read the state of all joints."""
        return False

    def formulas(self, count: int) -> list[tuple[str, Formula]]:
        """For each of a joint's `count` speeds, the key under which its formula stands, and the formula.

        A list with one entry holds for all of them; an empty one says that the law isn't of this kind.  The names `q`
        and `qd` are those of the speed's own coordinate and of the speed.
        """
        return []

    def gains(self) -> tuple[str, ...]:
        """Parameters that are numbers of the force in each state, for which any scalars may stand."""
        return ()

    def course(self) -> Callable[[float], float] | None:
        """What of a law of time depends on time alone, if all else are its `gains`."""
        return None

    def on_course(self, x: Any) -> Any:
        """The force of such a law where its course is x, which may be any scalar, as may its gains."""
        return x

    def steady(self) -> bool:
        """Whether the force is constant in time."""
        return False

    def delay(self) -> float:
        """How long ago the state was that the law sees."""
        return 0.0

    def of_time(self) -> bool:
        """Whether the force is a function of time alone."""
        return not self.reads_state() and not self.follows_motion() and not self.reads_all()


class Zero(ForceLaw):
    """No force."""

    law: Literal["zero"]

    def forces(self, count: int, folder: Path) -> list[Force]:
        return [lambda t, q, qd, ref: 0.0] * count

    def steady(self) -> bool:
        return True


class Constant(ForceLaw):
    """A constant force."""

    example = {"value": "5 N m"}
    law: Literal["constant"]
    value: Annotated[Numbers, quantity_list_field("effort")] = Field(description="the force")

    def forces(self, count: int, folder: Path) -> list[Force]:
        def constant(x: float) -> Force:
            return lambda t, q, qd, ref: x

        return [constant(x) for x in law_numbers_per_coordinate(self.value, count)]

    def steady(self) -> bool:
        return True


class HarmonicForce(ForceLaw):
    """offset + amplitude sin(2 pi frequency t + phase)."""

    example = {"amplitude": "5 N m", "frequency": "2 Hz"}
    law: Literal["harmonic"]
    amplitude: Annotated[Numbers, quantity_list_field("effort")] = Field(description="to either side")
    frequency: Annotated[float, quantity_field("frequency", above=0.0)] | None = Field(
        default=None, description="or `period`"
    )
    period: Duration | None = Field(default=None, description="or `frequency`")
    phase: Angle = Field(default=0.0, description="at t = 0")
    offset: Annotated[Numbers, quantity_list_field("effort")] = Field(default=0.0, description="of the middle")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        law_has_one_parameter_of(self, "frequency", "period")
        return self

    def gains(self) -> tuple[str, ...]:
        alike = isinstance(self.amplitude, float) and isinstance(self.offset, float)
        return ("amplitude", "offset") if alike else ()

    def course(self) -> Callable[[float], float]:
        turn = law_angular_frequency(self.frequency, self.period)
        return lambda t: float(np.sin(turn * t + self.phase))

    def on_course(self, x: Any) -> Any:
        return self.offset + self.amplitude * x

    def forces(self, count: int, folder: Path) -> list[Force]:
        swing = self.course()

        def swung(amplitude: float, offset: float) -> Force:
            return lambda t, q, qd, ref: offset + amplitude * swing(t)

        return [
            swung(a, b)
            for a, b in zip(
                law_numbers_per_coordinate(self.amplitude, count), law_numbers_per_coordinate(self.offset, count)
            )
        ]

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        return t0, t1, 2 * np.pi / law_angular_frequency(self.frequency, self.period) / STEPS


class TableForce(TableLaw, ForceLaw):
    """Columns of a CSV file over its time, joined by a spline; before and after it the end values."""

    def forces(self, count: int, folder: Path) -> list[Force]:
        def along(spline: Spline) -> Force:
            return lambda t, q, qd, ref: float(spline(t)[0])

        return [along(spline) for spline in self.splines(folder)]


class SpringForce(ForceLaw):
    """-stiffness (q - rest) - damping q̇."""

    example = {"stiffness": "20 N m/rad", "rest": "30 deg", "damping": "0.1 N m s/rad"}
    law: Literal["spring"]
    stiffness: Annotated[float, quantity_field("stiffness", at_least=0.0)] = Field(description="force over way")
    rest: Position = Field(default=0.0, description="where its force is 0")
    damping: Annotated[float, quantity_field("damping", at_least=0.0)] = Field(
        default=0.0, description="force over rate"
    )

    def gains(self) -> tuple[str, ...]:
        return "stiffness", "rest", "damping"

    def forces(self, count: int, folder: Path) -> list[Force]:
        return [lambda t, q, qd, ref: -self.stiffness * (q - self.rest) - self.damping * qd] * count

    def reads_state(self) -> bool:
        return True


class LateLaw(ForceLaw):
    """A law that may see the state of some time ago."""

    dead_time: Annotated[float, quantity_field("time", at_least=0.0)] = Field(
        default=0.0, description="how long ago the state was that the law sees"
    )

    def delay(self) -> float:
        return float(self.dead_time)

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        return (t0, t1, self.delay()) if self.delay() else None  # no step reaches beyond what is known


class ProportionalDerivative(LateLaw):
    """kp (reference - q) + kd (its rate - q̇); the reference is `to`, else the joint's entry under `motion`."""

    example = {"kp": "100 N m/rad", "kd": "10 N m s/rad"}
    law: Literal["pd"]
    kp: Annotated[float, quantity_field("stiffness", at_least=0.0)] = Field(description="force over error")
    kd: Annotated[float, quantity_field("damping", at_least=0.0)] = Field(
        default=0.0, description="force over the error's rate"
    )
    to: Annotated[Numbers, quantity_list_field("position")] | None = Field(
        default=None, description="the set point; default: along the joint's `motion`"
    )

    def gains(self) -> tuple[str, ...]:
        return ("kp", "kd", "to") if isinstance(self.to, float) else ("kp", "kd")

    def forces(self, count: int, folder: Path) -> list[Force]:
        def pulled(to: float | None) -> Force:
            def force(t: float, q: float, qd: float, ref: tuple[float, float] | None) -> float:
                place, rate = (to, 0.0) if to is not None else ref or (0.0, 0.0)
                return self.kp * (place - q) + self.kd * (rate - qd)

            return force

        return [
            pulled(to) for to in (law_numbers_per_coordinate(self.to, count) if self.to is not None else [None] * count)
        ]

    def follows_motion(self) -> bool:
        return self.to is None

    def reads_state(self) -> bool:
        return True


class ComputedTorque(ForceLaw):
    """The force that makes the error e of the joint obey ë + kd ė + kp e = 0 along its entry under `motion`."""

    example = {"kp": 100, "kd": 20}
    law: Literal["computed-torque"]
    kp: Annotated[float, quantity_field("squared frequency", at_least=0.0)] = Field(description="of the error")
    kd: Annotated[float, quantity_field("frequency", at_least=0.0)] = Field(default=0.0, description="of its rate")

    def gains(self) -> tuple[str, ...]:
        return "kp", "kd"

    def follows_motion(self) -> bool:
        return True

    def reads_state(self) -> bool:
        return True


class Feedforward(ForceLaw):
    """The inverse dynamics of `motion`, evaluated at the integrator's own instants."""

    law: Literal["feedforward"]

    def follows_motion(self) -> bool:
        return True


class StateLaw(LateLaw):
    """A law that is a formula over time and the state of all joints."""

    def reads_all(self) -> bool:
        return True

    def files(self) -> list[str]:
        return list(dict.fromkeys(one.file for one in self.lookups()))

    def doubts(self, folder: Path) -> Iterator[str]:
        """Warnings about splines that leave the range of the rows around them."""
        yield from (doubt for one in self.lookups() if (doubt := law_table_doubt(one, folder)))

    def lookups(self) -> list[Lookup]:
        """The tables in the law's formulas."""
        return [one for _, formula in self.formulas(1) for one in lookups_in_formula(formula)]


class Expression(StateLaw):
    """A formula over time `t` and the coordinates and speeds of all joints, such as `A0.q`, `A0.qd`, `{III-2^0.q}`."""

    example = {"force": "-3 N m s/rad * qd"}
    law: Literal["expression"]
    force: Annotated[str | tuple[str, ...], formula_list_field()] = Field(
        description="the formula, or a list with one for each speed of the joint"
    )

    def formulas(self, count: int) -> list[tuple[str, Formula]]:
        texts = [self.force] if isinstance(self.force, str) else self.force
        return [("force", parsed_formula(text)) for text in texts]


class LookupForce(StateLaw):
    """A column of a CSV file over any quantity, such as the pressure in a cylinder over the angle of its crank."""

    example = {"file": "spring.csv", "over": "q", "column": "force"}
    law: Literal["lookup"]
    file_: str = Field(
        alias="file",
        description="a CSV file beside the scenario, in SI or its header's units; its first column is looked up in",
    )
    over: Annotated[str, formula_field()] = Field(default="q", description="the formula of what is looked up")
    column: str = Field(default="", description="of the forces; default: the second one")
    interpolation: Literal["spline", "pchip", "linear"] = Field(
        default="spline", description="between the rows; `spline` may leave the range of the rows around"
    )
    periodic: StrictBool = Field(default=False, description="the table repeats itself; else its end values hold")

    def formulas(self, count: int) -> list[tuple[str, Formula]]:
        return [("over", Lookup(self.file_, parsed_formula(self.over), self.column, self.interpolation, self.periodic))]


class StateFeedback(StateLaw):
    """force + Σ K (reference - value) over coordinates and speeds of any joints; `denoc linearize --lqr` finds K."""

    example = {"K": {"q": 30, "qd": 4}, "reference": {"q": 0.5}}
    law: Literal["state-feedback"]
    K: dict[str, Annotated[float, quantity_field("number")]] = Field(
        min_length=1, description="gains in SI by the names of columns, such as `pole.q`, `pole.qd`"
    )
    reference: dict[str, Annotated[float, quantity_field("initial")]] = Field(
        default={}, description="values at which these columns ask for no force; default: 0"
    )
    force: Annotated[float, quantity_field("effort")] = Field(default=0.0, description="at the reference state")

    @model_validator(mode="after")
    def _known_references(self) -> Self:
        for name in self.reference:
            if name not in self.K:
                context = {"name": name, "allowed": ", ".join(self.K)}
                raise PydanticCustomError("reference", "`{name}` has a reference but no gain under `K`", context)
        return self

    def formulas(self, count: int) -> list[tuple[str, Formula]]:
        total: Formula = Number(float(self.force))
        for name, gain in self.K.items():
            error = Operation("-", (Number(float(self.reference.get(name, 0.0))), Named(name)))
            total = Operation("+", (total, Operation("*", (Number(float(gain)), error))))
        return [("K", total)]


def law_numbers_per_coordinate(value: Any, count: int) -> list[float]:
    """A list with one number for each coordinate, for which any scalar may stand."""
    return [*value] if isinstance(value, tuple) else [value] * count


FORCE_LAWS: dict[str, type[ForceLaw]] = {
    "zero": Zero,
    "constant": Constant,
    "harmonic": HarmonicForce,
    "table": TableForce,
    "spring": SpringForce,
    "pd": ProportionalDerivative,
    "computed-torque": ComputedTorque,
    "feedforward": Feedforward,
    "expression": Expression,
    "lookup": LookupForce,
    "state-feedback": StateFeedback,
}
AnyForceLaw = Annotated[ForceLaw, OneOf(FORCE_LAWS, "law")]


def laws_of_time() -> list[str]:
    """The names of the laws in the table that are functions of time alone."""
    return [name for name, law in FORCE_LAWS.items() if law.exemplary().of_time()]


def laws_of_state() -> list[str]:
    """The names of the laws in the table that are formulas over time and the state of all joints."""
    return [name for name, law in FORCE_LAWS.items() if issubclass(law, StateLaw)]
