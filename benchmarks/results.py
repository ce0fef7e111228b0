"""The results of a run, with the machine and the versions."""

import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
from msgspec import Struct

from .dashboard import FirstPage
from .engines import Engines
from .kinds import Kinds
from .lifetime import Lifetime, Workers
from .rounds import Line
from .scale import Grown
from .tools import path_of

LATEST = Path(__file__).parent / "results" / "latest.json"
OTHERS = LATEST.with_name("others.json")
DISTRIBUTIONS = ("model-gateway", "uvicorn", "uvloop", "httptools", "hypercorn", "msgspec", "apsw")


class Machine(Struct, frozen=True, kw_only=True, rename="camel"):
    processor: str
    cores: int
    kernel: str
    python: str
    load: float
    """The load average when the run began; far from 0 the machine was not quiet."""


class Results(Struct, frozen=True, kw_only=True, rename="camel"):
    """One run. Parts that were not measured are empty."""

    taken_at: str
    machine: Machine
    versions: dict[str, str]
    lines: tuple[Line, ...] = ()
    grown: tuple[Grown, ...] = ()
    lifetime: Lifetime | None = None
    workers: tuple[Workers, ...] = ()
    engines: Engines | None = None
    kinds: tuple[Kinds, ...] = ()
    first_page: FirstPage | None = None
    notes: tuple[str, ...] = ()


def begun() -> Results:
    """Results with nothing in them yet."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Results(taken_at=now, machine=_machine(), versions=_versions())


def keep(results: Results, path: Path = LATEST) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def _machine() -> Machine:
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _versions() -> dict[str, str]:
    figures = {}
    for name in DISTRIBUTIONS:
        try:
            figures[name] = version(name)
        except PackageNotFoundError:
            figures[name] = "not installed"
    return {**figures, "nginx": _said("nginx", "-v"), "gcc": _said("gcc", "--version")}


def _said(program: str, argument: str) -> str:
    """The last word of the first line, where both programs print their version."""
    path = path_of(program)
    if path is None:
        return "not installed"
    done = subprocess.run([path, argument], capture_output=True, check=False, text=True)
    words = (done.stdout + done.stderr).partition("\n")[0].split() or ["unknown"]
    return words[-1].removeprefix("nginx/")
