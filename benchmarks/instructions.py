"""Instructions for each plain answer, counted by callgrind: a figure that load does not change.

It is stored in instructions.json, and a run that exceeds it by more than the tolerance fails.
Processors and versions of Python or of a library change it; store it again then.
"""

import platform
import subprocess
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .answers import BY_NAME
from .peers import KEY, LIMITED, Peer
from .stage import RunningPeer, Sample, Stage
from .tools import found

KEPT = Path(__file__).parent / "instructions.json"
ANSWERS = 500
WARM = 300
CONNECTIONS = 1
TOLERANCE = 0.03
COUNTED = Peer(
    name="gateway under callgrind",
    command=(
        *("valgrind", "--tool=callgrind", "--instr-atstart=no"),
        "--callgrind-out-file={folder}/callgrind.out",
        *("{bin}/python", "-m", "gateway_core", "--host", "127.0.0.1", "--port", "{port}"),
        *("--server", "fast"),
    ),
    # The order of sets, and with it the number of instructions, must not change between runs.
    variables={"DATA_DIR": "{folder}", "PYTHONHASHSEED": "0"},
    health="/api/health",
    headers=KEY,
    has_data=True,
)


class Counted(Struct, frozen=True, kw_only=True, rename="camel"):
    """Thousands of instructions for each answer, and what they were counted on."""

    plain: float
    limited: float = 0.0
    """The same for a key whose limits are counted."""
    python: str
    machine: str
    tolerance: float = TOLERANCE


def count(stage: Stage) -> Counted:
    """Count. Raises ToolMissing, DidNotStart, LoadFailed."""
    return Counted(
        plain=_count(stage, COUNTED),
        limited=_count(stage, replace(COUNTED, headers=LIMITED.headers)),
        python=platform.python_version(),
        machine=platform.machine(),
    )


def _count(stage: Stage, peer: Peer) -> float:
    """Thousands of instructions for each plain answer."""
    control = found("callgrind_control", "valgrind")
    with stage.running_peer(peer, where=stage.cores.measured) as running:
        _load(stage, running, WARM)
        _switch(control, running, "on")
        _load(stage, running, ANSWERS)
        _switch(control, running, "off")
    file = Path(str(running.words["folder"])) / "callgrind.out"
    return round(total_of(file.read_text()) / ANSWERS / 1000, 1)


def _load(stage: Stage, running: RunningPeer, answers: int) -> Sample:
    plain = BY_NAME["plain"]
    return stage.sample(running, plain, 1024, connections=CONNECTIONS, count=answers)


def _switch(control: str, running: RunningPeer, to: str) -> None:
    subprocess.run([control, "-i", to, str(running.pid)], check=True, stdout=subprocess.DEVNULL)


def total_of(text: str) -> int:
    """All instructions that a callgrind file counts."""
    for line in text.splitlines():
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise ValueError("callgrind wrote no total")


def kept(path: Path = KEPT) -> Counted | None:
    """The figure to compare with."""
    return msgspec.json.decode(path.read_bytes(), type=Counted) if path.exists() else None


def save(counted: Counted, path: Path = KEPT) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(counted), indent=2) + b"\n")


def change(counted: Counted, before: Counted) -> float:
    """How much more than before, as a share."""
    return counted.plain / before.plain - 1


def is_within(counted: Counted, before: Counted | None) -> bool:
    """Whether an answer costs no more than the tolerance allows."""
    return before is None or change(counted, before) <= before.tolerance


def compared(counted: Counted, before: Counted | None) -> str:
    """The result of a run beside the stored figure."""
    text = f"{counted.plain:,.1f} thousand instructions for each plain answer"
    if counted.limited:
        share = counted.limited / counted.plain
        text += f", {counted.limited:,.1f} with a limited key ({share:.2f} times)"
    if before is None:
        return f"{text}; no figure is stored to compare with, store this one with --save"
    verdict = "not over" if is_within(counted, before) else "OVER"
    return (
        f"{text}; stored is {before.plain:,.1f} (Python {before.python}): "
        f"{change(counted, before):+.1%}, {verdict} the tolerance of {before.tolerance:.0%}"
    )
