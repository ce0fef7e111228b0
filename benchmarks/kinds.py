"""What a call of another kind costs beside a chat: an embeddings call, a plain answer, and a plain
answer as long as that of the embeddings call take turns at one gateway.
"""

import statistics

from msgspec import Struct

from .answers import BY_NAME
from .peers import OWN
from .rounds import WARM, ratio
from .stage import RunningPeer, Sample, Stage

MODES = tuple(BY_NAME[name] for name in ("plain", "embeddings", "long"))
CONNECTIONS = (1, 32)
SIZE = 1024
SECONDS = 2.0
ROUNDS = 7


class Kinds(Struct, frozen=True, kw_only=True, rename="camel"):
    """Processor time of the gateway for an answer, in microseconds, and latencies."""

    connections: int
    chat_cpu: float
    embeddings_cpu: float
    long_cpu: float = 0.0
    """Of a chat whose answer is as long as that of the embeddings call."""
    ratio: float | None
    """Of embeddings and chat, by rounds."""
    long_ratio: float | None = None
    """Of embeddings and the long chat, by rounds."""
    chat_p50: float
    embeddings_p50: float


def compare_kinds(stage: Stage) -> tuple[Kinds, ...]:
    """With one connection, and with several. Raises LoadFailed, DidNotStart."""
    with stage.running_peer(OWN) as running:
        return tuple(_compare(stage, running, connections) for connections in CONNECTIONS)


def _compare(stage: Stage, running: RunningPeer, connections: int) -> Kinds:
    def take_turn(seconds: float) -> list[Sample]:
        return [
            stage.sample(running, mode, SIZE, connections=connections, seconds=seconds)
            for mode in MODES
        ]

    take_turn(WARM)
    chats, vectors, longs = zip(*(take_turn(SECONDS) for _ in range(ROUNDS)), strict=True)
    chat, embeddings, long = ([each.cpu for each in samples] for samples in (chats, vectors, longs))
    return Kinds(
        connections=connections,
        chat_cpu=statistics.median(chat),
        embeddings_cpu=statistics.median(embeddings),
        long_cpu=statistics.median(long),
        ratio=ratio(embeddings, chat),
        long_ratio=ratio(embeddings, long),
        chat_p50=statistics.median(each.load.p50 for each in chats),
        embeddings_p50=statistics.median(each.load.p50 for each in vectors),
    )
