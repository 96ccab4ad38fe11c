"""Dynamics of robots and mechanisms, from files, by the Decoupled Natural Orthogonal Complement (DeNOC).

Lazy imports keep start-up fast.
"""

from __future__ import annotations

from ._version import VERSION as __version__
from .door import door

TYPE_CHECKING = False  # as `typing` has it, whose import takes longer than all else here
if TYPE_CHECKING:
    from .api import forward, hybrid, inverse, reactions, reduced
    from .errors import AssemblyError, DenocError, InputError, ModelError, NumericalError
    from .formats import load, loads
    from .functions import function
    from .mechanics.assembly import assemble
    from .mechanics.mechanisms import adjoint, base_parameters, derivatives, linearize, regressor
    from .mechanics.numbers import parameters
    from .mechanics.platforms import legs, parallel_matrices, platform_inverse
    from .mechanics.quantities import bias, energy, frames, inertia, inverse_inertia, jacobian, matrices
    from .robot import Robot
    from .scenario import Result, run
    from .simulate import Simulator
    from .simulate.simulator import simulator
    from .study import ensemble
    from .study.identification import identify
    from .study.optimise import optimise
    from .study.sweep import sweep
else:
    __getattr__ = door(__name__)

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


def __dir__() -> list[str]:
    return sorted(__all__)
