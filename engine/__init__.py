"""Dynamics of robots and mechanisms, from files, by the Decoupled Natural Orthogonal Complement (DeNOC).

Everything is imported where it is first used, so that the command line answers at once.
"""

from __future__ import annotations

from ._version import VERSION as __version__

TYPE_CHECKING = False  # as `typing` has it, whose import takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from .api import forward, hybrid, inverse, reactions, reduced
    from .dynamics.quantities import bias, energy, frames, inertia, inverse_inertia, jacobian, matrices
    from .dynamics.regressor import parameters
    from .errors import AssemblyError, DenocError, InputError, ModelError, NumericalError
    from .formats.load import load, loads
    from .functions import function
    from .loops.adjoint import adjoint
    from .loops.assembly import assemble
    from .loops.base import base_parameters
    from .loops.derivatives import derivatives
    from .loops.linear import linearize
    from .loops.regressor import regressor
    from .parallel.decoupled import parallel_matrices
    from .parallel.legs import legs
    from .parallel.platform import platform_inverse
    from .robot.model import Robot
    from .scenario.run import Result, run
    from .simulate.simulator import Simulator, simulator
    from .study.ensemble import ensemble
    from .study.identification.identify import identify
    from .study.optimise.run import optimise
    from .study.sweep.run import sweep

_HOMES = {
    "loops.adjoint": ("adjoint",),
    "loops.assembly": ("assemble",),
    "loops.derivatives": ("derivatives",),
    "loops.linear": ("linearize",),
    "loops.base": ("base_parameters",),
    "loops.regressor": ("regressor",),
    "api": ("forward", "hybrid", "inverse", "reactions", "reduced"),
    "parallel.decoupled": ("parallel_matrices",),
    "parallel.legs": ("legs",),
    "parallel.platform": ("platform_inverse",),
    "errors": ("AssemblyError", "DenocError", "InputError", "ModelError", "NumericalError"),
    "functions": ("function",),
    "dynamics.quantities": ("bias", "energy", "frames", "inertia", "inverse_inertia", "jacobian", "matrices"),
    "dynamics.regressor": ("parameters",),
    "formats.load": ("load", "loads"),
    "robot.model": ("Robot",),
    "scenario.run": ("Result", "run"),
    "simulate.simulator": ("Simulator", "simulator"),
    "study.ensemble": ("ensemble",),
    "study.optimise.run": ("optimise",),
    "study.sweep.run": ("sweep",),
    "study.identification.identify": ("identify",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AssemblyError",
    "DenocError",
    "InputError",
    "ModelError",
    "NumericalError",
    "Result",
    "Robot",
    "Simulator",
    "__version__",
    "adjoint",
    "assemble",
    "base_parameters",
    "bias",
    "derivatives",
    "energy",
    "ensemble",
    "forward",
    "frames",
    "function",
    "hybrid",
    "identify",
    "inertia",
    "inverse",
    "inverse_inertia",
    "jacobian",
    "legs",
    "linearize",
    "load",
    "loads",
    "matrices",
    "optimise",
    "parallel_matrices",
    "parameters",
    "platform_inverse",
    "reactions",
    "reduced",
    "regressor",
    "run",
    "simulator",
    "sweep",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'denoc' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
