"""The tables of units, functions and kinds of quantities that expressions may use."""

from __future__ import annotations

import math
from collections.abc import Callable

Dimension = tuple[int, int, int, int]  # exponents of m, kg, s, rad

PLAIN: Dimension = (0, 0, 0, 0)
ANGLE: Dimension = (0, 0, 0, 1)
LENGTH: Dimension = (1, 0, 0, 0)
MASS: Dimension = (0, 1, 0, 0)
TIME: Dimension = (0, 0, 1, 0)
RATE: Dimension = (0, 0, -1, 1)
SPEED: Dimension = (1, 0, -1, 0)
FREQUENCY: Dimension = (0, 0, -1, 0)
FORCE: Dimension = (1, 1, -2, 0)
MOMENT: Dimension = (2, 1, -2, 0)
MOMENT_PER_ANGLE: Dimension = (2, 1, -2, -1)

# name -> (up, down, dimension); one unit is up/down in SI. Two numbers, because 35/1000 is the float that `0.035`
# reads as, while 35*0.001 can miss it by the last bit.
UNITS: dict[str, tuple[float, float, Dimension]] = {
    "m": (1, 1, LENGTH),
    "mm": (1, 1e3, LENGTH),
    "cm": (1, 1e2, LENGTH),
    "km": (1e3, 1, LENGTH),
    "um": (1, 1e6, LENGTH),
    "in": (127, 5e3, LENGTH),
    "ft": (381, 1250, LENGTH),
    "kg": (1, 1, MASS),
    "g": (1, 1e3, MASS),
    "t": (1e3, 1, MASS),
    "lb": (0.45359237, 1, MASS),
    "s": (1, 1, TIME),
    "ms": (1, 1e3, TIME),
    "us": (1, 1e6, TIME),
    "min": (60, 1, TIME),
    "h": (3600, 1, TIME),
    "rad": (1, 1, ANGLE),
    "mrad": (1, 1e3, ANGLE),
    "deg": (math.pi, 180, ANGLE),
    "°": (math.pi, 180, ANGLE),
    "turn": (2 * math.pi, 1, ANGLE),
    "rev": (2 * math.pi, 1, ANGLE),
    "rpm": (math.pi, 30, RATE),
    "Hz": (1, 1, FREQUENCY),
    "kHz": (1e3, 1, FREQUENCY),
    "N": (1, 1, FORCE),
    "kN": (1e3, 1, FORCE),
    "mN": (1, 1e3, FORCE),
    "Nm": (1, 1, MOMENT),
    "J": (1, 1, MOMENT),
    "W": (1, 1, (2, 1, -3, 0)),
}

# other spellings that people try, in the singular
SPELT_OUT = {
    **dict.fromkeys(("meter", "metre"), "m"),
    **dict.fromkeys(("millimeter", "millimetre"), "mm"),
    **dict.fromkeys(("centimeter", "centimetre"), "cm"),
    **dict.fromkeys(("inch", "inche"), "in"),
    **dict.fromkeys(("foot", "feet"), "ft"),
    **dict.fromkeys(("kilogram", "kilogramme", "kilo"), "kg"),
    **dict.fromkeys(("gram", "gramme"), "g"),
    **dict.fromkeys(("ton", "tonne"), "t"),
    **dict.fromkeys(("pound", "lbs"), "lb"),
    **dict.fromkeys(("second", "sec"), "s"),
    "millisecond": "ms",
    "minute": "min",
    **dict.fromkeys(("hour", "hr"), "h"),
    "radian": "rad",
    "degree": "deg",
    "revolution": "rev",
    "hertz": "Hz",
    "newton": "N",
    "joule": "J",
    "watt": "W",
}

# name -> (function, what its argument may be, the argument in words)
FUNCTIONS: dict[str, tuple[Callable[[float], float], tuple[Dimension, ...], str]] = {
    "sin": (math.sin, (PLAIN, ANGLE), "an angle"),
    "cos": (math.cos, (PLAIN, ANGLE), "an angle"),
    "tan": (math.tan, (PLAIN, ANGLE), "an angle"),
    "asin": (math.asin, (PLAIN,), "a plain number from -1 to 1"),
    "acos": (math.acos, (PLAIN,), "a plain number from -1 to 1"),
    "atan": (math.atan, (PLAIN,), "a plain number"),
    "sqrt": (math.sqrt, (), "a number that isn't negative"),  # any dimension with a root
}

# kind -> (accepted dimensions, words); a plain number is always accepted too and means SI. The first kind that has
# a dimension gives it its name in messages, so the special ones stand before the general.
DIMENSIONS: dict[str, tuple[tuple[Dimension, ...], str]] = {
    "number": ((PLAIN,), "a plain number"),
    "angle": ((ANGLE,), "an angle (rad, deg, turn)"),
    "length": ((LENGTH,), "a length (m, mm, cm, …)"),
    "mass": ((MASS,), "a mass (kg, g, …)"),
    "time": ((TIME,), "a time (s, ms, min, …)"),
    "rate": ((RATE,), "an angular rate (rad/s, deg/s, rpm)"),
    "speed": ((SPEED,), "a speed (m/s, mm/s, …)"),
    "acceleration": (((1, 0, -2, 0),), "an acceleration (m/s^2)"),
    "angular acceleration": (((0, 0, -2, 1),), "an angular acceleration (rad/s^2)"),
    "frequency": ((FREQUENCY,), "a frequency (Hz, 1/s)"),
    "squared frequency": (((0, 0, -2, 0),), "a squared frequency (1/s^2)"),
    "force": ((FORCE,), "a force (N, kN, …)"),
    "stiffness": (((0, 1, -2, 0), MOMENT_PER_ANGLE), "a stiffness (N/m, N m/rad)"),
    "damping": (((0, 1, -1, 0), (2, 1, -1, -1)), "a damping (N s/m, N m s/rad)"),
    "moment": ((MOMENT, MOMENT_PER_ANGLE), "a moment (N m)"),
    "inertia": (((2, 1, 0, 0),), "a moment of inertia (kg m^2)"),
    "rotor": (((2, 1, 0, 0), (0, 1, 0, 0)), "a rotor inertia (kg m^2, kg)"),
    "first_moment": (((1, 1, 0, 0),), "a first moment (kg m)"),
    "pitch": (((1, 0, 0, -1), LENGTH), "a pitch (m/rad, mm/turn)"),
    "position": ((ANGLE, LENGTH), "an angle or a length (rad, deg, m, mm, …)"),
    "initial": ((ANGLE, LENGTH), "an angle, a length or a plain number"),
    "velocity": ((RATE, SPEED), "a velocity (rad/s, deg/s, rpm, m/s, …)"),
    "effort": ((FORCE, MOMENT, MOMENT_PER_ANGLE), "a force or a moment (N, N m)"),
    # the same for joints that turn, and for joints that slide
    "turn stiffness": ((MOMENT_PER_ANGLE,), "a stiffness (N m/rad)"),
    "slide stiffness": (((0, 1, -2, 0),), "a stiffness (N/m)"),
    "turn damping": (((2, 1, -1, -1),), "a damping (N m s/rad)"),
    "slide damping": (((0, 1, -1, 0),), "a damping (N s/m)"),
    "turn rotor": (((2, 1, 0, 0),), "a rotor inertia (kg m^2)"),
    "slide rotor": (((0, 1, 0, 0),), "a rotor inertia (kg)"),
}
