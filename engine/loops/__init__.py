"""Closed loops: constraints between links, assembling positions, multipliers, closure methods."""
