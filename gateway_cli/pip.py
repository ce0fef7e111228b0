"""Whatever installs packages here: pip, or uv in its place."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

from msgspec import Struct

from gateway_core.plugins.files import program


class InstallFailed(Exception):
    """The message says what went wrong and what to do."""


class CommandResult(Struct, frozen=True):
    """How a command ended."""

    code: int
    stderr: str = ""
    """Its error output, where that was captured."""


class Run(Protocol):
    """Runs a command that shows on the terminal what it does, unless it is listened to."""

    def __call__(self, command: Sequence[str], *, listen: bool = False) -> CommandResult: ...


class Installer(Struct, frozen=True):
    """The words that call it."""

    words: tuple[str, ...]
    is_uv: bool = False

    def command(self, verb: str, *more: str) -> list[str]:
        python = ("--python", sys.executable) if self.is_uv else ()
        return [*self.words, verb, *python, *more]


def installer() -> Installer:
    """What there is. Raises InstallFailed."""
    if find_spec("pip") is not None:
        return Installer((sys.executable, "-m", "pip"))
    uv = program("uv")
    if uv is not None:
        return Installer((uv, "pip"), is_uv=True)
    raise InstallFailed(
        "There is neither pip nor uv to install with. "
        f"Run {sys.executable} -m ensurepip, or install uv."
    )


def run(command: Sequence[str], *, listen: bool = False) -> CommandResult:
    """A Run that keeps to the error output, so that the output stays the command line's own."""
    ended = subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=2,
        stderr=subprocess.PIPE if listen else None,
        text=True,
    )
    return CommandResult(ended.returncode, ended.stderr or "")


def insist(ended: CommandResult) -> str:
    """The error output of a command that succeeded. Raises InstallFailed."""
    if ended.code != 0:
        raise InstallFailed(f"{ended.stderr}The installer ended with code {ended.code}; see above.")
    return ended.stderr
