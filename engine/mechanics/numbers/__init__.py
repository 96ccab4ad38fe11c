"""Numbers of a robot by their places: symbols for them, inertial numbers of links, and the regressor's columns."""
