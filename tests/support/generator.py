"""Which of LLVM's code generators the tests' own process takes: the quick one, except where a test is marked `sound`.

The quick one, which runs of users begin with, takes a fifth of the time, which is most of what the tests cost.  Object
code says in its key which of them it comes from, so that none passes for the other's.
"""

from functools import wraps

SOUND = False  # whether code comes from the generator that the caller asks for


def only_quick():
    """Puts the choice in front of all code that this process loads or compiles."""
    from denoc.machine.backend import native, objects

    whole = objects.loaded_machine_code

    @wraps(whole)
    def loaded(form, identity, text, only, level=native.SOUND, numbers=(), passes=()):
        return whole(form, identity, text, only, level if SOUND else native.QUICK, numbers, passes)

    objects.loaded_machine_code = loaded
