"""Runs side by side, whose numbers alone differ.

batch_program   the numbers in which runs differ, and one program for all
batch_run       the runs, carried on together
mode_table      the discrete states that they have been in
many_rows       output rows of all of them
traces          what is kept of them
"""
