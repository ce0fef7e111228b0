"""Cohere's chat format, assembled: it has a vendor's side only."""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import (
    Call,
    Conversation,
    Losses,
    Relay,
    Reply,
    StreamReader,
    Target,
    UpstreamError,
    WireFormat,
)
from gateway_formats.streamed_replies import is_stream, read_stream

from ._dialect import DIALECT
from .errors import read_error
from .relay import relay_reply
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import Reader


class CohereVendor:
    """Calls Cohere's chat, version 2."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_stream(body, Reader()) if is_stream(body) else read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/chat"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return relay_reply(call)


CHAT = WireFormat(
    id="cohere",
    dialect=DIALECT,
    vendor=CohereVendor(),
    base_url="https://api.cohere.com/v2",
)
