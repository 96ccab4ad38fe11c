"""Robots in the formats of other programs: what is read from them, what is written to them, and what they can't hold."""
