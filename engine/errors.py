"""The errors that denoc raises on purpose; the command line turns each into one message and an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

MOST_SHOWN = 4  # further mistakes that a message shows after the first


class DenocError(Exception):
    """A problem that the user can mend; its text says how."""

    exit_code = 2


@dataclass
class Place:
    """A place in a file; `line` and `column` count from 1 and are 0 if there is no file."""

    file: str
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return safe_to_print(f"{self.file}:{self.line}:{self.column}" if self.line else self.file)


class Words(TypedDict, total=False):
    """What an error says beside its message."""

    found: str
    allowed: str
    hint: str


class Names(TypedDict):
    """What an error says where a name isn't one of those that are known."""

    allowed: str
    hint: str


class InputError(DenocError):
    """A mistake in a file, on the command line or in a call.

    What was found, what is allowed and how to mend it each stand in a sentence of their own, so that every
    message of the program has the same shape.
    """

    def __init__(
        self,
        message: str,
        *,
        place: Place | None = None,
        key: str = "",
        found: str = "",
        allowed: str = "",
        hint: str = "",
        others: tuple[InputError, ...] = (),
    ):
        self.message, self.place, self.key = message, place, key
        self.found, self.allowed, self.hint = found, allowed, hint
        self.others = others  # further mistakes in the same file, of which messages show the first few
        super().__init__(self._text())

    def _text(self) -> str:
        head = f"{self.place}: " if self.place else ""
        lines = [head + (f"{safe_to_print(self.key)}: " if self.key else "") + safe_to_print(self.message)]
        if self.place and self.place.source.strip():
            start = max(0, self.place.column - 60)
            source = "".join(c if c.isprintable() else " " for c in self.place.source[start : start + 100])
            lines += ["    " + source.rstrip(), "    " + " " * (self.place.column - 1 - start) + "^"]
        lines += [
            f"  {label}: {safe_to_print(text)}"
            for label, text in (("found", self.found), ("allowed", self.allowed), ("hint", self.hint))
            if text
        ]
        more = len(self.others) - MOST_SHOWN
        lines += [str(other) for other in self.others[:MOST_SHOWN]]
        return "\n".join(lines + ([f"… and {more} more mistake{'s' * (more > 1)} in this file"] if more > 0 else []))

    @property
    def words(self) -> Words:
        """What stands beside the message, for an error with another message or place."""
        return {"found": self.found, "allowed": self.allowed, "hint": self.hint}


class ModelError(InputError):
    """A robot that can be read but can't exist or be computed: no inertia to accelerate, a cycle, …"""


class AssemblyError(DenocError):
    """Loops that can't be closed; names the loop and its gap, and knows the position `nearest` to a closed one."""

    exit_code = 3

    def __init__(self, message: str, nearest: Any = None):
        super().__init__(message)
        self.nearest = nearest


class NumericalError(DenocError):
    """A numerical failure; the message says when and why, and what to try."""

    exit_code = 3


class ClusterError(DenocError):
    """Other processes that don't answer; the message says what to check."""

    exit_code = 3


def safe_to_print(text: str) -> str:
    """Text that is safe to print: control characters, which could move the cursor or set colours, are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def given_in_words(x: object) -> str:
    """A name or a number that was given, as messages show it; of all else the type, for not all of it can be shown."""
    if isinstance(x, str):
        return f"`{x}`"
    return str(x) if isinstance(x, float) or (isinstance(x, int) and abs(x) < 1e18) else type(x).__name__


# What other programs and books call things: a name that is known here, their words for it, and what to write instead
# where that isn't the name itself.  A row counts only where its name may stand, so that one word can be several things.
ELSEWHERE = (
    (
        "khalil",
        "mdh craig modified modified-dh dh-modified proximal",
        "`khalil`; Craig's `a` and `d` are its `d` and `r`",
    ),
    ("dh", "sdh classic classical standard standard-dh dh-standard denavit-hartenberg distal", ""),
    ("frames", "urdf sdf mjcf xyz", ""),
    ("revolute", "r hinge rotary rotational rotation rotoid continuous pin", ""),
    ("prismatic", "p slide slider sliding linear translational translation", ""),
    ("spherical", "s ball ball-and-socket", ""),
    ("universal", "u hooke cardan", ""),
    ("helical", "h screw", ""),
    ("cylindrical", "c", ""),
    ("free", "floating floating-base freejoint freeflyer free-flyer 6dof", ""),
    ("fixed", "weld welded rigid locked", ""),
    ("rotor_inertia", "armature ia motor_inertia", ""),
    ("rotor_inertia", "jm", "`rotor_inertia`; the motor's own times the gear ratio squared"),
    ("rotor_inertia", "range limit stop stops", "`limits`"),
    ("rotor_inertia", "lower upper qlim qmin qmax low high min max", "`limits: [low, high]`"),
    ("rotor_inertia", "damping b fv", "`friction: {viscous: …}`"),
    ("rotor_inertia", "frictionloss tc fc dry_friction", "`friction: {coulomb: …}`"),
    ("rotor_inertia", "stiffness k", "`spring: {stiffness: …}`"),
    ("rotor_inertia", "mimic", "an entry under `couplings`"),
    ("rotor_inertia", "origin", "`xyz` and `rpy`, with `convention: frames`"),
    ("rotor_inertia", "pos", "`xyz`, with `convention: frames`"),
    ("viscous", "damping b fv", ""),
    ("coulomb", "frictionloss tc fc dry static", ""),
    ("velocity", "speed qdmax vmax max_velocity", ""),
    ("com", "m", "`mass`"),
    ("com", "cog cm center_of_mass centre_of_mass", ""),
    ("com", "i", "`inertia`"),
    ("com", "inertial", "`mass`, `com` and `inertia`"),
    ("com", "origin", "`offset: {xyz: …, rpy: …}`"),
    ("com", "type", "a key of `joint`"),
    ("com", "visual geom geometry", "`shape`"),
    ("com", "site sites", "`points`"),
    ("between", "type", "`joint`"),
    ("between", "parent child body1 body2 predecessor successor", "`between: [first, second]`"),
    ("ratio", "multiplier gear", ""),
    ("ratio", "mimic leader parent", "`to`"),
    ("links", "bodies body worldbody", ""),
    ("links", "cuts closed_loop closed_loops equality", "`loops`"),
    ("links", "mimic gears transmission", "`couplings`"),
    ("links", "tendon tendons", "`springs`"),
    ("links", "actuator motors", "`actuators`"),
    ("task", "q0 x0 initial_position", "`initial`"),
    ("task", "qd0 v0 initial_velocity", "`rates`"),
    ("task", "duration tend t_end", "`time: {end: …}`"),
    ("task", "integrator", "`solver: {method: …}`"),
    ("task", "trajectory trajectories", "`motion`"),
    ("task", "tau torque torques controls", "`forces`"),
    ("inverse", "id idyn rnea inverse-dynamics", ""),
    ("simulate", "fd fdyn forward forward-dynamics simulation", ""),
    ("end", "stop final duration tend t_end tf", ""),
    ("step", "dt timestep", ""),
    ("start", "begin t0", ""),
    ("atol", "integrator", "`method`"),
    ("rk45", "ode45 dopri5 dopri45 dormand-prince runge-kutta", ""),
    ("dop853", "dopri8 ode78", ""),
    ("rk4", "ode4", ""),
    ("radau", "radau5 radauiia", ""),
    ("bdf", "ode15s cvode gear", ""),
    ("lsoda", "odeint", ""),
    ("polynomial", "cubic quintic", ""),
    ("trapezoid", "trapezoidal lspb", ""),
    ("cycloid", "cycloidal", ""),
    ("harmonic", "sin sine sinusoid", ""),
    ("rate", "constant velocity", ""),
)


def called_elsewhere(word: str, choices: Iterable[str]) -> str:
    """A hint at what a word of other programs or books is here; empty where it is none for these names."""
    there, small = set(choices), word.lower()
    own = (text or f"`{name}`" for name, words, text in ELSEWHERE if name in there and small in words.split())
    name, mark, more = next(own, "").partition(";")
    return f"that is {name} here{mark}{more}" if name else ""


def did_you_mean(word: object, choices: Iterable[str], closeness: float = 0.6) -> str:
    """A hint with what the word is called here, or with the nearest name, whatever its capitals, or an empty text."""
    from difflib import get_close_matches

    if not isinstance(word, str):
        return ""
    if hint := called_elsewhere(word, choices := list(choices)):
        return hint
    small = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower()[:100], list(small), n=1, cutoff=closeness)
    return f"did you mean `{small[near[0]]}`?" if near else ""


def allowed_names(word: object, names: Iterable[str], most: int | None = None) -> Names:
    """The names that are known, or so many of them, and a hint at the one that a word may have been meant for."""
    return {"allowed": ", ".join((names := list(names))[:most]), "hint": did_you_mean(word, names)}
