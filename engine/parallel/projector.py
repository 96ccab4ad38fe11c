"""The projector Φ that removes a leg's directions from the platform's twist, one by one: Φ ← Φ − p̃ p̃ᵀ / δ.

Arrays may have samples first.  The nodes of a distributed run sit on this, because each of their messages holds many
samples; `decoupled_text.py` has the same step on scalars, in a metric that makes turns and shifts comparable, because
its text is recorded.
"""

from __future__ import annotations

import numpy as np


def leg_projector_left_part(Phi: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p̃, δ) of a direction p, with p̃ = Φ p the part of it that Φ leaves, and δ = p̃ᵀ p̃."""
    rest = (Phi @ p[..., None])[..., 0]
    return rest, (rest * rest).sum(axis=-1)


def leg_projector_without_direction(Phi: np.ndarray, rest: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """The projector after one more direction is removed: Φ − p̃ p̃ᵀ / δ."""
    smaller: np.ndarray = Phi - rest[..., :, None] * (rest / delta[..., None])[..., None, :]
    return smaller
