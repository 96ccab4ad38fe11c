"""Sweeps: one scenario run for many values of its numbers, in a table with a row for each run."""
