"""Pictures that nobody looks at: their figures are made as ever, and what is written is a point, which costs nothing.

Drawing takes most of the time of commands that plot.  What pictures look like, and that they can be drawn without a
warning, is for tests of plots, of the commands that write each format, and for all tests with `--full`.
"""

import struct
import zlib
from importlib import import_module

HOMES = ("denoc.record.plots", "denoc.scenario.stored", "denoc.study.sweep.results")


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


POINT = {
    ".png": b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\xff\xff\xff"))
    + _chunk(b"IEND", b""),
    ".svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n',
    ".pdf": b"%PDF-1.4\n%%EOF\n",
}


def save_figures_by(save, put=setattr):
    """Puts another function in the place of `save_figure`, wherever it is called from."""
    for home in HOMES:
        put(import_module(home), "save_figure", save)


def save(figure, path, dpi=110, letters=None):
    """In place of `save_figure`."""
    path.write_bytes(POINT[path.suffix])
