"""Quantities of trees: their table, and the calls that compute them for one sample or many."""
