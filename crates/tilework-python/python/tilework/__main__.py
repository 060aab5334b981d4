"""`python -m tilework`: the command line."""

from __future__ import annotations

import os
import signal
import sys

from tilework._tilework import command


def main() -> None:
    """Runs the command `tilework` with the arguments of this program, and ends it."""
    # The work is done in Rust, where nobody would ask whether Python was interrupted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What the command runs in Python, it runs in this one.
    os.environ.setdefault("TILEWORK_PYTHON", sys.executable)
    sys.exit(command(["tilework", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
