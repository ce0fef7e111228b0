"""Read a whole compaction as if it had been streamed."""

from collections.abc import Sequence

from gateway_core import StreamEvent, UpstreamError
from gateway_formats.fold import as_failure, unfold

from ..vendor_replies import read_compaction


class CompactionReader:
    """Reads a whole answer as if it had been streamed."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        self._held.append(chunk)
        return ()

    def close(self) -> Sequence[StreamEvent]:
        try:
            return unfold(read_compaction(b"".join(self._held)))
        except UpstreamError as error:
            return (as_failure(error),)
