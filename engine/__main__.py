"""The command `denoc`, also as `python -m denoc`: Ctrl-C is quiet from the first import to the end."""

from __future__ import annotations


def main() -> None:
    """Runs the command line."""
    try:
        from denoc.cli import main as boundary  # nothing is heard before, so nothing heavy is imported before

        boundary.main()
    except KeyboardInterrupt:
        import os

        os.write(2, b"interrupted; results that were not complete have not been written\n")
        os._exit(130)
    finally:
        from signal import SIG_IGN, SIGINT, signal

        signal(SIGINT, SIG_IGN)  # what is left is Python's own end, which would show where it was interrupted


if __name__ == "__main__":
    main()
