"""Loops over the bodies of a tree, of which one compiled object serves all trees."""
