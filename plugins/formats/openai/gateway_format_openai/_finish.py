"""Why an answer ended: the words of this dialect and of its vendors."""

from collections.abc import Iterable

from gateway_core import AnyPart, Finish, Refusal

_READ: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    # The older word: https://platform.openai.com/docs/api-reference/chat/object
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "refusal": "refusal",
    "pause_turn": "pause",
    "error": "error",
    "abort": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
}

_WRITTEN: dict[Finish, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "pause": "stop",
    "error": "error",
}


def read_finish(word: str | None, has_calls: bool, has_only_refusal: bool) -> Finish:
    """An unknown word counts as a natural end; a natural end with calls is for the calls."""
    finish = _READ.get(word.lower(), "stop") if word else "stop"
    if finish != "stop":
        return finish
    if has_calls:
        return "tool_calls"
    return "refusal" if has_only_refusal else "stop"


def write_finish(finish: Finish, parts: Iterable[AnyPart] = (), *, legacy: bool = False) -> str:
    if finish == "refusal":
        has_refusal = any(isinstance(part, Refusal) for part in parts)
        return "stop" if has_refusal else "content_filter"
    if legacy and finish == "tool_calls":
        return "function_call"
    return _WRITTEN[finish]
