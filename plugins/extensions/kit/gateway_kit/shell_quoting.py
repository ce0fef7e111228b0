"""Quoting a path for a command that is copied into a shell."""

import shlex
import sys
from pathlib import Path
from subprocess import list2cmdline


def quote(path: Path | str) -> str:
    """Quote a path as one word of a command line."""
    if sys.platform == "win32":
        return list2cmdline([str(path)])
    return shlex.quote(str(path))
