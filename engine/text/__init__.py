"""Text: YAML documents with the place of every value, files, the library, a few words.

Nothing here knows mechanics. What values mean has two rooms of its own.

    document     plain data with the place of every key and value, at which errors point
    source       documents from YAML text, files and mappings; `builder` puts the events of PyYAML together
    writing      plain data as YAML, and the values of words without quotes
    change       single values replaced by dotted keys, from `--set` or an ensemble
    files        files that users name, read up to a bound
    library      the robots, scenarios and studies that come with denoc
    words        small turns of English
    expressions  quantities with units, formulas over time and state
    fields       what the values of files may be, mistakes in words, JSON Schemas
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .change import ROBOT, Change, changed_document, parted_changes
    from .document import DOCUMENT_BYTES, Document, Keys, Spot, fixed_data, yaml_value_in_words
    from .files import (
        bytes_of_text_file,
        content_of_file,
        file_is_owned,
        lines_of_text,
        opened_regular_file,
        path_from_folder,
        text_of_file,
    )
    from .library import ONE, find_library_file, library_folder, library_names
    from .source import (
        document_from_mapping,
        parse_yaml_document,
        read_shared_yaml_document,
        read_yaml_document,
        text_of_yaml_file,
    )
    from .words import count_with_noun, words_with_and
    from .writing import yaml_flow_text, yaml_text
else:
    __getattr__ = door(__name__)
