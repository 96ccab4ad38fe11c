"""The arms that are measured, as numbers that every contestant's model is made from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from denoc.formats import load
from denoc.robot import Robot
from denoc.study import chain_robot_for_times

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "puma.json"


@dataclass(frozen=True)
class Link:
    """DH constants, mass, vector from the mass centre to the next origin, inertia about the mass centre."""

    a: float
    b: float
    alpha: float
    m: float
    r: np.ndarray
    I: np.ndarray

    def far(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the next frame is, seen from the frame that turns with this joint."""
        c, s = np.cos(self.alpha), np.sin(self.alpha)
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([self.a, 0.0, self.b])

    def masses(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, mass centre and inertia about it in the frame that turns with this joint."""
        R, p = self.far()
        return self.m, p - R @ self.r, R @ self.I @ R.T


@dataclass(frozen=True)
class Arm:
    """One arm of revolute joints: denoc's robot and the numbers for its peers."""

    name: str
    robot: Robot
    links: tuple[Link, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    def samples(self, count: int) -> list[np.ndarray]:
        """Coordinates, speeds, and what is given of each: accelerations or forces."""
        rng = np.random.default_rng(1)
        return [rng.standard_normal((count, len(self.links))) for _ in range(3)]


def _symmetric(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> np.ndarray:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def puma() -> Arm:
    links = json.loads(REFERENCE.read_text(encoding="utf-8"))["links"]
    numbers = [Link(x["a"], x["b"], x["alpha"], x["m"], np.array(x["r"]), _symmetric(*x["I"])) for x in links]
    return Arm("PUMA", load("puma"), tuple(numbers))


def chain(n: int) -> Arm:
    inertia = _symmetric(6.0e-5, 1e-5, -2e-6, 1.03e-4, 4e-6, 1.1e-4)
    link = Link(a=0.11, b=0.03, alpha=0.7, m=0.12, r=np.array([0.05, 0.01, -0.02]), I=inertia)
    return Arm(f"chain of {n} links", chain_robot_for_times(n), (link,) * n)
