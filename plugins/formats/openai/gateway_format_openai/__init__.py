"""Chat completions, the dialect most vendors speak, and the text completions before it.

Reference: https://platform.openai.com/docs/api-reference/chat. The members
that other vendors of the dialect add are read wherever they occur:
``reasoning_content``, ``reasoning`` and ``reasoning_details``, thinking among
the content, ``cache_control``, ``extra_content``, search results and the rest.

Two formats share the dialect ``openai``: ``openai`` has a client and a vendor
side, ``openai-completions`` (``/v1/completions``) only a client side.

A vendor's quirks are declared in ``ProviderSpec.options``; each is optional.

===========================  ==============================================================
``max_tokens``               true: the limit is called ``max_tokens``; false: it is called
                             ``max_completion_tokens``; or the name itself. By default it
                             depends on the model's name.
``system_role``              ``system`` (default) or ``developer``. When it is set, messages
                             that pass through are changed to it too.
``reasoning``                how thinking is requested: ``effort`` (``reasoning_effort``,
                             default), ``openrouter`` (a ``reasoning`` object), ``thinking``
                             (a ``thinking`` object), ``thinking+effort`` (both),
                             ``enable_thinking`` (a flag and ``thinking_budget``), ``none``.
``reasoning_content``        how earlier thinking goes back: true or ``reasoning_content``,
                             ``reasoning``, ``reasoning_details`` (the only one that takes
                             signatures), ``content`` (thinking pieces in the content).
                             By default it does not.
``cache_control``            takes ``cache_control`` on content pieces and tools.
``top_k``, ``min_p``         takes these sampling members.
``video``                    takes ``video_url`` pieces.
``prompt_cache_key``         takes this member.
``custom_tools``             takes tools of the type ``custom``; others get a function with
                             one text in its place.
``allowed_tools``            takes a tool choice of several tools; others are offered only
                             the allowed ones.
``json_schema``              false: no ``json_schema`` output; the schema goes into the prompt.
``images_in_tool_results``   takes pictures in tool messages; for others they follow in a
                             user message.
``documents``                how a document is written: ``file`` (default, by value),
                             ``file_or_url`` (``file_data`` may be an address),
                             ``document_url``, ``file_url``, ``none``.
``web_search``               how a search by the vendor is requested: ``web_search_options``,
                             ``plugins``, or the type of a tool. By default it is not.
``short_ids``                tool call ids must be nine letters or digits.
``no_stream_usage``          refuses ``stream_options``.
===========================  ==============================================================

The switches that say what a vendor takes are off for other dialects' clients
and on for this dialect's own, unless they are set: who writes ``top_k`` in a
chat completion means it for the vendor.
"""

from gateway_core import Endpoint, KeepAlive, WireFormat, hookimpl
from gateway_formats.sse import write_losses

from ._members import DIALECT
from .client_replies import write_completion_reply, write_reply
from .client_requests import (
    read_completion_intake,
    read_completion_request,
    read_intake,
    read_request,
)
from .client_stream import ChatWriter, CompletionWriter
from .errors import read_error, write_error
from .grammar import GRAMMAR
from .relay import begin_relay
from .vendor_replies import read_reply
from .vendor_requests import write_request
from .vendor_stream import ChatReader


class ChatClient:
    """Serves clients that ask for chat completions."""

    read_request = staticmethod(read_request)
    write_reply = staticmethod(write_reply)
    stream_writer = ChatWriter
    write_error = staticmethod(write_error)


class CompletionClient:
    """Serves clients that ask for text completions."""

    read_request = staticmethod(read_completion_request)
    write_reply = staticmethod(write_completion_reply)
    stream_writer = CompletionWriter
    write_error = staticmethod(write_error)


class ChatVendor:
    """Calls vendors that answer with chat completions."""

    write_request = staticmethod(write_request)
    read_reply = staticmethod(read_reply)
    stream_reader = ChatReader
    read_error = staticmethod(read_error)

    def path(self, model: str, stream: bool) -> str:
        return "/chat/completions"

    relay = staticmethod(begin_relay)


# A comment, which the standard has clients ignore; some vendors of this dialect send such ones:
# https://html.spec.whatwg.org/multipage/server-sent-events.html#authoring-notes
KEEP_ALIVE = KeepAlive(frame=b": keepalive\n\n", throughout=True)


def write_late_error(body: bytes) -> bytes:
    """An error response as the only frame of a stream; like any other it has no event name."""
    return b"data: %b\n\n" % body


SWITCH = (True, False)
OPTIONS: dict[str, tuple[str | bool, ...]] = {
    "max_tokens": (*SWITCH, "max_tokens", "max_completion_tokens"),
    "system_role": ("system", "developer"),
    "reasoning": (
        *("effort", "openrouter", "thinking", "thinking+effort", "enable_thinking", "none"),
    ),
    "reasoning_content": (
        *SWITCH,
        *("reasoning_content", "reasoning", "reasoning_details", "content"),
    ),
    "documents": ("file", "file_or_url", "document_url", "file_url", "none"),
    "web_search": (),
    **dict.fromkeys(
        (
            *("cache_control", "top_k", "min_p", "video", "prompt_cache_key", "custom_tools"),
            *("allowed_tools", "json_schema", "images_in_tool_results", "short_ids"),
            "no_stream_usage",
        ),
        SWITCH,
    ),
}
"""What the docstring above describes."""
CHAT = WireFormat(
    id=DIALECT,
    options=OPTIONS,
    dialect=DIALECT,
    endpoints=(Endpoint(path="/v1/chat/completions", read=read_intake, json_only=True),),
    client=ChatClient(),
    vendor=ChatVendor(),
    keep_alive=KEEP_ALIVE,
    late_error=write_late_error,
    grammar=GRAMMAR,
    forward=("openai-beta",),
    media_names={
        "image": "image_url",
        "audio": "input_audio",
        "video": "video_url",
        "document": "file",
    },
    spelling={
        "cache_key": "prompt_cache_key",
        "candidates": "n",
        "effort": "reasoning_effort",
        "output_description": "response_format.json_schema.description",
        "output_json": "response_format",
        "output_schema": "response_format.json_schema",
        "parallel_tools": "parallel_tool_calls",
        "reasoning": "reasoning_content",
        "summary": "reasoning.summary",
        "thinking": "reasoning_effort",
    },
    trailer=write_losses,
    base_url="https://api.openai.com/v1",
)

COMPLETIONS = WireFormat(
    id="openai-completions",
    dialect=DIALECT,
    endpoints=(Endpoint(path="/v1/completions", read=read_completion_intake),),
    client=CompletionClient(),
    keep_alive=KEEP_ALIVE,
    late_error=write_late_error,
    grammar=GRAMMAR,
    trailer=write_losses,
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CHAT, COMPLETIONS]
