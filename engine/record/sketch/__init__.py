"""Machines as sketches: drawn on paper from one side, with symbols of their joints, names and a legend."""
