"""The projector on what a leg leaves of its platform's twist, direction by direction: Φ ← Φ − p̃ p̃ᵀ / δ.

Arrays may have samples first.  A metric makes products of twists free of units: p̃ᵀ stands for p̃ᵀ metric then.
"""

from __future__ import annotations

import numpy as np


def left(Phi: np.ndarray, p: np.ndarray, metric: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What Φ leaves of a direction, p̃ = Φ p, with p̃ᵀ and δ = p̃ᵀ p̃."""
    rest = (Phi @ p[..., None])[..., 0]
    dual = rest if metric is None else rest @ metric
    return rest, dual, (rest * dual).sum(axis=-1)


def without(Phi: np.ndarray, rest: np.ndarray, dual: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Φ without that direction."""
    found: np.ndarray = Phi - rest[..., :, None] * (dual / delta[..., None])[..., None, :]
    return found
