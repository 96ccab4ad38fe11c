"""Filters without delay, and derivatives of what was measured."""

from __future__ import annotations

import numpy as np

from ...errors import InputError

LEAST = 0.1  # turns of a filter's cutoff in the time of the data: with less it leaves nothing but rounding


def smooth_measured_columns(t: np.ndarray, x: np.ndarray, order: int, cutoff: float) -> np.ndarray:
    """The columns through a Butterworth filter, forwards and backwards; rows count as evenly spaced."""
    from scipy.signal import butter, sosfiltfilt

    rate = (len(t) - 1) / (t[-1] - t[0])
    if cutoff >= rate / 2:
        raise InputError(
            "the filter lets everything pass",
            key="filter.cutoff",
            found=f"{cutoff:g} Hz",
            allowed=f"less than half of the {rate:.4g} rows a second",
        )
    if cutoff * (t[-1] - t[0]) < LEAST:
        raise InputError(
            "the filter lets nothing pass",
            key="filter.cutoff",
            found=f"{cutoff:g} Hz",
            allowed=f"{LEAST / (t[-1] - t[0]):.4g} Hz or more, for data of {t[-1] - t[0]:.4g} s",
        )
    sections = butter(order, cutoff, fs=rate, output="sos")
    pad = min(3 * (2 * len(sections) + 1), len(t) - 1)
    result: np.ndarray = sosfiltfilt(sections, x, axis=0, padlen=pad)
    return result


def derivative_of_measured_columns(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Derivatives of the columns by central differences, of second order for uneven rows, too."""
    result: np.ndarray = np.gradient(x, t, axis=0, edge_order=2)
    return result
