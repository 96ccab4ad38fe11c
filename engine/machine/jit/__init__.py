"""Programs as machine code by LLVM, a cache for it, and the choice between plain text and compiled code."""
