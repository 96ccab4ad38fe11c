"""Programs on scalars, which are recorded, counted, differentiated, and written out as C and Python."""
