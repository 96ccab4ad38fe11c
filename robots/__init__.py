"""The library of robots."""
