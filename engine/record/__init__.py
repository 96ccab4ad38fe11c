"""What is kept and shown of results, whoever computed them: columns, plots, pictures, files, parts of pages.

columns      what a column is: its unit, family and owner
plots        the kinds of plots, what their panels hold, and how a figure is saved
drawings     plots that are asked for: columns against time or any other
figures      figures of a result; `view` has what they look at, `scales` units and scales of axes, `dressing` labels and
             legends, `arranged` where panels stand, `styles` letters and colours
panels       figures of lines of any kind; `study_plots` those of sweeps and searches; `sheets` pages of text for PDF
notebook     what notebooks show of a result, and the extremes of its columns
files        a room of its own: output folders, CSV and other tables, written whole or not at all
compared     a room of its own: tables and pictures beside those of before
sketch       a room of its own: machines as scenes, drawn and filmed
pages        a room of its own: the parts of HTML pages
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .columns import WRENCH, Column
    from .drawings import TIME, Drawing, plain_plot_drawings, plot_drawing
    from .figures import chosen_plots, figures_of_result, plot_columns_against
    from .notebook import HEADER, column_extremes, html_image_of_figure, result_html
    from .panels import Line, Panel, panel_figure
    from .plots import (
        PLOT_FORMATS,
        PLOTS,
        Plot,
        axis_label,
        blank_figure,
        figure_of_operation_counts,
        panels_of_plot,
        plain_plot_text,
        plot_stems,
        save_figure,
    )
    from .scales import largest_plotted_value
    from .sheets import SHEET, text_on_sheets, write_sheets
    from .study_plots import Sweep, figure_of_pareto_front, figure_of_search_progress, figures_of_study
    from .styles import COLOURS, STYLES, Style
    from .view import Look, plot_look
else:
    __getattr__ = door(__name__)
