"""Quantities with units, such as `9.81 m/s^2`, and formulas over time and state, such as `-20 N m s/rad * A0.qd`.

Both are read by one grammar, and nothing is executed.

    units       the tables of units, functions and kinds of quantities
    grammar     the one grammar, over tokens with their places; a subclass says what numbers, names and signs mean
    expression  numbers with units from text, always in SI
    formula     formulas, read into a tree; what is in such a tree
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expression import (
        NAMES,
        Quantity,
        UndefinedError,
        dimension_in_words,
        evaluate_expression,
        misfit_of_unit,
        name_and_unit_of_header,
        si_value_of_quantity,
        unit_in_si,
    )
    from .formula import (
        TIME,
        Formula,
        Lookup,
        Named,
        Number,
        Operation,
        formula_with_renamed_tables,
        formula_with_replaced_names,
        jumps_in_formula,
        lookups_in_formula,
        names_in_formula,
        parsed_formula,
        total_formula,
    )
    from .grammar import NUMBER, ExpressionError, Grammar, Token
    from .units import DIMENSIONS, PLAIN, Dimension
else:
    __getattr__ = door(__name__)
