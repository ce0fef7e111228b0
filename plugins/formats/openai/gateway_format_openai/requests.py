"""A client's request, read into a conversation."""

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import BadRequest, Call, Conversation, Sampling, Text, Thinking, Turn

from .members import (
    DIALECT,
    Members,
    body_of,
    is_list,
    is_text,
    items_of,
    kept,
    rest,
    take,
    take_flag,
    take_number,
    take_object,
    take_text,
    take_whole,
    text_of,
)
from .messages import take_messages
from .output import take_output
from .thinking import take_thinking
from .tools import take_choice, take_tools


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, naming the member that is wrong."""
    members = body_of(call.body)
    instructions, turns = take_messages(members)
    return read_rest(call, members, instructions, turns)


def read_rest(
    call: Call, members: Members, instructions: tuple[Text, ...], turns: tuple[Turn, ...]
) -> Conversation:
    """Everything in a request but what was said."""
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=take_tools(members),
        tool_choice=take_choice(members),
        parallel_tools=take_flag(members, "parallel_tool_calls"),
        sampling=_take_sampling(members),
        thinking=_hidden(call, take_thinking(members)),
        output=take_output(members),
        user=take_text(members, "user"),
        cache_key=take_text(members, "prompt_cache_key"),
        service_tier=take_text(members, "service_tier"),
        stream=call.stream,
        stream_usage=take_usage_wish(members),
        model=_take_model(members, call.model),
        dialect=DIALECT,
        extra=rest(members),
    )


def _take_model(members: Members, default: str) -> str:
    members.pop("stream", None)  # the call already says so
    return take_text(members, "model") or default


def _hidden(call: Call, thinking: Thinking | None) -> Thinking | None:
    """A header of the gateway's own asks for whole answers without their thinking."""
    if call.stream or call.headers.get("x-gateway-reasoning") != "off":
        return thinking
    return replace(thinking or Thinking(), show=False)


def take_usage_wish(members: Members) -> bool:
    """Whether usage is wanted in the stream; other stream options stay where they are."""
    options = take_object(members, "stream_options")
    if options is None:
        return False
    wished = take_flag(options, "include_usage", "stream_options.")
    kept(members, "stream_options", options)
    return bool(wished)


_SAMPLING = frozenset(Sampling.__struct_fields__) - {"candidates"} | {"max_completion_tokens", "n"}
_NOTHING_SAID = Sampling()


def _take_sampling(members: Members) -> Sampling:
    if _SAMPLING.isdisjoint(members):
        return _NOTHING_SAID
    older = take_whole(members, "max_tokens")
    limit = take_whole(members, "max_completion_tokens")
    return Sampling(
        max_tokens=older if limit is None else limit,
        temperature=take_number(members, "temperature"),
        top_p=take_number(members, "top_p"),
        top_k=take_whole(members, "top_k"),
        min_p=take_number(members, "min_p"),
        seed=take_whole(members, "seed"),
        stop=_take_stop(members),
        presence_penalty=take_number(members, "presence_penalty"),
        frequency_penalty=take_number(members, "frequency_penalty"),
        candidates=take_whole(members, "n"),
        logprobs=take_flag(members, "logprobs"),
        top_logprobs=take_whole(members, "top_logprobs"),
    )


def _take_stop(members: Members) -> tuple[str, ...]:
    raw = take(members, "stop")
    if raw is None:
        return ()
    if is_text(raw):
        return (text_of(raw, "stop"),)
    if not is_list(raw):
        raise BadRequest("stop must be a string or an array of strings")
    return tuple(_stop_of(item, index) for index, item in enumerate(items_of(raw, "stop")))


def _stop_of(raw: Raw, index: int) -> str:
    return text_of(raw, f"stop[{index}]")
