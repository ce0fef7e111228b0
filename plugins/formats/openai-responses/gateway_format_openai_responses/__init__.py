"""The responses format and its compact variant.

Reference: https://platform.openai.com/docs/api-reference/responses and
https://www.openresponses.org/specification

Two formats of one dialect, ``openai-responses``: the ordinary one, and
``openai-responses-compact``, which answers with a conversation's summary in a
``compaction`` item. Thinking of any vendor rides to the client and back in
``encrypted_content`` (see :mod:`.reasoning`), a call's own signature in its
``call_id``, and the tools of a namespace as plain functions (see
:mod:`.namespaces`).

``ProviderSpec.options`` for vendors that differ from the format's author:

==================== ============ ==================================================
option               usual        meaning
==================== ============ ==================================================
system_role          developer    the role of instructions within the input
hosted_tools         web_search   the neutral server tools that the vendor runs, with
                     and others   spaces between; see ``HOSTED_TOOLS`` in :mod:`.tools`
encrypted_reasoning  true         may be asked for ``reasoning.encrypted_content``
plain_reasoning      false        takes thinking that has no proof back
no_thinking          none         the effort that turns thinking off; empty to say
                                  nothing
penalties            false        takes presence_penalty and frequency_penalty
audio                false        takes ``input_audio``
cache_breakpoints    false        takes ``prompt_cache_breakpoint``
==================== ============ ==================================================
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
    UpstreamError,
    WireFormat,
    hookimpl,
)
from gateway_formats.sse import write_losses
from gateway_formats.streamed_replies import is_stream, read_stream

from ._dialect import COMPACT, DIALECT
from ._summary import asks_for_summary
from .client_replies import write_compacted_reply, write_compaction, write_reply
from .client_requests import read_compact_request, read_intake, read_request
from .client_stream import CompactionWriter, Writer
from .errors import read_error, write_error
from .grammar import GRAMMAR
from .relay import relay_compaction, relay_reply
from .vendor_replies import read_compaction, read_reply
from .vendor_requests import write_compact_request, write_request
from .vendor_stream import CompactionReader, Reader

__all__ = ["FORMATS", "read_intake", "register_formats"]


class ResponsesClient:
    """Serves clients of the format."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes:
        write = write_compacted_reply if asks_for_summary(request) else write_reply
        return write(reply, request, losses)

    def stream_writer(self, request: Conversation, losses: Losses) -> StreamWriter:
        if asks_for_summary(request):
            return CompactionWriter(request, losses)
        return Writer(request, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


class CompactClient(ResponsesClient):
    """Serves clients that want a conversation compacted, whatever the vendor can do."""

    def read_request(self, call: Call) -> Conversation:
        return read_compact_request(call)

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes:
        return write_compaction(reply, request, losses)


class ResponsesVendor:
    """Calls vendors that speak the format."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_stream(body, Reader()) if is_stream(body) else read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/responses"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return relay_reply(call, members)


class CompactVendor(ResponsesVendor):
    """Calls vendors that compact conversations themselves; such a vendor answers whole."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_compact_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_compaction(body)

    def stream_reader(self) -> StreamReader:
        return CompactionReader()

    def path(self, model: str, stream: bool) -> str:
        return "/responses/compact"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return relay_compaction(call, members)


def _endpoints(tail: str) -> tuple[Endpoint, ...]:
    roots = ("/v1", "", "/codex", "/codex/v1")
    return tuple(Endpoint(path=f"{root}/responses{tail}", read=read_intake) for root in roots)


_KEEP_ALIVE = KeepAlive(frame=b": keepalive\n\n", every=2.5)
_SPELLING = {
    "cache_key": "prompt_cache_key",
    "effort": "reasoning.effort",
    "logprobs": "top_logprobs",
    "max_tokens": "max_output_tokens",
    "messages": "input",
    "output_description": "text.format.description",
    "output_json": "text.format",
    "output_schema": "text.format.schema",
    "parallel_tools": "parallel_tool_calls",
    "reasoning_signature": "encrypted_content",
    "summary": "reasoning.summary",
    "thinking": "reasoning",
}


_MEDIA_NAMES = {
    "image": "input_image",
    "audio": "input_audio",
    "document": "input_file",
}

SWITCH = (True, False)
OPTIONS: dict[str, tuple[str | bool, ...]] = {
    "system_role": ("developer", "system"),
    "hosted_tools": (),
    "no_thinking": (),
    **dict.fromkeys(
        (
            *("encrypted_reasoning", "plain_reasoning", "penalties", "audio"),
            "cache_breakpoints",
        ),
        SWITCH,
    ),
}
"""What the docstring above describes."""

FORMATS = (
    WireFormat(
        id=DIALECT,
        options=OPTIONS,
        dialect=DIALECT,
        endpoints=_endpoints(""),
        client=ResponsesClient(),
        vendor=ResponsesVendor(),
        keep_alive=_KEEP_ALIVE,
        grammar=GRAMMAR,
        spelling=_SPELLING,
        trailer=write_losses,
        forward=("openai-beta",),
        media_names=_MEDIA_NAMES,
        base_url="https://api.openai.com/v1",
    ),
    WireFormat(
        id=COMPACT,
        dialect=DIALECT,
        endpoints=_endpoints("/compact"),
        client=CompactClient(),
        vendor=CompactVendor(),
        keep_alive=_KEEP_ALIVE,
        grammar=GRAMMAR,
        spelling=_SPELLING,
        trailer=write_losses,
        forward=("openai-beta",),
        media_names=_MEDIA_NAMES,
        base_url="https://api.openai.com/v1",
    ),
)


@hookimpl
def register_formats() -> tuple[WireFormat, ...]:
    return FORMATS
