"""The generative-content format, for clients and for vendors.

API reference: https://ai.google.dev/api/generate-content

Switches a provider of this format may set in its ``options``:

``json_schema``
    True sends schemas as they are, as ``parametersJsonSchema`` and
    ``responseJsonSchema``. Otherwise they are rewritten for the API's own
    schema language, which every version of it takes.
``call_ids``
    False leaves ids out of function calls and their results.
``signature_placeholder``
    False leaves a function call of the current turn without a signature when
    nobody has one. Otherwise the vendor's documented placeholder vouches for it.
``server_tool_invocations``
    False does not ask for the vendor's own tool calls to be shown when its
    tools stand beside functions.
``system_instruction``
    False says instructions as the user's first words.
"""

from collections.abc import Mapping

import msgspec
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
    WireFormat,
    hookimpl,
)
from gateway_formats.relay import WholeRelay

from ._signatures import DIALECT
from .client_replies.answer import GeminiStreamWriter, write_whole
from .client_requests.endpoints import ENDPOINTS, model_path
from .client_requests.request import read_conversation
from .errors import late_error, read_error, write_error
from .grammar import GRAMMAR
from .relay import GeminiRelay, look_at_whole
from .vendor_replies.reply import read_whole
from .vendor_requests.request import write_body
from .vendor_stream import GeminiStreamReader


class GeminiClient:
    """Serves clients that speak this format."""

    def read_request(self, call: Call) -> Conversation:
        return read_conversation(call.body, call.model, call.stream)

    def write_reply(self, reply: Reply, asked: Conversation, losses: Losses) -> bytes:
        return write_whole(reply, asked, losses)

    def stream_writer(self, asked: Conversation, losses: Losses) -> StreamWriter:
        return GeminiStreamWriter(asked, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


class GeminiVendor:
    """Calls vendors that speak this format."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_body(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_whole(body)

    def stream_reader(self) -> StreamReader:
        return GeminiStreamReader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return model_path(model, "streamGenerateContent?alt=sse" if stream else "generateContent")

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        if "model" in members:
            # Some clients repeat the path's model in the body, by the name they know it under.
            name = f"models/{target.model.id.removeprefix('models/')}"
            members["model"] = Raw(msgspec.json.encode(name))
        return GeminiRelay() if call.stream else WholeRelay(look_at_whole)


GEMINI = WireFormat(
    id="gemini",
    dialect=DIALECT,
    endpoints=ENDPOINTS,
    client=GeminiClient(),
    vendor=GeminiVendor(),
    stream_type="text/event-stream",
    grammar=GRAMMAR,
    model_in_body=False,
    auth_header="x-goog-api-key",
    auth_prefix="",
    also_called=("google",),
    plain_models=True,
    late_error=late_error,
    base_url="https://generativelanguage.googleapis.com/v1beta",
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [GEMINI]
