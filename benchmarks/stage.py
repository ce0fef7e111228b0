"""Everything that runs during a measurement: the vendor, the peers, and the load."""

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from . import answers, questions
from .installation import Change, furnish
from .native import Load, Native, ask, compiled
from .peers import Peer, filled
from .processes import Cores, Started, cores, cpu_seconds, free_port, run_process
from .tools import found

SETTLE = 0.5
"""Seconds after the last answer in which a peer may finish what belongs to it."""
PACKAGES = {"nginx": "nginx-light"}


class Sample(Struct, frozen=True):
    """One turn of one peer: processor time in microseconds for each answer, and what came."""

    cpu: float
    load: Load


class RunningPeer(Struct, frozen=True):
    """A running peer, and the values of its placeholders."""

    peer: Peer
    words: Mapping[str, object]
    started: Started | None
    """``None`` for the vendor itself."""

    @property
    def port(self) -> int:
        port = self.words["port"]
        assert isinstance(port, int)
        return port

    @property
    def pid(self) -> int:
        assert self.started is not None
        return self.started.pid


class Stage:
    """A running vendor, and what is needed to start peers beside it."""

    def __init__(self, folder: Path, native: Native, shared: Cores, vendor: Started) -> None:
        self.folder = folder
        self.native = native
        self.cores = shared
        self.vendor = vendor
        self._requests: dict[tuple[str, str, int], Path] = {}
        self._count = 0

    @contextmanager
    def running_peer(
        self,
        peer: Peer,
        *,
        change: Change | None = None,
        variables: Mapping[str, str] = {},
        where: frozenset[int] | None = None,
    ) -> Iterator[RunningPeer]:
        """A peer that runs inside the block. Raises DidNotStart, ToolMissing."""
        words = self.words(peer, change)
        if not peer.command:
            yield RunningPeer(peer, words, None)
            return
        program, *rest = (filled(word, words) for word in peer.command)
        command = [program if "/" in program else found(program, _package(program)), *rest]
        filled_in = {name: filled(text, words) for name, text in peer.variables.items()}
        with run_process(
            command,
            int(str(words["port"])),
            where or self.cores.measured,
            self.folder / f"{self._count}.log",
            variables={**filled_in, **variables},
            health=peer.health,
        ) as started:
            yield RunningPeer(peer, words, started)

    def words(self, peer: Peer, change: Change | None = None) -> dict[str, object]:
        """What a peer's placeholders stand for, with a folder of its own."""
        self._count += 1
        folder = self.folder / f"peer-{self._count}"
        folder.mkdir()
        port = free_port() if peer.command else self.vendor.port
        words: dict[str, object] = {
            "port": port,
            "vendor": self.vendor.port,
            "folder": folder,
            "bin": Path(sys.executable).parent,
        }
        if peer.has_data:
            here = furnish(folder, self.vendor.port, change, peer.variables)
            words |= {"key": here.key, "limited_key": here.limited_key}
        for name, text in peer.files.items():
            (folder / name).write_text(filled(text, words))
        return words

    def sample(
        self,
        running: RunningPeer,
        mode: answers.Mode,
        size: int,
        *,
        connections: int,
        seconds: float = 600.0,
        count: int = 0,
        spread: float = 0.0,
        sleeps: bool = False,
        is_fresh: bool = False,
    ) -> Sample:
        """Send load to a peer and see what it costs. Raises LoadFailed."""
        pid = self.vendor.pid if running.started is None else running.pid
        request = self.request(running, mode, size)
        before = cpu_seconds(pid)
        load = ask(
            self.native,
            running.port,
            request,
            self.cores.load,
            connections=connections,
            seconds=seconds,
            answers=count,
            spread=spread,
            sleeps=sleeps,
            is_fresh=is_fresh,
        )
        time.sleep(SETTLE)
        used = cpu_seconds(pid) - before
        return Sample(1e6 * used / max(load.answers, 1), load)

    def request(self, running: RunningPeer, mode: answers.Mode, size: int) -> Path:
        """The file with the request for a peer."""
        known = (str(running.words["folder"]), mode.name, size)
        if known not in self._requests:
            words = {**running.words, "mode": mode.name, "path": mode.path, "kind": mode.kind}
            peer = running.peer
            words["endpoint"] = mode.endpoint
            model = filled(peer.model, words)
            if mode.endpoint == answers.EMBEDDINGS:
                body = questions.embeddings(model, size)
            else:
                body = questions.chat(model, size, is_stream=mode.is_stream)
            headers = {name: filled(text, words) for name, text in peer.headers.items()}
            whole = questions.request(running.port, filled(peer.path, words), headers, body)
            self._requests[known] = questions.write(
                self.folder, f"request-{len(self._requests)}", whole
            )
        return self._requests[known]


def _package(program: str) -> str:
    return PACKAGES.get(program, program)


@contextmanager
def set_up(available: Iterable[int]) -> Iterator[Stage]:
    """A stage in a temporary folder, which is removed at the end. Raises ToolMissing."""
    shared = cores(sorted(available))
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name:
        folder = Path(name)
        native = compiled(folder)
        spoken = folder / "answers"
        spoken.mkdir()
        answers.write_all(spoken)
        port = free_port()
        command = [str(native.vendor), str(port), str(spoken)]
        with run_process(command, port, shared.vendor, folder / "vendor.log") as vendor:
            yield Stage(folder, native, shared, vendor)
