"""Integrators: their steps in Python, with dense output, and events within a step.

stepper                         what all steppers have
tableau, dormand_prince_8       Butcher tableaux
runge_kutta                     explicit steps
implicit_steps, radau, ndf      implicit steps: Radau IIA, and numerical differentiation formulas
scipy_stepper                   scipy's LSODA
integrate                       the table of integrators
events                          where a function of time and state stops being positive
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .integrate import INTEGRATORS, runge_kutta_integrator, stepper_of_integrator
    from .runge_kutta import integrator_scheme
    from .stepper import LEAST_ATOL, LEAST_RTOL
    from .tableau import RUNGE_KUTTA, Tableau
else:
    __getattr__ = door(__name__)
