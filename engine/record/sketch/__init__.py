"""Machines in pictures: which symbols and solids are drawn where, and films of their motion.

scene         a machine as data: links, joints, solids, and the poses in which it is seen
drawing       the sketch of a scene; `drawn_bodies`, `drawn_links` and `names` have its parts
canvas        from which side a machine is seen, and strokes and areas there; `outlines` the shapes of bodies
film          moving pictures: GIF, MP4, a strip of poses
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .drawing import sketch_figure
    from .film import check_ffmpeg, write_film_strip, write_gif, write_mp4
    from .scene import (
        BASE,
        Axes,
        Kind,
        Point,
        Poses,
        Say,
        Scene,
        SceneActuator,
        SceneJoint,
        SceneMesh,
        ScenePart,
        ScenePoint,
        Solid,
        silence_sketch_warning,
    )
else:
    __getattr__ = door(__name__)
