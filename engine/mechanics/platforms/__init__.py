"""Parallel robots as legs and a platform."""
