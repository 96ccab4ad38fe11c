"""How programs run on this machine: the choice of a backend, native code and its cache, processors."""
