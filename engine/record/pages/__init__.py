"""Parts of HTML pages that need nothing but themselves: documents, tables, images, and the programs that run in them.

html  the parts from data; the scripts, styles and frames of pages stand beside it
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .html import (
        PLAYER,
        RUNNER,
        base64_numbers_for_html,
        html_document,
        html_image,
        html_page_with_machine,
        html_table,
        html_text,
    )
else:
    __getattr__ = door(__name__)
