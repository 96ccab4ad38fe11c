"""Results beside those of before: which numbers, lines and pixels differ.

deviation  columns of numbers: what counts as a difference, and what of a table is kept to compare with
described  figures as data: words, lines, colours, ranges of axes; `drawn` has the renderer that notes them
images     pictures, pixel by pixel
overlay    figures of both, one over the other
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .described import (
        DescribedLine,
        Picture,
        description_of_figure,
        differences_of_figures,
        numbers_of_plotted_line,
    )
    from .deviation import (
        DIGITS,
        FLOOR,
        MOST_ROWS,
        ROUNDED,
        ComparedColumn,
        Difference,
        allowed_recorded_difference,
        column_differences,
        compared_recorded_column,
        recorded_column_size,
        recorded_difference_excess,
        recorded_rows_at,
        renamed_recorded_column,
        stride_of_recorded_rows,
        thinned_rows_to_record,
    )
    from .images import ALLOWED, matplotlib_version, pixel_distance, png_of_figure
    from .overlay import Pair, overlay_figure
else:
    __getattr__ = door(__name__)
