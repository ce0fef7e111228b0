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

from gateway_core import Endpoint, Intake, KeepAlive, WireFormat, hookimpl
from gateway_formats.intake import read_flag, read_text

from .compact_vendor import CompactVendor
from .dialect import COMPACT, DIALECT
from .grammar import GRAMMAR
from .sides import CompactClient, ResponsesClient, ResponsesVendor

__all__ = ["FORMATS", "read_intake", "register_formats"]

_EVENTS = "text/event-stream"


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """A stream is asked for by the body, or by a client that accepts events.

    Raises BadRequest.
    """
    stream = read_flag(members, "stream")
    accepted = headers.get("accept", "").lower()
    declined = members.get("stream") == Raw(b"false") and "," in accepted
    events = _EVENTS in accepted and not declined
    return Intake(read_text(members, "model"), stream or events)


def _endpoints(tail: str) -> tuple[Endpoint, ...]:
    roots = ("/v1", "", "/codex", "/codex/v1")
    return tuple(Endpoint(path=f"{root}/responses{tail}", read=read_intake) for root in roots)


_KEEP_ALIVE = KeepAlive(frame=b": keepalive\n\n", every=2.5)

FORMATS = (
    WireFormat(
        id=DIALECT,
        dialect=DIALECT,
        endpoints=_endpoints(""),
        client=ResponsesClient(),
        vendor=ResponsesVendor(),
        keep_alive=_KEEP_ALIVE,
        grammar=GRAMMAR,
        forward=("openai-beta",),
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
        forward=("openai-beta",),
        base_url="https://api.openai.com/v1",
    ),
)


@hookimpl
def register_formats() -> tuple[WireFormat, ...]:
    return FORMATS
