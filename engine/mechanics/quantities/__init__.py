"""What is computed of a tree.

programs, subject      the table of quantities, each one text; what a text is about
explicit, entries      the matrices of the DeNOC in the open
derivatives, powers    derivatives, gradients and the equations of state; energies and powers
mixed                  inverse, forward and hybrid dynamics of one robot, plain or compiled
offered                any other quantity, likewise
samples                callers' arrays, of one sample or many, as scalars and back
calls, quantities      the calls of the Python interface
direct                 calls that lead straight into compiled code
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import HYBRID, forward, hybrid, inverse
    from .direct import Call, direct_call, key_of_direct_call
    from .mixed import Held, Mixed
    from .powers import damping_power, energies, passive_power, wrench_power
    from .programs import PROGRAMS, REDUCED, link_named_in_tree, program_of_tree_quantity
    from .quantities import (
        bias,
        energy,
        frames,
        inertia,
        inverse_inertia,
        jacobian,
        mass_and_centre,
        matrices,
        quantity_call,
        reactions,
        regressor,
        tree_links_under_wrenches,
    )
    from .samples import (
        LARGE,
        Samples,
        array_for_dynamics_results,
        doubles_of_argument,
        dynamics_without_numbers_error,
        singular_dynamics_error,
    )
    from .subject import Given, Subject
else:
    __getattr__ = door(__name__)
