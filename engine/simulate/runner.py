"""A system during a run: its equations evaluated at instants, with the discrete state that holds there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ..errors import InputError
from ..machine.jit import EMPTY, SignalPieces, fitted_signal_pieces
from ..machine.program import Scalar, as_float, as_floats
from ..machine.stepping import ImplicitMethod, LoopMethod, March, PastOfLane
from ..mechanics.closure import METHODS, joints_of_vanishing_freedoms
from ..mechanics.tree import joints_of_vanishing_inertia
from ..robot import Joint
from . import coordinates, equations, row_parts, singular
from .compiled import Compiled
from .equations import Evaluation
from .integrators.events import Event, Watched
from .integrators.stepper import Fun, Stepper
from .recorded import place_of_watched_quantity, width_of_watched_quantities
from .systems.discrete import Discrete
from .systems.signals import Planned, late_signal_columns, prescribed_motion_at, signal_rows, signals_at
from .systems.system import System

# another way to evaluate the equations from signals and state, at t or, if that is None, at many instants
Solve = Callable[["Runner", Sequence[Scalar], Sequence[Scalar], float | None], Evaluation]

SIZED = 65  # instants at which the sizes of signals are looked at


class Runner:
    """One run of a system, with its present discrete state, its compiled programs and its count of evaluations."""

    def __init__(
        self,
        system: System,
        q: Sequence[float],
        *,
        solve: Solve | None = None,
        planned: Planned | None = None,
        pause: float = 0.0,
    ):
        """Begins a run at coordinates q.

        `planned` is a function for the joint forces of feedforward, `solve` takes the place of the system's own
        equations; `pause` is the time for which the guard's last value is used again.
        """
        self.system, self.robot = system, system.robot
        self.discrete = coordinates.discrete_state_at_start(system, np.array(q, dtype=float))
        self.evaluations = 0
        self.planned: Planned = planned or (lambda t: [0.0] * system.robot.nv)
        self._solve, self._pause = solve, pause
        self._compiled = Compiled(system)
        if solve is None:
            self.discrete = self._compiled.in_one_program(self.discrete)
        self.alone = True  # whether its evaluations stand alone, because no compiled loop can carry the run
        self._width: int | None = None  # of the signals
        self._constant = system.inputs.timeless and system.inputs.memory is None  # the signals, in each mode
        self._last: tuple[Discrete | None, list[float]] = None, []  # constant signals and what they are those of
        self._pieces: dict[float, SignalPieces | None] = {}  # the signals of legs, by the legs' ends
        self.end: float | None = None  # of the run, where that is known
        self._largest: np.ndarray | None = None  # sizes of the signals up to there
        # the last instant before the kink that ends the present leg; and the same if a prescribed rate jumps there
        self.until = self.shown = math.inf

    @property
    def marches(self) -> bool:
        """Whether a compiled time loop can carry the run in its present discrete state."""
        system = self.system
        inputs = system.inputs
        apart = system.follows and not (system.planning or system.led)
        # a plan with actuators that see an earlier state isn't known ahead
        unknown = inputs.feedforward and system.pushing and inputs.memory is not None
        by_steps = self._solve is not None or self._pause or self.discrete.passing or inputs.stepwise
        return not (by_steps or apart or unknown)

    # ---- the state

    @property
    def unknown(self) -> bool:
        """Whether there is anything to integrate."""
        part = self.discrete.partition
        if part is None:
            return bool(self.system.free)
        return bool(part.N or self.system.commanded or self.robot.rolls)

    def start(self, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
        """The state at the run's start."""
        return coordinates.state_at_start(self.system, self.discrete, q, qd)

    def complete(self, t: float, y: np.ndarray) -> tuple[list[float], list[float]]:
        """All coordinates and speeds of the robot at t."""
        q, qd, _ = self.system.expanded(prescribed_motion_at(self.system, t), y.tolist())
        return as_floats(q), as_floats(qd)

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state at a step's end, or in a row, with its loops closed and Euler parameters of norm 1."""
        return coordinates.settled_state(self.system, self.discrete, self.within(t), y)

    def settled_rows(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The settled states of many rows."""
        return coordinates.settled_states(self.system, self.discrete, np.minimum(times, self.until), states)

    def motion(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All coordinates, speeds and accelerations of the robot at t, where the state has the speeds of joints."""
        q, qd, _ = self.system.expanded(prescribed_motion_at(self.system, t), y.tolist())
        return np.array(q, dtype=float), np.array(qd, dtype=float), self._from_rate(t, y, self.derivative(t, y))

    def _from_rate(self, t: float, y: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """All accelerations, from the rate of the state."""
        system, qdd = self.system, np.zeros(self.robot.nv)
        qdd[system.state_speeds] = rate[len(system.state_coordinates) : system.measured]
        for k, x in system.expanded(prescribed_motion_at(system, t), y.tolist())[2].items():
            qdd[k] = as_float(x)
        return qdd

    def held_still(self, states: np.ndarray) -> np.ndarray:
        """These states with the speed 0 for all joints that are held."""
        return coordinates.states_with_joints_held(self.system, self.discrete, states)

    def without_inertia(self, t: float, y: np.ndarray, discrete: Discrete | None = None) -> list[Joint]:
        """Joints that have nothing to accelerate in this state, or next to nothing."""
        discrete = discrete or self.discrete
        system, part = self.system, discrete.partition
        q, _ = self.complete(t, y)
        if not np.isfinite(q).all() or discrete.passing:
            return []
        if system.loops.m:
            return [] if part is None else joints_of_vanishing_freedoms(system.loops, part, q)
        given = {*system.ruled, *discrete.held}
        return joints_of_vanishing_inertia(self.robot, q, [k in given for k in range(self.robot.nv)])

    @property
    def guard(self) -> Event | None:
        """An event function with a zero where the independent coordinates become unusable; None if they can't."""
        guard = coordinates.guard_of_coordinates(self.system, self.discrete)
        if guard is None:
            return guard
        last = [(-np.inf, np.empty(0), 1.0)]

        def remembered(t: float, y: np.ndarray) -> float:
            """A step begins where the last one ended, and the guard may pause."""
            before, there, _ = last[0]
            if not (before <= t < before + self._pause or (t == before and np.array_equal(y, there))):
                last[0] = t, y, guard(t, y)
            return last[0][2]

        return remembered

    def guarded(self, t: float, y: np.ndarray, how: str) -> tuple[np.ndarray, singular.Singular | None, str]:
        """The state to go on with where the guard is zero, the singular position ahead if any, and what was done."""
        ahead = None
        if not (self.discrete.passing or self.system.method.switches or self.system.switches):
            ahead = singular.singular_position_ahead(self.system, self.discrete, t, *self.motion(t, y))
        self.discrete, y, done = coordinates.state_after_guard(self.system, self.discrete, t, y, how, ahead)
        return y, None if ahead is not None and ahead.turned else ahead, done

    # ---- signals

    def sample(self, t: float, y: np.ndarray) -> None:
        """Lets those inputs read the state that do so at the beginning of each step."""
        if self.system.inputs.sampled:
            q, qd = self.complete(t, y)
            for one in self.system.inputs.sampled:
                one.sample(t, q, qd)

    def begin(self, t: float, y: np.ndarray) -> None:
        """Notes where the run begins, for laws with dead time."""
        if (memory := self.system.inputs.memory) is not None:
            if self.system.method.recomputes_null_space:
                raise InputError(
                    f"the state of `{self.system.closure}` has no joint speeds, so laws with dead time can't look back",
                    allowed=", ".join(name for name, row in METHODS.items() if not row.recomputes_null_space),
                )
            memory.begin(t, y, self.system.remembered)

    def remember(self, stepper: Stepper) -> None:
        """Notes the last step for laws with dead time."""
        if (memory := self.system.inputs.memory) is not None:
            memory.add(stepper.t_old, stepper.course())

    def past(self, scheme: LoopMethod, t: float) -> PastOfLane | None:
        """What laws with dead time may still see from t on, for the compiled loop; None where no law looks back."""
        if (memory := self.system.inputs.memory) is None:
            return None
        past = PastOfLane(memory.dead_times, late_signal_columns(self.system), self.system.remembered)
        past.begin(memory.known(t, len(scheme.P[0]) + 1))
        return past

    def recall(self, past: PastOfLane) -> None:
        """Notes the steps that the compiled loop has taken."""
        new, memory = past.added(), self.system.inputs.memory
        if memory is not None and len(new.begins):
            memory.add(float(new.begins[0]), new)

    def breaks_behind(self, t: float) -> list[float]:
        """Instants at which an event at t comes back by laws with dead time."""
        memory = self.system.inputs.memory
        return [] if memory is None else memory.breaks_behind(t)

    def within(self, t: float) -> float:
        """The instant at which laws are read for equations at t: a leg ends on the near side of a kink."""
        return min(t, self.until)

    def signals(self, t: float, discrete: Discrete | None = None, *, recalls: bool = True) -> list[float]:
        """All signals at t, in the present discrete state or another one; `recalls` as for `signals_at`."""
        discrete = discrete or self.discrete
        if not self._constant:
            return signals_at(self.system, t, discrete, self.planned, recalls=recalls)
        if self._last[0] is not discrete:
            self._last = discrete, signals_at(self.system, t, discrete, self.planned)
        return [*self._last[1]]

    def signal_rows(self, times: np.ndarray) -> np.ndarray:
        """All signals at many instants in the present discrete state."""
        return signal_rows(self.system, times, self.discrete, self.planned)

    # ---- evaluations

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        """The rate of the state, for the integrator."""
        self.evaluations += 1
        values, discrete = self.signals(self.within(t)), self.discrete
        if discrete.passing:
            return np.array(
                equations.state_rates(
                    self.system, singular.evaluate_near_singularity(self.system, discrete, values, y)
                ),
                float,
            )
        if self._solve is not None:
            return np.array(equations.state_rates(self.system, self._solve(self, values, y.tolist(), t)), dtype=float)
        rate = self._compiled.rate(discrete, values, y, alone=self.alone)
        if rate is not None:
            return rate
        return np.array(equations.state_rates(self.system, self._plain(values, y, discrete)), dtype=float)

    def quick_derivative(self, otherwise: Fun) -> Fun:
        """The rate of the state as a function that is quicker and doesn't count, `otherwise` where there is none.

        It holds as long as the discrete state does.
        """
        if not self._constant or self._solve is not None or self.discrete.passing:
            return otherwise
        return self._compiled.quick_rate(self.discrete, self.signals(0.0), otherwise)

    @property
    def unattended(self) -> bool:
        """Whether nothing reads or changes the state at the ends of steps, besides watches."""
        system = self.system
        return not (system.inputs.sampled or system.inputs.memory or system.loops.m or system.units)

    @property
    def slopes(self) -> Callable[[float, np.ndarray], np.ndarray] | None:
        """The derivatives of the state's rate along its components, as a function; None where the text hasn't any."""
        if self._solve is not None or self.discrete.passing or not self._compiled.differentiable:
            return None

        def slopes(t: float, y: np.ndarray) -> np.ndarray:
            try:
                return self._compiled.slopes(self.discrete, self.signals(self.within(t)), y)
            except (ZeroDivisionError, OverflowError):
                return np.full((len(y), len(y)), np.nan)

        return slopes

    def slope_rows(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The derivatives of the state's rate along its components at many instants in the present discrete state."""
        return self._compiled.slope_rows(self.discrete, self.signal_rows(times), states)

    def evaluate(self, t: float, y: np.ndarray, discrete: Discrete | None = None) -> Evaluation:
        """The evaluation of the equations at one instant, in the present discrete state or another one."""
        self.evaluations += 1
        discrete = discrete or self.discrete
        values = self.signals(self.within(t), discrete)
        single = self._compiled.single(discrete, len(values))
        result = single.groups(values, y[: self.system.measured]) if single is not None else None
        if result is not None:
            return row_parts.evaluation_from_code(self.system, discrete, *result[:2])
        return self._plain(values, y, discrete)

    def supports(self, t: float, y: np.ndarray, discrete: Discrete) -> dict[int, float]:
        """The supports of the speeds that are held, or may be, by the time loop's code if it runs."""
        values = self.signals(self.within(t), discrete)
        found = self._compiled.supports(discrete, values, y) if self._solve is None else None
        if found is None:
            return {k: as_float(x) for k, x in self.evaluate(t, y, discrete).support.items()}
        self.evaluations += 1
        return found

    def accelerations(self, t: float, y: np.ndarray, discrete: Discrete) -> np.ndarray:
        """All accelerations, by the time loop's code if it runs."""
        values, tree = self.signals(self.within(t), discrete), self._solve is None and discrete.partition is None
        rate = self._compiled.rate(discrete, values, y, alone=False) if tree else None
        if rate is None:
            return np.array(as_floats(self.evaluate(t, y, discrete).qdd))
        self.evaluations += 1
        return self._from_rate(t, y, rate)

    def many(self, values: np.ndarray, states: np.ndarray, discrete: Discrete) -> dict[str, np.ndarray]:
        """The quantities that `ROW` names, with a row for each of many instants in the same discrete state."""
        if discrete.passing:
            near = partial(singular.evaluate_near_singularity, self.system, discrete)
            return row_parts.rows_of_each_evaluation(near, values, states)
        if self.system.method.recomputes_null_space:
            return row_parts.rows_of_each_evaluation(lambda row, y: self._plain(row, y, discrete), values, states)
        rows = self._compiled_rows(values, states, discrete) or self._plain_rows(values, states, discrete)
        row_parts.share_supports_in_rows(self.system, discrete, rows)
        return rows

    def _compiled_rows(self, values: np.ndarray, states: np.ndarray, discrete: Discrete) -> dict[str, np.ndarray]:
        """The quantities of `many` by compiled code; none where the plain text is to run."""
        row = self._compiled.rows(discrete, values, states) if self._solve is None else None
        return {} if row is None else row_parts.rows_from_code(self.system, row)

    def _plain_rows(self, values: np.ndarray, states: np.ndarray, discrete: Discrete) -> dict[str, np.ndarray]:
        """The quantities of `many` by the plain text, with a column of numbers for each scalar."""
        columns = [np.ascontiguousarray(x) for x in values.T], [np.ascontiguousarray(x) for x in states.T]
        with np.errstate(all="ignore"):
            try:
                now = self._solved(*columns, discrete)
            except (ZeroDivisionError, OverflowError):
                now = equations.evaluation_of_lost_state(self.system, *columns, discrete)
        return row_parts.rows_of_evaluation(now, len(states))

    def march(self, scheme: LoopMethod, t: float, ahead: float) -> March | None:
        """The compiled time loop of the present discrete state with this integrator, or None where it doesn't pay.

        `ahead` is the number of evaluations that the run still needs in this state, where that can be foreseen.
        """
        if isinstance(scheme, ImplicitMethod) and self.slopes is None:
            return None
        if self._width is None:
            self._width = len(self.signals(t))
        return self._compiled.march(self.discrete, self._width, scheme, ahead)

    def marched(self, seconds: float) -> None:
        """Note the time that the compiled loop has taken in the present discrete state."""
        assert self._width is not None
        self._compiled.marched(self.discrete, self._width, seconds)

    def pieces(self, t: float, end: float, longest: float) -> SignalPieces | None:
        """The signals from t to the end of a leg as functions of time; None where these would be too many polynomials.

        They hold in every discrete state, and up to the leg's end, whatever events come before.
        """
        inputs = self.system.inputs
        if inputs.timeless:
            return EMPTY
        if end not in self._pieces:
            longest *= 1.0 + 1e-9
            ahead = partial(signal_rows, self.system, discrete=self.discrete, planned=self.planned, recalls=False)
            breaks = [*inputs.breaks, *(back for at in inputs.breaks for back in self.breaks_behind(at))]
            sizes = self._sizes(t, ahead)
            self._pieces[end] = fitted_signal_pieces(
                ahead, t, end, breaks, longest, followed=self.system.follows, sizes=sizes
            )
        return self._pieces[end]

    def _sizes(self, t: float, ahead: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """The sizes of signals from here to the end of a run whose legs are as short as dead times.

        In a short leg, a motion that begins smoothly has no size beside its rounding errors.
        """
        if self.system.inputs.memory is None or self.end is None or self.system.planning:
            return None
        if self._largest is None:
            largest = abs(ahead(np.linspace(t, self.end, SIZED))).max(axis=0)
            self._largest = np.where(np.isfinite(largest), largest, 0.0)  # beside what is infinite, nothing has a size
        return self._largest

    def rules(self, watched: Sequence[Watched]) -> list[tuple[float, ...]]:
        """The rules of watches as compiled code reads them."""
        places = (place_of_watched_quantity(self.system, self.discrete, one.watch.source) for one in watched)
        return [(float(place), *one.rule) for place, one in zip(places, watched)]

    @property
    def quantities(self) -> int:
        """The number of quantities besides the state that compiled code watches in the present discrete state."""
        return width_of_watched_quantities(self.system, self.discrete)

    def _solved(self, values: Sequence[np.ndarray], y: Sequence[np.ndarray], discrete: Discrete) -> Evaluation:
        if self._solve is not None and not self.system.inputs.wrenches:
            return self._solve(self, values, y, None)
        system = self.system
        return self._compiled.plain_rows(
            discrete,
            len(values),
            len(y[0]),
            lambda: equations.evaluate_equations(system, values, y, discrete, system.model),
        )

    def _plain(self, values: Sequence[float], y: np.ndarray, discrete: Discrete) -> Evaluation:
        system, state, recursion = self.system, y.tolist(), self._compiled.recursion(discrete)
        try:
            return self._compiled.plain(
                discrete,
                len(values),
                lambda: equations.evaluate_equations(system, values, state, discrete, system.model, recursion),
            )
        except (ZeroDivisionError, OverflowError):
            return equations.evaluation_of_lost_state(system, values, state, discrete)
