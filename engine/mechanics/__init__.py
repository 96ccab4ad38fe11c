"""The mechanics of robots and mechanisms: one recursion over trees of bodies, closed loops, and all quantities of both.

tree         the three sweeps, and what they are made of: vectors and rotations, kinematics, springs, wrenches
numbers      a robot's numbers by their places: symbols for them, inertial numbers, regrouping, the regressor's columns
bodies       the same quantities as loops over bodies, one compiled object of which serves all trees
quantities   what is computed of a tree: the table of its programs, and the calls for one sample or many
closure      closed loops: ties and their rows, partitions, closure methods, the sweeps over groups of bodies
assembly     positions in which all loops are closed
mechanisms   what is computed of a mechanism: forces of actuators and cuts, accelerations, derivatives, mobility
platforms    parallel robots as legs and a platform

Each has a door of its own; it knows those above it in this list.
"""
