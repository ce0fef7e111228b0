"""The two sides of the format and the client's side of its compact variant."""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import (
    Call,
    Conversation,
    GatewayError,
    Losses,
    Relay,
    Reply,
    StreamReader,
    StreamWriter,
    Target,
    UpstreamError,
)
from gateway_formats.relay import StreamRelay, WholeRelay

from .answers import overhear, read_reply
from .compaction import CompactionWriter, write_compacted_reply, write_compaction
from .errors import read_error, write_error
from .reader import Reader
from .requests import read_compact_request, read_request
from .summary import asks_for_summary
from .vendor_requests import write_request
from .watch import ResponsesWatch
from .writer import Writer, write_reply

PATH = "/responses"
_TRUE = Raw(b"true")


class ResponsesClient:
    """Serves clients of the format."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, asked: Conversation, losses: Losses) -> bytes:
        write = write_compacted_reply if asks_for_summary(asked) else write_reply
        return write(reply, asked, losses)

    def stream_writer(self, asked: Conversation, losses: Losses) -> StreamWriter:
        if asks_for_summary(asked):
            return CompactionWriter(asked, losses)
        return Writer(asked, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


class CompactClient(ResponsesClient):
    """Serves clients that want a conversation compacted, whatever the vendor can do."""

    def read_request(self, call: Call) -> Conversation:
        return read_compact_request(call)

    def write_reply(self, reply: Reply, asked: Conversation, losses: Losses) -> bytes:
        return write_compaction(reply, asked, losses)


class ResponsesVendor:
    """Calls vendors that speak the format."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return PATH

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        if not call.stream:
            return WholeRelay(overhear)
        if members.get("stream") != _TRUE:
            members["stream"] = _TRUE  # A header asked for it.
        return StreamRelay(ResponsesWatch())
