"""Comparisons of scenarios that are run again with a baseline of agreed results."""
