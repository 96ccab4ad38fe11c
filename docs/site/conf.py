"""How Sphinx makes the site of these pages; `make site` puts them, the gallery and the code they link to together."""

from denoc._version import VERSION

project = "denoc"
release = VERSION
author = "the denoc authors"
project_copyright = ""
html_show_copyright = False
html_show_sphinx = False
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"  # its letters are the reader's own, its scripts and pictures come with it
html_title = f"denoc {VERSION}"
html_extra_path = ["extra"]  # files that stay as they are: animations, pictures, code
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"source_view_link": "", "source_edit_link": ""}
myst_heading_anchors = 4
# links to files of `extra` are written `extra:path`, since they are no pages
myst_url_schemes = {"http": None, "https": None, "extra": {"url": "{{path}}#{{fragment}}"}}
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
