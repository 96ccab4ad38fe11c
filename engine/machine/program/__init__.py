"""Programs on scalars, and nothing of how they run.

scalars                 what texts are written on: floats, arrays of samples, duals, nodes
nodes, recording        the operations that a text needs, recorded; a quantity's program
gather, counting        common factors of sums; operation counts
result_parts            named parts of a program's results
dual, adjoint           derivatives forwards and backwards
formulas, control, differences    curves and formulas; step control; backward differences, as texts
languages               programs written out as C, JavaScript or Python
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .adjoint import Taped, recorded_gradient, recorded_value_without_history
    from .counting import Count, count_operations
    from .dual import Dual, dual_depends, dual_derivative, dual_value, dual_without
    from .formulas import Curve, clipped, formula_value_on_scalars, larger
    from .languages import LANGUAGES, Language, c_function, javascript_function, python_function
    from .nodes import CONSTANT, Node, substituted_nodes, with_doubts
    from .recording import MatrixColumns, Program, Recording
    from .result_parts import (
        Part,
        kernel_parts_divided,
        kernel_parts_in_order,
        numbers_of_kernel_parts,
        undivided_kernel_results,
    )
    from .scalars import (
        Scalar,
        as_float,
        as_floats,
        as_samples,
        cosine_sine,
        scalars_into_columns,
        sign,
        smaller,
        square_root,
    )
else:
    __getattr__ = door(__name__)
