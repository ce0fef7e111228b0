"""The messages wire format: https://platform.claude.com/docs/en/api/messages

A vendor of this wire that differs from the usual says so in
``ProviderSpec.options``. What it leaves out follows from the model's id: the
format's own vendor by model and version, everybody else by the oldest and most
widely copied form.

===================  ==========================================================
option               meaning
===================  ==========================================================
thinking             ``adaptive``: thinking is requested as ``adaptive`` with
                     an effort; ``budget``: as ``enabled`` with a token budget;
                     ``none``: the models cannot think
structured_outputs   true: ``output_config.format`` and strict tools are taken;
                     false: a schema is requested in words
system_turns         true: a system message may stand between turns; false: it
                     becomes user text
hosted_tools         true: web search, web fetch and code execution can be
                     declared for clients that request them in another dialect
unsigned_thinking    true: earlier thinking is taken back without a signature
===================  ==========================================================

``max_tokens`` is required on this wire: the client's, else the
model's longest answer, else 8192.

The vendor's token counts leave cached tokens out of ``input_tokens``; the hub's
include them. Service tier, cache lifetimes and server tool counts inside
``usage`` reach a client of this format when its call is passed through, not
when it is translated.
"""

from gateway_core import (
    ClientSide,
    Counting,
    Endpoint,
    KeepAlive,
    Reply,
    VendorSide,
    WireFormat,
    hookimpl,
)
from gateway_formats.intake import read_routing
from gateway_formats.sse import write_losses
from gateway_formats.streamed_replies import is_stream, read_stream

from ._dialect import DIALECT
from .client_replies import write_reply
from .client_requests import count_path, estimate, read_request
from .client_stream import ClaudeStreamWriter
from .errors import read_error, write_error
from .grammar import GRAMMAR
from .relay import start_relay
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import ClaudeStreamReader


class _Client:
    read_request = staticmethod(read_request)
    write_reply = staticmethod(write_reply)
    stream_writer = ClaudeStreamWriter
    write_error = staticmethod(write_error)


class _Vendor:
    write_request = staticmethod(write_request)
    stream_reader = ClaudeStreamReader
    read_error = staticmethod(read_error)

    def read_reply(self, body: bytes) -> Reply:
        return read_stream(body, ClaudeStreamReader()) if is_stream(body) else read_reply(body)

    def path(self, model: str, stream: bool) -> str:
        return "/messages"

    relay = staticmethod(start_relay)


_client: ClientSide = _Client()
_vendor: VendorSide = _Vendor()

SWITCH = (True, False)
CLAUDE = WireFormat(
    id="claude",
    options={
        "thinking": ("adaptive", "budget", "none"),
        "structured_outputs": SWITCH,
        "system_turns": SWITCH,
        "hosted_tools": SWITCH,
        "unsigned_thinking": SWITCH,
    },
    dialect=DIALECT,
    also_called=("anthropic",),
    endpoints=(
        Endpoint(path="/v1/messages", read=read_routing, json_only=True),
        Endpoint(
            path="/v1/messages/count_tokens",
            read=read_routing,
            counting=Counting(path=count_path, estimate=estimate),
        ),
    ),
    client=_client,
    vendor=_vendor,
    keep_alive=KeepAlive(frame=b'event: ping\ndata: {"type": "ping"}\n\n', throughout=True),
    grammar=GRAMMAR,
    auth_header="x-api-key",
    auth_prefix="",
    headers={"anthropic-version": "2023-06-01"},
    decorated_models=True,
    forward=("anthropic-version", "anthropic-beta", "idempotency-key"),
    spelling={
        "effort": "output_config.effort",
        "failed": "is_error",
        "finish": "stop_reason",
        "output_description": "output_config.format",
        "output_json": "output_config.format",
        "output_schema": "output_config.format",
        "parallel_tools": "tool_choice.disable_parallel_tool_use",
        "reasoning_signature": "signature",
        "stop": "stop_sequences",
        "summary": "thinking.display",
        "tool_error": "is_error",
        "user": "metadata.user_id",
    },
    trailer=write_losses,
    base_url="https://api.anthropic.com/v1",
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CLAUDE]
