"""Assembly: positions in which all loops are closed."""
