"""The messages wire format: https://platform.claude.com/docs/en/api/messages

A vendor of this wire that differs from the usual says so in
``ProviderSpec.options``. What is not said follows from the model's id: the
format's own vendor by model and version, everybody else by the oldest and most
widely copied form.

===================  ==========================================================
option               meaning
===================  ==========================================================
thinking             ``adaptive``: thinking is asked for as ``adaptive`` with
                     an effort; ``budget``: as ``enabled`` with a token budget;
                     ``none``: the models cannot think
structured_outputs   true: ``output_config.format`` and strict tools are taken;
                     false: a schema is asked for in words
system_turns         true: a system message may stand between turns; false: it
                     becomes user text
hosted_tools         true: web search, web fetch and code execution can be
                     declared for clients that asked for them in another dialect
unsigned_thinking    true: earlier thinking is taken back without a signature
===================  ==========================================================

``max_tokens`` is required on this wire: what the client asked for, else the
model's longest answer, else 8192.

The vendor's token counts leave cached tokens out of ``input_tokens``; the hub's
include them. Service tier, cache lifetimes and server tool counts inside
``usage`` reach a client of this format when its call is passed through, not
when it is translated.
"""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Counting,
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
    VendorSide,
    WireFormat,
    hookimpl,
)
from gateway_formats.intake import model_in_body

from . import (
    counting,
    errors,
    replies,
    requests,
    stream_reading,
    stream_writing,
    vendor_requests,
    watch,
)
from .dialect import DIALECT
from .grammar import GRAMMAR


class _Client:
    def read_request(self, call: Call) -> Conversation:
        return requests.read_request(call)

    def write_reply(self, reply: Reply, asked: Conversation, losses: Losses) -> bytes:
        return replies.write_reply(reply, asked, losses)

    def stream_writer(self, asked: Conversation, losses: Losses) -> StreamWriter:
        return stream_writing.Writer(asked, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return errors.write_error(error, request_id)


class _Vendor:
    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return vendor_requests.write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return replies.read_reply(body)

    def stream_reader(self) -> StreamReader:
        return stream_reading.Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return errors.read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/messages"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return watch.relay(call, target, members)


_client: ClientSide = _Client()
_vendor: VendorSide = _Vendor()

CLAUDE = WireFormat(
    id="claude",
    dialect=DIALECT,
    also_called=("anthropic",),
    endpoints=(
        Endpoint(path="/v1/messages", read=model_in_body, json_only=True),
        Endpoint(
            path="/v1/messages/count_tokens",
            read=model_in_body,
            counting=Counting(path=counting.path, estimate=counting.estimate),
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
    base_url="https://api.anthropic.com/v1",
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CLAUDE]
