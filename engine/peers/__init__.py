"""Other engines for the dynamics of a robot's tree, each built from the same bodies."""
