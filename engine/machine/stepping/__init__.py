"""The time loop of runs as machine code: steps of explicit and implicit methods, with rows, signals and watches."""
