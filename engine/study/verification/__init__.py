"""Verification of stored results: everything in them is computed again from their own files, by other means."""
