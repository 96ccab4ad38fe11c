"""The mechanics of robots and mechanisms: one recursion over trees of bodies, closed loops, all quantities of both."""
