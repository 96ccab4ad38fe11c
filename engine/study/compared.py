"""The numbers of one run of a comparison, and its row of the CSV file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .compare_settings import RunSetting


@dataclass
class Run:
    """The numbers of a run; unknown ones are NaN."""

    setting: RunSetting
    ended: str
    reason: str = ""
    reached: float = math.nan  # s
    evaluations: int = 0
    steps: int = 0
    rejected: int = 0
    switches: int = 0  # of coordinates
    seconds: float = math.nan
    evaluation: float = math.nan  # s, one of the equations of motion alone
    error_max: float = math.nan  # of the driven joints, rad or m
    error_rms: float = math.nan
    closure: float = math.nan  # m
    closure_angle: float = math.nan
    energy: float = math.nan  # J
    stiffness: float = math.nan  # largest |eigenvalue| times the duration
    correction: float = math.nan  # percent of the joint's largest planned force
    correction_rms: float = math.nan
    correction_now: float = math.nan  # percent of the force that is planned at the same instant
    unit: str = ""  # of errors: rad, m, or both
    t: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    table: dict[str, np.ndarray] = field(default_factory=dict, repr=False)  # the columns of the result
    errors: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    corrections: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def row(self) -> dict[str, Any]:
        """The run as a row of the CSV file."""
        s = self.setting
        return {
            "method": s.method,
            "parameter": s.parameter,
            "value": s.value,
            "integrator": s.integrator,
            "rtol": s.accuracy if s.adaptive else None,
            "step": None if s.adaptive else s.accuracy,
            "feedback": int(s.feedback),
            "ended": self.ended,
            "reason": self.reason,
            "unit": self.unit,
            **{name: getattr(self, name) for name in NUMBERS},
        }


NUMBERS = (
    "reached",
    "evaluations",
    "steps",
    "rejected",
    "switches",
    "seconds",
    "evaluation",
    "error_max",
    "error_rms",
    "closure",
    "closure_angle",
    "energy",
    "stiffness",
    "correction",
    "correction_rms",
    "correction_now",
)
COLUMNS = tuple(Run(RunSetting("", "", None, "", 0.0), "").row())
