"""Algorithms with loops, written once in plain Python: run as they stand on arrays, or translated into machine code.

    words       what a text may call: loops over bodies (`rolled`), loops over all at once (`across`), recorded steps
    values      what names stand for: values in registers, variables, tables
    translate   walks the syntax tree of a text, and asks an emitter for each operation
    operations  on numbers and whole vectors; what is known folds
    emit        the emitter: lines of LLVM IR, with bodies or runs side by side
    javascript  another emitter: lines of JavaScript, and the steps of pages
    compiled    a text about bodies as one object for all robots, whose sizes and tables come with the call
    explicit    the text of explicit Runge-Kutta steps
    implicit    that of implicit steps: Newton's method, and the control of steps
    collocation, backward   what is a Runge-Kutta method's own, and what is one's with backward differences
    elimination that of solving equations, real and complex
    dense       that of what happens within a step: rows, watches, and where functions change their sign

A text is an ordinary function of lengths and tables. A table of numbers is an array `(k, N)`, with a column for each
body; one of integers is a row. What a text may do is in the docstring of `translate`.
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .compiled import LoopText
    from .dense import RULE_SIZE, place_of_dip, zero_crossing
    from .explicit import aim_step, error_of_step, next_step_length, take_further_stages, take_stages
    from .implicit import accept_implicit_step, attempt_implicit_step, begin_implicit_step, finish_implicit_step
    from .javascript import explicit_steps_in_javascript
    from .values import Eights, Fields, Integers, Rows, TextTable
    from .words import Number, Table, Tables, across, cosine_sine, recorded_step, registers, rolled, sign
else:
    __getattr__ = door(__name__)
