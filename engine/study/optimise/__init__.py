"""Searches for the numbers of a scenario and its robot that make an output of its runs as small as it can be."""
