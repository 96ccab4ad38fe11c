"""Files of results, whole or not at all: after a crash a folder holds the old files or the new ones.

write        a result's files: CSV, record, plots, together, and checksums of them
folders      a folder whose files change together; `drafts` the files that are being written beside it
table_files  tables for other programs: pandas, xarray, Parquet
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .drafts import is_draft_file, locked_output_folder
    from .folders import mend_output_folder, renewed_output_folder
    from .table_files import (
        TABLE_FORMATS,
        check_table_formats,
        dataframe_of_result,
        dataset_of_result,
        tidy_dataframe,
        write_parquet,
        write_tidy_parquet,
    )
    from .write import (
        MOST_IN_RECORD,
        add_plots_to_result,
        check_output_writable,
        check_recorded_checksums,
        csv_text,
        make_output_folder,
        recorded_inputs_that_differ,
        write_file_whole,
        write_files_with_record,
        write_output_files,
        write_result,
    )
else:
    __getattr__ = door(__name__)
