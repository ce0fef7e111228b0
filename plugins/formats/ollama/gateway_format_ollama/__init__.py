"""The local model server's chat format: whole messages in, lines of JSON out.

API reference: https://docs.ollama.com/api/chat

A client gets a stream unless it says ``"stream": false``, and ``llama3.2`` when
it names no model. There are no ids of answers, no citations and no signatures;
what a vendor signed travels in the ``id`` of a tool call, so it survives only
where the client returns that id. Tool arguments are objects; anything else is
put under ``input``. Images are base64; the server fetches nothing.

Provider options: none.
"""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import (
    Call,
    Conversation,
    Endpoint,
    GatewayError,
    KeepAlive,
    Losses,
    Relay,
    Reply,
    StreamReader,
    StreamWriter,
    Target,
    Tool,
    UpstreamError,
    WireFormat,
    hookimpl,
)

from ._dialect import DIALECT
from ._forced_calls import ForcedCallReader, ask_for_arguments, forced_tool, read_as_call
from .client_replies import write_reply
from .client_requests import read_intake, read_request
from .client_stream import Writer, write_losses
from .errors import read_error, write_error
from .grammar import GRAMMAR
from .relay import relay_reply
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import Reader


class OllamaClient:
    """Serves clients that expect a local model server."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes:
        return write_reply(reply, request, losses)

    def stream_writer(self, request: Conversation, losses: Losses) -> StreamWriter:
        return Writer(request, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


class OllamaVendor:
    """Calls local model servers, and the hosted one of the same make."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/api/chat"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return relay_reply(call)


class ForcedCallVendor(OllamaVendor):
    """Calls a server for an answer that is a call of one tool."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(ask_for_arguments(conversation, self._tool), target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_as_call(read_reply(body), self._tool)

    def stream_reader(self) -> StreamReader:
        return ForcedCallReader(Reader(), self._tool)


def vendor_for(conversation: Conversation) -> OllamaVendor:
    """Who calls a server with this conversation."""
    tool = forced_tool(conversation)
    return OllamaVendor() if tool is None else ForcedCallVendor(tool)


_OPTIONS = (
    *("temperature", "top_p", "top_k", "min_p", "seed", "stop"),
    *("presence_penalty", "frequency_penalty"),
)
OLLAMA = WireFormat(
    id="ollama",
    dialect=DIALECT,
    endpoints=(
        Endpoint(path="/v1/api/chat", read=read_intake),
        Endpoint(path="/api/chat", read=read_intake),
    ),
    client=OllamaClient(),
    vendor=OllamaVendor(),
    stream_type="application/x-ndjson",
    # Clients decode each line, and fail on an empty one; white space may begin any: RFC 8259,
    # section 2.
    keep_alive=KeepAlive(frame=b" ", throughout=True),
    grammar=GRAMMAR,
    media_names={"image": "images"},
    by_value=("image",),
    vendor_for=vendor_for,
    late_error=lambda body: body + b"\n",
    spelling={
        **{name: f"options.{name}" for name in _OPTIONS},
        "effort": "think",
        "max_tokens": "options.num_predict",
        "output_json": "format",
        "output_schema": "format",
        "reasoning": "thinking",
        "thinking": "think",
    },
    trailer=write_losses,
    base_url="http://localhost:11434",
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [OLLAMA]
