"""Robots in the formats of other programs: what is read from them, what is written, and what they can't hold.

A reader fills a draft of a robot's file, in which every value keeps its place in the original.

    table      the formats, as rows: how a file is recognised, read and written; `load`, `loads`
    draft, report, side, words, pieces, xml    what several formats need
    urdf, urdf_*, sdf, sdf_*, mjcf, mjcf_*     the formats in XML, a module for each chapter of a file
    redysim, redysim_write, assignments, mat_file, symoro    the academic formats, and MATLAB's files
    dh_table   tables of Denavit-Hartenberg parameters
    meshes     surfaces
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .assignments import read_matlab_assignments
    from .dh_table import read_dh_table
    from .meshes import Mesh, read_mesh
    from .redysim_write import write_redysim
    from .report import Report
    from .table import (
        BINARY,
        FORMATS,
        Converted,
        Format,
        Source,
        Written,
        converted_from_any_format,
        load,
        load_shared_robot,
        loads,
    )
    from .urdf_write import write_urdf
else:
    __getattr__ = door(__name__)
