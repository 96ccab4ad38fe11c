"""Robots in the formats of other programs: what is read from them, what is written, and what they can't hold."""
