"""The command ``ldlf`` of the wheel: the same as the one built with Rust, without Parquet, PNG and deep networks."""

from __future__ import annotations

import signal
import sys

from . import _engine


def main() -> int:
    """Runs the call in ``sys.argv`` and gives the exit code."""
    # Python's own handler would only note Ctrl-C, and run when the command is over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _engine.command(["ldlf", *sys.argv[1:]])
