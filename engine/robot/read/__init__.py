"""From a robot's file to the model.

Each step reports mistakes and doubts at their places in the file.

    schema, joint_schema, orientation, shapes  the models that read the file; json_schema describes them
    repeat, graph                              what becomes plain links first: repetitions, lists of joints, moving cuts
    conventions, drives, beyond_tree           joints, what drives and brakes them, and what ties links to each other
    bodies                                     masses, and the trees of bodies
    build                                      all of it, in order; a draft's numbers may be symbols
    values, plausible                          numbers that don't fit their joint; numbers that hardly anybody means
    file_number                                a number of the file by its key, and robots with another one there
    mesh_files                                 the places of mesh files
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bodies import (
        ReadLink,
        bodies_with_link_masses,
        body_with_mass,
        inertia_of_link,
        robot_number,
        stacked_inertia_numbers,
    )
    from .build import Draft, build_robot
    from .drives import joint_drives
    from .file_number import FileNumber, robot_file_number
    from .joint_schema import JOINTS, Coordinates, Direction, JointEntry
    from .json_schema import robot_schema
    from .mesh_files import (
        HERE,
        folder_of_robot_file,
        located_mesh_file,
        robot_data_with_mesh_places,
        robot_data_with_meshes_seen_from,
    )
    from .orientation import Oriented, rotation_of
    from .plausible import enormous_robot_numbers, unbelievable_robot_angle
    from .schema import LinkEntry, Place
    from .values import joint_number_fits_unit, unit_euler_parameters
else:
    __getattr__ = door(__name__)
