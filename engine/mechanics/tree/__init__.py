"""Trees of bodies: the recursion as text on scalars, and what its texts are made of."""
