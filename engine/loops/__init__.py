"""Closed loops: constraints between links, assembly of positions, multipliers, and closure methods."""
