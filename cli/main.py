"""The command `denoc`: one error boundary, exit codes.

The commands are imported within the boundary, so that Ctrl-C is answered in the same way from the beginning.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Any

from denoc.cli import signals, streams
from denoc.errors import DenocError

INTERRUPTED = "interrupted; results that were not complete have not been written"
# errors of the system when a disk, a quota or a limit is exhausted, or hardware fails
REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO, errno.EROFS)
MISTAKE = "this is a mistake in denoc itself ({}: {}); DENOC_DEBUG=1 shows where it happened"


def main() -> None:
    """Runs the command line; the only place where errors become messages."""
    with signals.heeded(), streams.guarded():
        warnings.showwarning = _show_warning
        try:
            code = _code()
            if sys.stdout is not None:
                sys.stdout.flush()
        except streams.OutputError as error:
            code = _report(error, error.code)
            streams.forget()
    sys.exit(code)


def _code() -> int:
    """Runs the command, and returns its exit code."""
    try:
        from denoc.cli.app import app

        app()
    except DenocError as error:
        return _report(error, error.exit_code)
    except KeyboardInterrupt:
        return _interrupted()
    except SystemExit as leaving:  # with which typer always ends; it turns an interrupt into one, too
        if isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt):
            return _interrupted()
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except streams.OutputError:
        raise
    except Exception as error:
        if signals.heard():  # an import that was interrupted may end as any error
            return _interrupted()
        if os.environ.get("DENOC_DEBUG"):
            raise
        if isinstance(error, MemoryError):
            return _report("there isn't enough memory for this", 3)
        if isinstance(error, OSError) and error.errno in REFUSED:
            return _report(f"{error.filename or 'the system refuses'}: {error.strerror}", 2)
        return _report(MISTAKE.format(type(error).__name__, error), 3)
    return 0


def _interrupted() -> int:
    print(INTERRUPTED, file=sys.stderr)
    return signals.code()


def _report(error: object, code: int) -> int:
    """Prints an error, and returns the exit code."""
    print(f"error: {error}", file=sys.stderr)
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Prints a warning as one line."""
    print(f"warning: {message}", file=sys.stderr)
