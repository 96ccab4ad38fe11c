"""Closed loops: constraints between links, their partition, closure methods, and the sweeps over groups of bodies."""
