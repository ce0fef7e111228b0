"""The Converse format, assembled: it has a vendor's side only."""

from collections.abc import Mapping
from urllib.parse import quote

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

from ._answer import DIALECT
from .errors import read_error
from .relay import relay_reply
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import Reader


class ConverseVendor:
    """Calls Converse, and ConverseStream."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        """The model stands in the path; colons and slashes of an ARN are written in percent."""
        return f"/model/{quote(model, safe='')}/{'converse-stream' if stream else 'converse'}"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return relay_reply(call)


CONVERSE = WireFormat(
    id="bedrock",
    dialect=DIALECT,
    vendor=ConverseVendor(),
    stream_type="application/vnd.amazon.eventstream",
    model_in_body=False,
    by_value=("image", "audio", "video", "document"),
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
)
