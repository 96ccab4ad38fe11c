"""Programs on scalars: recorded, counted, compiled, exported.  Knows no mechanics."""
