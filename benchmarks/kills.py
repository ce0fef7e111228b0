"""Whether a killed gateway loses rows: it is killed again and again under load.

Each round starts the gateway, sends it plain and streamed requests of a key without limits and of
one with them, and kills it at a random moment. At the end the ids of all answers whose end was seen
are looked up in the ledger.
"""

import asyncio
import os
import random
import re
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path

from msgspec import Struct

from . import answers, questions
from .native import LoadFailed
from .peers import LIMITED, OWN, filled
from .processes import Started, run_process, tree
from .stage import Stage

CONNECTIONS = 16
_ID = b"x-request-id: "
_LENGTH = b"content-length: "


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of the rows of a run."""

    kills: int
    rows: int
    """Answers whose end a client saw."""
    lost: int
    doubled: int
    recovered: int
    """Rows that a later start had to take from a journal."""

    def __str__(self) -> str:
        return (
            f"{self.lost:,} of {self.rows:,} rows lost and {self.doubled:,} written twice in "
            f"{self.kills} kills; {self.recovered:,} were recovered from a journal"
        )


class Client(asyncio.Protocol):
    """Repeats a request on one connection, and notes the answers whose end it has seen."""

    def __init__(self, request: bytes, seen: list[str], gone: "asyncio.Future[None]") -> None:
        self._request, self._seen, self.gone = request, seen, gone
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._held += data
        end = end_of(self._held)
        if end is not None:
            begin = self._held.index(_ID) + len(_ID)
            self._seen.append(self._held[begin : self._held.index(b"\r\n", begin)].decode())
            self._held = self._held[end:]
            self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set_result(None)


def end_of(held: bytes) -> int | None:
    """Where a whole answer ends that begins the bytes; ``None`` while there is more of it."""
    head = held.find(b"\r\n\r\n") + 4
    if head < 4:
        return None
    if not held.startswith(b"HTTP/1.1 200 "):
        raise ValueError(held[:500].decode(errors="replace"))
    begin = held.find(_LENGTH, 0, head)
    if begin < 0:
        end = held.find(b"\r\n0\r\n\r\n", head)
        return None if end < 0 else end + 7
    length = int(held[begin + len(_LENGTH) : held.index(b"\r\n", begin)])
    return head + length if len(held) >= head + length else None


def soak(stage: Stage, kills: int, rows: int, workers: int = 1, seed: int = 41) -> Outcome:
    """Kill a gateway ``kills`` times while it answers ``rows`` requests, or some more."""
    chance, seen = random.Random(seed), list[str]()
    words = stage.words(OWN)
    folder = Path(str(words["folder"]))
    log, requests = folder / "gateway.log", list(_requests(words))
    command = [filled(word, words) for word in OWN.command]
    if workers > 1:
        command += ["--workers", str(workers)]

    def started() -> AbstractContextManager[Started]:
        variables = {"DATA_DIR": str(folder)}
        port, where = int(str(words["port"])), stage.cores.measured
        return run_process(command, port, where, log, variables=variables, health=OWN.health)

    for number in range(kills):
        share = (rows - len(seen)) / (kills - number)
        # The last round brings what is left.
        scatter = chance.uniform(0.5, 1.5) if number < kills - 1 else 1.0
        target = len(seen) + round(share * scatter)
        with started() as gateway:
            asyncio.run(_load(gateway, requests, seen, target, chance.uniform(0, 0.02)))
    with started():
        pass  # It takes what the last kill has left, and stops in order.
    with closing(sqlite3.connect(folder / "db" / "data.sqlite")) as database:
        written = Counter(name for (name,) in database.execute("SELECT request_id FROM usage"))
    return Outcome(
        kills=kills,
        rows=len(seen),
        lost=sum(name not in written for name in seen),
        doubled=sum(count > 1 for count in written.values()),
        recovered=sum(map(int, re.findall(r"(\d+) usage rows were recovered", log.read_text()))),
    )


def _requests(words: Mapping[str, object]) -> Iterator[bytes]:
    """Plain and streamed, with and without limits."""
    for mode in (answers.BY_NAME["plain"], answers.BY_NAME["burst"]):
        for peer in (OWN, LIMITED):
            model = filled(peer.model, {**words, "mode": mode.name})
            body = questions.chat(model, questions.SIZES["1 KB"], is_stream=mode.is_stream)
            headers = {name: filled(text, words) for name, text in peer.headers.items()}
            yield questions.request(int(str(words["port"])), mode.endpoint, headers, body)


async def _load(
    gateway: Started, requests: Sequence[bytes], seen: list[str], target: int, more: float
) -> None:
    """Send load until so many answers were seen, and some seconds more; then kill the gateway, and
    read what it has sent."""
    loop, clients = asyncio.get_running_loop(), list[Client]()
    for number in range(CONNECTIONS):
        clients.append(Client(requests[number % len(requests)], seen, loop.create_future()))
        await loop.create_connection(
            partial(clients.__getitem__, number), "127.0.0.1", gateway.port
        )
    while len(seen) < target:
        if gateway.process.poll() is not None:
            raise LoadFailed("the gateway ended before it was killed")
        await asyncio.sleep(0.001)
    await asyncio.sleep(more)
    for pid in tree(gateway.pid):
        os.kill(pid, signal.SIGKILL)
    await asyncio.gather(*(client.gone for client in clients))
    gateway.process.wait()
