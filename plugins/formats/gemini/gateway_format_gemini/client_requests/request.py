"""Reads a client's request as a conversation.

https://ai.google.dev/api/generate-content
"""

import msgspec

from gateway_core import BadRequest, Call, Conversation, Text

from .._dialect import DIALECT
from .._members import Members, read_list, read_members, read_text, take_text
from .settings import read_settings
from .stored_inputs import find_stored_inputs
from .tools import read_choice, read_tools
from .turns import read_turns

_TIERS = {"standard": "default", "unspecified": "", "service_tier_unspecified": ""}


def read_request(call: Call) -> Conversation:
    """Raises BadRequest for a body that makes no sense."""
    return read_conversation(call.body, call.model, call.stream)


def read_conversation(body: bytes, model: str, stream: bool) -> Conversation:
    """Raises BadRequest, worded for the client, for any body that makes no sense."""
    try:
        members = read_members(body, "the body")
        members.pop("model", None)  # the path names it
        turns = read_turns(members.pop("contents", None))
        if not turns:
            raise BadRequest("contents must hold at least one part")
        instructions = _read_instructions(members)
        tools = read_tools(members.pop("tools", None))
        choice, choice_rest = read_choice(members)
        settings = read_settings(members)
        tier = (take_text(members, "serviceTier") or "").lower()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not a request: {error}") from error
    extra = {**members, **settings.rest, **choice_rest}
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=tools,
        tool_choice=choice,
        sampling=settings.sampling,
        thinking=settings.thinking,
        output=settings.output,
        service_tier=_TIERS.get(tier, tier) or None,
        stream=stream,
        model=model,
        dialect=DIALECT,
        extra=extra,
        elsewhere=find_stored_inputs(turns, tools, extra),
    )


def unwrap_counted(body: bytes) -> bytes:
    """The request inside a request to count tokens, which may also be the request itself.

    https://ai.google.dev/api/tokens
    """
    try:
        wrapped = read_members(body, "the body").get("generateContentRequest")
    except msgspec.MsgspecError as error:
        raise BadRequest(f"the body is not a request: {error}") from error
    return body if wrapped is None else bytes(wrapped)


def _read_instructions(members: Members) -> tuple[Text, ...]:
    raw = members.pop("systemInstruction", None)
    if raw is None:
        return ()
    text = read_text(raw)
    if text is not None:
        return (Text(text=text),) if text else ()
    content = read_members(raw, "systemInstruction")
    texts: list[Text] = []
    for number, part in enumerate(read_list(content.get("parts"), "systemInstruction.parts")):
        where = f"systemInstruction.parts[{number}]"
        text = take_text(read_members(part, where), "text", f"{where}.")
        if text is None:
            raise BadRequest(f"{where} must be a text")
        if text:
            texts.append(Text(text=text))
    return tuple(texts)
