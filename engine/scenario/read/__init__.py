"""Readers of scenario files, a module for each section.

A reader takes a `Reading`, and gives what its section says.

    reading    the state that all of them share: the scenario's document, its model, and the robot
    motion, forces, formulas, wrenches, drives    laws, and what they act on
    initial, loops    the start, and the loops that it fits; values beyond a mechanism's freedoms
    solver     times, steps and tolerances
    record     points and formulas that are recorded, and what is drawn
    checks     doubts about numbers, tables, dead times and entries that nothing uses
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .checks import (
        breaks_of_scenario_tables,
        dead_time_kinks_of_scenario,
        doubts_about_scenario_angles,
        doubts_about_scenario_dead_times,
        doubts_about_scenario_tables,
        doubts_about_unused_scenario_entries,
    )
    from .drives import Drives, read_constraints_of_scenario, read_preferred_speeds
    from .forces import Forces, Laws, actuators_driven_by_laws, read_actuator_laws, read_force_laws, read_force_section
    from .formulas import formula_column_places, no_force_of_formula
    from .initial import (
        Start,
        blows_at_start,
        read_initial_coordinates,
        read_initial_speeds,
        refuse_contradictory_initial_entries,
        refuse_start_beyond_stops,
    )
    from .loops import read_closed_start
    from .motion import Motions, read_motion_laws, read_motion_of_joint
    from .reading import Reading
    from .record import read_record_formulas, read_record_plots, read_record_points
    from .solver import MOST_ROWS, PlacedLaw, read_solver_section, read_time_grid, scenario_law_swings_are_countable
    from .wrenches import read_scenario_wrenches
else:
    __getattr__ = door(__name__)
