"""Instructions for each plain answer, counted by callgrind: a figure that load does not change.

It is stored in instructions.json, and a run that exceeds it by more than the tolerance fails.
Processors and versions of Python or of a library change it; store it again then.
"""

import platform
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .answers import BY_NAME
from .peers import KEY, LIMITED, Peer
from .stage import RunningPeer, Sample, Stage
from .tools import found

KEPT = Path(__file__).parent / "instructions.json"
ANSWERS = 200
WINDOWS = 5
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
    embeddings: float = 0.0
    """Of an embeddings call."""
    long: float = 0.0
    """Of a chat whose answer is as long as that of the embeddings call."""
    python: str
    machine: str
    tolerance: float = TOLERANCE


def count(stage: Stage) -> Counted:
    """Count. Raises ToolMissing, DidNotStart, LoadFailed."""
    plain, embeddings, long = count_modes(stage, COUNTED, ("plain", "embeddings", "long"))
    (limited,) = count_modes(stage, replace(COUNTED, headers=LIMITED.headers), ("plain",))
    return Counted(
        plain=plain,
        limited=limited,
        embeddings=embeddings,
        long=long,
        python=platform.python_version(),
        machine=platform.machine(),
    )


def count_modes(
    stage: Stage,
    peer: Peer,
    modes: Sequence[str],
    *,
    answers: int = ANSWERS,
    warm: int = WARM,
    size: int = 1024,
) -> list[float]:
    """Thousands of instructions for each answer of these modes, at one gateway.

    Each is the median of several windows: what the gateway does once in some seconds, such as
    looking for models, is in one of them, and how many answers it falls upon depends on the load
    of the machine.
    """
    control = found("callgrind_control", "valgrind")
    with stage.running_peer(peer, where=stage.cores.measured) as running:
        file = Path(str(running.words["folder"])) / "callgrind.out"
        counted, part = [], 0
        _command(control, running, "-i", "on")
        for mode in modes:
            _load(stage, running, mode, warm, size)
            _command(control, running, "-z")
            windows = []
            for _ in range(WINDOWS):
                _load(stage, running, mode, answers, size)
                part += 1
                _command(control, running, "-d")
                windows.append(total_of(file.with_suffix(f".out.{part}").read_text()) / answers)
            counted.append(round(statistics.median(windows) / 1000, 1))
    return counted


def _load(stage: Stage, running: RunningPeer, mode: str, answers: int, size: int) -> Sample:
    return stage.sample(running, BY_NAME[mode], size, connections=CONNECTIONS, count=answers)


def _command(control: str, running: RunningPeer, *words: str) -> None:
    command = [control, *words, str(running.pid)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
    if counted.embeddings and counted.long:
        beside_short, beside_long = (
            counted.embeddings / chat for chat in (counted.plain, counted.long)
        )
        text += (
            f", {counted.embeddings:,.1f} for an embeddings call ({beside_short:.2f} times), "
            f"{counted.long:,.1f} for a chat answer of its length ({beside_long:.2f} times)"
        )
    if before is None:
        return f"{text}; no figure is stored to compare with, store this one with --save"
    verdict = "not over" if is_within(counted, before) else "OVER"
    return (
        f"{text}; stored is {before.plain:,.1f} (Python {before.python}): "
        f"{change(counted, before):+.1%}, {verdict} the tolerance of {before.tolerance:.0%}"
    )
