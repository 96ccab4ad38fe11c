"""How programs run: plain, or as machine code by LLVM, kept between processes; decided in one place."""
