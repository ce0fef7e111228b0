"""A conversation, written as a request to a vendor."""

from typing import Any

from gateway_core import BadRequest, Conversation, Losses, Sampling, Target

from .._members import encode, merge
from .._shared import TIERS
from .draft import Draft, begin
from .messages import write_messages
from .output import add_json_instruction, write_output
from .thinking import write_thinking
from .tools import write_tools

# "Up to 4 sequences": https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop
_MOST_STOPS = 4

_TIERS = {"standard_only": "default", "standard": "default"}


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """The body of the request. Raises BadRequest when no message would be left."""
    draft = begin(conversation, target, losses)
    messages = write_messages(conversation, add_json_instruction(conversation, draft), draft)
    if not messages:
        raise BadRequest("Nothing in this conversation can be said to the chosen model")
    body: dict[str, Any] = {"model": target.model.id, "messages": messages}
    if conversation.stream:
        body["stream"] = True
        if draft.switches.stream_usage:
            # Without it no chunk reports usage:
            # https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
            body["stream_options"] = {"include_usage": True}
    body |= _write_sampling(conversation.sampling, draft)
    if conversation.tools:
        body |= write_tools(conversation, draft)
    if conversation.output is not None:
        body |= write_output(conversation.output, draft)
    if conversation.thinking is not None:
        body |= write_thinking(conversation.thinking, draft)
    if conversation.user is not None:
        body["user"] = draft.label(conversation.user)
    if conversation.cache_key is not None:
        if draft.switches.prompt_cache_key:
            body["prompt_cache_key"] = draft.label(conversation.cache_key)
        else:
            draft.losses.add("cache_key")
    tier = conversation.service_tier
    if tier is not None:
        tier = tier if draft.own else _TIERS.get(tier, tier)
        if draft.own or tier in TIERS:
            body["service_tier"] = tier
        else:
            draft.losses.add("service_tier")
    if conversation.extra:
        merge(body, draft.extras(conversation.extra))
    return encode(body)


def _write_sampling(sampling: Sampling, draft: Draft) -> dict[str, Any]:
    for name in ("top_k", "min_p"):
        if getattr(sampling, name) is not None and not getattr(draft.switches, name):
            draft.losses.add(name)
    stop = sampling.stop
    if len(stop) > _MOST_STOPS and not draft.own:
        draft.losses.add("stop")
        stop = stop[:_MOST_STOPS]
    members: dict[str, Any] = {
        draft.switches.limit_name: sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k if draft.switches.top_k else None,
        "min_p": sampling.min_p if draft.switches.min_p else None,
        "seed": sampling.seed,
        "stop": stop or None,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "n": sampling.candidates,
        "logprobs": sampling.logprobs,
        "top_logprobs": sampling.top_logprobs,
    }
    return {name: value for name, value in members.items() if value is not None}
