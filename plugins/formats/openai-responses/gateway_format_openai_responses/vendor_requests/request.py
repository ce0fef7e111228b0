"""A conversation to a request for the vendor."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Conversation, Losses, Output, Target, Text, Thinking
from gateway_formats.effort import effort_of

from .._dialect import DIALECT, ELSEWHERE, ENCRYPTED, LOGPROBS
from .._scope import Scope
from .items import Items
from .tool_choice import write_choice
from .tools import write_tools

# https://platform.openai.com/docs/api-reference/responses/create#responses-create-max_output_tokens
LEAST_OUTPUT = 16
"""Tokens; the vendor refuses a lower limit."""
# https://platform.openai.com/docs/api-reference/responses/create#responses-create-prompt_cache_key
LONGEST_KEY = 64
"""Characters of a user's id and of a cache key that the vendor accepts."""
TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")

_WITHIN = ("reasoning.", "text.")
"""How the names of members begin that belong inside another."""

_encode = msgspec.json.Encoder().encode
_texts = msgspec.json.Decoder(list[str])


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be expressed."""
    provider = target.provider
    own = conversation.dialect == DIALECT
    scope = Scope(own, provider.id, provider.options, losses)
    body: dict[str, Any] = {"model": target.model.id}
    _write_input(body, conversation, scope)
    tools = write_tools(conversation.tools, scope)
    choice = conversation.tool_choice
    if tools:
        body["tools"] = tools
        if choice is not None:
            body["tool_choice"] = write_choice(choice, conversation.tools, scope)
    elif choice is not None and scope.own:
        body["tool_choice"] = choice.mode if choice.mode != "only" else "auto"
    elif choice is not None and choice.mode not in ("auto", "none"):
        scope.losses.add("tool_choice")
    if conversation.parallel_tools is not None and (tools or scope.own):
        body["parallel_tool_calls"] = conversation.parallel_tools
    _write_sampling(body, conversation, target, scope)
    _write_thinking(body, conversation, target, scope)
    if conversation.output is not None:
        body["text"] = {"format": write_form(conversation.output)}
    _write_context(body, conversation, scope)
    if conversation.stream:
        body["stream"] = True
    if own:
        _write_extra(body, conversation.extra, losses)
    else:
        # The vendor stores answers by default; clients of other dialects did not agree to that.
        body["store"] = False
        losses.add_extra(conversation.extra)
    return _encode(body)


def _write_input(body: dict[str, Any], conversation: Conversation, scope: Scope) -> None:
    items = Items(scope, conversation)
    instructions = [text for text in conversation.instructions if text.text]
    has_members = bool(instructions) and bool(instructions[0].extra)
    plain = instructions and instructions[0].cache is None and not (scope.own and has_members)
    if plain and has_members:
        scope.losses.add_extra(instructions[0].extra)
    items.add_instructions(instructions[1:] if plain else instructions)
    for turn in conversation.turns:
        items.add(turn)
    if not items.written and plain and not _has_stored_input(conversation):
        items.add_instructions(instructions[:1])
        plain = False
    if not items.written and not _has_stored_input(conversation):
        raise BadRequest(f"Nothing in this request can be sent to {body['model']}")
    if plain:
        body["instructions"] = instructions[0].text
    wants_json = not scope.own and conversation.output == Output()
    # The vendor refuses the format json_object unless the input mentions JSON:
    # https://platform.openai.com/docs/guides/structured-outputs#json-mode
    if wants_json and b"json" not in _encode(items.written).lower():
        items.add_instructions((Text(text="Answer with a JSON object."),))
    if items.written or not _has_stored_input(conversation):
        body["input"] = items.written


def _has_stored_input(conversation: Conversation) -> bool:
    """Whether the vendor itself keeps something to answer to."""
    return conversation.dialect == DIALECT and any(n in conversation.extra for n in ELSEWHERE)


def _write_sampling(
    body: dict[str, Any], conversation: Conversation, target: Target, scope: Scope
) -> None:
    sampling = conversation.sampling
    if sampling.max_tokens is not None:
        limit, most = sampling.max_tokens, target.model.max_output
        if not scope.own:
            limit = max(LEAST_OUTPUT, limit if most is None else min(limit, most))
        body["max_output_tokens"] = limit
    if sampling.temperature is not None:
        body["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if sampling.logprobs:
        body["include"] = [LOGPROBS]
    if sampling.top_logprobs is not None and (sampling.logprobs or scope.own):
        body["top_logprobs"] = sampling.top_logprobs
    for name in ("presence_penalty", "frequency_penalty"):
        value = getattr(sampling, name)
        if value is not None and (scope.own or scope.allows("penalties")):
            body[name] = value
        elif value:
            scope.losses.add(name)
    # The endpoint has no such members, nor stop:
    # https://platform.openai.com/docs/api-reference/responses/create
    for name in ("top_k", "min_p", "seed"):
        if getattr(sampling, name) is not None:
            scope.losses.add(name)
    if sampling.stop:
        scope.losses.add("stop")
    if sampling.candidates is not None and sampling.candidates > 1:
        scope.losses.add("candidates")


def _write_thinking(
    body: dict[str, Any], conversation: Conversation, target: Target, scope: Scope
) -> None:
    thinking = conversation.thinking
    if target.model.reasoning is False and not scope.own:
        if thinking is not None and thinking.enabled:
            scope.losses.add("thinking")
        return
    reasoning = {} if thinking is None else _write_reasoning(thinking, scope)
    if reasoning:
        body["reasoning"] = reasoning
    off = thinking is not None and thinking.enabled is False and not scope.own
    # Without the encrypted content a stateless client cannot return the thinking:
    # https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
    on = thinking is not None or target.model.reasoning is True
    if on and not off and scope.options.get("encrypted_reasoning", True):
        body["include"] = [*body.get("include", ()), ENCRYPTED]


def _write_reasoning(thinking: Thinking, scope: Scope) -> dict[str, Any]:
    members: dict[str, Any] = {}
    effort = thinking.effort
    if thinking.enabled is False and effort in (None, "none"):
        effort = scope.word("no_thinking", "none")
    elif effort is None and thinking.budget is not None:
        effort = effort_of(thinking.budget)
    elif effort is None and thinking.enabled:
        effort = "medium"
    if effort:
        members["effort"] = effort
    if thinking.summary is not None:
        members["summary"] = thinking.summary
    elif thinking.show and thinking.enabled is not False:
        members["summary"] = "auto"
    return members


def write_form(output: Output) -> dict[str, Any]:
    if output.schema is None:
        return {"type": "json_object"}
    name = output.name or "response"
    # The name's alphabet and length: https://platform.openai.com/docs/guides/structured-outputs
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)
    form: dict[str, Any] = {"type": "json_schema", "name": name[:64], "schema": output.schema}
    if output.description is not None:
        form["description"] = output.description
    if output.strict is not None:
        form["strict"] = output.strict
    return form


def _write_context(body: dict[str, Any], conversation: Conversation, scope: Scope) -> None:
    if conversation.user is not None:
        name = "safety_identifier" if "user" in conversation.extra and scope.own else "user"
        body[name] = _shorten_key(conversation.user, scope.own)
    if conversation.cache_key is not None:
        body["prompt_cache_key"] = _shorten_key(conversation.cache_key, scope.own)
    if conversation.service_tier is not None:
        if scope.own or conversation.service_tier in TIERS:
            body["service_tier"] = conversation.service_tier
        else:
            scope.losses.add("service_tier")


def _shorten_key(text: str, own: bool) -> str:
    """An opaque value of no more than the length the vendor accepts."""
    if own or len(text) <= LONGEST_KEY:
        return text
    return hashlib.sha256(text.encode()).hexdigest()


def _write_extra(body: dict[str, Any], extra: Mapping[str, Raw], losses: Losses) -> None:
    """Members that have no canonical name; dotted ones belong inside others."""
    for name, raw in extra.items():
        if name == "background":
            if raw != Raw(b"false"):
                losses.add(name)  # An answer that is fetched later cannot be translated.
        elif name == "include":
            body["include"] = [*_texts.decode(raw), *body.get("include", ())]
        elif name.startswith(_WITHIN):
            *places, member = name.split(".")
            holder = body
            for place in places:
                holder = holder.setdefault(place, {})
            holder[member] = raw
        else:
            body[name] = raw
