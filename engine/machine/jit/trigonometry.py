"""Constants of sine and cosine without branches: those of the reduction and of the polynomials.

π/2 = P1 + P2 + P3, where P1 and P2 end in zeros so that k P1 and k P2 are exact for the k that occur (Cody and
Waite); on |r| ≤ π/4 the Taylor polynomials to r¹⁵ and r¹⁶ are exact to one unit in the last place.  Arguments beyond
`REACH` have to be reduced first.
"""

from __future__ import annotations

import math
from fractions import Fraction

REACH = 1e6
_HALF_PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899") / 2


def _head(x: Fraction, bits: int) -> float:
    """A number's leading bits."""
    exponent = math.frexp(float(x))[1]
    unit = Fraction(2) ** (bits - exponent)
    return float(math.floor(x * unit) / unit)


P1 = _head(_HALF_PI, 33)
P2 = _head(_HALF_PI - Fraction(P1), 33)
P3 = float(_HALF_PI - Fraction(P1) - Fraction(P2))
TWO_OVER_PI = 2.0 / math.pi
ROUNDER = 6755399441055744.0  # 1.5 · 2⁵²: adding it rounds to an integer, which is then in the low bits
SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 8))  # of r³, r⁵, …
COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(1, 9))  # of r², r⁴, …
