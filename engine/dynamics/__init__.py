"""The dynamics of trees: the recursion, and everything that follows from it for one state or many."""
