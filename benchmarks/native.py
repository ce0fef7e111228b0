"""The mock vendor and the load client: small C programs, compiled for each run."""

import subprocess
from pathlib import Path

import msgspec
from msgspec import Struct

from .processes import on
from .tools import found

SOURCES = Path(__file__).parent / "native"


class LoadFailed(Exception):
    """The load client failed."""


class Load(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the load client measured. Times in microseconds, ``first`` until a body's first byte."""

    answers: int
    errors: int
    bad_status: int
    seconds: float
    bytes: int
    p50: float
    p99: float
    first50: float
    first99: float


class Native(Struct, frozen=True):
    """The compiled programs."""

    vendor: Path
    load: Path


def compiled(folder: Path) -> Native:
    """Compile both into a folder. Raises ToolMissing."""
    compiler = found("gcc", "gcc")
    made = {}
    for name in ("vendor", "load"):
        made[name] = folder / name
        command = [compiler, "-O2", "-o", str(made[name]), str(SOURCES / f"{name}.c")]
        subprocess.run(command, check=True)
    return Native(**made)


def ask(
    native: Native,
    port: int,
    request: Path,
    where: frozenset[int],
    *,
    connections: int,
    seconds: float = 600.0,
    answers: int = 0,
    spread: float = 0.0,
    sleeps: bool = False,
    is_fresh: bool = False,
) -> Load:
    """Send load until the time is over or, unless 0, this many answers came. Raises LoadFailed.

    Connections begin one after the other within ``spread`` seconds. ``is_fresh`` opens a new one
    for each request, within the time that is measured.
    """
    words = (port, connections, seconds, answers, request, spread)
    options = {"sleep": sleeps, "fresh": is_fresh}
    switched_on = (name for name, is_on in options.items() if is_on)
    command = [str(native.load), *map(str, words), *switched_on]
    with on(where):
        done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise LoadFailed(done.stderr.decode(errors="replace").strip())
    return msgspec.json.decode(done.stdout, type=Load)
