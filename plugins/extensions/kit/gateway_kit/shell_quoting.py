"""How a path is spelled in a command that somebody may copy into a shell."""

import shlex
import sys
from pathlib import Path
from subprocess import list2cmdline


def quoted(path: Path | str) -> str:
    """One word of a command line, whatever the path holds."""
    if sys.platform == "win32":
        return list2cmdline([str(path)])
    return shlex.quote(str(path))
