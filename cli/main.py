"""The command `denoc`: one error boundary, exit codes.

The commands are imported within the boundary, so that Ctrl-C is answered in the same way from the beginning.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings

from denoc.cli import as_json, interrupts, said, streams
from denoc.errors import DenocError
from denoc.settings import check_environment_settings, environment_setting

INTERRUPTED = "interrupted; results that were not complete have not been written"
GARBAGE = 400_000  # objects that are made between two searches for garbage: more than a run with its plots makes
INTERRUPT = 130  # with which typer ends when it is interrupted
# errors of the system when a disk, a quota or a limit is exhausted, or hardware fails
REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO, errno.EROFS)
MISSING = "the package `{0}` isn't installed here, and this needs it\n  hint: `pip install {0}`"
MISTAKE = "this is a mistake in denoc itself ({}: {}); DENOC_DEBUG=1 shows where it happened"


def main() -> None:
    """Runs the command line; the only place where errors become messages."""
    # read when numpy is imported: for matrices as small as these, threads only spin
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # read when pydantic is used first: plugins would be looked for in all packages that are installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(GARBAGE)  # what is imported, and a drawn figure, are no garbage that is worth a search
    with interrupts.heed_interrupt_signals():
        try:
            with streams.guard_standard_streams():
                code = _guarded()
        except KeyboardInterrupt:
            code = _interrupted()
    sys.exit(code)


def _guarded() -> int:
    """Runs the command, and returns its exit code, which depends on whether its output could be written, too."""
    warnings.showwarning = _show_warning
    as_json.begin_json_document()
    try:
        code = _code()
        if sys.stdout is not None:
            sys.stdout.flush()
    except streams.OutputError as error:
        streams.forget_standard_output()
        if interrupts.interrupt_was_heard():  # with which whoever reads the output has gone, too
            return interrupts.exit_code_of_interrupt()
        if error.code != streams.UNREAD:  # a reader that has seen enough, such as `head`, is no error
            said.print_error(error)
        return error.code
    return code


def _code() -> int:
    """Runs the command, and returns its exit code."""
    try:
        check_environment_settings()
        from denoc.cli.app import typer_application

        code = typer_application(sys.argv[1:])(standalone_mode=not _json())
        return _interrupted() if interrupts.interrupt_was_heard() and code == INTERRUPT else int(code or 0)
    except DenocError as error:
        return _report(as_json.json_kind_of_error(error), str(error), error.exit_code, error)
    except KeyboardInterrupt:
        return _interrupted()
    except SystemExit as leaving:  # with which typer always ends; it turns an interrupt into one, too
        if isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt):
            return _interrupted()
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except streams.OutputError:
        raise
    except Exception as error:
        if (
            interrupts.interrupt_was_heard()
        ):  # an import that was interrupted may end as any error, and typer makes one of it
            return _interrupted()
        if _json() and callable(message := getattr(error, "format_message", None)):  # a mistake on the command line
            return _report("usage", message(), int(getattr(error, "exit_code", 2)))
        if environment_setting("DENOC_DEBUG") == "1":
            raise
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    """Reports an error that isn't one of denoc's own, and returns the exit code."""
    if isinstance(error, MemoryError):
        return _report("memory", "there isn't enough memory for this", 3)
    if isinstance(error, ModuleNotFoundError) and not (error.name or "denoc").startswith("denoc"):
        return _report("system", MISSING.format((error.name or "").partition(".")[0]), 2)
    if isinstance(error, OSError) and error.errno in REFUSED:
        return _report("system", f"{error.filename or 'the system refuses'}: {error.strerror}", 2)
    return _report("bug", MISTAKE.format(type(error).__name__, error), 3)


def _json() -> bool:
    return as_json.json_is_asked(sys.argv[1:])


def _interrupted() -> int:
    code = interrupts.exit_code_of_interrupt()
    if _json():
        as_json.print_json_failure("interrupted", INTERRUPTED, code)
    else:
        print(INTERRUPTED, file=sys.stderr)
    return code


def _report(kind: str, message: str, code: int, error: DenocError | None = None) -> int:
    """Prints an error, as JSON where that is asked for, and returns the exit code."""
    if _json():
        as_json.print_json_failure(kind, message, code, error)
    else:
        said.print_error(message)
    return code


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Prints a warning as one line."""
    said.print_warning(message)
