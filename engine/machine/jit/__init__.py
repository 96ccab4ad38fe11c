"""Programs as machine code.

offer                                which form a program takes, by its costs
block, llvm, program_pieces          LLVM IR of operations, of a program, of a long one in pieces
trigonometry, flow, word_code        sine and cosine without branches; loops and branches; words of integers
kernel                               programs for many samples and for one
rolled, phases                       programs that loop over elements
builtin, builtin_code, builtin_batch, builtin_words, interpreter    the entry from Python
polynomials                          signals in time as pieces of polynomials
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .block import ENORMOUS
    from .builtin import Builtin
    from .kernel import Kernel, Single, build_kernel
    from .offer import Offer, Shared, Text, plain_or_compiled_in_blocks
    from .phases import PhasedStep, settled_kernel_elements
    from .polynomials import EMPTY, SignalPieces, fitted_signal_pieces
    from .rolled import BodyStep, Elements, Rolled, Sweep, SweepProgram, build_rolled_kernel
    from .trigonometry import REACH
else:
    __getattr__ = door(__name__)
