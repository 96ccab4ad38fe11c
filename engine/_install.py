"""The build backend: setuptools, with one more line for editable installs (`pip install -e .`).

An editable install has no folder of its own among the installed packages: a finder that setuptools appends to
`sys.meta_path` knows where `denoc` is. It comes last, so in the parent of a checkout that is called `denoc`, Python
would take the checkout itself for a package without modules. The line puts the finder first.
"""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401  # the hooks by which pip and build call a backend
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

FIRST = "denoc-first.pth"  # such files are read in the order of their names, setuptools' own `__editable__…` before
LINE = (
    "import sys; "
    "sys.meta_path.sort(key=lambda finder: '__editable___denoc' not in str(getattr(finder, '__module__', '')))\n"
)


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds setuptools' editable wheel, adds the line, and returns the wheel's name."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    _add(Path(wheel_directory, name), FIRST, LINE.encode())
    return name


def _add(wheel: Path, name: str, text: bytes) -> None:
    """Adds a file to a wheel, and its hash to the wheel's list of files."""
    digest = urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
    with zipfile.ZipFile(wheel) as old:
        files = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(name, text)
        for info, data in files:
            listed = info.filename.endswith(".dist-info/RECORD")
            new.writestr(info, f"{name},sha256={digest},{len(text)}\n".encode() + data if listed else data)
