"""Aspen: talks with pictures, counted beside what its cache holds.

Reference: https://docs.aspen.example/talk

A request is ``{"model", "stream", "system", "messages", "tools", "choose", ...}``, a
message ``{"role", "parts"}``. An answer is ``{"type": "answer", "id", "model",
"parts", "finish", "met", "usage"}``, and a stream is a ``start``, the same parts in
pieces, and an ``end``. ``usage`` counts fresh and cached input apart.
"""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import (
    Call,
    Conversation,
    Endpoint,
    GatewayError,
    Losses,
    Relay,
    Reply,
    StreamReader,
    StreamWriter,
    Target,
    UpstreamError,
    WireFormat,
    hookimpl,
)
from gateway_formats.intake import read_routing
from gateway_formats.relay import StreamRelay, WholeRelay
from gateway_formats.sse import write_frame

from .client_replies import write_reply
from .client_requests import DIALECT, read_request
from .client_stream import Writer
from .errors import read_error, write_error
from .grammar import GRAMMAR
from .relay import Watch, read_counts
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import Reader

GATEWAY_PROTOCOL = 1


class Client:
    """Serves clients that speak this format."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, conversation: Conversation, losses: Losses) -> bytes:
        return write_reply(reply, conversation, losses)

    def stream_writer(self, conversation: Conversation, losses: Losses) -> StreamWriter:
        return Writer(conversation, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


class Vendor:
    """Calls vendors that speak this format."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/talk"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return StreamRelay(Watch()) if call.stream else WholeRelay(read_counts)


ASPEN = WireFormat(
    id="aspen",
    dialect=DIALECT,
    endpoints=(Endpoint(path="/v1/aspen/talk", read=read_routing),),
    client=Client(),
    vendor=Vendor(),
    grammar=GRAMMAR,
    late_error=write_frame,
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [ASPEN]
