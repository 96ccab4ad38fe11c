"""The library of studies."""
