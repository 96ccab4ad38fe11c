"""Programs on scalars: recorded, counted, differentiated, written out as C and Python."""
