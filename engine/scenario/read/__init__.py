"""Readers of scenario files, a module for each section."""
