"""Parallel robots as legs and a platform.

parallel_robot                     which link is the platform, and the links and joints of each leg
hanging                            how the platform hangs on its legs
platform, platform_text            inverse dynamics by the platform's equations and each leg alone
decoupled, decoupled_text          the matrices of the decoupled natural orthogonal complement
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decoupled import parallel_matrices
    from .parallel_robot import Leg, Parallel, bodies_shared_by_legs, legs
    from .platform import inverse_by_platform_shares, platform_inverse
else:
    __getattr__ = door(__name__)
