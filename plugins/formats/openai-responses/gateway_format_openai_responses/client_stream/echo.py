"""The ``response`` object: the request's members, repeated around the output.

A stream holds the object three times. The request's members are the same each time,
so it is written once.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Conversation, Losses, Thinking

from .._dialect import NULL
from .._scope import Scope
from ..vendor_requests import write_choice, write_form, write_tools

_VERBATIM = ("max_tool_calls", "previous_response_id", "prompt", "prompt_cache_retention")
_encode = msgspec.json.Encoder().encode


class Echo:
    """Writes the object for one request."""

    __slots__ = ("_head", "_model", "_request_members", "stem")

    def __init__(self, request: Conversation) -> None:
        self._request_members = _encode(_build_members(request))[1:]
        self._model = request.model
        self._head = b""
        self.stem = ""
        """The middle of every item's id."""

    def begin(self, reply_id: str, model: str, created: int | None) -> None:
        self.stem = hashlib.sha256(reply_id.encode()).hexdigest()[:40]
        self._head = b'{"id":%b,"object":"response","created_at":%d,"model":%b' % (
            _encode(reply_id if reply_id.startswith("resp_") else f"resp_{reply_id}"),
            created or 0,
            _encode(model or self._model),
        )

    def response(
        self,
        status: bytes,
        output: bytes = b"",
        usage: bytes = b"null",
        *,
        error: bytes = b"null",
        details: bytes = b"null",
    ) -> bytes:
        return (
            b'%b,"status":"%b","completed_at":null,"error":%b,"incomplete_details":%b,'
            b'"output":[%b],"usage":%b,%b'
        ) % (self._head, status, error, details, output, usage, self._request_members)


def _build_members(request: Conversation) -> dict[str, Any]:
    extra, sampling = request.extra, request.sampling
    scope = Scope(own=True, provider="", options={}, losses=Losses())
    instructions, thinking = request.instructions, request.thinking or Thinking()
    reasoning: dict[str, Any] = {"effort": thinking.effort, "summary": thinking.summary}
    form = {"type": "text"} if request.output is None else write_form(request.output)
    text = {"format": form, "verbosity": "medium"} | _select_prefixed("text.", extra)
    choice: Any = extra.get("tool_choice", "auto")
    if "tool_choice" not in extra and request.tool_choice is not None:
        choice = write_choice(request.tool_choice, request.tools, scope)
    # Strict clients want each of these present: https://platform.openai.com/docs/api-reference/responses/object
    members: dict[str, Any] = {
        "background": False,
        "instructions": instructions[0].text if instructions else None,
        "max_output_tokens": sampling.max_tokens,
        "metadata": extra.get("metadata", {}),
        "parallel_tool_calls": request.parallel_tools is not False,
        "prompt_cache_key": request.cache_key,
        "reasoning": reasoning | _select_prefixed("reasoning.", extra),
        "safety_identifier": request.user,
        "service_tier": request.service_tier or "default",
        # The gateway keeps no answers, whatever the client asked for.
        "store": False,
        "temperature": 1.0 if sampling.temperature is None else sampling.temperature,
        "text": {n: value for n, value in text.items() if not n.startswith("format.")},
        "tool_choice": choice,
        "tools": write_tools(request.tools, scope),
        "top_logprobs": sampling.top_logprobs or 0,
        "top_p": 1.0 if sampling.top_p is None else sampling.top_p,
        "truncation": extra.get("truncation", "disabled"),
        "user": request.user,
    }
    members.update((name, extra.get(name, NULL)) for name in _VERBATIM)
    return members


def _select_prefixed(place: str, extra: Mapping[str, Raw]) -> dict[str, Raw]:
    return {n.removeprefix(place): raw for n, raw in extra.items() if n.startswith(place)}
