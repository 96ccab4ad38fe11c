"""Loops over the bodies of a tree.

body_texts, body_steps    the quantities as loops over bodies, and what they do with one body
body_tables               a tree's tables for these texts, and the objects of machine code that serve all trees
body_kinds, looped        the mixed dynamics as a loop over recorded steps, one for each kind of body
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .looped import runs_as_loop_over_bodies
else:
    __getattr__ = door(__name__)
