"""Studies: operation counts, comparisons."""
